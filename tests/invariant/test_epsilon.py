"""ε of swapping: the figures of the theory, the closed forms against their definitions, and bad input."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quincunx.errors import ParameterError
from quincunx.invariant import Kind, SwapEpsilon, swap_epsilon
from quincunx.invariant.swapping.epsilon import derangements, growth, supremum, weight
from quincunx.numbers import Ball, Log, ball, float_above, float_below, precision

MASSACHUSETTS = 264_331


@pytest.mark.parametrize(
    ("b", "rate", "figure"),
    [
        (MASSACHUSETTS, "0.01", 17.08),
        (MASSACHUSETTS, "0.05", 15.43),
        (MASSACHUSETTS, "0.10", 14.68),
        (MASSACHUSETTS, "0.50", 12.48),
        (MASSACHUSETTS, "0.998059", 6.2426),
        (13_475_623, "0.05", 19.36),
        (13_475_623, "0.50", 16.42),
        (3_420_628, "0.05", 17.99),
        (3_420_628, "0.50", 15.05),
        (6_204, "0.05", 11.68),
        (6_204, "0.50", 8.73),
    ],
)
def test_the_figures_of_the_theorem(b: int, rate: str, figure: float) -> None:
    found = swap_epsilon(rate=rate, largest_stratum=b)
    places = len(str(figure).partition(".")[2])
    assert round(found.theorem, places) == figure
    # The supremum is below the theorem by little at such sizes.
    assert 0 <= found.theorem - found.exact < 3e-4
    odds = Fraction(rate) / (1 - Fraction(rate))
    assert found.theorem >= max(math.log(odds), math.log(b + 1) - math.log(odds)) - 1e-14


def brute(rate: Fraction, b: int, kind: str) -> float:
    """sup (1/m)·|ln(w(k)/w(k'))| over all 2 ≤ m ≤ b and k, k' ≠ 1 with |k − k'| ≤ m, term by term."""
    law = {k: weight(rate, b, k, Kind(kind)) for k in (0, *range(2, b + 1))}
    logs = {k: math.log(value.numerator) - math.log(value.denominator) for k, value in law.items()}
    return max(
        abs(logs[k] - logs[other]) / m for m in range(2, b + 1) for k in law for other in law if abs(k - other) <= m
    )


@pytest.mark.parametrize("kind", ["derangement", "uniform"])
@pytest.mark.parametrize("b", [2, 3, 4, 5, 6, 9, 14, 25])
def test_the_closed_form_is_the_supremum(b: int, kind: str) -> None:
    for rate in (Fraction(1, 1000), Fraction(1, 20), Fraction(1, 3), Fraction(1, 2), Fraction(4, 5), Fraction(99, 100)):
        stated = swap_epsilon(rate=rate, largest_stratum=b, kind=kind)
        smaller = max(brute(rate, n, kind) for n in range(2, b + 1))
        assert stated.exact == pytest.approx(smaller, rel=1e-12, abs=1e-14)
        assert stated.exact <= stated.theorem


def test_derangements_are_counted_and_their_ratio_rises() -> None:
    assert [derangements(n) for n in range(10)] == [1, 0, 1, 2, 9, 44, 265, 1854, 14833, 133496]
    for n in range(4, 60):
        one, two = derangements(n), derangements(n - 1)
        assert one == n * two + (-1) ** n
        assert Fraction(derangements(n + 1), one) > Fraction(one, two)


def test_the_ratio_of_large_numbers_of_derangements_is_enclosed() -> None:
    with precision(400):
        for n in (60, 61, 75, 120):
            exact = ball(Fraction(derangements(n), derangements(n - 1)))
            assert growth(n).overlaps(exact)
            assert growth(n).contains(exact.mid()) or abs(growth(n) - exact) < Ball(2) ** -390
    with precision(256):
        assert growth(10**7).overlaps(Ball(10**7))


@given(st.fractions(min_value="1/1000", max_value="999/1000"), st.integers(min_value=2, max_value=40))
def test_uniform_weights_are_log_concave(rate: Fraction, b: int) -> None:
    """The lemma behind the uniform kind: w(k)/w(k + 1) rises with k, up to 1 + b(1 − p)/p."""
    law = [weight(rate, b, k, Kind.UNIFORM) for k in range(b + 1)]
    ratios = [a / c for a, c in itertools.pairwise(law)]
    assert all(a <= c for a, c in itertools.pairwise(ratios))
    assert ratios[-1] == 1 + b * (1 - rate) / rate
    assert all(ratio >= 1 for ratio in ratios)


@given(
    st.fractions(min_value="1/1000000", max_value="999999/1000000"),
    st.integers(min_value=0, max_value=10**9),
    st.sampled_from(["derangement", "uniform"]),
)
def test_properties(rate: Fraction, b: int, kind: str) -> None:
    found = swap_epsilon(rate=rate, largest_stratum=b, kind=kind)
    assert 0 <= found.exact <= found.theorem
    assert swap_epsilon(rate=rate, largest_stratum=b + 1, kind=kind).exact >= found.exact
    with precision(256):
        stated = ball(found.intensity)
        tight = supremum(rate, b, Kind(kind))
        tight = tight if isinstance(tight, Ball) else ball(tight)
        # What is stated is not below the supremum, and close to it; floats are on the safe side.
        assert not stated < tight
        assert float_below(stated) <= float_above(tight) * (1 + 1e-6) + 1e-300
        assert found.exact >= float_below(tight)


def test_the_numbers_that_leave_are_upper_bounds() -> None:
    for rate in ("1/3", "0.05", "0.9", "0.999999"):
        for kind in Kind:
            found = swap_epsilon(rate=rate, largest_stratum=1000, kind=kind)
            with precision(512):
                tight = supremum(Fraction(rate), 1000, kind)
                tight = tight if isinstance(tight, Ball) else ball(tight)
                assert ball(Fraction(found.exact)) >= tight


def test_exact_logarithms_stay_exact() -> None:
    found = swap_epsilon(rate="0.9", largest_stratum=4)
    assert found.intensity == Log(9)
    assert found.theorem == found.exact


def test_two_records_at_one_half_cost_nothing() -> None:
    """Both move or none, each with probability 1/2: the output is the same whatever the data."""
    assert swap_epsilon(rate="1/2", largest_stratum=2).exact == 0
    assert swap_epsilon(rate="1/2", largest_stratum=2).theorem == pytest.approx(math.log(3))


@pytest.mark.parametrize("b", [0, 1])
def test_without_a_stratum_that_can_swap_nothing_is_leaked(b: int) -> None:
    for kind in Kind:
        found = swap_epsilon(rate="0.3", largest_stratum=b, kind=kind)
        assert (found.theorem, found.exact, found.intensity) == (0, 0, 0)
        assert "No change" in found.words()


def test_a_uniform_permutation_of_all_costs_nothing() -> None:
    assert swap_epsilon(rate=1, largest_stratum=10**6, kind="uniform").exact == 0


def test_words_name_two_records() -> None:
    found = swap_epsilon(rate="0.9", largest_stratum=4)
    assert "two records at once" in found.words()
    assert "e^(2ε) ≈ 81 times" in found.words()
    assert "two households at once" in found.words("household")
    assert "2.52e+13" in swap_epsilon(rate="0.05", largest_stratum=MASSACHUSETTS).words()
    assert found.smallest_change == 2 * found.exact


def test_it_is_a_frozen_value() -> None:
    one, two = (swap_epsilon(rate=rate, largest_stratum=7) for rate in ("0.1", 0.1))
    assert one == two
    assert hash(one) == hash(two)
    with pytest.raises(AttributeError):
        one.rate = Fraction(1, 2)  # type: ignore[misc]
    assert SwapEpsilon(rate=Fraction(1, 10), largest_stratum=7, kind=Kind.DERANGEMENT) == one


BAD_RATES = [0, 1, -0.1, 1.5, "abc", float("nan"), float("inf"), None, True, [0.5]]


@pytest.mark.parametrize("rate", BAD_RATES, ids=repr)
def test_bad_rates_are_refused(rate: object) -> None:
    with pytest.raises(ParameterError) as refusal:
        swap_epsilon(rate=rate, largest_stratum=5)
    assert refusal.value.where == "rate"


@pytest.mark.parametrize("rate", [each for each in BAD_RATES if not (each == 1 and each is not True)], ids=repr)
def test_bad_rates_of_the_uniform_kind(rate: object) -> None:
    with pytest.raises(ParameterError) as refusal:
        swap_epsilon(rate=rate, largest_stratum=5, kind="uniform")
    assert refusal.value.where == "rate"


def test_the_rate_one_is_explained() -> None:
    with pytest.raises(ParameterError, match='kind="uniform" takes the rate 1'):
        swap_epsilon(rate=1, largest_stratum=5)


@pytest.mark.parametrize("b", [-1, 2.5, "many", None, True, float("inf")], ids=repr)
def test_bad_sizes_are_refused(b: object) -> None:
    with pytest.raises(ParameterError) as refusal:
        swap_epsilon(rate="1/2", largest_stratum=b)
    assert refusal.value.where == "largest_stratum"


@pytest.mark.parametrize("kind", ["Derangement", "", None, 3])
def test_bad_kinds_are_refused(kind: object) -> None:
    with pytest.raises(ParameterError, match=r'Choose "derangement" or "uniform"'):
        swap_epsilon(rate="1/2", largest_stratum=5, kind=kind)
