"""One row for each owner and rest of a key: GROUP BY inside a question, and DISTINCT. See rollup.md."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import ClassVar

from quincunx.errors import QueryError
from quincunx.table import canonical
from quincunx.table.canonical import Json
from quincunx.table.expression import Column, Expression, Slot
from quincunx.table.relations.fold import Fold
from quincunx.table.relations.relation import Owner, Relation, check_columns, shifted
from quincunx.table.relations.size import ONE, Size
from quincunx.table.schema import ColumnSchema, Limits


@dataclass(frozen=True, slots=True, kw_only=True)
class RollUp(Relation):
    """One row for the rows of `source` that have one owner and equal `by`: those values, and what `folds` make of them.

    Every component of the owner is known to equal one of `by`, or it is refused; what is grouped by is the hidden owner
    in addition. Columns are called after what they hold, so that neither their order nor their names in a question
    make it another one. floor: the least level of its columns; `narrowed` keeps what they are called by it.
    """

    tag: ClassVar[str] = "RollUp"

    source: Relation
    by: tuple[Expression, ...]
    folds: tuple[Fold, ...] = ()
    floor: int = 0
    _keys: Mapping[Slot, Column] = field(init=False, repr=False, compare=False)
    _totals: Mapping[Slot, Column] = field(init=False, repr=False, compare=False)
    # Worked out here, once: of roll-ups of roll-ups it would be asked for at every level anew.
    _owner: Owner | None = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        # Over rows without projections, so that what only renames a column below makes no other relation.
        keys = sorted({rolled(self.source, each, self.floor): each for each in self.by}.items(), key=_name)
        totals = sorted({rolled(self.source, each, self.floor): each for each in self.folds}.items(), key=_name)
        source = self.source.fused()
        object.__setattr__(self, "by", tuple(self.source.base(each) for _, each in keys))
        object.__setattr__(self, "folds", tuple(each.rewrite(self.source.base) for _, each in totals))
        object.__setattr__(self, "source", source)
        object.__setattr__(self, "_keys", {column.slot: column for column, _ in keys})
        object.__setattr__(self, "_totals", {column.slot: column for column, _ in totals})
        check_columns(self.expressions, source)
        owner = source.owner
        if owner is not None and not owner.components:
            raise QueryError("rows that are people of their own are not rolled up", where="plan")
        if owner is not None and not all(self._licensed(place) for place in range(len(owner.components))):
            raise QueryError("a roll-up does not group by whose its rows are", where="plan")
        object.__setattr__(self, "_owner", None if owner is None else self._rolled(owner))

    @property
    def inputs(self) -> tuple[Relation, ...]:
        return (self.source,)

    @property
    def columns(self) -> tuple[Column, ...]:
        return (*self._keys.values(), *self._totals.values())

    @property
    def owner(self) -> Owner | None:
        return self._owner

    def _rolled(self, below: Owner) -> Owner:
        """Whose its rows are, by its own columns."""
        parts = []
        for place, component in enumerate(below.components):
            licensed = self._licensed(place)
            parts.append(replace(component, column=licensed[0], licensed=frozenset(licensed)))
        return Owner(components=tuple(parts))

    @property
    def rest(self) -> tuple[Expression, ...]:
        """The keys that are no component of the owner."""
        owner = self.source.owner
        components = range(len(owner.components)) if owner is not None else range(0)
        return tuple(each for each in self.by if not any(self.source.licenses(place, each) for place in components))

    @property
    def single(self) -> bool:
        return not self.rest

    @property
    def counted(self) -> Mapping[Slot, int]:
        most = self.source.limits.rows
        pairs = zip(self._totals, self.folds, strict=True)
        return {} if most is None else {slot: most for slot, each in pairs if each.kind in ("count", "distinct")}

    @property
    def limits(self) -> Limits:
        """One row for each owner, or as many as it may have of the rest of the key."""
        below, rest = self.source.limits, self.rest
        if not rest:
            return Limits(rows=1, groups=1, per_group=1, joined=below.joined)
        listed = [None if not isinstance(each, Column) else self.source.declared(each) for each in rest]
        keys = [each.keys for each in listed if each is not None and each.keys is not None]
        known = [below.rows, below.groups, math.prod(map(len, keys)) if len(keys) == len(rest) else None]
        rows = min((each for each in known if each is not None), default=None)
        return Limits(rows=rows, groups=below.groups, joined=below.joined)

    @property
    def expressions(self) -> tuple[Expression, ...]:
        return (*self.by, *(part for each in self.folds for part in each.expressions))

    @property
    def level(self) -> int:
        return max(self.floor, self.source.level + 1)

    @property
    def made(self) -> Mapping[Slot, tuple[Expression, ...]]:
        """Its columns, each with what its values are values of."""
        keys = {slot: (each,) for slot, each in zip(self._keys, self.by, strict=True)}
        return keys | {slot: each.expressions[:1] for slot, each in zip(self._totals, self.folds, strict=True)}

    def fused(self) -> Relation:
        return self

    def narrowed(self, used: frozenset[Slot]) -> Relation:
        folds = tuple(each for slot, each in zip(self._totals, self.folds, strict=True) if slot in used)
        found = replace(self, folds=folds)
        below = frozenset(column.slot for each in found.expressions for column in each.columns())
        source = self.source.narrowed(below)
        return replace(found, source=source, floor=self.floor if source.level == self.source.level else self.level)

    def shifted(self, by: int) -> Relation:
        keys = tuple(shifted(each, by) for each in self.by)
        folds = tuple(each.rewrite(lambda part: shifted(part, by)) for each in self.folds)
        return RollUp(source=self.source.shifted(by), by=keys, folds=folds, floor=self.floor)

    def size_of(self, slot: Slot) -> Size:
        return ONE if slot in self._keys or slot in self._totals else self.source.size_of(slot)

    def declared(self, column: Column) -> ColumnSchema | None:
        shown = dict(zip(self._keys, self.by, strict=True)).get(column.slot)
        return self.source.declared(shown) if isinstance(shown, Column) else None

    def traced(self, expression: Expression) -> Expression:
        meant = dict(zip(self._keys, self.by, strict=True))

        def meaning(node: Expression) -> Expression:
            return meant.get(node.slot, node) if isinstance(node, Column) else node

        return self.source.traced(expression.rewrite(meaning))

    def canonical(self) -> Json:
        by, folds = [each.canonical() for each in self.by], [each.canonical() for each in self.folds]
        return canonical.node(self.tag, source=self.source.canonical(), by=by, folds=folds)

    def _base(self, expression: Expression) -> Expression:
        # Its columns stand for no expression of one row below.
        return expression

    def _licensed(self, component: int) -> list[Column]:
        """Its columns that equal this component of the owner."""
        pairs = zip(self._keys.values(), self.by, strict=True)
        return [column for column, each in pairs if self.source.licenses(component, each)]


def _name(pair: tuple[Column, object]) -> str:
    return pair[0].name


def rolled(source: Relation, part: Expression | Fold, floor: int = 0) -> Column:
    """The column of a roll-up that holds this part, called after what it holds, however the scans are numbered."""
    first = min(source.tables)
    placed = source.base(part) if isinstance(part, Expression) else part.rewrite(source.base)

    def back(each: Expression) -> Expression:
        return shifted(each, -first)

    counted = back(placed) if isinstance(placed, Expression) else placed.rewrite(back)
    word = placed.kind if isinstance(placed, Fold) else placed.name if isinstance(placed, Column) else "key"
    digest = hashlib.sha256(json.dumps(counted.canonical(), sort_keys=True).encode()).hexdigest()[:32]
    level = max(floor, source.fused().level + 1)
    return Column(name=f"{word.partition(':')[0]}:{digest}", scan=first, level=level, **placed.facts)
