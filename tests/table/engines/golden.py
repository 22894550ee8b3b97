"""The statements of an engine, as text. `python -m tests.table.engines.golden` writes the fixture again.

A statement that changes may change what is measured: the file is looked at, line by line, before it is written again.
"""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, Literal

import duckdb

from quincunx.spec.period import Per
from quincunx.spec.unit import AddRemove, Replace
from quincunx.table.engines import DuckDB, evaluate
from quincunx.table.rules import plan
from quincunx.table.sql import read
from quincunx.table.table import Table, schema
from tests.table import worlds

HOME: Final = Path(__file__).parents[2] / "fixtures" / "sql"
LIMITS: Final = {"rows": 20, "groups": 3, "per_group": 8}
NORMS: Final[tuple[Literal[1, 2], ...]] = (1, 2)
# What is kept in full, to be read.
FULL: Final = (
    f"{worlds.QUESTIONS[3]}, {AddRemove(key='person').words()}, norm 2",
    f"{worlds.UNKNOWN[1]}, {AddRemove(key='person').words()}, norm 1",
    "every type, with bounds",
    "roll-up",
    "visits JOIN persons USING (k)",
    "visits AS a FULL JOIN visits AS b ON a.k = b.k AND a.x < b.x",
    "visits LEFT JOIN regions USING (g)",
    "(SELECT * FROM visits QUALIFY ROW_NUMBER() OVER (PARTITION BY k ORDER BY x DESC) = 1) AS v",
    "visits AS v WHERE EXISTS (SELECT 1 FROM visits AS s WHERE s.k = v.k AND s.x < v.x)",
    "visits WHERE (k, x) NOT IN (SELECT k, y FROM persons)",
)
# What stands in FROM: visits and persons are private, regions public.
JOINED: Final = (
    "visits JOIN persons USING (k)",
    "visits LEFT JOIN persons ON visits.k = persons.k AND visits.x > persons.y",
    "visits AS a FULL JOIN visits AS b ON a.k = b.k AND a.x < b.x",
    "visits LEFT JOIN regions USING (g)",
    "visits JOIN persons USING (k) JOIN regions ON regions.z = visits.x",
    "(SELECT * FROM visits QUALIFY ROW_NUMBER() OVER (PARTITION BY k ORDER BY x DESC) = 1) AS v",
    "(SELECT RANK() OVER (PARTITION BY k, g ORDER BY x) AS r, SUM(x) OVER (PARTITION BY k) AS s FROM visits) AS v",
    "visits AS v WHERE EXISTS (SELECT 1 FROM visits AS s WHERE s.k = v.k AND s.x < v.x)",
    "visits WHERE (k, x) NOT IN (SELECT k, y FROM persons)",
    "visits WHERE g IN (SELECT g FROM regions WHERE z > 0)",
    "visits AS v WHERE x > (SELECT COUNT(*) FROM persons AS p WHERE p.k = v.k)",
    "visits AS v WHERE x > (SELECT r.z FROM regions AS r WHERE r.g = v.g)",
)
UNITS: Final[dict[str, Any]] = {
    "rows": AddRemove(),
    "replaced": Replace(key="person"),
    "weeks": AddRemove(key="person", per=Per(period="week", column="day")),
}
# Every type in which a column of DuckDB arrives, and what it is declared to be.
STORED: Final = (
    *(("TINYINT", "integer"), ("INTEGER", "integer"), ("BIGINT", "integer"), ("UBIGINT", "integer")),
    *(("HUGEINT", "integer"), ("VARCHAR", "integer"), ("DOUBLE", "integer"), ("BOOLEAN", "integer")),
    *(("FLOAT", "decimal"), ("DOUBLE", "decimal"), ("DECIMAL(12,3)", "decimal"), ("VARCHAR", "decimal")),
    *(("BIGINT", "decimal"), ("VARCHAR", "text"), ("UUID", "text"), ("BIGINT", "text"), ("DATE", "date")),
    *(("VARCHAR", "date"), ("TIMESTAMP", "timestamp"), ("TIMESTAMP WITH TIME ZONE", "timestamp")),
    *(("TIMESTAMP_NS", "timestamp"), ("VARCHAR", "timestamp"), ("BOOLEAN", "boolean"), ("VARCHAR", "boolean")),
)
# Every operator of the language at least once, which a test holds.
OPERATORS: Final = (
    "i + 1 > 2", "i - j > 0", "i * j > 9", "d / 3 > 1.5", "i // 7 > 0", "i % 7 > 2", "d % 2.5 > 1", "-i < 0", "-d < 0",
    "ABS(i) > 1", "ABS(d) > 1", "FLOOR(d) > 1", "CEIL(d) > 1", "ROUND(d, 2) > 1", "ROUND(i, 0) > 1",
    "CLAMP(d, 0, 9) > 1", "CLAMP(i, 0, 9) > 1", "w + i > 0", "w // 3 > 0", "e > 0.5", "e + i > 0.25", "i = 3", "i <> 3",
    "d <= 2.5", "d >= 2.5", "i IS DISTINCT FROM 3", "i IS NOT DISTINCT FROM j", "i BETWEEN 1 AND 3", "i IN (1, 2, 3)",
    "s IS NULL", "b AND i < 3", "b OR i < 3", "NOT b", "CASE WHEN b THEN i ELSE 0 END > 1",
    "COALESCE(i, 0) > 1", "NULLIF(i, 3) > 1", "LEAST(i, j) > 1", "GREATEST(d, 1.5) > 1",
    "CAST(s AS INTEGER) > 1", "CAST(d AS INTEGER) > 1", "CAST(s AS DOUBLE) > 1", "CAST(s AS DATE) > DATE '2020-01-01'",
    "CAST(s AS TIMESTAMP) > TIMESTAMP '2020-01-01 12:00:00'", "CAST(s AS BOOLEAN)", "CAST(i AS VARCHAR) = '3'",
    "UPPER(s) = 'A'", "LOWER(s) = 'a'", "LENGTH(s) > 2", "TRIM(s) = 'a'", "LTRIM(s) = 'a'", "RTRIM(s) = 'a'",
    "LEFT(s, 2) = 'ab'", "RIGHT(s, 2) = 'ab'", "SUBSTRING(s, 2, 3) = 'abc'", "s || 'x' = 'ax'",
    "CONCAT(s, 'x') = 'ax'", "REPLACE(s, 'a', 'b') = 'b'", "STARTS_WITH(s, 'a')", "ENDS_WITH(s, 'a')",
    "CONTAINS(s, 'a')", "s LIKE 'a%'", "s ILIKE 'a_'", "EXTRACT(YEAR FROM t) > 2000", "DATE_PART('dow', t) = 1",
    "DATE_TRUNC('month', t) = TIMESTAMP '2020-01-01 00:00:00'",
)  # fmt: skip


