"""Cuts in halves of halves: their law, what they leak on small worlds, and where cuts beside a level stand."""

import itertools
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy import stats

from quincunx.errors import DataError, ParameterError
from quincunx.mechanisms import DiscreteGaussian, DiscreteLaplace, QuantileCuts, ranks
from quincunx.mechanisms.histogram import Histogram, Ladder, gathered
from quincunx.mechanisms.quantile_cuts import _parts
from quincunx.mechanisms.raised import raised
from quincunx.noise.testing import KeyedBits
from quincunx.numbers import ball, float_above, float_near, precision

ALARM = 1e-8


def log_ratios(cuts: QuantileCuts, one: tuple[int, ...], other: tuple[int, ...]) -> float:
    """The largest |ln P/Q| over all answers."""
    world = cuts.finite([one, other])
    with precision(128):
        ratios = [(ball(p) / ball(q)).log() for p, q in zip(world.law(one), world.law(other), strict=True)]
        return max(abs(float_near(ratio)) for ratio in ratios)


def worst(cuts: QuantileCuts, pairs: list[tuple[tuple[int, ...], tuple[int, ...]]]) -> float:
    return max(log_ratios(cuts, one, other) for one, other in pairs)


RESTS = [(2, 0, 1), (0, 3, 0), (1, 1, 1), (0, 0, 0), (4, 0, 0)]
UNITS = [(0, 0, 0), (2, 0, 0), (0, 2, 0), (0, 0, 2), (1, 0, 1), (1, 1, 0)]


def neighbours(*, moves: bool) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
    changed = itertools.combinations(UNITS, 2) if moves else ((UNITS[0], each) for each in UNITS[1:])
    return [
        (tuple(map(sum, zip(rest, a, strict=True))), tuple(map(sum, zip(rest, b, strict=True))))
        for a, b in changed
        for rest in RESTS
    ]


@pytest.mark.parametrize("moves", [False, True], ids=["come or go", "replaced"])
@pytest.mark.parametrize("levels", [["1/2"], ["9/10"], ["1/4", "3/4"], ["1/10", "1/2", "9/10"]], ids=str)
@pytest.mark.parametrize("rise", [None, 1, 3], ids=["distance", "rise 1", "rise 3"])
def test_the_recursion_stays_within_its_claim(levels: list[str], moves: bool, rise: int | None) -> None:
    """Every pair of a small world, people who are split over parts included; how much of the claim is attained."""
    for eta in (Fraction(1, 2), Fraction(2)):
        cuts = QuantileCuts(levels=levels, buckets=3, split=2, eta=eta, weight=2, moves=moves, apart=False, rise=rise)
        found, claim = worst(cuts, neighbours(moves=moves)), cuts.depth * eta
        assert cuts.loss.pure() == claim
        assert found <= float(claim) * (1 + 1e-9)
        assert found >= 0.25 * float(claim)


