"""Roll-ups: whose they are, what names them, what is proved of them; and rows that could break their sums."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

import duckdb
import pyarrow as pa
import pytest

from quincunx.errors import QueryError, RefusalError
from quincunx.release import Session
from quincunx.spec import ZCDP, AddRemove
from quincunx.table import Table
from quincunx.table.engines import DuckDB, evaluate
from quincunx.table.expression import Column
from quincunx.table.operators import apply, literal
from quincunx.table.relations import LARGEST, Filter, Fold, Project, RollUp, Scan, rolled
from quincunx.table.relations import relation as room
from quincunx.table.rules import plan
from quincunx.table.schema import ColumnSchema, Limits, Schema, TableSchema
from quincunx.table.sql import read
from quincunx.table.table import schema

PERSON = AddRemove(key="person")
DAYS = AddRemove(key="person", per={"column": "day", "period": "day"})
TABLE = TableSchema(
    name="visits",
    columns=(
        ColumnSchema(name="person", type="integer"),
        ColumnSchema(name="region", type="text", keys=("north", "south")),
        ColumnSchema(name="age", type="integer", bounds=(Fraction(0), Fraction(110))),
        ColumnSchema(name="day", type="date"),
        ColumnSchema(name="cost", type="decimal", bounds=(Fraction(0), Fraction(9)), step=Fraction(1, 2)),
        ColumnSchema(name="note", type="text"),
    ),
    limits=Limits(rows=7, groups=3, per_group=2),
)
SCHEMA = Schema(tables={"visits": TABLE}, unit=PERSON)
SCAN = Scan(table=TABLE, unit=PERSON)
KEY, REGION, AGE, DAY, COST, NOTE = SCAN.columns
COUNT = Fold(kind="count")


def test_a_roll_up_is_its_owners() -> None:
    rows = RollUp(source=SCAN, by=(KEY, REGION), folds=(COUNT,))
    key, region = rolled(SCAN, KEY), rolled(SCAN, REGION)
    assert rows.owner is not None
    assert rows.owner.components[0].column == key
    assert rows.licenses(0, key)
    assert not rows.licenses(0, region)
    assert not rows.licenses(0, rolled(SCAN, COUNT))
    assert {each.slot for each in rows.columns} == {key.slot, region.slot, rolled(SCAN, COUNT).slot}
    assert rows.declared(region) == TABLE.column("region")
    assert rows.declared(rolled(SCAN, COUNT)) is None


@pytest.mark.parametrize(("unit", "by"), [(PERSON, ("region",)), (DAYS, ("person",)), (DAYS, ("day",)), (PERSON, ())])
def test_what_is_not_grouped_by_its_owner_is_no_relation(unit: AddRemove, by: tuple[str, ...]) -> None:
    scan = Scan(table=TABLE, unit=unit)
    keys = tuple(each for each in scan.columns if each.name in by)
    with pytest.raises(QueryError, match="does not group by whose its rows are"):
        RollUp(source=scan, by=keys, folds=(COUNT,))


def test_rows_without_an_owner_are_not_rolled_up() -> None:
    with pytest.raises(QueryError, match="people of their own are not rolled up"):
        RollUp(source=Scan(table=TABLE, unit=AddRemove()), by=(KEY,))


def test_limits_and_single_rows() -> None:
    alone = RollUp(source=SCAN, by=(KEY,), folds=(COUNT,))
    assert (alone.limits, alone.single) == (Limits(rows=1, groups=1, per_group=1), True)
    assert Filter(source=alone, condition=apply("greater", rolled(SCAN, COUNT), literal(3))).single
    listed = RollUp(source=SCAN, by=(KEY, REGION))
    assert (listed.limits, listed.single) == (Limits(rows=2, groups=3), False)
    assert RollUp(source=SCAN, by=(KEY, NOTE)).limits == Limits(rows=3, groups=3)
    days = Scan(table=TABLE, unit=DAYS)
    assert RollUp(source=days, by=(KEY, DAY)).single
    assert not RollUp(source=days, by=(KEY, DAY, AGE)).single


def test_names_follow_what_is_held() -> None:
    """Projections, order and numbers of scans make no other relation; what is held does."""
    renamed = Project(source=SCAN, chosen=(("p", KEY), ("r", REGION), ("a", apply("add", AGE, literal(1)))))
    p, r, a = renamed.columns
    total = Fold(kind="sum", argument=a)
    first = RollUp(source=renamed, by=(p, r), folds=(total, COUNT))
    second = RollUp(
        source=SCAN, by=(REGION, KEY), folds=(COUNT, Fold(kind="sum", argument=apply("add", AGE, literal(1))))
    )
    assert first == second
    assert first.canonical() == second.canonical()
    assert first.columns == second.columns
    moved = first.shifted(2)
    assert moved.shifted(-2) == first
    assert [each.name for each in moved.columns] == [each.name for each in first.columns]
    assert [room.shifted(each, 2) for each in first.columns] == list(moved.columns)
    less = first.narrowed(frozenset({rolled(SCAN, COUNT).slot}))
    assert isinstance(less, RollUp)
    assert less.folds == (COUNT,)
    assert len(less.by) == 2


@pytest.mark.parametrize(
    "pair",
    [
        (
            "SELECT person, COUNT(*) AS n FROM visits GROUP BY person",
            "SELECT person AS p, COUNT(*) AS n FROM visits GROUP BY 1",
        ),
        (
            "SELECT person, SUM(age) AS s, COUNT(*) AS n FROM visits GROUP BY person",
            "SELECT COUNT(*) AS n, person FROM visits GROUP BY ALL",
        ),
        (
            "SELECT person, COUNT(*) AS n FROM (SELECT DISTINCT person, region FROM visits) GROUP BY person",
            "SELECT person, COUNT(*) AS n FROM (SELECT region, person FROM visits GROUP BY 2, 1) GROUP BY person",
        ),
    ],
)
def test_equal_questions_are_one(pair: tuple[str, str]) -> None:
    first, second = (plan(read(f"SELECT AVG(n) AS m FROM ({sql}) AS s", SCHEMA), SCHEMA, 1) for sql in pair)
    assert json.dumps(first.query.rows.canonical()) == json.dumps(second.query.rows.canonical())
    assert first.measures == second.measures


def test_facts_of_folds() -> None:
    def facts(fold: Fold) -> tuple[Any, ...]:
        found = fold.facts
        return found["type"], found["nullable"], found["low"], found["high"]

    assert facts(COUNT) == ("integer", False, 0, None)
    assert facts(Fold(kind="distinct", argument=NOTE)) == ("integer", False, 0, None)
    # Limits say nothing about a sum, since they cut no rows.
    assert facts(Fold(kind="sum", argument=AGE)) == ("integer", True, 0, None)
    assert facts(Fold(kind="sum", argument=apply("negate", AGE))) == ("integer", True, None, 0)
    assert facts(Fold(kind="sum", argument=KEY)) == ("integer", True, None, None)
    assert facts(Fold(kind="greatest", argument=AGE)) == ("integer", True, 0, 110)
    assert facts(Fold(kind="between", argument=AGE, level=Fraction(1, 2))) == ("decimal", True, 0, 110)
    assert facts(Fold(kind="least", argument=NOTE)) == ("text", True, None, None)
    sure = Column(name="y", type="integer", nullable=False)
    assert not Fold(kind="least", argument=sure).facts["nullable"]
    assert Fold(kind="least", argument=sure, where=apply("greater", AGE, literal(1))).facts["nullable"]


# Rows that could break a sum: the outcome is the same with them and without.

FAR = 2**63 - 1


def measured(sql: str, rows: list[tuple[Any, ...]], kind: pa.DataType, **columns: dict[str, Any]) -> tuple[int, ...]:
    frame = pa.table({"k": pa.array([k for k, _ in rows], pa.int64()), "x": pa.array([x for _, x in rows], kind)})
    tables = {"t": Table(frame, limits={"rows": 3}, columns=columns)}
    declared = schema(tables, AddRemove(key="k"))
    program = plan(read(sql, declared, evaluate), declared, 1)
    with DuckDB(tables, declared, threads=1) as engine:
        engine.rehearse(program)
        return tuple(int(each[0]) for each in engine.run(program).measures)


@pytest.mark.parametrize("far", [FAR, -FAR - 1, 2**62])
@pytest.mark.parametrize(
    "inner",
    [
        "SELECT k, SUM(x) AS s FROM t GROUP BY k",
        "SELECT k, SUM(s) AS s FROM (SELECT k, x, SUM(x) AS s FROM t GROUP BY k, x) GROUP BY k",
        "SELECT k, SUM(s * s) AS s FROM (SELECT k, x, SUM(x) AS s FROM t GROUP BY k, x) GROUP BY k",
        "SELECT k, AVG(s) AS s FROM (SELECT k, x, SUM(x) AS s FROM t GROUP BY k, x) GROUP BY k",
        "SELECT k, MEDIAN(x) AS s FROM t GROUP BY k",
        "SELECT k, n * n * n * n * n * n * n * n AS s FROM (SELECT k, SUM(x) AS n FROM t GROUP BY k)",
        "SELECT k, CAST(SUM(x) AS BIGINT) + MAX(x) - MIN(x) AS s FROM t GROUP BY k",
    ],
)
def test_a_row_at_the_end_of_its_type_breaks_nothing(inner: str, far: int) -> None:
    sql = f"SELECT COUNT(*) AS n, SUM(CLAMP(s, -9, 9)) AS s FROM ({inner}) AS r"
    usual = [(1, 2), (2, 3)]
    found = measured(sql, [*usual, *[(3, far)] * 40], pa.int64())
    without = measured(sql, usual, pa.int64())
    assert found[0] == without[0] + 1


def test_a_sum_is_of_63_bits_and_wider_numbers_are_moved_first() -> None:
    """The clamp of a sum, of what is summed where its type is wider, and of a sum of sums."""
    sql = f"SELECT SUM(CAST(s = {LARGEST} AS BIGINT)) AS n FROM (SELECT k, SUM(x) AS s FROM t GROUP BY k) AS r"
    assert measured(sql, [(1, FAR)] * 3, pa.int64()) == (1,)
    twice = sql.replace(
        "(SELECT k, SUM(x) AS s FROM t GROUP BY k)",
        "(SELECT k, SUM(s) AS s FROM (SELECT k, x % 7 AS y, SUM(x) AS s FROM t GROUP BY k, y) GROUP BY k)",
    )
    assert measured(twice, [(1, FAR), (1, FAR - 1), (1, FAR - 2)], pa.int64()) == (1,)
    wide = [*([(1, str(8 * 10**37))] * 3), (2, "5")]
    assert measured(sql, wide, pa.string(), x={"type": "integer"}) == (1,)


# What is answered, with noise that rounds to nothing.


def rows() -> list[tuple[int, str, int]]:
    """Person i has i visits, up to 40."""
    return [(i, "north" if (i + j) % 3 else "south", (i * j) % 50) for i in range(1, 41) for j in range(i)]


@pytest.fixture(scope="module")
def session() -> Session[Any]:
    names = ("person", "region", "cost")
    frame = pa.table({name: [row[place] for row in rows()] for place, name in enumerate(names)})
    columns: dict[str, Any] = {"region": {"keys": ["north", "south"]}, "cost": {"bounds": (0, 50)}}
    return Session(
        dataset="visits", version="1", ledger=":memory:", unit=PERSON, standard=ZCDP(), intensity=10**15,
        tables={"visits": Table(frame, limits={"rows": 20}, columns=columns)},
    )  # fmt: skip


ASKED = {
    "mean visits of a person, at most 20 each": (
        "SELECT AVG(n) AS v FROM (SELECT person, COUNT(*) AS n FROM visits GROUP BY person)",
        "SELECT AVG(LEAST(n, 20)) FROM (SELECT person, COUNT(*) AS n FROM visits GROUP BY person)",
    ),
    "people with at least 25: above the limit, and no clamp": (
        "SELECT COUNT(*) AS v FROM (SELECT person FROM visits GROUP BY person HAVING COUNT(*) >= 25)",
        None,
    ),
    "also in WHERE": (
        "SELECT COUNT(*) AS v FROM (SELECT person, COUNT(*) AS n FROM visits GROUP BY person) AS p WHERE n > 25",
        None,
    ),
    "the distribution of visits": (
        "SELECT LEAST(n, 30) AS k, COUNT(*) AS v FROM (SELECT person, COUNT(*) AS n FROM visits GROUP BY person) "
        "GROUP BY k HAVING COUNT(*) > 0.5 ORDER BY k",
        "SELECT LEAST(n, 30) AS k, COUNT(*) FROM (SELECT person, COUNT(*) AS n FROM visits GROUP BY person) "
        "GROUP BY k ORDER BY k",
    ),
    "people by region": (
        "SELECT region AS k, COUNT(*) AS v FROM (SELECT DISTINCT person, region FROM visits) GROUP BY k ORDER BY k",
        None,
    ),
    "mean cost of a person": (
        "WITH p AS (SELECT person, AVG(cost) AS c FROM visits GROUP BY person) SELECT AVG(c) AS v FROM p",
        None,
    ),
    "several aggregates, and people": (
        "SELECT COUNT(DISTINCT person) AS v FROM (SELECT person, MAX(cost) AS m, MEDIAN(cost) AS d FROM visits "
        "GROUP BY person) AS p WHERE m > d + 10",
        None,
    ),
}


@pytest.mark.parametrize("asked", ASKED)
def test_the_answer_is_what_duckdb_gives(session: Session[Any], asked: str) -> None:
    sql, plain = ASKED[asked]
    frame = session.sql(sql, spend=10**12).frame
    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE visits (person BIGINT, region VARCHAR, cost BIGINT)")
        connection.executemany("INSERT INTO visits VALUES (?, ?, ?)", rows())
        expected = connection.execute(plain or sql).fetchall()
    found = [row["v"] for row in frame.to_pylist()]
    # Sums of decimals are rounded to their lattice of 1e-4 or finer.
    assert found == pytest.approx([float(row[-1]) for row in expected], abs=1e-4)
    spent = session.spent
    assert session.sql(sql, spend=10**12).frame.equals(frame)
    assert session.spent == spent


def test_explain_says_what_a_count_is_cut_to(session: Session[Any]) -> None:
    told = session.explain("SELECT AVG(n) AS m FROM (SELECT person, COUNT(*) AS n FROM visits GROUP BY person)")
    assert "People with more than 20 rows of 'visits' count as 20." in told.biases
    assert not any("weighted down" in each for each in told.biases)
    told = session.explain("SELECT COUNT(*) AS m FROM (SELECT person FROM visits GROUP BY person HAVING COUNT(*) > 3)")
    assert not any("count as" in each for each in told.biases)


def test_a_sum_of_sums_needs_a_bound(session: Session[Any]) -> None:
    with pytest.raises(RefusalError, match="SUM needs a bounded argument"):
        session.explain("SELECT SUM(s) AS s FROM (SELECT person, SUM(cost) AS s FROM visits GROUP BY person)")


@pytest.mark.parametrize(
    ("key", "text"),
    [({"bounds": (0, 9)}, "k has bounds, keys or decimals"), ({"keys": [1, 2]}, "k has bounds, keys or decimals")],
)
def test_a_key_that_may_be_moved_groups_nobody(key: dict[str, Any], text: str) -> None:
    tables = {"t": Table(pa.table({"k": [1, 2]}), limits={"rows": 3}, columns={"k": key})}
    declared = schema(tables, AddRemove(key="k"))
    with pytest.raises(RefusalError, match=text):
        read("SELECT COUNT(*) AS n FROM (SELECT k FROM t GROUP BY k)", declared, evaluate)


def test_rows_that_are_people_are_not_grouped() -> None:
    tables = {"t": Table(pa.table({"k": [1, 2]}))}
    declared = schema(tables, AddRemove())
    with pytest.raises(RefusalError, match="no column says whose they are"):
        read("SELECT COUNT(*) AS n FROM (SELECT k FROM t GROUP BY k)", declared, evaluate)
