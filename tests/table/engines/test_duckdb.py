"""The engine can do nothing but compute, and says nothing about the data."""

from __future__ import annotations

import random
import re
import threading
import traceback
from datetime import date, datetime
from fractions import Fraction
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from quincunx.data import connect
from quincunx.errors import QueryError, UnavailableError
from quincunx.spec.unit import AddRemove
from quincunx.table.aggregates.count import Count
from quincunx.table.engines import DuckDB, Result, evaluate
from quincunx.table.engines.keys import public_key, python_value
from quincunx.table.engines.typed_sql import common, constant, decimal_text
from quincunx.table.plan import Query
from quincunx.table.relations import Project, Scan
from quincunx.table.rules import plan
from quincunx.table.schema import TableSchema
from quincunx.table.sql import read
from quincunx.table.table import Table, schema
from tests.table import worlds

CANARY = "canary-7731"


def engine_on(source: Any, unit: AddRemove | None = None, **given: Any) -> tuple[DuckDB, Any]:
    tables = {"t": Table(source, **given)}
    declared = schema(tables, unit or AddRemove(key="p"))
    return DuckDB(tables, declared, threads=1), declared


def asked(engine: DuckDB, declared: Any, text: str, norm: Any = 1) -> Result:
    return engine.run(plan(read(text, declared, evaluate), declared, norm))


def total(engine: DuckDB, declared: Any, text: str) -> list[float]:
    program = plan(read(text, declared, evaluate), declared, 1)
    found = engine.run(program)
    return [float(numbers[0] * measure.unit) for numbers, measure in zip(found.measures, program.measures, strict=True)]


# Lockdown.


@pytest.mark.parametrize(
    "statement",
    [
        "SELECT * FROM read_csv('{other}')",
        "SELECT * FROM '{other}'",
        "COPY (SELECT 1) TO '{other}.out'",
        "ATTACH '{other}.db'",
        "INSTALL httpfs",
        "LOAD httpfs",
        "SET enable_external_access = true",
        "SET threads = 1",
        "SET allowed_paths = ['{other}']",
        "SELECT * FROM outside",
    ],
)
def test_a_connection_can_reach_nothing(statement: str, tmp_path: Path) -> None:
    outside = pd.DataFrame({"a": [1]})
    other, allowed = tmp_path / "other.csv", tmp_path / "allowed.csv"
    for path in (other, allowed):
        path.write_text("a\n1\n")
    connection = connect([str(allowed)], threads=2)
    assert connection.execute(f"SELECT a FROM read_csv('{allowed}')").fetchall() == [(1,)]
    with pytest.raises(duckdb.Error):
        connection.cursor().execute(statement.format(other=other)).fetchall()
    assert len(outside) == 1


def test_settings_are_fixed() -> None:
    names = ("TimeZone", "integer_division", "ieee_floating_point_ops", "default_null_order", "temp_directory")
    found = connect().execute(f"SELECT {', '.join(f'current_setting({name!r})' for name in names)}").fetchone()
    assert found is not None
    assert [str(value).lower() for value in found] == ["utc", "false", "true", "nulls_last", ""]


# Nothing is said about the data.


def test_a_failing_source_is_one_fixed_sentence(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({"p": [1], "s": [CANARY]}), path)
    engine, declared = engine_on(path, limits={"rows": 1})
    program = plan(read("SELECT COUNT(*) AS n FROM t", declared, evaluate), declared, 1)
    assert engine.run(program).measures[0].tolist() == [2**20]
    path.write_bytes(path.read_bytes()[:40] + CANARY.encode())
    texts = []
    for _ in range(2):
        with pytest.raises(UnavailableError) as caught:
            engine.run(program)
        error = caught.value
        texts.append("".join(traceback.format_exception(error)))
        assert error.__context__ is None
        assert error.__cause__ is None
        assert error.exit_code == 5
        path.unlink(missing_ok=True)
    for text in texts:
        assert "the engine could not compute the question" in text
        assert CANARY not in text
        assert "Parquet" not in text


def test_no_value_is_in_a_repr_or_a_statement() -> None:
    frame = pd.DataFrame({"p": [CANARY], "s": [CANARY]})
    engine, declared = engine_on(frame, limits={"rows": 1, "groups": 1})
    program = plan(read("SELECT s, COUNT(*) AS n FROM t GROUP BY s", declared, evaluate), declared, 1)
    result = engine.run(program)
    assert result.keys == [(CANARY,)]
    for shown in (repr(result), str(result), engine.sql(program), repr(engine), repr(program)):
        assert CANARY not in shown


def test_planning_and_showing_the_statement_read_nothing() -> None:
    class Alarm:
        def __arrow_c_stream__(self, requested_schema: object = None) -> object:
            raise AssertionError("read")

    engine, declared = engine_on(pa.table({"p": [1], "x": [5]}), limits={"rows": 1}, columns={"x": {"bounds": (0, 9)}})
    object.__setattr__(engine._tables["t"].origin, "provide", Alarm)
    program = plan(read("SELECT SUM(x) AS s FROM t", declared, evaluate), declared, 1)
    assert "SUM" in engine.sql(program)
    with pytest.raises(UnavailableError):
        engine.run(program)


