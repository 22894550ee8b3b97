"""COUNT(DISTINCT key): how many people there are. See people.md."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Self

from sqlglot import exp

from quincunx.table.aggregates.call import Call, Form
from quincunx.table.aggregates.term import Term
from quincunx.table.aggregates.total import Total
from quincunx.table.typing.facts import Facts


@dataclass(frozen=True, slots=True, kw_only=True)
class People(Total):
    """The number of different units of protection."""

    kind: ClassVar[str] = "people"
    noun: ClassVar[str] = "count"
    nodes: ClassVar[Mapping[type[exp.Expr], frozenset[str]]] = {exp.Count: frozenset({"this", "big_int"})}
    names: ClassVar[tuple[str, ...]] = ("COUNT",)
    forms: ClassVar[tuple[Form, ...]] = (Form(name="COUNT(DISTINCT key)", written="COUNT(DISTINCT {})", needs="key"),)
    counts: ClassVar[bool] = True

    @classmethod
    def read(cls, call: Call) -> Self | None:
        if not isinstance(call.node.this, exp.Distinct):
            return None
        _check_key(call, call.node.this)
        return cls(where=call.where)

    def result(self) -> Facts:
        return Facts(type="integer", nullable=False, step=Fraction(1))

    def terms(self) -> tuple[Term, ...]:
        return (Term(vector="people", counts=True, where=self.where),)

    def labels(self) -> tuple[str, ...]:
        return (self.forms[0].name,)


def _check_key(call: Call, node: exp.Distinct) -> None:
    """Refuse everything but the column that says whose a row is."""
    unit = call.unit
    if unit.key is None:
        hint = "Each row is one person: write COUNT(*)."
        raise call.refusal(node, "there is no column that identifies people", hint=hint)
    if len(node.expressions) != 1:
        raise call.refusal(node, "COUNT(DISTINCT …) takes one column", hint=f"Write COUNT(DISTINCT {unit.key}).")
    if not call.is_key(call.row(node.expressions[0])):
        hint = f"Only people can be counted once: COUNT(DISTINCT {unit.key})."
        chosen = node.expressions[0].find(exp.If)
        if chosen is not None:
            hint = f"Write COUNT(DISTINCT {unit.key}) FILTER (WHERE {call.written(chosen.this)})."
        raise call.refusal(node, "one person may hold many different values", hint=hint)
    if unit.per is not None:
        hint = f"What is protected is one person's {unit.per.period}; count rows with COUNT(*)."
        raise call.refusal(node, "one person is many units of protection here", hint=hint)
