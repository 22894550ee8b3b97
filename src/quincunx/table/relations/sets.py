"""Two relations as one: UNION ALL, INTERSECT and EXCEPT. See sets.md."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, ClassVar, Literal, TypeAlias

from quincunx.errors import QueryError
from quincunx.table import canonical
from quincunx.table.canonical import Json
from quincunx.table.expression import Column, Expression, Slot
from quincunx.table.relations.relation import Component, Owner, Relation, check_columns, shifted
from quincunx.table.relations.size import ONE, Size
from quincunx.table.schema import ColumnSchema, Limits

Way: TypeAlias = Literal["union_all", "intersect", "intersect_all", "except", "except_all"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Sets(Relation):
    """The rows of two relations, column by column: all of both, those that are in both, or those in the first alone.

    left, right: as many columns of either side, of equal types. Rows are compared with their hidden owners. UNION is
    a roll-up of UNION ALL by all columns. Columns are called by their place. floor: the least level of its columns;
    `narrowed` keeps what they are called by it.
    """

    tag: ClassVar[str] = "Sets"

    way: Way
    first: Relation
    second: Relation
    left: tuple[Expression, ...]
    right: tuple[Expression, ...]
    floor: int = 0
    _own: Mapping[Slot, Column] = field(init=False, repr=False, compare=False)
    # Worked out here, once: of unions of unions it would be asked for at every level anew.
    _owner: Owner | None = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        # Over rows without projections, so that what only renames a column below makes no other relation.
        for side, chosen in (("first", "left"), ("second", "right")):
            relation: Relation = getattr(self, side)
            based = tuple(relation.base(each) for each in getattr(self, chosen))
            object.__setattr__(self, chosen, based)
            object.__setattr__(self, side, relation.fused())
            check_columns(based, getattr(self, side))
        if [each.type for each in self.left] != [each.type for each in self.right]:
            raise QueryError("the columns of both sides have different types", where="plan")
        columns = (
            Column(name=f"set:{place}", scan=min(self.tables), level=self.level, **_facts(self.way, *pair))
            for place, pair in enumerate(zip(self.left, self.right, strict=True))
        )
        object.__setattr__(self, "_own", {each.slot: each for each in columns})
        owners = self.first.owner, self.second.owner
        if any(each is None or not each.components for each in owners) or _types(owners[0]) != _types(owners[1]):
            raise QueryError("both sides are rows of people, whose keys have one type", where="plan")
        if self.way != "union_all" and not all(self.places(place) for place in range(len(_types(owners[0])))):
            raise QueryError("rows are compared without whose they are", where="plan")
        parts = range(len(_types(owners[0])))
        object.__setattr__(self, "_owner", Owner(components=tuple(map(self._component, parts))))

    @property
    def inputs(self) -> tuple[Relation, ...]:
        return (self.first, self.second)

    @property
    def columns(self) -> tuple[Column, ...]:
        return tuple(self._own.values())

    @property
    def owner(self) -> Owner | None:
        return self._owner

    @property
    def limits(self) -> Limits:
        """UNION ALL adds up what both sides may have; the others have at most the rows of the first."""
        first, second = self.first.limits, self.second.limits
        if self.way != "union_all":
            return first
        pairs = {name: (most, second.stated[name]) for name, most in first.stated.items()}
        caps = [each.joined for each in (first, second) if each.joined is not None]
        found = {name: None if one is None or two is None else one + two for name, (one, two) in pairs.items()}
        return Limits(**found, joined=min(caps, default=None))

    @property
    def expressions(self) -> tuple[Expression, ...]:
        return (*self.left, *self.right)

    @property
    def level(self) -> int:
        return max(self.floor, *(1 + each.level for each in self.inputs))

    @property
    def single(self) -> bool:
        return self.way != "union_all" and self.first.single

    @property
    def counted(self) -> Mapping[Slot, int]:
        """Columns that count on both sides, cut to the larger of the two limits."""
        sides = ((self.first.counted, self.left), (self.second.counted, self.right))
        found = [
            [counted.get(each.slot) if isinstance(each, Column) else None for each in part] for counted, part in sides
        ]
        pairs = zip(self._own, *found, strict=True)
        return {slot: max(one, two) for slot, one, two in pairs if one is not None and two is not None}

    @property
    def made(self) -> Mapping[Slot, tuple[Expression, ...]]:
        """Its columns, each with what its values are values of."""
        return dict(zip(self._own, zip(self.left, self.right, strict=True), strict=True))

    def places(self, component: int) -> list[int]:
        """Where columns stand that equal this component of the owner on both sides."""
        pairs = enumerate(zip(self.left, self.right, strict=True))
        return [
            place
            for place, (one, two) in pairs
            if self.first.licenses(component, one) and self.second.licenses(component, two)
        ]

    def fused(self) -> Relation:
        return self

    def narrowed(self, used: frozenset[Slot]) -> Relation:  # noqa: ARG002 - which rows are alike depends on all columns
        sides = [
            (relation, frozenset(column.slot for each in part for column in each.columns()))
            for relation, part in ((self.first, self.left), (self.second, self.right))
        ]
        first, second = (relation.narrowed(slots) for relation, slots in sides)
        same = max(first.level, second.level) == max(each.level for each in self.inputs)
        return replace(self, first=first, second=second, floor=self.floor if same else self.level)

    def shifted(self, by: int) -> Relation:
        left, right = (tuple(shifted(each, by) for each in part) for part in (self.left, self.right))
        first, second = self.first.shifted(by), self.second.shifted(by)
        return Sets(way=self.way, first=first, second=second, left=left, right=right, floor=self.floor)

    def size_of(self, slot: Slot) -> Size:
        return ONE if slot in self._own else max(each.size_of(slot) for each in self.inputs)

    def declared(self, column: Column) -> ColumnSchema | None:
        """What is declared of a column on both sides alike."""
        pair = self.made.get(column.slot)
        if pair is None or not all(isinstance(each, Column) for each in pair):
            return None
        one, two = self.first.declared(pair[0]), self.second.declared(pair[1])  # type: ignore[arg-type]
        return None if one is None or two is None or replace(one, name=two.name) != two else one

    def traced(self, expression: Expression) -> Expression:
        return expression

    def canonical(self) -> Json:
        left, right = ([each.canonical() for each in part] for part in (self.left, self.right))
        first, second = self.first.canonical(), self.second.canonical()
        return canonical.node(self.tag, way=self.way, first=first, second=second, left=left, right=right)

    def _base(self, expression: Expression) -> Expression:
        # Its columns stand for no expression of one row below.
        return expression

    def _component(self, place: int) -> Component:
        """Hidden as on both sides, and licensed where both sides show it in one place."""
        below = self.first.owner.components[place]  # type: ignore[union-attr]
        columns = self.columns
        licensed = [columns[each] for each in self.places(place)]
        # Without one the hidden column stays what it was: no column of this relation shows it.
        return replace(below, column=licensed[0] if licensed else below.column, licensed=frozenset(licensed))


def _types(owner: Owner | None) -> list[tuple[str, str | None]]:
    found = () if owner is None else owner.components
    return [("" if each.period else each.column.type, each.period) for each in found]


def _facts(way: Way, one: Expression, two: Expression) -> dict[str, Any]:
    """What is proved of a column: of either side, or of the first alone where its rows are chosen."""
    if way != "union_all":
        return one.facts
    ends: dict[str, Fraction | None] = {
        "low": None if one.low is None or two.low is None else min(one.low, two.low),
        "high": None if one.high is None or two.high is None else max(one.high, two.high),
    }
    step = one.step if one.step == two.step else None
    return {"type": one.type, "nullable": one.nullable or two.nullable, "step": step, **ends}
