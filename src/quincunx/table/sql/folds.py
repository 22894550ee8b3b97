"""Aggregates below the noise, as they are written: each is a fold, or is made of folds. See relations/fold.md."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from sqlglot import exp

from quincunx.table.aggregates import NODES as AGGREGATED
from quincunx.table.aggregates import Lattice, lattice_of
from quincunx.table.expression import NUMBERS, Expression
from quincunx.table.operators import apply, cast, literal
from quincunx.table.relations import Fold, Folded, is_true
from quincunx.table.sql import constants
from quincunx.table.sql.names import Rows
from quincunx.table.sql.relation import Reading
from quincunx.table.sql.rewrites import written
from quincunx.table.typing.facts import WORDS

# Squares of at most so many steps fit 62 bits.
_ROOT: Final = 2**31 - 1
# Levels of quantiles are multiples of one part of so many.
_LEVELS: Final = 10**6


@dataclass(frozen=True, slots=True, kw_only=True)
class Folding:
    """A call of an aggregate over the rows of one owner. add: enters a fold, and gives the column that will hold it."""

    reading: Reading
    rows: Rows
    node: exp.Expr
    where: Expression | None
    add: Callable[[Fold], Expression]

    @property
    def called(self) -> str:
        """The aggregate's name as SQL spells it, with its arguments after it and not WITHIN GROUP."""
        name = str(self.node.sql_names()[0]) if isinstance(self.node, exp.Func) else self.node.key.upper()
        return name.replace("PERCENTILE_", "QUANTILE_")

    def argument(self) -> Expression:
        """The one argument, an expression of one row."""
        given = self.node.this
        if given is None or isinstance(given, exp.Star):
            raise self.reading.text.mistake(self.node, f"{self.called} needs an argument", hint="Name a column.")
        if isinstance(given, exp.Distinct):
            hint = f"Leave DISTINCT out of {self.called}, or choose different rows in a subquery below."
            raise self.reading.text.refusal(self.node, "DISTINCT is understood in COUNT only", hint=hint)
        return self.reading.row(given, self.rows, where="an aggregate")

    def number(self) -> Expression:
        """The argument as a number; of a condition, 1 where it is true and 0 where it is false."""
        found = self.argument()
        found = cast(found, "integer") if found.type == "boolean" else found
        if found.type not in NUMBERS:
            what = f"{self.called} needs a number"
            hint = "Write CAST(x AS BIGINT), or take a part of a date."
            raise self.reading.text.mistake(self.node.this, what, got=WORDS[found.type], hint=hint)
        return found

    def lattice(self, argument: Expression, *, centred: bool = False) -> Lattice:
        """Where a bounded argument lies."""
        if not argument.bounded:
            what = f"{self.called} is exact only between bounds"
            further = self.node.args.get("expression")
            given = "CLAMP(x, low, high)" + ("" if further is None else f", {written(further)}")
            hint = f"Write {self.called}({given}), or declare bounds for the columns that it is made of."
            raise self.reading.text.refusal(self.node, what, hint=hint)
        return lattice_of(argument, centred, self.called)

    def fold(
        self,
        kind: Folded,
        argument: Expression | None = None,
        *,
        lattice: Lattice | None = None,
        level: Fraction | None = None,
    ) -> Expression:
        """The column of a fold of the rows for which FILTER is true."""
        return self.add(Fold(kind=kind, argument=argument, where=self.where, lattice=lattice, level=level))


def folded(reading: Reading, rows: Rows, node: exp.Expr, add: Callable[[Fold], Expression]) -> Expression:
    """What a call of an aggregate, perhaps with FILTER, stands for over the columns of a roll-up."""
    where, called = None, node
    if isinstance(node, exp.Filter):
        called = node.this
        where = reading.test(node.expression.this, rows, where="FILTER")
        where = None if is_true(where) else where
    read = READERS.get(type(called))
    if read is None:
        hint = "Write VAR_SAMP(x), or another that docs/reference/sql.md lists for subqueries."
        raise reading.text.refusal(called, "this aggregate is not understood inside a subquery", hint=hint)
    return read(Folding(reading=reading, rows=rows, node=called, where=where, add=add))


def _count(call: Folding) -> Expression:
    given = call.node.this
    if given is None or isinstance(given, exp.Star):
        return call.fold("count")
    if isinstance(given, exp.Distinct):
        if len(given.expressions) != 1:
            hint = "Count the rows of SELECT DISTINCT … in a subquery."
            raise call.reading.text.mistake(given, "COUNT(DISTINCT …) takes one column here", got="several", hint=hint)
        argument = call.reading.row(given.expressions[0], call.rows, where="an aggregate")
        return call.fold("distinct", argument)
    argument = call.argument()
    return call.fold("count", argument if argument.nullable else None)


def _count_if(call: Folding) -> Expression:
    """In how many rows a condition is true; NULL, as in DuckDB, where it is neither true nor false in any."""
    condition = call.reading.test(call.node.this, call.rows, where="an aggregate")
    return call.fold("sum", cast(condition, "integer"))


def _sum(call: Folding) -> Expression:
    return _total(call, call.number())


def _total(call: Folding, argument: Expression) -> Expression:
    """A sum of whole numbers, or of steps of a lattice in the unit of the argument."""
    if argument.type == "integer":
        return call.fold("sum", argument)
    lattice = call.lattice(argument)
    return _in_unit(call.fold("sum", argument, lattice=lattice), lattice.step)


