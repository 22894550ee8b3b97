"""One bucket by the exponential mechanism: its law, its claims on small worlds, and how near the rank it comes."""

from collections import Counter
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy import stats

from quincunx.errors import ParameterError
from quincunx.mechanisms import QuantileChoice, QuantileCuts
from quincunx.mechanisms.depth import Depths
from quincunx.mechanisms.histogram import Histogram
from quincunx.numbers import ball, float_near, precision

from .test_quantile_cuts import ALARM, neighbours


def log_ratios(choice: QuantileChoice, one: tuple[int, ...], other: tuple[int, ...]) -> list[float]:
    world = choice.finite([one, other])
    with precision(128):
        return [float_near((ball(p) / ball(q)).log()) for p, q in zip(world.law(one), world.law(other), strict=True)]


@pytest.mark.parametrize("moves", [False, True], ids=["come or go", "replaced"])
@pytest.mark.parametrize("level", ["1/2", "9/10", "1/4"])
def test_it_stays_within_its_claim(level: str, moves: bool) -> None:
    """The range of the log-likelihood ratios, nearly attained, over all pairs of a small world."""
    for eta in (Fraction(1, 2), Fraction(4)):
        choice = QuantileChoice(level=level, buckets=3, eta=eta, weight=2, moves=moves, apart=False)
        found = [log_ratios(choice, one, other) for one, other in neighbours(moves=moves)]
        ranges = [max(each) - min(each) for each in found]
        assert 0.5 * eta <= max(ranges) <= eta * (1 + Fraction(1, 10**9))


@pytest.mark.parametrize("norm", [1, 2])
def test_two_groups_that_somebody_changes_stay_within_the_claim(norm: int) -> None:
    """The ranges of both groups add up (norm 1), or their squares do; the factor of one group would break it."""
    given: dict[str, Any] = {"level": "9/10", "buckets": 400, "eta": 1, "norm": norm, "moves": True}
    rests = [tuple(9 if place == at else 0 for place in range(400)) for at in (0, 397)]

    def both(choice: QuantileChoice) -> float:
        found = [log_ratios(choice, rest, (*rest[:-1], 1)) for rest in rests]
        return float(sum((max(each) - min(each)) ** norm for each in found))

    assert 0.7 < both(QuantileChoice(**given)) <= 1 + 1e-9
    assert both(QuantileChoice(**given, apart=False)) > 1.4


def test_its_rho_is_held_on_a_small_world() -> None:
    """The Kullback–Leibler divergence is at most ρ, and half of it is passed somewhere: ρ = η²/16 would be broken."""
    found = []
    for eta in (Fraction(1), Fraction(2)):
        choice = QuantileChoice(level="1/2", buckets=9, eta=eta, norm=2)
        rho, worst = choice.loss.zcdp(), 0.0
        assert rho == pytest.approx(float(eta**2 / 8))
        for far in (1, 2, 3, 5):
            one = (0,) * 4 + (0,) + (0,) * 3 + (far,)
            other = (0,) * 8 + (far + 1,)
            law, ratios = choice.finite([one]).law(one), log_ratios(choice, one, other)
            worst = max(worst, sum(float_near(p) * r for p, r in zip(law, ratios, strict=True)))
            split = (far, *(0,) * 7, far)
            law, ratios = choice.finite([split]).law(split), log_ratios(choice, split, (*split[:-1], far + 1))
            worst = max(worst, sum(float_near(p) * r for p, r in zip(law, ratios, strict=True)))
        assert worst <= rho
        found.append(worst / rho)
    assert max(found) > 0.5


@pytest.mark.usefixtures("stream")
@pytest.mark.parametrize("weights", [(3, 0, 1, 2), (0, 0, 0, 0), (0, 7, 0, 0)], ids=str)
def test_draws_follow_the_law(weights: tuple[int, ...], full: bool) -> None:
    count = 20_000 if full else 2_000
    choice = QuantileChoice(level="1/3", buckets=4, eta=1)
    drawn = Counter(choice.sample(np.broadcast_to(np.array(weights), (count, 4)))[:, 0].tolist())
    chances = [float_near(p) for p in choice.finite([weights]).law(weights)]
    assert stats.chisquare([drawn[t] for t in range(4)], [p * count for p in chances]).pvalue > ALARM


def test_depths_are_those_of_every_bucket() -> None:
    """Runs and single buckets, beside the definition, also where Python's own numbers take over."""
    source = np.random.default_rng(5)
    for _ in range(40):
        dense = source.integers(0, 4, 7) * source.integers(0, 2, 7)
        level = Fraction(int(source.integers(1, 10)), 10)
        for scale in (1, 2**57):
            given = Histogram.of(dense * scale)
            depths = Depths.of(given, level, 7)
            wanted = level * int(dense.sum()) * scale
            below = [int(dense[:t].sum()) * scale for t in range(8)]
            depth = [min(wanted - below[t], below[t + 1] - wanted) for t in range(7)]
            gaps = [(max(depth) - each) * level.denominator for each in depth]
            assert depths.each().tolist() == gaps
            runs = depths.runs()
            assert np.repeat(np.abs(runs.values), runs.lengths).tolist() == gaps
            values = runs.values.tolist()
            assert values == sorted(values)


def test_a_bucket_that_many_share_is_found_where_cuts_often_miss_it() -> None:
    """Exactly: the chance of the bucket that holds the median of dense values, beside that of a cut's."""
    weights, place = (8,) * 9, 4
    choice = QuantileChoice(level="1/2", buckets=9, eta="1/5", norm=2)
    cuts = QuantileCuts(levels=["1/2"], buckets=9, split=8, eta="1/5", norm=2)
    mine = float_near(choice.finite([weights]).law(weights)[place])
    world = cuts.finite([weights])
    theirs = sum(
        float_near(p) for (cut,), p in zip(world.outputs, world.law(weights), strict=True) if cut // 8 == place
    )
    assert mine > 1.2 * theirs


def test_what_it_refuses() -> None:
    for wrong in ({"norm": 3}, {"eta": 0}, {"level": 1}, {"moves": 1}, {"buckets": 0}):
        given: dict[str, Any] = {"level": "1/2", "buckets": 5, "eta": 1} | wrong
        with pytest.raises(ParameterError):
            QuantileChoice(**given)
