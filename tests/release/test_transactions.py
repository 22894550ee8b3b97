"""How often a session goes to its ledger, counted where a store begins a transaction; and what ending there leaves."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from typing import Any, ClassVar

import pytest

from quincunx.ledger import Ledger
from quincunx.ledger.sqlite import SQLite
from quincunx.ledger.sqlite.transaction import SQLiteTransaction
from quincunx.spec.standard import Approximate
from quincunx.table.engines.duckdb import DuckDB
from tests.release.world import NoEngine, session, write_plan

COUNT = "SELECT COUNT(*) AS n FROM visits"
BY_TOWN = "SELECT town, COUNT(*) AS n FROM visits GROUP BY town"
FIRST, REPLAY = ["reading", "writing", "writing"], ["reading"]


class Ended(BaseException):
    """The end of a process, as far as a ledger can tell: between two transactions nothing is open."""


class Watched(SQLite):
    """A store that notes its transactions, and ends the process at one of them: before it begins or after it ended."""

    said: ClassVar[list[str]] = []
    at: ClassVar[tuple[int, str] | None] = None

    @classmethod
    def end(cls, moment: str) -> None:
        if cls.at == (len(cls.said), moment):
            cls.at = None
            raise Ended

    @contextmanager
    def writing(self) -> Iterator[SQLiteTransaction]:
        with self._noted("writing"), super().writing() as transaction:
            yield transaction

    @contextmanager
    def reading(self) -> Iterator[SQLiteTransaction]:
        with self._noted("reading"), super().reading() as transaction:
            yield transaction

    @contextmanager
    def _noted(self, kind: str) -> Iterator[None]:
        Watched.said.append(kind)
        Watched.end("before")
        yield
        Watched.end("after")


@pytest.fixture(autouse=True)
def watched(monkeypatch: pytest.MonkeyPatch) -> None:
    Watched.said, Watched.at = [], None
    monkeypatch.setattr("quincunx.ledger.ledger.SQLite", Watched)


def gone(asked: Any, text: str, **price: Any) -> list[str]:
    Watched.said = []
    asked.sql(text, **price)
    return Watched.said


@pytest.mark.parametrize("where", ["disk", "memory"])
@pytest.mark.parametrize(
    ("text", "price"),
    [
        (COUNT, {"spend": 1}),
        (COUNT, {"within": {"n": 25}}),
        (BY_TOWN, {"spend": 1, "delta": "1e-7"}),
        # Too long to be kept: what is left decides how it is rounded, in the same look.
        (COUNT, {"spend": Fraction(10**40 + 1, 3**90)}),
    ],
)
def test_a_first_answer_reads_once_and_writes_twice(
    tmp_path: Path, where: str, text: str, price: dict[str, Any]
) -> None:
    path = ":memory:" if where == "memory" else tmp_path / "ledger.db"
    with session(ledger=path) as asked:
        asked.sql("SELECT SUM(age) AS s FROM visits", spend=1)
        assert gone(asked, text, **price) == FIRST
        assert gone(asked, text, **price) == REPLAY
    if where == "disk":
        # A new process finds the dataset registered, and writes nothing for that.
        with session(ledger=path) as asked:
            asked._engine = NoEngine()
            assert gone(asked, text, **price) == REPLAY


def test_a_delta_that_only_lowers_the_error_is_one_look_too(tmp_path: Path) -> None:
    given = {"ledger": tmp_path / "l.db", "standard": Approximate(delta="1e-5")}
    with session(**given) as asked:
        asked.sql(COUNT, spend=1)
        for text in (COUNT, "SELECT age, COUNT(*) AS n FROM visits GROUP BY age"):
            assert gone(asked, text, spend=2, delta="1e-7") == FIRST
            assert gone(asked, text, spend=2, delta="1e-7") == REPLAY


def test_an_analyst_who_sees_an_answer_newly_is_charged_and_a_replay_reads_once(tmp_path: Path) -> None:
    given = {"ledger": tmp_path / "l.db", "budgets": {"analysts": {"alice": 5, "bob": 5}}}
    with session(**given, analyst="alice") as asked:
        asked.sql("SELECT SUM(age) AS s FROM visits", spend=1)
        assert gone(asked, COUNT, spend=1) == FIRST
    with session(**given, analyst="bob") as asked:
        asked._engine = NoEngine()
        assert gone(asked, COUNT, spend=1) == ["reading", "writing", "reading"]
        assert asked.remaining == 4
        assert gone(asked, COUNT, spend=1) == REPLAY


def test_the_data_are_asked_after_the_question_is_paid_for(tmp_path: Path) -> None:
    seen: list[list[str]] = []

    class Noting(DuckDB):
        def run(self, program: Any) -> Any:
            seen.append(list(Watched.said))
            return super().run(program)

    with session(ledger=tmp_path / "l.db") as asked:
        asked.sql(COUNT, spend=1)
        asked._engine = Noting(asked._dataset.tables, asked._dataset.schema)
        gone(asked, COUNT, spend=2)
    assert seen == [FIRST[:2]]


def test_looking_and_planning_read_once(tmp_path: Path) -> None:
    with session(ledger=tmp_path / "l.db") as asked:
        asked.sql(COUNT, spend=1)
        for free in (asked.cost, asked.explain, asked.error):
            Watched.said = []
            free(COUNT, spend=2)
            assert Watched.said in ([], ["reading"])
        for name in ("remaining", "spent", "notes"):
            Watched.said = []
            getattr(asked, name)
            assert Watched.said == ["reading"]


def test_a_check_reads_once(tmp_path: Path) -> None:
    from quincunx.release import Session

    with Session.open(write_plan(tmp_path)) as opened:
        opened.release(tmp_path / "out")
        Watched.said = []
        opened.check()
        assert Watched.said == ["reading"]


@pytest.mark.parametrize("moment", ["before", "after"])
@pytest.mark.parametrize("number", [1, 2, 3])
def test_ending_at_any_transaction_overspends_nothing_and_shows_one_answer(
    tmp_path: Path, number: int, moment: str
) -> None:
    path = tmp_path / "ledger.db"
    with session(ledger=path) as asked:
        asked.sql("SELECT SUM(age) AS s FROM visits", spend=1)
        Watched.said, Watched.at = [], (number, moment)
        with pytest.raises(Ended):
            asked.sql(COUNT, spend=1)
        assert Watched.at is None
    paid = number == 3 or (number, moment) == (2, "after")
    stored = (number, moment) == (3, "after")
    with Ledger.open(path) as ledger:
        account = ledger.account("visits")
        assert account.total.spent == (2 if paid else 1)
        assert account.answers == (2 if stored else 1)
        ledger.verify()
    with session(ledger=path) as asked:
        if stored:
            asked._engine = NoEngine()
        assert gone(asked, COUNT, spend=1) == (REPLAY if stored else FIRST)
        assert asked.spent == 2
        again = asked.sql(COUNT, spend=1)
        assert again.rows == asked.sql(COUNT, spend=1).rows
        assert asked.spent == 2
    with Ledger.open(path) as ledger:
        kinds = [record.kind for record in ledger.records()]
        assert kinds == ["registration", *["reservation", "answer"] * 2]
        ledger.verify()
