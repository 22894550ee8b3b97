"""MEDIAN, QUANTILE_DISC, QUANTILE_CONT and PERCENTILE_… WITHIN GROUP: ranks on a public grid. See quantile.md."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from typing import ClassVar, Final, Self

import numpy as np
from sqlglot import exp

from quincunx.mechanisms import LIMIT, Counted, Histogram, Ranks
from quincunx.noise import testing
from quincunx.numbers import amount
from quincunx.table import canonical
from quincunx.table.aggregates.aggregate import Aggregate
from quincunx.table.aggregates.call import Call, Form
from quincunx.table.aggregates.estimate import Estimate, Expected, Floats, Numbers, Part
from quincunx.table.aggregates.number import number
from quincunx.table.aggregates.reach import reaches
from quincunx.table.aggregates.term import Lattice, Term
from quincunx.table.aggregates.total import typed
from quincunx.table.canonical import Json
from quincunx.table.expression import Expression, Literal
from quincunx.table.interval import Bounds
from quincunx.table.typing.facts import Facts

_HALF: Final = Fraction(1, 2)
# Node → whether neighbouring values are interpolated.
_FUNCTIONS: Final[Mapping[type[exp.Expr], bool]] = {
    exp.Median: True,
    exp.PercentileCont: True,
    exp.PercentileDisc: False,
    exp.Quantile: False,
}
_PARTS: Final = frozenset({"this", "expression", "quantile"})
# What float64 arithmetic of sums of counts may lose, with room to spare.
_SLACK: Final = 2.0**-46
# How often an answer is simulated before it is asked.
_SIMULATED: Final = 48
# Many levels are drawn less often: so many numbers in all, but at least so many answers.
_DRAWN: Final = 600
_FEWEST: Final = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Quantile(Aggregate):
    """The value below which the share `level` of the rows lies, NULL left out. continuous: values are interpolated.

    bare: without an interval, so that all of the spend goes into the value.
    """

    kind: ClassVar[str] = "quantile"
    noun: ClassVar[str] = "quantile"
    nodes: ClassVar[Mapping[type[exp.Expr], frozenset[str]]] = {
        **dict.fromkeys(_FUNCTIONS, _PARTS),
        exp.WithinGroup: frozenset({"this", "expression"}),
    }
    names: ClassVar[tuple[str, ...]] = (
        "MEDIAN", "QUANTILE", "QUANTILE_CONT", "QUANTILE_DISC", "PERCENTILE_CONT", "PERCENTILE_DISC",
    )  # fmt: skip
    # Whatever the level, the histogram is the same.
    forms: ClassVar[tuple[Form, ...]] = (Form(name="MEDIAN", written="MEDIAN({})", needs="bounded"),)
    roles: ClassVar[tuple[str, ...]] = ("ranks",)

    argument: Expression
    level: Fraction
    continuous: bool
    bare: bool = False

    @classmethod
    def read(cls, call: Call) -> Self | None:
        node, ordered = call.node, None
        if isinstance(node, exp.WithinGroup):
            ordered = node.expression.expressions
            node = node.this
        if type(node) not in _FUNCTIONS or (ordered is not None and isinstance(node, exp.Median | exp.Quantile)):
            hint = "Write PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY x)."
            raise call.refusal(call.node, "WITHIN GROUP follows PERCENTILE_CONT or PERCENTILE_DISC", hint=hint)
        continuous = _FUNCTIONS[type(node)]
        if ordered is not None:
            if len(ordered) != 1:
                hint = "Write ORDER BY x."
                raise call.mistake(call.node, "values are ranked by one expression", got=f"{len(ordered)}", hint=hint)
            level = _level(call, node.this)
            level = 1 - level if ordered[0].args.get("desc") else level
            return cls(
                argument=number(call, "MEDIAN", ordered[0].this), where=call.where, level=level, continuous=continuous
            )
        stated = node.args.get("expression") or node.args.get("quantile")
        if isinstance(node, exp.Median):
            level = _HALF
        elif stated is None:
            hint = "Write QUANTILE_CONT(x, 0.5)."
            raise call.mistake(node, "a quantile needs a level", got="none", hint=hint)
        else:
            level = _level(call, stated)
        return cls(argument=number(call, "MEDIAN"), where=call.where, level=level, continuous=continuous)

    @classmethod
    def listed(cls, node: exp.Expr) -> list[tuple[exp.Expr, str, str]]:
        inner = node.this if isinstance(node, exp.WithinGroup) else node
        part = "this" if isinstance(node, exp.WithinGroup) else "quantile" if "quantile" in inner.args else "expression"
        levels = inner.args.get(part)
        if type(inner) not in _FUNCTIONS or not isinstance(levels, exp.Array):
            return []
        found = []
        for level in levels.expressions:
            inner.set(part, level.copy())
            name = "quantile_cont" if _FUNCTIONS[type(inner)] else "quantile_disc"
            found.append((node.copy(), name, f"p{_percent(level)}"))
        return found

    def result(self) -> Facts:
        if self.continuous:
            return Facts(type="decimal", nullable=False)
        return Facts(type=self.argument.type, nullable=False, step=self.argument.step)

    def without_interval(self) -> Self:
        return replace(self, bare=True)

    def terms(self) -> tuple[Term, ...]:
        return (
            Term(
                counts=False,
                argument=self.argument,
                where=self.where,
                levels=(self.level,),
                interval=not self.bare,
                called="MEDIAN" if self.level == _HALF else "QUANTILE_CONT" if self.continuous else "QUANTILE_DISC",
            ),
        )

    def labels(self) -> tuple[str, ...]:
        return (self.forms[0].name,)

    def bounds(self, lattices: Sequence[Lattice]) -> Bounds:
        (lattice,) = lattices
        return lattice.low * lattice.step, lattice.high * lattice.step

    def estimate(self, numbers: Sequence[Numbers], parts: Sequence[Part], risk: Fraction) -> Estimate:
        (answers,), (part,) = numbers, parts
        drawn: Ranks = part.noise
        value = drawn.at(answers, self.level)
        steps = (value + part.lattice.low).tolist()
        kind, scale, values = typed(steps, part.lattice.step)
        near = _numbers(value, part.lattice)
        if self.continuous:
            kind, scale, values = "float", 0, near.tolist()
        unknown = np.full(near.shape, np.nan)
        counted = drawn.counted(answers)
        low, high = (unknown, unknown) if counted is None else self._ends(counted, part, risk)
        return Estimate(
            values=values,
            type=kind,
            scale=scale,
            near=near,
            low=np.minimum(low, near),
            high=np.maximum(high, near),
            slopes=(unknown,),
        )

    def _ends(self, counted: Counted, part: Part, risk: Fraction) -> tuple[Floats, Floats]:
        """From either end, up to the last cut in a row that the counts rule out; else the bounds of the grid."""
        below, above = self._rejected(counted, part, risk)
        first, last = (np.cumprod(each, axis=1).sum(axis=1) for each in (below, above[:, ::-1]))
        every, cuts = np.arange(len(counted.cuts)), counted.cuts.shape[1]
        lowest = counted.cuts[every, np.maximum(first, 1) - 1] // counted.split
        # What lies above the quantile begins at the cut: the quantile is in the bucket of the position before it.
        highest = (counted.cuts[every, cuts - np.maximum(last, 1)] - 1) // counted.split
        top = part.lattice.high - part.lattice.low
        ends = np.where(first > 0, lowest, 0), np.where(last > 0, highest, top)
        return _numbers(ends[0], part.lattice), _numbers(ends[1], part.lattice)

    def _rejected(self, counted: Counted, part: Part, risk: Fraction) -> tuple[Numbers, Numbers]:
        """Whether each cut is surely below, and surely above, the quantile: one test for each."""
        between = counted.between.astype(np.float64)
        below = np.cumsum(between, axis=1)[:, :-1]
        total, level = between.sum(axis=1, keepdims=True), float(self.level)
        off = below - level * total
        reach = reaches(counted.noise, self.level, counted.cuts.shape[1], risk)
        reach = reach + _SLACK * np.abs(between).sum(axis=1, keepdims=True)
        # An interpolated quantile is up to one row away from the weighted one; the median is not.
        row = float(counted.split / part.unit) if self.continuous and self.level != _HALF else 0.0
        inside = (np.abs(counted.between) < LIMIT).all(axis=1, keepdims=True)
        return (off < -reach - level * row) & inside, (off > reach + (1 - level) * row) & inside

    def expected(self, parts: Sequence[Part], risk: Fraction, rows: int) -> Expected:
        (part,) = parts
        found = self.estimate([_simulated(part.noise, part.unit, rows)], parts, risk)
        lattice, count = part.lattice, part.noise.buckets
        true = float((lattice.low + min(int(self.level * count), count - 1)) * lattice.step)
        error = np.abs(found.near - true)
        half = np.quantile(error, float(1 - risk)) if self.bare else np.median((found.high - found.low) / 2)
        low, high = (amount(end * lattice.step) for end in (lattice.low, lattice.high))
        return Expected(
            half_width=float(half),
            se=float(np.sqrt(np.mean(error**2))),
            assumed=f"simulated: a group of {rows:,} rows, spread evenly from {low} to {high}",
        )

    def canonical(self) -> Json:
        """What names it in a ledger."""
        argument, where = canonical.part(self.argument), canonical.part(self.where)
        level = canonical.number(self.level)
        return canonical.node(
            self.tag,
            kind=self.kind,
            argument=argument,
            where=where,
            level=level,
            continuous=self.continuous,
            bare=self.bare,
        )


def _level(call: Call, node: exp.Expr) -> Fraction:
    written = call.row(node)
    given = written.value if isinstance(written, Literal) else None
    if type(given) not in (int, Fraction):
        hint = "Write QUANTILE_CONT(x, 0.5)."
        raise call.mistake(node, "a level is a number between 0 and 1", got=call.written(node)[:40], hint=hint)
    level = Fraction(given)  # type: ignore[arg-type]
    if not 0 < level < 1:
        hint = "Write 0.99 or 0.01: the largest and the smallest value are those of single people."
        raise call.refusal(node, "a level is between 0 and 1, both excluded", hint=hint)
    return level


def _percent(level: exp.Expr) -> str:
    """0.1 is 10, and 0.125 is 12_5."""
    whole, _, rest = (level.name if isinstance(level, exp.Literal) else "").partition(".")
    if whole.strip("0") or not rest.isdigit() or len(rest) > 30:
        return level.name or "0"
    digits = rest.ljust(2, "0")
    after = digits[2:].rstrip("0")
    return (digits[:2].lstrip("0") or "0") + (f"_{after}" if after else "")


def _numbers(buckets: Numbers, lattice: Lattice) -> Floats:
    return np.array([float((lattice.low + at) * lattice.step) for at in buckets.tolist()], dtype=np.float64)


@lru_cache(maxsize=32)
def _simulated(drawn: Ranks, unit: Fraction, rows: int) -> Numbers:
    """Answers of made-up groups: `rows` rows, spread evenly over the grid. The same each time."""
    given = Histogram.even(drawn.buckets, rows, 1 / unit)
    # Nobody's rows are in it, so that its key need not be secret.
    with testing.keyed(testing.key_of("quantiles that are expected")):
        return drawn.each(np.array([given] * max(min(_DRAWN // drawn.width, _SIMULATED), _FEWEST), dtype=object))
