"""Permute-and-flip: its law by enumeration of all orders, never worse than the exponential mechanism."""

import itertools
import math
from fractions import Fraction

import pytest

from quincunx.loss import Loss, StatedLaw
from quincunx.mechanisms import Exponential, PermuteAndFlip
from quincunx.numbers import Ball, ball, float_above, float_below, float_near, precision
from quincunx.spec.standard import ZCDP, Approximate, Pure
from tests.statistical.goodness import FALSE_ALARM, binomial

DRAWS = 8_000
SCORES = list(itertools.product(range(3), repeat=3))


def walked(scores: tuple[int, ...], scale: Fraction) -> list[Ball]:
    """The law by its definition: over all orders, the first heads."""
    best, found = max(scores), [Ball(0)] * len(scores)
    coins = [(-ball((best - score) / scale)).exp() for score in scores]
    orders = list(itertools.permutations(range(len(scores))))
    for order in orders:
        reached = Ball(1)
        for place in order:
            found[place] = found[place] + reached * coins[place]
            reached = reached * (1 - coins[place])
    return [mass / len(orders) for mass in found]


@pytest.mark.parametrize("scores", [(0,), (0, 0), (0, 5), (1, 2, 3), (4, 4, 0, 1), (0, 1, 3, 3, 7)])
def test_the_finite_model_is_the_walk(scores: tuple[int, ...]) -> None:
    mechanism = PermuteAndFlip(scale="3/2")
    law = mechanism.finite([scores]).law(scores)
    with precision(512):
        for mine, walk in zip(law, walked(scores, Fraction(3, 2)), strict=True):
            assert abs(ball(mine) - walk) < 1e-100


def test_loss_is_stated_and_halved_where_monotone() -> None:
    loss = PermuteAndFlip(scale=2).loss
    assert loss.pure() == 1.0
    assert loss.zcdp() == pytest.approx(math.tanh(0.5), rel=1e-15)
    assert loss.zcdp() >= math.tanh(0.5)
    assert PermuteAndFlip(scale=2, monotone=True).loss.pure() == 0.5
    ((law, count),) = loss.terms
    assert isinstance(law, StatedLaw)
    assert count == 1
    assert PermuteAndFlip(scale="0.3", sensitivity="0.6").loss.total_pure() == 4


@pytest.mark.parametrize("monotone", [False, True])
def test_every_neighbour_on_a_small_world(monotone: bool) -> None:
    mechanism = PermuteAndFlip(scale="1.5", monotone=monotone)
    world = mechanism.finite(SCORES)
    worst = apart = 0.0
    for x, y in itertools.combinations(SCORES, 2):
        moves = [b - a for a, b in zip(x, y, strict=True)]
        if max(map(abs, moves)) > 1:
            continue
        with precision(512):
            pure = Pure().least(world.law(x), world.law(y))
            low, high = float_below(pure.lower), float_above(pure.upper)
        if not monotone or min(moves) >= 0 or max(moves) <= 0:
            assert low <= mechanism.loss.pure() * (1 + 1e-12)
            worst = max(worst, high)
        apart = max(apart, high)
    assert worst > 0.75 * mechanism.loss.pure()
    # Scores that move apart break the monotone claim: the flag is a promise.
    assert (apart > mechanism.loss.pure()) == monotone


def test_delta_and_rho_hold_on_a_small_world() -> None:
    mechanism = PermuteAndFlip(scale=1)
    pairs = [((0, 1), (1, 0)), ((0, 0, 2), (1, 1, 1)), ((2, 1, 0), (1, 2, 1))]
    for x, y in pairs:
        world = mechanism.finite([x, y])
        with precision(512):
            assert float_below(ZCDP().least(world.law(x), world.law(y)).lower) <= mechanism.loss.zcdp()
            for delta in ("1e-6", "0.05"):
                found = float_below(Approximate(delta).least(world.law(x), world.law(y)).lower)
                assert found <= mechanism.loss.epsilon(delta) * (1 + 1e-12)


