"""People from counts, means and medians: the example of the literature, and small worlds by brute force."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations_with_replacement
from math import comb
from statistics import median

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from quincunx.attack import summaries as module
from quincunx.attack.garfinkel import KINDS, printed, reconstruct_seven
from quincunx.attack.summaries import Found, Summary, reconstruct_people
from quincunx.errors import DataError, ParameterError, VerificationError

# Garfinkel, Abowd and Martindale (2018): age, sex, race, single or married.
SEVEN = ("8FBS", "18MWS", "24FWS", "30MWM", "36FBM", "66FBM", "84MBM")


def test_the_seven_of_the_literature_are_found_and_are_the_only_ones() -> None:
    people, alone = reconstruct_seven()
    assert people == SEVEN
    assert alone


def test_the_printed_table_is_that_of_the_seven() -> None:
    kinds = ["".join(map(str, kind)) for kind in KINDS]
    places = [kinds.index(person) for person in SEVEN]
    for summary in printed():
        assert summary.agrees([KINDS[place][0] for place in places if place in summary.kinds])


def test_three_males_with_this_median_and_mean_leave_thirty_of_317750() -> None:
    # The article's own count: ages from 1 to 125, a median of 30 and a mean of 44.
    assert comb(125, 3) == 317_750
    males = printed()[2]
    pairs = combinations_with_replacement(range(1, 126), 2)
    agreeing = [(a, 30, b) for a, b in pairs if a <= 30 <= b and males.agrees([a, 30, b])]
    assert len(agreeing) == 30
    assert not males.agrees([29, 31, 72])


@st.composite
def small_worlds(draw: st.DrawFn) -> list[int]:
    return sorted(draw(st.lists(st.integers(0, 5), min_size=1, max_size=4)))


@settings(max_examples=25)
@given(small_worlds(), st.integers(0, 1))
def test_small_worlds_by_brute_force(ages: list[int], decimals: int) -> None:
    mean = round(Fraction(sum(ages), len(ages)), decimals) if decimals else round(Fraction(sum(ages), len(ages)))
    summary = Summary(
        kinds=range(6), count=len(ages), mean=Fraction(mean), median=Fraction(median(map(Fraction, ages))),
        decimals=decimals,
    )  # fmt: skip
    assert summary.agrees(ages)
    every = [each for each in combinations_with_replacement(range(6), len(ages)) if summary.agrees(each)]
    found = reconstruct_people(range(6), [summary])
    assert found.people in every
    assert found.unique == (len(every) == 1)


def test_two_groups_pin_what_one_does_not() -> None:
    ages = [10, 20, 30, 10, 20, 30]
    everyone = Summary(kinds=range(6), count=2, mean=20, median=20)
    first = Summary(kinds=range(3), count=1, mean=30, median=30)
    assert not reconstruct_people(ages, [everyone]).unique
    assert reconstruct_people(ages, [everyone, first]) == Found(people=(2, 3), unique=True)


@pytest.mark.parametrize(("mean", "median_"), [("3", "3.25"), ("3", "2.5"), ("9", "3"), ("-1", "0"), ("3", "-1")])
def test_summaries_that_nobody_can_have_are_refused(mean: str, median_: str) -> None:
    for count in (2, 3):
        summary = Summary(kinds=range(6), count=count, mean=mean, median=median_)
        possible = any(summary.agrees(each) for each in combinations_with_replacement(range(6), count))
        if not possible:
            with pytest.raises(DataError, match="no population agrees"):
                reconstruct_people(range(6), [summary])


def test_agreement_by_hand() -> None:
    summary = Summary(kinds=[0, 1], count=3, mean="36.7", median=36)
    assert summary.agrees([8, 36, 66])
    assert not summary.agrees([8, 36])
    assert not summary.agrees([8, 36, 67])
    assert not summary.agrees([8, 37, 65])
    assert summary.margin == Fraction(1, 20)
    assert summary == Summary(kinds=(0, 1), count=3, mean=Fraction(367, 10), median="36")


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"count": 0}, DataError),
        ({"kinds": []}, DataError),
        ({"kinds": [-1]}, DataError),
        ({"mean": "x"}, ParameterError),
        ({"mean": float("nan")}, ParameterError),
        ({"median": None}, ParameterError),
    ],
)
def test_a_summary_that_says_nothing_is_refused(changes: dict[str, object], error: type[Exception]) -> None:
    given = {"kinds": [0], "count": 1, "mean": 1, "median": 1} | changes
    with pytest.raises(error):
        Summary(**given)  # type: ignore[arg-type]


@pytest.mark.parametrize("which", [[], [Summary(kinds=[7], count=1, mean=1, median=1)]])
def test_summaries_of_other_kinds_are_refused(which: list[Summary]) -> None:
    with pytest.raises(DataError, match="expected summaries of these kinds"):
        reconstruct_people([1, 2], which)


def test_a_population_that_does_not_agree_is_not_returned(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module._Program, "solve", lambda _: (1, 0))
    with pytest.raises(VerificationError, match="does not agree with the summaries"):
        reconstruct_people([1, 2], [Summary(kinds=[0, 1], count=1, mean=2, median=2)])
