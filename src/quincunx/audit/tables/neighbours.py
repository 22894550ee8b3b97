"""Pairs of neighbouring worlds under a unit of protection, made so that the change is as large as one can be."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from typing import Final

from quincunx.audit.tables import values
from quincunx.audit.tables.world import Pair, Piece, Row
from quincunx.errors import DataError
from quincunx.spec import AddRemove, Replace
from quincunx.table import TableSchema, rungs

# How the rows of one piece look; see `rows`.
STYLES: Final = ("one", "few", "limit", "over", "heap", "spread", "high", "low")
GIANT: Final = 10_000
_TRIES: Final = 40
_MONDAY: Final = date(2023, 12, 25)
_DAYS: Final = {"day": 1, "week": 7, "month": 31, "quarter": 92, "year": 366}


@dataclass(slots=True)
class Maker:
    """Makes pieces and pairs for one table. Everything follows from `source`, which is no noise: worlds are public."""

    table: TableSchema
    unit: AddRemove | Replace
    storage: dict[str, str]
    source: random.Random
    giant: int = GIANT
    _made: int = field(default=0)
    _pools: list[tuple[str | None, ...]] = field(init=False)
    _listed: list[tuple[str | None, ...]] = field(init=False)
    _ends: list[tuple[str, str] | None] = field(init=False)

    def __post_init__(self) -> None:
        columns = self.table.columns
        self._pools = [values.pool(column, self.storage[column.name.lower()]) for column in columns]
        self._listed = [values.listed(column) for column in columns]
        self._ends = [values.extremes(column) for column in columns]

    def pairs(self, count: int, *, giants: int = 0) -> list[Pair]:
        """So many pairs; the first `giants` of them have a piece with ten thousand rows."""
        return [self._different(giant=i < giants) for i in range(count)]

    def _different(self, *, giant: bool) -> Pair:
        """A pair of two different worlds: few columns and values may draw one world twice."""
        for _ in range(_TRIES):
            pair = self._pair(giant=giant)
            first, second = pair.worlds
            if Counter(first) != Counter(second):
                return pair
        raise DataError("the declared columns allow no two different worlds", where=self.table.name)

    def _pair(self, *, giant: bool) -> Pair:
        choose = self.source
        common = tuple(self._piece(choose.choice(STYLES)) for _ in range(choose.choice((0, 1, 4, 8))))
        if choose.random() < 0.3:
            common += (self.unowned(),)
        changed = self.unit.group if choose.random() < 0.7 else choose.randint(1, self.unit.group)
        if choose.random() < 0.15 and not giant:
            return self._swing(common)
        style = "giant" if giant else choose.choice(STYLES)
        pieces = [self._piece(style if i == 0 else choose.choice((*STYLES, style))) for i in range(changed)]
        if self.unit.keeps_number:
            return Pair(
                kind=f"replace {style}",
                common=common,
                before=tuple(pieces),
                after=tuple(self._other(piece) for piece in pieces),
            )
        if changed > 1 and choose.random() < 0.3:
            # A person whose rows change is removed and added back: two of the group's changes.
            pieces = [*pieces[:-2], pieces[-2], self._other(pieces[-2], same=True)]
            return Pair(kind=f"change {style}", common=common, before=tuple(pieces[:-1]), after=(pieces[-1],))
        if choose.random() < 0.1:
            return Pair(kind="unowned", common=common, before=(self.unowned(),), after=())
        cut = choose.randint(0, changed)
        kind = f"add or remove {style}"
        return Pair(kind=kind, common=common, before=tuple(pieces[:cut]), after=tuple(pieces[cut:]))

    def _swing(self, common: tuple[Piece, ...]) -> Pair:
        """The whole group with one row many times, at one end of all bounds; replaced by the other ends and keys."""
        ends = self.source.sample(("high", "low"), 2)
        first = self.row(ends[0])
        other = tuple(self._across(place, cell, ends[1]) for place, cell in enumerate(first))
        count = self.table.limits.rows or self.source.choice((1, 2, 4, 9))
        count = 1 if self.unit.key is None else min(2 * count, 400)
        # Every other time all rows of one end hold values of their own, so that as many as possible are different.
        varied = self._made % 2 == 0

        def piece(row: Row, place: int) -> Piece:
            rows = (row,) * count
            if varied:
                rows = tuple(self._numbered(row, place * count + i) for i in range(count))
            return self.owned_by(self._next(), rows)

        before = tuple(piece(first, place) for place in range(self.unit.group))
        if not self.unit.keeps_number:
            return Pair(kind="swing", common=common, before=before, after=())
        after = tuple(piece(other, place) for place in range(self.unit.group))
        return Pair(kind="swing", common=common, before=before, after=after)

    def _across(self, place: int, cell: str | None, end: str) -> str | None:
        """The other end of a bounded column, another of the listed keys, or the same."""
        ends, others = self._ends[place], [key for key in self._listed[place] if key != cell]
        if ends is not None:
            return ends[end == "high"]
        return self.source.choice(others) if others and self.source.random() < 0.7 else cell

    def _numbered(self, row: Row, number: int) -> Row:
        """The row with another value in each column whose keys are not listed."""
        return tuple(
            cell if listed else values.numbered(column, number)
            for cell, listed, column in zip(row, self._listed, self.table.columns, strict=True)
        )

    def _next(self) -> int:
        self._made += 1
        return self._made

    def _piece(self, style: str) -> Piece:
        return self.owned_by(self._next(), self.rows(style))

    def _other(self, piece: Piece, *, same: bool | None = None) -> Piece:
        """Whom a piece is replaced by: the same person with other rows, or another person."""
        same = self.source.random() < 0.4 if same is None else same
        style = self.source.choice((*STYLES, "opposite"))
        rows = self._opposite(piece) if style == "opposite" else self.rows(style)
        if not same or self.unit.key is None:
            return self.owned_by(self._next(), rows)
        return Piece(
            owner=piece.owner, table=self.table.name, rows=tuple(self._given(row, piece.rows[0]) for row in rows)
        )

    def _opposite(self, piece: Piece) -> tuple[Row, ...]:
        """As many rows, all of one kind: the farthest that a replaced piece can move is to the other ends."""
        style = self.source.choice(("high", "low"))
        return tuple(self.row(style) for _ in piece.rows[:50])

    def unowned(self) -> Piece:
        """Rows that belong to nobody; one row where each row is one person."""
        if self.unit.key is None:
            return self._piece("one")
        owner = [self.place(self.unit.key)]
        if self.unit.per is not None and self.source.random() < 0.5:
            owner = [self.place(self.unit.per.column)]
        rows = []
        for row in self.rows(self.source.choice(("few", "over", "heap"))):
            cells = list(row)
            for place in owner:
                cells[place] = None
            rows.append(tuple(cells))
        # Rows without a key but with different periods are one heap that nobody owns.
        return Piece(owner=(None,), table=self.table.name, rows=tuple(rows))

    def rows(self, style: str) -> tuple[Row, ...]:
        """The rows of one piece, whose owner is not in them yet."""
        choose, limits = self.source, self.table.limits
        if self.unit.key is None:
            return (self.row(choose.choice(("any", "high", "low"))),)
        limit = min(limits.rows or (limits.groups or 3) * (limits.per_group or 3), 200)
        if limits.auto is not None:
            # A rung of the ladder on which limits are chosen: who ends there, or has one more.
            limit = choose.choice([rung for rung in rungs(limits.auto) if rung <= 200])
        if style == "giant":
            kinds = [self.row(choose.choice(("any", "high", "low", "spread"))) for _ in range(choose.choice((1, 2, 7)))]
            return tuple(kinds[i % len(kinds)] for i in range(self.giant))
        count = {
            "one": 1,
            "few": choose.randint(2, 5),
            "limit": limit,
            "over": limit + 1,
            "heap": choose.choice((2 * limit, 3 * limit + 1)),
            "spread": choose.choice((limit, 12, 30)),
        }.get(style, choose.choice((1, limit, limit + 1, 20)))
        if style == "heap":
            return (self.row(choose.choice(("high", "low", "any"))),) * count
        kind = style if style in ("spread", "high", "low") else choose.choice(("any", "high"))
        if style in ("high", "low") and choose.random() < 0.5:
            return (self.row(kind),) * count
        return tuple(self.row(kind) for _ in range(count))

    def row(self, style: str) -> Row:
        """any: whatever may be; spread: listed keys evenly; high, low: numbers at one end of their bounds."""
        return tuple(self._cell(i, style) for i in range(len(self.table.columns)))

    def _cell(self, place: int, style: str) -> str | None:
        choose, ends = self.source, self._ends[place]
        if ends is not None and style in ("high", "low") and choose.random() < 0.9:
            return ends[style == "high"]
        if self._listed[place] and style != "any":
            return choose.choice(self._listed[place])
        return choose.choice(self._pools[place])

    def place(self, name: str) -> int:
        """Where a column stands in a row."""
        return [column.name.lower() for column in self.table.columns].index(name.lower())

    def owned_by(self, number: int, rows: tuple[Row, ...]) -> Piece:
        """The rows under an owner of their own: a key, and a period where there is one."""
        if self.unit.key is None:
            return Piece(owner=(str(number),), table=self.table.name, rows=rows)
        per = self.unit.per
        # Several periods of one person, so that a period forgotten by the engine would merge them.
        person, slot = (number, 0) if per is None else divmod(number, 7)
        name = self._name(person)
        place = self.place(self.unit.key)
        dated = None if per is None else self.place(per.column)
        owned: list[Row] = []
        for row in rows:
            cells = list(row)
            cells[place] = name
            if dated is not None and per is not None:
                cells[dated] = self._moment(per.period, slot, self.table.columns[dated].type)
            owned.append(tuple(cells))
        owner = (name,) if per is None else (name, str(slot))
        return Piece(owner=owner, table=self.table.name, rows=tuple(owned))

    def _name(self, person: int) -> str:
        kind = self.table.columns[self.place(self.unit.key or "")].type
        names = {
            "integer": str(person),
            "decimal": f"{person}.5",
            "date": (_MONDAY + timedelta(days=person)).isoformat(),
            "timestamp": f"{_MONDAY + timedelta(days=person)} 00:00:00",
        }
        return names.get(kind, f"person {person}")

    def _moment(self, period: str, slot: int, kind: str) -> str:
        """A moment of period number `slot`, not always the same one."""
        first = _MONDAY + timedelta(weeks=slot)
        if period != "week":
            # The first day of the period that holds this day; each slot has a period of its own.
            day = date(2000, 1, 1) + timedelta(days=_DAYS[period] * slot)
            month = {"month": day.month, "quarter": 3 * ((day.month - 1) // 3) + 1, "year": 1}.get(period, day.month)
            first = day if period == "day" else date(day.year, month, 1)
        moment = datetime(first.year, first.month, first.day)
        moment += timedelta(days=self.source.randrange(_DAYS[period] if period == "week" else 1))
        moment += timedelta(seconds=self.source.choice((0, 1, 86399)))
        return moment.date().isoformat() if kind == "date" else moment.isoformat(sep=" ")

    def _given(self, row: Row, owned: Row) -> Row:
        """The row with the owner of another."""
        cells = list(row)
        if self.unit.key is not None:
            cells[self.place(self.unit.key)] = owned[self.place(self.unit.key)]
        if self.unit.per is not None:
            cells[self.place(self.unit.per.column)] = owned[self.place(self.unit.per.column)]
        return tuple(cells)
