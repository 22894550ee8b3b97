"""COUNT(*), COUNT(x) and COUNT_IF: how many rows there are. See count.md."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Self

from sqlglot import exp

from quincunx.table.aggregates.aggregate import Aggregate
from quincunx.table.aggregates.call import Call, Form
from quincunx.table.aggregates.number import beside, number
from quincunx.table.aggregates.term import Term, counted
from quincunx.table.aggregates.total import Total
from quincunx.table.interval import Bounds
from quincunx.table.operators import apply
from quincunx.table.typing.facts import Facts


@dataclass(frozen=True, slots=True, kw_only=True)
class Count(Total):
    """The number of rows; with an argument, of those in which it is not NULL."""

    kind: ClassVar[str] = "count"
    noun: ClassVar[str] = "count"
    # `big_int` is a remark on the type that the parser adds to every COUNT.
    nodes: ClassVar[Mapping[type[exp.Expr], frozenset[str]]] = {
        exp.Count: frozenset({"this", "big_int"}),
        exp.CountIf: frozenset({"this"}),
        exp.RegrCount: frozenset({"this", "expression"}),
    }
    names: ClassVar[tuple[str, ...]] = ("COUNT", "COUNT_IF", "REGR_COUNT")
    forms: ClassVar[tuple[Form, ...]] = (
        Form(name="COUNT(*)", written="COUNT(*)", needs="nothing"),
        Form(name="COUNT(x)", written="COUNT({})", needs="number"),
    )
    counts: ClassVar[bool] = True

    @classmethod
    def read(cls, call: Call) -> Self | None:
        node = call.node
        if isinstance(node, exp.CountIf):
            test = call.test(node.this)
            return cls(where=test if call.where is None else apply("and", test, call.where))
        if isinstance(node, exp.RegrCount):
            where = beside(call, "REGR_COUNT", node.args["expression"])
            argument = number(call, "REGR_COUNT")
            return cls(argument=argument if argument.nullable else None, where=where)
        if isinstance(node.this, exp.Distinct):
            return None
        if node.this is None or isinstance(node.this, exp.Star):
            return cls(where=call.where)
        argument = call.row(node.this)
        return cls(argument=argument if argument.nullable else None, where=call.where)

    @classmethod
    def title(cls, node: exp.Expr, words: str) -> str:
        return "count_star()" if isinstance(node.this, exp.Star) else Total.title(node, words)

    def result(self) -> Facts:
        return Facts(type="integer", nullable=False, step=Fraction(1))

    def terms(self) -> tuple[Term, ...]:
        return (counted(self.argument, self.where),)

    def over(self, other: Aggregate) -> Bounds:
        """A count of some of the rows that another one counts is a share of it."""
        among = isinstance(other, Count) and other.argument in (None, self.argument)
        return (Fraction(0), Fraction(1)) if among and other.where in (None, self.where) else (None, None)

    def labels(self) -> tuple[str, ...]:
        return (self.forms[0 if self.argument is None else 1].name,)
