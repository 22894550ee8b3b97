"""REGR_INTERCEPT(y, x): where the line of least squares meets x = 0. See intercept.md."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Final, Self

import numpy as np
from sqlglot import exp

from quincunx.numbers import float_above
from quincunx.table.aggregates.call import Call, Form
from quincunx.table.aggregates.estimate import Estimate, Floats, Numbers, Part
from quincunx.table.aggregates.mean import of_ratio
from quincunx.table.aggregates.pair import Pair, both, centred_bounds, published
from quincunx.table.aggregates.profile import SLACK
from quincunx.table.aggregates.slope import Line, limit, regression
from quincunx.table.aggregates.term import Lattice, Term
from quincunx.table.interval import Bounds

# Of the risk, the slope has all but a tenth for each mean.
_SHARE: Final = Fraction(1, 10)


@dataclass(frozen=True, slots=True, kw_only=True)
class Intercept(Pair):
    """The mean of y less the slope times the mean of x."""

    kind: ClassVar[str] = "intercept"
    noun: ClassVar[str] = "intercept"
    nodes: ClassVar[Mapping[type[exp.Expr], frozenset[str]]] = {exp.RegrIntercept: frozenset({"this", "expression"})}
    names: ClassVar[tuple[str, ...]] = ("REGR_INTERCEPT",)
    forms: ClassVar[tuple[Form, ...]] = (
        Form(name="REGR_INTERCEPT", written="REGR_INTERCEPT({0}, -({0}))", needs="bounded"),
    )
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
        farthest = _farthest(lattices)
        return -farthest, farthest

    def estimate(self, numbers: Sequence[Numbers], parts: Sequence[Part], risk: Fraction) -> Estimate:
        line = Line.of(numbers, parts, risk * (1 - 2 * _SHARE))
        y, x = (
            of_ratio((numbers[at], numbers[-1]), (parts[at], parts[-1]), risk * _SHARE, centred_bounds(parts[at]))
            for at in (-3, -2)
        )
        middles = [float(part.lattice.centre * part.lattice.step) for part in parts[-3:-1]]
        farthest = float_above(_farthest([part.lattice for part in parts]))
        slope, at, count = line.slope, middles[1] + x.near, line.sums.count
        with np.errstate(all="ignore"):
            value = np.clip(middles[0] + y.near - slope.near * at, -farthest, farthest)
            ends = [one * (middles[1] + two) for one in (slope.low, slope.high) for two in (x.low, x.high)]
            hair = 8 * SLACK * (np.maximum.reduce([np.abs(each) for each in ends]) + abs(middles[0]) + np.abs(value))
            low = middles[0] + y.low - np.maximum.reduce(ends) - hair
            high = middles[0] + y.high - np.minimum.reduce(ends) + hair
            means: list[Floats | float] = [
                0.0,
                0.0,
                1 / count,
                -slope.near / count,
                (slope.near * x.near - y.near) / count,
            ]
            slopes = [own - at * steeper for own, steeper in zip(means, slope.slopes, strict=True)]
        low, high = (np.clip(each, -farthest, farthest) for each in (low, high))
        return published(value, low, high, slopes, line.settled, farthest)


def _farthest(lattices: Sequence[Lattice]) -> Fraction:
    """|mean of y| + |slope|·|mean of x|, each at its largest."""
    y, x = ([abs(end * found.step) for end in (found.low, found.high)] for found in lattices[2:4])
    return max(y) + limit(lattices) * max(x)
