"""Snapshots give the integers of a reading, and read once. See src/quincunx/table/engines/duckdb/snapshot.md."""

from __future__ import annotations

import random
import threading
from collections.abc import Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from quincunx.data.origin import Given
from quincunx.errors import UnavailableError
from quincunx.spec.unit import AddRemove, Replace
from quincunx.table.engines import DuckDB, Result
from quincunx.table.engines import rows as writing
from quincunx.table.measure import Program
from quincunx.table.rules import plan
from quincunx.table.table import Table, schema
from tests.table import reference, worlds
from tests.table.relations import locality, test_open, test_shapes

PERSON = AddRemove(key="person")
DAYS = AddRemove(key="person", per={"column": "day", "period": "week"})
COUNT = "SELECT COUNT(*) AS n FROM t"


def alike(first: Result, second: Result) -> bool:
    votes = [None if each.selection is None else each.selection.tolist() for each in (first, second)]
    return first.keys == second.keys and worlds.by_key(first) == worlds.by_key(second) and votes[0] == votes[1]


def weighed(program: Program, data: list[reference.Row], most: int) -> bool:
    """Whether somebody has more rows than one limit says, in a world and a question with weights."""
    held = [row["person"] for row in data]
    return any(each.vector.bits for each in program.measures) and any(held.count(who) > most for who in set(held))


@pytest.mark.parametrize("norm", [1, 2])
@pytest.mark.parametrize("limits", worlds.LIMITS, ids=str)
def test_kept_rows_give_the_integers_of_a_reading(norm: int, limits: dict[str, int], full: bool) -> None:
    """As the definition says, with public keys and unknown ones; test_reference.py says it of readings."""
    heavy = 0
    for most in (40, 2, 4, 6, 9, 12) if full else (40,):
        data = worlds.rows(random.Random(f"{limits} {norm} {most}"), people=8, most=most)
        kept, declared = worlds.world(data, PERSON, limits, snapshot=True)
        with kept:
            for question in [*worlds.QUESTIONS, *(worlds.UNKNOWN if "groups" in limits else ())]:
                program = worlds.planned(question, declared, norm)
                found, (wanted, votes) = kept.run(program), reference.run(program, declared, data)
                assert worlds.by_key(found) == wanted, (question, most)
                assert found.selection is None or dict(zip(found.keys, found.selection, strict=True)) == votes
                heavy += weighed(program, data, limits.get("rows", 4))
    assert heavy or limits.get("rows") == 1000


@pytest.mark.parametrize("unit", [AddRemove(), DAYS, Replace(key="person", group=3)], ids=repr)
@pytest.mark.parametrize("norm", [1, 2])
def test_kept_rows_of_other_units(unit: AddRemove | Replace, norm: int) -> None:
    data = worlds.rows(random.Random("units"), people=8, most=25)
    kept, declared = worlds.world(data, unit, {"rows": 2, "groups": 3}, snapshot=True)
    plain = [text for text in worlds.QUESTIONS if (unit.per is None and unit.key) or "DISTINCT" not in text]
    with kept:
        for question in [*plain, worlds.UNKNOWN[0], worlds.UNKNOWN[2]]:
            program = worlds.planned(question, declared, norm)
            assert worlds.by_key(kept.run(program)) == reference.run(program, declared, data)[0], question


