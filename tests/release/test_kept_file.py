"""Snapshots that rest in a file: the integers of a reading, for one version and its declarations, for nobody else."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import Any

import pytest

from quincunx.errors import DataError, HaltedError, ParameterError, UnavailableError
from quincunx.noise.testing import key_of, keyed
from quincunx.release import Session
from quincunx.spec import Replace
from quincunx.table.engines import DuckDB, evaluate
from quincunx.table.engines.duckdb import engine, kept_file
from quincunx.table.engines.engine import KeptFile, keep_rows
from quincunx.table.rules import plan
from quincunx.table.sql import read
from quincunx.table.table import Table, schema
from tests.release.test_snapshot import COUNT, OLDER, TOWNS, Readings, counted
from tests.release.world import CANARY, session, tables, visits
from tests.table.engines.test_snapshot import alike
from tests.table.relations.locality import MONDAY, UNITS


def kept(folder: Path, **changes: Any) -> tuple[Session[Any], Readings]:
    return counted(snapshot=folder / "visits.snapshot", **changes)


def answers(asked: Session[Any]) -> list[object]:
    with asked, keyed(key_of("file")):
        found = [asked.sql(COUNT, spend=30), asked.sql(TOWNS, spend=30, delta="1e-7"), asked.sql(OLDER, spend=30)]
        return [(each.rows, each.spent, each.notes) for each in found]


def test_a_file_gives_the_answers_of_a_reading_without_one(tmp_path: Path) -> None:
    with kept(tmp_path, intensity=200)[0] as first:
        assert first.keep() == str(tmp_path / "visits.snapshot")
        assert first.spent == 0
    asked, read = kept(tmp_path, intensity=200)
    assert answers(asked) == answers(session(snapshot=False, intensity=200))
    assert not read


def test_without_the_file_rows_are_read_once_into_memory(tmp_path: Path) -> None:
    """No question leaves rows in a file."""
    asked, read = kept(tmp_path)
    with asked:
        asked.sql(COUNT, spend=1)
        asked.sql(OLDER, spend=1)
    assert read == [7]
    assert not list(tmp_path.iterdir())


def test_it_is_its_owners_alone_and_whole(tmp_path: Path) -> None:
    with kept(tmp_path)[0] as first:
        first.keep()
        before = (tmp_path / "visits.snapshot").stat().st_ino
        first.keep()
    file = tmp_path / "visits.snapshot"
    assert list(tmp_path.iterdir()) == [file]
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert file.stat().st_ino != before


@pytest.mark.parametrize(
    "changes",
    [
        {"version": "2"},
        {"dataset": "others"},
        {"unit": Replace(key="age")},
        {"tables": {**tables(), "visits": Table(visits(), limits={"rows": 10}, columns={"age": {"bounds": (0, 50)}})}},
    ],
    ids=["version", "dataset", "unit", "bounds"],
)
def test_rows_of_something_else_are_not_taken(tmp_path: Path, changes: dict[str, Any]) -> None:
    with kept(tmp_path)[0] as first:
        first.keep()
    with session(snapshot=tmp_path / "visits.snapshot", **changes) as asked:
        with pytest.raises(DataError, match="another dataset or version, or of other declarations"):
            asked.sql("SELECT COUNT(*) AS n FROM visits", spend=1)
        assert asked.spent == 0
        asked.keep()
        assert asked.sql("SELECT COUNT(*) AS n FROM visits", spend=1).spent == 1


def test_a_file_that_is_no_snapshot_is_refused_before_anything_is_spent(tmp_path: Path) -> None:
    (tmp_path / "visits.snapshot").write_text("rows", encoding="utf-8")
    with kept(tmp_path)[0] as asked:
        with pytest.raises(DataError, match=r"visits\.snapshot"):
            asked.sql(COUNT, spend=1)
        assert asked.spent == 0


def test_what_fails_leaves_what_was_there_and_says_nothing_of_rows(tmp_path: Path) -> None:
    asked, read = kept(tmp_path)
    with asked:
        asked.keep()
        before = (tmp_path / "visits.snapshot").read_bytes()
        read.failing = True
        with pytest.raises(UnavailableError) as error:
            asked.keep()
        assert CANARY not in str(error.value)
        assert list(tmp_path.iterdir()) == [tmp_path / "visits.snapshot"]
        assert (tmp_path / "visits.snapshot").read_bytes() == before
        # Nobody asked anything, so nothing is halted, and what was kept still answers.
        assert asked.sql(COUNT, spend=1).spent == 1


@pytest.mark.parametrize("name", ["missing/visits.snapshot", "folder.snapshot"])
def test_a_place_that_cannot_be_written_is_said(tmp_path: Path, name: str) -> None:
    (tmp_path / "folder.snapshot" / "full").mkdir(parents=True)
    with session(snapshot=tmp_path / name) as asked, pytest.raises(UnavailableError, match="room in the folder"):
        asked.keep()
    assert [each.name for each in tmp_path.iterdir()] == ["folder.snapshot"]


def test_sessions_share_a_file(tmp_path: Path) -> None:
    with kept(tmp_path)[0] as first:
        first.keep()
    (one, read), (two, again) = kept(tmp_path), kept(tmp_path)
    with one, two:
        assert one.sql(COUNT, spend=1).spent == two.sql(COUNT, spend=1).spent == 1
    assert not read
    assert not again


def test_of_a_file_without_some_table_none_is_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A database that is lost is connected anew; if the file is by then another's, tables are read and kept as ever."""
    import pyarrow as pa

    def declared(most: int) -> dict[str, Table[Any]]:
        one, two = pa.table({"k": [1, 1, 2], "x": [1, 2, 3]}), pa.table({"k": [1, 2, 2], "y": [4, 5, 6]})
        return {
            "A": Table(one, limits={"rows": 1}, columns={"x": {"bounds": (0, 5)}}),
            "B": Table(two, limits={"rows": 1}, columns={"y": {"bounds": (0, most)}}),
        }

    given, other = declared(9), declared(8)
    known = schema(given, UNITS["person"])
    file = KeptFile(path=os.fspath(tmp_path / "all.snapshot"), dataset="all", version="1")
    keep_rows(given, known, file)
    programs = [plan(read(f"SELECT SUM({x}) AS s FROM {t}", known, evaluate), known, 1) for t, x in ("Ax", "By")]
    with DuckDB(given, known, threads=1) as reading, DuckDB(given, known, snapshot=file, threads=1) as resting:
        exact = [reading.run(program) for program in programs]
        names = resting._snapshot.rested(file)
        # Another process makes the file anew, with A as it was and B by another declaration.
        keep_rows(other, schema(other, UNITS["person"]), file)
        assert not kept_file.attached(resting._connected(), file, names)
        monkeypatch.setattr(engine, "_answers", lambda _: False)
        resting._renew(resting._connection)
        made = (
            "SELECT view_name FROM duckdb_views() WHERE NOT internal UNION SELECT database_name FROM duckdb_databases()"
        )
        shown = {name for (name,) in resting._connection.execute(made).fetchall()}
        assert not shown & {"held", *names}
        for program, expected in zip(programs, exact, strict=True):
            assert alike(resting.run(program), expected)
        # The file as it was is shown again.
        keep_rows(given, known, file)
        again = resting._connected()
        assert kept_file.attached(again, file, names)
        again.close()


