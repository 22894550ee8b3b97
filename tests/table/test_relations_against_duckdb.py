"""Generated questions over several tables: at an enormous budget every construct below the aggregates equals DuckDB.

Numbers of one person differ, so that no order is left to chance; limits bind nobody.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from datetime import date, timedelta
from typing import Any

import duckdb
import pyarrow as pa
import pytest

import quincunx as qx
from quincunx.audit.tables.questions import _Maker, accepted
from quincunx.audit.tables.relations import RELATIONS, Ground, Production
from quincunx.errors import QueryError, RefusalError
from quincunx.table.rules import plan
from quincunx.table.schema import Schema
from quincunx.table.table import schema
from tests.table.test_against_duckdb import MACROS, OURS, SPEND, check, lattice_sql, meant, session

# How many questions of each construct are compared in the largest run, in CI's and in a newcomer's.
ENOUGH, SOME, FEW = 200, 2, 1
LIMITS = {"rows": 10_000, "groups": 1_000}
OWNERS = {"bills": {"via": "encounters", "on": "encounter"}, "posts": {"via": "bills", "on": "bill"}}
COLUMNS: dict[str, dict[str, dict[str, Any]]] = {
    "visits": {
        "region": {"keys": ["a", "süd", "b", None]},
        "age": {"bounds": (0, 110)},
        "cost": {"bounds": (-50, 50), "step": "0.25"},
    },
    "encounters": {"ward": {"keys": ["a", "b", None]}, "stay": {"bounds": (0, 60)}},
    "bills": {"amount": {"bounds": (-5, 200)}, "kind": {"keys": ["x", "y"]}},
    "posts": {"price": {"bounds": (0, 60), "step": "0.25"}},
}
TYPES = {
    "visits": "person BIGINT, region VARCHAR, age INTEGER, cost DOUBLE, note VARCHAR, born DATE",
    "encounters": "person BIGINT, encounter BIGINT, ward VARCHAR, stay INTEGER",
    "bills": "encounter BIGINT, bill VARCHAR, amount INTEGER, kind VARCHAR",
    "posts": "bill VARCHAR, price DOUBLE, note VARCHAR",
    "regions": "region VARCHAR, beds INTEGER",
}
REGIONS = [("a", 3), ("a", 5), ("süd", 2), (None, 9), ("far", 4)]


def rows() -> dict[str, list[tuple[Any, ...]]]:
    """People with rows in some tables; a shared encounter, bills of nobody, and one NULL at most in an order."""
    choose = random.Random("relations")
    visits: list[tuple[Any, ...]] = []
    encounters: list[tuple[Any, ...]] = []
    for person in range(1, 25):
        many = choose.choice((0, 1, 2, 4, 7))
        ages, costs = choose.sample([None, *range(111)], many), choose.sample([None, *range(-200, 201)], many)
        for age, cost in zip(ages, costs, strict=True):
            notes, born = ("a", "b", "a b", "", None), date(1990, 1, 1) + timedelta(days=choose.randrange(9_000))
            place = choose.choice(("a", "süd", "b", None))
            visits.append((person, place, age, None if cost is None else cost / 4, choose.choice(notes), born))
        many = choose.choice((0, 1, 3))
        for stay in choose.sample([None, *range(61)], many):
            encounters.append((person, choose.randrange(30), choose.choice(("a", "b", None)), stay))
    amounts = choose.sample(range(-5, 201), 70)
    bills = [(choose.randrange(34), f"bill {i % 50}", amount, choose.choice("xy")) for i, amount in enumerate(amounts)]
    prices = choose.sample(range(241), 60)
    posts = [(f"bill {choose.randrange(60)}", price / 4, choose.choice(("a", "b", None))) for price in prices]
    return {"visits": visits, "encounters": encounters, "bills": bills, "posts": posts, "regions": REGIONS}


@pytest.fixture(scope="module")
def plain() -> Iterator[duckdb.DuckDBPyConnection]:
    """The tables as DuckDB has them: what is linked as a view, with its person."""
    connection = duckdb.connect(":memory:")
    for macro in (*MACROS, *OURS):
        connection.execute(macro)
    for name, found in rows().items():
        stored = f"{name}0" if name in OWNERS else name
        connection.execute(f"CREATE TABLE {stored} ({TYPES[name]})")
        connection.executemany(f"INSERT INTO {stored} VALUES ({', '.join('?' * len(found[0]))})", found)
    for name, link in OWNERS.items():
        known = f"SELECT DISTINCT person, {link['on']} FROM {link['via']}"
        connection.execute(f"CREATE VIEW {name} AS FROM {name}0 JOIN ({known}) USING ({link['on']})")
    yield connection
    connection.close()


def tables(plain: duckdb.DuckDBPyConnection) -> dict[str, qx.Table]:
    found: dict[str, qx.Table] = {}
    for name in TYPES:
        frame: pa.Table = plain.table(f"{name}0" if name in OWNERS else name).to_arrow_table()
        if name == "regions":
            found[name] = qx.Table(frame, public=True)
        else:
            found[name] = qx.Table(frame, limits=LIMITS, columns=COLUMNS[name], owner=OWNERS.get(name))
    return found


class _Below(_Maker):
    """Questions whose rows one construct makes."""

    def _source(self) -> tuple[str, str]:
        return self._related(next(iter(self.relations)))


def made(declared: Schema, construct: str, production: Production) -> Iterator[Any]:
    """Questions without end about what a construct makes of two tables: one with a key, and one by its link."""
    makers = []
    for name in ("visits", "bills"):
        source = random.Random(f"{construct} {name}")
        table = declared.tables[name]
        ground = Ground(schema=declared, table=table, source=random.Random(0))
        if any(production(ground) is not None for _ in range(20)):
            makers.append(_Below(declared, table, source, True, 3, {construct: production}))
    while makers:
        for maker in makers:
            question = maker.question()
            if construct in question.constructs:
                yield question


# A newcomer's run asks every third.
@pytest.mark.parametrize(
    "construct", [pytest.param(each, marks=pytest.mark.ci if i % 3 else ()) for i, each in enumerate(RELATIONS)]
)
def test_a_construct_equals_plain_duckdb(
    construct: str, plain: duckdb.DuckDBPyConnection, ci: bool, full: bool
) -> None:
    given = tables(plain)
    declared = schema(given, qx.unit.AddRemove(key="person"))
    compared = failed = tried = 0
    with session(given) as ours:
        for question in made(declared, construct, RELATIONS[construct]):
            tried += 1
            assert tried < 100 * ENOUGH, (compared, failed)
            query = accepted(question.sql, declared)
            try:
                program = None if query is None else plan(query, declared, 1)
            except (QueryError, RefusalError):
                program = None
            if program is None or program.selection is not None:
                continue
            cursor = plain.cursor()
            try:
                exact = cursor.execute(meant(lattice_sql(question, program))).fetchall()
                whole = cursor.execute(meant(question.sql)).fetchall()
            except duckdb.Error:
                # Plain DuckDB raises where a value overflows or cannot be cast; ours is NULL there.
                failed += 1
                continue
            answer = ours.sql(question.sql, spend=SPEND)
            check(cursor, question, program, [dict(row) for row in answer.rows], exact, whole)
            compared += 1
            if compared == (ENOUGH if full else SOME if ci else FEW):
                break
    print(f"\n{construct}: {compared:,} questions of {tried:,} compared, {failed:,} that plain DuckDB cannot answer")
