"""Relations that questions are made of, generated: one production for each construct below an aggregate.

A production writes a relation and says which columns it has; None where the tables at hand do not allow it. Whoever
builds a construct enters it here: generated questions use all of them, so that replay reaches it.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Final, TypeAlias

from quincunx.table import ColumnSchema, Schema, TableSchema

_PLAIN: Final = ("integer", "text", "date", "boolean")


@dataclass(frozen=True, slots=True, kw_only=True)
class Below:
    """A relation as SQL, and what is known of its columns."""

    sql: str
    columns: tuple[ColumnSchema, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Ground:
    """What productions choose from. table: the one that the question is about. source: decides everything."""

    schema: Schema
    table: TableSchema
    source: random.Random

    @property
    def others(self) -> list[TableSchema]:
        """The private tables, itself included."""
        return [each for each in self.schema.tables.values() if not each.public]

    def public(self) -> tuple[TableSchema, str, str] | None:
        """A public table with a column of each that may be compared: of one type, neither moved."""
        found = [
            (other, mine.name, theirs.name)
            for other in self.schema.tables.values()
            if other.public and other.content is not None
            for mine in self.table.columns
            for theirs in other.columns
            if mine.type == theirs.type and mine.type in _PLAIN and mine.bounds is None
        ]
        return self.source.choice(found) if found else None

    def owner(self, table: TableSchema, alias: str) -> list[str] | None:
        """What equals the owner in a table, one text for each of its parts; None where nothing that is shown does."""
        unit, prefix = self.schema.unit, f"{alias}." if alias else ""
        if unit.key is None:
            return None
        if unit.per is None:
            return [prefix + unit.key]
        day, period = unit.per.column, unit.per.period
        root = table
        while root.link is not None:
            root = self.schema.tables[root.link.via]
        kind = root.column(day)
        if kind is None or (table.link is not None and (table.column(day) or (period, kind.type) != ("day", "date"))):
            return None
        shown = f"{prefix}{day}"
        return [
            prefix + unit.key,
            shown if (period, kind.type) == ("day", "date") else f"DATE_TRUNC('{period}', {shown})",
        ]

    def same(self, one: TableSchema, other: TableSchema, a: str = "a", b: str = "b") -> str | None:
        """That rows of two tables are one owner's."""
        first, second = self.owner(one, a), self.owner(other, b)
        if first is None or second is None:
            return None
        return " AND ".join(f"{x} = {y}" for x, y in zip(first, second, strict=True))

    def number(self, table: TableSchema) -> ColumnSchema | None:
        """A number with bounds."""
        found = [each for each in table.columns if each.bounds is not None]
        return self.source.choice(found) if found else None


Production: TypeAlias = Callable[[Ground], Below | None]


def _joined(kind: str, *, itself: bool = False) -> Production:
    """The rows of the table beside those of another, or of itself, within each person."""

    def make(g: Ground) -> Below | None:
        other = g.table if itself else g.source.choice(g.others)
        same, number = g.same(g.table, other), g.number(other)
        if same is None or number is None:
            return None
        shown = ", ".join(f"a.{each.name}" for each in g.table.columns)
        further = g.source.choice(("", f" AND b.{number.name} > 3", f" AND b.{number.name} IS NOT NULL"))
        sql = f"SELECT {shown}, b.{number.name} AS other FROM {g.table.name} a {kind} {other.name} b ON {same}{further}"
        lost = tuple(replace(each, nullable=True) for each in g.table.columns)
        return Below(sql=sql, columns=(*lost, replace(number, name="other", nullable=True)))

    return make


def _looked_up(kind: str) -> Production:
    """The rows of the table beside those of a public one."""

    def make(g: Ground) -> Below | None:
        found = g.public()
        if found is None or g.schema.unit.key is None:
            return None
        other, mine, theirs = found
        on = "" if kind == "CROSS JOIN" else f" ON a.{mine} = b.{theirs}"
        more = g.source.choice(other.columns)
        shown = ", ".join(f"a.{each.name}" for each in g.table.columns)
        sql = f"SELECT {shown}, b.{more.name} AS other FROM {g.table.name} a {kind} {other.name} b{on}"
        return Below(sql=sql, columns=(*g.table.columns, replace(more, name="other", nullable=True)))

    return make


