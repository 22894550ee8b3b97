"""Interval arithmetic on exact rationals: the smallest bounds that are proved for a result; None where none is.

Bounds are those of real arithmetic. An engine that computes in binary floating point may leave them by a rounding
error, so values are clipped once more where they enter a sum.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction
from typing import TypeAlias

End: TypeAlias = Fraction | None
Bounds: TypeAlias = tuple[End, End]

# Results proved to lie within ±2^126 fit the engine's widest integer with a bit to spare.
LARGEST = 2**126


def add(a: Bounds, b: Bounds) -> Bounds:
    """Bounds of x + y."""
    return (_sum(a[0], b[0]), _sum(a[1], b[1]))


def negate(a: Bounds) -> Bounds:
    """Bounds of −x."""
    return (None if a[1] is None else -a[1], None if a[0] is None else -a[0])


def multiply(a: Bounds, b: Bounds) -> Bounds:
    """Bounds of x·y: the extreme products of ends; only where all four are proved."""
    if None in a or None in b:
        return (None, None)
    products = [x * y for x in a for y in b if x is not None and y is not None]
    return (min(products), max(products))


def divide(a: Bounds, b: Bounds) -> Bounds:
    """Bounds of x/y where y is proved to keep away from zero."""
    if None in a or None in b or not excludes_zero(b):
        return (None, None)
    quotients = [x / y for x in a for y in b if x is not None and y]
    return (min(quotients), max(quotients))


def whole_quotient(a: Bounds, b: Bounds) -> Bounds:
    """Bounds of x // y for whole numbers, which cuts toward zero; |x // y| ≤ |x| whatever y is, as |y| ≥ 1."""
    if None in a:
        return (None, None)
    if excludes_zero(b) and None not in b:
        low, high = divide(a, b)
        return (_truncated(low), _truncated(high))
    largest = max(abs(end) for end in a if end is not None)
    return (-largest, largest)


def remainder(a: Bounds, b: Bounds, gap: Fraction) -> Bounds:
    """Bounds of x % y: the sign of x, |x % y| ≤ |x| and |x % y| ≤ |y| − gap (gap: 1 for whole numbers, else 0)."""
    reach: list[Fraction] = []
    if None not in b:
        reach.append(max(max(abs(end) for end in b if end is not None) - gap, Fraction(0)))
    positive = list(reach) + ([max(a[1], Fraction(0))] if a[1] is not None else [])
    negative = list(reach) + ([max(-a[0], Fraction(0))] if a[0] is not None else [])
    return (-min(negative) if negative else None, min(positive) if positive else None)


def magnitude(a: Bounds) -> Bounds:
    """Bounds of |x|."""
    low, high = a
    largest = None if low is None or high is None else max(abs(low), abs(high))
    if low is not None and low >= 0:
        return (low, high)
    if high is not None and high <= 0:
        return (-high, None if low is None else -low)
    return (Fraction(0), largest)


def union(parts: Iterable[Bounds]) -> Bounds:
    """Bounds that hold for whichever part is chosen."""
    parts = tuple(parts)
    return (lowest(part[0] for part in parts), highest(part[1] for part in parts))


def outward(a: Bounds, step: Fraction) -> Bounds:
    """Bounds of x rounded in any direction to a multiple of `step`."""
    low, high = a
    return (
        None if low is None else math.floor(low / step) * step,
        None if high is None else math.ceil(high / step) * step,
    )


def lowest(ends: Iterable[End]) -> End:
    """The least of several lower ends; None where one is not proved."""
    known = tuple(ends)
    proved = [end for end in known if end is not None]
    return min(proved) if proved and len(proved) == len(known) else None


def highest(ends: Iterable[End]) -> End:
    """The greatest of several upper ends; None where one is not proved."""
    known = tuple(ends)
    proved = [end for end in known if end is not None]
    return max(proved) if proved and len(proved) == len(known) else None


def excludes_zero(a: Bounds) -> bool:
    """Whether zero is proved impossible."""
    return (a[0] is not None and a[0] > 0) or (a[1] is not None and a[1] < 0)


def fits(a: Bounds) -> bool:
    """Whether the result is proved to fit the engine's widest integer."""
    return a[0] is not None and a[1] is not None and a[0] >= -LARGEST and a[1] <= LARGEST


def common_step(steps: Iterable[Fraction | None]) -> Fraction | None:
    """The greatest step of which all are whole multiples: gcd(a/b, c/d) = gcd(a·d, c·b)/(b·d)."""
    found: Fraction | None = None
    for step in steps:
        if step is None:
            return None
        if found is None:
            found = step
        else:
            top = math.gcd(found.numerator * step.denominator, step.numerator * found.denominator)
            found = Fraction(top, found.denominator * step.denominator)
    return found


def _sum(a: End, b: End) -> End:
    return None if a is None or b is None else a + b


def _truncated(end: End) -> End:
    return None if end is None else Fraction(math.trunc(end))
