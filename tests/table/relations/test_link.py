"""Links: whose a row is where another table says it, what neighbours are then, and which declarations are refused."""

from __future__ import annotations

import itertools
import random
from collections import Counter
from datetime import date
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pytest

import quincunx as qx
from quincunx.errors import DataError, QueryError, QuincunxError
from quincunx.table import DuckDB, Table, evaluate, planned, read_sql, schema_of
from quincunx.table.relations import Link, reading
from tests.table.relations.locality import MONDAY, Shape, linked_rows

PERSON = qx.unit.AddRemove(key="k")
DAY = qx.unit.AddRemove(key="k", per={"column": "d", "period": "day"})


def encounters(rows: list[Any]) -> pa.Table:
    return _frame(rows, {"k": pa.int64(), "d": pa.date32(), "e": pa.int64()})


def visits(rows: list[Any]) -> pa.Table:
    return _frame(rows, {"e": pa.int64(), "d": pa.date32(), "c": pa.int64()})


def _frame(rows: list[Any], columns: dict[str, Any]) -> pa.Table:
    return pa.Table.from_pylist(
        [dict(zip(columns, row, strict=True)) for row in rows], pa.schema(list(columns.items()))
    )


def counted(sql: str, unit: Any, links: list[Any], seen: list[Any], rows: int = 1000) -> list[int]:
    """The exact measures of a question, in units of their lattice."""
    limits = {"rows": rows, "groups": 50}
    tables = {
        "e": Table(encounters(links), limits=limits),
        "v": Table(visits(seen), limits=limits, owner={"via": "E", "on": "e"}, columns={"c": {"bounds": (0, 9)}}),
    }
    declared = schema_of(tables, unit)
    program = planned(read_sql(sql, declared, evaluate), declared, 1)
    with DuckDB(tables, declared, threads=1) as engine:
        engine.rehearse(program)
        found = engine.run(program)
    return [
        round(int(sum(each)) / 2**measure.fraction)
        for each, measure in zip(found.measures, program.measures, strict=True)
    ]


MON, TUE = MONDAY, date(2024, 1, 2)
LINKS = [(1, MON, 5), (1, MON, 5), (1, TUE, 6), (2, MON, 6), (None, MON, 7), (3, MON, None)]
SEEN = [(5, TUE, 1), (6, TUE, 2), (6, TUE, 3), (7, TUE, 4), (8, TUE, 5), (None, TUE, 6)]


def test_a_row_counts_once_for_each_of_its_owners_and_not_for_nobody() -> None:
    assert counted("SELECT COUNT(*) AS n, SUM(c) AS s FROM v", PERSON, LINKS, SEEN) == [5, 1 + 2 * (2 + 3)]
    assert counted("SELECT COUNT(*) AS n FROM v WHERE k = 2", PERSON, LINKS, SEEN) == [2]
    assert counted("SELECT COUNT(DISTINCT k) AS n FROM v", PERSON, LINKS, SEEN) == [2]


def test_the_day_of_an_owner_is_that_of_the_link_and_the_visits_own_day_is_a_column() -> None:
    assert counted("SELECT COUNT(*) AS n FROM v WHERE d = DATE '2024-01-02'", DAY, LINKS, SEEN) == [5]
    # Limits of one: person 1 has two rows on Tuesday and one on Monday, person 2 two on Monday.
    assert counted("SELECT COUNT(*) AS n FROM v", DAY, LINKS, SEEN, rows=1) == [3]
    assert counted("SELECT COUNT(*) AS n FROM v", PERSON, LINKS, SEEN, rows=1) == [2]


def test_the_day_of_the_visit_as_the_owners_would_mix_days() -> None:
    """The counterexample: with the visit's day, (1, Tuesday) owns a row that D without that day of hers still has."""

    def wrong(links: list[Any], seen: list[Any]) -> Counter[Any]:
        return Counter((k, day) for k, _, e in set(links) for e2, day, _ in seen if e == e2 and k is not None)

    links, seen = [(1, MON, 5)], [(5, TUE, 1)]
    owners = [(1, MON), (1, TUE)]
    alone = [wrong([each for each in links if each[:2] == who], seen) for who in owners]
    assert wrong(links, seen) == {(1, TUE): 1}
    # The part of (1, Tuesday) has no link of hers, so that her row is nobody's part.
    assert alone[1] == {}


