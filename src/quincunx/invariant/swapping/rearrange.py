"""The random rearrangement behind swapping: who receives whose values (`rearrange.md`).

All strata are drawn at once. Records are sorted by (stratum, random bits); among records that tie, fresh bits decide,
so the order inside a stratum is exactly uniform. Strata in which a derangement left somebody in place are drawn again.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Final

import numpy as np
from numpy.typing import NDArray

from quincunx import noise
from quincunx.invariant.swapping.derange import LARGE, derange
from quincunx.invariant.swapping.epsilon import Kind
from quincunx.noise import PREFIX_BITS, SecureBits, source

Integers = NDArray[np.int64]
# Coins are drawn in blocks that stay in the cache.
_BLOCK: Final = 1 << 16


def rearrangement(strata: NDArray[np.integer], rate: Fraction, kind: Kind) -> tuple[Integers, Integers]:
    """(to, from_): record to[i] receives the values of record from_[i]; all others keep their own.

    strata: for each record the number of its stratum, 0, 1, …. rate: p. The selection is each record with probability
    p, for derangements given that no stratum has exactly one selected record.
    """
    codes = np.ascontiguousarray(strata, dtype=np.int64)
    sizes = np.bincount(codes, minlength=1)
    chosen = _coins(rate, len(codes))
    # A stratum of one passes; so does one of which nobody is selected.
    if (sizes == 1).any():
        chosen &= (sizes >= 2)[codes]
    if kind is Kind.DERANGEMENT:
        _again_where_one(chosen, codes, rate, len(sizes))
    selected = np.flatnonzero(chosen)
    to, groups = _by_group(selected, codes[selected])
    bits = source()
    order = _shuffled(bits, groups)
    if kind is Kind.DERANGEMENT:
        _deranged(bits, groups, order)
    return to, to[order]


def shuffle(count: int) -> Integers:
    """A uniformly random permutation of 0, 1, …, count − 1."""
    return _shuffled(source(), np.zeros(count, dtype=np.int64))


def _coins(rate: Fraction, count: int) -> NDArray[np.bool_]:
    out = np.empty(count, dtype=np.bool_)
    for start in range(0, count, _BLOCK):
        part = out[start : start + _BLOCK]
        part[:] = noise.bernoulli(rate, len(part))
    return out


def _again_where_one(chosen: NDArray[np.bool_], codes: Integers, rate: Fraction, strata: int) -> None:
    """Select again, all records of the stratum, wherever exactly one was selected; at most half of them each time."""
    rows: Integers | None = None
    while True:
        now = chosen if rows is None else chosen[rows]
        held = codes if rows is None else codes[rows]
        lonely = np.bincount(held[now], minlength=strata) == 1
        left = np.flatnonzero(lonely[held])
        if not len(left):
            return
        rows = left if rows is None else rows[left]
        chosen[rows] = _coins(rate, len(rows))


def _by_group(rows: Integers, groups: Integers) -> tuple[Integers, Integers]:
    """The rows in the order of their groups, and the groups, numbered 0, 1, … in that order."""
    if len(groups) and int(groups.max()) < 1 << 16:
        # NumPy sorts 16-bit numbers by counting.
        first = np.argsort(groups.astype(np.uint16), kind="stable")
        return rows[first], _runs(groups[first].astype(np.uint64))
    places = max(1, (len(rows) - 1).bit_length())
    keys = groups.astype(np.uint64) << np.uint64(places)
    keys |= np.arange(len(rows), dtype=np.uint64)
    keys.sort()
    ordered = rows[(keys & np.uint64((1 << places) - 1)).astype(np.int64)]
    keys >>= np.uint64(places)
    return ordered, _runs(keys)


def _runs(ordered: NDArray[np.uint64]) -> Integers:
    """Equal neighbours have one number: 0, 1, …."""
    if not len(ordered):
        return np.zeros(0, dtype=np.int64)
    new = np.empty(len(ordered), dtype=np.int64)
    new[0] = 0
    np.not_equal(ordered[1:], ordered[:-1], out=new[1:], casting="unsafe")
    return np.cumsum(new, out=new)


def _shuffled(bits: SecureBits, groups: Integers) -> Integers:
    """A permutation of the places that keeps each place in its group, uniform among all such.

    groups: the group of each place, rising. The key of a place is (group, random bits, place); the last part only says
    where the key came from, since ties of the first two are decided by fresh bits.
    """
    count = len(groups)
    if count < 2:
        return np.arange(count, dtype=np.int64)
    places = (count - 1).bit_length()
    room = 64 - places - int(groups[-1]).bit_length()
    # Tests narrow the random part, to force ties.
    width = min(room, bits.prefix_bits if bits.prefix_bits < PREFIX_BITS else room)
    keys = bits.words(count)
    keys >>= np.uint64(64 - width)
    if groups[-1]:
        keys |= groups.astype(np.uint64) << np.uint64(width)
    keys <<= np.uint64(places)
    keys |= np.arange(count, dtype=np.uint64)
    keys.sort()
    drawn = keys >> np.uint64(places)
    tied = np.zeros(count, dtype=np.bool_)
    np.equal(drawn[1:], drawn[:-1], out=tied[1:])
    tied[:-1] |= tied[1:]
    keys &= np.uint64((1 << places) - 1)
    order = keys.view(np.int64)
    again = np.flatnonzero(tied)
    if len(again):
        bits.fallbacks += len(again)
        order[again] = order[again[_shuffled(bits, _runs(drawn[again]))]]
    return order


def _deranged(bits: SecureBits, groups: Integers, order: Integers) -> None:
    """Turn uniform permutations into uniform derangements, group by group.

    In small groups a permutation with a fixed place is drawn again: each try succeeds with probability ≥ 1/3. In large
    ones, where that would be slow, the few fixed places are inserted (`derange.py`).
    """
    fixed = np.flatnonzero(order == np.arange(len(order)))
    if not len(fixed):
        return
    sizes = np.bincount(groups)
    ends = np.cumsum(sizes)
    for group in np.unique(groups[fixed[sizes[groups[fixed]] >= LARGE]]):
        first = int(ends[group] - sizes[group])
        derange(order[first : ends[group]], first)
    fixed = fixed[sizes[groups[fixed]] < LARGE]
    places = np.arange(len(groups))
    while len(fixed):
        broken = np.zeros(len(sizes), dtype=np.bool_)
        broken[groups[fixed]] = True
        places = places[broken[groups[places]]]
        order[places] = places[_shuffled(bits, _runs(groups[places].astype(np.uint64)))]
        fixed = places[order[places] == places]
