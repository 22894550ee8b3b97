"""Aggregates of two arguments, y and x: how they are read, and what they have in common. See pair.md."""

from __future__ import annotations

from abc import ABC
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

import numpy as np
from numpy.typing import NDArray

from quincunx.errors import QueryError
from quincunx.mechanisms import LIMIT
from quincunx.numbers import amount, near
from quincunx.table import canonical
from quincunx.table.aggregates.aggregate import Aggregate
from quincunx.table.aggregates.call import Call
from quincunx.table.aggregates.estimate import Estimate, Expected, Floats, Numbers, Part, scaled
from quincunx.table.aggregates.mean import Ratio, of_ratio
from quincunx.table.aggregates.number import number
from quincunx.table.aggregates.profile import pieces
from quincunx.table.canonical import Json
from quincunx.table.expression import Expression
from quincunx.table.typing.facts import Facts

# Of the risk, a twentieth is that of each mean; into as many pieces the interval of each is divided.
SHARE: Final = Fraction(1, 20)
_PIECES: Final = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair(Aggregate, ABC):
    """A statistic of y (the argument) and x (the other), of the rows in which neither is NULL."""

    argument: Expression
    other: Expression

    def result(self) -> Facts:
        return Facts(type="decimal", nullable=False)

    def check(self, called: str) -> None:
        """Refuse two arguments that are one: their sums would be one measure, and its noise no two noises."""
        if self.argument == self.other:
            hint = "Write VAR_POP(x) or VARIANCE(x)."
            raise QueryError(f"both arguments of {called} are the same", where=called, hint=hint)

    def expected(self, parts: Sequence[Part], risk: Fraction, rows: int) -> Expected:
        noisy = [np.array([0], dtype=np.int64) for _ in parts[:-1]]
        noisy.append(np.array([int(rows / parts[-1].unit)], dtype=np.int64))
        found = self.estimate(noisy, parts, risk)
        value, low, high = (float(each[0]) for each in (found.near, found.low, found.high))
        slopes = zip(found.slopes, parts, strict=True)
        variance = sum(float(slope[0]) ** 2 * part.noise.variance * float(part.unit) ** 2 for slope, part in slopes)
        means = " and ".join(amount(part.lattice.centre * part.lattice.step) for part in parts[-3:-1])
        about = f"means are about {means} and whose {self.noun} is about {near(value, 4)}"
        se = None if np.isnan(variance) else float(np.sqrt(variance))
        assumed = f"assumed: a group of {rows:,} rows whose {about}"
        return Expected(half_width=max(high - value, value - low), se=se, assumed=assumed)

    def canonical(self) -> Json:
        """What names it in a ledger."""
        argument, other, where = (canonical.part(each) for each in (self.argument, self.other, self.where))
        return canonical.node(self.tag, kind=self.kind, argument=argument, other=other, where=where)


def both(call: Call, called: str) -> tuple[Expression, Expression]:
    """The two arguments of a call, as numbers."""
    return number(call, called), number(call, called, call.node.args["expression"])


@dataclass(frozen=True, slots=True, kw_only=True)
class Sums:
    """The noisy sums of a pair, in the data's unit and without their middles, and the intervals of both means.

    A(μ_x, μ_y) = P − μ_x·S_y − μ_y·S_x + μ_x·μ_y·N, which is N times the covariance at the means themselves.
    """

    products: Floats
    of_y: Floats
    of_x: Floats
    count: Floats
    y: Ratio
    x: Ratio
    inside: NDArray[np.bool_]

    @classmethod
    def of(cls, numbers: Sequence[Numbers], parts: Sequence[Part], risk: Fraction) -> Sums:
        """From the measures of a pair: products first, then what is its own, the sums of y and x and the count last."""
        products, *_, of_y, of_x, count = (scaled(n, part.unit, 0) for n, part in zip(numbers, parts, strict=True))
        y, x = (
            of_ratio((numbers[at], numbers[-1]), (parts[at], parts[-1]), risk * SHARE, centred_bounds(parts[at]))
            for at in (-3, -2)
        )
        inside = np.logical_and.reduce([np.abs(each) < LIMIT for each in numbers])
        return cls(products=products, of_y=of_y, of_x=of_x, count=count, y=y, x=x, inside=inside)

    @property
    def settled(self) -> NDArray[np.bool_]:
        """Where both means are known to be somewhere, and no number was clamped."""
        return self.inside & self.x.settled & self.y.settled

    @property
    def covariance(self) -> Floats:
        """The covariance of the noisy sums."""
        return np.where(self.count > 0, self.products / self.count, 0.0) - self.x.near * self.y.near

    def pieces(self) -> Rectangles:
        """All means that are possible, in rectangles."""
        x1, x2 = pieces(self.x.low, self.x.high, _PIECES)
        y1, y2 = pieces(self.y.low, self.y.high, _PIECES)
        x1, x2 = (np.repeat(each, _PIECES, axis=0) for each in (x1, x2))
        y1, y2 = (np.tile(each, (_PIECES, 1)) for each in (y1, y2))
        return Rectangles(x=(x1, x2), y=(y1, y2), sums=self)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rectangles:
    """Means (μ_x, μ_y), one rectangle in each row: whatever is linear in each of both has its ends at corners."""

    x: tuple[Floats, Floats]
    y: tuple[Floats, Floats]
    sums: Sums

    @property
    def corners(self) -> list[tuple[Floats, Floats]]:
        """(μ_x, μ_y) at the four corners."""
        return [(one, two) for one in self.x for two in self.y]

    @property
    def edges(self) -> tuple[Floats, Floats]:
        """The largest |μ_x| and the largest |μ_y|."""
        return np.maximum(*map(np.abs, self.x)), np.maximum(*map(np.abs, self.y))

    @property
    def products(self) -> tuple[Floats, Floats]:
        """The least and the largest A."""
        sums = self.sums
        found = [sums.products - x * sums.of_y - y * sums.of_x + x * y * sums.count for x, y in self.corners]
        return np.minimum.reduce(found), np.maximum.reduce(found)

    @property
    def size(self) -> Floats:
        """What the parts of A come to without their signs: arithmetic loses at most a share of it."""
        (x, y), sums = self.edges, self.sums
        count = np.abs(sums.count)
        return np.abs(sums.products) + x * np.abs(sums.of_y) + y * np.abs(sums.of_x) + x * y * count


def centred_bounds(part: Part) -> tuple[float, float]:
    """The ends of a centred argument."""
    lattice = part.lattice
    return float((lattice.low - lattice.centre) * lattice.step), float((lattice.high - lattice.centre) * lattice.step)


def published(
    value: Floats,
    low: Floats,
    high: Floats,
    slopes: Sequence[Floats],
    settled: NDArray[np.bool_],
    limit: Floats | float,
) -> Estimate:
    """The estimate, with everything within ±limit possible where it is not settled."""
    low = np.where(settled, np.minimum(low, value), -limit)
    high = np.where(settled, np.maximum(high, value), limit)
    known = tuple(np.where(settled & np.isfinite(slope), slope, np.nan) for slope in slopes)
    return Estimate(values=value.tolist(), type="float", near=value, low=low, high=high, slopes=known)
