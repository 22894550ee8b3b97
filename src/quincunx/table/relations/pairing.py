"""Rows of two relations side by side: what joins with private and with public rows have in common."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, Self

from quincunx.errors import QueryError
from quincunx.table import canonical
from quincunx.table.canonical import Json
from quincunx.table.expression import Column, Expression, Slot
from quincunx.table.relations.relation import Relation, check_columns, shifted
from quincunx.table.relations.size import ONE, Size
from quincunx.table.schema import ColumnSchema

# inner: pairs alone. left: and rows of the left without a partner. full: and rows of either side without one.
Kind = Literal["inner", "left", "full"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Pairing(Relation):
    """Pairs of a row of `left` and one of `right`, and for outer kinds also rows that have no partner.

    condition: which pairs, of an outer kind; None: all that may meet. The condition of an inner kind is a Filter above.
    supplied: the columns of a side that may have no partner, as slots of their own, with what they show: they are NULL
    where the partner is missing, also if what they show of a row never is. So nothing is substituted through them.
    """

    left: Relation
    right: Relation
    kind: Kind = "inner"
    condition: Expression | None = None
    supplied: tuple[tuple[Column, Expression], ...] = ()

    def __post_init__(self) -> None:
        check_columns(self.expressions, self.left, self.right)
        if set(self.left.tables) & set(self.right.tables):
            raise QueryError("two readings of a table have one number", where="plan")
        if self.kind == "inner" and (self.condition is not None or self.supplied):
            raise QueryError("the condition of an inner join is a filter above it", where="plan")

    def with_supplied(self) -> Self:
        """The same with all columns of the sides that may have no partner."""
        sides = {"inner": (), "left": (self.right,), "full": (self.left, self.right)}[self.kind]
        level = 1 + max(each.level for each in self.inputs)
        found = [(replace(column, level=level, nullable=True), column) for side in sides for column in side.columns]
        if len({own.slot for own, _ in found}) < len(found):
            raise QueryError("two columns have the same name", where="plan")
        return replace(self, supplied=tuple(found))

    def shown(self, column: Column) -> Column:
        """The column of this relation that shows one of its inputs."""
        return next((own for own, each in self.supplied if each == column), column)

    def side(self, keys: Sequence[Expression]) -> Relation | None:
        """The side from which all columns of these come; None where they come from both, or from none."""
        scans = {column.scan for key in keys for column in key.columns()}
        return next((each for each in self.inputs if scans and scans <= set(each.tables)), None)

    @property
    def inputs(self) -> tuple[Relation, ...]:
        return (self.left, self.right)

    @property
    def columns(self) -> tuple[Column, ...]:
        own = tuple(column for column, _ in self.supplied)
        kept = {"inner": (self.left, self.right), "left": (self.left,), "full": ()}[self.kind]
        return (*(column for side in kept for column in side.columns), *own)

    @property
    def expressions(self) -> tuple[Expression, ...]:
        condition = () if self.condition is None else (self.condition,)
        return (*condition, *(each for _, each in self.supplied))

    @property
    def made(self) -> Mapping[Slot, tuple[Expression, ...]]:
        return {own.slot: (each,) for own, each in self.supplied}

    @property
    def level(self) -> int:
        own = (column.level for column, _ in self.supplied)
        return max(*(each.level for each in self.inputs), *own)

    def size_of(self, slot: Slot) -> Size:
        return ONE if slot in self.made else max(each.size_of(slot) for each in self.inputs)

    def declared(self, column: Column) -> ColumnSchema | None:
        shows = next((each for own, each in self.supplied if own.slot == column.slot), column)
        for side in self.inputs:
            found = side.declared(shows) if isinstance(shows, Column) else None
            if found is not None:
                return found if shows is column else found.or_missing()
        return None

    def fused(self) -> Relation:
        return replace(
            self,
            left=self.left.fused(),
            right=self.right.fused(),
            condition=None if self.condition is None else self.base(self.condition),
            supplied=tuple((own, self.base(each)) for own, each in self.supplied),
        )

    def shifted(self, by: int) -> Relation:
        return replace(
            self,
            left=self.left.shifted(by),
            right=self.right.shifted(by),
            condition=None if self.condition is None else shifted(self.condition, by),
            supplied=tuple((replace(own, scan=own.scan + by), shifted(each, by)) for own, each in self.supplied),
        )

    def narrowed(self, used: frozenset[Slot]) -> Relation:
        kept = tuple((own, each) for own, each in self.supplied if own.slot in used)
        return Relation.narrowed(replace(self, supplied=kept), used)

    def canonical(self) -> Json:
        return canonical.node(
            self.tag,
            kind=self.kind,
            left=self.left.canonical(),
            right=self.right.canonical(),
            condition=canonical.part(self.condition),
            columns=[[own.canonical(), each.canonical()] for own, each in self.supplied],
            **self._own(),
        )

    def _own(self) -> dict[str, Json]:
        return {}
