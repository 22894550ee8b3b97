"""How far a published number may be from the bounded statistic: intervals for counts, sums and means. See interval.md.

Nothing here affects privacy: it is arithmetic on noisy integers and on the noise's public law. Floats are rounded
outwards, so that an interval covers with at least the stated confidence.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from statistics import NormalDist
from typing import Final, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from quincunx.mechanisms.additive import LIMIT
from quincunx.numbers import float_above

Floats: TypeAlias = NDArray[np.float64]

# 2^50 halvings of the declared range are finer than any published digit.
_HALVINGS: Final = 50
# Half of what a clamped number may be off: |y| + 2^62 fits an int64.
_LONGEST: Final = 2**62
# What float64 arithmetic of a few operations may lose, with room to spare.
_SLACK: Final = 2.0**-48
_NEAR: Final = 1e-4


class Noise(Protocol):
    """What intervals ask of a mechanism in lattice units."""

    @property
    def norm(self) -> int:
        """1: Laplace-type noise with a `scale`; 2: Gaussian-type noise with a `sigma2`."""
        ...

    @property
    def variance(self) -> float:
        """The variance of the noise."""
        ...

    def error(self, beta: object, size: object = 1) -> float:
        """The smallest m with P(|K| ≤ m) ≥ 1 − beta."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """A statistic for each group: its exact value before rounding is `middle`; low ≤ the bounded statistic ≤ high with
    the stated confidence, group by group; se: the standard deviation of the noise, NaN where it is not known.
    """

    middle: Floats
    low: Floats
    high: Floats
    se: Floats


def half_width(noise: Noise, unit: Fraction, risk: Fraction) -> Fraction:
    """The smallest whole number of lattice units that holds with probability ≥ 1 − risk, in the data's unit."""
    return Fraction(noise.error(risk)) * unit


def standard_error(noise: Noise, unit: Fraction) -> float:
    """The exact standard deviation of the noise, in the data's unit."""
    return math.sqrt(noise.variance) * float(unit)


def of_measure(numbers: NDArray[np.int64], noise: Noise, unit: Fraction, risk: Fraction) -> Estimate:
    """A count or a sum: each noisy integer ± the smallest m with P(|K| ≤ m) ≥ 1 − risk."""
    reach = noise.error(risk)
    if reach <= _LONGEST:
        below, above = numbers - int(reach), numbers + int(reach)
    else:
        # Longer than the lattice is wide: every number that can be measured is possible.
        below, above = np.full_like(numbers, -LIMIT), np.full_like(numbers, LIMIT)
    return Estimate(
        middle=_scaled(numbers, unit, 0),
        low=_scaled(below, unit, -1),
        high=_scaled(above, unit, +1),
        se=np.full(numbers.shape, standard_error(noise, unit)),
    )


def of_mean(
    sums: NDArray[np.int64],
    counts: NDArray[np.int64],
    noises: tuple[Noise, Noise],
    units: tuple[Fraction, Fraction],
    risk: Fraction,
    bounds: tuple[float, float],
) -> Estimate:
    """A mean r = S/N, relative to its centre: the hull of {r : |Ŝ − r·N̂| ≤ q(r)} inside `bounds`.

    q(r) is at least the 1 − risk quantile of |K_S − r·K_N|. Where N̂ is within its own error, or a number was clamped,
    every r is possible.
    """
    low, high = bounds
    total, count = _scaled(sums, units[0], 0), _scaled(counts, units[1], 0)
    law = _law(noises, units, risk)
    # A number at the end of the lattice is not the sum of its parts: clamped, it tells only that they were large.
    inside = (np.abs(sums) < LIMIT) & (np.abs(counts) < LIMIT)
    settled = inside & (count > law.reach * (1 + _SLACK))
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        ratio = np.where(count > 0, total / count, 0.0)
        middle = np.clip(ratio, low, high)
        spread = np.sqrt(noises[0].variance) * float(units[0]), np.sqrt(noises[1].variance) * float(units[1])
        se = np.where(settled, np.hypot(spread[0], middle * spread[1]) / count, np.nan)
    ends = [
        np.where(settled, _end(law, total, count, middle, np.full(count.shape, float(side))), side) for side in bounds
    ]
    return Estimate(middle=middle, low=np.minimum(ends[0], middle), high=np.maximum(ends[1], middle), se=se)


class _Law(Protocol):
    """The law of K_S − r·K_N. reach: N̂ beyond it makes the set of possible r an interval around Ŝ/N̂."""

    @property
    def reach(self) -> float:
        """q(0, b) and the lattice's margin."""
        ...

    def possible(self, distance: Floats, ratio: Floats) -> NDArray[np.bool_]:
        """Whether distance ≤ q(ratio)."""
        ...


