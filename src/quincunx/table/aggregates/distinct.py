"""COUNT(DISTINCT x): how many different values there are. See distinct.md."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Self

from sqlglot import exp

from quincunx.table.aggregates.call import Call, Form
from quincunx.table.aggregates.term import Term
from quincunx.table.aggregates.total import Total
from quincunx.table.expression import Expression
from quincunx.table.typing.facts import Facts


@dataclass(frozen=True, slots=True, kw_only=True)
class Distinct(Total):
    """The number of different values of the argument, NULL left out."""

    kind: ClassVar[str] = "distinct"
    noun: ClassVar[str] = "count"
    nodes: ClassVar[Mapping[type[exp.Expr], frozenset[str]]] = {exp.Count: frozenset({"this", "big_int"})}
    names: ClassVar[tuple[str, ...]] = ("COUNT",)
    forms: ClassVar[tuple[Form, ...]] = (Form(name="COUNT(DISTINCT x)", written="COUNT(DISTINCT {})", needs="number"),)

    argument: Expression

    @classmethod
    def read(cls, call: Call) -> Self | None:
        node = call.node.this
        if not isinstance(node, exp.Distinct):
            return None
        if len(node.expressions) != 1:
            hint = f"Write COUNT(DISTINCT {call.unit.key or 'x'})."
            raise call.refusal(node, "COUNT(DISTINCT …) takes one column", hint=hint)
        return cls(argument=call.row(node.expressions[0]), where=call.where)

    def result(self) -> Facts:
        return Facts(type="integer", nullable=False, step=Fraction(1))

    def terms(self) -> tuple[Term, ...]:
        return (Term(vector="values", counts=True, argument=self.argument, where=self.where),)

    def labels(self) -> tuple[str, ...]:
        return (self.forms[0].name,)
