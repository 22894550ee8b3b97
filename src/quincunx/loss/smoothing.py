"""Averages of δ around ε that are certainly above or below δ(ε), whose transforms fade.

δ is convex and falls as a function of e^ε. So an average of δ(ε + Y) is at least δ(ε) where E[e^Y] ≤ 1, and
2·E[δ(ε + Y)] − E[δ(ε + κY)] is at most δ(ε) where 0 ≤ Y ≤ η and κ·η = ln(2e^η − 1) (inversion.md). Both differ from
δ(ε) by the square of the width η where δ is smooth and by the width at its corners. Y is the sum of four uniform
variables on (0, η/4), for which E[e^{−sY}] = B(sη/4)⁴ with B(z) = (1 − e^{−z})/z.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

Complexes = NDArray[np.complex128]
Floats = NDArray[np.float64]
_UNIT: Final = 2.0**-53
# B is off by the rounding of s (twice), of z, of the exponential and of the quotient; it is at most 1 in size.
_OFF: Final = 32 * _UNIT


@dataclass(frozen=True, slots=True)
class Average:
    """The average over a spline of total width `width` = η > 0."""

    width: float

    @property
    def _shift(self) -> float:
        # E[e^{Y}] = (4(e^{η/4} − 1)/η)⁴: Y is moved down by its logarithm, rounded up.
        part = self.width / 4
        return 4 * math.log(math.expm1(part) / part) + 32 * _UNIT

    @property
    def _stretch(self) -> float:
        return math.log1p(2 * math.expm1(self.width)) / self.width * (1 - 1e-12)

    def above(self, s: Complexes) -> tuple[Complexes, Floats]:
        """The factor that turns the transform of δ into that of an average above it, and a bound on its error."""
        power, moved = _fourth(s * (self.width / 4)), np.exp(s * self._shift)
        size = np.exp(s.real * self._shift)
        off = size * (5 * _OFF + np.abs(power) * _UNIT * (8 + 8 * np.abs(s) * self._shift))
        return np.asarray(power * moved, dtype=np.complex128), np.asarray(off, dtype=np.float64)

    def below(self, s: Complexes) -> tuple[Complexes, Floats]:
        """The same for a combination of two averages that is below δ."""
        near, far = _fourth(s * (self.width / 4)), _fourth(s * (self.width / 4 * self._stretch))
        return np.asarray(2 * near - far, dtype=np.complex128), np.full(len(s), 20 * _OFF)

    def fading(self, sigma: float) -> float:
        """c such that both factors are at most c/ω⁴ in size at every s = σ + iω."""
        # |B(z)| ≤ 2/|z| for Re z > 0; the stretch is above 1.
        return (8 / self.width) ** 4 * max(3.0, math.exp(min(700.0, sigma * self._shift)) * (1 + 1e-12))


def _fourth(z: Complexes) -> Complexes:
    return np.asarray((-np.expm1(-z) / z) ** 4, dtype=np.complex128)
