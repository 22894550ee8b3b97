"""The engine by itself: DuckDB's integers on awkward rows, values with which a database would raise, one reading."""

from __future__ import annotations

import random
from typing import Any

import pyarrow as pa
import pytest

from quincunx.errors import UnavailableError
from quincunx.spec.unit import AddRemove
from quincunx.table.engines import DuckDB, evaluate
from quincunx.table.engines.engine import Result, open_engine
from quincunx.table.engines.postgres import PostgresEngine
from quincunx.table.rules import plan
from quincunx.table.rules.climbing import climbing
from quincunx.table.sql import read as read_sql
from quincunx.table.table import Table, schema
from tests.postgres import Server, fresh
from tests.table import worlds
from tests.table.engines.postgres.both import equal
from tests.table.engines.postgres.places import filled, framed, read

pytestmark = pytest.mark.ci
UNIT = AddRemove(key="person")


def both(server: Server, frame: pa.Table, columns: Any, limits: Any, questions: Any, norms: Any = (1, 2)) -> int:
    """How many questions were asked of both engines, in each norm; all integers are equal."""
    there = {"t": Table(framed(server, frame), limits=limits, columns=columns)}
    here = {"t": Table(frame, limits=limits, columns=columns)}
    declared = schema(here, UNIT)
    count = 0
    with open_engine(there, schema(there, UNIT)) as engine, DuckDB(here, declared, threads=1) as duck:
        for text in questions:
            for norm in norms:
                program = plan(read_sql(text, declared, evaluate, derive=False), declared, norm)
                engine.rehearse(program)
                assert equal(duck.run(program), engine.run(program)), (text, norm)
                count += 1
    return count


def test_the_same_integers_on_awkward_rows(reading: Server, full: bool) -> None:
    source = random.Random("postgres")
    data = worlds.frame(worlds.rows(source, people=30, most=30))
    asked = (*worlds.QUESTIONS, *worlds.UNKNOWN) if full else (*worlds.QUESTIONS[2:6], worlds.UNKNOWN[1])
    assert both(reading, data, worlds.COLUMNS, {"rows": 3, "groups": 2}, asked) == 2 * len(asked)
    # An empty table has no failing question either.
    assert both(reading, worlds.frame([]), worlds.COLUMNS, {"rows": 3, "groups": 2}, asked[:2], (2,))


def test_limits_are_chosen_by_the_same_integers(reading: Server) -> None:
    """What the choice counts, and the question at the lowest and the highest rung."""
    data = worlds.frame(worlds.rows(random.Random("climbing"), people=25, most=30))
    there, here = (
        {"t": Table(source, limits="auto", columns=worlds.COLUMNS)} for source in (framed(reading, data), data)
    )
    declared, asked = schema(here, UNIT), 0
    with open_engine(there, schema(there, UNIT)) as engine, DuckDB(here, declared, threads=1) as duck:
        people = "SELECT region, flag, COUNT(DISTINCT person) AS p FROM t GROUP BY region, flag"
        for text in (*worlds.QUESTIONS[2:6], people):
            for norm in (1, 2):
                climb = climbing(read_sql(text, declared, evaluate, derive=False), declared, norm).climb
                for program in () if climb is None else (climb.choice, climb.programs[0], climb.programs[-1]):
                    engine.rehearse(program)
                    assert equal(duck.run(program), engine.run(program)), (text, norm)
                    asked += 1
    assert asked >= 15


# One person's value with which the database would raise: overflow, underflow, division by zero.
RAISING = (
    "SELECT SUM(x) AS s FROM t",
    "SELECT SUM(CLAMP(y * 0.1, 0, 10)) AS s FROM t",
    "SELECT SUM(CLAMP(1 / y, 0, 10)) AS s FROM t",
    "SELECT SUM(CLAMP(y * y * y, 0, 10)) AS s FROM t",
    "SELECT COUNT(*) AS n FROM t WHERE y / (y - y) > 0",
    "SELECT COUNT(*) AS n FROM t WHERE ROUND(y * 1000000, 3) > CAST(y AS INTEGER)",
    "SELECT COUNT(CAST(s AS INTEGER)) AS i, COUNT(CAST(s AS DOUBLE)) AS d, COUNT(CAST(s AS DATE)) AS t FROM t",
    "SELECT COUNT(*) AS n FROM t WHERE big * big > big // (big - big)",
)