def test_it_is_not_of_bounded_range() -> None:
    """Why the exponential mechanism's law may not be used: the log-ratios span more than ε."""
    mechanism = PermuteAndFlip(scale=1)
    widest = 0.0
    for x, y in itertools.permutations(itertools.product(range(3), repeat=2), 2):
        if max(abs(a - b) for a, b in zip(x, y, strict=True)) > 1:
            continue
        world = mechanism.finite([x, y])
        with precision(512):
            ratios = [float_near((ball(a) / ball(b)).log()) for a, b in zip(world.law(x), world.law(y), strict=True)]
        widest = max(widest, max(ratios) - min(ratios))
    assert widest > mechanism.loss.pure() * 1.05


@pytest.mark.parametrize("scale", ["1/2", "1", "4"])
def test_never_worse_than_the_exponential_mechanism(scale: str) -> None:
    """Exact enumeration: the expected score, and the chance to be more than a below the best, for every a."""
    ours, theirs = PermuteAndFlip(scale=scale), Exponential(scale=scale)
    vectors = [*SCORES, (0, 0, 0, 9), (0, 4, 4, 4), (5, 4, 3, 2, 1)]
    with precision(512):
        for scores in vectors:
            a, b = ours.finite([scores]).law(scores), theirs.finite([scores]).law(scores)
            means = [sum((ball(p) * s for p, s in zip(law, scores, strict=True)), Ball(0)) for law in (a, b)]
            assert not means[0] < means[1]
            for gap in range(max(scores) - min(scores)):
                far = [s < max(scores) - gap for s in scores]
                lost = [sum((ball(p) for p, out in zip(law, far, strict=True) if out), Ball(0)) for law in (a, b)]
                assert not lost[0] > lost[1]
        strictly = (0, 1, 2)
        a, b = ours.finite([strictly]).law(strictly), theirs.finite([strictly]).law(strictly)
        assert ball(a[2]) > ball(b[2])


@pytest.mark.usefixtures("stream")
@pytest.mark.parametrize("scores", [[0, 0, 0], [0, 2, 5, -3], [7]])
def test_sampling_fits_the_law(scores: list[int]) -> None:
    """False-alarm rate 1e-9 in each place."""
    mechanism = PermuteAndFlip(scale=3)
    law = mechanism.finite([tuple(scores)]).law(tuple(scores))
    places = [mechanism.sample(scores) for _ in range(DRAWS)]
    assert all(type(place) is int for place in places[:5])
    for place, chance in enumerate(law):
        assert binomial(places.count(place), DRAWS, min(1.0, float_near(ball(chance)))) >= FALSE_ALARM


@pytest.mark.usefixtures("stream")
def test_extreme_scores_are_clamped_and_decided() -> None:
    mechanism = PermuteAndFlip(scale="1/100")
    assert mechanism.sample([0, 1000, 3]) == 1
    assert mechanism.sample([2**80, 0]) == 0
    assert {mechanism.sample([2**62, 2**70]) for _ in range(60)} == {0, 1}


@pytest.mark.parametrize("candidates", [2, 3, 4])
@pytest.mark.parametrize("beta", ["0.5", "0.1", "0.01"])
def test_error_is_attained_by_the_worst_scores(candidates: int, beta: str) -> None:
    mechanism = PermuteAndFlip(scale=2)
    error = int(mechanism.error(beta, candidates))
    assert error <= Exponential(scale=2).error(beta, candidates)

    def missed(gap: int) -> float:
        scores = (0,) + (-gap,) * (candidates - 1)
        return 1 - float_near(ball(mechanism.finite([scores]).probability(scores, 0)))  # type: ignore[arg-type]

    assert missed(error + 1) <= float(beta)
    if error:
        assert missed(error) > float(beta)


def test_error_holds_for_every_small_score_vector() -> None:
    mechanism = PermuteAndFlip(scale=1)
    for beta in (Fraction(1, 10), Fraction(1, 3)):
        error = mechanism.error(beta, 3)
        for scores in itertools.product(range(0, 7, 2), repeat=3):
            law = mechanism.finite([scores]).law(scores)
            lost = sum(float_near(ball(p)) for p, s in zip(law, scores, strict=True) if max(scores) - s > error)
            assert lost <= float(beta) + 1e-12


def test_error_of_very_many_candidates() -> None:
    many = PermuteAndFlip(scale=2).error("1e-9", 10**12)
    assert 0.7 * 2 * math.log(1e21) < many <= 2 * math.log(1e21)
    assert PermuteAndFlip(scale=2).error("0.05", 1) == 0.0
    assert isinstance(PermuteAndFlip(scale=2).loss, Loss)
