"""When an engine fails on the rows the dataset is halted before anybody is told; on made-up rows that is free."""

from __future__ import annotations

import json
import os
from fractions import Fraction
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pytest

from quincunx.data import engine_type
from quincunx.errors import HaltedError, RefusalError, UnavailableError
from quincunx.ledger import Ledger
from quincunx.release import Session
from quincunx.release.pricing import Priced
from quincunx.table.engines.duckdb import DuckDB, stand_in
from quincunx.table.table import Table
from tests.release.world import PLAN, session, visits, write_plan

COUNT = "SELECT COUNT(*) AS n FROM visits"
OLDER = "SELECT COUNT(*) AS n FROM visits WHERE age > 40"


class Failing(DuckDB):
    """An engine that fails on the rows whenever a question looks at ages."""

    error: BaseException = RuntimeError("person 7 is 46 years old")

    def run(self, program: Any) -> Any:
        if "age" in self.sql(program):
            raise self.error
        return super().run(program)


def broken(opened: Session, error: BaseException | None = None) -> Session:
    engine = Failing(opened._dataset.tables, opened._dataset.schema)
    engine.error = error or engine.error
    opened._engine = engine
    return opened


def said(opened: Session, text: str, **given: Any) -> str:
    with pytest.raises(HaltedError) as caught:
        opened.sql(text, **({"spend": 1} | given))
    assert caught.value.__context__ is None
    assert caught.value.__cause__ is None
    assert "46" not in str(caught.value)
    return str(caught.value)


def test_the_question_stays_paid_and_nothing_new_is_answered(tmp_path: Path) -> None:
    with broken(session(ledger=tmp_path / "ledger.db")) as asked:
        first = asked.sql(COUNT, spend=1)
        sentence = said(asked, OLDER)
        assert asked.spent == 2
        # While it is halted everything is refused with that sentence, for nothing, and stored answers are shown.
        assert said(asked, OLDER) == said(asked, OLDER, spend=2) == said(asked, "SELECT AVG(age) AS a FROM visits")
        assert said(asked, OLDER) == sentence
        again = asked.sql(COUNT, spend=1)
        assert (again.rows, again.spent, asked.spent) == (first.rows, 0, 2)
        note = "This dataset was halted once, when an engine failed on its rows, and not reopened; it is halted now."
        assert any(each.startswith(note) for each in again.notes)
        assert asked.cost(COUNT, spend=5).charged == 5
    with Ledger.open(tmp_path / "ledger.db") as ledger:
        ledger.reopen("visits", reason="the row was mended")
        assert ledger.verify() == ledger.head
    with session(ledger=tmp_path / "ledger.db") as asked:
        assert "is not answered on this version" in said(asked, OLDER)
        answer = asked.sql(OLDER, spend="1/2")
        assert "halted once, when an engine failed on its rows, and reopened once." in str(answer).replace("\n", " ")
        assert "at most 1.6 bits" in " ".join(answer.notes)
        assert asked.spent == Fraction(5, 2)


def test_a_new_version_reopens(tmp_path: Path) -> None:
    path = tmp_path / "ledger.db"
    with broken(session(ledger=path)) as asked:
        said(asked, OLDER)
    with session(ledger=path, version="2") as asked:
        assert asked.sql(OLDER, spend=1).spent == 1
    with session(ledger=path) as asked:
        said(asked, COUNT)


@pytest.mark.parametrize(
    "error",
    [
        MemoryError(),
        TimeoutError(),
        ConnectionError(),
        OSError(5, "input/output error"),
        duckdb.OutOfMemoryException("could not allocate"),
        duckdb.FatalException("database has been invalidated"),
        UnicodeEncodeError("utf-8", "\ud800", 0, 1, "surrogates not allowed"),
        UnavailableError("the engine could not compute the question"),
        OverflowError(),
    ],
    ids=lambda error: type(error).__name__,
)
def test_every_failure_is_one(error: BaseException) -> None:
    with broken(session(), error) as asked:
        said(asked, OLDER)
        assert asked.spent == 1
        assert asked._account.register().account("visits").halted


@pytest.mark.parametrize("error", [KeyboardInterrupt(), SystemExit(3)], ids=lambda error: type(error).__name__)
def test_the_end_of_our_own_process_is_none(error: BaseException) -> None:
    with broken(session(), error) as asked:
        with pytest.raises(type(error)):
            asked.sql(OLDER, spend=1)
        assert not asked._account.register().account("visits").halted
        asked._engine = None
        assert asked.sql(OLDER, spend=1).spent == 0
        assert asked.spent == 1


