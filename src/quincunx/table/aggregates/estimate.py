"""What is known of an aggregate once its measures are noised: values, intervals, and how each noise moves them.

Nothing here affects privacy: it is arithmetic on noisy integers and on the noise's public law. Floats are rounded
outwards, so that an interval covers with at least the stated confidence.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from quincunx.numbers import Number
from quincunx.table.aggregates.term import Lattice

Floats: TypeAlias = NDArray[np.float64]
Numbers: TypeAlias = NDArray[np.int64]


class Noise(Protocol):
    """What intervals ask of a mechanism in lattice units."""

    @property
    def norm(self) -> int:
        """1: Laplace-type noise; 2: Gaussian-type noise."""
        ...

    @property
    def spread(self) -> Fraction:
        """The scale of Laplace-type noise, σ² of Gaussian-type noise."""
        ...

    @property
    def variance(self) -> float:
        """The variance of the noise."""
        ...

    def error(self, beta: Number, size: Number = 1) -> float:
        """The smallest m with P(|K| ≤ m) ≥ 1 − beta."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One measure of an aggregate: where its values lie, its noise, and what one lattice unit stands for.

    noise: a `Noise`, or what else the aggregate's own measure is drawn by.
    """

    lattice: Lattice
    unit: Fraction
    noise: Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """A statistic for each group, as it is published.

    values: of the column's `type` (integer, decimal with `scale` digits, float), near: the same as floats. low ≤ the
    bounded statistic ≤ high with the stated confidence, group by group. slopes: ∂value/∂noise for each part, in the
    data's unit; NaN where it is not known. se: the standard error, where slopes do not tell.
    """

    values: Sequence[Any]
    type: str
    scale: int = 0
    near: Floats
    low: Floats
    high: Floats
    slopes: tuple[Floats, ...]
    se: Floats | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Expected:
    """How far a statistic will be off, before it is asked: half-width of the interval, standard error, condition."""

    half_width: float
    se: float | None
    assumed: str = ""


def half_width(noise: Noise, unit: Fraction, risk: Fraction) -> Fraction:
    """The smallest whole number of lattice units that holds with probability ≥ 1 − risk, in the data's unit."""
    return Fraction(noise.error(risk)) * unit


def standard_error(noise: Noise, unit: Fraction) -> float:
    """The exact standard deviation of the noise, in the data's unit."""
    return math.sqrt(noise.variance) * float(unit)


def scaled(numbers: Numbers, unit: Fraction, side: int) -> Floats:
    """numbers·unit, rounded outwards to `side` where float64 does not hold it exactly."""
    product = numbers.astype(np.float64) * float(unit)
    dyadic = unit.numerator == 1 and unit.denominator & (unit.denominator - 1) == 0
    kept = (np.abs(numbers) < 2**53) & dyadic
    return np.where(kept, product, product + side * np.abs(product) * 2.0**-50)
