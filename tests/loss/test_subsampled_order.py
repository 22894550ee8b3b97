"""Rényi and Kullback–Leibler divergences of sampled Gaussians: both directions, sums, quadrature, enumeration."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import integrate, stats

from quincunx.finite import Mechanism, mixture
from quincunx.loss import GaussianLaw, Loss, SubsampledLaw
from quincunx.loss import subsampled_order as order
from quincunx.numbers import Ball, ball, float_above, float_below, precision
from quincunx.spec.standard import KL, Renyi

CASES = [("1", "1/100"), ("4", "1/10"), ("1/4", "1/2"), ("1/100", "9/10")]
ORDERS = ["11/10", "2", "5/2", "8", "15"]


def law(mu2: str, rate: str, *, replacing: bool = False) -> SubsampledLaw:
    return SubsampledLaw(base=GaussianLaw(mu2=Fraction(mu2)), rate=Fraction(rate), replacing=replacing)


def direct(mu: float, rate: float, alpha: float, *, removed: bool) -> float:
    """E_Q[w^α] or E_Q[w^{1−α}] by quadrature over the output, w = 1 − r + r·e^{μz − μ²/2}."""

    def integrand(z: float) -> float:
        log_w = math.log1p(rate * math.expm1(mu * z - mu * mu / 2))
        return math.exp((alpha if removed else 1 - alpha) * log_w - z * z / 2) / math.sqrt(2 * math.pi)

    middle = alpha * mu
    points = sorted({-4.0, 0.0, 4.0, middle, middle + 4})
    return float(integrate.quad(integrand, -14, middle + 14, points=points, limit=400, epsabs=0, epsrel=1e-11)[0])


@pytest.mark.parametrize(("mu2", "rate"), CASES)
@pytest.mark.parametrize("alpha", ORDERS)
def test_removing_is_the_larger_direction_and_the_answer(mu2: str, rate: str, alpha: str) -> None:
    mu, r, a = math.sqrt(Fraction(mu2)), float(Fraction(rate)), float(Fraction(alpha))
    removed, added = (math.log(direct(mu, r, a, removed=way)) / (a - 1) for way in (True, False))
    low, high = Loss.of(law(mu2, rate)).renyi_bounds(alpha)
    # Quadrature is good to 1e-10 of the expectation.
    assert added <= removed + 1e-9
    assert low <= removed * (1 + 1e-6) + 1e-9
    assert removed <= high * (1 + 1e-6) + 1e-9
    assert high - low <= 1e-12 * high


@given(st.floats(0.001, 0.999), st.floats(0.001, 8), st.floats(1.001, 40))
def test_the_inequality_behind_the_larger_direction(rate: float, loss: float, alpha: float) -> None:
    """G(a) + e^l·G(b) ≥ 0 for G(y) = y^α − y^{1−α}, a = w(l), b = w(−l): pointwise, in balls."""
    with precision(256):
        r, x, a = Ball(rate), Ball(loss).exp(), Ball(alpha)
        up, down = 1 - r + r * x, 1 - r + r / x
        value = up**a - up ** (1 - a) + x * (down**a - down ** (1 - a))
        assert value > -(Ball(2) ** -150)


@pytest.mark.parametrize(("mu2", "rate"), CASES)
@pytest.mark.parametrize("alpha", [2, 3, 8, 20])
def test_the_sum_is_the_quadrature_at_whole_orders(mu2: str, rate: str, alpha: int) -> None:
    """One formula against the other: a sum over binomial weights and an integral, both certified."""
    whole = order.divergence(Fraction(mu2), Fraction(rate), False, Fraction(alpha))[0]
    with precision(160):
        near = [order.divergence(Fraction(mu2), Fraction(rate), False, alpha + Fraction(k, 10**9))[0] for k in (-1, 1)]
        # D_α does not fall with α.
        assert near[0] <= whole <= near[1]
        assert (near[1] - near[0]) / whole < Ball(1e-7)


@pytest.mark.parametrize("replacing", [False, True])
@pytest.mark.parametrize(("mu2", "rate"), CASES)
def test_orders_rise_from_kl_towards_the_base(mu2: str, rate: str, replacing: bool) -> None:
    loss = Loss.of(law(mu2, rate, replacing=replacing))
    values = [loss.kl(), *(loss.renyi(alpha) for alpha in ORDERS)]
    assert values == sorted(values)
    for alpha in ORDERS:
        assert loss.renyi(alpha) <= Loss.of(GaussianLaw(mu2=Fraction(mu2))).renyi(alpha)
    # (α − 1)·D_α is convex in α.
    moments = [(a - 1) * loss.renyi(a) for a in (2, 3, 4)]
    assert 2 * moments[1] <= (moments[0] + moments[2]) * (1 + 1e-12)


@pytest.mark.parametrize(("mu2", "rate"), CASES)
def test_kl_against_quadrature(mu2: str, rate: str) -> None:
    mu, r = math.sqrt(Fraction(mu2)), float(Fraction(rate))

    def log_ratio(z: float) -> float:
        return math.log(1 - r + r * math.exp(mu * z - mu * mu / 2))

    removed = integrate.quad(lambda z: stats.norm.pdf(z) * math.exp(log_ratio(z)) * log_ratio(z), -13, 13 + mu)[0]
    added = integrate.quad(lambda z: -stats.norm.pdf(z) * log_ratio(z), -13, 13)[0]
    low, high = Loss.of(law(mu2, rate)).kl_bounds()
    assert added <= removed + 1e-8
    assert low - 1e-8 <= removed <= high + 1e-8
    assert high <= float(Fraction(rate) * Fraction(mu2) / 2)
    # Replacing: losses above 0 as they are, their mirror images below.
    both = integrate.quad(lambda z: stats.norm.pdf(z) * math.expm1(log_ratio(z)) * log_ratio(z), mu / 2, 13 + mu)[0]
    low, high = Loss.of(law(mu2, rate, replacing=True)).kl_bounds()
    assert low - 1e-8 <= both <= high + 1e-8


def binned(mu: float, rate: Fraction, bins: int) -> tuple[Mechanism, Mechanism]:
    """Normal outputs in equally likely bins: post-processing of the Gaussian, present and absent, as a finite world."""
    edges = stats.norm.ppf(np.linspace(0, 1, bins + 1))
    present = np.diff(stats.norm.cdf(edges - mu))
    rows = [Fraction(float(p)).limit_denominator(10**12) for p in present[:-1]]
    there = Mechanism({"in": {**dict(enumerate(rows)), bins - 1: 1 - sum(rows)}})
    away = Mechanism({"in": dict.fromkeys(range(bins), Fraction(1, bins))})
    return mixture([rate, 1 - rate], [there, away]), away


@pytest.mark.parametrize(("mu", "rate"), [(1.0, "1/10"), (2.0, "1/3")])
def test_finite_worlds_never_exceed_it(mu: float, rate: str) -> None:
    """A coarse Gaussian on a Poisson sample, enumerated in both directions: below every claim, not far below."""
    sampled, away = binned(mu, Fraction(rate), 40)
    loss = Loss.of(law(str(Fraction(mu) ** 2), rate))
    for standard, claim in ((Renyi(2), loss.renyi(2)), (Renyi("5/2"), loss.renyi("5/2")), (KL(), loss.kl())):
        found = []
        for pair in ((sampled, away), (away, sampled)):
            with precision(256):
                least = standard.least(pair[0].law("in"), pair[1].law("in"))
                found.append(float_below(least.lower))
        assert max(found) <= claim
        # Forty equally likely bins hide most of the tail.
        assert max(found) >= 0.3 * claim


def test_rho_and_mu_of_the_base_cannot_be_improved() -> None:
    """D_α/α is at least μ²/2 − ln(1/r)/(α − 1), which approaches the base's ρ."""
    one = Loss.of(law("1", "1/100"))
    for alpha in (100, 1000, 4000):
        assert one.renyi_bounds(alpha)[0] / alpha >= 0.5 - math.log(100) / (alpha - 1) - 1e-12
    assert one.zcdp() == 0.5
    assert one.gdp() == 1.0


def test_where_quadrature_is_too_long_the_base_remains() -> None:
    low, high = Loss.of(law("1", "1/100")).renyi_bounds(10**6)
    assert low == 0.0
    assert high == 5e5
    assert Loss.of(law("1", "1/100", replacing=True)).renyi(10**5) == 5e4


def test_extreme_parameters_stay_enclosed() -> None:
    for mu2, rate in (("1e-8", "1e-6"), ("100", "1/2"), ("1", "999999/1000000"), ("1e-6", "1/2")):
        for replacing in (False, True):
            found = law(mu2, rate, replacing=replacing)
            for alpha in ("1001/1000", "5/2", "30"):
                low, high = Loss.of(found).renyi_bounds(alpha)
                assert 0 < low <= high <= float_above(ball(Fraction(alpha) * Fraction(mu2) / 2))
                assert high - low <= 1e-9 * high


def test_budgets_are_charged_the_sampled_order() -> None:
    one = Loss.of(law("1", "1/100"))
    charged = one.spend(Renyi(8))
    assert one.renyi_bounds(8)[0] <= float(charged) <= one.renyi(8) + 1e-12
    assert charged < Fraction(1, 100)
