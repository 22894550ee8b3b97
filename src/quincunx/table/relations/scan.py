"""All rows of one table that have an owner. See scan.md."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import ClassVar

from quincunx.spec import AddRemove, Replace
from quincunx.table import canonical
from quincunx.table.canonical import Json
from quincunx.table.expression import Column, Expression, Slot
from quincunx.table.operators import apply, literal
from quincunx.table.relations.relation import Component, Owner, Relation
from quincunx.table.relations.size import ONE, Size
from quincunx.table.schema import ColumnSchema, Limits, TableSchema


@dataclass(frozen=True, slots=True, kw_only=True)
class Scan(Relation):
    """All rows of a table that have an owner: rows whose unit key is NULL are dropped.

    number: which reading of a table in the question it is.
    """

    tag: ClassVar[str] = "Scan"
    rowwise: ClassVar[bool] = True

    table: TableSchema
    unit: AddRemove | Replace
    number: int = 0
    _columns: tuple[Column, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_columns", scanned_columns(self.table, self.number))

    @property
    def inputs(self) -> tuple[Relation, ...]:
        return ()

    @property
    def columns(self) -> tuple[Column, ...]:
        return self._columns

    @property
    def owner(self) -> Owner | None:
        if self.table.public:
            return None
        if self.unit.key is None:
            return Owner(components=())
        found = [self._component(self.unit.key, None)]
        if self.unit.per is not None:
            found.append(self._component(self.unit.per.column, self.unit.per.period))
        return Owner(components=tuple(found))

    @property
    def limits(self) -> Limits:
        return self.table.limits

    @property
    def expressions(self) -> tuple[Expression, ...]:
        return ()

    @property
    def tables(self) -> Mapping[int, TableSchema]:
        return {self.number: self.table}

    @property
    def level(self) -> int:
        return 0

    @property
    def height(self) -> int:
        return 0

    def fused(self) -> Relation:
        return self

    def shifted(self, by: int) -> Relation:
        return Scan(table=self.table, unit=self.unit, number=self.number + by)

    def size_of(self, slot: Slot) -> Size:  # noqa: ARG002
        return ONE

    def canonical(self) -> Json:
        # Of one table only its name: keys of questions about one table are older than numbers.
        further: dict[str, Json] = {"number": self.number} if self.number else {}
        return canonical.node(self.tag, table=self.table.name, **further)

    def _component(self, name: str, period: str | None) -> Component:
        """The hidden column that is read from the declared one; licensed where nothing moves the visible values."""
        column = next(each for each in self._columns if each.name.lower() == name.lower())
        declared = self.table.column(name)
        # A bound makes one value of several owners; a double has two zeros and values that equal nothing.
        moved = declared is None or declared.bounds or declared.span or declared.keys or declared.type == "decimal"
        licensed: set[Expression] = set()
        if not moved and period is None:
            licensed = {column}
        elif not moved and period is not None:
            licensed = {apply("date_trunc", literal(period), column)}
            # A day is the beginning of itself.
            licensed |= {column} if (period, column.type) == ("day", "date") else set()
        return Component(column=column, licensed=frozenset(licensed), period=period)


def scanned_columns(table: TableSchema, number: int) -> tuple[Column, ...]:
    """The columns of a reading of a table."""
    return tuple(_column(each, number) for each in table.columns)


def _column(declared: ColumnSchema, number: int) -> Column:
    """A column as it is read: NULL, or clipped to its bounds, whole numbers to the whole numbers between them."""
    low, high = declared.bounds if declared.bounds is not None else (None, None)
    step = declared.step
    if declared.type == "integer":
        low = None if low is None else Fraction(math.ceil(low))
        high = None if high is None else Fraction(math.floor(high))
        step = Fraction(1) if step is None else step
    return Column(
        name=declared.name,
        scan=number,
        type=declared.type,
        nullable=declared.nullable,
        low=low,
        high=high,
        step=step,
    )