def test_a_plan_without_a_file_has_none_to_make() -> None:
    for given in (None, True, False):
        with session(snapshot=given) as asked, pytest.raises(ParameterError, match="no file is named"):
            asked.keep()


def test_a_halted_dataset_stays_halted(tmp_path: Path) -> None:
    asked, read = kept(tmp_path)
    with asked:
        read.failing = True
        with pytest.raises(HaltedError):
            asked.sql(COUNT, spend=1)
        read.failing = False
        asked.keep()
        with pytest.raises(HaltedError):
            asked.sql(OLDER, spend=1)


@pytest.mark.parametrize("unit", UNITS)
def test_every_relation_over_a_file_gives_the_integers_of_a_reading(unit: Any, tmp_path: Path) -> None:
    """Owners, links, numbers of rows and crowds are those that a reading has."""
    import pyarrow as pa

    days = pa.array([MONDAY] * 6, pa.date32())
    given = {
        "A": Table(
            pa.table({"k": [1, 1, 1, 2, None, 3], "d": days, "x": [1, 2, 3, 4, 5, 6], "g": list("ababab")}),
            limits={"rows": 1, "groups": 9},
            columns={"x": {"bounds": (0, 5)}, "g": {"keys": ["a", "b"]}},
        ),
        "E": Table(pa.table({"k": [1, 2, 2, 3, 3, 1], "d": days, "e": [1, 1, 2, 3, 3, 4]}), limits={"rows": 9}),
        "V": Table(
            pa.table({"e": [1, 1, 2, 3, 5], "c": [7, 8, 9, 7, 7]}),
            limits={"rows": 2, "groups": 9},
            columns={"c": {"bounds": (0, 9)}},
            owner={"via": "E", "on": "e"},
        ),
    }
    same = "k" if unit == "person" else "k, d"
    asked = [
        "SELECT g, COUNT(*) AS n, SUM(x) AS s FROM A GROUP BY g",
        "SELECT g, COUNT(*) AS n FROM A WHERE x > 1 GROUP BY g",
        "SELECT COUNT(*) AS n, SUM(c) AS s FROM V",
        f"SELECT g, COUNT(*) AS n FROM A JOIN V USING ({same}) GROUP BY g",
        f"SELECT COUNT(*) AS n FROM (SELECT {same}, COUNT(*) AS n FROM E GROUP BY {same}) WHERE n > 1",
    ]
    known = schema(given, UNITS[unit])
    file = KeptFile(path=os.fspath(tmp_path / "all.snapshot"), dataset="all", version="1")
    keep_rows(given, known, file)
    with DuckDB(given, known, threads=1) as reading, DuckDB(given, known, snapshot=file, threads=1) as resting:
        for sql in asked:
            for norm in (1, 2):
                program = plan(read(sql, known, evaluate), known, norm)
                resting.rehearse(program)
                assert alike(reading.run(program), resting.run(program)), (sql, norm)
        shown = resting._connection.execute("SELECT COUNT(*) FROM duckdb_views() WHERE NOT internal").fetchone()
        assert shown == (3,)
