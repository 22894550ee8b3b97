"""Linear forms of independent noises: whether Σ c_i·K_i may be as far from 0 as was seen. See linear.md.

Every aggregate that is a function of several measures has an interval by such a form: at the true value of the
statistic, a combination of the exact measures is 0, so the same combination of the noisy ones is noise alone.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from statistics import NormalDist
from typing import Final, Protocol

import numpy as np
from numpy.typing import NDArray

from quincunx.numbers import float_above
from quincunx.table.aggregates.estimate import Floats, Noise, Part, half_width

# Within it two scales are taken as equal, the wider.
_NEAR: Final = 1e-4
# Three or more scales are moved apart by this factor, so that partial fractions keep their digits.
_APART: Final = 2.0**-6


class Law(Protocol):
    """The law of Σ c_i·K_i, in the data's unit, at one risk."""

    def possible(self, distance: Floats, *coefficients: Floats | float) -> NDArray[np.bool_]:
        """Whether distance ≤ q(c): false only where |Σ c_i·K_i| ≥ distance has a probability of at most the risk."""
        ...

    def reach(self, index: int) -> float:
        """By how much q can grow, at most, for each unit by which coefficient `index` grows."""
        ...


def law(parts: Sequence[Part], risk: Fraction) -> Law:
    """The law of the noises of these measures, which are independent and of one kind."""
    units = tuple(float(part.unit) for part in parts)
    if parts[0].noise.norm == 1:
        scales = tuple(float(part.noise.spread * part.unit) for part in parts)
        return Laplace(scales=scales, units=units, risk=float(risk))
    variances = [part.noise.spread for part in parts]
    if min(variances) < 1:
        # Below one lattice unit the bell curve is no approximation; each noise at its own share of the risk always is.
        return Separate(halves=tuple(_half(part.noise, part.unit, risk / len(parts)) for part in parts))
    scales = tuple(math.sqrt(v) * unit for v, unit in zip(variances, units, strict=True))
    return Gaussian(scales=scales, units=units, risk=float(risk))


def _half(noise: Noise, unit: Fraction, risk: Fraction) -> float:
    return float_above(half_width(noise, unit, risk))


@dataclass(frozen=True, slots=True, kw_only=True)
class Laplace:
    """The tail of a sum of Laplace variables by partial fractions; a lattice unit's margin for each."""

    scales: tuple[float, ...]
    units: tuple[float, ...]
    risk: float

    def reach(self, index: int) -> float:
        return self.scales[index] * -math.log(self.risk) + self.units[index]

    def possible(self, distance: Floats, *coefficients: Floats | float) -> NDArray[np.bool_]:
        inside = distance
        for c, unit in zip(coefficients, self.units, strict=True):
            inside = inside - np.abs(c) * unit
        inside = np.maximum(inside, 0.0)
        scales = [
            np.broadcast_to(np.abs(c) * scale, inside.shape) for c, scale in zip(coefficients, self.scales, strict=True)
        ]
        tail = _two(inside, *scales) if len(scales) == 2 else _many(inside, scales)
        # What is no number is possible.
        return ~np.asarray(tail < self.risk * (1 - 1e-9))


def _two(inside: Floats, one: Floats, two: Floats) -> Floats:
    """P(|aX + bY| > t) = (a²e^{−t/a} − b²e^{−t/b})/(a² − b²) for standard Laplace X and Y, or a little more."""
    wide, narrow = np.maximum(one, two), np.minimum(one, two)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        apart = (wide**2 * np.exp(-inside / wide) - narrow**2 * np.exp(-inside / narrow)) / (wide**2 - narrow**2)
        # Near a = b the difference loses its digits; both at the wider scale is an upper bound within 1e-4.
        equal = (1 + inside / (2 * wide)) * np.exp(-inside / wide)
    return np.where(narrow < wide * (1 - _NEAR), np.where(narrow > 0, apart, np.exp(-inside / wide)), equal)


def _many(inside: Floats, scales: Sequence[Floats]) -> Floats:
    """Σ_i e^{−t/a_i}·∏_{j≠i} a_i²/(a_i² − a_j²), with scales that are moved up until they differ."""
    widths = list(np.sort(np.stack(scales), axis=0))
    tail = np.zeros(inside.shape)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        for i in range(1, len(widths)):
            widths[i] = np.maximum(widths[i], widths[i - 1] * (1 + _APART))
        # A scale of 0 has no part in the sum.
        for i, wide in enumerate(widths):
            factor = np.exp(-inside / wide)
            for j, other in enumerate(widths):
                if j != i:
                    factor = factor / (1 - (other / wide) ** 2)
            tail = tail + np.where(wide > 0, factor, 0.0)
    return np.where(widths[-1] > 0, tail, 0.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Gaussian:
    """|Σ c_i·a_i·Z_i| ≤ z·√(Σ c_i²·a_i²) for standard normal Z_i; a lattice unit's margin for each."""

    scales: tuple[float, ...]
    units: tuple[float, ...]
    risk: float

    @property
    def _z(self) -> float:
        return -NormalDist().inv_cdf(self.risk / 2) * (1 + 1e-9)

    def reach(self, index: int) -> float:
        return self._z * self.scales[index] + self.units[index]

    def possible(self, distance: Floats, *coefficients: Floats | float) -> NDArray[np.bool_]:
        spread: Floats | float = 0.0
        for c, scale in zip(coefficients, self.scales, strict=True):
            spread = np.hypot(spread, c * scale)
        return np.asarray(distance <= self._z * spread + _margin(self.units, coefficients))


@dataclass(frozen=True, slots=True, kw_only=True)
class Separate:
    """Each |K_i| within its own error at an equal share of the risk."""

    halves: tuple[float, ...]

    def reach(self, index: int) -> float:
        return self.halves[index]

    def possible(self, distance: Floats, *coefficients: Floats | float) -> NDArray[np.bool_]:
        return np.asarray(distance <= _margin(self.halves, coefficients))


def _margin(units: Sequence[float], coefficients: Sequence[Floats | float]) -> Floats | float:
    """Σ |c_i|·u_i."""
    total: Floats | float = 0.0
    for c, unit in zip(coefficients, units, strict=True):
        total = total + np.abs(c) * unit
    return total
