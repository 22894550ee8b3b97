"""Uniform integers, permutations and derangements."""

from __future__ import annotations

from typing import overload

import numpy as np
from numpy.typing import NDArray

from quincunx.errors import ParameterError
from quincunx.noise.bits import PREFIX_BITS, SecureBits, source
from quincunx.noise.shape import Shape, Size, shaped
from quincunx.numbers import Number, positive_integer, rational


@overload
def uniform_integers(n: Number, size: None = None) -> int: ...


@overload
def uniform_integers(n: Number, size: Shape) -> NDArray[np.int64]: ...


def uniform_integers(n: Number, size: Size = None) -> int | NDArray[np.int64]:
    """Uniform draws from 0, 1, …, n − 1, for 1 ≤ n ≤ 2^63. `size` is a length, a shape, or None for one Python int."""
    bound = positive_integer(n, "n")
    if bound > 2**63:
        raise ParameterError("must be at most 2^63", where="n", got=f"an integer of {bound.bit_length()} bits")
    drawn: int | NDArray[np.int64] = shaped(size, lambda count: below(source(), bound, count))
    return drawn


def below(bits: SecureBits, bound: int, count: int) -> NDArray[np.int64]:
    """`count` uniform draws from 0, 1, …, bound − 1."""
    # Words at or above the largest multiple of `bound` are rejected, so that every residue is equally likely.
    last_kept = np.uint64((2**64 // bound) * bound - 1)
    out = np.empty(count, dtype=np.int64)
    done = 0
    while done < count:
        words = bits.words(count - done)
        kept = words[words <= last_kept] % np.uint64(bound)
        out[done : done + len(kept)] = kept
        done += len(kept)
    return out


def permutation(n: Number) -> NDArray[np.int64]:
    """A uniformly random permutation of 0, 1, …, n − 1 (n ≥ 0)."""
    return _permutation(source(), _length(n))


def derangement(n: Number) -> NDArray[np.int64]:
    """A uniformly random permutation of 0, 1, …, n − 1 without a fixed point (n ≠ 1)."""
    length = _length(n)
    if length == 1:
        raise ParameterError("one element has no derangement", where="n", got="1")
    bits, places = source(), np.arange(length)
    # A permutation has no fixed point with probability close to 1/e: about 2.7 tries, each independent of the last.
    while True:
        candidate = _permutation(bits, length)
        if not np.any(candidate == places):
            return candidate


def _permutation(bits: SecureBits, length: int) -> NDArray[np.int64]:
    # The order of independent uniforms is uniform. Their first 64 bits decide it, but for ties, whose order is decided
    # by fresh bits: a uniform permutation of the tied.
    keys = bits.words(length)
    if bits.prefix_bits < PREFIX_BITS:
        keys = keys >> np.uint64(64 - bits.prefix_bits)
    order = np.argsort(keys).astype(np.int64)
    ordered = keys[order]
    starts = np.flatnonzero(np.concatenate(([True], ordered[1:] != ordered[:-1], [True])))
    lengths = np.diff(starts)
    for group in np.flatnonzero(lengths > 1):
        bits.fallbacks += 1
        tied = slice(starts[group], starts[group + 1])
        order[tied] = order[tied][_permutation(bits, int(lengths[group]))]
    return order


def _length(n: object) -> int:
    number = rational(n, "n")
    if number.denominator != 1 or number < 0 or number >= 2**62:
        raise ParameterError("must be a whole number, 0 or greater", where="n", got=str(number)[:40])
    return int(number)
