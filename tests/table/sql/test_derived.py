"""Keys that follow from declared facts: what they are, that no row is lost by them, and that neighbours change none."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import date, datetime
from fractions import Fraction
from typing import Any

import duckdb
import pytest

from quincunx.audit import replay
from quincunx.audit.tables.grammar import Grammar
from quincunx.audit.tables.values import STORAGE, pool
from quincunx.errors import QueryError, RefusalError
from quincunx.spec.unit import AddRemove, Replace
from quincunx.table.engines import DuckDB, evaluate
from quincunx.table.expression import Value
from quincunx.table.plan import Key
from quincunx.table.rules import plan
from quincunx.table.schema import ColumnSchema, Limits, Schema, TableSchema
from quincunx.table.sql import derived, read
from quincunx.table.table import Table


def column(name: str, kind: str, low: Any = None, high: Any = None, **rest: Any) -> ColumnSchema:
    if kind in ("date", "timestamp") and low is not None:
        return ColumnSchema(name=name, type=kind, span=(low, high), **rest)
    bounds = None if low is None else (Fraction(str(low)), Fraction(str(high)))
    return ColumnSchema(name=name, type=kind, bounds=bounds, **rest)


VISITS = TableSchema(
    name="visits",
    columns=(
        column("person", "integer"),
        column("region", "text", keys=("north", "south")),
        column("age", "integer", 0, 110),
        column("score", "integer", "-7.5", "12.5"),
        column("salary", "integer", 0, 500_000, nullable=False),
        column("cost", "decimal", "-0.3", "99.5"),
        column("rate", "decimal", "0.1", "2.9999999999999999"),
        column("weight", "decimal"),
        column("day", "date", date(2023, 11, 20), date(2024, 3, 2)),
        column("born", "date"),
        column("at", "timestamp", datetime(2024, 2, 27, 13, 30), datetime(2024, 3, 1, 3, 4)),
        column("left_at", "timestamp"),
        column("smoker", "boolean"),
        column("member", "boolean", nullable=False),
        column("note", "text"),
    ),
    limits=Limits(rows=20, groups=3),
)
SCHEMA = Schema(tables={"visits": VISITS}, unit=AddRemove(key="person"))


def keys_of(written: str, schema: Schema = SCHEMA) -> tuple[Key, ...]:
    return read(f"SELECT COUNT(*) FROM visits GROUP BY {written}", schema, evaluate).keys


def fractions(*numbers: object) -> tuple[Value, ...]:
    return tuple(None if each is None else Fraction(str(each)) for each in numbers)


LISTED: dict[str, tuple[Value, ...]] = {
    "age": (*range(111), None),
    "age // 10": (*range(12), None),
    "age // 10 * 10": (*range(0, 111, 10), None),
    "score": (*range(-7, 13), None),
    "ABS(score)": (*range(13), None),
    "salary // 100000": tuple(range(6)),
    "salary // 1000 * 1000": tuple(range(0, 500_001, 1000)),
    "FLOOR(age / 50)": fractions(0, 1, 2, None),
    "FLOOR(cost / 50)": fractions(-1, 0, 1, None),
    "FLOOR(cost / 50) * 50": fractions(-50, 0, 50, None),
    "CEIL(cost / 50)": fractions(0, 1, 2, None),
    "ROUND(rate, 1)": fractions(*(Fraction(k, 10) for k in range(1, 31)), None),
    # 2.9999999999999999 is no double, and 3.0 is its nearest.
    "FLOOR(rate)": fractions(0, 1, 2, 3, None),
    "FLOOR(2 - rate)": fractions(-1, 0, 1, None),
    "CAST(rate AS BIGINT)": (0, 1, 2, 3, None),
    "CLAMP(FLOOR(weight), 0, 2)": fractions(0, 1, 2, None),
    "CLAMP(CAST(weight AS BIGINT), 0, 2)": (0, 1, 2, None),
    "MONTH(born)": (*range(1, 13), None),
    "MONTH(day)": (1, 2, 3, 11, 12, None),
    "DAYOFWEEK(born)": (*range(7), None),
    "HOUR(left_at)": (*range(24), None),
    "YEAR(day) * 100 + MONTH(day)": (202311, 202312, 202401, 202402, 202403, None),
    "DATE_TRUNC('month', day)": (
        *(datetime(y, m, 1) for y, m in ((2023, 11), (2023, 12), (2024, 1), (2024, 2), (2024, 3))), None
    ),
    "DATE_TRUNC('day', at)": (*(datetime(2024, m, d) for m, d in ((2, 27), (2, 28), (2, 29), (3, 1))), None),
    "CAST(at AS DATE)": (*(date(2024, m, d) for m, d in ((2, 27), (2, 28), (2, 29), (3, 1))), None),
    "MONTH(at)": (2, 3, None),
    "smoker": (True, False, None),
    "member": (True, False),
    "age > 3": (True, False, None),
    "member AND salary > 3": (True, False),
    "CASE WHEN age < 18 THEN 'child' ELSE 'adult' END": ("child", "adult"),
    "CASE WHEN member THEN age // 50 ELSE -1 END": (-1, 0, 1, 2, None),
    "CASE WHEN smoker THEN MONTH(at) END": (2, 3, None),
    "COALESCE(MONTH(at), 0)": (0, 2, 3),
    "NULLIF(age // 50, 1)": (0, 1, 2, None),
    "CAST(age // 50 AS VARCHAR) || '0s'": ("00s", "10s", "20s", None),
    "LEAST(age // 50, 1)": (0, 1),
}  # fmt: skip
UNKNOWN = (
    "note", "cost", "weight", "age / 10", "LENGTH(note)", "YEAR(born)", "born", "left_at", "at", "FLOOR(weight)",
    "DATE_TRUNC('month', born)", "FLOOR(cost / (age + 1))", "FLOOR(cost + rate)", "FLOOR(CAST(cost AS BIGINT) / 10)",
    "age + person", "age * 100000 + salary", "CASE WHEN smoker THEN note ELSE 'x' END", "CAST(FLOOR(weight) AS BIGINT)",
)  # fmt: skip


@pytest.mark.parametrize(("written", "expected"), LISTED.items(), ids=LISTED)
def test_the_values_follow(written: str, expected: tuple[Value, ...]) -> None:
    (key,) = keys_of(written)
    assert key.values == expected


@pytest.mark.parametrize("written", UNKNOWN)
def test_what_does_not_follow_is_unknown(written: str) -> None:
    (key,) = keys_of(written)
    assert key.values is None
    assert not key.complete


def test_null_is_a_key_unless_the_column_is_declared_not_null() -> None:
    for name, written in (("age", "age // 10"), ("cost", "FLOOR(cost)"), ("born", "MONTH(born)"), ("at", "MONTH(at)")):
        assert (keys_of(written)[0].values or ())[-1] is None
        columns = tuple(replace(each, nullable=each.nullable and each.name != name) for each in VISITS.columns)
        schema = replace(SCHEMA, tables={"visits": replace(VISITS, columns=columns)})
        assert None not in (keys_of(written, schema)[0].values or (None,)), written


def test_one_unknown_key_leaves_all_unknown_that_were() -> None:
    keys = keys_of("region, MONTH(born), note")
    assert [key.values is None for key in keys] == [False, True, True]
    assert all(key.values is not None for key in keys_of("region, MONTH(born), age"))


def test_beyond_the_limit_keys_are_unknown_as_before() -> None:
    assert derived.GROUPS == 2**20
    assert keys_of("age, salary")[0].values is None
    wide = tuple(replace(each, bounds=(Fraction(0), Fraction(high))) for each, high in
                 zip(VISITS.columns[2:4], (2**20 - 2, 2**20 - 1), strict=True))  # fmt: skip
    schema = replace(SCHEMA, tables={"visits": replace(VISITS, columns=(VISITS.columns[0], *wide))})
    # With NULL the first has 2^20 values and the second one more.
    assert len(keys_of("age", schema)[0].values or ()) == 2**20
    assert keys_of("score", schema)[0].values is None


def test_keys_follow_through_subqueries_and_not_through_redefinition() -> None:
    sql = "SELECT COUNT(*) FROM (SELECT m + 1 AS n FROM (SELECT MONTH(born) AS m FROM visits) AS s) AS t GROUP BY n"
    assert read(sql, SCHEMA, evaluate).keys[0].values == (*range(2, 14), None)
    hidden = "SELECT COUNT(*) FROM (SELECT person AS age FROM visits) AS s GROUP BY age"
    assert read(hidden, SCHEMA, evaluate).keys[0].values is None


def test_a_list_is_made_only_where_it_is_asked_for() -> None:
    sql = "SELECT COUNT(*) FROM visits GROUP BY MONTH(born)"
    assert read(sql, SCHEMA).keys[0].values is None
    assert read(sql, SCHEMA, evaluate, derive=False).keys[0].values is None
    assert read(sql, SCHEMA, evaluate).keys[0].complete


# Types in which the columns may arrive; every value is tried as every one of them.
KINDS: tuple[Mapping[str, str], ...] = (
    {},
    {"age": "SMALLINT", "score": "HUGEINT", "cost": "DECIMAL(12,3)", "rate": "DECIMAL(18,16)", "day": "TIMESTAMP"},
    {"age": "VARCHAR", "score": "DOUBLE", "cost": "FLOAT", "rate": "VARCHAR", "day": "VARCHAR", "at": "VARCHAR"},
)


@contextmanager
def engine(schema: Schema, storage: Mapping[str, str], rows: int = 400) -> Iterator[tuple[DuckDB, int]]:
    """An engine on rows that hold every awkward value of every column, and how many rows count."""
    table = next(iter(schema.tables.values()))
    kinds = {each.name: storage.get(each.name, STORAGE[each.type]) for each in table.columns}
    texts = {each.name: pool(each, kinds[each.name]) for each in table.columns}
    given: dict[str, list[Any]] = {name: [] for name in texts}
    source = random.Random("rows of keys")
    for row in range(rows):
        for place, (name, values) in enumerate(texts.items()):
            given[name].append(values[row % len(values)] if row < 60 + place else source.choice(values))
    given[table.columns[0].name] = [str(row) for row in range(rows)]
    connection = duckdb.connect()
    cells = ", ".join(f'TRY_CAST(unnest(${name}) AS {kinds[name]}) AS "{name}"' for name in given)
    connection.execute(f"CREATE TABLE t AS SELECT {cells}", given)
    try:
        with DuckDB({table.name: Table(connection.table("t"))}, schema, threads=1) as found:
            yield found, rows
    finally:
        connection.close()


def counted(engine: DuckDB, schema: Schema, written: str) -> tuple[int, bool]:
    """How many rows all groups of a key have together, and whether the list is said to hold every value."""
    program = plan(read(f"SELECT COUNT(*) FROM visits GROUP BY {written}", schema, evaluate), schema, 1)
    result = engine.run(program)
    (measure,) = result.measures
    return int(sum(measure.tolist())) >> program.measures[0].fraction, program.query.keys[0].complete


ROWS = Schema(tables={"visits": VISITS}, unit=AddRemove())


@pytest.mark.parametrize(
    "storage",
    [pytest.param(kinds, id=name, marks=pytest.mark.ci if kinds else ())
     for name, kinds in zip(("plain", "exact", "texts"), KINDS, strict=True)],
)  # fmt: skip
def test_no_row_is_lost(storage: Mapping[str, str]) -> None:
    """Every awkward value, outside of bounds and NULL too, is in a listed group; rows without salary are no rows."""
    with engine(ROWS, storage) as (asked, rows):
        everyone, _ = counted(asked, ROWS, "age IS NULL")
        assert rows / 2 < everyone < rows
        for written in LISTED:
            assert counted(asked, ROWS, written)[0] == everyone, written


def test_a_list_that_misses_a_value_loses_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """The control: the test above sees a value that is missing."""
    whole = derived.values

    def shorter(*given: Any) -> tuple[Value, ...] | None:
        found = whole(*given)
        return None if found is None else found[:-1]

    with engine(ROWS, {}) as (asked, _):
        everyone, _ = counted(asked, ROWS, "age IS NULL")
        monkeypatch.setattr(derived, "values", shorter)
        assert counted(asked, ROWS, "MONTH(born)")[0] < everyone
        assert counted(asked, ROWS, "age // 10")[0] < everyone


def generated(series: int) -> Iterator[str]:
    grammar = Grammar(source=random.Random(f"keys {series}"), columns=VISITS.columns)
    for kind in itertools.cycle(("integer", "decimal", "integer", "timestamp", "text", "date")):
        inner = grammar.expression(kind, 2)
        yield f"ROUND({inner}, 1)" if kind == "decimal" else inner


def accepted(written: str) -> Sequence[Key]:
    try:
        return keys_of(written, ROWS)
    except (QueryError, RefusalError):
        return ()


def test_no_row_is_lost_by_generated_keys(full: bool) -> None:
    found = 0
    with engine(ROWS, KINDS[1], 300) as (asked, _):
        everyone, _ = counted(asked, ROWS, "age IS NULL")
        for written in itertools.islice(generated(1), 4000 if full else 90):
            keys = accepted(written)
            if not keys or not keys[0].complete or "person" in written:
                continue
            try:
                assert counted(asked, ROWS, written)[0] == everyone, written
            except QueryError:
                # A plan may still refuse it: texts that could become too long.
                continue
            found += 1
    assert found >= (600 if full else 12)


UNITS = (AddRemove(key="person"), Replace(key="person"), AddRemove(), Replace(), AddRemove(key="person", group=3))


@pytest.mark.parametrize(
    "unit", [*UNITS[:2], *(pytest.param(each, marks=pytest.mark.ci) for each in UNITS[2:])], ids=str
)
def test_neighbours_move_numbers_and_no_key(unit: AddRemove | Replace) -> None:
    """The exact numbers of neighbours lie within the declared distance, over the same listed keys."""
    schema = Schema(tables={"visits": VISITS}, unit=unit)
    asked = [
        f"SELECT {key} AS k, COUNT(*) AS n, COUNT(age) AS c, SUM(cost) AS s, AVG(salary) AS m FROM visits GROUP BY k"
        for key in ("MONTH(born)", "FLOOR(cost / 50) * 50", "DATE_TRUNC('month', day)", "age // 10", "member")
    ]
    found = replay(schema, asked, pairs=12, storage={"visits": {"cost": "DECIMAL(12,3)", "day": "VARCHAR"}})
    found.check()
    assert {cell.keys for cell in found.cells} == {"public"}
    assert found.refused == 0


def test_what_is_moved_and_left_out_is_said() -> None:
    said = plan(read("SELECT COUNT(*) FROM visits GROUP BY MONTH(day), MONTH(at), age", SCHEMA, evaluate), SCHEMA, 1)
    assert "Values of day before 2023-11-20 or after 2024-03-02 are moved to the nearer bound." in said.biases
    moved = "Values of at before 2024-02-27 13:30:00 or after 2024-03-01 03:04:00 are moved to the nearer bound."
    assert moved in said.biases
    assert "Rows without salary are left out." in said.biases
    # No row has another key, so none is said to be left out for it.
    assert not any("public keys" in each for each in said.biases)
    whole = (datetime(2024, 1, 1), datetime(2024, 12, 31, 23, 59, 59, 999999))
    columns = tuple(replace(each, span=whole) if each.name == "at" else each for each in VISITS.columns)
    declared = replace(SCHEMA, tables={"visits": replace(VISITS, columns=columns)})
    said = plan(read("SELECT COUNT(*) FROM visits GROUP BY MONTH(at)", declared, evaluate), declared, 1)
    assert "Values of at before 2024-01-01 or after 2024-12-31 are moved to the nearer bound." in said.biases
