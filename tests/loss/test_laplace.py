"""The loss of continuous Laplace noise: profile, tight zCDP, and the lemma that one coordinate dominates."""

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import integrate

from quincunx.loss import LaplaceLaw, Loss
from quincunx.numbers import Ball, ball, float_above, precision


def loss(epsilon: object) -> Loss:
    return Loss.of(LaplaceLaw(epsilon=Fraction(epsilon)))


@pytest.mark.parametrize("epsilon", ["1/10", "1/2", 1, 3, 8])
@pytest.mark.parametrize("share", [0.0, 0.25, 0.5, 0.9])
def test_delta_is_the_integral_of_the_positive_part(epsilon: object, share: float) -> None:
    shift = float(Fraction(epsilon))
    at = Fraction(share) * Fraction(epsilon)
    growth = math.exp(float(at))

    def excess(x: float) -> float:
        return max(0.0, 0.5 * math.exp(-abs(x)) - growth * 0.5 * math.exp(-abs(x - shift)))

    # The positive part changes form at 0 and ends where |x − ε| − |x| = s, at (ε − s)/2.
    end = (shift - float(at)) / 2
    expected = integrate.quad(excess, -50, 0)[0] + integrate.quad(excess, 0, end)[0]
    low, high = loss(epsilon).delta_bounds(at)
    assert low <= high
    # quad stops at an absolute error of 1.5e-8 for each piece.
    assert high == pytest.approx(expected, abs=4e-8)


def test_pure_epsilon_is_reached_exactly() -> None:
    assert loss("1/2").pure() == 0.5
    assert loss("1/2").delta("1/2") == 0.0
    assert loss("1/2").delta_bounds("0.4999")[0] > 0


def renyi_over_order(epsilon: Fraction, order: Fraction) -> Ball:
    """D_α/α of Laplace noise, in balls."""
    a, e = ball(order), ball(epsilon)
    inside = a / (2 * a - 1) * ((a - 1) * e).exp() + (a - 1) / (2 * a - 1) * (-a * e).exp()
    return inside.log() / (a - 1)


@pytest.mark.parametrize("epsilon", ["1/1000", "1/20", "1/2", 1, 3, 10, 100])
def test_no_order_exceeds_the_zcdp_bound(epsilon: object) -> None:
    """On [a, b], D_α/α ≤ D_b/a: an interval proof on a geometric grid of orders, up to where D_∞/α is below ρ."""
    e = Fraction(epsilon)
    with precision(256):
        rho = LaplaceLaw(epsilon=e).zcdp()[1]
        last = e / Fraction(float(rho.lower())) + 1
        # Near α = 1 the curve is flat, so D_b/a is above ρ by at most b/a − 1: stay clear of it by that factor.
        slack, order = Fraction(1, 200), 1 + Fraction(1, 10**6)
        while order < last:
            above = order * (1 + slack)
            assert renyi_over_order(e, above) / ball(order) <= rho * ball(1 + slack) ** 2
            # At grid points themselves the bound holds without slack.
            assert renyi_over_order(e, order) / ball(order) < rho
            order = above
        # Beyond, D_α/α ≤ ε/α < ρ.
        assert ball(e / last) < rho


def test_kl_is_the_lower_bound_of_zcdp() -> None:
    low, high = loss(1).zcdp_bounds()
    assert low <= 1 / math.e <= high
    assert high - low < 1e-15


def profile(epsilon: float, s: float) -> float:
    """δ at any real s, negative ones included."""
    if s >= epsilon:
        return 0.0
    return 1 - math.exp((s - epsilon) / 2) if s > -epsilon else 1 - math.exp(s)


@given(first=st.floats(0.01, 5), second=st.floats(0.01, 5), share=st.floats(0, 1))
def test_one_coordinate_dominates_two(first: float, second: float, share: float) -> None:
    """E[δ_{ε₁}(s − L₂)] ≤ δ_{ε₁+ε₂}(s), the lemma of laplace.md, by quadrature over the loss L₂."""
    s = share * (first + second)
    inner, _ = integrate.quad(
        lambda loss_: profile(first, s - loss_) * math.exp((loss_ - second) / 2) / 4, -second, second, limit=200
    )
    atoms = 0.5 * profile(first, s - second) + 0.5 * math.exp(-second) * profile(first, s + second)
    # quad promises 1.5e-8.
    assert inner + atoms <= profile(first + second, s) + 3e-8


def test_many_laplaces_lie_between_honest_bounds() -> None:
    low, high = (1000 * loss("1/20")).epsilon_bounds(delta=1e-6)
    # The figure 8.2044 is given to four decimals.
    assert 8.2044 - 5e-5 <= low <= high <= 8.2044 + 5e-5
    assert high - low < 1e-10
    assert (1000 * loss("1/20")).pure() == 50.0


def test_covering_adds_epsilons() -> None:
    assert loss(1).covers(loss("1/2") + loss("1/2"))
    assert not loss(1).covers(3 * loss("1/2"))
    assert not (2 * loss("1/2")).covers(loss(1))


def test_group_and_single_use_agree_with_the_float() -> None:
    assert loss("1/3").group(3).pure() == 1.0
    assert float_above(ball(Fraction(1, 3))) == loss("1/3").pure()
