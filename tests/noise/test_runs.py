"""Places in runs against their weights one by one, at the full width of the filter and where balls decide."""

from collections.abc import Iterator
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from quincunx.noise.runs import Runs, near, passing, weights
from quincunx.noise.testing import KeyedBits, key_of, keyed
from quincunx.numbers import float_near, precision

# With 36 comparisons a false alarm has a probability below 1e-6.
ALARM = 1e-6 / 36
RUNS = Runs(lengths=np.array([3, 4, 1, 5, 2]), values=np.array([0, 0, 12, 12, 12]), slopes=np.array([0, 3, 0, 0, 2]))
LARGE = Runs(
    lengths=RUNS.lengths, values=RUNS.values.astype(object) * 10**30, slopes=RUNS.slopes.astype(object) * 10**30
)


def fits(counts: np.ndarray, chances: np.ndarray) -> bool:
    """Whether counts look like draws of these chances; rare outcomes are taken together."""
    expected = chances * counts.sum()
    often = expected > 8
    seen, wanted = list(counts[often]), list(expected[often])
    if not often.all():
        seen, wanted = [*seen, counts[~often].sum()], [*wanted, expected[~often].sum()]
        if wanted[-1] < 8:
            # What hardly ever occurs may occur a few times: by Poisson's law.
            if stats.poisson.sf(seen.pop() - 1, wanted.pop()) < ALARM:
                return False
            wanted = list(np.array(wanted) * sum(seen) / sum(wanted))
    return len(seen) < 2 or stats.chisquare(seen, wanted).pvalue > ALARM


@pytest.fixture(params=[52, 3], ids=["filter", "balls"])
def narrow(request: pytest.FixtureRequest) -> Iterator[KeyedBits]:
    with keyed(key_of(f"runs {request.node.name}"), prefix_bits=request.param) as stream:
        yield stream


@pytest.mark.parametrize("rate", ["1/3", "1/50", "4"])
@pytest.mark.parametrize("target", ["7/2", "0", "14", "12", "5", "-3"])
def test_places_have_their_weights(rate: str, target: str, narrow: KeyedBits, full: bool) -> None:
    count = 20_000 if full else 1_500
    drawn = np.bincount([near(RUNS, Fraction(target), Fraction(rate)) for _ in range(count)], minlength=15)
    with precision(128):
        chances = np.array([float_near(each) for each in weights(RUNS, Fraction(target), Fraction(rate))])
    assert fits(drawn, chances / chances.sum())
    assert (narrow.fallbacks > count / 5) == (narrow.prefix_bits == 3)


def test_numbers_beyond_int64_are_drawn_alike() -> None:
    for target in ("7/2", "12", "5"):
        found = []
        for runs, scale in ((RUNS, 1), (LARGE, 10**30)):
            with keyed(key_of("large")):
                found.append([near(runs, scale * Fraction(target), Fraction(1, 3 * scale)) for _ in range(200)])
        assert found[0] == found[1]


def test_a_run_is_divided_after_its_last_place_at_or_below_the_target() -> None:
    for target in (Fraction(n, 2) for n in range(-4, 40)):
        runs, under = RUNS.split(target)
        places = [
            int(v) + k * int(s)
            for v, s, n in zip(runs.values, runs.slopes, runs.lengths, strict=True)
            for k in range(n)
        ]
        assert places == [0, 0, 0, 0, 3, 6, 9, 12, 12, 12, 12, 12, 12, 12, 14]
        first = int(runs.lengths[:under].sum())
        assert all(place <= target for place in places[:first])
        assert all(place > target for place in places[first:])


def test_a_steep_run_far_from_the_target_is_drawn() -> None:
    """Logarithms of a million: weights that no float holds, and still the nearest places are the likeliest."""
    runs = Runs(lengths=np.array([1, 1]), values=np.array([0, 10**9]), slopes=np.array([0, 0]))
    with keyed(key_of("steep")) as stream:
        assert {near(runs, Fraction(10**9, 2), Fraction(1, 1000)) for _ in range(60)} == {0, 1}
        assert {near(runs, Fraction(10**9, 2) - 10**5, Fraction(1, 1000)) for _ in range(60)} == {0}
    assert stream.fallbacks < 121


def test_coins_pass_with_their_probability(narrow: KeyedBits) -> None:
    gaps = np.repeat(np.array([0, 1, 7, 400]), 3_000)
    passed = passing(gaps, Fraction(1, 3)).reshape(4, -1).sum(axis=1)
    assert passed[0] == 3_000
    assert passed[3] == 0
    for seen, gap in zip(passed[1:3], (1, 7), strict=True):
        assert stats.binomtest(int(seen), 3_000, float(np.exp(-gap / 3))).pvalue > ALARM
    assert (narrow.fallbacks > 1_000) == (narrow.prefix_bits == 3)
