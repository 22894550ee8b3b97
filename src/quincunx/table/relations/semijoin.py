"""Rows with a column that says whether another relation has a partner for them. See semijoin.md."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from quincunx.errors import QueryError
from quincunx.table import canonical
from quincunx.table.canonical import Json
from quincunx.table.expression import Column, Expression, Slot
from quincunx.table.relations.join import JOINED, allowed
from quincunx.table.relations.relation import Owner, Relation, check_columns, shifted
from quincunx.table.schema import Limits


@dataclass(frozen=True, slots=True, kw_only=True)
class SemiJoin(Relation):
    """Each row of `source` with one column more: whether `other` has a partner for it.

    A partner is a row of the same owner (of anyone where `other` is public) whose `listed` equal the row's `tested`,
    and for which the condition over both is true. joined: where there is a condition, an owner with n rows and m rows
    of `other` has no partners if n·m is larger. exists: true or false, as EXISTS says; otherwise as IN says it, NULL
    where a NULL among `tested` or `listed` leaves it open.
    """

    tag: ClassVar[str] = "SemiJoin"

    source: Relation
    other: Relation
    column: Column
    tested: tuple[Expression, ...] = ()
    listed: tuple[Expression, ...] = ()
    condition: Expression | None = None
    joined: int = JOINED
    exists: bool

    def __post_init__(self) -> None:
        check_columns(self.tested, self.source)
        check_columns(self.listed, self.other)
        if self.condition is not None:
            check_columns((self.condition,), self.source, self.other)
        if len(self.tested) != len(self.listed) or (self.condition is not None and not self.exists):
            raise QueryError("what is compared does not fit together", where="plan")
        if self.other.owner is not None and self.source.owner is None:
            raise QueryError("public rows cannot ask about people", where="plan")

    @classmethod
    def of(
        cls,
        source: Relation,
        other: Relation,
        pairs: tuple[tuple[Expression, Expression], ...],
        *,
        condition: Expression | None = None,
        exists: bool,
    ) -> SemiJoin:
        """The rows of a relation, with the answer as their last column."""
        open_ = not exists and any(each.nullable for pair in pairs for each in pair)
        level = max(source.level, other.level) + 1
        column = Column(name="m", scan=min(source.tables), level=level, type="boolean", nullable=open_)
        tested, listed = (tuple(each) for each in zip(*pairs, strict=True)) if pairs else ((), ())
        return cls(
            source=source,
            other=other,
            column=column,
            tested=tested,
            listed=listed,
            condition=condition,
            joined=allowed(source.limits, other.limits),
            exists=exists,
        )

    @property
    def inputs(self) -> tuple[Relation, ...]:
        return (self.source, self.other)

    @property
    def columns(self) -> tuple[Column, ...]:
        return (*self.source.columns, self.column)

    @property
    def owner(self) -> Owner | None:
        return self.source.owner

    @property
    def limits(self) -> Limits:
        return self.source.limits

    def limits_by(self, keys: Sequence[Expression]) -> Limits:
        return self.source.limits_by(keys)

    @property
    def expressions(self) -> tuple[Expression, ...]:
        return (*self.tested, *self.listed, *(() if self.condition is None else (self.condition,)))

    @property
    def paired(self) -> bool:
        """Whether rows of one owner are paired with each other; otherwise they are looked up by their equalities."""
        return self.condition is not None and self.other.owner is not None

    @property
    def level(self) -> int:
        return self.column.level

    @property
    def made(self) -> Mapping[Slot, tuple[Expression, ...]]:
        return {self.column.slot: ()}

    def narrowed(self, used: frozenset[Slot]) -> Relation:
        if self.column.slot not in used:
            return self.source.narrowed(used)
        below = used | {column.slot for each in self.expressions for column in each.columns()}
        return replace(self, source=self.source.narrowed(below), other=self.other.narrowed(below))

    def fused(self) -> Relation:
        return replace(
            self,
            source=self.source.fused(),
            other=self.other.fused(),
            tested=tuple(self.source.base(each) for each in self.tested),
            listed=tuple(self.other.base(each) for each in self.listed),
            condition=None if self.condition is None else self.base(self.condition),
        )

    def shifted(self, by: int) -> Relation:
        return replace(
            self,
            source=self.source.shifted(by),
            other=self.other.shifted(by),
            column=replace(self.column, scan=self.column.scan + by),
            tested=tuple(shifted(each, by) for each in self.tested),
            listed=tuple(shifted(each, by) for each in self.listed),
            condition=None if self.condition is None else shifted(self.condition, by),
        )

    def lacks(self, who: str) -> tuple[str, ...]:
        return (
            (f"{who} with more than {self.joined:,} pairs of rows in EXISTS have none there.",) if self.paired else ()
        )

    def canonical(self) -> Json:
        bound: dict[str, Json] = {"joined": self.joined} if self.paired else {}
        return canonical.node(
            self.tag,
            source=self.source.canonical(),
            other=self.other.canonical(),
            tested=[each.canonical() for each in self.tested],
            listed=[each.canonical() for each in self.listed],
            condition=canonical.part(self.condition),
            exists=self.exists,
            **bound,
        )