@pytest.mark.parametrize(
    ("unit", "sql"), [("person", "SELECT k, e, c FROM V"), ("person-day", "SELECT k, d, c FROM V")]
)
def test_leaving_takes_the_links_and_what_nobody_else_is_linked_to(unit: Any, sql: str, full: bool) -> None:
    """D without u, whichever of u's own visits are gone: everybody else's rows are the same, shared visits included."""
    shape, shared = Shape(sql=sql, unit=unit, numbers="whole"), 0
    for number in range(200 if full else 6):
        world = {"A": [], "B": [], **linked_rows(random.Random(f"leaving {number}"), 5)}
        whole = shape.relation(world)
        width = 1 if unit == "person" else 2
        for who in {row[:width] for row in world["E"] if None not in row[:width]}:
            links = [row for row in world["E"] if row[:width] != who]
            theirs = {row[2] for row in links if None not in row[:width]}
            own = [row for row in world["V"] if row[0] not in theirs]
            shared += any(row[0] in theirs and row[0] in {e for *_, e in world["E"]} for row in world["V"])
            for gone in (own, own[:1], []):
                left = {**world, "E": links, "V": list((Counter(world["V"]) - Counter(gone)).elements())}
                rest = Counter({each: n for each, n in whole.items() if each[0] != who})
                assert shape.relation(left) == rest, (world, who)
    assert shared


def test_links_of_links_have_the_owners_of_the_last() -> None:
    limits = {"rows": 9}
    tables = {
        "e": Table(encounters(LINKS), limits=limits),
        "v": Table(visits(SEEN), limits=limits, owner={"via": "e", "on": "e"}),
        "w": Table(_frame([(1, 1), (2, 1), (9, 1)], {"c": pa.int64(), "u": pa.int64()}), owner={"via": "v", "on": "c"}),
    }
    declared = schema_of(tables, PERSON)
    relation = reading(declared, declared.tables["w"])
    assert isinstance(relation, Link)
    assert [table.name for table in relation.tables.values()] == ["w", "v", "e"]
    assert [each.name for each in relation.columns] == ["c", "u", "k"]
    assert relation.licenses(0, relation.columns[2])
    program = planned(read_sql("SELECT COUNT(DISTINCT k) AS n FROM w", declared, evaluate), declared, 1)
    with DuckDB(tables, declared, threads=1) as engine:
        assert engine.run(program).measures[0].tolist() == [2]


def test_relations_of_one_connection_are_read_one_after_the_other() -> None:
    """A connection answers one question at a time: the first stream would be open while the second begins."""
    shared = duckdb.connect()
    links, seen = encounters(LINKS), visits(SEEN)
    shared.register("links", links)
    shared.register("seen", seen)
    tables = {
        "e": Table(shared.sql("FROM links"), limits={"rows": 9}),
        "v": Table(shared.sql("FROM seen"), limits={"rows": 9}, owner={"via": "e", "on": "e"}),
    }
    declared = schema_of(tables, PERSON)
    program = planned(read_sql("SELECT COUNT(*) AS n FROM v", declared, evaluate), declared, 1)
    with DuckDB(tables, declared) as engine:
        assert [int(each.sum()) >> 20 for each in engine.run(program).measures] == [5]
        assert [int(each.sum()) >> 20 for each in engine.run(program).measures] == [5]
    shared.close()


# Declarations.

E = Table(encounters([]), limits={"rows": 9})
V = visits([])


