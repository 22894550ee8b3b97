"""Trade-off functions that are polygons, exactly: validation, evaluation, and the steps of the group map."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Final, TypeAlias

from quincunx.errors import ParameterError, kind_of
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
        raise ParameterError("expected at least two vertices (α, f(α))", where=where, got=kind_of(points))
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


def product(f: Vertices, g: Vertices) -> Vertices:
    """f ⊗ g: the trade-off function of two releases together, of which one allows f and the other g.

    A polygon f is the trade-off function of two finite laws, with one output for each edge: probability Δα under the
    null and −Δf under the alternative, and 1 − f(0) for what only the alternative gives. The product's is that of the
    products of these laws (Dong, Roth and Su 2022, Definition 3.1), which bounds adaptive releases too (Theorem 3.2).
    """
    pairs = [(a * c, b * d) for a, b in _outputs(f) for c, d in _outputs(g)]
    by_ratio = sorted(pairs, key=lambda pair: (1, -pair[1] / pair[0]) if pair[0] else (0, Fraction(0)))
    points: list[tuple[Fraction, Fraction]] = [(Fraction(0), Fraction(1))]
    for level, power_ in by_ratio:
        here = (points[-1][0] + level, points[-1][1] - power_)
        if not level:
            points[-1] = here
            continue
        # Outputs of equal ratio continue an edge; only its end is a vertex.
        if len(points) > 1 and _turn(points[-2], points[-1], here) == 0:
            points.pop()
        points.append(here)
    return vertices(points)


def _outputs(f: Vertices) -> list[tuple[Fraction, Fraction]]:
    edges = [(c - a, b - d) for (a, b), (c, d) in pairwise(f)]
    return [*([(Fraction(0), 1 - f[0][1])] if f[0][1] < 1 else []), *edges]


def _turn(a: tuple[Fraction, Fraction], b: tuple[Fraction, Fraction], c: tuple[Fraction, Fraction]) -> Fraction:
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])
