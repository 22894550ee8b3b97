"""Clopper–Pearson bounds against exact sums of binomial probabilities."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import beta

from quincunx.audit.blackbox.interval import lower, upper
from quincunx.errors import ParameterError

RISKS = [Fraction(1, 2), Fraction(1, 20), Fraction(1, 10**6), Fraction(1, 10**30)]


def at_least(count: int, total: int, p: Fraction) -> Fraction:
    """P(Bin(total, p) ≥ count), exactly."""
    return sum((math.comb(total, k) * p**k * (1 - p) ** (total - k) for k in range(count, total + 1)), Fraction(0))


@pytest.mark.parametrize("risk", RISKS)
@pytest.mark.parametrize("total", [1, 2, 7, 12])
def test_bounds_are_on_the_right_side_and_close(total: int, risk: Fraction) -> None:
    for count in range(total + 1):
        low, high = Fraction(lower(count, total, risk)), Fraction(upper(count, total, risk))
        share = Fraction(count, total)
        assert low <= share or risk == Fraction(1, 2)
        # 0 and 1 bound every probability, whatever was counted.
        assert low == 0 or at_least(count, total, low) <= risk
        assert high == 1 or 1 - at_least(count + 1, total, high) <= risk
        # A little closer to the share of successes, the bound would not hold.
        if count:
            closer = low + (share - low) / 10**5
            assert closer == low or at_least(count, total, closer) > risk
        if count < total:
            closer = high - (high - share) / 10**5
            assert closer == high or 1 - at_least(count + 1, total, closer) > risk


@pytest.mark.parametrize("risk", [Fraction(1, 5), Fraction(1, 20)])
def test_coverage_is_at_least_what_is_stated(risk: Fraction) -> None:
    total = 15
    lows = [Fraction(lower(k, total, risk)) for k in range(total + 1)]
    highs = [Fraction(upper(k, total, risk)) for k in range(total + 1)]
    edges = {*lows, *highs}
    # Just inside each bound is where coverage is worst.
    grid = {Fraction(i, 40) for i in range(41)} | {
        e + s for e in edges for s in (Fraction(-1, 10**9), Fraction(1, 10**9))
    }
    worst = Fraction(0)
    for p in (each for each in grid if 0 <= each <= 1):
        law = [math.comb(total, k) * p**k * (1 - p) ** (total - k) for k in range(total + 1)]
        below = sum((mass for mass, low in zip(law, lows, strict=True) if low > p), Fraction(0))
        above = sum((mass for mass, high in zip(law, highs, strict=True) if high < p), Fraction(0))
        assert below <= risk
        assert above <= risk
        worst = max(worst, below)
    assert worst > risk * Fraction(99, 100)


@pytest.mark.parametrize("total", [1_000, 10**6, 10**7])
@pytest.mark.parametrize("share", [0.0, 1e-5, 0.01, 0.5, 0.97, 1.0])
@pytest.mark.parametrize("risk", [Fraction(1, 20), Fraction(1, 10**9)])
def test_large_counts_agree_with_floating_point(total: int, share: float, risk: Fraction) -> None:
    count = int(share * total)
    low, high = lower(count, total, risk), upper(count, total, risk)
    want_low = beta.ppf(float(risk), count, total - count + 1) if count else 0.0
    want_high = beta.isf(float(risk), count + 1, total - count) if count < total else 1.0
    middle = count / total
    assert abs(low - want_low) <= 2e-6 * abs(middle - want_low) + 1e-14
    assert abs(high - want_high) <= 2e-6 * abs(want_high - middle) + 1e-14


@given(st.integers(1, 400), st.data())
@settings(max_examples=40)
def test_more_successes_raise_both_bounds(total: int, data: st.DataObject) -> None:
    count = data.draw(st.integers(0, total - 1))
    risk = data.draw(st.sampled_from(RISKS[1:]))
    assert lower(count, total, risk) <= lower(count + 1, total, risk)
    assert upper(count, total, risk) <= upper(count + 1, total, risk)
    assert lower(count, total, risk) <= count / total <= upper(count, total, risk)


def test_ends() -> None:
    assert lower(0, 10, Fraction(1, 20)) == 0
    assert upper(10, 10, Fraction(1, 20)) == 1
    assert lower(10, 10, Fraction(1, 20)) == pytest.approx(0.05**0.1, rel=1e-6)
    assert upper(0, 10, Fraction(1, 20)) == pytest.approx(1 - 0.05**0.1, rel=1e-6)


@pytest.mark.parametrize("bound", [lower, upper])
@pytest.mark.parametrize(
    ("count", "total", "risk", "where"),
    [
        (-1, 10, Fraction(1, 20), "count"),
        (11, 10, Fraction(1, 20), "count"),
        (0, 0, Fraction(1, 20), "count"),
        (1, 10, Fraction(0), "risk"),
        (1, 10, Fraction(1), "risk"),
    ],
)
def test_bad_input(bound: object, count: int, total: int, risk: Fraction, where: str) -> None:
    with pytest.raises(ParameterError) as caught:
        bound(count, total, risk)  # type: ignore[operator]
    assert caught.value.where == where
