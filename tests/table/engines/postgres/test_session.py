"""Sessions over a database: the plan file, what fails and when, exact ledgers, and no value where none belongs."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from sqlglot import exp

import quincunx as qx
from quincunx.errors import DataError, HaltedError, ParameterError, QuincunxError, RefusalError, UnavailableError
from quincunx.ledger import Ledger
from quincunx.table.engines.postgres import PostgresEngine
from quincunx.table.engines.postgres.dialect import PostgresDialect
from tests.postgres import Server, fresh, server
from tests.table.engines.postgres.both import equal
from tests.table.engines.postgres.places import filled, read, staffed

pytestmark = pytest.mark.ci
CANARY = "canary-8f2a61"
COLUMNS = {"region": {"keys": ["north", "south"]}, "cost": {"bounds": (0, 100), "step": "0.01"}}
QUESTION = "SELECT region, COUNT(*) AS n, SUM(cost) AS s FROM visits GROUP BY region"
ROWS = [(1, "north", 2.5, CANARY), (1, "south", 5e-324, "b"), (2, "north", 99.0, CANARY), (3, None, None, None)]
KINDS = {"person": "bigint", "region": "text", "cost": "double precision", "note": "text"}


def session(source: Any, ledger: Path | str, **given: Any) -> qx.Session:
    table = qx.Table(source, limits={"rows": 2}, columns=COLUMNS)
    return qx.Session(
        dataset="visits",
        version="1",
        tables={"visits": table, **given.pop("tables", {})},
        unit=qx.unit.AddRemove(key="person"),
        standard=qx.standard.ZCDP(),
        intensity=1,
        ledger=ledger,
        **given,
    )


@pytest.fixture
def visits(reading: Server) -> str:
    return filled(reading, KINDS, ROWS)


def test_moving_to_a_database_replays_for_nothing(reading: Server, visits: str, tmp_path: Path) -> None:
    frame = pd.DataFrame(ROWS, columns=list(KINDS))
    with session(frame, tmp_path / "ledger.db") as asked:
        first = asked.sql(QUESTION, spend="1/4")
    with session(read(reading, visits), tmp_path / "ledger.db") as asked:
        again = asked.sql(QUESTION, spend="1/4")
        assert (again.spent, list(again.rows)) == (0, list(first.rows))
        fresh_answer = asked.sql("SELECT COUNT(*) AS n FROM visits", spend="1/8")
        assert fresh_answer.spent == Fraction(1, 8)
        assert asked.remaining == 1 - Fraction(1, 4) - Fraction(1, 8)


def test_a_replay_needs_no_server(tmp_path: Path) -> None:
    with server() as running:
        source = read(staffed(running), filled(running, KINDS, ROWS))
        with session(source, tmp_path / "ledger.db") as asked:
            first = asked.sql(QUESTION, spend="1/4")
            running.control("stop", "-m", "immediate")
            again = asked.sql(QUESTION, spend="1/4")
            assert (again.spent, list(again.rows)) == (0, list(first.rows))
            # Before the reservation: nothing is spent.
            with pytest.raises(UnavailableError, match="the database cannot be reached"):
                asked.sql("SELECT COUNT(*) AS n FROM visits", spend="1/4")
            assert asked.remaining == Fraction(3, 4)
            running.start()
            # The connection that was lost is replaced, and the question is asked once.
            assert asked.sql("SELECT COUNT(*) AS n FROM visits", spend="1/4").spent == Fraction(1, 4)


PLAN = """
dataset = "visits"
version = "1"
ledger = "ledger.db"

[spec]
unit = {{ kind = "add-remove", key = "person" }}
standard = {{ kind = "zcdp" }}
intensity = 1

[tables.visits]
source = {source}
limits = {{ rows = 2 }}
columns.region = {{ keys = ["north", "south"] }}

