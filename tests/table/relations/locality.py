"""Whether a relation is local, and right: the SQL of a relation in, on random worlds, a finding or nothing out.

A relation is *local* if R(D) = ⊎ R(D_u) over the owners u, rows with their hidden owners, and if the order in which
rows are stored changes nothing. It is *right* if its visible rows are those that DuckDB itself gives for the same text
on the rows that have an owner. What is run is the statement of a whole question, up to the rows that it counts, so that
nothing stands between this and what is released.

A (k, d, x, g) and B (k, d, y, g) are private, P (g, z) and Q (z, w) public; k is the owner, d its day. x, y, z and w
are whole numbers, or decimals with two zeros and NaN. E (k, d, e) is private too; V (e, c) is linked to people through
E, and W (c, u) through V: their own rows stay whole for everybody, and DuckDB sees them as a view, V0 and W0 as they
are. Whoever builds a relation adds its shapes to shapes.toml.
"""

from __future__ import annotations

import functools
import random
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from decimal import Decimal
from typing import Any, Final, Literal, TypeAlias

import duckdb
import pyarrow as pa
import sqlglot
from sqlglot import exp

from quincunx.audit.tables.worlds import WORLD
from quincunx.data import connect, frame_name
from quincunx.spec import AddRemove
from quincunx.table import Table
from quincunx.table.engines import DuckDB, evaluate
from quincunx.table.engines.duckdb.dialect import DUCKDB
from quincunx.table.engines.statement import Statement, statement
from quincunx.table.expression import Column
from quincunx.table.measure import Program
from quincunx.table.plan import Key, Query
from quincunx.table.rules import plan
from quincunx.table.schema import ColumnSchema, Schema
from quincunx.table.sql import read
from quincunx.table.table import schema

Numbers: TypeAlias = Literal["whole", "decimal"]
Unit: TypeAlias = Literal["person", "person-day"]
Row: TypeAlias = tuple[Any, ...]
# Rows of the private tables by their names.
World: TypeAlias = Mapping[str, Sequence[Row]]
# The visible rows of each owner, as often as they occur.
Owned: TypeAlias = Counter[tuple[Row, Row]]

UNITS: Final[Mapping[Unit, AddRemove]] = {
    "person": AddRemove(key="k"),
    "person-day": AddRemove(key="k", per={"column": "d", "period": "day"}),
}
NUMBERS: Final[Sequence[Numbers]] = ("whole", "decimal")
PRIVATE: Final = {"A": ("k", "d", "x", "g"), "B": ("k", "d", "y", "g"), "E": ("k", "d", "e")}
# Table → columns, the table that it leads through, and the column of both.
LINKED: Final = {"V": (("e", "c"), "E", "e"), "W": (("c", "u"), "V", "c")}
# Partners that are many, one, none and NULL.
PUBLIC: Final[Mapping[str, tuple[tuple[str, ...], Sequence[Row]]]] = {
    "P": (("g", "z"), [("a", 0), ("a", 1), ("b", 2), ("c", 1), (None, 2), ("a", None)]),
    "Q": (("z", "w"), [(0, 5), (1, 6), (1, 7), (None, 8)]),
}
MONDAY: Final = date(2024, 1, 1)
_TYPES: Final = {"k": "BIGINT", "d": "DATE", "g": "VARCHAR", "e": "BIGINT", "c": "BIGINT"}
_ODD: Final = (0.0, -0.0, 0.5, float("nan"))


def worlds(count: int, numbers: Numbers, seed: str) -> Iterator[World]:
    """Few values, so that rows meet: duplicates, ties, NULL in every column, people with no row in one table."""
    chance = random.Random(f"{seed} {numbers}")
    sizes = ((9, 9), (6, 8), (3, 0), (8, 3), (0, 4), (12, 5))
    for number in range(count):
        pairs = zip(("A", "B"), sizes[number % len(sizes)], strict=True)
        world = {name: [_row(chance, numbers) for _ in range(size)] for name, size in pairs}
        yield world | linked_rows(random.Random(f"{seed} links {number}"), (5, 6, 0, 3)[number % 4])


