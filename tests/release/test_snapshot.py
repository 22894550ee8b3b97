"""Snapshots in sessions: the same questions, prices and answers, and rows that are read once and by questions alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from quincunx.data.origin import Given
from quincunx.errors import HaltedError, InputError, ParameterError
from quincunx.noise.testing import key_of, keyed
from quincunx.release import Session
from quincunx.release.plan_file import read_plan
from quincunx.table.table import Table
from tests.release.world import CANARY, PLAN, REGIONS, quote_of, session, tables, visits, write_plan

COUNT = "SELECT region, COUNT(*) AS n, SUM(cost) AS s FROM visits GROUP BY region"
TOWNS = "SELECT town, COUNT(*) AS n FROM visits GROUP BY town"
OLDER = "SELECT AVG(age) AS a, COUNT(DISTINCT person_id) AS p FROM visits WHERE age > 40"


class Readings(list[int]):
    """How many columns were asked for at each reading of the table of visits. failing: it cannot be read."""

    failing = False


def counted(**changes: Any) -> tuple[Session[Any], Readings]:
    given, read = tables(), Readings()
    origin = given["visits"].origin
    assert isinstance(origin, Given)
    provide = origin.provide

    def provided(names: Sequence[str]) -> object:
        read.append(len(names))
        if read.failing:
            raise OSError(CANARY)
        return provide(names)

    object.__setattr__(given["visits"], "origin", replace(origin, provide=provided))
    return session(tables=given, **changes), read


def test_answers_prices_and_identities_are_those_of_readings() -> None:
    def answered(snapshot: bool) -> list[object]:
        with keyed(key_of("snapshot")), session(snapshot=snapshot, intensity=200) as asked:
            quotes = [quote_of(asked, text, spend=1, delta=delta) for text, delta in ((COUNT, None), (TOWNS, "1e-7"))]
            answers = [asked.sql(COUNT, spend=30), asked.sql(TOWNS, spend=30, delta="1e-7"), asked.sql(OLDER, spend=30)]
            return [
                [(quote.question.key, quote.priced.spend) for quote in quotes],
                [(answer.rows, answer.spent, answer.notes) for answer in answers],
            ]

    assert answered(True) == answered(False)


def test_rows_are_read_by_the_first_question_and_not_again() -> None:
    asked, read = counted(snapshot=True)
    with asked:
        asked.explain(COUNT, spend=1)
        asked.cost(COUNT, spend=1)
        asked.error(COUNT, spend=1)
        assert not read
        first = asked.sql(COUNT, spend=1)
        # All columns, once.
        assert read == [7]
        assert asked.sql(COUNT, spend=1).rows == first.rows
        asked.sql(OLDER, spend=1)
        asked.sql(TOWNS, spend=1, delta="1e-7")
        assert read == [7]


def test_exact_facts_are_read_from_the_same_rows() -> None:
    asked, read = counted(
        snapshot=True, invariants={"rows": "SELECT region, COUNT(*) AS n FROM visits GROUP BY region"}
    )
    with asked:
        exact = asked.invariants()["rows"].rows
        asked.sql(TOWNS, spend=1, delta="1e-7")
        assert read == [7]
        assert sum(row["n"] for row in exact) == len(visits())


def test_a_stored_answer_needs_no_rows(tmp_path: Path) -> None:
    with session(snapshot=True, ledger=tmp_path / "ledger.db") as asked:
        first = asked.sql(COUNT, spend=1)
    asked, read = counted(snapshot=True, ledger=tmp_path / "ledger.db")
    with asked:
        assert asked.sql(COUNT, spend=1).rows == first.rows
        assert not read


def test_a_source_that_cannot_be_read_halts_as_any_failure_on_rows_does() -> None:
    asked, read = counted(snapshot=True)
    with asked:
        read.failing = True
        with pytest.raises(HaltedError) as error:
            asked.sql(COUNT, spend=1)
        assert CANARY not in str(error.value)
        assert asked.spent == 1
        read.failing = False
        with pytest.raises(HaltedError):
            asked.sql(OLDER, spend=1)
        assert read == [7]


def test_sessions_of_one_ledger_keep_their_own_rows(tmp_path: Path) -> None:
    """Whoever opened first sees the file as it was then; the version of the data is the curator's word."""
    path = tmp_path / "visits.csv"
    columns = {"region": {"keys": list(REGIONS), "type": "text"}, "person_id": {"type": "integer"}}

    def opened() -> Session[Any]:
        given = {"visits": Table(path, limits={"rows": 100}, columns=columns)}
        return session(tables=given, ledger=tmp_path / "ledger.db", intensity=10**9)

    text = "SELECT COUNT(*) AS n FROM visits"
    frame: pd.DataFrame = visits()
    frame.to_csv(path, index=False)
    with opened() as first, opened() as second:
        before = first.sql(text, spend=10**6).rows[0]["n"]
        frame.head(10).to_csv(path, index=False)
        assert first.sql(text, spend=10**6 + 1).rows[0]["n"] == before == len(frame)
        assert second.sql(text, spend=10**6 + 2).rows[0]["n"] == 10


def test_a_closed_session_keeps_nothing() -> None:
    with session(snapshot=True) as asked:
        asked.sql(COUNT, spend=1)
        engine: Any = asked._connect()
        assert engine._connection.execute("SELECT COUNT(*) FROM snapshot0").fetchone() == (len(visits()),)
        # A database without a file: with the process or the connection it is gone.
        files = engine._connection.execute("SELECT path FROM duckdb_databases() WHERE NOT internal").fetchall()
        assert files == [(None,)]
    with pytest.raises(Exception, match="closed"):
        engine._connection.execute("SELECT COUNT(*) FROM snapshot0")


def test_a_plan_says_whether(tmp_path: Path) -> None:
    plan = write_plan(tmp_path)
    assert read_plan(plan).snapshot is None
    plan = write_plan(tmp_path, PLAN.replace("confidence", "snapshot   = true\nconfidence"))
    with Session.open(plan) as asked:
        explained = asked.explain(COUNT).engine_sql
        assert "snapshot0" in explained
        assert asked.sql(COUNT, spend=1).spent == 1
    plan = write_plan(tmp_path, PLAN.replace("confidence", 'snapshot   = "yes"\nconfidence'))
    with pytest.raises(InputError, match=r"plan\.toml:5"):
        read_plan(plan)


@pytest.mark.parametrize("given", ["yes", 1, 0, []])
def test_what_is_neither_true_nor_false_is_refused(given: object) -> None:
    with pytest.raises(ParameterError, match="snapshot"):
        session(snapshot=given)
