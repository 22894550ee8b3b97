"""REGR_SLOPE(y, x): how much y grows with x, by least squares. See slope.md."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sqlglot import exp

from quincunx.numbers import float_above
from quincunx.table.aggregates import centred
from quincunx.table.aggregates.call import Call, Form
from quincunx.table.aggregates.estimate import Estimate, Floats, Numbers, Part, scaled
from quincunx.table.aggregates.linear import Law, law
from quincunx.table.aggregates.pair import SHARE, Pair, Rectangles, Sums, both, published
from quincunx.table.aggregates.profile import SLACK, end
from quincunx.table.aggregates.term import Lattice, Term
from quincunx.table.interval import Bounds


@dataclass(frozen=True, slots=True, kw_only=True)
class Slope(Pair):
    """The slope of the line through the points (x, y) that has the least squares."""

    kind: ClassVar[str] = "slope"
    noun: ClassVar[str] = "slope"
    nodes: ClassVar[Mapping[type[exp.Expr], frozenset[str]]] = {exp.RegrSlope: frozenset({"this", "expression"})}
    names: ClassVar[tuple[str, ...]] = ("REGR_SLOPE",)
    forms: ClassVar[tuple[Form, ...]] = (Form(name="REGR_SLOPE", written="REGR_SLOPE({0}, -({0}))", needs="bounded"),)
    roles: ClassVar[tuple[str, ...]] = ("products", "squares of x", "sum of y", "sum of x", "count")

    @classmethod
    def read(cls, call: Call) -> Self | None:
        y, x = both(call, cls.names[0])
        return cls(argument=y, other=x, where=call.where)

    def terms(self) -> tuple[Term, ...]:
        return regression(self, self.names[0])

    def labels(self) -> tuple[str, ...]:
        return "products", "squares", "AVG", "AVG", "COUNT(x)"

    def bounds(self, lattices: Sequence[Lattice]) -> Bounds:
        steepest = limit(lattices)
        return -steepest, steepest

    def estimate(self, numbers: Sequence[Numbers], parts: Sequence[Part], risk: Fraction) -> Estimate:
        return Line.of(numbers, parts, risk).slope


def regression(pair: Pair, called: str) -> tuple[Term, ...]:
    """What a line is measured by."""
    pair.check(called)
    y, x, where = pair.argument, pair.other, pair.where
    of_y, of_x = centred.lattice(y, called), centred.lattice(x, called)
    return (
        centred.products(y, of_y, x, of_x, where),
        centred.squares(x, of_x, where, beside=y),
        centred.total(y, of_y, where, beside=x),
        centred.total(x, of_x, where, beside=y),
        centred.together(y, x, where),
    )


def limit(lattices: Sequence[Lattice]) -> Fraction:
    """No line is steeper than the range of y over one step of x: a slope is a mean of those between two points."""
    return 2 * centred.half(lattices[2]) / lattices[3].step


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """The slope with its interval, and the sums that it is read from. spread: N·Var(x), from the noisy sums."""

    slope: Estimate
    sums: Sums
    spread: Floats
    settled: NDArray[np.bool_]

    @classmethod
    def of(cls, numbers: Sequence[Numbers], parts: Sequence[Part], risk: Fraction) -> Line:
        """By the profile of Ĉ − b·Q̂, noise alone at the true b and means."""
        steepest = float_above(limit([part.lattice for part in parts]))
        middle = float(parts[1].lattice.centre * parts[1].lattice.step)
        noise, squares = law(parts, risk * (1 - 2 * SHARE)), scaled(numbers[1], parts[1].unit, 0)
        with np.errstate(all="ignore"):
            sums = Sums.of(numbers, parts, risk)
            x, y, count = sums.x.near, sums.y.near, sums.count
            spread = squares - 2 * x * sums.of_x + (x**2 + middle) * count
            value = np.where(spread > 0, np.clip(sums.covariance * count / spread, -steepest, steepest), 0.0)
            by_count = x * y - value * (x**2 + middle)
            slopes = [each / spread for each in (1.0, -value, -x, 2 * value * x - y, by_count)]
            form = _Form(found=sums.pieces(), squares=squares, middle=middle)
            settled = sums.settled & form.decided(noise)
            low, high = form.ends(noise, steepest)
        slope = published(value, low, high, slopes, settled, steepest)
        return cls(slope=slope, sums=sums, spread=spread, settled=settled)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Form:
    """A(μ_x, μ_y) − b·Q(μ_x), Q = T − 2μ_x·S_x + (μ_x² + m)·N, over rectangles of means."""

    found: Rectangles
    squares: Floats
    middle: float

    @property
    def _spread(self) -> tuple[Floats, Floats]:
        """The least and the largest Q: a parabola in μ_x that opens upwards."""
        sums, (one, two) = self.found.sums, self.found.x
        values = [
            self.squares - 2 * mu * sums.of_x + (mu**2 + self.middle) * sums.count
            for mu in (one, two, np.clip(sums.of_x / sums.count, one, two))
        ]
        return np.minimum.reduce(values), np.maximum(values[0], values[1])

    def decided(self, noise: Law) -> NDArray[np.bool_]:
        """Where Q is beyond what q can grow by for each unit of b, whatever the means are."""
        edge = self.found.edges[0]
        growth = noise.reach(1) + 2 * edge * noise.reach(3) + (edge**2 + self.middle) * noise.reach(4)
        return np.asarray((self._spread[0] > growth * (1 + 8 * SLACK)).all(axis=0))

    def ends(self, noise: Law, steepest: float) -> tuple[Floats, Floats]:
        """The smallest and the largest b within ±steepest that is possible for some means."""
        found, (edge, _) = self.found, self.found.edges
        (least, most), (narrow, wide) = found.products, self._spread
        bend = (found.x[1] - found.x[0]) ** 2 / 4
        size = found.size
        spread_size = np.abs(self.squares) + 2 * edge * np.abs(found.sums.of_x)
        spread_size = spread_size + (edge**2 + self.middle) * np.abs(found.sums.count)

        def possible(b: Floats) -> NDArray[np.bool_]:
            ends = b * narrow, b * wide
            away = np.maximum(least - np.maximum(*ends), np.minimum(*ends) - most)
            slack = 8 * SLACK * (size + np.abs(b) * spread_size)
            by_x = np.maximum.reduce([np.abs(2 * b * x - y) for x, y in found.corners])
            # A parabola is beyond its chord by at most a quarter of the square of the length.
            by_count = np.maximum.reduce([np.abs(x * y - b * (x**2 + self.middle)) for x, y in found.corners])
            by_count = by_count + np.abs(b) * bend
            return noise.possible(np.maximum(away - slack, 0.0), 1.0, np.abs(b), edge, by_x, by_count)

        side = np.full(least.shape, steepest)
        starts = [one / two for one in (least, most) for two in (narrow, wide)]
        low = end(possible, np.maximum(np.minimum.reduce(starts), -side), -side)
        high = end(possible, np.minimum(np.maximum.reduce(starts), side), side)
        return low.min(axis=0), high.max(axis=0)
