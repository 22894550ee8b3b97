"""The rearrangement's law: selection, permutation and derangement, against enumeration, also with forced ties.

Many equal strata are drawn in one call, so that one call gives many independent draws. False-alarm rate 1e-9 each.
"""

from __future__ import annotations

import itertools
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from quincunx import noise
from quincunx.invariant.swapping import derange as derange_module
from quincunx.invariant.swapping import rearrange
from quincunx.invariant.swapping.derange import LARGE, derange
from quincunx.invariant.swapping.epsilon import Kind
from quincunx.invariant.swapping.rearrange import rearrangement, shuffle
from quincunx.noise.testing import KeyedBits, key_of, keyed
from tests.laws.test_swapping import chance, permutations

FALSE_ALARM = 1e-9
WIDTHS = [3, 52]


def fits(counts: list[int], expected: list[float]) -> bool:
    """Pearson's chi-square; every cell expects at least 240, as derived for 250 in tests/noise/test_order.py."""
    assert min(expected) >= 240
    return len(counts) == 1 or bool(stats.chisquare(counts, expected).pvalue > FALSE_ALARM)


def drawn(strata: NDArray[np.int64], rate: Fraction, kind: Kind) -> NDArray[np.int64]:
    """For each record the one whose values it receives."""
    to, from_ = rearrangement(strata, rate, kind)
    source = np.arange(len(strata))
    source[to] = from_
    return source


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("kind", list(Kind))
@pytest.mark.parametrize("rate", ["1/10", "1/2", "9/10"])
@pytest.mark.parametrize("n", [2, 3, 4])
def test_every_permutation_has_its_probability(n: int, rate: str, kind: Kind, width: int) -> None:
    share = Fraction(rate)
    law = chance(n, share, kind.value)
    every = [(order, float(law[k])) for order, k in permutations(n)]
    copies = 60_000
    # Strata lie across each other, as they do in a table.
    strata = np.tile(np.arange(copies), n)
    with keyed(key_of(f"law {n} {rate} {kind} {width}"), prefix_bits=width) as stream:
        source = drawn(strata, share, kind).reshape(n, copies)
    assert np.array_equal(source % copies, np.tile(np.arange(copies), (n, 1)))
    found = Counter(map(tuple, (source // copies).T.tolist()))
    assert set(found) <= {order for order, p in every if p}
    common = [(order, p) for order, p in every if p * copies >= 250]
    assert len(common) > 1
    rare = 1 - sum(p for _, p in common)
    seen = [found[order] for order, _ in common]
    assert stats.binomtest(copies - sum(seen), copies, max(rare, 0.0)).pvalue > FALSE_ALARM
    share_of_common = [p * sum(seen) / (1 - rare) for _, p in common]
    assert fits(seen, share_of_common)
    assert (stream.fallbacks > 0) == (width < 52)


def test_one_record_and_no_record_pass(stream: KeyedBits) -> None:
    for kind in Kind:
        to, from_ = rearrangement(np.arange(1000), Fraction(1, 2), kind)
        assert len(to) == len(from_) == 0
        to, from_ = rearrangement(np.zeros(0, dtype=np.int64), Fraction(1, 2), kind)
        assert len(to) == len(from_) == 0
    del stream


@pytest.mark.parametrize("kind", list(Kind))
def test_values_stay_inside_their_strata(kind: Kind, stream: KeyedBits) -> None:
    strata = noise.uniform_integers(300, size=20_000)
    to, from_ = rearrangement(strata, Fraction(1, 3), kind)
    assert np.array_equal(strata[to], strata[from_])
    assert np.array_equal(np.sort(to), np.sort(from_))
    assert len(np.unique(to)) == len(to)
    if kind is Kind.DERANGEMENT:
        assert not np.any(to == from_)
    del stream


@pytest.mark.parametrize("kind", list(Kind))
@pytest.mark.parametrize("rate", ["1/20", "1/2"])
def test_the_share_selected_has_the_binomial_law(rate: str, kind: Kind, stream: KeyedBits) -> None:
    """One large stratum: that a selection of one is drawn again matters with probability n·p·q^{n−1} < 1e-100."""
    n, share = 60_000, Fraction(rate)
    to, _ = rearrangement(np.zeros(n, dtype=np.int64), share, kind)
    assert stats.binomtest(len(to), n, float(share)).pvalue > FALSE_ALARM
    del stream


@pytest.mark.parametrize("rate", ["1/20", "1/2"])
def test_exactly_one_is_never_selected(rate: str, stream: KeyedBits) -> None:
    strata = np.repeat(np.arange(5_000), 3)
    to, _ = rearrangement(strata, Fraction(rate), Kind.DERANGEMENT)
    counts = Counter(np.bincount(strata[to], minlength=5_000).tolist())
    assert set(counts) == {0, 2, 3}
    p = float(Fraction(rate))
    law = np.array([(1 - p) ** 3, 3 * p * p * (1 - p), p**3]) / (1 - 3 * p * (1 - p) ** 2)
    if rate == "1/2":
        assert fits([counts[k] for k in (0, 2, 3)], (5_000 * law).tolist())
    del stream


@pytest.mark.parametrize("width", [2, 52])
@pytest.mark.parametrize("n", [2, 3, 4, 5])
def test_mending_gives_uniform_derangements(n: int, width: int) -> None:
    """The way of large groups, on groups that can be enumerated."""
    every = [order for order, k in permutations(n) if k == n]
    counts: Counter[tuple[int, ...]] = Counter()
    with keyed(key_of(f"mend {n} {width}"), prefix_bits=width):
        for _ in range(300 * len(every)):
            order = noise.permutation(n) + 7
            derange(order, 7)
            counts[tuple((order - 7).tolist())] += 1
    assert set(counts) <= set(every)
    assert fits([counts[order] for order in every], [300.0] * len(every))


def test_mending_is_uniform_given_the_fixed_places() -> None:
    """Not only on average: whatever the first permutation left fixed, the derangement is uniform."""
    n, every = 4, [order for order, k in permutations(4) if k == 4]
    with keyed(key_of("given the fixed places")):
        for fixed in (0, 1, 2, 4):
            starts = [np.array(order) for order, k in permutations(n) if k == n - fixed]
            counts: Counter[tuple[int, ...]] = Counter()
            for _ in range(300 * len(every) // len(starts) + 1):
                for start in starts:
                    order = start.copy()
                    derange(order, 0)
                    counts[tuple(order.tolist())] += 1
            total = counts.total()
            assert fits([counts[order] for order in every], [total / len(every)] * len(every))


def test_the_chance_of_an_exchange() -> None:
    for n in range(2, 8):
        every = [order for order, k in permutations(n) if k == n]
        share = Fraction(sum(order[order[0]] == 0 for order in every), len(every))
        if n > 3:
            assert derange_module._chance(n).contains(derange_module.ball(share))
        with keyed(key_of(f"exchange {n}")):
            found = sum(derange_module._exchanges(n) for _ in range(2_000))
        assert stats.binomtest(found, 2_000, float(share)).pvalue > FALSE_ALARM


def test_large_and_small_groups_together(stream: KeyedBits) -> None:
    """Groups above and below the size at which a permutation is mended instead of drawn again."""
    sizes = [LARGE + 5, 3, LARGE * 2, 2, 2, LARGE - 1]
    strata = np.repeat(np.arange(len(sizes)), sizes)
    for _ in range(3):
        to, from_ = rearrangement(strata, Fraction(999, 1000), Kind.DERANGEMENT)
        assert np.array_equal(strata[to], strata[from_])
        assert np.array_equal(np.sort(to), np.sort(from_))
        assert not np.any(to == from_)
    del stream


def test_cycles_of_a_large_derangement_have_the_right_number(stream: KeyedBits) -> None:
    """Place 0 lies in a 2-cycle with probability D(n − 2)(n − 1)/D(n) ≈ 1/n; over all places the mean number of
    2-cycles is 1/2, nearly Poisson. Over 400 draws of 5,000 places the total is 200 ± 6.1·√200 but for 1e-9."""
    total = 0
    for _ in range(400):
        order = noise.permutation(LARGE + 904)
        derange(order, 0)
        places = np.arange(len(order))
        assert not np.any(order == places)
        total += int(np.count_nonzero(order[order] == places)) // 2
    assert stats.poisson.cdf(total, 200) > FALSE_ALARM / 2
    assert stats.poisson.sf(total - 1, 200) > FALSE_ALARM / 2
    del stream


@pytest.mark.parametrize("width", [1, 2, 52])
@pytest.mark.parametrize("n", [0, 1, 2, 3, 4])
def test_shuffles_are_uniform_also_with_forced_ties(n: int, width: int) -> None:
    every = list(itertools.permutations(range(n)))
    with keyed(key_of(f"shuffle {n} {width}"), prefix_bits=width) as stream:
        counts = Counter(tuple(shuffle(n).tolist()) for _ in range(300 * len(every)))
    assert fits([counts[order] for order in every], [300.0] * len(every))
    assert (stream.fallbacks > 0) == (n > 1 and width < 52)


def test_ties_of_ties_end(stream: KeyedBits) -> None:
    with keyed(key_of("narrow"), prefix_bits=1):
        order = shuffle(5_000)
    assert np.array_equal(np.sort(order), np.arange(5_000))
    del stream


def test_many_strata_take_the_wide_way(stream: KeyedBits) -> None:
    """More than 65,536 strata are grouped by sorting 64-bit keys instead of counting."""
    strata = np.tile(np.arange(70_000), 3)
    to, groups = rearrange._by_group(np.arange(len(strata)), strata)
    assert np.array_equal(strata[to], np.repeat(np.arange(70_000), 3))
    assert np.array_equal(groups, strata[to])
    few, same = rearrange._by_group(np.arange(300), strata[:300] % 7)
    assert np.array_equal(strata[:300][few] % 7, np.sort(strata[:300] % 7))
    assert np.array_equal(same, np.sort(strata[:300] % 7))
    to, from_ = rearrangement(strata, Fraction(1, 2), Kind.DERANGEMENT)
    assert np.array_equal(strata[to], strata[from_])
    del stream


def test_two_calls_differ() -> None:
    """Fresh keys for every call: equal orders of 30 records have probability 1/30!."""
    assert not np.array_equal(shuffle(30), shuffle(30))