def test_no_value_of_one_person_makes_a_question_fail(reading: Server) -> None:
    doubles = (5e-324, -5e-324, 1e-160, 1e308, -1e308, float("inf"), float("-inf"), float("nan"), 0.0, -0.0, 2.5, None)
    texts = (
        "1e999",
        "9" * 60,
        "2024-02-30",
        "infinity",
        "\u0663",
        "0x10",
        "",
        " 7 ",
        "nan",
        "+1.5e-3",
        "2024-02-29",
        None,
    )
    wide = (2**63 - 1, -(2**63), 0, 2**62, -(2**62), 1, 2**63 - 1, 2**63 - 1, 2**63 - 1, 2**63 - 1, 2**63 - 1, None)
    frame = pa.table(
        {
            "person": pa.array([1] * 6 + [2] * 6, pa.int64()),
            "x": pa.array(doubles, pa.float64()),
            "y": pa.array(doubles, pa.float64()),
            "s": pa.array(texts, pa.string()),
            "big": pa.array(wide, pa.int64()),
        }
    )
    columns = {"x": {"bounds": (0, 300), "step": 3}}
    assert both(reading, frame, columns, {"rows": 20}, RAISING, (1,)) == len(RAISING)


def test_a_sum_has_no_end(reading: Server) -> None:
    """What many people have together is more than 64 bits hold; it is moved to the end of the range, and no error."""
    people = 300
    frame = pa.table(
        {"person": pa.array(range(people), pa.int64()), "n": pa.array([2**56 - i for i in range(people)], pa.int64())}
    )
    columns = {"n": {"bounds": (0, 2**56), "step": 1}}
    assert both(reading, frame, columns, {"rows": 1}, ["SELECT SUM(n) AS s FROM t"]) == 2