[[release]]
name = "visits"
sql = "SELECT region, COUNT(*) AS n FROM visits GROUP BY region"
spend = "1/2"
"""


def test_a_plan_names_a_service(reading: Server, visits: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    services = tmp_path / "services"
    services.write_text(f"[clinic]\nhost=127.0.0.1\nport={reading.port}\ndbname=postgres\nuser=reader\n")
    monkeypatch.setenv("PGSERVICEFILE", str(services))
    plan = tmp_path / "plan.toml"
    plan.write_text(PLAN.format(source=f'{{ postgres = "service=clinic", table = "{visits}" }}'))
    with qx.Session.open(plan) as asked:
        assert asked.check().covered
        asked.release(tmp_path / "out")
        assert asked.remaining == Fraction(1, 2)
    assert (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("source", "says"),
    [
        ('{ postgres = "postgresql://a:hunter2@h/d", table = "t" }', "an address with a password is not taken"),
        ('{ postgres = "service=clinic" }', "table is missing"),
        ('{ table = "t" }', "postgres is missing"),
        ('{ postgres = "service=clinic", tabel = "t" }', "Did you mean table"),
        ('{ postgres = "clinic", table = "t" }', "no address of a database"),
        ('"postgresql://reader@h/d"', "a table is a file of this machine or a frame"),
    ],
)
def test_a_plan_with_a_bad_source_says_its_line(tmp_path: Path, source: str, says: str) -> None:
    plan = tmp_path / "plan.toml"
    plan.write_text(PLAN.format(source=source))
    with pytest.raises(QuincunxError, match=says) as caught:
        qx.Session.open(plan)
    assert "plan.toml:12" in str(caught.value)
    assert "hunter2" not in str(caught.value)


# What is wrong before the reservation → what makes it so, what is said.
BEFORE: dict[str, tuple[str, str]] = {
    "no table": ("ALTER TABLE {table} RENAME TO gone_{mark}", "there is no such table"),
    "no grant": ("REVOKE SELECT ON {table} FROM reader", "this role may not read the table"),
    "no column": ("ALTER TABLE {table} DROP COLUMN cost", "the columns of a table have changed"),
    "another type": ("ALTER TABLE {table} ALTER cost TYPE numeric(9,2)", "the columns of a table have changed"),
    "a policy": ("ALTER TABLE {table} ENABLE ROW LEVEL SECURITY", "row security hides rows"),
    "a writer": ("GRANT DELETE ON {table} TO reader", "this role could change the table"),
    "a superuser": ("ALTER ROLE {role} SUPERUSER", "a superuser reads no private table"),
}


@pytest.mark.parametrize("name", BEFORE)
def test_what_is_wrong_before_the_reservation_costs_nothing(reading: Server, tmp_path: Path, name: str) -> None:
    change, says = BEFORE[name]
    table, role = filled(reading, KINDS, ROWS), fresh("r")
    reading.run(f"CREATE ROLE {role} LOGIN", f"GRANT SELECT ON {table} TO {role}")
    source = read(reading, table, role if "{role}" in change else "reader")
    with session(source, tmp_path / "ledger.db") as asked:
        asked.sql("SELECT COUNT(*) AS n FROM visits", spend="1/4")
        reading.run(change.format(table=table, role=role, mark=fresh()))
        with pytest.raises((UnavailableError, DataError), match=says):
            asked.sql(QUESTION, spend="1/4")
        assert asked.remaining == Fraction(3, 4)
    with Ledger.open(tmp_path / "ledger.db") as ledger:
        assert [each.kind for each in ledger.records()].count("reservation") <= 1
        ledger.verify()


def test_a_view_whose_table_has_a_policy_is_found_before_the_reservation(reading: Server, tmp_path: Path) -> None:
    table, view = filled(reading, KINDS, ROWS), fresh("v")
    reading.run(
        f"CREATE VIEW public.{view} WITH (security_invoker = true) AS SELECT * FROM {table}",
        f"GRANT SELECT ON public.{view} TO reader",
        f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY",
    )
    with session(read(reading, f"public.{view}"), tmp_path / "ledger.db") as asked:
        with pytest.raises(UnavailableError, match="this role may not read that"):
            asked.sql(QUESTION, spend="1/4")
        assert asked.remaining == 1


def halted(asked: qx.Session, ledger: Path) -> None:
    """A question that was paid for failed: the dataset is halted, what was paid is paid, and nothing more is."""
    with pytest.raises(HaltedError):
        asked.sql(QUESTION, spend="1/4")
    with Ledger.open(ledger) as kept:
        kept.verify()
        account = kept.account("visits")
        assert account.total.spent == Fraction(1, 4)
        assert (account.questions, account.answers, len(account.halts)) == (1, 0, 1)


def test_a_server_that_goes_away_after_the_reservation_halts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with server() as running:
        source = read(staffed(running), filled(running, KINDS, ROWS))
        run: Callable[..., Any] = PostgresEngine.run

        def gone(self: PostgresEngine, program: Any) -> Any:
            running.control("stop", "-m", "immediate")
            return run(self, program)

        with session(source, tmp_path / "ledger.db") as asked:
            monkeypatch.setattr(PostgresEngine, "run", gone)
            try:
                halted(asked, tmp_path / "ledger.db")
            finally:
                running.start()


def test_a_server_that_goes_away_while_it_reads_halts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with server() as running:
        staffed(running)
        table, view = filled(running, KINDS, ROWS), fresh("v")
        running.run(
            f"CREATE VIEW public.{view} AS SELECT v.* FROM {table} v, "
            "LATERAL (SELECT pg_sleep(5) IS NULL OR v.cost > 0) s",
            f"GRANT SELECT ON public.{view} TO reader",
        )

        def killed() -> None:
            time.sleep(1.0)
            running.run("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'reader'")

        with session(read(running, f"public.{view}"), tmp_path / "ledger.db") as asked:
            thread = threading.Thread(target=killed)
            run: Callable[..., Any] = PostgresEngine.run

            def started(self: PostgresEngine, program: Any) -> Any:
                thread.start()
                return run(self, program)

            monkeypatch.setattr(PostgresEngine, "run", started)
            halted(asked, tmp_path / "ledger.db")
            thread.join()


def test_a_full_disk_halts_and_says_nothing_of_rows(reading: Server, tmp_path: Path) -> None:
    role = fresh("r")
    table = filled(reading, KINDS, [(i, "north", float(i), CANARY) for i in range(60_000)])
    reading.run(
        f"CREATE ROLE {role} LOGIN",
        f"GRANT SELECT ON {table} TO {role}",
        f"ALTER ROLE {role} SET temp_file_limit = '256kB'",
        f"ALTER ROLE {role} SET work_mem = '64kB'",
    )
    with session(read(reading, table, role), tmp_path / "ledger.db") as asked:
        halted(asked, tmp_path / "ledger.db")
    assert "temporary file size exceeds" in reading.log


@pytest.fixture
def told(caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]) -> Callable[[], str]:
    """Everything that was logged and printed so far."""
    caplog.set_level(logging.DEBUG)

    def text() -> str:
        found = capfd.readouterr()
        return caplog.text + found.out + found.err

    return text


def test_a_canary_appears_nowhere(
    reading: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, told: Callable[[], str]
) -> None:
    table = filled(reading, KINDS, ROWS)
    source = read(reading, table)
    shown = [repr(source)]
    with session(source, tmp_path / "ledger.db") as asked:
        shown += [repr(asked), repr(asked.sql(QUESTION, spend="1/4")), repr(asked.check())]
        # A statement that raises with the value in the database's own message.
        execute: Callable[..., Any] = PostgresEngine._execute

        def raising(self: PostgresEngine, sql: str, parameters: Any) -> Any:
            if "made" in sql or "EXPLAIN" in sql:
                return execute(self, sql, parameters)
            return execute(self, f"SELECT CAST(note AS integer) FROM {table}", {})

        monkeypatch.setattr(PostgresEngine, "_execute", raising)
        with pytest.raises(HaltedError) as caught:
            asked.sql("SELECT COUNT(*) AS n FROM visits", spend="1/4")
        error: BaseException | None = caught.value
        while error is not None:
            shown.append(repr(error) + str(error.args))
            error = error.__cause__ or error.__context__
    shown.append((tmp_path / "ledger.db").read_bytes().decode("latin-1"))
    assert CANARY in reading.log, "the database itself logs it, as the guide says"
    assert CANARY not in "".join(shown) + told()


def test_a_question_that_the_engine_cannot_compute_is_refused(
    reading: Server, visits: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(self: object, x: Any) -> Any:  # noqa: ARG001
        return exp.Anonymous(this="NO_SUCH_FUNCTION", expressions=[x.sql])

    execute: Callable[..., Any] = PostgresEngine._execute
    monkeypatch.setattr(PostgresDialect, "total", broken)
    monkeypatch.setattr(
        PostgresEngine, "_execute", lambda self, sql, given: None if "EXPLAIN" in sql else execute(self, sql, given)
    )
    with session(read(reading, visits), tmp_path / "ledger.db") as asked:
        with pytest.raises(RefusalError, match="it failed on made-up rows"):
            asked.sql("SELECT COUNT(*) AS n FROM visits", spend="1/4")
        assert asked.remaining == 1


def test_tables_of_two_databases_or_engines_are_refused(reading: Server, visits: str, tmp_path: Path) -> None:
    frame = qx.Table(pd.DataFrame(ROWS, columns=list(KINDS)), limits={"rows": 2})
    elsewhere = qx.Table(qx.Postgres(reading.address("reader", connect_timeout="9"), table=visits), limits={"rows": 2})
    for number, (given, says) in enumerate(
        (
            ({"tables": {"other": frame}}, "read by different engines"),
            ({"tables": {"other": elsewhere}}, "are in different databases"),
            ({"snapshot": True}, "tables of a database are not kept"),
        )
    ):
        asked = session(read(reading, visits), tmp_path / f"{number}.db", **given)
        with asked, pytest.raises(DataError, match=says):
            asked.sql(QUESTION, spend="1/4")


def test_a_table_is_read_as_a_view_and_in_partitions_alike(reading: Server, visits: str) -> None:
    view, parts = fresh("v"), fresh("p")
    reading.run(
        f"CREATE VIEW public.{view} AS SELECT * FROM {visits}",
        f"CREATE TABLE public.{parts} (LIKE {visits}) PARTITION BY LIST (region)",
        f"CREATE TABLE public.{parts}_n PARTITION OF public.{parts} FOR VALUES IN ('north')",
        f"CREATE TABLE public.{parts}_r PARTITION OF public.{parts} DEFAULT",
        f"INSERT INTO public.{parts} SELECT * FROM {visits}",
        f"GRANT SELECT ON public.{view}, public.{parts} TO reader",
    )
    answers = []
    for table in (visits, f"public.{view}", f"public.{parts}"):
        with session(read(reading, table), ":memory:") as asked:
            answers.append(asked._connect().run(asked._dataset.program(QUESTION)))
    assert equal(answers[0], answers[1])
    assert equal(answers[0], answers[2])


def test_a_view_is_taken_for_what_it_gives(reading: Server, visits: str, tmp_path: Path) -> None:
    """Rows that depend on those of others are nobody's alone, which we cannot see; a view that fails, fails."""
    ranked, failing = fresh("v"), fresh("v")
    reading.run(
        f"CREATE VIEW public.{ranked} AS SELECT * FROM {visits} ORDER BY person DESC LIMIT 1",
        f"CREATE VIEW public.{failing} AS SELECT person, region, 1 / (person - 2) AS cost, note FROM {visits}",
        f"GRANT SELECT ON public.{ranked}, public.{failing} TO reader",
    )
    counts = []
    for change in ("SELECT 1", f"DELETE FROM {visits} WHERE person = 3"):
        reading.run(change)
        with session(read(reading, f"public.{ranked}"), ":memory:") as asked:
            program = asked._dataset.program("SELECT COUNT(*) AS n FROM visits WHERE person = 2")
            counts.append(int(asked._connect().run(program).measures[0][0]))
    # Without person 3 another one's row is there.
    assert counts[0] == 0 < counts[1]
    with session(read(reading, f"public.{failing}"), tmp_path / "ledger.db") as asked:
        halted(asked, tmp_path / "ledger.db")


def test_an_interrupted_question_is_no_failure(reading: Server, visits: str, tmp_path: Path) -> None:
    with session(read(reading, visits), tmp_path / "ledger.db") as asked:
        engine = asked._connect()
        assert isinstance(engine, PostgresEngine)

        def interrupted(*_: object) -> Any:
            raise KeyboardInterrupt

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(PostgresEngine, "_execute", interrupted)
            with pytest.raises(KeyboardInterrupt):
                engine.run(asked._dataset.program(QUESTION))
        assert asked.sql(QUESTION, spend="1/4").spent == Fraction(1, 4)


def test_a_bad_limit_of_the_reader_is_no_address() -> None:
    with pytest.raises(ParameterError, match="set by Quincunx"):
        qx.Postgres("postgresql://reader@127.0.0.1/postgres?application_name=x", table="t")
