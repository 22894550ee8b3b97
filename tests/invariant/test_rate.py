"""The rates that reach a wanted ε: both roots, the smallest attainable ε, and refusals."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quincunx.errors import ParameterError, PrivacyError
from quincunx.invariant import swap_epsilon, swap_rate
from quincunx.invariant.swapping.epsilon import Kind, supremum
from quincunx.numbers import Log, precision
from quincunx.spec.order import at_most


def reaches(rate: Fraction, b: int, kind: str, wanted: object) -> bool:
    with precision(256):
        return at_most(supremum(rate, b, Kind(kind)), wanted) is True  # type: ignore[arg-type]


def test_the_smallest_epsilon_of_massachusetts() -> None:
    smallest = swap_rate(epsilon=10, largest_stratum=264_331).smallest
    assert round(smallest.exact, 4) == 6.2425
    assert round(smallest.theorem, 4) == 6.2425
    assert round(float(smallest.rate), 6) == 0.998059


def test_both_roots() -> None:
    found = swap_rate(epsilon="15.4293945", largest_stratum=264_331)
    assert float(found.low) == pytest.approx(0.05, rel=1e-6)
    assert float(found.high) == pytest.approx(1 - math.exp(-15.4293945), rel=1e-12)
    for rate in (found.low, found.high):
        assert swap_epsilon(rate=rate, largest_stratum=264_331).exact == pytest.approx(15.4293945, abs=1e-10)


@given(
    st.fractions(min_value="1/20", max_value=40),
    st.one_of(st.integers(2, 8), st.integers(9, 10**8)),
    st.sampled_from(["derangement", "uniform"]),
)
def test_rates_reach_what_was_asked_and_no_wider_ones_do(epsilon: Fraction, b: int, kind: str) -> None:
    try:
        found = swap_rate(epsilon=epsilon, largest_stratum=b, kind=kind)
    except PrivacyError:
        # Refused only where the best rate does not do, up to its twelve digits.
        assert kind == "derangement"
        best = min(swap_epsilon(rate=Fraction(i, 1000), largest_stratum=b).exact for i in range(1, 1000, 37))
        assert best > float(epsilon)
        return
    assert found.low <= found.smallest.rate <= found.high
    for rate in (found.low, found.high, (found.low + found.high) / 2):
        assert reaches(rate, b, kind, epsilon)
    # One part in 10^9 beyond the roots is too much.
    assert not reaches(found.low * Fraction(10**9 - 1, 10**9), b, kind, epsilon) or found.low == found.smallest.rate
    if kind == "derangement":
        beyond = 1 - (1 - found.high) * Fraction(10**9 - 1, 10**9)
        assert not reaches(beyond, b, kind, epsilon)
    else:
        assert found.high == 1


@pytest.mark.parametrize(
    ("b", "smallest", "rate"), [(2, 0.0, 0.5), (3, math.log(2) / 3, 0.557507), (4, math.log(3) / 2, 0.633975)]
)
def test_small_strata(b: int, smallest: float, rate: float) -> None:
    found = swap_rate(epsilon=2, largest_stratum=b).smallest
    assert found.exact == pytest.approx(smallest, abs=1e-11)
    assert float(found.rate) == pytest.approx(rate, abs=1e-6)
    for near in (found.rate - Fraction(1, 1000), found.rate + Fraction(1, 1000)):
        assert swap_epsilon(rate=near, largest_stratum=b).exact > found.exact


def test_exact_logarithms() -> None:
    found = swap_rate(epsilon=Log(9), largest_stratum=4)
    assert found.epsilon == Log(9)
    assert found.high == Fraction(9, 10)


def test_zero() -> None:
    found = swap_rate(epsilon=0, largest_stratum=2)
    assert (found.low, found.high) == (Fraction(1, 2), Fraction(1, 2))
    uniform = swap_rate(epsilon=0, largest_stratum=5, kind="uniform")
    assert (uniform.low, uniform.high, uniform.smallest.exact) == (1, 1, 0)


def test_what_no_rate_attains_is_refused_with_the_smallest() -> None:
    with pytest.raises(PrivacyError) as refusal:
        swap_rate(epsilon=6, largest_stratum=264_331)
    assert "6.24248" in refusal.value.hint
    assert "0.998059" in refusal.value.hint
    assert 'kind="uniform"' in refusal.value.hint
    assert "264,331" in refusal.value.what
    assert swap_rate(epsilon="6.24248", largest_stratum=264_331).low <= Fraction("0.9981")


@pytest.mark.parametrize("epsilon", [-1, "x", float("nan"), float("inf"), None, 0])
def test_bad_epsilons(epsilon: object) -> None:
    with pytest.raises(ParameterError) as refusal:
        swap_rate(epsilon=epsilon, largest_stratum=100)
    assert refusal.value.where == "epsilon"


@pytest.mark.parametrize("b", [0, 1, -3, 2.5, None])
def test_bad_sizes(b: object) -> None:
    with pytest.raises(ParameterError) as refusal:
        swap_rate(epsilon=1, largest_stratum=b)
    assert refusal.value.where == "largest_stratum"
