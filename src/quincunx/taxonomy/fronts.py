"""Whole fronts: every (ε, δ) at once, and the curve of errors, over many pairs of laws (fronts.md)."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Final

import numpy as np

from quincunx.spec import by_ratio, curve_of, whole
from quincunx.taxonomy.case import Case, floats

# Far above the error of a float sum of probabilities, far below what matters.
_NEAR: Final = 1e-9
Point = tuple[Fraction, Fraction]


def _likely(cases: Sequence[Case]) -> list[int]:
    """The cases whose power curve comes within 1e-9 of the hull of all; the others are certainly below it."""
    table = floats(cases) if len(cases) > 16 else None
    if table is None:
        return list(range(len(cases)))
    laws, pairs = table
    first, second = np.array(pairs).T
    p, q = laws[first], laws[second]
    with np.errstate(all="ignore"):
        ratio = np.where(p > 0, np.where(q > 0, p / np.where(q > 0, q, 1.0), np.inf), -1.0)
    order = np.argsort(-ratio, axis=1, kind="stable")
    power = np.cumsum(np.take_along_axis(p, order, 1), axis=1)
    level = np.cumsum(np.take_along_axis(q, order, 1), axis=1)
    # The hull's height at some levels: the best power of any single case there, on the chords of its own curve.
    grid = np.unique(np.concatenate([np.linspace(0, 1, 65), np.geomspace(1e-12, 1, 65)]))
    heights = np.array([np.interp(grid, [0.0, *level[i], 1.0], [0.0, *power[i], 1.0]) for i in range(len(cases))])
    hull = _hull([(Fraction(float(x)), Fraction(float(y))) for x, y in zip(grid, heights.max(axis=0), strict=True)])
    xs, ys = [float(x) for x, _ in hull], [float(y) for _, y in hull]
    top = np.interp(level, xs, ys)
    # What only the first law can give lifts the curve at level 0, where levels of the grid do not look.
    start = np.where(level == 0, power, 0.0).max(axis=1)
    # Every curve ends at (1, 1) with its last possible output: that point is on the hull whoever it belongs to.
    possible = np.take_along_axis((p > 0) | (q > 0), order, 1)
    inner = np.arange(p.shape[1]) < possible.shape[1] - 1 - possible[:, ::-1].argmax(axis=1)[:, None]
    kept = (np.where(inner, power - top, -1.0).max(axis=1) > -_NEAR) | ((start > 0) & (start > ys[0] - _NEAR))
    return [int(i) for i in np.flatnonzero(kept)]


def _hull(points: Sequence[Point]) -> list[Point]:
    """The upper hull from level 0 to level 1, by rising level."""
    best: dict[Fraction, Fraction] = {}
    for level, power in points:
        best[level] = max(power, best.get(level, power))
    kept: list[Point] = []
    for point in sorted(best.items()):
        while len(kept) > 1 and _turn(kept[-2], kept[-1], point) >= 0:
            kept.pop()
        kept.append(point)
    return kept


def _turn(a: Point, b: Point, c: Point) -> Fraction:
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])


def hull(cases: Sequence[Case]) -> list[tuple[Fraction, Fraction, int]]:
    """The vertices (level, power) of the least concave curve above all power curves, with a case that reaches each."""
    owner: dict[Point, int] = {(Fraction(0), Fraction(0)): 0, (Fraction(1), Fraction(1)): 0}
    for i in _likely(cases):
        for point in curve_of(cases[i].p, cases[i].q, True).attained:
            owner.setdefault((Fraction(point.level), Fraction(point.power)), i)  # type: ignore[arg-type]
    return [(level, power, owner[level, power]) for level, power in _hull(list(owner))]


def sticks(cases: Sequence[Case]) -> list[tuple[Fraction, Fraction, int]]:
    """(e^ε, δ, case) at every corner of δ(ε), from e^ε = 1 on; δ is the hockey stick, the largest P(S) − e^ε·Q(S).

    δ at a factor t is the height of the line of slope t above the hull, so the corners are the slopes of its edges.
    After the last corner δ is constant: 0, or what only one of two laws can give.
    """
    corners = hull(cases)
    slopes = {Fraction(1)}
    for (a, b, _), (c, d, _) in pairwise(corners):
        if c > a and (d - b) / (c - a) > 1:
            slopes.add((d - b) / (c - a))
    found = []
    for t in sorted(slopes):
        delta, case = max((power - t * level, case) for level, power, case in corners)
        found.append((t, delta, case))
    return found


def tails(cases: Sequence[Case]) -> list[tuple[Fraction, Fraction, int]]:
    """(e^ε, δ, case) at every step of the largest P(P/Q > e^ε), from e^ε = 1 on: δ from this factor to the next."""
    points: list[tuple[Fraction | None, Fraction, int]] = []
    for i in _high_tails(cases):
        case = cases[i]
        both, unit = whole((*case.p, *case.q))
        tops, bottoms = both[: len(case.p)], both[len(case.p) :]
        mass = 0
        order = by_ratio(case.p, case.q)
        for o, after in zip(order, [*order[1:], None], strict=True):
            mass += tops[o]
            same = after is not None and tops[after] * bottoms[o] == tops[o] * bottoms[after]
            if not same and tops[o] > bottoms[o]:
                points.append((Fraction(tops[o], bottoms[o]) if bottoms[o] else None, Fraction(mass, unit), i))
    factors = sorted({Fraction(1), *(r for r, _, _ in points if r is not None)})
    points.sort(key=lambda x: (x[0] is not None, -(x[0] or 0)))
    found, best, place = [], (Fraction(0), 0), 0
    for t in reversed(factors):
        while place < len(points) and (points[place][0] is None or points[place][0] > t):  # type: ignore[operator]
            best = max(best, points[place][1:])
            place += 1
        found.append((t, *best))
    found.reverse()
    return [row for i, row in enumerate(found) if i == 0 or row[1] < found[i - 1][1]]


def _high_tails(cases: Sequence[Case]) -> list[int]:
    """The cases whose tail comes within 1e-9 of the largest at some factor."""
    table = floats(cases) if len(cases) > 16 else None
    if table is None:
        return list(range(len(cases)))
    laws, pairs = table
    first, second = np.array(pairs).T
    p, q = laws[first], laws[second]
    with np.errstate(all="ignore"):
        ratio = np.where(p > 0, np.where(q > 0, p / np.where(q > 0, q, 1.0), np.inf), -1.0)
    order = np.argsort(-ratio, axis=1, kind="stable")
    mass, falling = np.cumsum(np.take_along_axis(p, order, 1), axis=1), np.take_along_axis(ratio, order, 1)
    flat_ratio, flat_mass = falling.ravel(), mass.ravel()
    by = np.lexsort((-flat_mass, -flat_ratio))
    # The largest mass at clearly larger ratios: a point matters if its mass is not clearly below it.
    largest = np.maximum.accumulate(flat_mass[by])
    keys = -flat_ratio[by]
    before = np.searchsorted(keys, -(flat_ratio * (1 + _NEAR)), side="left") - 1
    rival = np.where(before >= 0, largest[np.maximum(before, 0)], 0.0)
    kept = ((flat_mass > rival - _NEAR) & (flat_ratio > 1 - _NEAR)).reshape(mass.shape)
    return [int(i) for i in np.flatnonzero(kept.any(axis=1))]
