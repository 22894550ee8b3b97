"""AVG(x): a centred sum and a count, which share the weight of every row. See mean.md."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sqlglot import exp

from quincunx.mechanisms import LIMIT
from quincunx.numbers import amount
from quincunx.table.aggregates.aggregate import Aggregate
from quincunx.table.aggregates.call import Call, Form
from quincunx.table.aggregates.count import Count
from quincunx.table.aggregates.estimate import Estimate, Expected, Floats, Numbers, Part, scaled
from quincunx.table.aggregates.linear import Law, law
from quincunx.table.aggregates.number import beside, number
from quincunx.table.aggregates.profile import SLACK, end
from quincunx.table.aggregates.term import Lattice, Term, counted
from quincunx.table.expression import Expression
from quincunx.table.interval import Bounds
from quincunx.table.typing.facts import Facts


@dataclass(frozen=True, slots=True, kw_only=True)
class Mean(Aggregate):
    """The mean of the argument, NULL left out."""

    kind: ClassVar[str] = "mean"
    noun: ClassVar[str] = "mean"
    nodes: ClassVar[Mapping[type[exp.Expr], frozenset[str]]] = {
        exp.Avg: frozenset({"this"}),
        exp.RegrAvgx: frozenset({"this", "expression"}),
        exp.RegrAvgy: frozenset({"this", "expression"}),
    }
    names: ClassVar[tuple[str, ...]] = ("AVG", "MEAN", "REGR_AVGX", "REGR_AVGY")
    # DuckDB's other name of AVG.
    synonyms: ClassVar[Mapping[str, type[exp.Expr]]] = {"mean": exp.Avg}
    forms: ClassVar[tuple[Form, ...]] = (Form(name="AVG", written="AVG({})", needs="bounded"),)
    roles: ClassVar[tuple[str, ...]] = ("sum", "count")
    climbs: ClassVar[bool] = True

    argument: Expression

    @classmethod
    def read(cls, call: Call) -> Self | None:
        node = call.node
        if isinstance(node, exp.RegrAvgx | exp.RegrAvgy):
            # The mean of one of two arguments, of the rows in which the other is there too.
            called, other = node.sql_name(), node.args["expression"]
            mine, theirs = (other, node.this) if isinstance(node, exp.RegrAvgx) else (node.this, other)
            return cls(argument=number(call, called, mine), where=beside(call, called, theirs))
        return cls(argument=number(call, "AVG"), where=call.where)

    def result(self) -> Facts:
        return Facts(type="decimal", nullable=False)

    def terms(self) -> tuple[Term, ...]:
        total = Term(counts=False, argument=self.argument, where=self.where, centred=True, called="AVG")
        return total, counted(self.argument, self.where)

    def labels(self) -> tuple[str, ...]:
        return "AVG", *Count(argument=self.argument).labels()

    def bounds(self, lattices: Sequence[Lattice]) -> Bounds:
        return lattices[0].low * lattices[0].step, lattices[0].high * lattices[0].step

    def estimate(self, numbers: Sequence[Numbers], parts: Sequence[Part], risk: Fraction) -> Estimate:
        lattice = parts[0].lattice
        centre, low, high = (end * lattice.step for end in (lattice.centre, lattice.low, lattice.high))
        ratio = of_ratio(numbers, parts, risk, (float(low - centre), float(high - centre)))
        ends = [np.clip(part + float(centre), float(low), float(high)) for part in (ratio.near, ratio.low, ratio.high)]
        count = numbers[1].astype(np.float64) * float(parts[1].unit)
        with np.errstate(all="ignore"):
            by_sum = np.where(ratio.settled, 1 / count, np.nan)
            by_count = np.where(ratio.settled, -ratio.near / count, np.nan)
        return Estimate(
            values=ends[0].tolist(), type="float", near=ends[0], low=ends[1], high=ends[2], slopes=(by_sum, by_count)
        )

    def expected(self, parts: Sequence[Part], risk: Fraction, rows: int) -> Expected:
        lattice = parts[0].lattice
        edge = float(lattice.size * lattice.step)
        noisy = np.zeros(1, dtype=np.int64), np.array([int(rows / parts[1].unit)], dtype=np.int64)
        found = of_ratio(noisy, parts, risk, (-edge, edge))
        se = float(found.se[0])
        assumed = f"assumed: a group of {rows:,} rows whose mean is about {amount(lattice.centre * lattice.step)}"
        return Expected(half_width=float(found.high[0]), se=None if np.isnan(se) else se, assumed=assumed)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ratio:
    """S/N for each group, with an interval; settled: where N̂ is beyond its own error; se: NaN where it is not."""

    near: Floats
    low: Floats
    high: Floats
    se: Floats
    settled: NDArray[np.bool_]


def of_ratio(numbers: Sequence[Numbers], parts: Sequence[Part], risk: Fraction, bounds: tuple[float, float]) -> Ratio:
    """r = S/N: the hull of {r : |Ŝ − r·N̂| ≤ q(r)} inside `bounds`.

    q(r) is at least the 1 − risk quantile of |K_S − r·K_N|. Where N̂ is within its own error, or a number was clamped,
    every r is possible.
    """
    low, high = bounds
    total, count = (scaled(noisy, part.unit, 0) for noisy, part in zip(numbers, parts, strict=True))
    noise = law(parts, risk)
    # A number at the end of the lattice is not the sum of its parts: clamped, it tells only that they were large.
    inside = (np.abs(numbers[0]) < LIMIT) & (np.abs(numbers[1]) < LIMIT)
    settled = inside & (count > noise.reach(1) * (1 + SLACK))
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        ratio = np.where(count > 0, total / count, 0.0)
        middle = np.clip(ratio, low, high)
        spread = [np.sqrt(part.noise.variance) * float(part.unit) for part in parts]
        se = np.where(settled, np.hypot(spread[0], middle * spread[1]) / count, np.nan)
    ends = [
        np.where(settled, _end(noise, total, count, middle, np.full(count.shape, float(side))), side) for side in bounds
    ]
    return Ratio(near=middle, low=np.minimum(ends[0], middle), high=np.maximum(ends[1], middle), se=se, settled=settled)


def _end(noise: Law, total: Floats, count: Floats, inside: Floats, outside: Floats) -> Floats:
    """From `inside` towards `outside`, the first r that is not possible; `outside` where all are."""
    slack = SLACK * (np.abs(total) + np.abs(count) * np.maximum(np.abs(inside), np.abs(outside)))

    def possible(ratio: Floats) -> NDArray[np.bool_]:
        return noise.possible(np.maximum(np.abs(total - ratio * count) - slack, 0.0), 1.0, ratio)

    return end(possible, inside, outside)