@pytest.mark.parametrize("norm", [1, 2])
def test_those_over_c_are_weighed_where_c_is_less_than_the_limit_of_rows(norm: int) -> None:
    """C = groups · per_group = 2 here, and rows = 7 is declared: whoever has three rows of one group is weighed."""
    data = [{**worlds._row(random.Random(i), i // 3), "region": "north", "flag": True} for i in range(12)]
    limits = {"rows": 7, "per_group": 1, "groups": 2}
    kept, declared = worlds.world(data, PERSON, limits, snapshot=True)
    program = worlds.planned("SELECT flag, COUNT(*) AS n FROM t GROUP BY flag", declared, norm)
    with kept:
        found = worlds.by_key(kept.run(program))
    assert found == reference.run(program, declared, data)[0]
    # Each of four people counts for C in both norms, to within a lattice unit of each of their rows.
    bound = float(program.measures[0].vector.bound2) ** 0.5
    total = found[(True,)][0] / 2 ** program.measures[0].vector.bits
    assert total == pytest.approx(4 * bound, abs=12 / 2**20)


def test_a_crowd_holds_all_who_can_be_over_the_limit_in_norm_2() -> None:
    """Kept by key and C: filters and further keys only lower the norm; two zeros are one key, and so is what is NaN."""
    zeros = [0.0, -0.0, float("nan"), float("inf"), None]
    rows = [(1, 0), (1, 1), (1, 0), (2, 2), (2, 3), (2, 4), (2, 2), (3, 0), (3, 3), (4, 0), (4, 1), (4, 2), (4, 3)]
    given = {"p": [who for who, _ in rows], "d": [zeros[i] for _, i in rows], "x": [i % 3 for i in range(len(rows))]}
    frame = pa.table({"p": given["p"], "d": pa.array(given["d"], pa.float64()), "x": given["x"]})
    texts = [
        "SELECT d, COUNT(*) AS n FROM t GROUP BY d",
        "SELECT d, COUNT(*) AS n FROM t WHERE x < 2 GROUP BY d",
        "SELECT d, x, COUNT(*) AS n FROM t GROUP BY d, x",
        "SELECT x, COUNT(*) AS n, SUM(x) AS s FROM t WHERE x > 0 GROUP BY x",
    ]
    columns: dict[str, Any] = {"d": {"keys": [0, None]}, "x": {"bounds": (0, 2), "keys": [0, 1, 2]}}
    names = set()
    table: Table[Any] = Table(frame, limits={"rows": 1}, columns=columns)
    declared = schema({"t": table}, AddRemove(key="p"))
    with (
        DuckDB({"t": table}, declared, threads=1) as read,
        DuckDB({"t": table}, declared, snapshot=True, threads=1) as kept,
    ):
        for text in texts:
            # The limits of a question choose C, and C the crowd.
            for bound2 in (1, 2, 3, 4, 9, 11, 16):
                program = bounded(worlds.planned(text, declared, 2), bound2)
                kept.rehearse(program)
                assert alike(kept.run(program), read.run(program)), (text, bound2)
                names |= {source.crowd for source in kept._sources(program).values()}
        made = kept._connection.execute("SELECT table_name FROM duckdb_tables()").fetchall()
    assert {each for (each,) in made} == {*names, "snapshot0"}
    assert len(names) == 2 * 7


def test_only_so_many_crowds_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("quincunx.table.engines.duckdb.snapshot._CROWDS", 2)
    data = worlds.rows(random.Random("crowds"), people=8, most=25)
    kept, declared = worlds.world(data, PERSON, {"rows": 2}, snapshot=True)
    found = []
    with kept:
        for bound2 in (4, 9, 16, 4):
            program = bounded(worlds.planned("SELECT flag, COUNT(*) AS n FROM t GROUP BY flag", declared, 2), bound2)
            assert worlds.by_key(kept.run(program)) == reference.run(program, declared, data)[0]
            found += [source.crowd for source in kept._sources(program).values()]
    assert [each is None for each in found] == [False, False, True, False]


def bounded(program: Program, bound2: int) -> Program:
    """The same with another C."""
    changed = (replace(each, vector=replace(each.vector, bound2=Fraction(bound2))) for each in program.measures)
    return replace(program, measures=tuple(changed))


def test_a_union_is_weighed_by_its_own_rows(monkeypatch: pytest.MonkeyPatch, full: bool) -> None:
    """Nobody may have more rows in each table than C, and more in both: what a table alone says is not enough."""
    monkeypatch.setitem(writing.WRITERS, test_open.Both, test_open.written)  # type: ignore[arg-type]
    over = 0
    crossing = [world for world in test_open.worlds() if {("a", 1, 2), ("b", 1, 2)} <= set(world)]
    for world in crossing if full else crossing[::2]:
        given = test_open.tables(world)
        declared = schema(given, test_open.PERSON)
        program = plan(test_open.question(declared), declared, 1)
        with DuckDB(given, declared, threads=1) as read, DuckDB(given, declared, snapshot=True, threads=1) as kept:
            kept.rehearse(program)
            assert alike(kept.run(program), read.run(program)), world
        each = [len([row for row in world if row[:2] == (table, 1)]) for table in ("a", "b")]
        over += max(each) <= 2 < sum(each)
    assert over


@pytest.mark.parametrize("unit", list(locality.UNITS))
def test_every_shape_of_a_relation_is_measured_alike(unit: locality.Unit, ci: bool, full: bool) -> None:
    """Whatever stands below the aggregate: joins, roll-ups, links … give the integers of a reading, in both norms."""
    shapes = [each["sql"] for each in test_shapes.SHAPES["accepted"] if each.get("unit", "person") == unit]
    # A newcomer's run asks every third.
    shapes = shapes if ci or full else shapes[::3]
    weighed = 0
    for world in locality.worlds(20 if full else 1, "whole", "snapshot"):
        given = filled(world, unit)
        declared = schema(given, locality.UNITS[unit])
        with DuckDB(given, declared, threads=1) as read, DuckDB(given, declared, snapshot=True, threads=1) as kept:
            for number, sql in enumerate(shapes):
                text = locality.question(sql)
                asked = locality.as_they_are(worlds.read(text, declared, worlds.evaluate))
                program = plan(asked, declared, 1 + number % 2)
                found = kept.run(program)
                assert alike(found, read.run(program)), (sql, world)
                weighed += any(int(each) & (2**20 - 1) for each in found.measures[0])
    # Some owner was over the limit of some shape.
    assert weighed


def filled(world: locality.World, unit: locality.Unit) -> dict[str, Table[Any]]:
    """The tables of a world, with low limits."""
    found: dict[str, Table[Any]] = {}
    for name, table in locality.declared(unit, "whole")[0].items():
        columns = locality._columns(name)
        rows = [dict(zip(columns, row, strict=True)) for row in world.get(name, ())]
        kinds = {"d": pa.date32(), "g": pa.string()}
        frame = pa.Table.from_pylist(rows, pa.schema([(each, kinds.get(each, pa.int64())) for each in columns]))
        link = {"via": locality.LINKED[name][1], "on": locality.LINKED[name][2]} if name in locality.LINKED else None
        found[name] = table if table.public else Table(frame, limits={"rows": 1, "groups": 2}, owner=link)
    return found


@pytest.mark.parametrize("kind", ["", "LEFT", "RIGHT", "FULL"])
def test_who_has_too_many_pairs_is_left_out_of_a_join_of_kept_tables(kind: str) -> None:
    """With at most 6 pairs: 2 · 3 rows are pairs, 3 · 3 and 7 · 1 are too many, 1 · 9 too, and 9 · 0 are none."""
    counts = {1: (2, 3), 2: (3, 3), 3: (7, 1), 4: (1, 9), 5: (9, 0), 6: (0, 2), 2**70: (4, 2), 2**70 + 1: (3, 2)}
    sides = [[Decimal(who) for who, rows in counts.items() for _ in range(rows[side])] for side in (0, 1)]
    frames = [
        pa.table({"k": pa.array(each, pa.decimal128(38, 0)), name: [1] * len(each)})
        for each, name in zip(sides, "xy", strict=True)
    ]
    small = pa.table({"k": [int(each) % 2**60 for each in sides[1]], "y": [1] * len(sides[1])})
    limits = {"rows": 1000, "joined": 6}
    typed = {"k": {"type": "integer"}}
    for second in (frames[1], small):
        given = {"a": Table(frames[0], limits=limits, columns=typed), "b": Table(second, limits=limits, columns=typed)}
        declared = schema(given, AddRemove(key="k"))
        text = f"SELECT COUNT(*) AS n, COUNT(x) AS x, COUNT(y) AS y FROM a {kind} JOIN b ON a.k = b.k"
        program = plan(worlds.read(text, declared, worlds.evaluate), declared, 1)
        with DuckDB(given, declared, threads=1) as read, DuckDB(given, declared, snapshot=True, threads=1) as kept:
            kept.rehearse(program)
            found = kept.run(program)
            assert alike(found, read.run(program))
            if second is frames[1] and not kind:
                assert found.measures[0][0] == (2 * 3 + 3 * 2) << 20


PAIRED = (
    "SELECT COUNT(*) AS n FROM a JOIN b ON a.k = b.k",
    # Of many rows few are left: who they are is told by numbers that are kept, whether they are too many by these.
    "SELECT COUNT(*) AS n FROM (SELECT k FROM a WHERE x > 6) s JOIN b ON s.k = b.k",
    "SELECT COUNT(*) AS n FROM a LEFT JOIN (SELECT k, y * y * y AS y FROM b WHERE y * y * y > 8) s ON a.k = s.k",
    "SELECT COUNT(*) AS n FROM a FULL JOIN a c ON a.k = c.k AND a.x < c.x",
    "SELECT COUNT(*) AS n FROM a WHERE EXISTS (SELECT 1 FROM b WHERE b.k = a.k AND b.y > a.x)",
    "SELECT COUNT(*) AS n FROM a JOIN (SELECT k, COUNT(*) AS m FROM b GROUP BY k) s ON a.k = s.k",
)


@pytest.mark.parametrize("text", PAIRED)
def test_pairs_of_kept_tables_are_counted_by_the_rows_of_the_question(text: str) -> None:
    chance, left_out = random.Random(text), 0
    for number in range(6):
        sizes = [[chance.choice((0, 1, 2, 3, 9)) for _ in range(5)] for _ in "ab"]
        given = {
            name: Table(
                pa.table(
                    {"k": (people := [who for who, n in enumerate(many) for _ in range(n)]), column: _some(people)}
                ),
                limits={"rows": 1000, "joined": 6},
                columns={column: {"bounds": (0, 9)}},
            )
            for name, many, column in (("a", sizes[0], "x"), ("b", sizes[1], "y"))
        }
        declared = schema(given, AddRemove(key="k"))
        program = plan(worlds.read(text, declared, worlds.evaluate), declared, 1)
        with DuckDB(given, declared, threads=1) as read, DuckDB(given, declared, snapshot=True, threads=1) as kept:
            kept.rehearse(program)
            assert alike(kept.run(program), read.run(program)), (number, sizes)
            left_out += any(n * m > 6 for n, m in zip(*sizes, strict=True))
    assert left_out


def _some(people: list[int]) -> pa.Array:
    return pa.array([(7 * place + who) % 10 for place, who in enumerate(people)], pa.int64())


@pytest.mark.parametrize("norm", [1, 2])
def test_arithmetic_in_layers_above_and_below_a_filter(norm: int) -> None:
    """A layer below the condition carries what is kept besides, and the one above it takes it from there."""
    nested = "((a + b) * (a - b) / (a + 1)) / (b + 1)"
    frame = {"p": [1, 1, 1, 2, 3, 3], "a": [1, 2, 3, 4, 5, 6], "b": [2, 2, 2, 0, 1, 5], "g": list("ababab")}
    columns: dict[str, Any] = {"a": {"bounds": (0, 9)}, "b": {"bounds": (0, 9)}, "g": {"keys": ["a", "b"]}}
    given = {"t": Table(pa.table(frame), limits={"rows": 1}, columns=columns)}
    declared = schema(given, AddRemove(key="p"))
    with DuckDB(given, declared, threads=1) as read, DuckDB(given, declared, snapshot=True, threads=1) as kept:
        for by in ("", "g, "):
            group = " GROUP BY g" if by else ""
            sql = f"SELECT {by}SUM(CLAMP({nested}, 0, 9)) AS s, SUM(a) AS n FROM t WHERE {nested} > 0.1{group}"
            program = worlds.planned(sql, declared, norm)
            kept.rehearse(program)
            assert alike(kept.run(program), read.run(program))


class Counted:
    """A source that counts how often its rows are asked for, and may fail."""

    def __init__(self, table: Table[Any]) -> None:
        self.times, self.failing = 0, False
        self.rows: object = None
        origin = table.origin
        assert isinstance(origin, Given)
        provide = origin.provide

        def counted(names: Sequence[str]) -> object:
            self.times += 1
            if self.failing:
                raise OSError("person 17 is in the message")
            return provide(names) if self.rows is None else self.rows

        object.__setattr__(table, "origin", replace(origin, provide=counted))


def counting(rows: Mapping[str, Sequence[object]], **given: Any) -> tuple[Counted, DuckDB, Program]:
    table: Table[Any] = Table(pa.table(dict(rows)), limits={"rows": 2})
    counted = Counted(table)
    declared = schema({"t": table}, AddRemove(key="p"))
    engine = DuckDB({"t": table}, declared, **{"snapshot": True, "threads": 1, **given})
    return counted, engine, worlds.planned(COUNT, declared, 1)


def test_rows_are_read_once_and_by_a_question_alone() -> None:
    counted, engine, program = counting({"p": [1, 1, 2], "x": [1, 2, 3]})
    with engine:
        engine.sql(program)
        engine.rehearse(program)
        assert counted.times == 0
        first = worlds.by_key(engine.run(program))
        # What the source holds by then is another state: the version of the data is the curator's word.
        counted.rows = pa.table({"p": [5] * 4, "x": [1] * 4})
        assert worlds.by_key(engine.run(program)) == first
        assert counted.times == 1


def test_without_a_snapshot_rows_are_read_by_every_question() -> None:
    counted, engine, program = counting({"p": [1, 1, 2], "x": [1, 2, 3]}, snapshot=False)
    with engine:
        engine.run(program)
        engine.run(program)
    assert counted.times == 2


def test_a_failure_while_rows_are_kept_is_a_failure_on_rows() -> None:
    counted, engine, program = counting({"p": [1, 1, 2], "x": [1, 2, 3]})
    with engine:
        counted.failing = True
        with pytest.raises(UnavailableError) as error:
            engine.run(program)
        assert "17" not in str(error.value)
        assert error.value.__cause__ is None
        assert error.value.__context__ is None
        # Nothing half-made is left to be taken for the whole.
        counted.failing = False
        assert worlds.by_key(engine.run(program)) == {(): [3 << 20]}
        assert counted.times == 2


def test_a_snapshot_outlives_an_error_of_one_question_and_ctrl_c(monkeypatch: pytest.MonkeyPatch) -> None:
    counted, engine, program = counting({"p": [1, 1, 2], "x": [1, 2, 3]})
    with engine:
        engine.run(program)
        with monkeypatch.context() as patch:
            patch.setattr("quincunx.table.engines.duckdb.engine._fetched", lambda *_: 1 / 0)
            with pytest.raises(UnavailableError):
                engine.run(program)
        engine.run(program)
        assert counted.times == 1
        # A database that is invalid is left, with what it kept.
        engine._connection.close()
        with pytest.raises(UnavailableError):
            engine.run(program)
        engine.run(program)
        assert counted.times == 2


def test_threads_share_one_reading() -> None:
    counted, engine, program = counting({"p": [1, 1, 2], "x": [1, 2, 3]})
    found: list[Result] = []
    with engine:
        engine.rehearse(program)
        asked = [threading.Thread(target=lambda: found.append(engine.run(program))) for _ in range(6)]
        for each in asked:
            each.start()
        for each in asked:
            each.join()
    assert counted.times == 1
    assert len(found) == 6
    assert all(alike(each, found[0]) for each in found)


def test_owners_are_kept_as_they_are_read_and_not_as_they_are_shown() -> None:
    """All keys look alike under their bounds; kept as they are shown, two people would be one."""
    rows = {"p": [1] * 3 + [2] * 3, "x": [1] * 6}
    table: Table[Any] = Table(pa.table(rows), limits={"rows": 2}, columns={"p": {"bounds": (0, 1)}})
    declared = schema({"t": table}, AddRemove(key="p"))
    program = worlds.planned(COUNT, declared, 1)
    with DuckDB({"t": table}, declared, snapshot=True, threads=1) as engine:
        weight = (2 << 20) // 3
        assert worlds.by_key(engine.run(program)) == {(): [6 * weight]}


def test_rows_without_an_owner_or_what_is_required_are_not_kept() -> None:
    rows = {"p": pa.array([1, None, 2, 2], pa.int64()), "x": pa.array([1, 1, None, 4], pa.int64())}
    table: Table[Any] = Table(pa.table(rows), limits={"rows": 5}, columns={"x": {"null": False}})
    declared = schema({"t": table}, AddRemove(key="p"))
    program = worlds.planned(COUNT, declared, 1)
    with DuckDB({"t": table}, declared, snapshot=True, threads=1) as engine:
        assert worlds.by_key(engine.run(program)) == {(): [2 << 20]}
        kept = engine._connection.execute("SELECT COUNT(*), MAX(n) FROM snapshot0").fetchall()
        # n counts what was kept.
        assert kept == [(2, 1)]


def test_csv_files_are_kept_where_nothing_is_said(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("p,x\n1,1\n1,2\n2,3\n")
    table: Table[Any] = Table(path, limits={"rows": 5})
    declared = schema({"t": table}, AddRemove(key="p"))
    program = worlds.planned(COUNT, declared, 1)
    for snapshot, kept in ((None, True), (True, True), (False, False)):
        with DuckDB({"t": table}, declared, snapshot=snapshot, threads=1) as engine:
            assert ("snapshot0" in engine.sql(program)) == kept
    with DuckDB({"t": table}, declared, snapshot=None, threads=1) as engine:
        first = engine.run(program)
        path.unlink()
        assert alike(engine.run(program), first)
    frame: Table[Any] = Table(pa.table({"p": [1]}), limits={"rows": 5})
    declared = schema({"t": frame}, AddRemove(key="p"))
    with DuckDB({"t": frame}, declared, snapshot=None, threads=1) as engine:
        assert "snapshot0" not in engine.sql(worlds.planned(COUNT, declared, 1))
