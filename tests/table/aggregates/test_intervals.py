"""Intervals: exact for counts and sums, at least the confidence for means, and not much more."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from quincunx.mechanisms import LIMIT, DiscreteGaussian, DiscreteLaplace, Gaussian, Laplace
from quincunx.numbers import Ball, ball, float_near, precision
from quincunx.table.aggregates.estimate import half_width, standard_error
from quincunx.table.aggregates.linear import Laplace as Form
from quincunx.table.aggregates.total import rounded
from tests.release.world import gaussian, laplace
from tests.table.aggregates.noises import count_bound, law_of, of_mean, of_measure

ONE = Fraction(1)
RISK = Fraction(5, 100)


@pytest.mark.parametrize("noise", [laplace(5), laplace("0.1"), gaussian(12), gaussian("0.3")])
@pytest.mark.parametrize("risk", [Fraction(1, 2), RISK, Fraction(1, 1000)])
def test_a_count_is_covered_with_the_smallest_level_of_the_lattice(noise: Any, risk: Fraction) -> None:
    low, high = of_measure(np.array([100, -3, 0]), noise, ONE, risk)
    reach = int((high - low)[0] / 2)
    inside = 1 - float(noise._tail(reach).mid())
    assert inside >= 1 - risk
    assert reach == 0 or 1 - float(noise._tail(reach - 1).mid()) < 1 - risk
    assert low.tolist() == [100 - reach, -3 - reach, -reach]
    assert half_width(noise, Fraction(1, 4), risk) == Fraction(reach, 4)
    assert standard_error(noise, ONE) == pytest.approx(math.sqrt(noise.variance))


@pytest.mark.parametrize(("noise", "level"), [(laplace(5), 0.96), (gaussian(12), 0.96)])
def test_the_level_is_within_a_point_of_the_confidence_for_wide_noise(noise: Any, level: float) -> None:
    _, high = of_measure(np.zeros(1, dtype=np.int64), noise, ONE, RISK)
    assert 0.95 <= 1 - float(noise._tail(int(high[0])).mid()) <= level


@given(st.integers(-(2**62) + 1, 2**62 - 1), st.fractions(min_value=Fraction(1, 10**6), max_value=1000))
def test_ends_are_rounded_outwards(number: int, unit: Fraction) -> None:
    noise = laplace(2)
    low, high = of_measure(np.array([number]), noise, unit, RISK)
    reach = int(noise.error(RISK))
    assert Fraction(float(low[0])) <= (number - reach) * unit
    assert Fraction(float(high[0])) >= (number + reach) * unit
    if unit.numerator == 1 and unit.denominator in (1, 2, 4, 8) and abs(number) < 2**40:
        assert Fraction(float(low[0])) == (number - reach) * unit


def test_enormous_noise_does_not_overflow() -> None:
    low, high = of_measure(np.array([2**62 - 1, -(2**62) + 1]), gaussian(2**70), ONE, RISK)
    assert np.isfinite(low).all()
    assert (low < high).all()
    assert standard_error(gaussian(2**70), Fraction(1, 4)) == pytest.approx(2**68)


# Means.

PAIRS: list[tuple[Any, Any]] = [
    (laplace(40), laplace(3)),
    (laplace(3), laplace(3)),
    (laplace("0.2"), laplace("0.1")),
    (gaussian(40), gaussian(3)),
    (gaussian("0.4"), gaussian(2)),
    (gaussian("0.1"), gaussian("0.1")),
    (Gaussian(sigma=20), Gaussian(sigma=2)),
    (Laplace(scale=20), Laplace(scale=2)),
]


@pytest.mark.usefixtures("stream")
@pytest.mark.parametrize(("sums", "counts"), PAIRS, ids=repr)
@pytest.mark.parametrize(("total", "count"), [(0, 200), (900, 100), (-45, 9), (3, 1), (-2000, 200)])
def test_means_are_covered(sums: Any, counts: Any, total: int, count: int) -> None:
    draws, truth = 4_000, total / count
    noisy = sums.sample(np.full(draws, total)), counts.sample(np.full(draws, count))
    found = of_mean(*noisy, (sums, counts), (ONE, ONE), RISK, (-10.0, 10.0))
    covered = float(np.mean((found.low <= truth) & (truth <= found.high)))
    assert covered >= count_bound(0.95, draws)
    assert (found.low >= -10).all()
    assert (found.high <= 10).all()
    assert ((found.low <= found.near) & (found.near <= found.high)).all()


@pytest.mark.usefixtures("stream")
@pytest.mark.parametrize(("sums", "counts"), [PAIRS[0], PAIRS[3], PAIRS[6]], ids=repr)
def test_means_are_not_covered_much_more_often_than_stated(sums: Any, counts: Any) -> None:
    """Steps are small against this noise, so the margin of a step is the only slack: below 97.5 %."""
    wide = tuple(type(each)(**{name: 200 * getattr(each, name) for name in _size(each)}) for each in (sums, counts))
    draws = 20_000
    noisy = wide[0].sample(np.full(draws, 6_000)), wide[1].sample(np.full(draws, 100_000))
    found = of_mean(*noisy, wide, (ONE, ONE), RISK, (-10.0, 10.0))  # type: ignore[arg-type]
    covered = float(np.mean((found.low <= 0.06) & (found.high >= 0.06)))
    assert count_bound(0.95, draws) <= covered <= 0.975 + math.sqrt(math.log(1e9) / (2 * draws))


def _size(noise: Any) -> tuple[str, ...]:
    return ("scale",) if noise.norm == 1 else ("sigma2",)


@pytest.mark.parametrize(("sums", "counts"), PAIRS, ids=repr)
def test_a_count_within_its_own_error_leaves_every_mean_possible(sums: Any, counts: Any) -> None:
    few = np.array([0, -5, -(10**6)])
    found = of_mean(np.array([3, 3, 3]), few, (sums, counts), (ONE, ONE), RISK, (-2.0, 7.0))
    assert found.low.tolist() == [-2.0] * 3
    assert found.high.tolist() == [7.0] * 3
    assert np.isnan(found.se).all()
    assert found.near.tolist() == [0.0] * 3


@pytest.mark.parametrize(("sums", "counts"), PAIRS, ids=repr)
def test_the_interval_shrinks_with_the_group_and_lies_around_the_ratio(sums: Any, counts: Any) -> None:
    sizes = np.array([10**3, 10**4, 10**5, 10**6])
    found = of_mean(2 * sizes, sizes, (sums, counts), (ONE, ONE), RISK, (-10.0, 10.0))
    widths = found.high - found.low
    # Noise that is 0 at this level leaves what bisection cannot tell apart.
    assert (np.diff(widths) < 1e-12).all()
    assert np.allclose(found.near, 2.0)
    assert (np.diff(found.se) < 0).all()
    scaled = of_mean(2 * sizes, sizes, (sums, counts), (Fraction(1, 8), Fraction(1, 8)), RISK, (-10.0, 10.0))
    assert np.allclose(scaled.low, found.low)


def test_a_ratio_beyond_the_bounds_is_the_bound() -> None:
    found = of_mean(np.array([10**6, -(10**6)]), np.array([1000, 1000]), PAIRS[3], (ONE, ONE), RISK, (-5.0, 5.0))
    assert found.near.tolist() == [5.0, -5.0]
    assert np.allclose(found.low, [5.0, -5.0], atol=1e-12)
    assert np.allclose(found.high, [5.0, -5.0], atol=1e-12)


@given(
    st.floats(0.01, 100),
    st.floats(0.01, 100),
    st.floats(0, 500),
)
def test_the_tail_of_two_laplace_noises_by_numerical_integration(a: float, b: float, t: float) -> None:
    """P(|aX + bY| > t) from the density of aX, integrated against the tail of bY."""
    from scipy.integrate import quad

    def tail_of_b(x: float) -> float:
        return 0.5 * math.exp(-x / b) if x >= 0 else 1 - 0.5 * math.exp(x / b)

    def outside(x: float) -> float:
        return math.exp(-abs(x) / a) / (2 * a) * (tail_of_b(t - x) + tail_of_b(t + x))

    reach = 60 * a
    points = sorted({-t, 0.0, t})
    inner = [point for point in points if -reach < point < reach]
    exact = quad(outside, -reach, reach, points=inner, limit=400)[0]
    law = Form(scales=(a, b), units=(0.0, 0.0), risk=0.05)
    # The law says whether t is possible, so its quantile must lie on the same side.
    for risk in (exact * 0.9, exact * 1.1):
        if 1e-6 < risk < 1:
            judged = Form(scales=(a, b), units=(0.0, 0.0), risk=risk).possible(np.array([t]), 1.0, np.array([1.0]))
            assert bool(judged[0]) == (exact >= risk)
    assert law.reach(1) == pytest.approx(b * math.log(20))


@pytest.mark.parametrize("noise", [laplace(1), laplace(7), gaussian(1), gaussian("1.5"), gaussian(6)])
def test_the_lattice_noise_is_within_a_step_of_the_continuous_one(noise: Any) -> None:
    """The coupling of linear.md: P(|X| > m + 1) ≤ P(|K| > m) ≤ P(|X| > m) with X continuous, for quantiles."""
    for m in range(40):
        tail = float(noise._tail(m).mid())
        if noise.norm == 1:
            low, high = (math.exp(-x / float(noise.scale)) for x in (m + 1, m))
        else:
            sigma = math.sqrt(noise.sigma2)
            low, high = (math.erfc(x / sigma / math.sqrt(2)) for x in (m + 1, m))
        assert low * (1 - 1e-12) <= tail <= high * (1 + 1e-12)


@pytest.mark.parametrize("noise", [laplace("0.5"), gaussian(2), gaussian("0.4")])
def test_the_quantile_grows_by_at_most_reach_for_each_unit_of_the_ratio(noise: Any) -> None:
    """The step of mean.md that is cited: q(r) − q(s) ≤ reach·|r − s|, on a grid."""
    law = law_of((noise, noise), (ONE, ONE), RISK)

    def quantile(ratio: float) -> float:
        low, high = 0.0, 1e4
        for _ in range(60):
            middle = (low + high) / 2
            here = bool(law.possible(np.array([middle]), 1.0, np.array([ratio]))[0])
            low, high = (middle, high) if here else (low, middle)
        return high

    grid = [0.0, 0.1, 0.3, 0.9, 0.99995, 1.0, 1.1, 2.0, 5.0, 40.0]
    for r, s in product(grid, grid):
        assert quantile(r) - quantile(s) <= law.reach(1) * abs(r - s) + 2e-3


def test_classes_of_noise_are_told_apart_by_their_norm_alone() -> None:
    assert DiscreteLaplace.norm == Laplace.norm == 1
    assert DiscreteGaussian.norm == Gaussian.norm == 2


@given(st.lists(st.floats(0.01, 100), min_size=3, max_size=5), st.floats(0, 300))
def test_the_tail_of_several_laplace_noises_is_an_upper_bound_and_close(scales: list[float], t: float) -> None:
    """Σ a_i·X_i: by certified partial fractions of scales that differ, and never below them."""
    spread = [Fraction(scale) * (1 + Fraction(i, 10**9)) for i, scale in enumerate(sorted(scales))]
    exact, wider = (_tail(scaled, t) for scaled in (spread, [each * Fraction(17, 16) for each in spread]))
    for risk in (exact * 0.999, wider * 1.001):
        if 1e-9 < risk < 1:
            law = Form(scales=tuple(scales), units=(0.0,) * len(scales), risk=risk)
            judged = law.possible(np.array([t]), *[np.array([1.0])] * len(scales))
            assert bool(judged[0]) == (risk < exact)


def _tail(scales: list[Fraction], t: float) -> float:
    """Σ_i e^{−t/a_i}·∏ a_i²/(a_i² − a_j²) with 400 bits, so that equal scales cost no digits that count."""
    with precision(400):
        total = Ball(0)
        for a in scales:
            weight = Fraction(1)
            for b in scales:
                weight = weight if a == b else weight * a**2 / (a**2 - b**2)
            total = total + ball(weight) * (-(ball(Fraction(t)) / ball(a))).exp()
        return float_near(total)


@given(
    st.lists(st.integers(-LIMIT, LIMIT), max_size=20),
    st.integers(1, 3) | st.just(7),
    st.integers(0, 63) | st.just(3),
    st.sampled_from([1, 3, 10]),
)
def test_numbers_are_rounded_to_the_nearest_step_exactly(numbers: list[int], up: int, bits: int, odd: int) -> None:
    ratio = Fraction(up, odd << bits)
    exact = [math.floor(y * ratio + Fraction(1, 2)) for y in numbers]
    assert rounded(np.array(numbers, dtype=np.int64), ratio) == exact