def test_one_statement_is_run() -> None:
    engine, declared = worlds.world([], AddRemove(key="person"), {"rows": 3, "groups": 2})
    for question in (*worlds.QUESTIONS, *worlds.UNKNOWN):
        for norm in (1, 2):
            sql = engine.sql(worlds.planned(question, declared, norm))
            assert ";" not in sql
            assert sql.startswith("WITH ")
            assert not re.search(r"\b(random|now|current_|hash)\b", sql, re.IGNORECASE)


def test_programs_of_another_engine_are_refused() -> None:
    engine, declared = engine_on(pa.table({"p": [1]}), limits={"rows": 1})
    program = plan(read("SELECT COUNT(*) AS n FROM t", declared, evaluate), declared, 1)
    query = program.query
    elsewhere = Scan(table=TableSchema(name="elsewhere", columns=()), unit=AddRemove())
    for rows in (elsewhere, Project(source=query.rows, chosen=())):
        other = type(program)(
            query=Query(rows=rows, keys=(), aggregates=query.aggregates, outputs=()),
            measures=program.measures,
            parts=program.parts,
            selection=None,
            biases=(),
        )
        with pytest.raises(QueryError, match="planned questions"):
            engine.run(other)
    with pytest.raises(QueryError, match="nothing to measure"):
        engine.run(plan(Query(rows=query.rows, keys=(), aggregates=(), outputs=()), declared, 1))
    assert Count() == query.aggregates[0]


def test_a_closed_engine_is_unavailable() -> None:
    engine, declared = engine_on(pa.table({"p": [1]}), limits={"rows": 1})
    with engine:
        assert total(engine, declared, "SELECT COUNT(*) AS n FROM t") == [1]
    for _ in range(2):
        with pytest.raises(UnavailableError):
            total(engine, declared, "SELECT COUNT(*) AS n FROM t")


def test_a_failed_engine_has_a_new_database_for_the_next_question(tmp_path: Path) -> None:
    """After an internal error DuckDB refuses everything on that database; here the first one is taken away."""
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({"p": [1]}), path)
    engine, declared = engine_on(path, limits={"rows": 1})
    broken = engine._connection
    broken.close()
    with pytest.raises(UnavailableError):
        total(engine, declared, "SELECT COUNT(*) AS n FROM t")
    assert engine._connection is not broken
    assert total(engine, declared, "SELECT COUNT(*) AS n FROM t") == [1]
    # The new one is as locked down as the first.
    with pytest.raises(duckdb.Error):
        engine._connection.execute("SET threads = 2")


def test_threads_may_ask_at_the_same_time() -> None:
    data = worlds.rows(random.Random("threads at once"), people=20, most=20)
    engine, declared = worlds.world(data, AddRemove(key="person"), {"rows": 3, "groups": 2})
    program = worlds.planned(worlds.QUESTIONS[3], declared, 2)
    wanted, found = worlds.by_key(engine.run(program)), []

    def ask() -> None:
        found.extend(worlds.by_key(engine.run(program)) for _ in range(3))

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [wanted] * 12


# Exactness.


def test_large_integers_are_exact() -> None:
    frame = pa.table({"p": [1, 2, 3], "x": pa.array([2**53 + 1, 2**62 - 5, -(2**60)], pa.int64())})
    engine, declared = engine_on(frame, limits={"rows": 1}, columns={"x": {"bounds": (-(2**54), 2**54)}})
    assert asked(engine, declared, "SELECT SUM(x) AS s FROM t").measures[0].tolist() == [2**53 + 1]
    assert total(engine, declared, "SELECT COUNT(*) AS n FROM t WHERE x = 9007199254740993") == [1]
    huge = pd.DataFrame({"p": [1, 2], "x": pd.Series([str(2**100), str(2**100 + 1)], dtype="object")})
    engine, declared = engine_on(
        huge, limits={"rows": 1}, columns={"x": {"type": "integer", "bounds": (0, 2**101), "step": 2**60}}
    )
    assert total(engine, declared, "SELECT SUM(x) AS s FROM t") == [2.0**101]
    assert total(engine, declared, f"SELECT COUNT(*) AS n FROM t WHERE x = {2**100 + 1}") == [1]
    assert total(engine, declared, f"SELECT COUNT(*) AS n FROM t WHERE x * x > {2**100}") == [0]


def test_sums_beyond_the_range_are_clamped() -> None:
    count = 40_000
    frame = pd.DataFrame({"p": np.arange(count), "x": np.full(count, 2**55)})
    engine, declared = engine_on(frame, limits={"rows": 1}, columns={"x": {"bounds": (0, 2**55)}})
    program = plan(read("SELECT SUM(x) AS s, SUM(-x) AS m FROM t", declared, evaluate), declared, 1)
    assert [numbers.tolist() for numbers in engine.run(program).measures] == [[2**62 - 1], [-(2**62) + 1]]


