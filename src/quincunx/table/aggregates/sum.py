"""SUM(x): a number with proved bounds, added up. See sum.md."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Self

from sqlglot import exp

from quincunx.table.aggregates.aggregate import Aggregate
from quincunx.table.aggregates.call import Call, Form
from quincunx.table.aggregates.count import Count
from quincunx.table.aggregates.number import number
from quincunx.table.aggregates.term import Term
from quincunx.table.aggregates.total import Total
from quincunx.table.expression import Call as Product
from quincunx.table.expression import Expression
from quincunx.table.interval import Bounds
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

    def over(self, other: Aggregate) -> Bounds:
        """A sum of w·x over the sum of w, or of x over a count, is a mean of x, w ≥ 0; a row without x counts as 0."""
        if other.where != self.where or not isinstance(other, Sum | Count):
            return None, None
        value = self._weighted_by(other.argument) if isinstance(other, Sum) else self.argument
        if isinstance(other, Count) and other.argument not in (None, self.argument):
            return None, None
        if value is None or value.low is None or value.high is None:
            return None, None
        if self._everywhere(value, other):
            return value.low, value.high
        return min(value.low, Fraction(0)), max(value.high, Fraction(0))

    def _everywhere(self, value: Expression, other: Aggregate) -> bool:
        """Whether every row that adds to the other has a value: NULL is possible where the weight is NULL too."""
        if isinstance(other, Count):
            return not value.nullable or other.argument == self.argument
        weight = other.argument
        return not value.nullable and (not self.argument.nullable or (weight is not None and weight.nullable))

    def _weighted_by(self, weight: Expression) -> Expression | None:
        """The other factor of the argument, where one is this weight, which is never negative."""
        product = self.argument
        if weight.low is None or weight.low < 0 or not isinstance(product, Product) or product.operator != "multiply":
            return None
        one, two = product.arguments
        return two if one == weight else one if two == weight else None

    def labels(self) -> tuple[str, ...]:
        return ("SUM",)
