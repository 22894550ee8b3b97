"""The exponential mechanism: its law, its error, its loss."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from quincunx.loss import BoundedRangeLaw, Loss
from quincunx.mechanisms import Exponential
from quincunx.numbers import ball, float_above, float_below, float_near, precision
from quincunx.spec.standard import Pure
from tests.statistical.goodness import FALSE_ALARM, binomial

DRAWS = 8_000


def test_range_is_twice_the_sensitivity_unless_monotone() -> None:
    assert Exponential(scale=2).loss == Loss.of(BoundedRangeLaw(eta=Fraction(1)))
    assert Exponential(scale=2, monotone=True).loss == Loss.of(BoundedRangeLaw(eta=Fraction(1, 2)))
    assert Exponential(scale="0.3", sensitivity="0.6").loss.pure() == 4.0
    assert Exponential(scale=2).loss.zcdp() == 0.125


@pytest.mark.parametrize("monotone", [False, True])
def test_every_neighbour_on_a_small_world(monotone: bool) -> None:
    """All score vectors over 0 … 2 for three candidates, all neighbours: ε holds; without the flag's promise, twice."""
    mechanism = Exponential(scale="1.5", monotone=monotone)
    scores = list(itertools.product(range(3), repeat=3))
    world = mechanism.finite(scores)
    worst = apart = 0.0
    for x, y in itertools.combinations(scores, 2):
        moves = [b - a for a, b in zip(x, y, strict=True)]
        if max(map(abs, moves)) > 1:
            continue
        with precision(512):
            found = Pure().least(world.law(x), world.law(y))
            low, high = float_below(found.lower), float_above(found.upper)
        if not monotone or min(moves) >= 0 or max(moves) <= 0:
            assert low <= mechanism.loss.pure() * (1 + 1e-12)
            worst = max(worst, high)
        apart = max(apart, high)
    assert worst > 0.6 * mechanism.loss.pure()
    # Scores that move apart break the monotone claim: the flag is a promise.
    assert (apart > mechanism.loss.pure()) == monotone


def test_probabilities_are_the_softmax() -> None:
    mechanism = Exponential(scale=2, step="1/2")
    scores = (0, 3, -4, 3)
    world = mechanism.finite([scores])
    weights = [math.exp(score * 0.5 / 2) for score in scores]
    for place, weight in enumerate(weights):
        assert float_near(world.probability(scores, place)) == pytest.approx(weight / sum(weights))  # type: ignore[arg-type]


@pytest.mark.usefixtures("stream")
@pytest.mark.parametrize("scores", [[0, 0, 0], [0, 2, 5, -3], [7]])
def test_sampling_fits_the_law(scores: list[int]) -> None:
    """False-alarm rate 1e-9 in each place."""
    mechanism = Exponential(scale=3)
    law = mechanism.finite([tuple(scores)]).law(tuple(scores))
    places = [mechanism.sample(scores) for _ in range(DRAWS)]
    assert all(type(place) is int for place in places[:5])
    for place, chance in enumerate(law):
        assert binomial(places.count(place), DRAWS, min(1.0, float_near(ball(chance)))) >= FALSE_ALARM


@pytest.mark.usefixtures("stream")
def test_extreme_scores_are_clamped_and_decided() -> None:
    mechanism = Exponential(scale="1/100")
    assert mechanism.sample([0, 1000, 3]) == 1
    assert mechanism.sample([2**80, 0]) == 0
    assert mechanism.sample(np.array([2**64 - 1, 5], dtype=np.uint64)) == 0
    # Beyond the clamp scores are equal: both are possible.
    wide = Exponential(scale=10**6)
    assert {wide.sample([2**62, 2**70]) for _ in range(60)} == {0, 1}


@pytest.mark.parametrize("candidates", [2, 5, 1000])
@pytest.mark.parametrize("beta", ["0.5", "0.05", "1e-6"])
@pytest.mark.parametrize("step", ["1", "1/4"])
def test_error_is_attained_by_the_worst_scores(candidates: int, beta: str, step: str) -> None:
    mechanism = Exponential(scale=2, step=step)
    error = mechanism.error(beta, candidates)
    # Theorem 1.16 of the chapter, with β.
    assert error <= 2 * math.log(candidates / float(beta))

    def missed(gap: float) -> float:
        weight = (candidates - 1) * math.exp(-gap / 2)
        return weight / (1 + weight)

    width = float(Fraction(step))
    assert missed(error + width) <= float(beta) * (1 + 1e-12)
    if error > 0:
        assert missed(error) > float(beta)


def test_error_holds_for_every_small_score_vector() -> None:
    mechanism = Exponential(scale=1)
    for beta in (Fraction(1, 10), Fraction(1, 3)):
        error = mechanism.error(beta, 3)
        for scores in itertools.product(range(0, 7, 2), repeat=3):
            law = mechanism.finite([scores]).law(scores)
            lost = sum(float_near(ball(p)) for p, s in zip(law, scores, strict=True) if max(scores) - s > error)
            assert lost <= float(beta) + 1e-12


def test_one_candidate_is_always_right() -> None:
    assert Exponential(scale=5).error("0.05", 1) == 0.0
    assert Exponential(scale=5).sample([3]) == 0
