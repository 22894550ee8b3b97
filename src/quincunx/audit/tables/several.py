"""Pairs of neighbouring worlds of several tables at once: a person has rows in some of them, and links of their own.

A linked table has rows of two kinds. Some are linked to one person alone, by a value that nobody else has: they come
and go with that person. The others are linked to anybody, or to nobody, and are the same in both worlds.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, timedelta
from typing import Final

from quincunx.audit.tables.neighbours import STYLES, Maker
from quincunx.audit.tables.world import Pair, Piece, Row
from quincunx.errors import DataError
from quincunx.table import Schema, TableSchema

# A person with so many rows passes the cap of a join with themselves.
GIANT: Final = 1_200
_ROWS: Final = 40
_TRIES: Final = 40
_OWN: Final = 10_000_000
_YEAR: Final = date(3000, 1, 1)
_SHARED: Final = {
    "integer": ("1", "7"),
    "text": ("a", "12"),
    "date": ("2024-02-29", "1970-01-01"),
    "timestamp": ("2024-02-29 12:34:56",),
    "boolean": ("true", "false"),
}


@dataclass(slots=True)
class Together:
    """Makes pairs for the tables that `storage` names. Everything follows from `source`: worlds are public."""

    schema: Schema
    storage: Mapping[str, Mapping[str, str]]
    source: random.Random
    _made: int = field(default=0)
    _makers: dict[str, Maker] = field(init=False)

    def __post_init__(self) -> None:
        unit, choose = self.schema.unit, self.source
        self._makers = {
            name: Maker(table=self.schema.tables[name], unit=unit, storage=dict(kinds), source=choose, giant=GIANT)
            for name, kinds in self.storage.items()
        }

    def pairs(self, count: int, *, giants: int = 0) -> list[Pair]:
        """So many pairs; in the first `giants` of them somebody has a thousand rows in one table."""
        return [self._different(giant=i < giants) for i in range(count)]

    def _different(self, *, giant: bool) -> Pair:
        for _ in range(_TRIES):
            pair = self._pair(giant=giant)
            if any(Counter(one) != Counter(two) for one, two in map(pair.rows, self.storage)):
                return pair
        raise DataError("the declared columns allow no two different worlds", where=", ".join(self.storage))

    def _pair(self, *, giant: bool) -> Pair:
        choose, unit = self.source, self.schema.unit
        # With one row each, much depends on a single row.
        thin = choose.random() < 0.5
        many = choose.choice((0, 1, 3, 6))
        common = [piece for _ in range(many) for piece in self._person(self._next(), thin=thin)]
        common += [self._nobodys(each) for each in self._makers.values() if choose.random() < 0.4]
        changed = unit.group if choose.random() < 0.7 else choose.randint(1, unit.group)
        numbers = [self._next() for _ in range(changed)]
        end = choose.choice(("high", "low")) if choose.random() < 0.25 and not giant else None
        pieces = [self._person(each, end=end, giant=giant and not place) for place, each in enumerate(numbers)]
        kind = "giant" if giant else "swing" if end else "several"
        if unit.keeps_number:
            # As far as it goes: the other ends of all bounds, or nothing but a row that leads nowhere.
            other = None if end is None else choose.choice(("low" if end == "high" else "high", "absent"))
            after = [self._person(each if choose.random() < 0.4 else self._next(), end=other) for each in numbers]
            return _paired(f"replace {kind}", common, pieces, after)
        if changed > 1 and choose.random() < 0.3:
            # A person whose rows change is removed and added back: two of the group's changes.
            return _paired(f"change {kind}", common, pieces[:-1], [self._person(numbers[-2])])
        cut = choose.randint(0, changed)
        return _paired(f"add or remove {kind}", common, pieces[:cut], pieces[cut:])

    def _next(self) -> int:
        self._made += 1
        return self._made

    def _person(
        self, number: int, *, end: str | None = None, giant: bool = False, thin: bool = False
    ) -> tuple[Piece, ...]:
        """The rows of one unit in all tables, or in some of them; in one at least that says whose they are.

        end: many rows at one end of all bounds in every table; "absent": one row, and everything else is missing.
        """
        choose = self.source
        keyed = [name for name, each in self._makers.items() if each.table.link is None]
        some = end == "absent" or (end is None and choose.random() < 0.4)
        there = choose.sample(keyed, choose.randint(1, 1 if end else len(keyed))) if some else keyed
        linked = [name for name in self._makers if name not in keyed and (end or choose.random() < 0.8)]
        linked = [] if end == "absent" else linked
        heaped = choose.choice([*there, *linked]) if giant else None
        found: list[Piece] = []
        for name in (*there, *linked):
            maker = self._makers[name]
            rows = maker.rows("giant" if name == heaped else choose.choice(STYLES))
            rows = rows if name == heaped else rows[: 1 if thin else _ROWS]
            if end is not None:
                rows = (maker.row(end),) * (1 if end == "absent" else _ROWS)
            rows = tuple(self._led(maker.table, row, number, sure=end is not None) for row in rows)
            owner = found[0].owner if name in linked else ()
            found.append(Piece(owner=owner, table=name, rows=rows) if owner else maker.owned_by(number, rows))
        return tuple(found)

    def _nobodys(self, maker: Maker) -> Piece:
        """Rows without an owner; of a linked table those that lead to anybody."""
        name, linked = maker.table.name, maker.table.link is not None
        rows = maker.rows(self.source.choice(STYLES)) if linked else maker.unowned().rows
        led = tuple(self._led(maker.table, row, None) for row in rows[:_ROWS])
        return Piece(owner=(None,), table=name, rows=led)

    def _led(self, table: TableSchema, row: Row, number: int | None, *, sure: bool = False) -> Row:
        """The row with the values on which it is linked, and leads further; sure: to this person's own rows."""
        cells = list(row)
        maker = self._makers[table.name]
        if table.link is not None:
            # The own rows of a person are nobody else's.
            cells[maker.place(table.link.on)] = self._value(table, table.link.on, number, own=number is not None)
        for each in self._makers.values():
            link = each.table.link
            if link is not None and link.via.lower() == table.name.lower() and (sure or self.source.random() < 0.8):
                own = sure or self.source.random() < 0.6
                cells[maker.place(link.on)] = self._value(table, link.on, number, own=own)
        return tuple(cells)

    def _value(self, table: TableSchema, on: str, number: int | None, *, own: bool) -> str:
        """A value that one person alone has, or one of a few."""
        column = table.column(on)
        kind = "text" if column is None else column.type
        if not own or number is None:
            return self.source.choice(_SHARED[kind])
        mine = 3 * number + self.source.randrange(3)
        values = {
            "integer": str(_OWN + mine),
            "text": f"own {mine}",
            "date": (_YEAR + timedelta(days=mine)).isoformat(),
            "timestamp": f"{_YEAR + timedelta(days=mine)} 00:00:00",
        }
        # A truth value is nobody's own.
        return values.get(kind, "")


def _paired(kind: str, common: list[Piece], before: list[tuple[Piece, ...]], after: list[tuple[Piece, ...]]) -> Pair:
    first, second = (tuple(piece for person in people for piece in person) for people in (before, after))
    return Pair(kind=kind, common=tuple(common), before=first, after=second)