# One question for each relation, and what is kept in full of them: all that is folded, and whose it is.
RELATIONS: Final = {
    "roll-up": "SELECT AVG(n) AS m, COUNT(s) AS c FROM (SELECT person, COUNT(*) AS n, SUM(age) AS s FROM t "
    "WHERE flag GROUP BY person HAVING COUNT(*) > 2) AS p",
    "roll-up with every fold": "SELECT COUNT(a) AS a, COUNT(b) AS b, COUNT(c) AS c, COUNT(d) AS d, COUNT(e) AS e FROM "
    "(SELECT person, region, AVG(cost) AS a, COUNT(DISTINCT cost) FILTER (WHERE flag) AS b, VAR_SAMP(age) AS c, "
    "MEDIAN(cost) + QUANTILE_DISC(age, 0.2) AS d, BOOL_OR(flag) AND MIN(day) < MAX(day) AS e FROM t "
    "GROUP BY person, region) AS p",
    "union": "SELECT COUNT(*) AS n FROM (SELECT person, age AS x FROM t UNION SELECT person, big FROM t) AS u",
    "except": "SELECT COUNT(*) AS n FROM (SELECT person, cost FROM t EXCEPT ALL SELECT person, cost * 2 FROM t) AS u",
    "distinct": "SELECT region, COUNT(*) AS n FROM (SELECT DISTINCT person, region FROM t) AS p GROUP BY region",
}


