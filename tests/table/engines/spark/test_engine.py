"""The engine by itself: DuckDB's integers on awkward rows, values with which Spark would raise, one reading."""

from __future__ import annotations

import itertools
import json
import os
import random
from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from sqlglot import exp

from quincunx.errors import DataError, UnavailableError
from quincunx.spec.unit import AddRemove
from quincunx.table.engines import DuckDB, evaluate
from quincunx.table.engines.engine import Engine, open_engine
from quincunx.table.engines.spark import SparkEngine, stages
from quincunx.table.engines.spark import engine as engines
from quincunx.table.engines.spark.dialect import SPARK
from quincunx.table.engines.spark.session import own
from quincunx.table.engines.spark.source import Spark
from quincunx.table.engines.typed_sql import Piece, column
from quincunx.table.engines.weights import crowding
from quincunx.table.measure import Vector
from quincunx.table.rules import plan
from quincunx.table.schema import Schema
from quincunx.table.sql import read as read_sql
from quincunx.table.table import Table, schema
from tests.spark import USUAL
from tests.table.engines.conformance import golden, worlds
from tests.table.engines.conformance.engines import InSpark
from tests.table.engines.conformance.questions import CONDITIONS, questions
from tests.table.engines.postgres.both import equal
from tests.table.engines.postgres.test_engine import RAISING
from tests.table.engines.spark.places import framed, stored

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.ci, pytest.mark.spark]
UNIT = AddRemove(key="person")


def both(source: Any, frame: pa.Table, columns: Any, limits: Any, questions: Any, norms: Any = (1, 2)) -> int:
    """How many questions were asked of both engines, in each norm; all integers are equal."""
    there = {"t": Table(source, limits=limits, columns=columns)}
    here = {"t": Table(frame, limits=limits, columns=columns)}
    declared = schema(here, UNIT)
    count = 0
    with open_engine(there, schema(there, UNIT)) as engine, DuckDB(here, declared, threads=1) as duck:
        for text, norm in itertools.product(questions, norms):
            program = plan(read_sql(text, declared, evaluate, derive=False), declared, norm)
            assert equal(duck.run(program), engine.run(program)), (text, norm)
            count += 1
    return count


def test_no_value_of_one_person_makes_a_question_fail(cluster: SparkSession, tmp_path: Path) -> None:  # noqa: ARG001
    doubles = (5e-324, -5e-324, 1e-160, 1e308, -1e308, float("inf"), float("-inf"), float("nan"), 0.0, -0.0, 2.5, None)
    texts = ("1e999", "9" * 60, "2024-02-30", "infinity", "\u0663", "0x10", "", " 7 ", "nan", "+1.5e-3", "2024-02-29")
    wide = (2**63 - 1, -(2**63), 0, 2**62, -(2**62), 1, 2**63 - 1, 2**63 - 1, 2**63 - 1, 2**63 - 1, 2**63 - 1, None)
    frame = pa.table(
        {
            "person": pa.array([1] * 6 + [2] * 6, pa.int64()),
            "x": pa.array(doubles, pa.float64()),
            "y": pa.array(doubles, pa.float64()),
            "s": pa.array([*texts, None], pa.string()),
            "big": pa.array(wide, pa.int64()),
        }
    )
    columns = {"x": {"bounds": (0, 300), "step": 3}}
    assert both(stored(frame, tmp_path), frame, columns, {"rows": 20}, RAISING, (1,)) == len(RAISING)