def scores(weights: tuple[int, ...], split: int, part: tuple[int, int], level: Fraction, rise: int) -> list[Fraction]:
    """Of every position of a part, by the definition of ranks.md."""
    ladder = Ladder(Histogram.of(np.array(weights)), len(weights), split)
    first, last = part
    rank = ladder.at(first) + level * (ladder.at(last) - ladder.at(first))
    found = []
    for place in range(first, last + 1):
        ends = max(place // split * split, first), min(place // split * split + split, last)
        depth = min(rank - ladder.at(ends[0]), ladder.at(ends[1]) - rank)
        found.append(min(depth, rise - abs(ladder.at(place) - rank)))
    return found


def test_raised_positions_have_the_scores_of_the_note() -> None:
    """Every part of small curves, ranks on and off the lattice, rises from nothing to more than there is."""
    chance = np.random.default_rng(3)
    for _ in range(400):
        weights = tuple((chance.integers(0, 6, 4) * chance.integers(0, 2, 4)).tolist())
        split, level = int(2 ** chance.integers(0, 3)), Fraction(int(chance.integers(1, 10)), 10)
        first, last = sorted(chance.integers(0, 4 * split + 1, 2).tolist())
        rise = int(chance.integers(0, 40))
        for kind in (np.int64, object):
            ladder = Ladder(Histogram.of(np.array(weights)), 4, split)
            runs, end = ladder.runs(first, last), ladder.at(last)
            runs = replace(runs, values=runs.values.astype(kind), slopes=runs.slopes.astype(kind))
            rank = ladder.at(first) + level * (end - ladder.at(first))
            found = raised(runs, end, rank, rise)
            curve = [
                int(value) + step * int(slope)
                for value, slope, length in zip(found.values, found.slopes, found.lengths, strict=True)
                for step in range(int(length))
            ]
            assert curve == sorted(curve), "draws need that it never falls"
            assert [rise - abs(each - rank) for each in curve] == scores(weights, split, (first, last), level, rise)


@pytest.mark.parametrize("level", [Fraction(1, 10), Fraction(1, 2), Fraction(3, 4)], ids=str)
def test_the_range_of_raised_scores(level: Fraction) -> None:
    """Every pair of people of weight 2 on every rest, in the whole and in a part: 2·max(α, 1 − α)·C, or 2·C."""
    far = max(level, 1 - level)
    for moves, claim in ((False, 2 * far * 2), (True, Fraction(4))):
        for part in ((0, 6), (1, 5)):
            for rise in (0, 1, 4, 100):
                found = Fraction(0)
                for one, other in neighbours(moves=moves):
                    pair = [scores(each, 2, part, level, rise) for each in (one, other)]
                    moved = [a - b for a, b in zip(*pair, strict=True)]
                    found = max(found, max(moved) - min(moved))
                # Positions count weights in halves.
                assert found <= 2 * claim
                assert part != (0, 6) or found >= claim


def test_buckets_by_permute_and_flip_are_known_by_epsilon_alone() -> None:
    given: dict[str, Any] = {"levels": ["1/4", "1/2", "3/4"], "buckets": 4, "eta": "1/2"}
    plain, deep = QuantileCuts(**given), QuantileCuts(**given, rise=3)
    assert plain.loss.zcdp() == pytest.approx(2 * 0.25 / 8)
    # The two outer levels are buckets, at the second of two depths.
    assert deep.loss.zcdp() == pytest.approx(0.25 / 8 + 0.5 * np.tanh(0.25))
    assert deep.loss.pure() == plain.loss.pure() == 1
    noise = DiscreteLaplace(scale=4)
    assert QuantileCuts(**given, rise=3, count=noise, bins=noise).loss == replace(plain, count=noise, bins=noise).loss


def test_the_factor_of_one_group_is_too_small_for_two() -> None:
    """Somebody leaves one group and another enters the next: the laws multiply, and so do their ratios."""
    few, many = (tuple(9 if place == at else 0 for place in range(400)) for at in (0, 397))

    def both(cuts: QuantileCuts) -> float:
        found = 0.0
        for rest, way in ((few, 1), (many, -1)):
            more = (*rest[:-1], 1)
            world = cuts.finite([rest, more])
            with precision(128):
                pairs = zip(world.law(rest), world.law(more), strict=True)
                found += max(way * float_near((ball(p) / ball(q)).log()) for p, q in pairs)
        return found

    given: dict[str, Any] = {"levels": ["9/10"], "buckets": 400, "eta": 1, "moves": True}
    assert 0.8 < both(QuantileCuts(**given, apart=True)) <= 1
    assert both(QuantileCuts(**given, apart=False)) > 1.5


@pytest.mark.usefixtures("stream")
def test_draws_follow_the_law(full: bool) -> None:
    count = 20_000 if full else 2_500
    for cuts, weights in (
        (QuantileCuts(levels=["1/4", "1/2", "9/10"], buckets=3, split=2, eta=1, weight=2), (5, 0, 2)),
        (QuantileCuts(levels=["1/3", "2/3"], buckets=3, split=4, eta=3, moves=True), (0, 6, 1)),
        (QuantileCuts(levels=["1/2"], buckets=3, eta=1, norm=2), (0, 0, 0)),
        (QuantileCuts(levels=["1/4", "1/2", "9/10"], buckets=3, split=2, eta=1, weight=2, rise=2), (5, 0, 2)),
        (QuantileCuts(levels=["1/3", "2/3"], buckets=3, split=4, eta=2, norm=2, rise=1), (1, 6, 1)),
    ):
        drawn = Counter(map(tuple, cuts.sample(np.broadcast_to(np.array(weights), (count, 3))).tolist()))
        world = cuts.finite([weights])
        chances = {out: float_near(p) for out, p in zip(world.outputs, world.law(weights), strict=True)}
        assert set(drawn) <= set(chances)
        often = [out for out, chance in chances.items() if chance * count > 8]
        seen = [drawn[out] for out in often]
        seen.append(count - sum(seen))
        expected = [chances[out] * count for out in often]
        expected.append(max(count - sum(expected), 1e-9))
        if expected[-1] < 8:
            seen, expected = seen[:-1], expected[:-1]
        scale = sum(seen) / sum(expected)
        assert stats.chisquare(seen, np.array(expected) * scale).pvalue > ALARM


def test_a_large_grid_is_cut_near_the_ranks(stream: KeyedBits) -> None:
    """A third of all rows have one value: levels inside and beside it are both right."""
    places = np.array([0, *range(1000, 1_000_000, 999)], dtype=np.int64)
    weights = np.array([500, *[1] * (len(places) - 1)], dtype=np.int64) << 20
    given = Histogram(places, weights)
    levels = [Fraction(n, 10) for n in range(1, 10)]
    near: dict[str, Any] = {"levels": levels, "buckets": 2**20, "split": 4096, "eta": 2, "weight": 2**20}
    ladder, total = Ladder(given, 2**20, 4096), int(weights.sum()) * 4096
    for rise in (None, None, 3, 3):
        cuts = QuantileCuts(**near, apart=False, rise=rise)
        found = cuts.draw(given)
        if rise is not None:
            # A bucket is as near as the nearest of the ranks that it covers.
            ends = [(place // 4096 * 4096, place // 4096 * 4096 + 4096) for place in found]
            off = [
                max(ladder.at(a) - level * total, level * total - ladder.at(b), 0) / 2**32
                for (a, b), level in zip(ends, levels, strict=True)
            ]
            assert max(off) < 30
            continue
        assert found == sorted(found)
        off = [abs(ladder.at(place) - level * total) / 2**32 for place, level in zip(found, levels, strict=True)]
        assert max(off) < 30
    assert stream.fallbacks < 5


def test_a_curve_is_what_its_runs_say() -> None:
    given = Histogram(np.array([1, 2, 6], dtype=np.int64), np.array([3, 0, 5], dtype=np.int64))
    for ladder in (Ladder(given, 8, 4), Ladder(Histogram(given.places, given.weights.astype(object)), 8, 4)):
        curve = [ladder.at(place) for place in range(33)]
        assert (curve[0], curve[-1], ladder.total) == (0, 32, 32)
        assert curve[4:8] == [0, 3, 6, 9]
        for first, last in itertools.combinations_with_replacement(range(33), 2):
            runs = ladder.runs(first, last)
            told = [
                int(value) + step * int(slope)
                for value, slope, length in zip(runs.values, runs.slopes, runs.lengths, strict=True)
                for step in range(int(length))
            ]
            assert told == curve[first : last + 1]


def test_what_lies_between_two_cuts() -> None:
    given = Histogram(np.array([1, 2, 6], dtype=np.int64), np.array([3, 0, 5], dtype=np.int64))
    for ladder in (Ladder(given, 8, 4), Ladder(Histogram(given.places, given.weights.astype(object)), 8, 4)):
        for first, last in itertools.combinations_with_replacement(range(33), 2):
            inside = {
                bucket - first // 4: ladder.at(min(4 * bucket + 4, last)) - ladder.at(max(4 * bucket, first))
                for bucket in range(first // 4, -(-last // 4))
            }
            assert ladder.between(first, last).dense() == {bucket: each for bucket, each in inside.items() if each}


def test_histograms_are_gathered_and_compared() -> None:
    group, bucket, weight = (np.array(each, dtype=np.int64) for each in ([2, 0, 0], [4, 3, 1], [7, 6, 5]))
    found = gathered(3, group, bucket, weight)
    assert [each.dense() for each in found] == [{1: 5, 3: 6}, {}, {4: 7}]
    assert found[0].distance(found[2]) == 18
    assert found[0] == Histogram.of(np.array([0, 5, 0, 6]))
    assert hash(found[0]) == hash(Histogram.of(np.array([-1, 5, 0, 6, 0])))
    assert repr(found[0]) == "Histogram(private)"


def counted(**more: Any) -> QuantileCuts:
    noise = DiscreteLaplace(scale=4)
    return QuantileCuts(levels=["1/4", "1/2"], buckets=50, split=4, eta=1, count=noise, bins=noise, **more)


@pytest.mark.usefixtures("stream")
def test_an_answer_with_counts() -> None:
    cuts = counted()
    found = cuts.sample([20] * 50).tolist()
    assert (cuts.cuts, cuts.depth, len(found), cuts.width) == (6, 3, 14, 14)
    total, places, bins = found[0], found[1:7], found[7:]
    assert abs(total - 1000) < 100
    assert places == sorted(places)
    assert abs(sum(bins) - 4000) < 400


def test_cuts_beside_a_level_stand_off_by_what_counts_can_tell() -> None:
    cuts = counted()
    for total in (-5, 0, 1, 10**3, 10**9, 10**18):
        found = cuts.around(total)
        assert found == tuple(sorted(set(found)))
        assert found[1::3] == cuts.levels
        assert all(0 < level < 1 for level in found)
    wide, narrow = cuts.around(10**3), cuts.around(10**6)
    assert narrow[1] - narrow[0] < wide[1] - wide[0] <= Fraction(45, 100) * Fraction(1, 4)
    assert cuts.around(0) == cuts.around(-5)


def test_the_loss_is_that_of_all_its_parts() -> None:
    cuts = counted()
    assert cuts.loss.pure() == pytest.approx(3 + 2 / 4)
    gaussian = DiscreteGaussian(sigma2=50)
    both = QuantileCuts(levels=["1/2"], buckets=5, eta="1/2", norm=2, count=gaussian, bins=gaussian)
    assert both.loss.zcdp() == pytest.approx(2 / 32 + 2 / 100)
    assert float_above(cuts.loss.total_zcdp()[1]) < 3


def test_the_rate_of_a_depth_depends_on_whether_there_are_several_parts() -> None:
    alone = QuantileCuts(levels=["1/2"], buckets=5, eta=1, weight=3, moves=True, apart=False)
    assert alone.rate(Fraction(3, 4), several=False) == Fraction(1, 6)
    assert alone.rate(Fraction(3, 4), several=True) == Fraction(1, 9)
    assert ranks.rate_of(Fraction(1), 3, Fraction(3, 4), norm=1, moves=False, several=True) == Fraction(2, 9)


def test_later_parts_are_several() -> None:
    """One group and one part at first; then people may leave one part for another."""
    cuts = QuantileCuts(levels=["1/4", "1/2", "3/4"], buckets=8, eta=1, moves=True, apart=False)
    ladder, parts = Ladder(Histogram.of(np.ones(8, dtype=np.int64)), 8, 1), _parts(3)
    rates = [cuts._part(ladder, cuts.levels, part, {1: 4}).rate for part in parts]
    assert rates == [Fraction(1, 2), Fraction(1, 2), Fraction(1, 2)]
    skew = QuantileCuts(levels=["1/8", "1/2", "7/8"], buckets=8, eta=1, moves=True, apart=False)
    rates = [skew._part(ladder, skew.levels, part, {1: 4}).rate for part in parts]
    # At the relative levels 1/4 and 3/4.
    assert rates == [Fraction(1, 2), Fraction(1, 3), Fraction(1, 3)]


def test_what_it_refuses() -> None:
    noise = DiscreteLaplace(scale=4)
    for wrong in ({"count": noise}, {"norm": 3}, {"eta": 0}, {"split": 3}, {"moves": 1}, {"levels": []}):
        given: dict[str, Any] = {"levels": ["1/2"], "buckets": 5, "eta": 1} | wrong
        with pytest.raises(ParameterError):
            QuantileCuts(**given)
    with pytest.raises(DataError, match="5 buckets"):
        QuantileCuts(levels=["1/2"], buckets=5, eta=1).sample([1, 2])