def linked_rows(chance: random.Random, visits: int) -> World:
    """Encounters of one person, of two and of nobody, repeated ones too; visits that lead to each of them."""
    days = [None, *(MONDAY + timedelta(days=each) for each in (0, 0, 1, 1))]
    some = (1, 2, 3, None)
    return {
        "E": [(chance.choice((1, 2, 2, 3, None)), chance.choice(days), chance.choice(some)) for _ in range(7)],
        "V": [(chance.choice((1, 2, 3, 4, None)), chance.choice(some)) for _ in range(visits)],
        "W": [(chance.choice(some), chance.choice((0, 1, 2, None))) for _ in range(4)],
    }


def _row(chance: random.Random, numbers: Numbers) -> Row:
    number: Any = chance.choice((0, 1, 2, None))
    if numbers == "decimal" and number is not None:
        number = chance.choice((*_ODD, float(number)))
    day = None if chance.random() < 0.1 else MONDAY + timedelta(days=chance.randrange(2))
    return (chance.choice((1, 1, 2, 3, None)), day, number, chance.choice(("a", "b", None)))


def owners(world: World, unit: Unit) -> list[Row]:
    """Everybody in a world."""
    owned = [row for name, rows in world.items() if name not in LINKED for row in rows]
    return sorted({who for row in owned if (who := _owner(row, unit)) is not None})


def alone(world: World, unit: Unit, who: Row) -> World:
    """The rows of one owner; what is linked stays whole, because without links it is nobody's."""
    return {name: [row for row in rows if name in LINKED or _owner(row, unit) == who] for name, rows in world.items()}