@pytest.mark.parametrize(
    ("owner", "others", "says"),
    [
        ("e", {}, "expected a mapping"),
        ({"via": "e"}, {}, "on is the name of a column; got nothing"),
        ({"via": 3, "on": "e"}, {}, "via is the name of a table"),
        ({"via": "e", "on": "e", "as": "k"}, {}, "unknown entry"),
        ({"via": "f", "on": "e"}, {}, "no table is called 'f'"),
        ({"via": "v", "on": "e"}, {}, "the links lead in a circle; got v → v"),
        ({"via": "w", "on": "e"}, {"w": Table(V, owner={"via": "v", "on": "e"})}, "in a circle"),
        ({"via": "p", "on": "e"}, {"p": Table(encounters([]), public=True)}, "p is public, so that it leads to nobody"),
        ({"via": "e", "on": "encounter"}, {}, "v has no column 'encounter'"),
        ({"via": "e", "on": "c"}, {}, "e has no column 'c'"),
        (
            {"via": "e", "on": "e"},
            {"e": Table(encounters([]), columns={"e": {"type": "text"}})},
            "e is integer in v and text in e",
        ),
        (
            {"via": "e", "on": "e"},
            {"e": Table(encounters([]), columns={"e": {"bounds": (0, 5)}})},
            "e.e cannot lead to people: it has bounds or keys",
        ),
    ],
    ids=lambda each: str(each)[:40],
)
def test_a_link_that_leads_nowhere_is_refused(owner: Any, others: dict[str, Table], says: str) -> None:
    with pytest.raises(DataError) as refused:
        schema_of({"e": E, "v": Table(V, owner=owner), **others}, PERSON)
    assert says in str(refused.value)
    assert refused.value.hint


def test_a_link_needs_people_and_a_table_without_their_key() -> None:
    link = {"via": "e", "on": "e"}
    with pytest.raises(DataError, match="each row is one here"):
        schema_of({"e": E, "v": Table(V, owner=link)}, qx.unit.AddRemove())
    with pytest.raises(DataError, match="v leads to people through e, and has a k of its own"):
        schema_of({"e": E, "v": Table(encounters([]), owner=link)}, PERSON)
    with pytest.raises(DataError, match="a public table has no owner"):
        Table(V, owner=link, public=True)
    decimals = _frame([], {"k": pa.int64(), "e": pa.float64()}), _frame([], {"e": pa.float64()})
    with pytest.raises(DataError, match="it is decimal"):
        schema_of({"e": Table(decimals[0]), "v": Table(decimals[1], owner=link)}, PERSON)


def test_a_plan_declares_it_and_errors_have_their_line(tmp_path: Path) -> None:
    import pyarrow.parquet as pq

    pq.write_table(encounters(LINKS), tmp_path / "e.parquet")
    pq.write_table(visits(SEEN), tmp_path / "v.parquet")
    written = """dataset = "d"
version = "1"
ledger = ":memory:"
[spec]
unit = { kind = "add-remove", key = "k" }
standard = { kind = "zcdp" }
intensity = "1"
[tables.e]
source = "e.parquet"
[tables.v]
source = "v.parquet"
limits = { rows = 9 }
owner = { via = "e", on = "e" }
"""
    plan = tmp_path / "plan.toml"
    plan.write_text(written)
    with qx.Session.open(plan) as session:
        assert session.sql("SELECT COUNT(*) AS n FROM v", spend="1/2").frame is not None
        assert [name for name, _ in session.specification.domain.columns] == ["k", "e.d", "e.e", "v.e", "v.d", "v.c"]
    for wrong in ('{ via = "f", on = "e" }', '{ via = "e" }', '{ via = "e", on = 3 }', '"e"'):
        plan.write_text(written.replace('{ via = "e", on = "e" }', wrong))
        with pytest.raises(QuincunxError, match=r"plan\.toml:13"):
            qx.Session.open(plan)


def test_an_invariant_reads_no_link() -> None:
    tables = {"e": E, "v": Table(V, owner={"via": "e", "on": "e"})}
    given: Any = {"dataset": "d", "version": "1", "ledger": ":memory:", "standard": qx.standard.ZCDP(), "intensity": 1}
    with pytest.raises(QueryError, match="an invariant reads one table"):
        qx.Session(tables=tables, unit=qx.unit.Replace(key="k"), invariants=["SELECT COUNT(*) AS n FROM v"], **given)


def test_what_a_link_leads_through_is_a_part_of_the_question() -> None:
    links = {"e": E, "f": Table(encounters([]), limits={"rows": 9})}
    found = set()
    for via, on in itertools.product(("e", "f"), ("e", "d")):
        declared = schema_of({**links, "v": Table(V, owner={"via": via, "on": on})}, PERSON)
        found.add(str(read_sql("SELECT COUNT(*) AS n FROM v", declared, evaluate).rows.canonical()))
    assert len(found) == 4
