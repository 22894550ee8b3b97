"""Names that SELECT gives, and other spellings: each is the question that it stands for."""

from __future__ import annotations

import pytest
from sqlglot import exp, parse_one

from quincunx.errors import QueryError, RefusalError
from quincunx.table.engines import evaluate
from quincunx.table.relations import Scan
from quincunx.table.sql import limits, read
from quincunx.table.sql.names import Rows
from tests.table.sql.visits import SCHEMA, VISITS

SAME = {
    # WHERE, as in DuckDB.
    "SELECT age // 10 AS d, COUNT(*) AS n FROM visits WHERE d > 1 GROUP BY d": (
        "SELECT age // 10 AS d, COUNT(*) AS n FROM visits WHERE age // 10 > 1 GROUP BY age // 10"
    ),
    "SELECT age // 10 AS d, d * 2 AS e, COUNT(*) AS n FROM visits WHERE e > 1 GROUP BY d, e": (
        "SELECT age // 10 AS d, age // 10 * 2 AS e, COUNT(*) AS n FROM visits WHERE age // 10 * 2 > 1 "
        "GROUP BY age // 10, age // 10 * 2"
    ),
    "SELECT COUNT(x) AS n FROM (SELECT age AS x FROM visits WHERE x > 20) AS s": (
        "SELECT COUNT(x) AS n FROM (SELECT age AS x FROM visits WHERE age > 20) AS s"
    ),
    # Inside of aggregates and their FILTER.
    "SELECT age * 2 AS d, SUM(d) AS s FROM visits GROUP BY age": (
        "SELECT age * 2 AS d, SUM(age * 2) AS s FROM visits GROUP BY age"
    ),
    "SELECT age // 10 AS d, COUNT(*) FILTER (WHERE d > 3) AS n FROM visits GROUP BY d": (
        "SELECT age // 10 AS d, COUNT(*) FILTER (WHERE age // 10 > 3) AS n FROM visits GROUP BY age // 10"
    ),
    # GROUP BY, HAVING, ORDER BY.
    "SELECT age // 10 AS d, COUNT(*) AS n FROM visits GROUP BY d HAVING n > 3 AND d > 1 ORDER BY n, d": (
        "SELECT age // 10 AS d, COUNT(*) AS n FROM visits GROUP BY 1 "
        "HAVING COUNT(*) > 3 AND age // 10 > 1 ORDER BY 2, 1"
    ),
    "SELECT region, MONTH(born) AS m, COUNT(*) AS n, n * 2 AS twice FROM visits GROUP BY ALL": (
        "SELECT region, MONTH(born) AS m, COUNT(*) AS n, n * 2 AS twice FROM visits GROUP BY region, MONTH(born)"
    ),
    "SELECT COUNT(*) AS n FROM visits GROUP BY ALL": "SELECT COUNT(*) AS n FROM visits",
    # A column hides a name.
    "SELECT age // 10 AS age, COUNT(*) AS n FROM visits WHERE age > 20 GROUP BY 1": (
        "SELECT age // 10 AS age, COUNT(*) AS n FROM visits WHERE visits.age > 20 GROUP BY age // 10"
    ),
    # Other names of aggregates.
    "SELECT MEAN(age) AS m FROM visits": "SELECT AVG(age) AS m FROM visits",
    "SELECT COUNT_IF(smoker) AS n FROM visits": "SELECT COUNT(*) FILTER (WHERE smoker) AS n FROM visits",
    "SELECT COUNTIF(age > 3) FILTER (WHERE smoker) AS n FROM visits": (
        "SELECT COUNT(*) FILTER (WHERE age > 3 AND smoker) AS n FROM visits"
    ),
    "SELECT COUNT(*) AS n FROM (SELECT person_id, COUNT_IF(age > 3) AS m FROM visits GROUP BY 1) WHERE m > 1": (
        "SELECT COUNT(*) AS n FROM (SELECT person_id, SUM(age > 3) AS m FROM visits GROUP BY 1) WHERE m > 1"
    ),
    "SELECT AVG(smoker) AS m FROM visits": "SELECT AVG(CAST(smoker AS BIGINT)) AS m FROM visits",
    "SELECT SUM(age > 3) AS n FROM visits": "SELECT SUM(CAST(age > 3 AS BIGINT)) AS n FROM visits",
}


@pytest.mark.parametrize(("short", "long"), SAME.items(), ids=SAME)
def test_it_is_the_question_that_it_stands_for(short: str, long: str) -> None:
    ours, theirs = (read(each, SCHEMA, evaluate) for each in (short, long))
    assert (ours.rows, ours.aggregates, ours.having, ours.outputs) == (
        theirs.rows,
        theirs.aggregates,
        theirs.having,
        theirs.outputs,
    )
    assert [(key.expression, key.values) for key in ours.keys] == [(key.expression, key.values) for key in theirs.keys]
    assert [each.expression for each in ours.order] == [each.expression for each in theirs.order]


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ("SELECT COUNT(*) AS n FROM visits WHERE n > 3", "an aggregate cannot stand in WHERE"),
        ("SELECT b AS a, a AS b, COUNT(*) AS n FROM visits GROUP BY ALL", "no column has this name"),
        ("SELECT a AS a, COUNT(*) AS n FROM visits GROUP BY a", "no column has this name"),
        ("SELECT COUNT(x) FROM (SELECT age AS y FROM visits) AS s WHERE y > x", "no column has this name"),
        ("SELECT age AS x, COUNT(visits.x) FROM visits GROUP BY x", "no column has this name"),
    ],
)
def test_names_that_stand_for_nothing_here(asked: str, words: str) -> None:
    with pytest.raises((QueryError, RefusalError), match=words):
        read(asked, SCHEMA, evaluate)


def test_names_of_names_cannot_double_without_end() -> None:
    names = [f"a{i}" for i in range(60)]
    doubled = [f"{one} + {one} AS {two}" for one, two in zip(["age", *names], names, strict=False)]
    with pytest.raises(RefusalError, match="too large"):
        read(f"SELECT {', '.join(doubled)}, COUNT(*) FROM visits WHERE {names[-1]} > 1", SCHEMA, evaluate)


def test_a_name_that_two_tables_have_needs_its_table() -> None:
    """What a join will meet: the same name twice is two slots, and neither is chosen silently."""
    first = Scan(table=VISITS, unit=SCHEMA.unit)
    second = first.shifted(1)
    rows = Rows(relation=first, tables=(("a", first.columns), ("b", second.columns)))
    text = limits.split("SELECT age, b.AGE, c.age FROM a")
    plain, qualified, strange = (each.this if isinstance(each, exp.Alias) else each for each in _columns(text.sql))
    assert (rows.resolve(qualified, text).name, rows.resolve(qualified, text).scan) == ("age", 1)
    with pytest.raises(QueryError, match="several tables have a column of this name"):
        rows.resolve(plain, text)
    with pytest.raises(QueryError, match="no table in FROM has this name") as caught:
        rows.resolve(strange, text)
    assert caught.value.hint == "FROM calls its rows a and b."


def _columns(sql: str) -> list[exp.Expr]:
    return list(parse_one(sql, dialect="duckdb").expressions)