def _owner(row: Row, unit: Unit) -> Row | None:
    found = row[:1] if unit == "person" else row[:2]
    return None if None in found else found


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """A relation as SQL, in a setting. right: its text has one meaning; otherwise DuckDB may give other rows."""

    sql: str
    unit: Unit
    numbers: Numbers
    right: bool = True

    def relation(self, world: World) -> Owned:
        """What Quincunx makes of it, by the hidden owner of each row."""
        ground = _ground(self.numbers)
        written, tables = _written(self)
        ground.fill({frame_name(number): _stored(name, world) for number, name in tables.items()})
        cursor = ground.connection.execute(written.sql, dict(written.parameters))
        names = [each[0] for each in cursor.description]
        owner, seen = ([i for i, name in enumerate(names) if name.startswith(part)] for part in "ok")
        order = sorted(seen, key=lambda i: int(names[i][1:]))
        return Counter(
            (tuple(_day(row[i]) for i in owner), tuple(_seen(row[i]) for i in order)) for row in cursor.fetchall()
        )

    def plain(self, world: World) -> Counter[Row]:
        """What DuckDB makes of it, on the rows that have an owner."""
        ground, needed = _ground(self.numbers), _named(self.sql)
        owned = {name: [row for row in world[name] if _owner(row, self.unit) is not None] for name in PRIVATE}
        ground.fill({name: (name, [_clean(row) for row in rows]) for name, rows in owned.items() if name in needed})
        ground.fill({f"{name}0": (name, world[name]) for name in LINKED if f"{name}0" in needed})
        ground.fill({name: _stored(name, {}) for name in PUBLIC if name in needed})
        for name, (_, via, on) in LINKED.items():
            if name in needed:
                known = f"SELECT DISTINCT {', '.join(UNITS[self.unit].columns)}, {on} FROM {via}"
                ground.connection.execute(f"CREATE OR REPLACE VIEW {name} AS FROM {name}0 JOIN ({known}) USING ({on})")
        return Counter(tuple(_seen(each) for each in row) for row in ground.connection.execute(self.sql).fetchall())

    def finding(self, world: World) -> str:
        """What is wrong on this world; nothing if it is local and right."""
        mine = {who: self.relation(alone(world, self.unit, who)) for who in owners(world, self.unit)}
        turned = self.relation({name: list(reversed(rows)) for name, rows in world.items()})
        return self._judged(world, self.relation(world), turned, mine)

    def _judged(self, world: World, whole: Owned, turned: Owned, mine: Mapping[Row, Owned]) -> str:
        parts: Owned = Counter()
        for who, each in mine.items():
            if {owner for owner, _ in each} - {who}:
                return f"{who} alone has rows of somebody else"
            parts += each
        if whole != parts:
            return f"not local: {_difference(whole, parts)}"
        if whole != turned:
            return f"it depends on the order of rows: {_difference(whole, turned)}"
        if not self.right:
            return ""
        visible: Counter[Row] = Counter()
        for (_, row), times in whole.items():
            visible[tuple(_about(each) for each in row)] += times
        expected = Counter({tuple(_about(each) for each in row): n for row, n in self.plain(world).items()})
        return "" if visible == expected else f"not what DuckDB gives: {_difference(visible, expected)}"

    def findings(self, made: Sequence[World]) -> list[str]:
        """What is wrong on any of these, by one statement for all: every dataset is a world of its own (replay.md)."""
        cases: list[World] = []
        places: list[tuple[World, int, dict[Row, int]]] = []
        for world in made:
            parts = {who: alone(world, self.unit, who) for who in owners(world, self.unit)}
            places.append((world, len(cases), {who: len(cases) + 2 + i for i, who in enumerate(parts)}))
            cases += [world, {name: list(reversed(rows)) for name, rows in world.items()}, *parts.values()]
        found = self._relations(cases)
        return [
            said
            for world, first, parts in places
            if (said := self._judged(world, found[first], found[first + 1], {w: found[i] for w, i in parts.items()}))
        ]

    def _relations(self, cases: Sequence[World]) -> list[Owned]:
        """What Quincunx makes of it in each of these datasets."""
        ground = _ground(self.numbers)
        written, tables = _together(self)
        for number, name in tables.items():
            rows = [(i, *row) for i, world in enumerate(cases) for row in world.get(name, ())]
            if name in PUBLIC:
                ground.fill({frame_name(number): _stored(name, {})})
            else:
                ground.gather(frame_name(number), name, rows)
        cursor = ground.connection.execute(written.sql, dict(written.parameters))
        names = [each[0] for each in cursor.description]
        owner, seen = ([i for i, name in enumerate(names) if name.startswith(part)] for part in "ok")
        which, *order = sorted(seen, key=lambda i: int(names[i][1:]))
        found: list[Owned] = [Counter() for _ in cases]
        for row in cursor.fetchall():
            found[row[which]][tuple(_day(row[i]) for i in owner), tuple(_seen(row[i]) for i in order)] += 1
        return found

    def mixes(self, world: World) -> bool:
        """Whether DuckDB's own rows of a world are not those of its owners together: a counterexample."""
        parts: Counter[Row] = Counter()
        for who in owners(world, self.unit):
            parts += self.plain(alone(world, self.unit, who))
        return self.plain(world) != parts


@functools.cache
def _named(sql: str) -> frozenset[str]:
    """The tables that a text is about, with those that a linked one leads through."""
    found = {each.name.upper() for each in sqlglot.parse_one(sql, dialect="duckdb").find_all(exp.Table)}
    for name, (_, via, _) in reversed(LINKED.items()):
        found |= {f"{name}0", via} if name in found else set()
    return frozenset(found)


