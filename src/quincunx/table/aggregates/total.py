"""Aggregates that are one measure: counts and sums, published as whole multiples of their step. See total.md."""

from __future__ import annotations

from abc import ABC
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any, ClassVar, Final

import numpy as np

from quincunx.mechanisms import LIMIT
from quincunx.numbers import float_above
from quincunx.table.aggregates.aggregate import Aggregate
from quincunx.table.aggregates.estimate import (
    Estimate,
    Expected,
    Floats,
    Noise,
    Numbers,
    Part,
    half_width,
    scaled,
    standard_error,
)
from quincunx.table.aggregates.term import Lattice
from quincunx.table.interval import Bounds

# Half of what a clamped number may be off: |y| + 2^62 fits an int64.
_LONGEST: Final = 2**62
# What an exact decimal column holds; coarser or finer steps leave as floats.
_DIGITS: Final = 38
_ZERO: Final = Fraction(0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Total(Aggregate, ABC):
    """A count or a sum: its one measure is the statistic."""

    linear: ClassVar[bool] = True

    def bounds(self, lattices: Sequence[Lattice]) -> Bounds:
        (lattice,) = lattices
        # A sum of any number of values, none of which is below 0, or none above; weights are not negative.
        return _ZERO if lattice.low >= 0 else None, _ZERO if lattice.high <= 0 else None

    def estimate(self, numbers: Sequence[Numbers], parts: Sequence[Part], risk: Fraction) -> Estimate:
        (noisy,), (part,) = numbers, parts
        low, high = around(noisy, part.noise, part.unit, risk)
        step = part.lattice.step
        kind, scale, values = typed(rounded(noisy, part.unit / step), step)
        near = np.array(values, dtype=np.float64)
        return Estimate(
            values=values,
            type=kind,
            scale=scale,
            near=near,
            low=np.minimum(low, near),
            high=np.maximum(high, near),
            slopes=(np.ones(noisy.shape),),
        )

    def expected(self, parts: Sequence[Part], risk: Fraction, rows: int) -> Expected:  # noqa: ARG002 - in any group
        (part,) = parts
        half = float_above(half_width(part.noise, part.unit, risk))
        return Expected(half_width=half, se=standard_error(part.noise, part.unit))


def rounded(numbers: Numbers, ratio: Fraction) -> list[int]:
    """⌊y·ratio + 1/2⌋ of every number, exactly."""
    up, down = ratio.as_integer_ratio()
    if up == 1 and down % 2 == 0 and down <= _LONGEST:
        # |y| < 2^62, so that y + down/2 fits an int64.
        found: list[int] = ((numbers + down // 2) // down).tolist()
        return found
    return [(2 * y * up + down) // (2 * down) for y in map(int, numbers.tolist())]


def around(numbers: Numbers, noise: Noise, unit: Fraction, risk: Fraction) -> tuple[Floats, Floats]:
    """Each noisy integer ± the smallest m with P(|K| ≤ m) ≥ 1 − risk, in the data's unit."""
    reach = noise.error(risk)
    if reach <= _LONGEST:
        below, above = numbers - int(reach), numbers + int(reach)
    else:
        # Longer than the lattice is wide: every number that can be measured is possible.
        below, above = np.full_like(numbers, -LIMIT), np.full_like(numbers, LIMIT)
    return scaled(below, unit, -1), scaled(above, unit, +1)


def decimals(step: Fraction) -> int | None:
    """How many digits after the point a multiple of `step` needs; None where no number of digits is enough."""
    rest, twos, fives = step.denominator, 0, 0
    while rest % 2 == 0:
        rest, twos = rest // 2, twos + 1
    while rest % 5 == 0:
        rest, fives = rest // 5, fives + 1
    return max(twos, fives) if rest == 1 else None


def exact_decimal(number: Fraction, scale: int) -> Decimal:
    """`number`, a multiple of 10^−scale, as a decimal with all its digits, whatever the context's precision."""
    units = int(number * 10**scale)
    return Decimal((int(units < 0), tuple(int(digit) for digit in str(abs(units))), -scale))


def typed(steps: list[int], step: Fraction) -> tuple[str, int, list[Any]]:
    """The column's type, its digits and its values."""
    if step.denominator == 1:
        return "integer", 0, steps if step == 1 else [k * step.numerator for k in steps]
    scale = decimals(step)
    if scale is not None and 2**62 * step * 10**scale < 10**_DIGITS:
        return "decimal", scale, [exact_decimal(k * step, scale) for k in steps]
    return "float", 0, [float(k * step) for k in steps]