def test_owners_that_are_no_value_belong_to_nobody() -> None:
    """Rows of an owner that is NaN or infinite must not stay as rows of nobody, who would have no weight."""
    people = [1.0, -0.0, 0.0, np.nan, np.inf, np.inf, -np.inf, None]
    engine, declared = engine_on(pd.DataFrame({"p": people}), limits={"rows": 1})
    assert total(engine, declared, "SELECT COUNT(*) AS n, COUNT(DISTINCT p) AS k FROM t") == [2, 2]


def test_the_owner_is_not_clipped() -> None:
    frame = pd.DataFrame({"p": [1, 2, 3, 4]})
    engine, declared = engine_on(frame, limits={"rows": 1}, columns={"p": {"bounds": (0, 2)}})
    assert total(engine, declared, "SELECT COUNT(*) AS n, COUNT(DISTINCT p) AS k FROM t") == [4, 4]


def test_keys_of_every_type() -> None:
    frame = pa.table(
        {
            "p": [1, 2, 3, 4],
            "f": [0.1, -0.0, float("inf"), None],
            "d": pa.array([None, "1.10", "1.10", "2.00"]).cast(pa.decimal128(10, 2)),
            "t": pa.array([date(1969, 12, 31), date(1, 1, 1), date(9999, 12, 31), None]),
            "m": pa.array([datetime(1969, 12, 31, 23, 59, 59, 999999)] * 4),
            "b": [True, False, None, True],
            "s": ["ß", "SS", "", None],
        }
    )
    keys: dict[str, list[object]] = {
        "f": ["0.1", 0, None],
        "d": ["1.1", "1.105", 2],
        "t": ["1969-12-31", "0001-01-01", "9999-12-31"],
        "m": ["1969-12-31 23:59:59.999999", "1969-12-31"],
        "b": [True, False, None],
        "s": ["ß", "SS", ""],
    }
    engine, declared = engine_on(
        frame, limits={"rows": 9, "groups": 9}, columns={name: {"keys": each} for name, each in keys.items()}
    )
    wanted = {"f": [1, 1, 2], "d": [2, 0, 1], "t": [1, 1, 1], "m": [4, 0], "b": [2, 1, 1], "s": [1, 1, 1]}
    for name, counts in wanted.items():
        found = asked(engine, declared, f"SELECT {name}, COUNT(*) AS n FROM t GROUP BY {name}")
        assert (found.measures[0] >> 20).tolist() == counts, name
    engine, declared = engine_on(
        frame, limits={"rows": 9, "groups": 9}, columns={"f": {"step": "1/10"}, "d": {"step": "1/100"}}
    )
    unknown = {
        "f": {(Fraction(1, 10),), (Fraction(0),), (None,)},
        "d": {(None,), (Fraction(11, 10),), (Fraction(2),)},
        "t": {(date(1969, 12, 31),), (date(1, 1, 1),), (date(9999, 12, 31),), (None,)},
        "b": {(True,), (False,), (None,)},
        "s": {("ß",), ("SS",), ("",), (None,)},
    }
    for name, values in unknown.items():
        result = asked(engine, declared, f"SELECT {name}, COUNT(*) AS n FROM t GROUP BY {name}")
        assert set(result.keys) == values, name
        assert len(result.keys) == len(values)


def test_a_row_is_in_one_group_at_most() -> None:
    near = Fraction(1, 10) + Fraction(1, 10**40)
    assert public_key([Fraction(1, 10), near, Fraction(1, 5)], "DOUBLE") == ([0.1, 0.2], [0, 2], False)
    assert public_key([date(2024, 1, 1), datetime(2024, 1, 1)], "TIMESTAMP") == (["2024-01-01 00:00:00"], [0], False)
    assert public_key([datetime(2024, 1, 1), datetime(2024, 1, 1, 1), None], "DATE") == (
        ["2024-01-01", None],
        [0, 2],
        True,
    )
    assert public_key([2**63, 5, Fraction(1, 2)], "BIGINT") == ([5], [1], False)
    assert public_key([True, 1, "a"], "BOOLEAN") == ([True], [0], False)
    assert public_key([Fraction(1, 8), Fraction(10**8)], "DECIMAL(10,2)") == ([], [], False)


def test_common_types_are_exact_where_there_is_one() -> None:
    assert common(["BIGINT", "HUGEINT"]) == "HUGEINT"
    assert common(["BIGINT", "DECIMAL(5,2)"]) == "DECIMAL(21,2)"
    assert common(["DECIMAL(38,0)", "DECIMAL(2,1)"]) == "DOUBLE"
    assert common(["NULL", "DATE", "TIMESTAMP"]) == "TIMESTAMP"
    assert common(["HUGEINT", "DECIMAL(2,1)"]) == "DOUBLE"
    assert constant(Fraction(-1, 40)).sql.sql(dialect="duckdb") == "CAST('-0.025' AS DECIMAL(4, 3))"
    assert (decimal_text(Fraction(1, 3)), decimal_text(Fraction(10**40))) == (None, None)
    assert python_value(0.1) == Fraction(1, 10)