def test_special_values_of_the_database_are_no_values(reading: Server) -> None:
    """Infinite dates, years before Christ, NaN and infinities of NUMERIC, blanks of CHAR, moments with a zone."""
    kinds = {
        "person": "bigint", "d": "date", "m": "timestamptz", "n": "numeric(9,2)", "w": "numeric", "z": "numeric",
        "c": "char(6)",
    }  # fmt: skip
    rows = [
        (1, "infinity", "infinity", "NaN", "NaN", "NaN", "ab"),
        (2, "0044-03-15 BC", "-infinity", "1.25", "Infinity", "-Infinity", "ab    "),
        (3, "2024-02-29", "2024-02-29 23:30:00-01", "1.25", "1e40", "2.5", "  ab"),
        (4, "5874897-12-31", "294276-12-31", "0", "0.125", "1e300", "b"),
        (5, None, None, None, None, None, None),
    ]
    columns = {"w": {"step": "0.01", "bounds": (0, 10)}, "z": {"type": "integer", "bounds": (0, 9)}}
    tables = {"t": Table(read(reading, filled(reading, kinds, rows)), limits={"rows": 1}, columns=columns)}
    declared = schema(tables, UNIT)
    with open_engine(tables, declared) as engine:

        def asked(text: str) -> list[int]:
            program = plan(read_sql(text, declared, evaluate), declared, 1)
            engine.rehearse(program)
            return [int(measure[0]) for measure in engine.run(program).measures]

        unit = asked("SELECT COUNT(*) AS n FROM t")[0] // 5
        counts = asked("SELECT COUNT(d) AS d, COUNT(m) AS m, COUNT(n) AS n, COUNT(w) AS w, COUNT(z) AS z FROM t")
        assert [each // unit for each in counts] == [1, 1, 3, 1, 2]
        days = "SELECT COUNT(*) AS n FROM t WHERE m = TIMESTAMP '2024-03-01 00:30:00' AND d = DATE '2024-02-29'"
        assert asked(days)[0] // unit == 1
        assert asked("SELECT COUNT(*) AS n FROM t WHERE c = 'ab'")[0] // unit == 2
        assert asked("SELECT COUNT(*) AS n FROM t WHERE c = '  ab' AND z = 3")[0] // unit == 1


def test_what_changes_between_two_looks_is_read_once(reading: Server) -> None:
    """Rows of a view that draws them anew: weights and sums are about the same ones, so no group has too much."""
    table, view = filled(reading, {"person": "bigint", "g": "bigint"}, [(1, i % 50) for i in range(2_000)]), fresh("v")
    # A function that says that it is stable, and is not.
    reading.run(
        f"CREATE FUNCTION public.{view}_drawn() RETURNS double precision LANGUAGE sql STABLE AS 'SELECT random()'",
        f"CREATE VIEW public.{view} AS SELECT * FROM {table} WHERE public.{view}_drawn() < 0.5 OR g < 0",
        f"GRANT EXECUTE ON FUNCTION public.{view}_drawn() TO reader",
        f"GRANT SELECT ON public.{view} TO reader",
    )
    columns = {"g": {"keys": list(range(50))}}
    tables = {"t": Table(read(reading, f"public.{view}"), limits={"rows": 10}, columns=columns)}
    declared = schema(tables, UNIT)
    program = plan(read_sql("SELECT g, COUNT(*) AS n FROM t GROUP BY g", declared, evaluate), declared, 1)
    with open_engine(tables, declared) as engine:
        assert isinstance(engine, PostgresEngine)
        assert '"kept" AS MATERIALIZED' in engine.sql(program)
        for _ in range(3):
            found: Result = engine.run(program)
            assert int(found.measures[0].sum()) ** 2 <= program.measures[0].sensitivity2


def test_workers_share_a_question(reading: Server) -> None:
    """Beside lists of keys and rows of public tables: what is not in FROM keeps the database from using several."""
    role = fresh("r")
    table = filled(reading, {"person": "bigint", "g": "bigint"}, [(i, i % 5) for i in range(3_000)])
    reading.run(
        f"CREATE ROLE {role} LOGIN; GRANT SELECT ON {table} TO {role}; ANALYZE {table}",
        *(
            f"ALTER ROLE {role} SET {name} = 0"
            for name in ("parallel_setup_cost", "parallel_tuple_cost", "min_parallel_table_scan_size")
        ),
        f"ALTER ROLE {role} SET max_parallel_workers_per_gather = 2",
    )
    public = pa.table({"g": pa.array(range(5), pa.int64()), "w": pa.array(range(5), pa.int64())})
    private = Table(read(reading, table, role), limits={"rows": 1}, columns={"g": {"keys": list(range(5))}})
    tables = {"t": private, "p": Table(public, public=True)}
    declared = schema(tables, UNIT)
    with PostgresEngine(tables, declared) as engine:
        for text in (
            "SELECT g, COUNT(*) AS n FROM t GROUP BY g",
            "SELECT COUNT(*) AS n FROM t JOIN p USING (g) WHERE w > 2",
        ):
            program = plan(read_sql(text, declared, evaluate), declared, 1)
            written, parameters = engine._written(program)
            _, lines = engine._execute(f"EXPLAIN {written.sql}", parameters)
            assert any("Workers Planned: 2" in line for (line,) in lines), text


def test_a_closed_engine_and_a_fork_take_no_connection(reading: Server) -> None:
    table = filled(reading, {"person": "bigint"}, [(1,)])
    tables = {"t": Table(read(reading, table), limits={"rows": 1})}
    declared = schema(tables, UNIT)
    program = plan(read_sql("SELECT COUNT(*) AS n FROM t", declared, evaluate), declared, 1)
    engine = PostgresEngine(tables, declared)
    first = engine.run(program)
    held = engine._connection
    engine._process = -1
    assert equal(engine.run(program), first)
    assert engine._connection is not held
    assert held is not None
    assert not held.closed
    held.close()
    engine.close()
    with pytest.raises(UnavailableError, match="the engine is closed"):
        engine.check()


def test_whatever_goes_wrong_is_one_error_with_a_fixed_text(reading: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    table = filled(reading, {"person": "bigint", "note": "text"}, [(1, "canary-5d1e")])
    tables = {"t": Table(read(reading, table), limits={"rows": 1})}
    declared = schema(tables, UNIT)
    program = plan(read_sql("SELECT COUNT(*) AS n FROM t", declared, evaluate), declared, 1)
    with PostgresEngine(tables, declared) as engine:
        execute: Any = PostgresEngine._execute
        wrong = f"SELECT CAST(note AS integer) FROM {table}"
        with monkeypatch.context() as patch:
            patch.setattr(PostgresEngine, "_execute", lambda self, _sql, _given: execute(self, wrong, {}))
            with pytest.raises(UnavailableError, match="the engine could not compute the question") as caught:
                engine.run(program)
        assert caught.value.__context__ is None
        assert "canary" not in repr(caught.value)
        # The next question has a connection of its own.
        assert engine.run(program).measures[0][0]