def test_tiny_values_are_zero_and_huge_ones_infinite(cluster: SparkSession) -> None:
    """As the language says it, whatever a double could still hold: the only values that count are 1e-100 and 2.5."""
    rows = [(i, each) for i, each in enumerate(("5e-324", "-1e-160", "1e-100", "2.5", "1e200", "inf", "nan", None))]
    tables = {"t": Table(framed(cluster, {"person": "BIGINT", "y": "DOUBLE"}, rows), limits={"rows": 1})}
    declared = schema(tables, UNIT)
    with open_engine(tables, declared) as engine:
        unit = asked(engine, declared, "SELECT COUNT(*) AS n FROM t")[0] // len(rows)
        above = "COUNT(*) FILTER (WHERE y > 0 AND y < 1e30) AS a, COUNT(*) FILTER (WHERE y * y > 0 AND y < 1e30) AS b"
        found = asked(engine, declared, f"SELECT {above}, COUNT(y) AS c FROM t")
        assert [each // unit for each in found] == [2, 1, 4]


def test_a_sum_has_no_end(cluster: SparkSession, tmp_path: Path) -> None:  # noqa: ARG001
    """What many people have together is more than 64 bits hold; it is moved to the end of the range, and no error."""
    people = 300
    frame = pa.table(
        {"person": pa.array(range(people), pa.int64()), "n": pa.array([2**56 - i for i in range(people)], pa.int64())}
    )
    columns = {"n": {"bounds": (0, 2**56), "step": 1}}
    assert both(stored(frame, tmp_path), frame, columns, {"rows": 1}, ["SELECT SUM(n) AS s FROM t"]) == 2


_WIDE = (1, -1, 2, 3, 7, -10, 10**6 - 1, 10**6, 10**6 + 1, 10**9 + 7, 2**31, 2**62, 2**63, -(2**63), 2**64 + 1, 10**19)
_WIDE += (10**25 + 3, 2**100, 10**32 - 1, 10**32, 10**37 + 1, 2**126 - 1, 2**126, -(2**126), 99999999999999999999999)


def test_quotients_of_wide_numbers_are_exact(cluster: SparkSession) -> None:
    """DIV would wrap in silence, and / would round or refuse: every pair of awkward numbers, as plain Python has it."""
    pairs = [(x, y) for x in (0, *_WIDE) for y in _WIDE]
    rows = json.dumps([{"x": str(x), "y": str(y)} for x, y in pairs])
    session = own(cluster)
    given = session.sql("SELECT inline(from_json(:rows, 'ARRAY<STRUCT<x: STRING, y: STRING>>'))", args={"rows": rows})
    given.selectExpr("CAST(x AS DECIMAL(38,0)) AS x", "CAST(y AS DECIMAL(38,0)) AS y").createOrReplaceTempView("wide")
    x, y = (Piece(sql=column(name), type="HUGEINT") for name in "xy")
    found = session.sql(SPARK.written(exp.select(column("x"), column("y"), SPARK.quotient(x, y)).from_("wide")))
    cut = {(int(a), int(b)): int(q) for a, b, q in found.collect()}
    assert cut == {(a, b): (abs(a) // abs(b)) * (1 if (a < 0) == (b < 0) else -1) for a, b in pairs}
    for bits in (62, 106):
        small = [(a, b) for a, b in pairs if abs(a) <= 2**bits]
        short = SPARK.quotient(Piece(sql=column("x"), type="HUGEINT", bits=bits), y)
        where = f"ABS(x) <= {2**bits}"
        found = session.sql(SPARK.written(exp.select(column("x"), column("y"), short).from_("wide").where(where)))
        assert {(int(a), int(b)): int(q) for a, b, q in found.collect()} == {pair: cut[pair] for pair in small}


def test_special_values_of_spark_are_no_values(cluster: SparkSession) -> None:
    """Bytes that are no UTF-8, years after 9999, moments with a zone, collations, and blanks of CHAR."""
    kinds = {"person": "STRING", "d": "DATE", "m": "TIMESTAMP", "n": "DECIMAL(9,2)", "c": "STRING"}
    rows = [
        ("a", "+12000-01-01", "+12000-01-01 00:00:00", "1.25", "ab"),
        ("b", "-0044-03-15", "2024-02-29 23:30:00-01:00", "-0.5", "AB"),
        ("c", "2024-02-29", "2024-02-29 12:00:00+00:00", None, "ab  "),
        ("d", None, None, "0", None),
    ]
    frame = framed(cluster, kinds, rows)
    broken = "CASE WHEN c = 'AB' THEN CAST(X'FF41' AS STRING) ELSE c END"
    frame = frame.selectExpr("person", "d", "m", "n", "c COLLATE UNICODE_CI AS c", f"{broken} AS u")
    # Whose key is no text belongs to nobody.
    frame = frame.union(frame.selectExpr("CAST(X'C328' AS STRING)", "d", "m", "n", "c", "u"))
    tables = {"t": Table(frame, limits={"rows": 1})}
    declared = schema(tables, UNIT)
    with open_engine(tables, declared) as engine:
        unit = asked(engine, declared, "SELECT COUNT(*) AS n FROM t")[0] // 4
        counts = "SELECT COUNT(d) AS d, COUNT(m) AS m, COUNT(n) AS n, COUNT(c) AS c, COUNT(u) AS u FROM t"
        assert [each // unit for each in asked(engine, declared, counts)] == [1, 2, 3, 3, 2]
        days = "SELECT COUNT(*) AS n FROM t WHERE m = TIMESTAMP '2024-03-01 00:30:00'"
        assert asked(engine, declared, days)[0] // unit == 1
        assert asked(engine, declared, "SELECT COUNT(*) AS n FROM t WHERE c = 'ab'")[0] // unit == 1


def test_a_padded_column_of_a_catalogue_loses_its_blanks(cluster: SparkSession) -> None:
    import quincunx as qx

    cluster.sql("CREATE TABLE padded (person BIGINT, `odd name, (x)` CHAR(6), v VARCHAR(9)) USING parquet")
    cluster.sql("INSERT INTO padded VALUES (1, 'ab', 'ab '), (2, 'ab    ', 'ab'), (3, ' ab', NULL)")
    try:
        tables = {"t": Table(qx.Spark("spark_catalog.default.padded"), limits={"rows": 1})}
        declared = schema(tables, UNIT)
        with open_engine(tables, declared) as engine:
            unit = asked(engine, declared, "SELECT COUNT(*) AS n FROM t")[0] // 3
            same = "SELECT COUNT(*) AS n FROM t WHERE \"odd name, (x)\" = 'ab'"
            assert asked(engine, declared, same)[0] // unit == 2
            assert asked(engine, declared, "SELECT COUNT(*) AS n FROM t WHERE v = 'ab'")[0] // unit == 1
    finally:
        cluster.sql("DROP TABLE padded")


def asked(engine: Engine, declared: Schema, text: str) -> list[int]:
    program = plan(read_sql(text, declared, evaluate), declared, 1)
    engine.rehearse(program)
    return [int(measure[0]) for measure in engine.run(program).measures]


def drawn(cluster: SparkSession) -> Any:
    """Rows of one person that are drawn anew whenever they are looked at."""
    return cluster.sql("SELECT 1L AS person, id % 50 AS g FROM range(2000) WHERE rand() < 0.5")


@pytest.mark.parametrize("large", [False, True])
def test_what_changes_between_two_looks_is_read_once(
    cluster: SparkSession, monkeypatch: pytest.MonkeyPatch, large: bool
) -> None:
    """Weights and sums are about the same rows, so no group has too much; in both ways to find those over the limit."""
    if large:
        monkeypatch.setattr(engines, "LARGE", 0)
    tables = {"t": Table(drawn(cluster), limits={"rows": 10}, columns={"g": {"keys": list(range(50))}})}
    declared = schema(tables, UNIT)
    program = plan(read_sql("SELECT g, COUNT(*) AS n FROM t GROUP BY g", declared, evaluate), declared, 1)
    with open_engine(tables, declared) as engine:
        for _ in range(2):
            total = int(engine.run(program).measures[0].sum())
            assert 0 < total**2 <= program.measures[0].sensitivity2


@pytest.mark.parametrize("together", [False, True])
@pytest.mark.parametrize("most", [stages.MOST, 0])
def test_finding_those_over_the_limit_first_changes_nothing(
    cluster: SparkSession,  # noqa: ARG001
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    most: int,
    together: bool,
) -> None:
    """Sent to every worker or not, and each person's rows together before they are counted or not: the same integers,
    for rows, people, different values and histograms.
    """
    monkeypatch.setattr(engines, "LARGE", 0)
    monkeypatch.setattr(stages, "MOST", most)
    if together:
        monkeypatch.setattr(stages, "_ROWS", 0)
        monkeypatch.setattr(stages, "_PART", 20)
    written: list[str] = []
    text = SPARK.written
    monkeypatch.setattr(type(SPARK), "written", lambda _, tree, **how: written.append(text(tree, **how)) or written[-1])
    frame = pa.table(
        {
            "person": pa.array([i % 7 for i in range(90)], pa.int64()),
            "g": pa.array([i % 4 for i in range(90)], pa.int64()),
            "x": pa.array([i % 11 for i in range(90)], pa.int64()),
        }
    )
    columns = {"g": {"keys": [0, 1, 2]}, "x": {"bounds": (0, 9)}}
    questions = (
        "SELECT g, COUNT(*) AS n, SUM(x) AS s, COUNT(DISTINCT person) AS p, COUNT(DISTINCT x) AS d FROM t GROUP BY g",
        "SELECT MEDIAN(x) AS m FROM t",
    )
    assert both(stored(frame, tmp_path), frame, columns, {"rows": 3, "groups": 2}, questions) == 4
    assert any("BROADCAST(`heavy" in each for each in written) == bool(most)
    assert any("REPARTITION(5, `o0`)" in each for each in written) == together


def test_questions_of_every_kind_are_the_same_in_stages(
    cluster: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, full: bool
) -> None:
    """Those over the limit first, each person's rows together: what is written down, for every aggregate and relation.

    Conditions alone make no other stages. Steps are odd, so that both norms are among the questions.
    """
    monkeypatch.setattr(engines, "LARGE", 0)
    monkeypatch.setattr(stages, "_ROWS", 0)
    monkeypatch.setattr(stages, "_PART", 20)
    conditions = {f"SELECT COUNT(*) AS n FROM visits WHERE {each}" for each in CONDITIONS}
    kinds = [(text, norm) for text in questions() if text not in conditions for norm in golden.NORMS]
    chosen = kinds if full else [*kinds[5:400:79], *kinds[400::13]]
    written = json.loads(golden.PATH.read_text(encoding="utf-8"))
    found = golden.answered(InSpark(cluster, tmp_path), worlds.tables(), chosen)
    assert len(found) == len(chosen) >= 8
    assert {name: each for name, each in found.items() if written[name] != each} == {}


@pytest.mark.parametrize("text", [False, True])
def test_people_are_counted_in_arrays_and_beyond_them(
    cluster: SparkSession,  # noqa: ARG001
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    text: bool,
) -> None:
    """With the code that users' Spark makes, and more people than the arrays hold: DuckDB's integers, in both norms.

    Only whole numbers are counted so, and only in the one statement.
    """
    choose = random.Random("people")
    people = [-(2**63), -1, 0, 2**31, 2**62, 2**63 - 1, *range(7, 4_000)]
    rows = [
        (p, choose.randrange(70), choose.randrange(90)) for p in people for _ in range(choose.choice((1, 3, 9, 40)))
    ]
    choose.shuffle(rows)
    owners = pa.array([str(p) for p, _, _ in rows]) if text else pa.array([p for p, _, _ in rows], pa.int64())
    frame = pa.table({"person": owners, "g": [g for _, g, _ in rows], "x": [x for _, _, x in rows]})

    def usual(session: SparkSession) -> SparkSession:
        found = own(session)
        for name, value in USUAL.items():
            found.conf.set(name, value)
        return found

    seen: list[tuple[str, bool]] = []
    setting = next(iter(stages._ARRAYS))
    arrays, counting = stages._arrays, stages._counting

    def chosen(session: SparkSession, select: exp.Select, frame: Any) -> int | None:
        bits = arrays(session, select, frame)
        seen.append((select.args["from_"].this.name, bits is not None))
        return bits

    @contextmanager
    def watched(session: SparkSession, bits: int | None) -> Iterator[None]:
        with counting(session, bits):
            assert session.conf.get(setting) == ("false" if bits is None else "true")
            yield
        assert session.conf.get(setting) == "false"

    monkeypatch.setattr(engines, "own", usual)
    monkeypatch.setattr(engines, "LARGE", 0)
    monkeypatch.setattr(stages, "_arrays", chosen)
    monkeypatch.setattr(stages, "_counting", watched)
    monkeypatch.setattr(stages, "capacity", lambda *_: 10)
    columns = {"g": {"keys": list(range(60))}, "x": {"bounds": (-5, 80)}}
    questions = ("SELECT g, COUNT(*) AS n, SUM(x) AS s FROM t WHERE x > 3 GROUP BY g", "SELECT SUM(x) AS s FROM t")
    for limit in (2, 9):
        assert both(stored(frame, tmp_path), frame, columns, {"rows": limit}, questions) == 4
    assert set(seen) == {("over", not text)}
    # What people have is grouped too, and may be text.
    distinct = ("SELECT COUNT(DISTINCT x) AS d FROM t",)
    assert both(stored(frame, tmp_path), frame, columns, {"rows": 9}, distinct) == 2
    assert {how for name, how in seen if name != "over"} == {False}


def test_sums_by_parts_are_exact(cluster: SparkSession) -> None:
    """At the ends of the parts, of either sign, for every size that may be known of the numbers."""
    session, ends = own(cluster), [0, 1, 2**15, 2**16 - 1, 2**16, 2**16 + 1, 2**31, 2**32 - 1, 2**32, 2**47, 2**48 + 5]
    for bits in (1, 15, 16, 17, 20, 32, 33, 48, 49, 61, 63):
        values = [sign * each for each in (*ends, 2**62 - 1) if each <= 2**bits for sign in (1, -1)] + [-(2**bits) + 1]
        listed = ", ".join(f"(CAST('{value}' AS BIGINT))" for value in values * 3)
        asked = SPARK.written(SPARK.total(Piece(sql=column("x"), type="BIGINT", bits=bits)))
        (row,) = session.sql(f"SELECT {asked} FROM VALUES {listed} AS t(x)").collect()
        assert int(row[0]) == 3 * sum(values), bits
        (row,) = session.sql(f"SELECT {asked} FROM VALUES {listed} AS t(x) WHERE FALSE").collect()
        assert row[0] is None


def test_parts_of_groups_are_few_and_the_same_for_the_same(cluster: SparkSession) -> None:
    """Below their number, never NULL, one for each pair of values, NULL among them, and each of them taken."""
    session = own(cluster)
    session.sql(
        "SELECT IF(id = 7, NULL, id % 90) AS g, CAST(id % 2 AS STRING) AS h FROM range(700)"
    ).createOrReplaceTempView("t")
    for number in (2, 4, 8):
        part = SPARK.written(SPARK.part_of([column("g"), column("h")], number))
        rows = session.sql(
            f"SELECT g, h, COUNT(DISTINCT {part}), MIN({part}), COUNT_IF({part} IS NULL) FROM t GROUP BY g, h"
        )
        seen = [(n, low, nulls) for *_, n, low, nulls in rows.collect()]
        assert {(n, nulls) for n, _, nulls in seen} == {(1, 0)}
        assert {low for _, low, _ in seen} == set(range(number))


def test_one_number_says_who_may_be_over_the_limit(cluster: SparkSession) -> None:
    """Spark finds whom DuckDB finds, up to rows that a double cannot hold one by one."""
    session, vector = own(cluster), Vector(kind="rows", norm=2, bound2=Fraction(400), bits=20)
    rows = {1: [20], 2: [21], 3: [3] * 8, 4: [8] * 8, 5: [32], 6: [1024, 1], 7: [8191], 8: [9000] * 8, 9: [0, 31, 1]}
    select = exp.select(column("o0")).from_("over")
    for name, relation in crowding(vector, 8, column("p"), ["o0"], "kept", "over"):
        select = select.with_(name, as_=relation)
    many = " UNION ALL ".join(
        f"SELECT CAST({who} AS BIGINT) AS o0, CAST({p} AS BIGINT) AS p FROM range({n})"
        for who, each in rows.items()
        for p, n in enumerate(each)
    )
    found = session.sql(SPARK.written(select).replace("WITH ", f"WITH kept AS ({many}), ", 1)).collect()
    assert sorted(who for (who,) in found) == [2, 4, 5, 6, 7, 8, 9]


def test_files_are_read_by_more_rows_where_all_columns_are_short(
    cluster: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of texts and wide decimals few rows are held at once; of numbers as many as Spark likes; and none stays so."""
    name, seen, fetched = "spark.sql.parquet.columnarReaderBatchSize", [], SparkEngine._fetched
    monkeypatch.setattr(
        SparkEngine, "_fetched", lambda self, *a: (seen.append(self._connect().conf.get(name)), fetched(self, *a))[1]
    )
    kinds = {"person": "BIGINT", "x": "DOUBLE", "note": "STRING", "wide": "DECIMAL(38,2)"}
    framed(cluster, kinds, [(1, 2.0, "a", "1.25")]).write.parquet(str(tmp_path / "rows"))
    for source in (Spark(f"parquet.`{tmp_path / 'rows'}`"), cluster.read.parquet(str(tmp_path / "rows"))):
        there = {"t": Table(source, limits={"rows": 3}, columns={"x": {"bounds": (0, 9)}, "wide": {"bounds": (0, 9)}})}
        declared = schema(there, AddRemove(key="person"))
        with open_engine(there, declared) as engine:
            for asked, wanted in (("x > 1", "4096"), ("note > 'a'", "64"), ("wide > 1", "64"), ("TRUE", "4096")):
                seen.clear()
                engine.run(
                    plan(read_sql(f"SELECT COUNT(*) AS n FROM t WHERE {asked}", declared, evaluate), declared, 1)
                )
                assert seen == [wanted], asked
                assert engine._connect().conf.get(name) == "64"


@pytest.mark.parametrize("here", [True, False])
@pytest.mark.parametrize("name", ["visits", "a b%41\u00e9+#1"])
def test_a_changed_file_is_noticed(
    cluster: SparkSession,  # noqa: ARG001
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    here: bool,
) -> None:
    """A Parquet folder that we read ourselves may be read twice; that its files stayed the same is looked at.

    The system of this machine is asked, or Spark where it runs elsewhere.
    """
    import quincunx as qx

    folder = tmp_path / name
    folder.mkdir()
    frame = pa.table({"person": pa.array([1, 2], pa.int64())})
    stored(frame, folder)
    tables = {"t": Table(qx.Spark(f"parquet.`{folder}`"), limits={"rows": 1})}
    declared = schema(tables, UNIT)
    program = plan(read_sql("SELECT COUNT(*) AS n FROM t", declared, evaluate), declared, 1)
    fetched: Any = SparkEngine._fetched
    with SparkEngine(tables, declared) as engine:
        assert engine._found["t"].once is False
        monkeypatch.setattr(engines, "alone", lambda _: here)
        first = engine.run(program)
        more = pa.table({"person": pa.array([3, 4], pa.int64())})
        for change in (lambda: stored(more, folder, "more"), lambda: stored(more.slice(1), folder, "more")):

            def changing(self: Any, *given: Any, change: Any = change) -> Any:
                found = fetched(self, *given)
                change()
                return found

            with monkeypatch.context() as patch:
                patch.setattr(SparkEngine, "_fetched", changing)
                with pytest.raises(UnavailableError, match="the engine could not compute the question"):
                    engine.run(program)
        assert not equal(engine.run(program), first), "asked again, the new rows are seen"


def test_nothing_is_left_and_only_its_owner_can_look(
    cluster: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import quincunx as qx

    cluster.sql("SELECT 1L AS person").createOrReplaceGlobalTempView("seen")
    source = qx.Spark("global_temp.seen", scratch=str(tmp_path))
    tables = {"t": Table(source, limits={"rows": 1})}
    declared = schema(tables, UNIT)
    program = plan(read_sql("SELECT COUNT(*) AS n FROM t", declared, evaluate), declared, 1)
    modes: list[int] = []
    fetched: Any = SparkEngine._fetched

    def looking(self: Any, *given: Any) -> Any:
        folders = [each for each in tmp_path.rglob("*") if each.is_dir() and each.name != "source"]
        modes.extend(each.stat().st_mode & 0o777 for each in folders)
        assert list(tmp_path.rglob("*.parquet"))
        return fetched(self, *given)

    monkeypatch.setattr(SparkEngine, "_fetched", looking)
    engine = SparkEngine(tables, declared)
    engine.run(program)
    assert modes == [0o700] * 3
    assert not list(tmp_path.rglob("*.parquet"))
    engine.close()
    assert [each.name for each in tmp_path.rglob("*")] == [f"quincunx-spark-{os.getuid()}"]
    with pytest.raises(UnavailableError, match="the engine is closed"):
        engine.check()


def test_whatever_goes_wrong_is_one_error_with_a_fixed_text(
    cluster: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    frame = framed(cluster, {"person": "BIGINT", "note": "STRING"}, [(1, "canary-5d1e")])
    tables = {"t": Table(frame, limits={"rows": 1})}
    declared = schema(tables, UNIT)
    program = plan(read_sql("SELECT COUNT(*) AS n FROM t", declared, evaluate), declared, 1)
    with SparkEngine(tables, declared) as engine:

        def wrong(self: SparkEngine, *_: Any) -> Any:
            return self._connect().sql("SELECT CAST(`person` || 'canary-5d1e' AS INT) FROM source").collect()

        with monkeypatch.context() as patch:
            patch.setattr(SparkEngine, "_fetched", wrong)
            with pytest.raises(UnavailableError, match="the engine could not compute the question") as caught:
                engine.run(program)
        assert caught.value.__context__ is None
        assert caught.value.__cause__ is None
        assert "canary" not in str(caught.value)
        engine._process = -1
        with pytest.raises(UnavailableError, match="the engine could not compute"):
            engine.run(program)
        with pytest.raises(UnavailableError, match="does not survive a fork"):
            engine.check()


def test_bad_sources_are_refused(cluster: SparkSession, tmp_path: Path) -> None:
    import quincunx as qx

    for name in ("a b", "a.b.c.d", "", "parquet.`", "x; DROP TABLE y"):
        with pytest.raises(DataError, match="cannot be a table's name"):
            qx.Spark(name)
    with pytest.raises(DataError, match="no path of a folder"):
        qx.Spark("visits", scratch="here")
    for name in ("nowhere", f"parquet.`{tmp_path}/nothing`"):
        with pytest.raises(DataError, match="there is no such table, or it cannot be read") as caught:
            Table(qx.Spark(name))
        assert caught.value.__context__ is None
    mixed = tmp_path / "mixed"
    mixed.mkdir()
    stored(pa.table({"person": pa.array([1], pa.int64())}), mixed)
    stored(pa.table({"person": pa.array(["a"], pa.string())}), mixed)
    with pytest.raises(DataError, match="there is no such table, or it cannot be read"):
        Table(qx.Spark(f"parquet.`{mixed}`"))
    frame = cluster.sql("SELECT 1L AS person, array(1) AS listed, X'00' AS bytes")
    table = Table(frame, limits={"rows": 1})
    assert table.notes == (
        "Column listed is of type array, which questions cannot use.",
        "Column bytes is of type binary, which questions cannot use.",
    )
    with pytest.raises(DataError, match="questions can see no column"):
        Table(frame.select("listed"))
    with pytest.raises(DataError, match="only CSV files have encoding"):
        Table(frame, encoding="latin-1")
    with pytest.raises(DataError, match="a public table is a file or a frame of this machine"):
        Table(frame, public=True).digest()