def statements() -> dict[str, str]:
    """A title for each statement, and the statement."""
    found: dict[str, str] = {}
    for unit, texts in (
        (AddRemove(key="person"), (*worlds.QUESTIONS, *worlds.UNKNOWN)),
        *((unit, worlds.QUESTIONS[2:3]) for unit in UNITS.values()),
        (UNITS["weeks"], worlds.UNKNOWN[:1]),
    ):
        engine, declared = worlds.world([], unit, LIMITS)
        with engine:
            for text, norm in itertools.product(texts, NORMS):
                program = worlds.planned(text, declared, norm)
                found[f"{text}, {unit.words()}, norm {norm}"] = engine.sql(program)
    engine, declared = worlds.world([], AddRemove(key="person"), LIMITS)
    with engine:
        found |= {title: engine.sql(worlds.planned(each, declared, 1)) for title, each in RELATIONS.items()}
    return {**found, **_scans(), **_operators(), **_joins()}


def _joins() -> dict[str, str]:
    connection = duckdb.connect()
    for name, columns in (("visits", "x BIGINT, g VARCHAR"), ("persons", "y BIGINT")):
        connection.execute(f"CREATE TABLE {name} (k BIGINT, {columns})")
    connection.execute("CREATE TABLE regions AS SELECT 'a' AS g, 1::BIGINT AS z")
    tables = {name: Table(connection.table(name), limits={"rows": 3}) for name in ("visits", "persons")}
    tables["regions"] = Table(connection.table("regions"), public=True)
    declared = schema(tables, AddRemove(key="k"))
    with DuckDB(tables, declared) as engine:
        return {
            source: engine.sql(plan(read(f"SELECT COUNT(*) AS n FROM {source}", declared, evaluate), declared, 1))
            for source in JOINED
        }


def asked(source: Any, columns: Any, questions: Mapping[str, str]) -> dict[str, str]:
    """The statements of questions about a relation, by their titles."""
    tables = {"t": Table(source, limits={"rows": 1}, columns=columns)}
    declared = schema(tables, AddRemove(key="p"))
    with DuckDB(tables, declared) as engine:
        return {
            title: engine.sql(plan(read(text, declared, evaluate), declared, 1)) for title, text in questions.items()
        }


def _scans() -> dict[str, str]:
    fields = [f"NULL::{kind} AS c{i}" for i, (kind, _) in enumerate(STORED)]
    bounded = {"integer": (0, 9), "decimal": ("0.25", "9.75"), "date": ("2020-01-01", "2020-12-31")}
    columns: dict[str, Any] = {f"c{i}": {"type": kind} for i, (_, kind) in enumerate(STORED)}
    clipped = {
        name: {**each, **({"bounds": bounded[each["type"]]} if each["type"] in bounded else {})}
        for name, each in columns.items()
    }
    with duckdb.connect() as connection:
        source = connection.sql(f"SELECT 1 AS p, {', '.join(fields)}")
        counted = ", ".join(f"COUNT(c{i}) AS n{i}" for i in range(len(STORED)))
        question = f"SELECT {counted} FROM t"
        plain = asked(source, columns, {"every type": question})
        return {**plain, **asked(source, clipped, {"every type, with bounds": question})}


def _operators() -> dict[str, str]:
    with duckdb.connect() as connection:
        source = connection.sql(
            "SELECT 1 AS p, 1::BIGINT AS i, 1::INTEGER AS j, 1::HUGEINT AS w, 0.5::DOUBLE AS d, "
            "0.5::DECIMAL(9,2) AS e, 'a' AS s, true AS b, TIMESTAMP '2020-01-01' AS t"
        )
        columns = {"j": {"bounds": (0, 100)}}
        return asked(source, columns, {each: f"SELECT COUNT(*) AS n FROM t WHERE {each}" for each in OPERATORS})


def text() -> str:
    """All statements with their titles: some in full, of an operator the condition alone, of the others a digest."""
    parts = []
    for title, sql in statements().items():
        shown = sql if title in FULL else f"sha256 {hashlib.sha256(sql.encode()).hexdigest()}"
        if title in OPERATORS:
            start = sql.index("WHERE\n", sql.index("WITH ")) + len("WHERE\n")
            shown = " ".join(sql[start : sql.index("\n), ", start)].split())
        parts.append(f"-- {title}\n{shown}\n")
    return "\n".join(parts)


if __name__ == "__main__":
    HOME.mkdir(exist_ok=True)
    (HOME / "duckdb.sql").write_text(text(), encoding="utf-8")
