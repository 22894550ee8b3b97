"""The power curve of two laws: every event-wise standard is a condition on its vertices.

With level = Q(S) and power = P(S), ε, δ, μ, total variation and f-DP all bound the power at each level, so each is
decided at the vertices of one concave polygon. For balls the vertices may be undecided; then the curve comes with
points that lie on it and points that dominate it, and both ends of an answer stay certified.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from quincunx.numbers import Ball, ball, float_below
from quincunx.spec.divergence import INFINITE, ZERO, Number, as_rational, larger


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """A point (level, power) = (Q(S), P(S)), with the complements 1 − Q(S) and 1 − P(S) computed on their own.

    `size`: S is the first `size` outputs in the curve's order.
    """

    level: Number
    power: Number
    level_rest: Number
    power_rest: Number
    size: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Curve:
    """The boundary of {(Q(S), P(S))}: the power P(S) of the best test at level Q(S), a concave polygon.

    A condition "the curve lies below a concave function" holds if and only if it holds at the vertices.
    `order`: outputs by falling P/Q, those with both 0 left out. `attained`: points of actual events.
    `dominating`: points such that a concave bound above them is above the curve. For exact laws the two agree and are
    the vertices; (0, 0) and (1, 1) are left out, every standard allows them.
    """

    order: tuple[int, ...]
    attained: tuple[Point, ...]
    dominating: tuple[Point, ...]

    def event(self, point: Point) -> tuple[int, ...]:
        """The outputs of the event behind an attained point, in increasing order."""
        return tuple(sorted(self.order[: point.size]))


def curve_of(p: Sequence[Number], q: Sequence[Number], exact: bool) -> Curve:
    """The power curve of testing Q (null) against P, by the Neyman–Pearson lemma: outputs by falling P/Q."""
    if exact:
        return _exact_curve([as_rational(x) for x in p], [as_rational(x) for x in q])
    return _ball_curve([ball(x) for x in p], [ball(x) for x in q])


def whole(numbers: Sequence[Fraction]) -> tuple[list[int], int]:
    """Rationals as whole numbers over one denominator, whose sums need no common divisors."""
    unit = math.lcm(*(x.denominator for x in numbers))
    return [x.numerator * (unit // x.denominator) for x in numbers], unit


def _exact_curve(p: Sequence[Fraction], q: Sequence[Fraction]) -> Curve:
    both, unit = whole((*p, *q))
    tops, bottoms = both[: len(p)], both[len(p) :]
    present = [i for i in range(len(p)) if tops[i] or bottoms[i]]
    ratio = {i: Fraction(tops[i], bottoms[i]) for i in present if bottoms[i]}
    # (0, 0) sorts the outputs impossible under Q first; −P/Q sorts the others.
    order = sorted(present, key=lambda i: (1, -ratio[i]) if i in ratio else (0, Fraction(0)))
    points, power, level = [], 0, 0
    for size, i in enumerate(order, 1):
        power, level = power + tops[i], level + bottoms[i]
        # Outputs of equal ratio lie on one edge; only its end is a vertex.
        if size < len(order) and ratio.get(i) != ratio.get(order[size]):
            a, b, c, d = (Fraction(x, unit) for x in (level, power, unit - level, unit - power))
            points.append(Point(level=a, power=b, level_rest=c, power_rest=d, size=size))
    return Curve(order=tuple(order), attained=tuple(points), dominating=tuple(points))


def _ball_curve(tops: Sequence[Ball], bottoms: Sequence[Ball]) -> Curve:
    present = [i for i in range(len(tops)) if not (tops[i].is_zero() and bottoms[i].is_zero())]
    low = {i: tops[i].lower() / bottoms[i].upper() for i in present if not bottoms[i].is_zero()}
    high = {i: tops[i].upper() / bottoms[i].lower() for i in present if bottoms[i] > 0}
    least = {i: low[i].lower() if i in low else INFINITE for i in present}
    most = {i: high[i].upper() if i in high else INFINITE for i in present}
    middle = {i: float_below(least[i]) for i in present}
    order = sorted(present, key=lambda i: -middle[i])
    prefix = [(ZERO, ZERO)]
    for i in order:
        prefix.append((prefix[-1][0] + bottoms[i], prefix[-1][1] + tops[i]))
    suffix = [(ZERO, ZERO)]
    for i in reversed(order):
        suffix.append((suffix[-1][0] + bottoms[i], suffix[-1][1] + tops[i]))
    suffix.reverse()

    def at(size: int) -> Point:
        (level, power), (level_rest, power_rest) = prefix[size], suffix[size]
        return Point(level=level, power=power, level_rest=level_rest, power_rest=power_rest, size=size)

    attained = [at(size) for size in range(1, len(order))]
    dominating: list[Point] = []
    for start, end in _clusters(order, least, most):
        if end < len(order):
            dominating.append(at(end))
        if end - start > 1:
            dominating.extend(_roof(at(start), at(end), order[start:end], least, most))
    return Curve(order=tuple(order), attained=tuple(attained), dominating=tuple(dominating))


def _clusters(order: Sequence[int], least: dict[int, Ball], most: dict[int, Ball]) -> Iterator[tuple[int, int]]:
    # The largest ranges of `order` whose true order of P/Q is undecided: a cut needs every ratio before it to be
    # certainly at least every ratio after it.
    count = len(order)
    top_after = [ZERO] * (count + 1)
    for k in range(count - 1, -1, -1):
        top_after[k] = larger([most[order[k]]], floor=top_after[k + 1])
    start, bottom = 0, INFINITE
    for k in range(count):
        here = least[order[k]]
        bottom = here if here < bottom else bottom
        both_infinite = not bottom.is_finite() and not top_after[k + 1].is_finite()
        if k + 1 == count or (bottom >= top_after[k + 1] and not both_infinite):
            yield start, k + 1
            start, bottom = k + 1, INFINITE


def _roof(
    start: Point, end: Point, members: Sequence[int], least: dict[int, Ball], most: dict[int, Ball]
) -> Iterator[Point]:
    # Between `start` and `end` the curve's slope is in [down, up]. With X half the cluster's level, the curve is below
    # start + up·x for x ≤ X and below end − down·(width − x) for x ≥ X: two segments, four ends, two of them new.
    up = larger([most[i] for i in members])
    down = least[members[0]]
    for i in members:
        down = least[i] if least[i] < down else down
    width = ball(end.level) - ball(start.level)
    half = width / 2
    level = ball(start.level) + half
    level_rest = ball(end.level_rest) + half
    climb = ball(start.power) + up * half
    yield Point(level=level, power=climb, level_rest=level_rest, power_rest=1 - climb, size=end.size)
    rest = ball(end.power_rest) + down * half
    yield Point(level=level, power=1 - rest, level_rest=level_rest, power_rest=rest, size=end.size)
