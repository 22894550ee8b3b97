"""Trade-off functions that are polygons, exactly: validation, evaluation, and the steps of the group map."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Final, TypeAlias

from quincunx.errors import ParameterError
from quincunx.numbers import probability

Vertices: TypeAlias = tuple[tuple[Fraction, Fraction], ...]

_MOST_STEPS: Final = 1_000
_MOST_BITS: Final = 4_096


def vertices(points: object) -> Vertices:
    """The vertices (α, f(α)) of a trade-off function, checked.

    f is the polygon through them: α from 0 to 1 rising, f convex, f(α) ≤ 1 − α, f(1) = 0; f then falls everywhere it is
    positive. f(0) < 1 is allowed: it is what an additive δ does.
    """
    where = "points"
    if not isinstance(points, Sequence) or isinstance(points, str | bytes) or len(points) < 2:
        raise ParameterError("expected at least two vertices (α, f(α))", where=where, got=type(points).__name__)
    if any(not isinstance(v, Sequence) or isinstance(v, str | bytes) or len(v) != 2 for v in points):
        raise ParameterError("every vertex is a pair (α, f(α))", where=where)
    pairs = tuple((probability(a, where), probability(b, where)) for a, b in points)
    if pairs[0][0] != 0 or pairs[-1] != (Fraction(1), Fraction(0)):
        hint = "Start at (0, f(0)) and end at (1, 0)."
        raise ParameterError("a trade-off function is given from α = 0 to (1, 0)", where=where, hint=hint)
    if any(a >= b for (a, _), (b, _) in pairwise(pairs)):
        raise ParameterError("the levels α must rise strictly", where=where)
    if any(b > 1 - a for a, b in pairs):
        raise ParameterError("a trade-off function is at most 1 − α", where=where)
    slopes = [(d - b) / (c - a) for (a, b), (c, d) in pairwise(pairs)]
    if any(s > t for s, t in pairwise(slopes)):
        raise ParameterError("a trade-off function is convex: its slopes never fall", where=where)
    return pairs


def power(f: Vertices, level: Fraction) -> Fraction:
    """1 − f(level): the most powerful test that f allows at `level`."""
    for (a, b), (c, d) in pairwise(f):
        if level <= c:
            return 1 - (b + (d - b) * (level - a) / (c - a))
    return Fraction(1)


def steps(f: Vertices, level: Fraction, target: Fraction, *, up: bool) -> int | None:
    """The smallest k with (1 − f)^{∘k}(level) ≥ target: a bound from above (`up`) or from below; None is infinite.

    The iterates are rounded to 4,096 bits, down for `up` and up otherwise, so that long searches stay bounded. From
    above, None also means "not found in 1,000 steps"; from below, 1,001 is returned in that case.
    """
    # Where f > 0 below 1, the iterates of a level below 1 stay below 1 for ever.
    if target == 1 and level < 1 and all(b > 0 for a, b in f if a < 1):
        return None
    for k in range(_MOST_STEPS + 1):
        if level >= target:
            return k
        following = power(f, level)
        if following == level:
            return None
        level = _rounded(following, up=up)
    return None if up else _MOST_STEPS + 1


def _rounded(x: Fraction, *, up: bool) -> Fraction:
    if x.denominator.bit_length() <= _MOST_BITS:
        return x
    scaled = (x.numerator << _MOST_BITS) // x.denominator
    return Fraction(scaled + (0 if up else 1), 1 << _MOST_BITS)
