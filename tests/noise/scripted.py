"""Streams whose bits the test decides or watches."""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from quincunx.noise.bits import SecureBits
from quincunx.noise.testing import KeyedBits
from quincunx.numbers import Ball, ball, exact_fraction

# Continuations of a prefix: as low, as high and as middling as they come. The last bits differ from the others, so
# that a uniform is never exactly 0 or 1, which has probability 0 and which no sampler decides.
LOW, HIGH, MIDDLE = 1, 2**64 - 2, 0x9E3779B97F4A7C15
CONTINUATIONS = (LOW, HIGH, MIDDLE)


class Scripted(SecureBits):
    """Gives the words of a script, and after them one `continuation` for ever.

    The continuation is what refines a doubtful uniform, so its value does not depend on which draw asks first.
    """

    __slots__ = ("_continuation", "_script", "refinements")

    def __init__(self, script: Iterable[int], *, continuation: int = MIDDLE, prefix_bits: int = 52) -> None:
        super().__init__()
        self._script = list(script)
        self._continuation = continuation
        self.prefix_bits = prefix_bits
        self.refinements = 0

    def words(self, count: int) -> NDArray[np.uint64]:
        taken, self._script = self._script[:count], self._script[count:]
        if len(taken) < count:
            raise EOFError("the script is shorter than what was asked for")
        return np.array(taken, dtype=np.uint64)

    def integer(self, bits: int) -> int:
        if self._script:
            return self._script.pop(0)
        self.refinements += 1
        return self._continuation & ((1 << bits) - 1)


class Watched(KeyedBits):
    """A keyed stream that counts the 64-bit words it gave away, and keeps them in order."""

    __slots__ = ("given",)

    def __init__(self, key: bytes, *, prefix_bits: int = 52) -> None:
        super().__init__(key, prefix_bits=prefix_bits)
        self.given: list[int] = []

    def words(self, count: int) -> NDArray[np.uint64]:
        taken = super().words(count)
        self.given.extend(int(word) for word in taken)
        return taken

    def integer(self, bits: int) -> int:
        taken = super().integer(bits)
        self.given.extend((taken >> shift) & (2**64 - 1) for shift in range(0, bits, 64))
        return taken


def prefixes_below(threshold: Ball, prefix_bits: int, continuation: int) -> int:
    """How many prefixes a have (a + c)·2^-b below the threshold, c being the continuation, repeated, as a fraction."""
    scaled = threshold * (1 << prefix_bits) - ball(Fraction(continuation, 2**64 - 1))
    low, high = (math.floor(exact_fraction(end)) + 1 for end in (scaled.lower(), scaled.upper()))
    if low != high:
        raise ArithmeticError("a threshold falls on a grid point: choose other parameters")
    return max(0, min(low, 1 << prefix_bits))


def word_of(prefix: int, prefix_bits: int, sign: int = 1) -> int:
    """A 64-bit word with this prefix and this sign bit; the bits between, which have no owner, are ones."""
    room = 64 - prefix_bits
    return (prefix << room) | (((1 << room) - 1) & ~1) | sign
