"""Every relation is person-local: what a question gives is the sum of what it gives for each owner alone.

All worlds of at most three rows are asked at once. A world, and each of its owners alone, is a public group of its own
with people of its own, so that one question compares M(D) with Σ M(D_u) on exact integers.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from datetime import date, timedelta
from typing import Any, Literal

import duckdb
import pyarrow as pa
import pytest

from quincunx.spec.unit import AddRemove
from quincunx.table import Table
from quincunx.table.engines import DuckDB, evaluate
from quincunx.table.rules import plan
from quincunx.table.sql import read
from quincunx.table.table import schema

# (owner, day, x): two people and nobody; days of one week and of two; values of both signs, and NULL.
PEOPLE = [(None, 1, 2), (1, 1, -1), (1, 1, 2), (1, 9, 2), (2, 1, -1), (2, 2, None), (2, 9, 2)]
MONDAY = date(2024, 1, 1)
QUESTIONS = [
    "SELECT w, SUM(x) AS s, COUNT(*) AS n, AVG(x) AS m FROM t GROUP BY w",
    "SELECT w, SUM(x) AS s, COUNT(x) AS n FROM t WHERE x > 0 GROUP BY w",
    # The key under another name, and another column under the key's.
    "SELECT w, SUM(k) AS s, COUNT(p) AS n FROM (SELECT w, k AS p, x AS k FROM t) AS s WHERE k < 2 GROUP BY w",
    # The key computed anew: whose a row is does not follow.
    "WITH a AS (SELECT w, k % 2 AS k, x FROM t WHERE k > 0), b AS (SELECT w, 0 AS k, x FROM a WHERE x < 5) "
    "SELECT w, SUM(x) AS s, COUNT(k) AS n FROM b GROUP BY w",
    "SELECT w, COUNT(*) FILTER (WHERE x > 0) AS n FROM (SELECT w, x FROM t) AS s GROUP BY w",
]


def parts() -> Iterator[tuple[int, list[tuple[Any, ...]]]]:
    """(number of the world, rows): a world, and after it each of its owners alone."""
    for number, size in enumerate(itertools.chain.from_iterable(_worlds(size) for size in range(1, 4))):
        yield number, size
        for who in sorted({owner for owner, _, _ in size if owner is not None}):
            yield number, [row for row in size if row[0] == who]


def _worlds(size: int) -> Iterator[list[tuple[Any, ...]]]:
    return map(list, itertools.combinations_with_replacement(PEOPLE, size))


def asked(sql: str, unit: AddRemove, norm: Literal[1, 2], *, bounds: tuple[int, int] | None, rows: int) -> list[Any]:
    """For each part: its world, whether it is the whole of it, and its measures."""
    listed = list(parts())
    table = [
        # No two parts share a person.
        (group, None if owner is None else 10 * group + owner, MONDAY + timedelta(days=day), x)
        for group, (_, world) in enumerate(listed)
        for owner, day, x in world
    ]
    names = ("w", "k", "d", "x")
    frame = pa.table({name: [row[place] for row in table] for place, name in enumerate(names)})
    columns: dict[str, dict[str, Any]] = {"w": {"keys": list(range(len(listed)))}, "x": {"bounds": (-1, 2)}}
    if bounds is not None:
        columns["k"] = {"bounds": bounds}
    tables = {"t": Table(frame, limits={"rows": rows}, columns=columns)}
    declared = schema(tables, unit)
    program = plan(read(sql, declared, evaluate), declared, norm)
    with DuckDB(tables, declared) as engine:
        measures = engine.run(program).measures
    return [(world, tuple(int(each[group]) for each in measures)) for group, (world, _) in enumerate(listed)]


@pytest.mark.parametrize("norm", [1, 2])
@pytest.mark.parametrize(
    "unit", [AddRemove(key="k"), AddRemove(key="k", per={"column": "d", "period": "week"})], ids=str
)
@pytest.mark.parametrize("sql", QUESTIONS)
def test_a_question_is_the_sum_over_owners(sql: str, unit: AddRemove, norm: Literal[1, 2]) -> None:
    """With one row a person most are over their limit, so that a weight that depended on others would be seen."""
    found = asked(sql, unit, norm, bounds=None, rows=1)
    for (world, whole), *alone in (list(each) for _, each in itertools.groupby(found, key=lambda part: part[0])):
        total = tuple(map(sum, zip(*(measures for _, measures in alone), strict=True))) if alone else whole
        assert whole == total, world
        assert alone or not any(whole)
    assert found != asked(sql, unit, norm, bounds=None, rows=100)
    # A bound on the key makes one visible value of all people: whose a row is must not be read from it.
    assert found == asked(sql, unit, norm, bounds=(0, 1), rows=1)


def people(source: object, **columns: dict[str, Any]) -> tuple[int, int]:
    """How many owners a table has, and how many of its rows count where each owner may have one."""
    tables = {"t": Table(source, limits={"rows": 1}, columns=columns)}
    declared = schema(tables, AddRemove(key="k"))
    program = plan(read("SELECT COUNT(DISTINCT k) AS p, COUNT(*) AS n FROM t", declared, evaluate), declared, 1)
    with DuckDB(tables, declared) as engine:
        counted, weighted = (int(each[0]) for each in engine.run(program).measures)
    return counted, round(weighted / 2 ** program.measures[1].fraction)


def test_a_collation_makes_no_one_of_two_people() -> None:
    with duckdb.connect(":memory:") as connection:
        connection.execute("CREATE TABLE t (k VARCHAR COLLATE NOCASE)")
        connection.execute("INSERT INTO t VALUES ('Ann'), ('ann'), ('ANN'), ('ann')")
        assert connection.execute("SELECT COUNT(DISTINCT k) FROM t").fetchall() == [(1,)]
        assert people(connection.table("t")) == (3, 3)


def test_who_is_one_is_said_by_the_declared_type() -> None:
    """As declared, not as stored: one person who is written in several ways counts once."""
    stored = pa.table({"k": ["1", "01", " 1", "2", "x", None]})
    assert people(stored, k={"type": "integer"}) == (2, 2)
    assert people(stored) == (5, 5)
