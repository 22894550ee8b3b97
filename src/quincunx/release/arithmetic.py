"""Arithmetic on aggregates: what is known of an output that is computed from several published numbers.

Each range holds the value, an enclosure, and the slope by every measure's noise. Operators that are not in the table
have no interval; the column's note says so.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, TypeAlias

import numpy as np

from quincunx.table import Call, Expression, Floats, GroupKey, Literal, Measured


@dataclass(frozen=True, slots=True, kw_only=True)
class Range:
    """One number for each row: value, low ≤ true ≤ high (NaN: not known), slopes: measure → ∂value/∂noise."""

    value: Floats
    low: Floats
    high: Floats
    slopes: Mapping[int, Floats]


Rule: TypeAlias = Callable[..., Range]


def derived(
    expression: Expression,
    measured: Mapping[int, Range],
    keys: Mapping[int, Floats],
    known: Mapping[Expression, Range] = MappingProxyType({}),
) -> Range | None:
    """The range of an expression over aggregates and keys; None where an operator has none. known: of parts of it."""
    if expression in known:
        return known[expression]
    size = len(next(iter((*measured.values(), *known.values()))).value)
    if isinstance(expression, Measured):
        return measured[expression.index]
    if isinstance(expression, GroupKey):
        return _point(keys[expression.index]) if expression.index in keys else None
    if isinstance(expression, Literal):
        number = expression.value
        numeric = isinstance(number, int) or hasattr(number, "denominator")
        return _point(np.full(size, float(number))) if numeric and number is not None else None  # type: ignore[arg-type]
    if not isinstance(expression, Call) or expression.operator not in RULES:
        return None
    parts = [derived(part, measured, keys, known) for part in expression.arguments]
    known_parts = [part for part in parts if part is not None]
    if len(known_parts) < len(parts):
        return None
    with np.errstate(all="ignore"):
        return RULES[expression.operator](*known_parts)


def _point(values: Floats) -> Range:
    return Range(value=values, low=values, high=values, slopes={})


def _combined(a: Range, b: Range, by_a: Floats | float, by_b: Floats | float) -> dict[int, Floats]:
    zero = np.zeros(a.value.shape)
    return {
        measure: a.slopes.get(measure, zero) * by_a + b.slopes.get(measure, zero) * by_b
        for measure in {*a.slopes, *b.slopes}
    }


def _outward(low: Floats, high: Floats) -> tuple[Floats, Floats]:
    return np.nextafter(low, -np.inf), np.nextafter(high, np.inf)


def _add(a: Range, b: Range) -> Range:
    low, high = _outward(a.low + b.low, a.high + b.high)
    return Range(value=a.value + b.value, low=low, high=high, slopes=_combined(a, b, 1.0, 1.0))


def _negate(a: Range) -> Range:
    return Range(value=-a.value, low=-a.high, high=-a.low, slopes={m: -slope for m, slope in a.slopes.items()})


def _multiply(a: Range, b: Range) -> Range:
    ends = np.stack([x * y for x in (a.low, a.high) for y in (b.low, b.high)])
    low, high = _outward(ends.min(axis=0), ends.max(axis=0))
    return Range(value=a.value * b.value, low=low, high=high, slopes=_combined(a, b, b.value, a.value))


def _divide(a: Range, b: Range) -> Range:
    ends = np.stack([x / y for x in (a.low, a.high) for y in (b.low, b.high)])
    # A divisor that may be zero leaves the quotient without bounds.
    apart = (b.low > 0) | (b.high < 0)
    low, high = _outward(np.where(apart, ends.min(axis=0), np.nan), np.where(apart, ends.max(axis=0), np.nan))
    value = a.value / b.value
    return Range(value=value, low=low, high=high, slopes=_combined(a, b, 1 / b.value, -value / b.value))


def _round(a: Range, digits: Range) -> Range:
    # To the nearest multiple of 10^−digits: no end moves by more than half of it, however halves are broken.
    half = 0.5 * 10.0**-digits.value
    low, high = _outward(a.low - half, a.high + half)
    return Range(value=a.value, low=low, high=high, slopes=a.slopes)


def _clamp(a: Range, low: Range, high: Range) -> Range:
    ends = [np.clip(part, low.value, high.value) for part in (a.value, a.low, a.high)]
    inside = (a.value > low.value) & (a.value < high.value)
    slopes = {measure: np.where(inside, slope, 0.0) for measure, slope in a.slopes.items()}
    return Range(value=ends[0], low=ends[1], high=ends[2], slopes=slopes)


def _nullif(a: Range, b: Range) -> Range:  # noqa: ARG001 - where it is not NULL it is the first argument
    return a


RULES: Final[Mapping[str, Rule]] = {
    "add": _add,
    "subtract": lambda a, b: _add(a, _negate(b)),
    "negate": _negate,
    "multiply": _multiply,
    "divide": _divide,
    "round": _round,
    "clamp": _clamp,
    "nullif": _nullif,
}
