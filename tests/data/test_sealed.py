"""The sealed connection: one SELECT over published columns, and no way out of it."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from quincunx.data import Given, Sealed, connect
from quincunx.data import sealed as module
from quincunx.errors import QuincunxError, RefusalError

secret = {"value": np.array([42])}


def answer(rows: int = 3) -> list[Given]:
    present = np.ones(rows, dtype=bool)
    return [
        Given(name="region", values=np.array(list("abcdefghij")[:rows], dtype=object), present=present, type="VARCHAR"),
        Given(name="n", values=np.arange(rows), present=present, type="BIGINT"),
    ]


def run(sql: str) -> list[tuple[object, ...]]:
    with Sealed({"answer": answer()}) as sealed:
        return sealed.run(sealed.check(sql).text).rows


# Every one of these would say something that was not published, or something else the next time.
ESCAPES = [
    "SELECT * FROM read_csv('{file}')",
    "SELECT * FROM read_text('{file}')",
    "SELECT * FROM read_blob('{file}')",
    "SELECT * FROM read_parquet('{file}')",
    "SELECT * FROM sniff_csv('{file}')",
    "SELECT * FROM '{file}'",
    'SELECT * FROM "{file}"',
    "SELECT * FROM glob('{folder}/*')",
    "ATTACH '{folder}/x.db'",
    "ATTACH ':memory:' AS other",
    "COPY answer TO '{folder}/x.csv'",
    "COPY answer FROM '{file}'",
    "EXPORT DATABASE '{folder}/x'",
    "IMPORT DATABASE '{folder}/x'",
    "SET threads = 2",
    "SET enable_external_access = true",
    "RESET lock_configuration",
    "PRAGMA database_size",
    "PRAGMA version",
    "INSTALL httpfs",
    "LOAD httpfs",
    "CALL pragma_version()",
    "CREATE TABLE x AS SELECT 1",
    "CREATE MACRO f() AS 1",
    "INSERT INTO answer VALUES ('x', 1)",
    "DELETE FROM answer",
    "UPDATE answer SET n = 0",
    "DROP TABLE answer",
    "EXPLAIN ANALYZE SELECT 1",
    "PREPARE p AS SELECT 1",
    "BEGIN",
    "CHECKPOINT",
    "SELECT getenv('HOME')",
    "SELECT * FROM secret",
    "SELECT * FROM main.answer",
    "SELECT * FROM memory.main.answer",
    "SELECT * FROM query('SELECT 1')",
    "SELECT * FROM query_table('answer')",
    "SELECT * FROM duckdb_settings()",
    "SELECT * FROM duckdb_secrets()",
    "SELECT * FROM duckdb_functions()",
    "SELECT * FROM duckdb_logs",
    "SELECT * FROM pragma_version()",
    "SELECT * FROM information_schema.tables",
    "SELECT * FROM pg_catalog.pg_class",
    "SELECT * FROM sqlite_master",
    "SELECT current_setting('temp_directory')",
    "SELECT version()",
    "SELECT current_user",
    "SELECT current_database()",
    "SELECT pg_typeof(n), pg_conf_load_time() FROM answer",
    "SELECT write_log('x')",
    "SELECT random()",
    "SELECT n + RANDOM() FROM answer",
    "SELECT uuid()",
    "SELECT gen_random_uuid()",
    "SELECT now()",
    "SELECT current_timestamp",
    "SELECT current_date",
    "SELECT today()",
    "SELECT localtimestamp",
    "SELECT region, user FROM answer",
    "SELECT nextval('s')",
    "SELECT setseed(0.5)",
    "SELECT getvariable('x')",
    "SELECT sleep_ms(1)",
    "SELECT * FROM answer USING SAMPLE 2",
    "SELECT * FROM answer TABLESAMPLE 50 PERCENT",
    "SELECT * FROM (SELECT * FROM answer USING SAMPLE 1)",
    "DESCRIBE answer",
    "SUMMARIZE answer",
    "SHOW TABLES",
    "SELECT * FROM (DESCRIBE answer)",
    "SELECT * FROM (WITH sqlite_master AS (SELECT 1 AS a) SELECT * FROM sqlite_master) AS t, sqlite_master",
    "SELECT * FROM (WITH pragma_database_list AS (SELECT 1) FROM pragma_database_list), pragma_database_list",
    "SELECT * FROM (WITH secret AS (SELECT 1 AS a) SELECT * FROM secret) AS t, secret",
    'SELECT * FROM (WITH "{file}" AS (SELECT 1 AS a) SELECT * FROM "{file}") AS t, "{file}"',
    "SELECT age(TIMESTAMP '2020-01-01')",
    "SELECT system.main.random()",
    "SELECT n.random() FROM answer",
    "SELECT list_transform([1, 2], lambda x: random())",
    "SELECT n FROM answer LIMIT (SELECT random() * 10)::INT",
    "SELECT ?",
    "SELECT $1",
    "SELECT 1; SELECT 2",
    "SELECT 1; DROP TABLE answer",
    "",
    "-- nothing",
    "SELECT * FROM json_execute_serialized_sql(json_serialize_sql('SELECT 1'))",
    "WITH t AS (SELECT * FROM read_csv('{file}')) SELECT * FROM t",
    "SELECT (SELECT COUNT(*) FROM glob('{folder}/*'))",
    "SELECT * FROM answer WHERE region IN (SELECT content FROM read_text('{file}'))",
    "SELECT * FROM answer) AS u, (SELECT 1",
]


@pytest.mark.parametrize("sql", ESCAPES)
def test_no_way_out(sql: str, tmp_path: Path) -> None:
    file = tmp_path / "secret.csv"
    file.write_text("hidden\n42\n", "utf-8")
    os.environ["QUINCUNX_HIDDEN"] = "hidden"
    with pytest.raises(QuincunxError) as caught:
        run(sql.format(file=file, folder=tmp_path))
    assert "hidden" not in str(caught.value).lower().replace(str(tmp_path).lower(), "")
    assert [each.name for each in tmp_path.iterdir()] == ["secret.csv"]


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT * FROM read_text('{file}')",
        "SELECT * FROM '{file}'",
        "SELECT * FROM secret",
        "ATTACH '{folder}/x.db'",
        "COPY (SELECT 1) TO '{folder}/x.csv'",
        "SET threads = 2",
        "INSTALL httpfs",
        "LOAD httpfs",
    ],
)
def test_the_connection_holds_without_the_check(sql: str, tmp_path: Path) -> None:
    """The second net: what reaches the engine unchecked is refused by its settings."""
    file = tmp_path / "secret.csv"
    file.write_text("hidden\n", "utf-8")
    with Sealed({"answer": answer()}) as sealed, pytest.raises(QuincunxError):
        sealed.run(sql.format(file=file, folder=tmp_path))
    assert [each.name for each in tmp_path.iterdir()] == ["secret.csv"]


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT * FROM answer",
        "FROM answer",
        "SELECT region, n / SUM(n) OVER () FROM answer -- a remark",
        "WITH t AS (SELECT * FROM answer) SELECT * FROM t JOIN answer USING (region);",
        "SELECT * FROM answer, range(2) AS r(i)",
        "SELECT unnest([1, 2])",
        "SELECT * FROM (VALUES (1), (2)) AS v(x)",
        "SELECT MEDIAN(n), STDDEV(n), list(n ORDER BY n)::VARCHAR FROM answer",
        "SELECT * FROM answer PIVOT (SUM(n) FOR region IN ('a', 'b'))",
        "SELECT region FROM answer UNION ALL SELECT 'total'",
        "SELECT age(TIMESTAMP '2024-01-01', TIMESTAMP '2020-01-01')",
        "WITH a AS (SELECT 1 AS x), b AS (SELECT x FROM a) SELECT * FROM b, a",
        "SELECT a.n FROM answer AS a WHERE EXISTS (SELECT 1 FROM answer AS b WHERE b.n > a.n)",
    ],
)
def test_ordinary_statements(sql: str) -> None:
    assert run(sql)
    assert run(sql) == run(sql)


def test_the_order_is_left_out() -> None:
    with Sealed({"answer": answer()}) as sealed:
        found = sealed.check("SELECT n FROM (SELECT n FROM answer ORDER BY n LIMIT 2) ORDER BY n DESC LIMIT 1 OFFSET 1")
        assert sealed.run(found.text).rows == [(0,)]
        assert sorted(sealed.run(found.unordered).rows) == [(0,), (1,)]


def test_what_is_too_large_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "ROWS", 10)
    with pytest.raises(QuincunxError, match="too many rows"):
        run("SELECT * FROM range(11)")
    monkeypatch.setattr(module, "SECONDS", 0.2)
    with pytest.raises(QuincunxError, match=r"took more than 0\.2 seconds"):
        run("SELECT COUNT(*) FROM range(10000000000) AS a(x), range(1000000) AS b(y) WHERE (x * y) % 7 = 3")
    with pytest.raises(QuincunxError, match="too long"):
        run("SELECT 1" + " " * 100_000)
    with pytest.raises(QuincunxError, match="expected SQL as a text"):
        run(3)  # type: ignore[arg-type]


def test_memory_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MEMORY", 2**25)
    with pytest.raises(QuincunxError, match="too much memory"):
        run("SELECT list(x || repeat('y', 1000)) FROM range(1000000) AS r(x)")


def test_the_size_of_a_result_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Long texts and lists of few rows: they are counted as they are taken over."""
    monkeypatch.setattr(module, "MEMORY", 2**25)
    for long in (
        "repeat('y', 10000)",
        "range(2000)",
        "{'a': repeat('y', 10000)}",
        "MAP([1], [range(2000)])",
    ):
        with pytest.raises(QuincunxError, match="the result is too large"):
            run(f"SELECT {long} FROM range(9000)")
    assert len(run("SELECT repeat('y', 100) FROM range(9000)")) == 9000


def test_what_holds_a_share_of_memory() -> None:
    with connect(most=2**26) as connection:
        assert connection.execute("SELECT current_setting('memory_limit')").fetchone() == ("64.0 MiB",)


def test_an_error_is_the_analysts() -> None:
    with pytest.raises(QuincunxError, match=r"no_such"):
        run("SELECT no_such FROM answer")
    with pytest.raises(RefusalError, match="no such published table"):
        run("SELECT * FROM visits")