class Ground:
    """A connection with the settings of questions, whose tables are filled anew for each world."""

    def __init__(self, numbers: Numbers) -> None:
        self.connection: duckdb.DuckDBPyConnection = connect((), 1)
        # The one function that is no function of DuckDB.
        clamped = "CASE WHEN x IS NOT NULL THEN LEAST(GREATEST(x, low), high) END"
        self.connection.execute(f"CREATE MACRO clamp(x, low, high) AS {clamped}")
        self.number = "BIGINT" if numbers == "whole" else "DOUBLE"

    def fill(self, tables: Mapping[str, tuple[str, Sequence[Row]]]) -> None:
        for name, (table, rows) in tables.items():
            columns = _columns(table)
            kinds = ", ".join(f"{column} {_TYPES.get(column, self.number)}" for column in columns)
            self.connection.execute(f"CREATE OR REPLACE TABLE {name} ({kinds})")
            if rows:
                marks = ", ".join(f"({', '.join('?' * len(columns))})" for _ in rows)
                self.connection.execute(f"INSERT INTO {name} VALUES {marks}", [each for row in rows for each in row])

    def gather(self, name: str, table: str, rows: Sequence[Row]) -> None:
        """A table of the rows of many worlds, with the number of the world first."""
        columns = {WORLD: "BIGINT"} | {each: _TYPES.get(each, self.number) for each in _columns(table)}
        lists = ", ".join(
            f'UNNEST(CAST($c{i} AS {kind}[])) AS "{each}"' for i, (each, kind) in enumerate(columns.items())
        )
        given = list(zip(*rows, strict=True)) if rows else [()] * len(columns)
        values = {f"c{i}": list(each) for i, each in enumerate(given)}
        self.connection.execute(f"CREATE OR REPLACE TABLE {name} AS SELECT {lists}", values)


_ground: Callable[[Numbers], Ground] = functools.cache(Ground)


@functools.cache
def declared(unit: Unit, numbers: Numbers) -> tuple[dict[str, Table], Schema]:
    """The tables without their rows, and what is declared of them."""
    bounds: dict[str, Any] = {} if numbers == "whole" else {"bounds": (-8, 8), "step": "0.5"}
    tables = {}
    for name in (*PRIVATE, *LINKED, *PUBLIC):
        columns = _kinds(name, numbers)
        facts = {column: bounds for column in columns if column not in _TYPES and bounds}
        given = [dict(zip(columns, row, strict=True)) for row in _stored(name, {})[1]]
        frame = pa.Table.from_pylist(given, schema=pa.schema(list(columns.items())))
        public, limits = name in PUBLIC, {"rows": 9, "groups": 9}
        owner = {"via": LINKED[name][1], "on": LINKED[name][2]} if name in LINKED else None
        tables[name] = Table(frame, public=True) if public else Table(frame, limits=limits, columns=facts, owner=owner)
    return tables, schema(tables, UNITS[unit])


def _kinds(table: str, numbers: Numbers) -> dict[str, pa.DataType]:
    kinds = {"k": pa.int64(), "d": pa.date32(), "g": pa.string(), "e": pa.int64(), "c": pa.int64()}
    other = pa.int64() if numbers == "whole" else pa.float64()
    return {column: kinds.get(column, other) for column in _columns(table)}


