"""⌊−t·ln U + κ⌋, exactly, for many U at once.

Three laws have this form. U is uniform on (0, 1), so P(⌊−t·ln U + κ⌋ ≥ k) = P(U ≤ e^{−(k−κ)/t}) = e^{−(k−κ)/t} for
every whole k ≥ κ:

- κ = 0 is the geometric law, P(k) = (1 − q)·q^k with q = e^{−1/t};
- κ = 1/2 is a rounded exponential variable, whose random sign makes the rounded Laplace law;
- κ = −t·ln((1 + q)/2), between 0 and 1/2, gives P(≥ k) = 2q^k/(1 + q) for k ≥ 1: the magnitude of the discrete Laplace
  law. Its zero has one sign from the start, so there is no −0 to reject.

The filter computes x̂ in float64 and a bound e with |x̂ − x| ≤ e, and is certain when x̂ is at least e away from every
integer; the proof of e is in staircase.md.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Final

import numpy as np
from numpy.typing import NDArray

from quincunx.noise.bits import SecureBits
from quincunx.noise.lazy import LazyUniform, certain_floor, decide
from quincunx.numbers import Ball, ball, float_near, precision

# Elements per pass: the temporaries of one pass stay in the processor's cache.
CHUNK: Final = 1 << 14
INT64_MAX: Final = 2**63 - 1

# Error of the filter (staircase.md): 8 ulp of the logarithm and four roundings, with a factor to spare; half the width
# of U, ln(1 + 1/2a) ≤ 1/2a; roundings of κ̂ and of the sum.
_RELATIVE: Final = 2.0**-48
_HALF_WIDTH: Final = 0.5 * 1.0001
_ABSOLUTE: Final = 2.0**-50


def clamped(value: int) -> int:
    """The nearest value that both int64 and its negative can hold."""
    return max(-INT64_MAX, min(value, INT64_MAX))


@dataclass(frozen=True, slots=True)
class Staircase:
    """The law of ⌊−t·ln U + κ⌋: `scale` is t > 0, `offset()` is κ as a ball at the working precision, 0 ≤ κ ≤ 1/2."""

    scale: Fraction
    offset: Callable[[], Ball]
    _scale: float = field(init=False, repr=False, compare=False)
    _offset: float = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        with precision(128):
            object.__setattr__(self, "_scale", float_near(self.scale))
            object.__setattr__(self, "_offset", float_near(self.offset()))

    def draw(
        self, bits: SecureBits, count: int, *, signed: bool, beyond: dict[int, int] | None = None
    ) -> NDArray[np.int64]:
        """`count` draws; `signed` multiplies each by a fair random sign.

        Magnitudes above int64 are clamped to it; `beyond` collects their true values by position.
        """
        out = np.empty(count, dtype=np.int64)
        for start in range(0, count, CHUNK):
            part = out[start : start + CHUNK]
            words = bits.words(len(part))
            self._fill(part, words, bits, {} if beyond is None else beyond, start)
            if signed:
                # The lowest bit is the sign's; the prefix never reaches it.
                sign = (words & np.uint64(1)).view(np.int64)
                sign <<= 1
                sign -= 1
                part *= sign
        return out

    def draw_one(self, bits: SecureBits, *, signed: bool) -> int:
        """One draw of the same law from one word, by the same filter in Python's floats; not clamped."""
        word = bits.integer(64)
        prefix = word >> (64 - bits.prefix_bits)
        whole = None
        if prefix and self._scale < math.inf:
            value = -self._scale * math.log((prefix + 0.5) * 2.0**-bits.prefix_bits)
            error = _HALF_WIDTH * self._scale / prefix + value * _RELATIVE + _ABSOLUTE
            value += self._offset
            if value < math.inf:
                floor = math.floor(value)
                if error <= value - floor and value - floor + error <= 1.0:
                    whole = floor
        if whole is None:
            whole = self._exact(bits, prefix)
        return -whole if signed and not word & 1 else whole

    def _fill(
        self, out: NDArray[np.int64], words: NDArray[np.uint64], bits: SecureBits, beyond: dict[int, int], start: int
    ) -> None:
        drop = np.uint64(64 - bits.prefix_bits)
        prefix = (words >> drop).astype(np.float64)
        with np.errstate(all="ignore"):
            value = prefix + 0.5
            value *= 2.0**-bits.prefix_bits
            np.log(value, out=value)
            value *= -self._scale
            error = (_HALF_WIDTH * self._scale) / prefix
            error += value * _RELATIVE
            error += _ABSOLUTE
            value += self._offset
            whole = np.floor(value)
            value -= whole
            # Written so that a NaN is a doubt.
            certain = value >= error
            value += error
            certain &= value <= 1.0
            np.copyto(out, whole, casting="unsafe")
        for index in np.flatnonzero(~certain):
            exact = self._exact(bits, int(words[index] >> drop))
            out[index] = min(exact, INT64_MAX)
            if exact > INT64_MAX:
                beyond[start + int(index)] = exact

    def _exact(self, bits: SecureBits, prefix: int) -> int:
        bits.fallbacks += 1
        uniform = LazyUniform(bits, prefix, bits.prefix_bits)
        magnitude = max(0, self.scale.numerator.bit_length() - self.scale.denominator.bit_length())

        def floor() -> int | None:
            return certain_floor(self.offset() - ball(self.scale) * uniform.ball().log())

        return decide(floor, uniform, extra_bits=magnitude)
