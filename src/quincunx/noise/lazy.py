"""Uniforms whose bits are drawn as they are needed, and decisions taken from them with certainty.

This is the exact half of every sampler: what the floating-point filter leaves in doubt comes here with the bits that
were already read, and goes on with more bits *of the same uniform*. A doubtful draw is never redrawn: that would
condition on easy draws.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import TypeVar

from quincunx.noise.bits import SecureBits
from quincunx.numbers import Ball, precision

_REFINEMENT = 64
T = TypeVar("T")


class LazyUniform:
    """U uniform on [0, 1), of which the first `bits` bits are known: `prefix`·2^-bits ≤ U < (`prefix` + 1)·2^-bits."""

    __slots__ = ("_source", "bits", "prefix")

    def __init__(self, source: SecureBits, prefix: int = 0, bits: int = 0) -> None:
        self._source, self.prefix, self.bits = source, prefix, bits

    def refine(self) -> None:
        """Draw the next bits of this same U."""
        self.prefix = (self.prefix << _REFINEMENT) | self._source.integer(_REFINEMENT)
        self.bits += _REFINEMENT

    def ball(self) -> Ball:
        """The ball of all values that U may still have."""
        return Ball((2 * self.prefix + 1, -self.bits - 1), (1, -self.bits - 1))

    def at_least(self, threshold: Ball | Fraction) -> bool | None:
        """Whether U ≥ threshold; None while the known bits leave it open."""
        if isinstance(threshold, Fraction):
            scaled = threshold * (1 << self.bits)
            return True if self.prefix >= scaled else (False if self.prefix + 1 <= scaled else None)
        if Ball((self.prefix, -self.bits)) >= threshold:
            return True
        return False if Ball((self.prefix + 1, -self.bits)) <= threshold else None


def decide(question: Callable[[], T | None], *uniforms: LazyUniform, extra_bits: int = 0) -> T:
    """The answer to `question`, asked with ever more bits of `uniforms` until it is not None.

    `extra_bits` is added to the working precision: the magnitude of the answer in bits.
    """
    while True:
        with precision(_REFINEMENT + extra_bits + max(u.bits for u in uniforms)):
            answer = question()
        if answer is not None:
            return answer
        for uniform in uniforms:
            uniform.refine()


def certain_floor(value: Ball) -> int | None:
    """⌊value⌋ where every point of the ball has the same floor."""
    whole = value.floor().unique_fmpz() if value.is_finite() else None
    return None if whole is None else int(whole)