def _empty(table: str, numbers: Numbers) -> dict[str, pa.Array]:
    return {column: pa.array([], kind) for column, kind in _kinds(table, numbers).items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class AsItIs(Key):
    """A key with the value that its rows have: what is looked at here are rows, and not the names of their keys."""

    stepped = None
    nameless = False


def as_they_are(query: Query) -> Query:
    """A question whose keys have no names."""
    keys = tuple(AsItIs(name=each.name, expression=each.expression, values=each.values) for each in query.keys)
    return replace(query, keys=keys)


def _planned(shape: Shape) -> tuple[Program, dict[str, Table], Schema]:
    tables, known = declared(shape.unit, shape.numbers)
    return plan(as_they_are(read(question(shape.sql), known, evaluate)), known, 1), tables, known


@functools.cache
def _written(shape: Shape) -> tuple[Statement, Mapping[int, str]]:
    """The statement of a question about all columns, up to its rows; and which table each reading is of."""
    program, tables, known = _planned(shape)
    return _cut(tables, known, program)


@functools.cache
def _together(shape: Shape) -> tuple[Statement, Mapping[int, str]]:
    """The same for many worlds at once, of which the first key says which it is."""
    program, tables, known = _planned(shape)
    world, wider, sources = ColumnSchema(name=WORLD, type="integer"), dict(known.tables), dict(tables)
    for name in (*PRIVATE, *LINKED):
        wider[name] = replace(known.tables[name], columns=(world, *known.tables[name].columns))
        sources[name] = Table(pa.table({WORLD: pa.array([], pa.int64())} | _empty(name, shape.numbers)))
    scan = min(program.query.rows.tables)
    key = Key(name=WORLD, expression=Column(name=WORLD, type="integer", nullable=False, scan=scan), values=None)
    asked = replace(program, query=replace(program.query, keys=(key, *program.query.keys)), worlds=WORLD)
    return _cut(sources, replace(known, tables=wider), asked)


def _cut(tables: Mapping[str, Table], known: Schema, program: Program) -> tuple[Statement, Mapping[int, str]]:
    with DuckDB(tables, known, threads=1) as engine:
        sources = {
            number: replace(source, relation=exp.to_table(frame_name(number)))
            for number, source in engine._sources(program).items()
        }
        whole = statement(program, sources, DUCKDB)
    tree = sqlglot.parse_one(whole.sql, dialect="duckdb")
    rows = exp.select("*").from_("read")
    for part in tree.args["with_"].expressions:
        rows = rows.with_(part.alias, as_=part.this, materialized=part.args.get("materialized"), copy=False)
        if part.alias == "read":
            break
    text = rows.sql(dialect="duckdb")
    needed = {name: value for name, value in whole.parameters.items() if f"${name}" in text}
    return replace(whole, sql=text, parameters=needed), {n: t.name for n, t in program.query.rows.tables.items()}


def rehearsed(shape: Shape) -> None:
    """RefusalError where its question fails on made-up rows."""
    program, tables, known = _planned(shape)
    with DuckDB(tables, known, threads=1) as engine:
        engine.rehearse(program)


def question(sql: str) -> str:
    """A question whose keys are all columns of the relation. Its columns get names, because some shapes give none."""
    tree = sqlglot.parse_one(sql, dialect="duckdb")
    selects: list[exp.Expr] = [tree]
    while isinstance(selects[0], exp.SetOperation):
        selects[:1] = [selects[0].this, selects[0].expression]
    for select in selects:
        named = [each if each.alias else exp.alias_(each, f"c{i}") for i, each in enumerate(select.expressions)]
        select.set("expressions", named)
    names = ", ".join(each.alias for each in selects[0].expressions)
    return f"SELECT {names}, COUNT(*) AS how_many FROM ({tree.sql(dialect='duckdb')}) AS r GROUP BY ALL"


def _columns(table: str) -> tuple[str, ...]:
    return PRIVATE[table] if table in PRIVATE else LINKED[table][0] if table in LINKED else PUBLIC[table][0]


def _stored(table: str, world: World) -> tuple[str, Sequence[Row]]:
    return (table, PUBLIC[table][1] if table in PUBLIC else world.get(table, []))


def _clean(row: Row) -> Row:
    """As Quincunx reads it: NaN is no value, and there is one zero."""
    return tuple(None if each != each else each + 0.0 if isinstance(each, float) else each for each in row)


def _seen(value: Any) -> Any:
    if isinstance(value, float):
        return None if value != value else value + 0.0
    return float(value) if isinstance(value, Decimal) else value


def _about(value: Any) -> Any:
    """Doubles that differ in their last digits are one, where two ways to compute them are compared."""
    return float(f"{value:.12g}") if isinstance(value, float) else value


def _day(value: Any) -> Any:
    return value.date() if hasattr(value, "date") else value


def _difference(first: Counter[Any], second: Counter[Any]) -> str:
    return f"{sorted((first - second).elements(), key=repr)} against {sorted((second - first).elements(), key=repr)}"