def test_noise_that_cannot_be_drawn_is_one_too(monkeypatch: pytest.MonkeyPatch) -> None:
    def drawn(*_: object) -> object:
        raise ValueError("a total of 46")

    with session() as asked:
        monkeypatch.setattr(Priced, "draw", drawn)
        said(asked, COUNT)


def test_a_file_that_disappears_halts(tmp_path: Path) -> None:
    """A real failure of the real engine."""
    path = tmp_path / "visits.parquet"
    visits().to_parquet(path)
    table = {"visits": Table(path, limits={"rows": 10}, columns={"age": {"bounds": (0, 110)}})}
    with session(tables=table) as asked:
        asked.sql(COUNT, spend=1)
        path.write_bytes(path.read_bytes()[:99])
        said(asked, OLDER)
        visits().to_parquet(path)
        asked._account.register().reopen("visits", reason="the file is back")
        assert asked.sql(OLDER, spend=2).spent == 2


def test_facts_halt_and_are_halted() -> None:
    older, costs = "SELECT SUM(age) AS s FROM visits", "SELECT SUM(cost) AS s FROM visits"
    with broken(session(invariants={"older": older})) as asked:
        with pytest.raises(HaltedError):
            asked.invariants()
        said(asked, COUNT)
        assert asked.spent == 0
    with broken(session(invariants={"costs": costs})) as asked:
        assert len(asked.invariants()["costs"]) == 1
        said(asked, OLDER)
        assert len(asked.invariants()["costs"]) == 1


@pytest.mark.parametrize("kind", ["zcdp", "approximate"])
def test_releases_halt_and_say_so(tmp_path: Path, kind: str) -> None:
    """One by one, or as one."""
    text = PLAN.replace('"zcdp", delta', f'"{kind}", delta').replace("share = 1", "spend = 1")
    if kind == "approximate":
        text = text[: text.index('[[release]]\nname  = "by_town"')].replace(
            "spend = 2\n", 'spend = 2\ndelta = "1e-7"\n'
        )
        text = text.replace('{ kind = "add-remove", key = "person_id" }', '{ kind = "add-remove" }')
        text = text.replace("limits = { rows = 10, groups = 3 }\n", "")
    plan = write_plan(tmp_path, text)
    with broken(Session.open(plan)) as opened, pytest.raises(HaltedError):
        opened.release(tmp_path / "out")
    assert list((tmp_path / "out").iterdir()) == []
    with Ledger.open(tmp_path / "ledger.db") as ledger:
        assert ledger.account("visits-2024").halted
    plan.write_text(text.replace('version    = "1"', 'version    = "2"'), encoding="utf-8")
    with Session.open(plan) as opened:
        opened.release(tmp_path / "out")
    words = (tmp_path / "out" / "summary.md").read_text(encoding="utf-8")
    assert "halted once, when an engine failed on its rows, and reopened once. That can have told at most" in words
    summary = json.loads((tmp_path / "out" / "summary.json").read_text(encoding="utf-8"))
    assert all(any("halted once" in note for note in each["notes"]) for each in summary["releases"].values())


# Rehearsal.


class Unable(DuckDB):
    """An engine that cannot do what it is asked, whatever the rows are."""

    runs = 0

    def run(self, program: Any) -> Any:
        type(self).runs += 1
        return super().run(program)


def test_what_fails_on_made_up_rows_is_refused_for_nothing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def unable(*_: object) -> object:
        raise duckdb.InternalException("not implemented")

    with session(ledger=tmp_path / "ledger.db") as asked:
        asked._engine = Unable(asked._dataset.tables, asked._dataset.schema)
        monkeypatch.setattr("quincunx.table.engines.duckdb.engine._fetched", unable)
        for _ in range(2):
            with pytest.raises(RefusalError, match="failed on made-up rows; nothing was spent") as caught:
                asked.sql(COUNT, spend=1)
            assert caught.value.__context__ is None
        assert (asked.spent, Unable.runs) == (0, 0)
        assert [record.kind for record in asked._account.register().records()] == ["registration"]
        monkeypatch.undo()
        assert asked.sql(COUNT, spend=1).spent == 1


