"""The choice of a rung: its range on small worlds, its law, one for all groups, and the noise that follows it."""

import itertools
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from quincunx.errors import DataError, ParameterError
from quincunx.mechanisms import DiscreteGaussian, DiscreteLaplace, LadderSum
from quincunx.numbers import ball, float_near, precision

ALARM = 1e-8
RUNGS = 3
ONE = DiscreteLaplace(scale=1)
# Where the rows of people end that weigh at most 2 in all: nobody, one row, two rows at one rung or at two.
PEOPLE = [ends for ends in itertools.product(range(3), repeat=RUNGS) if sum(ends) <= 2]
RESTS = [(0, 0, 0), (3, 0, 1), (0, 5, 0), (9, 2, 2)]


def ladder(weight: int = 2, eta: Fraction = Fraction(1, 2), **rest: object) -> LadderSum:
    return LadderSum(eta=eta, weight=weight, squares=[1, 4, 25], noise=ONE, **rest)  # type: ignore[arg-type]


def added(*parts: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(map(sum, zip(*parts, strict=True)))


def range_of(choice: LadderSum, before: tuple[int, ...], after: tuple[int, ...]) -> Fraction:
    """How far the logarithms of chances move apart, exactly."""
    moved = [b - a for a, b in zip(choice.heights(before), choice.heights(after), strict=True)]
    return max(moved) - min(moved)


@pytest.mark.parametrize("eta", [Fraction(1, 4), Fraction(2)], ids=str)
def test_the_range_is_eta_for_people_who_come_go_or_are_replaced(eta: Fraction) -> None:
    """Every pair of people on every rest: replace costs no more than coming, and both are attained."""
    for pairs in ([(PEOPLE[0], each) for each in PEOPLE[1:]], list(itertools.combinations(PEOPLE, 2))):
        found = {range_of(ladder(eta=eta), added(rest, a), added(rest, b)) for a, b in pairs for rest in RESTS}
        assert max(found) == eta


def test_two_who_are_replaced_at_once_cost_no_more_than_their_weight() -> None:
    both = [added(a, b) for a, b in itertools.combinations_with_replacement(PEOPLE, 2)]
    found = {range_of(ladder(weight=4), a, b) for a, b in itertools.combinations(both, 2)}
    assert max(found) == Fraction(1, 2)


def test_a_ladder_for_each_side_of_zero_would_cost_twice_under_replace() -> None:
    """Enumerated: why one rung bounds sizes. People have rows above and below 0, two in all."""
    choice, sides = ladder(), [(a, b) for a in PEOPLE for b in PEOPLE if sum(a) + sum(b) <= 2]

    def apart(one: tuple[tuple[int, ...], ...], other: tuple[tuple[int, ...], ...]) -> Fraction:
        # Two independent choices at the rate of one: their logarithms add up.
        return sum((range_of(choice, a, b) for a, b in zip(one, other, strict=True)), Fraction(0))

    nobody = (PEOPLE[0], PEOPLE[0])
    assert max(apart(nobody, each) for each in sides) == choice.eta
    assert max(apart(a, b) for a, b in itertools.combinations(sides, 2)) == 2 * choice.eta
    # One ladder for sizes: rows on both sides end at the same rungs.
    sizes = [added(*each) for each in sides]
    assert max(range_of(choice, a, b) for a, b in itertools.combinations(sizes, 2)) == choice.eta


@pytest.mark.parametrize("noise", [ONE, DiscreteGaussian(sigma=1)], ids=["laplace", "gaussian"])
def test_the_answer_leaks_no_more_than_both_parts(noise: object) -> None:
    """Rung and noisy sum together, against everything that a person of weight 1 may do."""
    choice = LadderSum(eta=1, weight=1, squares=[1, 4], noise=noise)  # type: ignore[arg-type]
    rows = [(0, 0, 0, 0), (1, 0, 1, 1), (0, 1, 1, 2), (1, 0, 0, 0)]
    world = choice.finite([added((3, 1, 0, 0), row) for row in rows])
    with precision(256):
        for a, b in itertools.combinations(range(len(rows)), 2):
            laws = [world.law(added((3, 1, 0, 0), rows[each])) for each in (a, b)]
            worst = max(abs(float_near((ball(p) / ball(q)).log())) for p, q in zip(*laws, strict=True))
            allowed = choice.loss.pure()
            assert worst <= allowed * (1 + 1e-9)


def test_going_too_high_is_geometrically_unlikely() -> None:
    """Nothing lies above rung 1 of ten: j rungs more have at most e^{−3j}/(1 − e^{−3})."""
    choice = LadderSum(eta="1/4", weight=1, squares=[4**i for i in range(10)], noise=ONE)
    heights = [float(each) for each in choice.heights([500, 700, *[0] * 8])]
    chances = np.exp(heights) / np.exp(heights).sum()
    for j in range(1, 9):
        assert chances[1 + j :].sum() <= np.exp(-3 * j) / (1 - np.exp(-3))
    # And far too low where much lies above is unlikely too.
    assert chances[0] < 1e-60


@pytest.mark.usefixtures("stream")
def test_draws_fit_the_law() -> None:
    choice = LadderSum(eta=1, weight=1, squares=[1, 4], noise=DiscreteLaplace(scale="1/2"), steep="1/2")
    row = (2, 1, 3, 4)
    world = choice.finite([row])
    drawn = Counter(map(tuple, choice.sample(np.tile(row, (1000, 1))).tolist()))
    with precision(128):
        law = {answer: float_near(chance) for answer, chance in zip(world.outputs, world.law(row), strict=True)}
    common = [answer for answer, chance in law.items() if 1000 * chance >= 10]
    expected = [1000 * law[answer] for answer in common]
    rest = 1000 - sum(expected)
    observed = [drawn[answer] for answer in common]
    assert stats.chisquare([*observed, 1000 - sum(observed)], [*expected, rest]).pvalue > ALARM


@pytest.mark.usefixtures("stream")
def test_all_groups_share_one_rung_and_have_noise_of_their_own() -> None:
    choice = LadderSum(eta=1, weight=1, squares=[1, 4], noise=DiscreteLaplace(scale=50), steep="1/10")
    groups = np.tile((1, 0, 0, 0), (40, 1))
    answers = [choice.each(groups) for _ in range(30)]
    assert {len(set(each[:, 0].tolist())) for each in answers} == {1}
    assert {int(each[0, 0]) for each in answers} == {0, 1}
    assert all(len(set(each[:, 1].tolist())) > 10 for each in answers)
    assert choice.each(np.zeros((0, 4), dtype=np.int64)).shape == (0, 2)


@pytest.mark.usefixtures("stream")
def test_weights_of_all_groups_are_added_up() -> None:
    """Ten groups, each with too little above the lowest rung to leave it: together they do."""
    choice = LadderSum(eta=1, weight=1, squares=[1, 4], noise=ONE)
    low, high = np.tile((5, 1, 0, 0), (1, 1)), np.tile((5, 1, 0, 0), (200, 1))
    assert int(choice.each(high)[0, 0]) == 1
    with precision(128):
        world = choice.finite([(5, 1, 0, 0)])
        below = sum(
            float_near(p)
            for out, p in zip(world.outputs, world.law((5, 1, 0, 0)), strict=True)
            if out[0] == 0  # type: ignore[index]
        )
    assert below > 0.8
    assert choice.each(low).shape == (1, 2)


@pytest.mark.usefixtures("stream")
def test_weights_beyond_64_bits_are_added_up_exactly() -> None:
    choice = LadderSum(eta=1, weight=1, squares=[1, 4], noise=ONE)
    groups = np.tile((0, 2**62 - 1, 0, 0), (8, 1))
    assert set(choice.each(groups)[:, 0].tolist()) == {1}


@pytest.mark.parametrize(
    ("given", "where"),
    [
        ({"eta": 0}, "eta"),
        ({"weight": 0}, "weight"),
        ({"squares": []}, "squares"),
        ({"squares": "14"}, "squares"),
        ({"squares": [0]}, "squares"),
        ({"noise": None}, "noise"),
        ({"noise": DiscreteLaplace(scale=2, sensitivity=2)}, "noise"),
        ({"noise": DiscreteGaussian(sigma=2, sensitivity2=2)}, "noise"),
        ({"noise": DiscreteLaplace(scale=2, step="1/2")}, "noise"),
        ({"steep": 0}, "steep"),
    ],
    ids=str,
)
def test_what_it_cannot_be_made_of(given: dict[str, object], where: str) -> None:
    usual: dict[str, object] = {"eta": 1, "weight": 1, "squares": [1, 4], "noise": ONE}
    with pytest.raises(ParameterError) as caught:
        LadderSum(**usual | given)  # type: ignore[arg-type]
    assert caught.value.where == where


def test_rows_of_another_length_are_refused() -> None:
    with pytest.raises(DataError, match="weights and sums of 3 rungs"):
        ladder().sample([1, 2, 3, 4])


def test_noise_that_is_stretched_is_as_private() -> None:
    for square in (Fraction(1), Fraction(49), Fraction(50)):
        wide = DiscreteGaussian(sigma2="3/2").stretched(square)
        assert (wide.sigma2, wide.sensitivity2) == (square * Fraction(3, 2), square)
    assert ONE.stretched(Fraction(49)) == DiscreteLaplace(scale=7, sensitivity=7)
