"""What the stories say about ε, enumerated on worlds that are small enough: ratios, sums of losses, posteriors."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import exp, log

import numpy as np
import pytest

from quincunx.attack.differencing import noise
from quincunx.finite import Mechanism, parallel
from quincunx.mechanisms import DiscreteLaplace, RandomizedResponse

HAIR = 1e-12


def laws(mechanism: Mechanism) -> dict[object, dict[object, float]]:
    """The table as floats: each law adds up to 1 within a hair."""
    found = {x: {y: float(p) for y, p in row.items()} for x, row in mechanism.table().items()}
    assert all(sum(row.values()) == pytest.approx(1, abs=1e-9) for row in found.values())
    return found


def largest_ratio(one: dict[object, float], other: dict[object, float]) -> float:
    return max(one.get(y, 0.0) / other[y] for y in other if other[y] > 0)


@pytest.mark.parametrize("epsilon", [Fraction(1, 10), Fraction(1), Fraction(3)])
@pytest.mark.parametrize("trust", [0.0, 1.0, 10.0])
@pytest.mark.parametrize("others", [(0, 0), (0, 2), (1, 1), (3, 0)])
def test_a_guess_is_at_most_e_to_epsilon_times_as_often_right(
    epsilon: Fraction, trust: float, others: tuple[int, int]
) -> None:
    """The linkage story's guess, the largest n + t·s, on one cell with two diagnoses, with a person and without."""
    shares = np.array([0.4, 0.6])
    counter = DiscreteLaplace(scale=1 / epsilon)
    joined = {truth: tuple(n + (d == truth) for d, n in enumerate(others)) for truth in (0, 1)}
    world = laws(parallel([counter.finite(range(5), reach=10)] * 2, inputs=[others, *joined.values()]))
    for truth, inside in joined.items():
        right = {
            counts: sum(
                p
                for seen, p in world[counts].items()
                if int((np.array(seen, dtype=float) + trust * shares).argmax()) == truth
            )
            for counts in (inside, others)
        }
        assert right[inside] <= exp(epsilon) * right[others] + HAIR
        assert right[others] <= exp(epsilon) * right[inside] + HAIR
        assert right[inside] >= right[others] - HAIR


@pytest.mark.parametrize("epsilon", [Fraction(1, 10), Fraction(1), Fraction(2)])
def test_no_two_salaries_are_told_apart_by_more_than_e_to_epsilon(epsilon: Fraction) -> None:
    """The differencing story in steps of 100,000 dollars: ten are the bound, and Rick is in one sum only."""
    steps, scale = 10, 10 / epsilon
    assert noise(epsilon).scale == 100_000 * scale
    world = laws(DiscreteLaplace(scale=scale).finite(range(steps + 1), reach=30))
    worst = max(largest_ratio(world[x], world[y]) for x, y in product(range(steps + 1), repeat=2))
    assert worst == pytest.approx(exp(epsilon), rel=1e-9)
    # Salaries that are nearer to each other are told apart less.
    assert largest_ratio(world[6], world[5]) == pytest.approx(exp(epsilon / steps), rel=1e-9)


@pytest.mark.parametrize("count", [1, 2, 3])
def test_fresh_answers_add_up(count: int) -> None:
    """The averaging story: k fresh answers at ε leak k·ε, as the loss says and as enumeration finds."""
    each = DiscreteLaplace(scale=2)
    world = laws(each.finite([0, 1], reach=6).power(count))
    assert largest_ratio(world[0], world[1]) == pytest.approx(exp(count / 2), rel=1e-9)
    assert (count * each.loss).pure() == count / 2


def test_ten_thousand_answers_are_epsilon_one_thousand() -> None:
    assert (10_000 * DiscreteLaplace(scale=10).loss).pure() == 1_000
    assert (10 * DiscreteLaplace(scale=10).loss).pure() == 1


def test_a_stored_answer_leaks_no_more_however_often_it_is_shown() -> None:
    once = DiscreteLaplace(scale=2).finite([0, 1], reach=6)
    shown = once.map(lambda answer: (answer,) * 100)
    assert largest_ratio(laws(shown)[0], laws(shown)[1]) == largest_ratio(laws(once)[0], laws(once)[1])


@pytest.mark.parametrize("prior", [Fraction(n, 20) for n in range(1, 20)])
@pytest.mark.parametrize("p", [Fraction(3, 4), Fraction(3, 5), Fraction(9, 10)])
def test_a_cells_answer_moves_the_odds_by_e_to_epsilon(prior: Fraction, p: Fraction) -> None:
    """The picture story: whatever was thought of a cell, its answer multiplies the odds by p/(1 − p) or its inverse."""
    table = RandomizedResponse(probability=p).finite()
    for answer in (0, 1):
        ink, paper = (table.probability(x, answer) for x in (1, 0))
        after = prior * ink / (prior * ink + (1 - prior) * paper)  # type: ignore[operator]
        moved = (after / (1 - after)) / (prior / (1 - prior))
        assert moved == (p / (1 - p) if answer else (1 - p) / p)
    assert RandomizedResponse(probability=p).loss.pure() == pytest.approx(log(p / (1 - p)), rel=1e-12)


@pytest.mark.parametrize("truth", list(product((0, 1), repeat=3)))
def test_what_the_others_say_holds_without_the_cell(truth: tuple[int, ...]) -> None:
    """The answers around a cell have one law, whatever the cell itself is: what they tell, they tell without it."""
    coin = RandomizedResponse(probability="3/4").finite()
    world = parallel([coin] * 3)
    flipped = (1 - truth[0], *truth[1:])
    rest = world.map(lambda answers: answers[1:])
    assert dict(rest.row(truth)) == dict(rest.row(flipped))
    assert dict(world.row(truth)) != dict(world.row(flipped))
