"""SUM(x): a number with proved bounds, added up. See sum.md."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Self

from sqlglot import exp

from quincunx.table.aggregates.call import Call, Form
from quincunx.table.aggregates.number import number
from quincunx.table.aggregates.term import Term
from quincunx.table.aggregates.total import Total
from quincunx.table.expression import Expression
from quincunx.table.typing.facts import Facts


@dataclass(frozen=True, slots=True, kw_only=True)
class Sum(Total):
    """The sum of the argument, NULL left out."""

    kind: ClassVar[str] = "sum"
    noun: ClassVar[str] = "sum"
    nodes: ClassVar[Mapping[type[exp.Expr], frozenset[str]]] = {exp.Sum: frozenset({"this"})}
    names: ClassVar[tuple[str, ...]] = ("SUM",)
    forms: ClassVar[tuple[Form, ...]] = (Form(name="SUM", written="SUM({})", needs="bounded", depth=3, often=2),)
    climbs: ClassVar[bool] = True

    argument: Expression

    @classmethod
    def read(cls, call: Call) -> Self | None:
        return cls(argument=number(call, "SUM"), where=call.where)

    def result(self) -> Facts:
        return Facts(type=self.argument.type, nullable=False, step=self.argument.step)

    def terms(self) -> tuple[Term, ...]:
        return (Term(counts=False, argument=self.argument, where=self.where, called="SUM"),)

    def labels(self) -> tuple[str, ...]:
        return ("SUM",)
