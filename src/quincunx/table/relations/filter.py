"""Rows for which a condition is true. See filter.md."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from quincunx.errors import QueryError
from quincunx.table import canonical
from quincunx.table.canonical import Json
from quincunx.table.expression import Call, Column, Expression, Literal
from quincunx.table.relations.relation import Owner, Relation, check_columns, shifted
from quincunx.table.schema import Limits


@dataclass(frozen=True, slots=True, kw_only=True)
class Filter(Relation):
    """The rows of `source` for which `condition` is true; neither false nor NULL."""

    tag: ClassVar[str] = "Filter"
    rowwise: ClassVar[bool] = True

    source: Relation
    condition: Expression

    def __post_init__(self) -> None:
        check_columns((self.condition,), self.source)
        if self.condition.type != "boolean":
            raise QueryError("a condition is true, false or NULL", where="plan", got=self.condition.type)

    @property
    def inputs(self) -> tuple[Relation, ...]:
        return (self.source,)

    @property
    def columns(self) -> tuple[Column, ...]:
        return self.source.columns

    @property
    def owner(self) -> Owner | None:
        return self.source.owner

    @property
    def single(self) -> bool:
        return self.source.single

    @property
    def limits(self) -> Limits:
        return self.source.limits

    def limits_by(self, keys: Sequence[Expression]) -> Limits:
        return self.source.limits_by(keys)

    @property
    def expressions(self) -> tuple[Expression, ...]:
        return (self.condition,)

    def fused(self) -> Relation:
        """One Filter where several follow one another; none where the condition says nothing."""
        below, condition = self.source.fused(), self.source.base(self.condition)
        if is_true(condition):
            return below
        if isinstance(below, Filter):
            return Filter(source=below.source, condition=_both(below.condition, condition))
        return Filter(source=below, condition=condition)

    def shifted(self, by: int) -> Relation:
        return Filter(source=self.source.shifted(by), condition=shifted(self.condition, by))

    def canonical(self) -> Json:
        return canonical.node(self.tag, source=self.source.canonical(), condition=self.condition.canonical())


def is_true(condition: Expression | None) -> bool:
    """Whether a condition is written TRUE, so that it says nothing."""
    return isinstance(condition, Literal) and condition.value is True


def _both(first: Expression, second: Expression) -> Expression:
    nullable = first.nullable or second.nullable
    return Call(type="boolean", nullable=nullable, operator="and", arguments=(first, second))
