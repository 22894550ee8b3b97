"""VARIANCE, STDDEV and their kinds: centred squares, a centred sum and a count, of the same rows. See variance.md."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Final, Self

import numpy as np
from numpy.typing import NDArray
from sqlglot import exp

from quincunx.mechanisms import LIMIT
from quincunx.numbers import amount, float_above, near
from quincunx.table import canonical
from quincunx.table.aggregates import centred
from quincunx.table.aggregates.aggregate import Aggregate
from quincunx.table.aggregates.call import Call, Form
from quincunx.table.aggregates.count import Count
from quincunx.table.aggregates.estimate import Estimate, Expected, Floats, Numbers, Part, scaled
from quincunx.table.aggregates.linear import Law, law
from quincunx.table.aggregates.mean import of_ratio
from quincunx.table.aggregates.number import number
from quincunx.table.aggregates.profile import SLACK, end, pieces
from quincunx.table.aggregates.term import Lattice, Term, counted
from quincunx.table.canonical import Json
from quincunx.table.expression import Expression
from quincunx.table.interval import Bounds
from quincunx.table.typing.facts import Facts

# Node → name, whether a root is taken, and whether it is divided by N − 1.
_FUNCTIONS: Final[Mapping[type[exp.Expr], tuple[str, bool, bool]]] = {
    exp.Variance: ("VARIANCE", False, True),
    exp.VariancePop: ("VAR_POP", False, False),
    exp.Stddev: ("STDDEV", True, True),
    exp.StddevSamp: ("STDDEV_SAMP", True, True),
    exp.StddevPop: ("STDDEV_POP", True, False),
}
# Of the risk, a tenth is the mean's; into as many pieces its interval is divided.
_SHARE: Final = Fraction(1, 10)
_PIECES: Final = 8
# A little more than √2.
_ROOT2: Final = Fraction(99, 70)


@dataclass(frozen=True, slots=True, kw_only=True)
class Variance(Aggregate):
    """The variance of the argument, NULL left out. root: its root. sample: N/(N − 1) times as much."""

    kind: ClassVar[str] = "variance"
    noun: ClassVar[str] = "variance"
    nodes: ClassVar[Mapping[type[exp.Expr], frozenset[str]]] = dict.fromkeys(_FUNCTIONS, frozenset({"this"}))
    names: ClassVar[tuple[str, ...]] = ("VARIANCE", "VAR_SAMP", "VAR_POP", "STDDEV", "STDDEV_SAMP", "STDDEV_POP")
    forms: ClassVar[tuple[Form, ...]] = (
        Form(name="VARIANCE", written="VARIANCE({})", needs="bounded"),
        Form(name="STDDEV_POP", written="STDDEV_POP({})", needs="bounded"),
    )
    roles: ClassVar[tuple[str, ...]] = ("squares", "sum", "count")

    argument: Expression
    root: bool
    sample: bool

    @classmethod
    def read(cls, call: Call) -> Self | None:
        name, root, sample = _FUNCTIONS[type(call.node)]
        return cls(argument=number(call, name), where=call.where, root=root, sample=sample)

    def result(self) -> Facts:
        return Facts(type="decimal", nullable=False)

    def terms(self) -> tuple[Term, ...]:
        name = next(name for name, *kind in _FUNCTIONS.values() if kind == [self.root, self.sample])
        found = centred.lattice(self.argument, name)
        return (
            centred.squares(self.argument, found, self.where),
            centred.total(self.argument, found, self.where),
            counted(self.argument, self.where),
        )

    def labels(self) -> tuple[str, ...]:
        return "squares", "AVG", *Count(argument=self.argument).labels()

    def bounds(self, lattices: Sequence[Lattice]) -> Bounds:
        half = centred.half(lattices[1])
        if self.root:
            return Fraction(0), half * (_ROOT2 if self.sample else 1)
        return Fraction(0), half**2 * (2 if self.sample else 1)

    def estimate(self, numbers: Sequence[Numbers], parts: Sequence[Part], risk: Fraction) -> Estimate:
        lattice, middle = parts[1].lattice, float(parts[0].lattice.centre * parts[0].lattice.step)
        ends = [float((end - lattice.centre) * lattice.step) for end in (lattice.low, lattice.high)]
        limit = float_above(centred.half(lattice) ** 2 * (2 if self.sample else 1))
        mean = of_ratio(numbers[1:], parts[1:], risk * _SHARE, (ends[0], ends[1]))
        noise = law(parts, risk * (1 - _SHARE))
        squares, total, count = (scaled(each, part.unit, 0) for each, part in zip(numbers, parts, strict=True))
        # Below two rows nothing is divided by N − 1: there, every value is possible.
        enough = noise.reach(2) * (1 + SLACK) + (2.0 if self.sample else 0.0)
        settled = mean.settled & (np.abs(numbers[0]) < LIMIT) & (count > enough)
        form = _Form(squares=squares, total=total, count=count, middle=middle, less=1.0 if self.sample else 0.0)
        low, high = form.ends(noise, mean.low, mean.high, limit)
        with np.errstate(all="ignore"):
            plain = np.where(count > 0, squares / count, 0.0) + middle - mean.near**2
            more = np.maximum(count, 2.0) / (np.maximum(count, 2.0) - 1) if self.sample else np.ones(count.shape)
            value = np.clip(plain * more, 0.0, limit)
            by_count = more * (mean.near**2 + middle - plain) / count - (plain / (count - 1) ** 2 if self.sample else 0)
            slopes = [more / count, -2 * mean.near * more / count, by_count]
            if self.root:
                slopes = [slope / (2 * np.sqrt(value)) for slope in slopes]
        low, high = np.where(settled, np.minimum(low, value), 0.0), np.where(settled, np.maximum(high, value), limit)
        if self.root:
            value, low, high = (np.sqrt(each) for each in (value, low * (1 - SLACK), high * (1 + SLACK)))
        known = tuple(np.where(settled & np.isfinite(slope), slope, np.nan) for slope in slopes)
        return Estimate(values=value.tolist(), type="float", near=value, low=low, high=high, slopes=known)

    def expected(self, parts: Sequence[Part], risk: Fraction, rows: int) -> Expected:
        noisy = [np.array([given], dtype=np.int64) for given in (0, 0, int(rows / parts[2].unit))]
        found = self.estimate(noisy, parts, risk)
        value, low, high = (float(each[0]) for each in (found.near, found.low, found.high))
        variance = sum(
            float(slope[0]) ** 2 * part.noise.variance * float(part.unit) ** 2
            for slope, part in zip(found.slopes, parts, strict=True)
        )
        lattice, what = parts[1].lattice, "standard deviation" if self.root else "variance"
        about = f"mean is about {amount(lattice.centre * lattice.step)} and whose {what} is about {near(value, 4)}"
        se = None if np.isnan(variance) else float(np.sqrt(variance))
        assumed = f"assumed: a group of {rows:,} rows whose {about}"
        return Expected(half_width=max(high - value, value - low), se=se, assumed=assumed)

    def canonical(self) -> Json:
        """What names it in a ledger."""
        argument, where = canonical.part(self.argument), canonical.part(self.where)
        return canonical.node(
            self.tag, kind=self.kind, argument=argument, where=where, root=self.root, sample=self.sample
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Form:
    """T̂ − 2μ·Ŝ + (μ² + m)·N̂ − V·(N̂ − less): noise alone at the true (μ, V)."""

    squares: Floats
    total: Floats
    count: Floats
    middle: float
    less: float

    def ends(self, noise: Law, low: Floats, high: Floats, limit: float) -> tuple[Floats, Floats]:
        """The smallest and the largest V in [0, limit] that is possible for some mean between low and high."""
        with np.errstate(all="ignore"):
            one, two = pieces(low, high, _PIECES)
            least, most = self._squares(one, two)
            lowest = self._end(noise, one, two, least, 0.0).min(axis=0)
            highest = self._end(noise, one, two, most, limit).max(axis=0)
        return np.clip(lowest, 0.0, limit), np.clip(highest, 0.0, limit)

    def _squares(self, one: Floats, two: Floats) -> tuple[Floats, Floats]:
        """The range of T̂ − 2μ·Ŝ + (μ² + m)·N̂, a parabola that opens upwards, for μ from one to two."""
        found = [
            self.squares - 2 * mu * self.total + (mu**2 + self.middle) * self.count
            for mu in (one, two, np.clip(self.total / self.count, one, two))
        ]
        return np.minimum(np.minimum(found[0], found[1]), found[2]), np.maximum(found[0], found[1])

    def _end(self, noise: Law, one: Floats, two: Floats, start: Floats, side: float) -> Floats:
        """From where the form is 0 towards `side`, the first V that is not possible for μ from one to two."""
        least, most = self._squares(one, two)
        edge = np.maximum(np.abs(one), np.abs(two))
        under = np.where((one < 0) & (two > 0), 0.0, np.minimum(np.abs(one), np.abs(two)))
        divisor = self.count - self.less
        size = np.abs(self.squares) + 2 * edge * np.abs(self.total) + (edge**2 + self.middle) * np.abs(self.count)

        def possible(v: Floats) -> NDArray[np.bool_]:
            away = np.maximum(least - v * divisor, v * divisor - most)
            by_count = np.maximum(np.abs(edge**2 + self.middle - v), np.abs(under**2 + self.middle - v))
            slack = 8 * SLACK * (size + np.abs(v * divisor))
            return noise.possible(np.maximum(away - slack, 0.0), 1.0, 2 * edge, by_count)

        inside, outside = start / divisor, np.full(start.shape, side)
        # Where the form is 0 beyond the side already, so is the end.
        inside = np.maximum(inside, side) if side == 0.0 else np.minimum(inside, side)
        return end(possible, inside, outside)
