"""The census systems: published budgets, the slides' figures, guarantees as values."""

import dataclasses
import math
from fractions import Fraction

import pytest

from quincunx.errors import BudgetError, ParameterError
from quincunx.invariant import census, swap_epsilon, swap_rate
from quincunx.loss import Filter
from quincunx.mechanisms import Gaussian
from quincunx.spec import Specification, scope, standard, unit


def theorem(b: int, p: float) -> float:
    """The slides' formula, in floats and written independently."""
    odds = p / (1 - p)
    return max(math.log(odds), math.log(b + 1) - math.log(odds))


def test_budgets_add_up_exactly() -> None:
    assert census.CUMULATIVE == Fraction("15.29") == Fraction("2.63") + Fraction("12.66")
    assert Fraction("4.944") == census.SAFETAB
    # A replaced person is two steps of adding or removing, so four times ρ.
    assert standard.ZCDP().group(census.SAFETAB, 2) == (standard.ZCDP(), Fraction("19.776"))


def test_every_system_fills_the_five_blocks() -> None:
    found = census.systems()
    assert [system.name for system in found] == [
        "1990–2010 swapping",
        "2020 TopDown, redistricting",
        "2020 TopDown, cumulative",
        "2020 SafeTab-P, detailed race",
    ]
    for system in found:
        assert len(system.blocks) == len(census.BLOCKS) == 5
        assert all(block.strip() for block in (*system.blocks, system.source))


def test_guarantees_are_values_that_agree_with_the_words() -> None:
    swapping, redistricting, cumulative, safetab = census.systems()
    # A rate that is secret leaves a form of guarantee without an intensity, which is no specification.
    assert swapping.specification is None
    for system, rho, words in ((redistricting, "2.63", "ρ = 2.63"), (cumulative, "15.29", "ρ = 15.29 = 2.63 + 12.66")):
        assert system.specification is not None
        assert system.specification.intensity == standard.NormalisedRenyi.root(rho)
        assert system.specification.standard == standard.NormalisedRenyi()
        assert system.specification.unit == unit.Hamming()
        assert isinstance(system.specification.scope, scope.Invariants)
        assert words in system.intensity
        assert Specification.from_json(system.specification.to_json()) == system.specification
    assert safetab.specification is not None
    assert safetab.specification.scope == scope.Everything()
    assert "ρ = 4.944" in safetab.intensity
    assert "19.776" in safetab.intensity


def test_systems_are_ranked_only_by_known_rules() -> None:
    relations = {(one.split(", ")[1], other.split(", ")[1]): how for one, other, how in census.comparisons()}
    assert relations == {
        ("redistricting", "cumulative"): "stronger",
        ("redistricting", "detailed race"): "unknown",
        ("cumulative", "detailed race"): "unknown",
    }


@pytest.mark.parametrize(
    ("b", "five", "fifty"), [(13_475_623, 19.36, 16.42), (3_420_628, 17.99, 15.05), (6_204, 11.68, 8.73)]
)
def test_what_if_2020_had_used_swapping(b: int, five: float, fifty: float) -> None:
    (case,) = [each for each in census.what_if() if each.largest_stratum == b]
    assert [round(each.theorem, 2) for each in case.epsilons] == [five, fifty]
    for each, rate in zip(case.epsilons, (0.05, 0.5), strict=True):
        assert each.theorem == pytest.approx(theorem(b, rate), rel=1e-12)
        # The exact ε is certified and never above the theorem's.
        assert each.theorem - 0.001 < each.exact <= each.theorem


def test_the_slides_conversion_for_1940() -> None:
    found = census.swapped(census.STRATUM_1940)
    assert [round(each.theorem, 2) for each in found] == [17.08, 15.43, 14.68, 12.48]
    lowest = swap_rate(epsilon=7, largest_stratum=census.STRATUM_1940).smallest
    assert round(lowest.exact, 4) == 6.2425
    assert round(float(lowest.rate), 6) == 0.998059


