"""The best of all valid bounds: far below the δ at which exact sums and grids end, and for laws known by parameters."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import quincunx as qx
from quincunx.loss import DiscreteGaussianLaw, GaussianLaw, LaplaceLaw, LatticeLaw, Loss, StatedLaw, SubsampledLaw
from quincunx.loss.ceiling import Ceiling
from quincunx.loss.convert import delta_from_kl, delta_from_renyi, delta_from_zcdp
from quincunx.loss.curve import Curve
from quincunx.loss.law import kl_of, renyi_of
from quincunx.numbers import Ball, Log, ball, float_above, float_below, precision

GAUSSIAN = GaussianLaw(mu2=Fraction(1, 4))


def sampled(sigma: object = 2, rate: str = "0.01", *, replacing: bool = False) -> SubsampledLaw:
    base = GaussianLaw(mu2=1 / Fraction(str(sigma)) ** 2)
    return SubsampledLaw(base=base, rate=Fraction(rate), replacing=replacing)


def discrete_gaussian_delta(sigma2: Fraction, epsilon: Fraction, reach: int) -> Ball:
    """δ(ε) of a shift by one, term by term: Σ_k (P(k) − e^ε·P(k + 1))⁺ with |k| ≤ reach."""
    with precision(8000):
        weights = {k: (-ball(Fraction(k * k) / (2 * sigma2))).exp() for k in range(-reach, reach + 2)}
        growth, total = ball(epsilon).exp(), sum(weights.values(), Ball(0))
        return sum(((weights[k] - growth * weights[k + 1]).max(Ball(0)) for k in range(-reach, reach)), Ball(0)) / total


class TestDiscreteGaussian:
    """Its finite sum ends at a mass of 2^-220."""

    def test_the_finding(self) -> None:
        low, high = qx.mechanisms.DiscreteGaussian(sigma=2).loss.epsilon_bounds("1e-100")
        assert high - low < 1e-3
        assert low == pytest.approx(10.6246, abs=1e-3)

    @pytest.mark.parametrize("epsilon", ["8.6", "9.2", "10.6", "15", "18.6"])
    def test_deep_bounds_hold_the_sum(self, epsilon: str) -> None:
        exact = discrete_gaussian_delta(Fraction(4), Fraction(epsilon), 160)
        with precision(256):
            low, high = Curve([(DiscreteGaussianLaw(sigma2=Fraction(4), shift=1), 1)]).delta(ball(Fraction(epsilon)))
        assert float_below(low) <= float_above(exact)
        # At an atom δ falls by orders of magnitude, so the bound is held to an ε one atom before.
        before = discrete_gaussian_delta(Fraction(4), Fraction(epsilon) - Fraction(1, 4), 160)
        assert float_below(exact) <= float_above(high) <= float_above(before)

    def test_below_all_floats_by_rho(self) -> None:
        loss = qx.mechanisms.DiscreteGaussian(sigma=2).loss
        gaussian = qx.mechanisms.Gaussian(sigma=2).loss
        for delta in ("1e-400", "1e-1000"):
            assert gaussian.epsilon(delta) * 0.99 < loss.epsilon(delta) < gaussian.epsilon(delta) * 1.01

    @pytest.mark.parametrize("count", [2, 7])
    def test_several_uses(self, count: int) -> None:
        low, high = (count * qx.mechanisms.DiscreteGaussian(sigma=2).loss).epsilon_bounds("1e-90")
        assert 0.99 * high < low <= high

    @pytest.mark.parametrize("alpha", ["3/2", "2", "5/2", "7/3", "11", "23/2"])
    @pytest.mark.parametrize("shift", [1, 2, 3])
    @pytest.mark.parametrize("sigma2", ["1/10", "1", "9"])
    def test_renyi_bounds_hold_the_sum(self, alpha: str, shift: int, sigma2: str) -> None:
        order, variance = Fraction(alpha), Fraction(sigma2)
        low, high = DiscreteGaussianLaw(sigma2=variance, shift=shift).renyi(order)
        with precision(600):
            reach = 60 + 12 * shift
            plain = sum(((-ball(Fraction(k * k) / (2 * variance))).exp() for k in range(-reach, reach + 1)), Ball(0))
            # p(k)^α·p(k − n)^{1−α}.
            powers = sum(
                (
                    (-ball((order * k * k + (1 - order) * (k - shift) ** 2) / (2 * variance))).exp()
                    for k in range(-reach, reach + 1)
                ),
                Ball(0),
            )
            exact = (powers / plain).log() / ball(order - 1)
            assert ball(low) <= exact + Ball(1e-30)
            assert exact <= ball(high) + Ball(1e-30)


class TestSampled:
    """Grids count a mass of 1e-16 as unbounded loss."""

    @pytest.mark.parametrize("replacing", [False, True])
    @pytest.mark.parametrize("delta", ["1e-14", "1e-16", "1e-30"])
    def test_the_finding(self, replacing: bool, delta: str) -> None:
        low, high = (100 * Loss.of(sampled(replacing=replacing))).epsilon_bounds(delta)
        assert low <= high <= low * 1.001

    def test_deeper_still(self) -> None:
        low, high = (100 * Loss.of(sampled(1))).epsilon_bounds("1e-100")
        assert low <= high <= low * 1.001

    @pytest.mark.parametrize("replacing", [False, True])
    @pytest.mark.parametrize(("sigma", "rate"), [(2, "0.01"), (1, "0.3"), ("0.5", "0.05")])
    @pytest.mark.parametrize("depth", [12, 18, 30, 60])
    def test_one_use_on_grids_holds_its_closed_form(self, sigma: Any, rate: str, replacing: bool, depth: int) -> None:
        """The composition of one law, with its profile taken away, against the profile."""
        law = sampled(sigma, rate, replacing=replacing)
        with precision(256):
            curve = Curve([(law, 1)])
            # An ε near δ = 10^−depth.
            epsilon = ball(Fraction(Loss.of(law).epsilon(Fraction(1, 10**depth))))
            exact = float_above(law.delta(epsilon)[1])
            curve._profile, curve._parts = None, []
            low, high = float_below(curve.lower(epsilon)), float_above(curve.upper(epsilon))
        assert low * (1 - 1e-12) <= exact <= high * (1 + 1e-12)
        assert high <= 1.01 * exact
        assert low >= 0.99 * exact

    @pytest.mark.parametrize("delta", ["1e-30", "1e-100"])
    def test_beside_closed_laws(self, delta: str) -> None:
        """It took minutes at 1e-30, and more memory than there is at 1e-100."""
        loss = 100 * Loss.of(sampled()) + Loss.of(LaplaceLaw(epsilon=Fraction(1, 5)))
        low, high = loss.epsilon_bounds(delta)
        alone = (100 * Loss.of(sampled())).epsilon_bounds(delta)
        assert alone[0] <= high <= alone[1] + 0.5
        assert low <= high <= low * 1.2

    def test_where_no_grid_is_made_orders_remain(self) -> None:
        # A loss of more than 600 in one use.
        loss = 3 * Loss.of(sampled("1/40", "0.001"))
        low, high = loss.epsilon_bounds("1e-12")
        assert 0 < low <= high < 0.95 * Loss.of(GaussianLaw(mu2=3 * Fraction(1600))).epsilon("1e-12")


class TestParameters:
    @pytest.mark.parametrize("mu2", ["1/100", "1", "9"])
    @pytest.mark.parametrize("epsilon", ["0", "1/10", "1", "5", "20"])
    @pytest.mark.parametrize("alpha", ["11/10", "2", "5", "40"])
    def test_one_order_covers_the_gaussian(self, mu2: str, epsilon: str, alpha: str) -> None:
        law, order = GaussianLaw(mu2=Fraction(mu2)), Fraction(alpha)
        with precision(256):
            exact = Loss.of(law).curve().delta(ball(Fraction(epsilon)))[1]
            bound = delta_from_renyi(order, ball(law.renyi(order)[1]), ball(Fraction(epsilon)))
            assert exact <= bound <= 1

    def test_the_best_order_is_that_of_zcdp(self) -> None:
        with precision(128):
            least = min(
                float(delta_from_renyi(Fraction(k, 100), Ball(k) / 100 / 8, Ball(2)).mid()) for k in range(110, 4000)
            )
            assert float(delta_from_zcdp(Ball(1) / 8, Ball(2)).mid()) == pytest.approx(least, rel=1e-4)

    @pytest.mark.parametrize("mu2", ["1e-6", "1/100", "1", "9", "400"])
    def test_kl_covers_the_total_variation(self, mu2: str) -> None:
        with precision(128):
            exact = Loss.of(GaussianLaw(mu2=Fraction(mu2))).curve().delta(Ball(0))[1]
            bound = delta_from_kl(ball(Fraction(mu2) / 2))
            assert float_below(exact) <= float_above(bound) <= 1 + 1e-15
        assert float(delta_from_kl(Ball.pos_inf()).mid()) == 1

    @given(st.lists(st.integers(1, 20), min_size=2, max_size=5), st.lists(st.integers(1, 20), min_size=2, max_size=5))
    def test_kl_covers_two_finite_laws(self, p: list[int], q: list[int]) -> None:
        size = min(len(p), len(q))
        a = [Fraction(each, sum(p[:size])) for each in p[:size]]
        b = [Fraction(each, sum(q[:size])) for each in q[:size]]
        distance = sum((abs(x - y) for x, y in zip(a, b, strict=True)), Fraction(0)) / 2
        with precision(128):
            kl = sum((ball(x) * ball(x / y).log() for x, y in zip(a, b, strict=True)), Ball(0))
            assert delta_from_kl(kl).upper() >= ball(distance).lower()

    @pytest.mark.parametrize("count", [1, 3, 20])
    @pytest.mark.parametrize("epsilon", ["0", "1/3", "1", "4", "9"])
    def test_everything_covers_randomized_response(self, count: int, epsilon: str) -> None:
        """Stated with the parameters of a law that is known, a law that is not has at least its δ."""
        law = LatticeLaw(unit=Log(3), steps=1)
        with precision(256):
            exact = Loss(((law, count),)).curve().delta(ball(Fraction(epsilon)))[1]
            ceiling = Ceiling(((law, count),)).thorough(ball(Fraction(epsilon)))
            assert float_below(exact) <= float_above(ceiling)
        stated = StatedLaw(epsilon=Fraction(11, 10), rho=Fraction(11, 20))
        with precision(256):
            assert float_below(exact) <= float_above(Curve(((stated, count),)).upper(ball(Fraction(epsilon))))

    def test_the_gaussian_of_a_stated_mu_is_tighter_than_rho(self) -> None:
        terms = ((GAUSSIAN, 4), (StatedLaw(epsilon=None, rho=Fraction(1, 100)), 1))
        with precision(256):
            ceiling = Ceiling(((GAUSSIAN, 4),))
            assert ceiling.thorough(Ball(3)) < ceiling.quick(Ball(3))
            # One law without μ leaves ρ.
            assert float_above(Ceiling(terms).thorough(Ball(3))) <= float_above(Ceiling(terms).quick(Ball(3)))

    def test_the_total_variation_of_a_stated_rho_is_not_one(self) -> None:
        assert Loss.of(StatedLaw(epsilon=None, rho=Fraction(1, 200))).tv() == pytest.approx(0.05, abs=1e-3)

    def test_what_is_pure_is_spent_first(self) -> None:
        """40 different Laplace laws and 9 Gaussians beside a stated pure law: their curve at ε less what it spends."""
        known = 9 * Loss.of(GAUSSIAN) + Loss.of(LaplaceLaw(epsilon=Fraction(1, 7)))
        both = known + 3 * Loss.of(StatedLaw(epsilon=Fraction(1, 10), rho=Fraction(1, 200)))
        assert both.delta(Fraction(5)) <= known.delta(Fraction(47, 10)) * (1 + 1e-9)
        with precision(256):
            first = float_above(both.curve()._pure_first(Ball(5)))
        assert first == pytest.approx(known.delta(Fraction(47, 10)), rel=1e-6)
        # Leaving the stated ones out is post-processing.
        assert both.delta_bounds(Fraction(5))[0] >= known.delta_bounds(Fraction(5))[0] * (1 - 1e-9)

    def test_a_family_is_a_part(self) -> None:
        """A lower bound from all Gaussians together, where one law is not known."""
        both = 9 * Loss.of(GAUSSIAN) + Loss.of(StatedLaw(epsilon=None, rho=Fraction(1, 200)))
        alone = Loss.of(GaussianLaw(mu2=Fraction(9, 4)))
        low, high = both.epsilon_bounds("1e-9")
        assert alone.epsilon_bounds("1e-9")[0] * (1 - 1e-9) <= low <= high

    @pytest.mark.parametrize("alpha", ["11/10", "2", "40"])
    def test_divergences_are_the_least_that_is_known(self, alpha: str) -> None:
        order = Fraction(alpha)
        loose = StatedLaw(epsilon=Fraction(1, 10), rho=Fraction(5))
        assert renyi_of(loose, order) == (0, Fraction(1, 10))
        assert kl_of(loose) == (0, Fraction(5))
        assert renyi_of(GAUSSIAN, order) == (order / 8, order / 8)
        assert Loss.of(loose).spend(qx.standard.Renyi(alpha=order)) == Fraction(1, 10)


def test_extreme_parameters_stay_certified() -> None:
    for law in (
        StatedLaw(epsilon=Fraction(10) ** 300, rho=Fraction(10) ** 300),
        GaussianLaw(mu2=Fraction(10) ** 300),
        StatedLaw(epsilon=Fraction(1, 10**300), rho=Fraction(1, 10**300)),
    ):
        loss = Loss.of(law) + Loss.of(StatedLaw(epsilon=None, rho=Fraction(1, 10)))
        for epsilon in (0, 1, "1e20"):
            low, high = loss.delta_bounds(epsilon)
            assert 0 <= low <= high <= 1 + 1e-15
            assert math.isfinite(high)
