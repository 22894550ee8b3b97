"""Ctrl-C inside a question: it is KeyboardInterrupt, the reservation is kept, and asking again answers for nothing."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest

from quincunx.ledger import Ledger
from quincunx.release import Session
from quincunx.table.engines.duckdb import DuckDB
from quincunx.table.table import Table
from tests.cli.plans import COUNT, made, run, run_json
from tests.release.world import session

QUESTION = "SELECT COUNT(*) AS n FROM visits"


@pytest.fixture
def impatient() -> Iterator[Impatient]:
    found = Impatient()
    yield found
    # A function of Python's that is left behind keeps the whole engine alive.
    found.connection.remove_function("reading")
    found.connection.close()


@pytest.fixture(autouse=True)
def handler() -> Iterator[None]:
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


class Impatient:
    """A relation during whose first reading somebody presses Ctrl-C, inside the engine."""

    def __init__(self) -> None:
        self.presses = 1
        self.connection = duckdb.connect()
        self.connection.execute("SET threads = 1")
        number = duckdb.sqltypes.BIGINT
        self.connection.create_function("reading", self.reading, [number], number, side_effects=True)

    def reading(self, number: int) -> int:
        if self.presses:
            self.presses -= 1
            os.kill(os.getpid(), signal.SIGINT)
        return number

    def session(self, **given: Any) -> Session:
        rows = self.connection.sql("SELECT reading(range) AS person_id, 30 AS age FROM range(10)")
        return session(tables={"visits": Table(rows, limits={"rows": 10})}, **given)


def test_it_is_a_keyboard_interrupt_and_the_question_stays_paid(tmp_path: Path, impatient: Impatient) -> None:
    with impatient.session(ledger=tmp_path / "ledger.db") as asked:
        with pytest.raises(KeyboardInterrupt) as caught:
            asked.sql(QUESTION, spend=1)
        # The engine's own error holds values.
        assert caught.value.__context__ is None
        assert asked.spent == 1
        answer = asked.sql(QUESTION, spend=1)
        assert (answer.spent, asked.spent) == (0, 1)
        assert "Cost 0: the question was paid for before, and its answer had not been stored." in answer.notes
    with Ledger.open(tmp_path / "ledger.db") as ledger:
        assert [record.kind for record in ledger.records()] == ["registration", "reservation", "answer"]


def test_the_command_line_ends_with_130(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plan, computed = made(tmp_path), DuckDB.run

    def pressed(*_: object) -> object:
        raise KeyboardInterrupt

    monkeypatch.setattr(DuckDB, "run", pressed)
    code, out, err = run("sql", plan, COUNT, "--spend", "1")
    assert (code, out) == (130, "")
    assert err == "interrupted: what was paid for stays paid, and asking it again costs nothing\n"
    monkeypatch.setattr(DuckDB, "run", computed)
    assert run_json("sql", plan, COUNT, "--spend", "1")["spent"] == "0"
