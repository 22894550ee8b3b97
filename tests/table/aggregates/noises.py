"""Noisy numbers of given laws, as aggregates take them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from quincunx.table.aggregates import ONES, Floats, Part
from quincunx.table.aggregates.linear import Law, law
from quincunx.table.aggregates.mean import Ratio, of_ratio
from quincunx.table.aggregates.total import around


def count_bound(probability: float, draws: int) -> float:
    """How far below its expectation a binomial share may fall with a false-alarm rate of 1e-9 (Hoeffding)."""
    return probability - math.sqrt(math.log(1e9) / (2 * draws))


def parts_of(noises: Sequence[Any], units: Sequence[Fraction]) -> list[Part]:
    return [Part(lattice=ONES, unit=unit, noise=noise) for noise, unit in zip(noises, units, strict=True)]


def of_measure(numbers: Any, noise: Any, unit: Fraction, risk: Fraction) -> tuple[Floats, Floats]:
    """The ends of a count or a sum."""
    return around(np.asarray(numbers), noise, unit, risk)


def of_mean(sums: Any, counts: Any, noises: Any, units: Any, risk: Fraction, bounds: tuple[float, float]) -> Ratio:
    """A mean relative to its centre."""
    return of_ratio((sums, counts), parts_of(noises, units), risk, bounds)


def law_of(noises: Sequence[Any], units: Sequence[Fraction], risk: Fraction) -> Law:
    return law(parts_of(noises, units), risk)
