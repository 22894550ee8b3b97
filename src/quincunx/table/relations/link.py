"""All rows of a table whose owners another table knows. See link.md."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from quincunx.table import canonical
from quincunx.table.canonical import Json
from quincunx.table.expression import Column, Expression
from quincunx.table.relations.relation import Owner, Relation
from quincunx.table.relations.scan import Scan, scanned_columns
from quincunx.table.schema import Limits, Schema, TableSchema


@dataclass(frozen=True, slots=True, kw_only=True)
class Link(Relation):
    """The rows of `table`, each once for every owner of a row of `through` with the same value of `on`.

    Its columns are those of the table, and those of `through` that equal the owner, where the table has none of that
    name. number: which reading of a table in the question it is.
    """

    tag: ClassVar[str] = "Link"

    table: TableSchema
    through: Relation
    on: str
    number: int = 0
    _own: tuple[Column, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_own", scanned_columns(self.table, self.number))

    @property
    def inputs(self) -> tuple[Relation, ...]:
        return (self.through,)

    @property
    def columns(self) -> tuple[Column, ...]:
        return (*self._own, *self.shown.values())

    @property
    def shown(self) -> Mapping[int, Column]:
        """By the place of an owner's component, the column that equals it and is no column of the table."""
        components = () if self.through.owner is None else self.through.owner.components
        return {
            place: each.column
            for place, each in enumerate(components)
            if each.column in each.licensed and self.table.column(each.column.name) is None
        }

    @property
    def ends(self) -> tuple[Column, Column]:
        """The column of both tables that must be equal."""
        mine, theirs = (
            next(each for each in columns if each.name.lower() == self.on.lower())
            for columns in (self._own, self.through.columns)
        )
        return mine, theirs

    @property
    def owner(self) -> Owner | None:
        return self.through.owner

    @property
    def limits(self) -> Limits:
        return self.table.limits

    @property
    def expressions(self) -> tuple[Expression, ...]:
        return self.ends

    @property
    def tables(self) -> Mapping[int, TableSchema]:
        return {self.number: self.table, **self.through.tables}

    @property
    def level(self) -> int:
        return self.through.level

    @property
    def height(self) -> int:
        return self.through.height

    def fused(self) -> Relation:
        return self

    def shifted(self, by: int) -> Relation:
        return Link(table=self.table, through=self.through.shifted(by), on=self.on, number=self.number + by)

    def canonical(self) -> Json:
        # Numbered as scans are.
        further: dict[str, Json] = {"number": self.number} if self.number else {}
        through = self.through.canonical()
        return canonical.node(self.tag, table=self.table.name, through=through, on=self.on.lower(), **further)


def reading(schema: Schema, table: TableSchema, number: int = 0) -> Relation:
    """A table as questions read it: by its own key, or by its link. The scans of a link have the numbers after it."""
    via = None if table.link is None else schema.table(table.link.via)
    if table.link is None or via is None:
        return Scan(table=table, unit=schema.unit, number=number)
    return Link(table=table, through=reading(schema, via, number + 1), on=table.link.on, number=number)