def _in_unit(steps: Expression, step: Fraction) -> Expression:
    """So many steps as a number: a quotient of whole numbers, so that three tenths are 0.3."""
    scaled = steps if step.numerator == 1 else apply("multiply", steps, literal(step.numerator))
    return apply("divide", scaled, literal(step.denominator))


def _mean(call: Folding) -> Expression:
    argument = call.number()
    # Steps are missing where a value is NULL or infinite, so that rows are counted by them as well.
    lattice = None if argument.type == "integer" else call.lattice(argument)
    rows = call.fold("count", argument if argument.nullable or lattice is not None else None, lattice=lattice)
    return _within(apply("divide", _total(call, argument), rows), argument.low, argument.high)


def _within(expression: Expression, low: Fraction | None, high: Fraction | None) -> Expression:
    """Moved between bounds that it keeps but for rounding, so that they are proved."""
    if low is None or high is None:
        return expression
    return apply("clamp", expression, literal(Fraction(low)), literal(Fraction(high)))


def _variance(call: Folding) -> Expression:
    argument = call.number()
    lattice = call.lattice(argument, centred=True)
    if lattice.size > _ROOT:
        hint = "Declare a coarser step, or narrower bounds."
        what = f"the argument of {call.called} has too many lattice steps to be squared exactly"
        raise call.reading.text.refusal(call.node, what, hint=hint)
    kinds: tuple[Folded, ...] = ("count", "sum", "squares")
    n, total, squares = (call.fold(kind, argument, lattice=lattice) for kind in kinds)
    spread = apply("subtract", apply("multiply", n, squares), apply("multiply", total, total))
    less = n if isinstance(call.node, exp.VariancePop) else apply("subtract", n, literal(1))
    found = apply("divide", spread, apply("multiply", n, less))
    found = apply("multiply", found, literal(lattice.step**2))
    reach = (argument.high or Fraction(0)) - (argument.low or Fraction(0)) + lattice.step
    return _within(found, Fraction(0), reach**2 / 2)


def _extreme(call: Folding) -> Expression:
    return call.fold("least" if isinstance(call.node, exp.Min) else "greatest", call.argument())


def _logical(call: Folding) -> Expression:
    condition = call.reading.test(call.node.this, call.rows, where="an aggregate")
    return call.fold("all" if isinstance(call.node, exp.LogicalAnd) else "any", condition)


def _quantile(call: Folding) -> Expression:
    argument, level = call.number(), Fraction(1, 2)
    asked = call.node.args.get("expression") or call.node.args.get("quantile")
    if asked is not None:
        level = Fraction(constants.number(asked.name)) if _plain(asked) else Fraction(-1)
        if not 0 <= level <= 1:
            raise call.reading.text.mistake(asked, "a level is a number from 0 to 1", hint="Write 0.25, say.")
        if _LEVELS % level.denominator:
            # Ranks are worked out in whole numbers of 64 bits.
            shown = f"{float(level):.6f}".rstrip("0").rstrip(".")
            what = "a level has at most six decimal places inside a subquery"
            raise call.reading.text.mistake(asked, what, hint=f"Write {shown}.")
    elif not isinstance(call.node, exp.Median):
        raise call.reading.text.mistake(call.node, f"{call.called} needs a level", hint="Write QUANTILE_CONT(x, 0.25).")
    kind: Folded = "between" if isinstance(call.node, exp.Median | exp.PercentileCont) else "rank"
    if argument.type == "integer":
        return call.fold(kind, argument, level=level)
    lattice = call.lattice(argument)
    steps = call.fold(kind, argument, lattice=lattice, level=level)
    return _within(_in_unit(steps, lattice.step), argument.low, argument.high)


def _plain(node: exp.Expr) -> bool:
    return isinstance(node, exp.Literal) and not node.args.get("is_string")


READERS: Final[Mapping[type[exp.Expr], Callable[[Folding], Expression]]] = {
    exp.Count: _count,
    exp.CountIf: _count_if,
    exp.Sum: _sum,
    exp.Avg: _mean,
    exp.Min: _extreme,
    exp.Max: _extreme,
    exp.LogicalAnd: _logical,
    exp.LogicalOr: _logical,
    exp.Median: _quantile,
    exp.PercentileCont: _quantile,
    exp.PercentileDisc: _quantile,
    exp.Quantile: _quantile,
    exp.Variance: _variance,
    exp.VariancePop: _variance,
}
# What stands for an aggregate below the noise: its call, and the FILTER around it.
CALLS: Final = (*dict.fromkeys((*READERS, *AGGREGATED)), exp.Filter)
# Their nodes, with the parts that are understood.
NODES: Final[Mapping[type[exp.Expr], frozenset[str]]] = {
    exp.Min: frozenset({"this"}),
    exp.Max: frozenset({"this"}),
    exp.LogicalAnd: frozenset({"this"}),
    exp.LogicalOr: frozenset({"this"}),
    exp.Median: frozenset({"this"}),
    exp.PercentileCont: frozenset({"this", "expression"}),
    exp.PercentileDisc: frozenset({"this", "expression"}),
    exp.Quantile: frozenset({"this", "quantile"}),
}