def test_a_curve_falls_and_then_rises() -> None:
    for b in census.CURVE_STRATA:
        points = census.curve(largest_stratum=b)
        rates, costs = [each.rate for each in points], [each.theorem for each in points]
        assert rates == sorted(set(rates))
        lowest = costs.index(min(costs))
        assert 0 < lowest < len(costs) - 1
        assert costs[: lowest + 1] == sorted(costs[: lowest + 1], reverse=True)
        assert costs[lowest:] == sorted(costs[lowest:])
        # The odds at the lowest point are √(b + 1), up to the spacing of the points.
        odds = float(rates[lowest] / (1 - rates[lowest]))
        assert abs(math.log10(odds) - math.log10(b + 1) / 2) < 7.5 / (len(points) - 1)
        for each in points[:: len(points) // 5]:
            assert each == swap_epsilon(rate=each.rate, largest_stratum=b)


def test_larger_strata_cost_more_at_the_same_rate_until_they_meet() -> None:
    columns = zip(
        *([each.theorem for each in census.curve(largest_stratum=b)] for b in census.CURVE_STRATA), strict=True
    )
    assert all(list(column) == sorted(column) for column in columns)


def test_other_rates_may_be_asked() -> None:
    (first, *_) = census.what_if(["0.1"], kind="uniform")
    assert first.epsilons[0].kind == "uniform"
    assert first.epsilons[0].theorem == pytest.approx(math.log(1 + 13_475_623 * 9))


@pytest.mark.parametrize("rate", ["0", "1", "-0.1", "nan", "x"])
def test_rates_outside_are_refused(rate: str) -> None:
    with pytest.raises(ParameterError, match="rate"):
        census.what_if([rate])
    with pytest.raises(ParameterError, match="rate"):
        census.swapped(10, [rate])


@pytest.mark.parametrize("b", [-1, "1.5", "x"])
def test_strata_that_cannot_be_are_refused(b: object) -> None:
    with pytest.raises(ParameterError, match="largest_stratum"):
        census.curve(largest_stratum=b)


def test_both_releases_of_topdown_compose_to_the_cumulative_budget() -> None:
    budget = Filter(standard.ZCDP(), census.CUMULATIVE)
    for rho in (census.REDISTRICTING, census.CHARACTERISTICS):
        # A Gaussian release of one statistic with ρ = 1/(2σ²).
        budget.admit(Gaussian(sigma2=1 / (2 * rho)).loss)
    assert budget.account.spent == Fraction("15.29")
    with pytest.raises(BudgetError):
        budget.admit(Gaussian(sigma2=1000).loss)


def test_finer_strata_and_higher_rates_cost_less() -> None:
    table = [[each.theorem for each in case.epsilons] for case in census.what_if(["0.01", "0.05", "0.5", "0.9"])]
    assert all(row == sorted(row, reverse=True) for row in table)
    assert all(list(column) == sorted(column, reverse=True) for column in zip(*table, strict=True))


def test_swapping_and_topdown_say_what_is_exact() -> None:
    swapping, topdown, *_ = census.systems()
    assert "two tables" in swapping.scope
    assert "household" in swapping.unit
    assert "person" in topdown.unit
    # The invariants of TopDown are named in the specification too.
    assert topdown.specification is not None
    described = topdown.specification.describe()
    for fact in ("number of people in each state", "number of housing units in each block", "group quarters"):
        assert fact in described


def test_systems_are_frozen_values() -> None:
    assert census.systems() == census.systems()
    with pytest.raises(dataclasses.FrozenInstanceError):
        census.systems()[0].name = "other"  # type: ignore[misc]


def test_at_one_half_both_kinds_have_the_same_theorem() -> None:
    # With odds of 1, max(ln o, ln(b + 1) − ln o) and ln(1 + b/o) are both ln(b + 1).
    for one, other in zip(census.what_if(["0.5"]), census.what_if(["0.5"], kind="uniform"), strict=True):
        assert one.epsilons[0].theorem == other.epsilons[0].theorem
        assert one.epsilons[0].theorem == pytest.approx(math.log(one.largest_stratum + 1))


def test_a_curve_needs_two_points() -> None:
    assert len(census.curve(largest_stratum=10, points=2)) == 2
    with pytest.raises(ParameterError, match="two points"):
        census.curve(largest_stratum=10, points=1)
