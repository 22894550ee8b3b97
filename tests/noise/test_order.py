"""Uniform integers, permutations and derangements."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import stats

from quincunx import noise
from quincunx.errors import ParameterError
from quincunx.noise.order import below
from quincunx.noise.testing import KeyedBits, key_of, keyed
from tests.noise.scripted import Scripted, Watched

FALSE_ALARM = 1e-9


def accepted_as_uniform(counts: list[int]) -> bool:
    """Pearson's chi-square at a false-alarm rate of 1e-9; every cell expects E ≥ 250.

    A Poisson cell's (O − E)²/E has cumulants 1, 2 + 1/E and 8 + 22/E + 1/E², against 1, 2, 8 of a chi-square: at
    E = 250 the skewness is off by about 1 %, which moves a tail of six standard deviations by a tenth of itself.
    """
    assert sum(counts) / len(counts) >= 250
    return len(counts) == 1 or bool(stats.chisquare(counts).pvalue > FALSE_ALARM)


@pytest.mark.parametrize("n", [1, 2, 3, 5, 6, 7, 64, 100, 1000])
def test_integers_are_uniform(stream: KeyedBits, n: int) -> None:
    drawn = noise.uniform_integers(n, size=2_000 * n)
    assert drawn.dtype == np.int64
    assert accepted_as_uniform(np.bincount(drawn, minlength=n).tolist())
    assert not stream.fallbacks


def test_words_above_the_last_multiple_are_rejected() -> None:
    # For n = 3, 2^64 = 3·m + 1: the last word alone is rejected; the residue of every other is kept.
    last = 2**64 - 1
    assert below(Scripted([0, 1, 2, last - 1, last, 5]), 3, 5).tolist() == [0, 1, 2, 2, 2]
    for n in (1, 2, 2**32, 2**63):
        assert below(Scripted([last]), n, 1).tolist() == [last % n]


@pytest.mark.parametrize("n", [2**63, 2**63 - 1, 2**62 + 1, (2**64 // 3) // 2 + 1])
def test_large_bounds_do_not_wrap(n: int) -> None:
    with keyed(key_of(f"large {n}")) as stream:
        drawn = noise.uniform_integers(n, size=2000)
        assert drawn.min() >= 0
        assert int(drawn.max()) < n
        # The largest of 2,000 is in the upper tenth but for 0.9^2000 = 1e-92.
        assert int(drawn.max()) > n - n // 10
        del stream


def test_integers_keep_the_order_of_accepted_words() -> None:
    n = 2**62 + 1
    limit = (2**64 // n) * n
    stream = Watched(key_of("order"))
    with keyed(stream):
        drawn = noise.uniform_integers(n, size=1000)
    assert drawn.tolist() == [word % n for word in stream.given if word < limit][:1000]
    assert len(stream.given) > 1000


BAD = [0, -1, 2.5, "1/2", float("nan"), float("inf"), "abc", "", None, True, [1], 2**63 + 1, 10**30, 10**5000]


@pytest.mark.parametrize("n", BAD, ids=range(len(BAD)))
def test_bad_bounds_are_refused_and_nothing_is_drawn(n: object) -> None:
    with keyed(key_of("untouched")) as stream:
        with pytest.raises(ParameterError) as refusal:
            noise.uniform_integers(n, size=3)
        assert refusal.value.where == "n"
        assert stream.integer(64) == KeyedBits(key_of("untouched")).integer(64)


BAD_LENGTHS = [-1, 2.5, "1/2", float("nan"), float("inf"), "abc", "", None, True, [1], 2**62, 10**30, 10**5000]


@pytest.mark.parametrize("sampler", [noise.permutation, noise.derangement])
@pytest.mark.parametrize("n", BAD_LENGTHS, ids=range(len(BAD_LENGTHS)))
def test_bad_lengths_are_refused_and_nothing_is_drawn(sampler: Callable[..., Any], n: object) -> None:
    with keyed(key_of("untouched")) as stream:
        with pytest.raises(ParameterError) as refusal:
            sampler(n)
        assert refusal.value.where == "n"
        assert stream.integer(64) == KeyedBits(key_of("untouched")).integer(64)


@pytest.mark.parametrize(("n", "prefix_bits"), [(3, 1), *itertools.product(range(6), (2, 52))])
def test_permutations_are_uniform_also_with_forced_ties(n: int, prefix_bits: int) -> None:
    # 2 bits make a tie certain for n = 5, 1 bit for n = 3; the tied are ordered by fresh bits, ties of ties too.
    draws = 300 * math.factorial(n)
    with keyed(key_of(f"permutation {n} {prefix_bits}"), prefix_bits=prefix_bits) as stream:
        counts = Counter(tuple(noise.permutation(n).tolist()) for _ in range(draws))
    everything = list(itertools.permutations(range(n)))
    assert set(counts) <= set(everything)
    assert (stream.fallbacks > 0) == (n > 1 and prefix_bits < 52)
    assert accepted_as_uniform([counts[one] for one in everything])


@pytest.mark.parametrize("prefix_bits", [2, 52])
@pytest.mark.parametrize("n", [0, 2, 3, 4, 5])
def test_derangements_are_uniform_also_with_forced_ties(n: int, prefix_bits: int) -> None:
    everything = [one for one in itertools.permutations(range(n)) if all(place != i for i, place in enumerate(one))]
    draws = 300 * len(everything)
    with keyed(key_of(f"derangement {n} {prefix_bits}"), prefix_bits=prefix_bits):
        counts = Counter(tuple(noise.derangement(n).tolist()) for _ in range(draws))
    assert set(counts) <= set(everything)
    assert accepted_as_uniform([counts[one] for one in everything])


def test_one_element_has_no_derangement() -> None:
    with keyed(key_of("untouched")) as stream:
        with pytest.raises(ParameterError) as refusal:
            noise.derangement(1)
        assert refusal.value.where == "n"
        assert stream.integer(64) == KeyedBits(key_of("untouched")).integer(64)


def test_small_orders_by_hand() -> None:
    assert noise.permutation(0).tolist() == []
    assert noise.permutation(1).tolist() == [0]
    assert noise.derangement(0).tolist() == []
    assert noise.derangement(2).tolist() == [1, 0]
    assert noise.permutation("3").dtype == noise.derangement(3.0).dtype == noise.permutation(0).dtype == np.int64


@pytest.mark.parametrize("n", [np.int64(1000), 20_000])
def test_long_orders_are_permutations(n: Any) -> None:
    for prefix_bits in (3, 52):
        with keyed(key_of(f"long {n}"), prefix_bits=prefix_bits):
            assert np.array_equal(np.sort(noise.permutation(n)), np.arange(n))
    deranged = noise.derangement(n)
    assert np.array_equal(np.sort(deranged), np.arange(n))
    assert not np.any(deranged == np.arange(n))


def test_the_full_word_orders() -> None:
    # At full width all 64 bits are the key: words that differ in the last bit only are not a tie.
    stream = Watched(key_of("full width"))
    with keyed(stream):
        order = noise.permutation(50)
    assert len(stream.given) == 50
    assert order.tolist() == sorted(range(50), key=stream.given.__getitem__)