def test_a_release_is_rehearsed_as_a_whole_before_it_is_paid(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fetched = DuckDB.rehearse

    def third(self: DuckDB, program: Any) -> None:
        if "town" in self.sql(program):
            raise RefusalError("no")
        fetched(self, program)

    monkeypatch.setattr(DuckDB, "rehearse", third)
    with Session.open(write_plan(tmp_path)) as opened:
        with pytest.raises(RefusalError):
            opened.release(tmp_path / "out")
        assert opened.spent == 0


def test_a_program_is_rehearsed_once_and_no_stored_answer_is(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[str] = []
    fetched = stand_in.Stage.relations

    def counted(self: stand_in.Stage, table: str, *rest: Any) -> tuple[str, str]:
        made.append(table)
        return fetched(self, table, *rest)

    monkeypatch.setattr(stand_in.Stage, "relations", counted)
    with session() as asked:
        asked.sql(COUNT, spend=1)
        asked.sql(COUNT, spend=2)
        asked.sql("SELECT COUNT(*) AS other FROM visits ORDER BY other", spend=3)
        asked.sql(COUNT, spend=1)
        assert len(made) <= 2
        asked.sql(OLDER, spend=1)
        asked._engine = None
        before = len(made)
        asked.sql(OLDER, spend=1)
        assert len(made) == before


def test_a_rehearsal_reads_no_private_row() -> None:
    class Alarm:
        def __arrow_c_stream__(self, requested_schema: object = None) -> object:
            raise AssertionError("read")

    with session() as asked:
        dataset = asked._dataset
        object.__setattr__(dataset.tables["visits"].origin, "provide", Alarm)
        for text in (COUNT, OLDER, "SELECT town, COUNT(*) AS n FROM visits GROUP BY town"):
            asked._connect().rehearse(dataset.program(text))


def test_the_first_row_that_fails_can_be_among_the_made_up_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    """A statement that fails on some values and not on an empty table: TRY taken away from a conversion."""

    def written(program: Any, source: Any, dialect: Any) -> Any:
        from quincunx.table.engines.statement import statement as whole

        found = whole(program, source, dialect)
        return type(found)(sql=found.sql.replace("TRY_CAST", "CAST"), parameters=found.parameters)

    monkeypatch.setattr("quincunx.table.engines.duckdb.engine.statement", written)
    frame = visits().astype({"age": "string"})
    table = {"visits": Table(frame, limits={"rows": 9}, columns={"age": {"type": "integer", "bounds": (0, 110)}})}
    with session(tables=table) as asked:
        with pytest.raises(RefusalError, match="made-up rows"):
            asked.sql(OLDER, spend=1)
        assert asked.spent == 0


TYPES = {
    "tiny": pa.int8(), "small": pa.int16(), "whole": pa.int32(), "big": pa.int64(), "utiny": pa.uint8(),
    "ubig": pa.uint64(), "single": pa.float32(), "double": pa.float64(), "flag": pa.bool_(), "text": pa.string(),
    "long_text": pa.large_string(), "day": pa.date32(), "day64": pa.date64(), "second": pa.timestamp("s"),
    "milli": pa.timestamp("ms"), "micro": pa.timestamp("us"), "nano": pa.timestamp("ns"),
    "zoned": pa.timestamp("us", tz="UTC"), "money": pa.decimal128(18, 2), "exact": pa.decimal128(38, 10),
    "listed": pa.dictionary(pa.int32(), pa.string()),
}  # fmt: skip


def test_made_up_rows_have_many_values_of_every_type() -> None:
    columns = {name: pa.array([], pa.string()).dictionary_encode() if name == "listed" else pa.array([], kind)
               for name, kind in TYPES.items()}  # fmt: skip
    columns["listed"] = pa.DictionaryArray.from_arrays(pa.array([], pa.int32()), pa.array(["a", "b", "c"]))
    table = Table(pa.table({"p": pa.array([], pa.int64())} | columns), limits={"rows": 3})
    stage = stand_in.Stage()
    from quincunx.spec.unit import AddRemove
    from quincunx.table.table import schema

    none, some = stage.relations(
        "t", table.origin.fields, [name for name, _ in table.origin.fields], schema({"t": table}, AddRemove(key="p"))
    )
    assert stage.connection.execute(f"SELECT COUNT(*) FROM {none}").fetchall() == [(0,)]
    for name, storage in table.origin.fields:
        found = stage.connection.execute(f"SELECT COUNT(DISTINCT {name}), COUNT(*) FROM {some}").fetchone()
        assert found is not None
        different = 2 if storage in ("BOOLEAN",) or storage.startswith("ENUM") else 5
        assert found[0] >= different, (name, storage, found)
        assert found[1] == stand_in.ROWS
    kinds = stage.connection.execute(f"DESCRIBE {some}").fetchall()
    assert [(row[0], row[1]) for row in kinds] == [(name, engine_type(kind)) for name, kind in table.origin.fields]
    stage.close()


def test_the_memory_of_the_engine_is_below_that_of_the_machine() -> None:
    with session() as asked:
        engine = asked._connect()
        assert isinstance(engine, DuckDB)
        rows = engine._connection.execute("SELECT value FROM duckdb_settings() WHERE name = 'memory_limit'").fetchall()
        number, unit = rows[0][0].split()
        limit = float(number) * {"KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "TiB": 2**40}[unit]
        machine = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
        assert np.isclose(limit, machine / 2, rtol=0.05) or limit < machine / 2