def _law(noises: tuple[Noise, Noise], units: tuple[Fraction, Fraction], risk: Fraction) -> _Law:
    if noises[0].norm == 1:
        a, b = (float(Fraction(noise.scale) * unit) for noise, unit in zip(noises, units, strict=True))  # type: ignore[attr-defined]
        return _Laplace(a=a, b=b, steps=(float(units[0]), float(units[1])), risk=float(risk))
    variances = [Fraction(noise.sigma2) for noise in noises]  # type: ignore[attr-defined]
    if min(variances) < 1:
        # Below one lattice unit the bell curve is no approximation; each noise by itself at half the risk always is.
        half = [float_above(half_width(noise, unit, risk / 2)) for noise, unit in zip(noises, units, strict=True)]
        return _Separate(a=half[0], b=half[1])
    a, b = (math.sqrt(v) * float(unit) for v, unit in zip(variances, units, strict=True))
    return _Gaussian(a=a, b=b, steps=(float(units[0]), float(units[1])), risk=float(risk))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Laplace:
    """P(|aX + bY| > t) = (a²e^{−t/a} − b²e^{−t/b})/(a² − b²) for standard Laplace X and Y; a lattice step's margin."""

    a: float
    b: float
    steps: tuple[float, float]
    risk: float

    @property
    def reach(self) -> float:
        return self.b * -math.log(self.risk) + self.steps[1]

    def possible(self, distance: Floats, ratio: Floats) -> NDArray[np.bool_]:
        inside = np.maximum(distance - self.steps[0] - np.abs(ratio) * self.steps[1], 0.0)
        one, two = np.full(ratio.shape, self.a), np.abs(ratio) * self.b
        wide, narrow = np.maximum(one, two), np.minimum(one, two)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            apart = (wide**2 * np.exp(-inside / wide) - narrow**2 * np.exp(-inside / narrow)) / (wide**2 - narrow**2)
            # Near a = b the difference loses its digits; both at the wider scale is an upper bound within 1e-4.
            equal = (1 + inside / (2 * wide)) * np.exp(-inside / wide)
        tail = np.where(narrow < wide * (1 - _NEAR), np.where(narrow > 0, apart, np.exp(-inside / wide)), equal)
        return np.asarray(tail >= self.risk * (1 - 1e-9))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Gaussian:
    """|aX + bY| ≤ z·√(a² + b²) with probability 1 − risk for standard normal X and Y; a lattice step's margin."""

    a: float
    b: float
    steps: tuple[float, float]
    risk: float

    @property
    def _z(self) -> float:
        return -NormalDist().inv_cdf(self.risk / 2) * (1 + 1e-9)

    @property
    def reach(self) -> float:
        return self._z * self.b + self.steps[1]

    def possible(self, distance: Floats, ratio: Floats) -> NDArray[np.bool_]:
        margin = self.steps[0] + np.abs(ratio) * self.steps[1]
        return np.asarray(distance <= self._z * np.hypot(self.a, ratio * self.b) + margin)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Separate:
    """|K_S| ≤ a and |K_N| ≤ b at half the risk each."""

    a: float
    b: float

    @property
    def reach(self) -> float:
        return self.b

    def possible(self, distance: Floats, ratio: Floats) -> NDArray[np.bool_]:
        return np.asarray(distance <= self.a + np.abs(ratio) * self.b)


def _end(law: _Law, total: Floats, count: Floats, inside: Floats, outside: Floats) -> Floats:
    """From `inside` towards `outside`, the first r that is not possible; `outside` where all are."""
    slack = _SLACK * (np.abs(total) + np.abs(count) * np.maximum(np.abs(inside), np.abs(outside)))

    def possible(ratio: Floats) -> NDArray[np.bool_]:
        return law.possible(np.maximum(np.abs(total - ratio * count) - slack, 0.0), ratio)

    everything = possible(outside)
    for _ in range(_HALVINGS):
        middle = (inside + outside) / 2
        here = possible(middle) | everything
        inside, outside = np.where(here, middle, inside), np.where(here, outside, middle)
    return outside


def _scaled(numbers: NDArray[np.int64], unit: Fraction, side: int) -> Floats:
    """numbers·unit, rounded outwards to `side` where float64 does not hold it exactly."""
    scaled = numbers.astype(np.float64) * float(unit)
    dyadic = unit.numerator == 1 and unit.denominator & (unit.denominator - 1) == 0
    kept = (np.abs(numbers) < 2**53) & dyadic
    return np.where(kept, scaled, scaled + side * np.abs(scaled) * 2.0**-50)