def _tested(negated: bool, way: str) -> Production:
    """The rows of people who have a row in another table, or none."""

    def make(g: Ground) -> Below | None:
        other = g.source.choice(g.others)
        same, mine, theirs = g.same(g.table, other), g.owner(g.table, "a"), g.owner(other, "b")
        number = g.number(other)
        if same is None or mine is None or theirs is None or number is None:
            return None
        not_, where = "NOT " if negated else "", f"b.{number.name} > 2"
        if way == "EXISTS":
            test = f"{not_}EXISTS (SELECT 1 FROM {other.name} b WHERE {same} AND {where})"
        else:
            row, listed = (", ".join(each) for each in (mine, theirs))
            row = f"({row})" if len(mine) > 1 else row
            test = f"{row} {not_}IN (SELECT {listed} FROM {other.name} b WHERE {where})"
        shown = ", ".join(f"a.{each.name}" for each in g.table.columns)
        return Below(sql=f"SELECT {shown} FROM {g.table.name} a WHERE {test}", columns=g.table.columns)

    return make


def _windowed(call: str) -> Production:
    """The rows with what all rows of the person say, or with their place among them."""

    def make(g: Ground) -> Below | None:
        owner, number = g.owner(g.table, ""), g.number(g.table)
        if owner is None or number is None:
            return None
        over = f"OVER (PARTITION BY {', '.join(owner)} ORDER BY {number.name})"
        made = call.format(x=number.name)
        sql = f"SELECT *, {made} {over} AS made FROM {g.table.name}"
        return Below(sql=sql, columns=(*g.table.columns, ColumnSchema(name="made", type="integer")))

    return make


def _qualified(g: Ground) -> Below | None:
    owner, number = g.owner(g.table, ""), g.number(g.table)
    if owner is None or number is None:
        return None
    over = f"OVER (PARTITION BY {', '.join(owner)} ORDER BY {number.name} DESC)"
    kept = g.source.choice(("1", "2"))
    return Below(sql=f"SELECT * FROM {g.table.name} QUALIFY ROW_NUMBER() {over} <= {kept}", columns=g.table.columns)


def _rolled(g: Ground) -> Below | None:
    """A row for each person, or for each of their regions and the like."""
    owner, number = g.owner(g.table, ""), g.number(g.table)
    if owner is None or number is None:
        return None
    plain = [each for each in g.table.columns if each.type in _PLAIN and each.name not in owner]
    by = g.source.sample(plain, g.source.choice((0, 0, 1)) if plain else 0)
    kept = g.source.choice(("", " HAVING COUNT(*) > 1", f" HAVING MIN({number.name}) < 5"))
    keys = [f"{each} AS o{i}" for i, each in enumerate(owner)]
    listed = ", ".join([*keys, *(each.name for each in by), "COUNT(*) AS many", f"MAX({number.name}) AS most"])
    group = ", ".join([*owner, *(each.name for each in by)])
    columns = (*by, ColumnSchema(name="many", type="integer"), replace(number, name="most", nullable=True))
    return Below(sql=f"SELECT {listed} FROM {g.table.name} GROUP BY {group}{kept}", columns=columns)


def _different(g: Ground) -> Below | None:
    owner, number = g.owner(g.table, ""), g.number(g.table)
    if owner is None or number is None:
        return None
    keys = ", ".join(f"{each} AS o{i}" for i, each in enumerate(owner))
    return Below(sql=f"SELECT DISTINCT {keys}, {number.name} FROM {g.table.name}", columns=(number,))


