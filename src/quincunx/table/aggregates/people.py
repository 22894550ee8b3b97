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
        node, unit = call.node.this, call.unit
        if not isinstance(node, exp.Distinct) or unit.key is None or len(node.expressions) != 1:
            return None
        if not call.is_key(call.row(node.expressions[0])):
            _check_choice(call, node)
            return None
        if unit.per is not None:
            hint = f"What is protected is one person's {unit.per.period}; count rows with COUNT(*)."
            raise call.refusal(node, "one person is many units of protection here", hint=hint)
        return cls(where=call.where)

    def result(self) -> Facts:
        return Facts(type="integer", nullable=False, step=Fraction(1))

    def terms(self) -> tuple[Term, ...]:
        return (Term(vector="people", counts=True, where=self.where),)

    def labels(self) -> tuple[str, ...]:
        return (self.forms[0].name,)


def _check_choice(call: Call, node: exp.Distinct) -> None:
    """Refuse people who are chosen by CASE: counted as values, they would cost what all their rows do."""
    for chosen in node.find_all(exp.If):
        result = chosen.args.get("true")
        if isinstance(result, exp.Column) and call.is_key(call.row(result)):
            hint = f"Write COUNT(DISTINCT {call.unit.key}) FILTER (WHERE {call.written(chosen.this)})."
            raise call.refusal(node, "one person may hold many different values", hint=hint)
