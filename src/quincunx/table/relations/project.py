"""Rows with new columns, each computed from its own row. See project.md."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from quincunx.errors import QueryError
from quincunx.table import canonical
from quincunx.table.canonical import Json
from quincunx.table.expression import Column, Expression, Slot
from quincunx.table.relations.relation import Owner, Relation, check_columns, shifted
from quincunx.table.relations.size import Size
from quincunx.table.schema import Limits

# By name, an expression over the columns of the relation below.
Chosen = tuple[tuple[str, Expression], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Project(Relation):
    """Each row of `source` with new columns, computed from that row alone. The owner of a row stays its owner.

    Its columns are slots of their own, also where one is another under a new name.
    """

    tag: ClassVar[str] = "Project"
    rowwise: ClassVar[bool] = True

    source: Relation
    chosen: Chosen
    _columns: tuple[Column, ...] = field(init=False, repr=False, compare=False)
    _meant: Mapping[Slot, Expression] = field(init=False, repr=False, compare=False)
    # Added up here, once: what a chain of projections stands for may be too large to be looked at.
    _sizes: Mapping[Slot, Size] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        check_columns(self.expressions, self.source)
        scan, level = min(self.source.tables), self.source.level + 1
        columns = tuple(Column(name=name, scan=scan, level=level, **each.facts) for name, each in self.chosen)
        meant = {column.slot: each for column, (_, each) in zip(columns, self.chosen, strict=True)}
        if len(meant) < len(columns):
            raise QueryError("two columns have the same name", where="plan")
        object.__setattr__(self, "_columns", columns)
        object.__setattr__(self, "_meant", meant)
        object.__setattr__(self, "_sizes", {slot: self.source.size(each) for slot, each in meant.items()})

    @property
    def inputs(self) -> tuple[Relation, ...]:
        return (self.source,)

    @property
    def columns(self) -> tuple[Column, ...]:
        return self._columns

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
        return self.source.limits_by([each.rewrite(self._meaning) for each in keys])

    @property
    def expressions(self) -> tuple[Expression, ...]:
        return tuple(each for _, each in self.chosen)

    @property
    def level(self) -> int:
        return self.source.level + 1

    def fused(self) -> Relation:
        return self.source.fused()

    def shifted(self, by: int) -> Relation:
        chosen = tuple((name, shifted(each, by)) for name, each in self.chosen)
        return Project(source=self.source.shifted(by), chosen=chosen)

    def size_of(self, slot: Slot) -> Size:
        found = self._sizes.get(slot)
        return self.source.size_of(slot) if found is None else found

    def canonical(self) -> Json:
        columns = [[name, expression.canonical()] for name, expression in self.chosen]
        return canonical.node(self.tag, source=self.source.canonical(), columns=columns)

    def _base(self, expression: Expression) -> Expression:
        return self.source._base(expression.rewrite(self._meaning))

    def _meaning(self, node: Expression) -> Expression:
        return self._meant.get(node.slot, node) if isinstance(node, Column) else node