def _combined(word: str) -> Production:
    """The rows of two tables, of which each has the person and a number."""

    def make(g: Ground) -> Below | None:
        other = g.source.choice(g.others)
        parts = []
        for table in (g.table, other):
            owner = g.owner(table, "")
            numbers = [each.name for each in table.columns if each.type == "integer" and each.bounds is not None]
            if owner is None or not numbers:
                return None
            keys = ", ".join(f"{each} AS o{i}" for i, each in enumerate(owner))
            parts.append(f"SELECT {keys}, {g.source.choice(numbers)} AS value FROM {table.name}")
        return Below(sql=f" {word} ".join(parts), columns=(ColumnSchema(name="value", type="integer"),))

    return make


def _compared(g: Ground) -> Below | None:
    """Rows before which, or after which, the person has others."""
    same, number = g.same(g.table, g.table), g.number(g.table)
    if same is None or number is None:
        return None
    not_, sign = g.source.choice(("", "NOT ")), g.source.choice((">", "<", "<>"))
    test = f"{not_}EXISTS (SELECT 1 FROM {g.table.name} b WHERE {same} AND b.{number.name} {sign} a.{number.name})"
    shown = ", ".join(f"a.{each.name}" for each in g.table.columns)
    return Below(sql=f"SELECT {shown} FROM {g.table.name} a WHERE {test}", columns=g.table.columns)


def _valued(g: Ground) -> Below | None:
    """The rows with one value of all rows that the person has in another table."""
    other = g.source.choice(g.others)
    same, number = g.same(g.table, other), g.number(other)
    if same is None or number is None:
        return None
    call = g.source.choice(("COUNT(*)", "MAX(b.{x})", "MIN(b.{x})")).format(x=number.name)
    value = f"(SELECT {call} FROM {other.name} b WHERE {same} AND b.{number.name} > 1) AS made"
    shown = ", ".join(f"a.{each.name}" for each in g.table.columns)
    made = ColumnSchema(name="made", type="integer") if call == "COUNT(*)" else replace(number, name="made")
    return Below(sql=f"SELECT {shown}, {value} FROM {g.table.name} a", columns=(*g.table.columns, made))


def _firsts(g: Ground) -> Below | None:
    owner, number = g.owner(g.table, ""), g.number(g.table)
    if owner is None or number is None:
        return None
    sql = f"SELECT DISTINCT ON ({', '.join(owner)}) * FROM {g.table.name} ORDER BY {number.name}"
    return Below(sql=sql, columns=g.table.columns)


RELATIONS: Final[Mapping[str, Production]] = {
    "JOIN": _joined("JOIN"),
    "LEFT JOIN": _joined("LEFT JOIN"),
    "RIGHT JOIN": _joined("RIGHT JOIN"),
    "FULL JOIN": _joined("FULL JOIN"),
    "JOIN itself": _joined("JOIN", itself=True),
    "JOIN public": _looked_up("JOIN"),
    "LEFT JOIN public": _looked_up("LEFT JOIN"),
    "CROSS JOIN public": _looked_up("CROSS JOIN"),
    "EXISTS": _tested(False, "EXISTS"),
    "NOT EXISTS": _tested(True, "EXISTS"),
    "IN a subquery": _tested(False, "IN"),
    "NOT IN a subquery": _tested(True, "IN"),
    "ROW_NUMBER": _windowed("ROW_NUMBER()"),
    "RANK": _windowed("RANK()"),
    "COUNT of a window": _windowed("COUNT({x})"),
    "a subquery that gives a value": _valued,
    "EXISTS that compares": _compared,
    "DISTINCT ON": _firsts,
    "LAG": _windowed("LAG({x})"),
    "QUALIFY": _qualified,
    "GROUP BY below": _rolled,
    "DISTINCT": _different,
    "UNION ALL": _combined("UNION ALL"),
    "UNION": _combined("UNION"),
    "INTERSECT": _combined("INTERSECT"),
    "EXCEPT": _combined("EXCEPT"),
}
