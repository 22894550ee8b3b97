"""Worlds of one declared table: the pairs that replay of tables makes, for a statistic of one's own."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from quincunx.audit.spaces.space import Space
from quincunx.errors import ParameterError

# The engine loads with the first table, not with this room.
if TYPE_CHECKING:
    from quincunx.audit.tables.world import Pair, Piece
    from quincunx.table import Schema, TableSchema

Side: TypeAlias = "tuple[Pair, int]"

_GIANTS: Final = 0.05
_NOBODY: Final = (None,)


@dataclass(frozen=True, slots=True, kw_only=True, init=False, eq=False)
class Tables(Space["Side"]):
    """Tables that a schema declares, under its unit. A world, as the statistic sees it, is `form` of a list of dicts.

    schema: the tables and the unit of protection. table: the private table's name, where there are several. storage:
    column → its type in the source, where it is not the usual one. Values are what the source may hold: ends of bounds
    and what lies beyond them, halves of steps, NULL, NaN, infinities, unlisted keys; one person in twenty worlds has
    ten thousand rows.
    """

    schema: Schema
    table: TableSchema
    storage: Mapping[str, str]
    form: Callable[[list[dict[str, Any]]], Any]
    _owned: tuple[int, ...] = field(init=False, repr=False)

    def __init__(
        self,
        schema: Schema,
        *,
        table: str | None = None,
        storage: Mapping[str, str] | None = None,
        form: Callable[[list[dict[str, Any]]], Any] = list,
    ) -> None:
        from quincunx.audit.tables.values import STORAGE

        private = {name: each for name, each in schema.tables.items() if not each.public}
        if table is None and len(private) != 1:
            hint = f"Name one: {', '.join(private) or 'there is none'}."
            raise ParameterError("one private table is needed", where="Tables", got=f"{len(private)}", hint=hint)
        if table is not None and table not in private:
            raise ParameterError("no such private table", where="Tables", got=repr(table))
        chosen = private[table or next(iter(private))]
        given = {name.lower(): kind for name, kind in (storage or {}).items()}
        unknown = given.keys() - {each.name.lower() for each in chosen.columns}
        if unknown:
            raise ParameterError("no such column", where="Tables(storage)", got=", ".join(sorted(unknown)))
        kinds = {each.name.lower(): given.get(each.name.lower(), STORAGE[each.type]) for each in chosen.columns}
        unit = schema.unit
        owning = {name.lower() for name in (unit.key, unit.per and unit.per.column) if name}
        owned = tuple(i for i, each in enumerate(chosen.columns) if each.name.lower() in owning)
        fields = {"schema": schema, "table": chosen, "storage": kinds, "form": form, "_owned": owned}
        for name, value in fields.items():
            object.__setattr__(self, name, value)

    def draw(self, source: random.Random) -> Side:
        from quincunx.audit.tables.neighbours import Maker

        maker = Maker(table=self.table, unit=self.schema.unit, storage=dict(self.storage), source=source)
        pair = maker.pairs(1, giants=int(source.random() < _GIANTS))[0]
        if any(_nobodys(piece) for piece in (*pair.before, *pair.after)):
            # Rows without an owner are one heap: a part of it that changes would be a change and a half.
            pair = replace(pair, common=tuple(piece for piece in pair.common if not _nobodys(piece)))
        return pair, source.randrange(2)

    def neighbour(self, world: Side, source: random.Random) -> Side:  # noqa: ARG002 - a pair is drawn as one
        """The other world of the pair that this one was drawn with."""
        return world[0], 1 - world[1]

    def smaller(self, before: Side, after: Side) -> Iterator[tuple[Side, Side]]:
        from quincunx.audit.shrink.tables import fewer

        for pair in fewer(before[0], {self.table.name: self._owned}):
            yield (pair, before[1]), (pair, after[1])

    def given(self, world: Side) -> Any:
        from quincunx.audit.tables.worlds import typed

        return self.form(typed(self.table, self.storage, world[0].worlds[world[1]]))

    def same(self, before: Side, after: Side) -> bool:
        return Counter(before[0].worlds[before[1]]) == Counter(after[0].worlds[after[1]])

    def kind(self, before: Side, after: Side) -> str:  # noqa: ARG002 - both are of one pair
        return before[0].kind

    def words(self) -> str:
        unit = self.schema.unit
        what = "one row" if unit.key is None else "one person" if unit.per is None else f"one person-{unit.per.period}"
        return f"{unit.kind} {what} of {self.table.name}" + (f" x {unit.group}" if unit.group > 1 else "")


def _nobodys(piece: Piece) -> bool:
    return piece.owner == _NOBODY
