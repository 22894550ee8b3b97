"""The choice of a rung by itself: its range on small worlds, its law, and how far off it is."""

import itertools
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from quincunx.errors import DataError
from quincunx.mechanisms import Histogram, LadderChoice

ALARM = 1e-8
RUNGS = 3
# Where the rows of people end who weigh at most 2 in all, also beyond the ladder, or nowhere.
PEOPLE = [ends for ends in itertools.product(range(3), repeat=RUNGS + 1) if sum(ends) <= 2]
RESTS = [(0, 0, 0, 0), (3, 0, 1, 2), (0, 5, 0, 0), (9, 2, 2, 1)]


def added(*parts: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(map(sum, zip(*parts, strict=True)))


def range_of(choice: LadderChoice, before: tuple[int, ...], after: tuple[int, ...]) -> Fraction:
    """How far the logarithms of chances move apart, exactly."""
    moved = [b - a for a, b in zip(choice.heights(before), choice.heights(after), strict=True)]
    return max(moved) - min(moved)


@pytest.mark.parametrize("eta", [Fraction(1, 4), Fraction(2)], ids=str)
def test_the_range_is_eta_for_people_who_come_go_or_are_replaced(eta: Fraction) -> None:
    """Every pair of people on every rest: replace costs no more than coming, and both are attained."""
    choice = LadderChoice(eta=eta, rungs=RUNGS, weight=2)
    for pairs in ([(PEOPLE[0], each) for each in PEOPLE[1:]], list(itertools.combinations(PEOPLE, 2))):
        found = {range_of(choice, added(rest, a), added(rest, b)) for a, b in pairs for rest in RESTS}
        assert max(found) == eta


def test_whoever_lies_beyond_the_ladder_moves_no_rung_more_than_another() -> None:
    choice = LadderChoice(eta=1, rungs=RUNGS)
    assert range_of(choice, (4, 1, 0, 0), (4, 1, 0, 1)) == 0
    assert range_of(choice, (4, 1, 0, 1), (4, 2, 0, 0)) == 1


def test_going_too_high_is_geometrically_unlikely() -> None:
    """Nothing lies above rung 1 of ten: j rungs more have at most e^{−3j}/(1 − e^{−3})."""
    choice = LadderChoice(eta="1/4", rungs=10)
    heights = [float(each) for each in choice.heights([500, 700, *[0] * 9])]
    chances = np.exp(heights) / np.exp(heights).sum()
    for j in range(1, 9):
        assert chances[1 + j :].sum() <= np.exp(-3 * j) / (1 - np.exp(-3))
    assert chances[0] < 1e-60


@pytest.mark.usefixtures("stream")
def test_draws_fit_the_law() -> None:
    choice = LadderChoice(eta=1, rungs=RUNGS, steep="1/2")
    row = (2, 1, 1, 1)
    law = choice.finite([row]).law(row)
    many = np.tile(np.array(row), (4000, 1))
    histograms = np.empty(4000, dtype=object)
    histograms[:] = [Histogram.of(each) for each in many]
    for drawn in (choice.sample(many), choice.each(histograms)):
        counts = Counter(drawn.tolist())
        expected = [4000 * float(chance) for chance in law]
        assert stats.chisquare([counts[rung] for rung in range(RUNGS)], expected).pvalue > ALARM
    assert choice.sample(row).shape == ()


def test_weights_of_other_rungs_are_refused() -> None:
    with pytest.raises(DataError, match="of 3 rungs, and beyond"):
        LadderChoice(eta=1, rungs=RUNGS).sample([1, 2, 3])
