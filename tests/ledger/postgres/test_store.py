"""A ledger in a database: who may do what, what is refused at the door, and what is left when something breaks."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psycopg
import pytest

from quincunx.errors import ParameterError, UnavailableError, VerificationError
from quincunx.ledger import Ledger
from quincunx.ledger.postgres import create, migrate
from quincunx.ledger.postgres.schema import ADDED, TABLES
from tests.ledger.worlds import made, question, specification, staffed
from tests.postgres import Server, fresh, server

pytestmark = pytest.mark.ci


@contextmanager
def filled(running: Server) -> Iterator[tuple[Ledger, str]]:
    """A ledger with one answered question, and the name of its schema."""
    address = made(running)
    with Ledger.open(address) as ledger:
        ledger.register(dataset="visits", specification=specification())
        ledger.store(ledger.reserve(question("x")), b"canary 31415")
        yield ledger, address.rpartition("=")[2]


class TestRoles:
    @pytest.mark.parametrize("table", TABLES)
    @pytest.mark.parametrize(
        "statement",
        [
            "DELETE FROM {}",
            "TRUNCATE {}",
            "DROP TABLE {}",
            "ALTER TABLE {} DISABLE TRIGGER ALL",
            "UPDATE {} SET {} = {}",
        ],
    )
    def test_a_teller_changes_nothing(self, durable: Server, table: str, statement: str) -> None:
        with filled(durable) as (ledger, schema):
            column, name = TABLES[table][0][0][0], f"{schema}.{table}"
            text = statement.format(name, column, column)
            with psycopg.connect(durable.address("teller"), autocommit=True) as connection:
                with pytest.raises(psycopg.Error) as caught:
                    connection.execute(text.encode())
                # The gate may be locked by a teller, which needs the right; its trigger keeps it as it is.
                gate = table == "gate" and text.startswith("UPDATE")
                assert caught.value.sqlstate == ("P0001" if gate else "42501")
            assert ledger.verify() == ledger.head

    @pytest.mark.parametrize("table", ADDED)
    def test_not_even_the_owner_deletes_by_mistake(self, durable: Server, table: str) -> None:
        with filled(durable) as (_, schema):
            durable.run(f"INSERT INTO {schema}.halts VALUES (9, 'd', 'v')")
            durable.run(
                f"INSERT INTO {schema}.withheld VALUES ('k', 9)", f"INSERT INTO {schema}.charges VALUES ('k', 'a')"
            )
            durable.run(f"INSERT INTO {schema}.reopenings VALUES (9, 'd', 0)")
            for statement in (f"DELETE FROM {schema}.{table}", f"TRUNCATE {schema}.{table}"):
                with pytest.raises(psycopg.Error, match="a ledger only adds rows"):
                    durable.run(statement)

    @pytest.mark.parametrize("role", ["owner", "admin"])
    def test_who_could_change_records_may_not_spend(self, durable: Server, role: str) -> None:
        with filled(durable) as (_, schema), pytest.raises(UnavailableError, match="could change what was recorded"):
            Ledger.open(durable.address(role, schema=schema))

    @pytest.mark.parametrize(
        ("gains", "loses"),
        [
            ("ALTER ROLE {role} CREATEROLE", ""),
            ("GRANT owner TO {role}; ALTER ROLE {role} NOINHERIT", ""),
            ("GRANT pg_write_all_data TO {role}; ALTER ROLE {role} NOINHERIT", ""),
            ("GRANT pg_execute_server_program TO {role}", ""),
            ("GRANT UPDATE (spent) ON {schema}.totals TO {role}", ""),
            ("GRANT TRIGGER ON {schema}.records TO {role}", ""),
            ("GRANT DELETE ON {schema}.gate TO {role}", ""),
            ("ALTER SCHEMA {schema} OWNER TO {role}", "ALTER SCHEMA {schema} OWNER TO owner"),
            ("ALTER ROLE {role} SUPERUSER; GRANT teller TO {role}; ALTER ROLE {role} SET role = teller", ""),
        ],
    )
    def test_who_could_come_to_change_records_may_not_spend(self, durable: Server, gains: str, loses: str) -> None:
        role = fresh("role")
        with filled(durable) as (ledger, schema):
            durable.run(
                f"CREATE ROLE {role} LOGIN; GRANT USAGE ON SCHEMA {schema} TO {role}",
                f"GRANT SELECT ON ALL TABLES IN SCHEMA {schema} TO {role}",
            )
            Ledger.open(durable.address(role, schema=schema)).close()
            durable.run(gains.format(role=role, schema=schema))
            with pytest.raises(UnavailableError, match="could change what was recorded"):
                Ledger.open(durable.address(role, schema=schema))
            durable.run(*([loses.format(role=role, schema=schema)] if loses else []), f"ALTER ROLE {role} NOSUPERUSER")
            assert ledger.verify() == ledger.head

    def test_an_auditor_reads_and_verifies_and_does_not_spend(self, durable: Server) -> None:
        with filled(durable) as (ledger, schema), Ledger.open(durable.address("auditor", schema=schema)) as seen:
            assert seen.verify() == ledger.head
            assert seen.account("visits").total == ledger.account("visits").total
            with pytest.raises(UnavailableError, match="may not do that"):
                seen.reserve(question("y"))

    def test_a_role_without_grants_sees_no_ledger(self, durable: Server) -> None:
        role = fresh("role")
        durable.run(f"CREATE ROLE {role} LOGIN")
        with filled(durable) as (_, schema), pytest.raises(UnavailableError) as caught:
            Ledger.open(durable.address(role, schema=schema))
        assert "canary" not in str(caught.value)

    def test_a_table_of_the_same_name_does_not_come_first(self, durable: Server) -> None:
        """Temporary tables stand first in a search path that does not name them."""
        with filled(durable) as (ledger, _):
            with ledger._store.reading() as transaction:
                path = transaction.one("SHOW search_path")  # type: ignore[attr-defined]
            assert path[0].replace(" ", "").split(",")[-1] == "pg_temp"


class TestMaking:
    def test_a_ledger_is_made_once(self, durable: Server) -> None:
        address = durable.address("owner", schema=fresh())
        assert create(address).startswith("postgresql://127.0.0.1:")
        with pytest.raises(UnavailableError, match="the schema exists already"):
            create(address)

    def test_a_role_that_is_not_there_makes_nothing(self, durable: Server) -> None:
        schema = fresh()
        with pytest.raises(ParameterError, match="no such role"):
            create(durable.address("owner", schema=schema), tellers=["nobody; DROP SCHEMA public"])
        assert durable.run(f"SELECT 1 FROM pg_namespace WHERE nspname = '{schema}'") == []

    def test_a_teller_makes_no_ledger(self, durable: Server) -> None:
        with pytest.raises(UnavailableError, match="may not do that"):
            create(durable.address("teller", schema=fresh()))

    def test_there_is_no_ledger_until_it_is_made(self, durable: Server) -> None:
        with pytest.raises(UnavailableError, match="there is no ledger here"):
            Ledger.open(durable.address("teller", schema=fresh()))

    def test_there_is_nothing_to_migrate_yet(self, durable: Server) -> None:
        schema = fresh()
        create(durable.address("owner", schema=schema))
        assert migrate(durable.address("owner", schema=schema)) == (4, 4)
        with pytest.raises(UnavailableError, match="there is no ledger here"):
            migrate(durable.address("owner", schema=fresh()))

    def test_another_format_is_refused(self, durable: Server) -> None:
        with filled(durable) as (_, schema):
            durable.run(f"ALTER TABLE {schema}.format DISABLE TRIGGER ALL", f"UPDATE {schema}.format SET version = 5")
            with pytest.raises(UnavailableError, match="another format"):
                Ledger.open(durable.address("teller", schema=schema))
            with pytest.raises(UnavailableError, match="another format"):
                migrate(durable.address("owner", schema=schema))


class TestTampering:
    @pytest.mark.parametrize(
        "statement",
        [
            "ALTER TABLE {}.records DISABLE TRIGGER keep_rows",
            "DROP TRIGGER keep_table ON {}.totals",
            "CREATE TRIGGER more BEFORE INSERT ON {}.totals FOR EACH ROW EXECUTE FUNCTION {}.keep()",
            "CREATE RULE less AS ON INSERT TO {}.totals DO INSTEAD NOTHING",
            "ALTER TABLE {}.answers ADD COLUMN more text",
            "ALTER TABLE {}.answers ALTER COLUMN content DROP NOT NULL",
            "ALTER TABLE {}.totals ALTER COLUMN spent SET DEFAULT '0'",
            'ALTER TABLE {}.totals ALTER COLUMN holder TYPE text COLLATE "default"',
            "ALTER TABLE {}.totals DROP CONSTRAINT totals_pkey",
            "ALTER TABLE {}.records SET UNLOGGED",
            "ALTER TABLE {}.answers ENABLE ROW LEVEL SECURITY",
            "CREATE TABLE {}.child () INHERITS ({}.totals)",
            "CREATE VIEW {}.seen AS SELECT 1 AS one",
            "CREATE UNIQUE INDEX one ON {}.totals (holder)",
            "CREATE OR REPLACE FUNCTION {}.keep() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN RETURN NEW; END$$",
            "ALTER FUNCTION {}.keep() SECURITY DEFINER",
        ],
    )
    def test_tables_that_are_not_as_they_were_made_are_refused(self, durable: Server, statement: str) -> None:
        with filled(durable) as (ledger, schema):
            durable.run(statement.replace("{}", schema))
            with pytest.raises(UnavailableError, match="not as a ledger's were made"):
                Ledger.open(durable.address("teller", schema=schema))
            with pytest.raises(VerificationError, match="is not as it was made"):
                ledger.verify()

    def test_without_the_row_that_is_locked_nobody_spends(self, durable: Server) -> None:
        """Where there is no row nothing waits: two could spend at the same time."""
        with filled(durable) as (ledger, schema):
            durable.run(
                f"ALTER TABLE {schema}.gate DISABLE TRIGGER ALL",
                f"DELETE FROM {schema}.gate",
                f"ALTER TABLE {schema}.gate ENABLE TRIGGER ALL",
            )
            for _ in range(2):
                with pytest.raises(UnavailableError, match="the gate of the ledger is gone"):
                    ledger.reserve(question("y"))
            assert ledger.account("visits").questions == 1
            with pytest.raises(VerificationError, match="the row gate 1 is not as it was made"):
                ledger.verify()
            with pytest.raises(UnavailableError, match="not as a ledger's were made"):
                Ledger.open(durable.address("teller", schema=schema))

    @pytest.mark.parametrize(
        ("table", "change"),
        [
            ("totals", "spent = '0'"),
            ("records", "body = replace(body, '1/10', '1/20')"),
            ("answers", "content = 'other'"),
            ("datasets", "registration = replace(registration, '\"1\"', '\"2\"')"),
        ],
    )
    def test_rows_that_an_owner_changed_are_found(self, durable: Server, table: str, change: str) -> None:
        with filled(durable) as (ledger, schema):
            head = ledger.verify()
            durable.run(
                f"ALTER TABLE {schema}.{table} DISABLE TRIGGER ALL",
                f"UPDATE {schema}.{table} SET {change}",
                f"ALTER TABLE {schema}.{table} ENABLE TRIGGER ALL",
            )
            with pytest.raises(VerificationError, match="not what was recorded"):
                ledger.verify(head)

    def test_a_ledger_that_was_made_anew_is_noticed(self, durable: Server) -> None:
        with filled(durable) as (ledger, schema):
            durable.run(f"DROP SCHEMA {schema} CASCADE")
            create(durable.address("owner", schema=schema), tellers=["teller"])
            durable.run("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'teller'")
            with pytest.raises(UnavailableError, match="was replaced while it was open"):
                ledger.reserve(question("y"))


def cut(ledger: Ledger, running: Server) -> None:
    """Write something, and lose the connection before it is durable."""
    with ledger._store.writing() as book:
        book.add_charge("key", "alice")
        running.run("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'teller'")


def swallowed(ledger: Ledger) -> None:
    """Write something, and go on after an error."""
    with ledger._store.writing() as book:
        book.add_charge("key", "alice")
        with suppress(psycopg.Error):
            book.run("SELECT 1 / 0")  # type: ignore[attr-defined]


def blocked(running: Server, count: int) -> None:
    """Wait until so many tellers wait for a lock."""
    waiting = "SELECT 1 FROM pg_stat_activity WHERE usename = 'teller' AND wait_event_type = 'Lock'"
    for _ in range(400):
        if len(running.run(waiting)) == count:
            return
        time.sleep(0.02)
    raise TimeoutError


class TestBreaking:
    def test_a_connection_that_was_lost_while_idle_is_replaced(self, durable: Server) -> None:
        with filled(durable) as (ledger, _):
            durable.run("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'teller'")
            assert ledger.reserve(question("y")).charged
            assert ledger.verify() == ledger.head

    def test_a_connection_that_is_lost_inside_a_transaction_leaves_nothing(self, durable: Server) -> None:
        with filled(durable) as (ledger, _):
            head = ledger.head
            with pytest.raises(UnavailableError, match="cannot be reached") as caught:
                cut(ledger, durable)
            assert "57P01" in str(caught.value)
            assert ledger.verify() == head

    def test_waiting_for_the_lock_ends(self, durable: Server) -> None:
        with filled(durable) as (ledger, schema):
            with Ledger.open(durable.address("teller", schema=schema), wait=0.2) as other, ledger._store.writing():
                with pytest.raises(UnavailableError, match="another process holds the ledger's lock"):
                    other.reserve(question("y"))
                # A reader waits for nobody.
                assert other.account("visits").questions == 1
            assert ledger.account("visits").questions == 1

    @pytest.mark.parametrize("isolation", ["repeatable read", "serializable"])
    def test_whoever_waited_sees_what_was_spent_meanwhile(self, durable: Server, isolation: str) -> None:
        """Whatever isolation a role's sessions begin with: a snapshot from before the lock would be an older state."""
        with filled(durable) as (ledger, schema):
            durable.run(f"ALTER ROLE teller SET default_transaction_isolation = '{isolation}'")
            charged: list[bool] = []
            try:
                with Ledger.open(durable.address("teller", schema=schema)) as other:
                    crowd = [
                        threading.Thread(target=lambda i=i: charged.append(bool(other.reserve(question(i)).charged)))  # type: ignore[misc]
                        for i in range(3)
                    ]
                    with ledger._store.writing():
                        for each in crowd:
                            each.start()
                        blocked(durable, len(crowd))
                    for each in crowd:
                        each.join()
            finally:
                durable.run("ALTER ROLE teller RESET default_transaction_isolation")
            assert charged == [True] * 3
            assert ledger.account("visits").total.spent * 10 == 4
            ledger.verify()

    def test_what_was_rolled_back_is_not_taken_for_done(self, durable: Server) -> None:
        """COMMIT after an error that somebody swallowed is a ROLLBACK, and no error."""
        with filled(durable) as (ledger, _):
            head = ledger.head
            with pytest.raises(UnavailableError, match="the database rolled this back"):
                swallowed(ledger)
            assert ledger.verify() == head
            assert ledger.reserve(question("y")).charged

    def test_a_reader_sees_one_state(self, durable: Server) -> None:
        with filled(durable) as (ledger, _), ledger.look() as view:
            head = view.head
            ledger.reserve(question("y"))
            assert view.head == head != ledger.head

    def test_threads_share_a_ledger(self, durable: Server) -> None:
        with filled(durable) as (ledger, _):
            threads = [
                threading.Thread(target=lambda i=i: ledger.store(ledger.reserve(question(i, "1/100")), b"n"))  # type: ignore[misc]
                for i in range(8)
            ]
            for each in threads:
                each.start()
            for each in threads:
                each.join()
            assert ledger.account("visits").answers == 9
            ledger.verify()

    def test_a_forked_child_gets_connections_of_its_own(self, durable: Server) -> None:
        with filled(durable) as (ledger, _):
            pid = os.fork()
            if pid == 0:
                code = 1
                try:
                    ledger.reserve(question("child"))
                    code = 0
                finally:
                    os._exit(code)
            assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
            # The parent's connection was neither used nor closed by the child.
            assert ledger.reserve(question("parent")).charged
            assert ledger.account("visits").questions == 3

    def test_a_closed_ledger_says_so(self, durable: Server) -> None:
        with filled(durable) as (ledger, _):
            ledger.close()
            with pytest.raises(UnavailableError, match="is closed"):
                ledger.reserve(question("y"))

    def test_no_canary_in_errors_or_in_the_log(self, durable: Server) -> None:
        """The answer's bytes stand in the table alone: not in an error, and not in the database's own log."""
        with filled(durable) as (ledger, schema):
            with pytest.raises(UnavailableError) as caught, ledger._store.writing() as book:
                book.add_answer(question("x").key, 9, b"canary 31415")
            assert "canary" not in str(caught.value)
            assert "23505" in str(caught.value)
            assert durable.run(f"SELECT COUNT(*) FROM {schema}.answers") == [(1,)]
        assert b"canary 31415".hex() not in durable.log
        assert "canary" not in durable.log


@pytest.mark.parametrize(
    ("setting", "value"),
    [("full_page_writes", "off"), ("synchronous_commit", "off"), ("synchronous_commit", "local")],
)
def test_a_database_that_may_lose_a_spend_is_refused(durable: Server, setting: str, value: str) -> None:
    address = made(durable)
    try:
        durable.run(f"ALTER SYSTEM SET {setting} = '{value}'", "SELECT pg_reload_conf()")
        wait_for(durable, setting, value)
        with pytest.raises(UnavailableError, match=f"unsafe {setting}"):
            Ledger.open(address)
    finally:
        durable.run(f"ALTER SYSTEM RESET {setting}", "SELECT pg_reload_conf()")
        wait_for(durable, setting, "on")


def wait_for(running: Server, setting: str, value: str) -> None:
    """A reload reaches new connections a moment later."""
    for _ in range(200):
        if running.run(f"SHOW {setting}") == [(value,)]:
            return
        time.sleep(0.05)
    raise TimeoutError


def test_a_server_that_does_not_sync_is_refused() -> None:
    with server(durable=False) as careless:
        address = made(staffed(careless))
        with pytest.raises(UnavailableError, match="unsafe fsync"):
            Ledger.open(address)


def test_a_server_that_goes_away_before_during_and_after() -> None:
    """Nothing is spent by a call that could not be finished, and a repetition is charged once."""
    with server(durable=True) as running, filled(staffed(running)) as (ledger, _):
        running.control("stop", "-m", "immediate")
        with pytest.raises(UnavailableError, match="cannot be reached"):
            ledger.reserve(question("y"))
        running.start()
        reservation = ledger.reserve(question("y"))
        assert reservation.charged
        running.control("stop", "-m", "immediate")
        with pytest.raises(UnavailableError, match="cannot be reached"):
            ledger.store(reservation, b"lost")
        running.start()
        again = ledger.reserve(question("y"))
        assert not again.charged
        assert ledger.store(again, b"kept").content == b"kept"
        assert ledger.account("visits").total.spent * 10 == 2
        ledger.verify(reservation.head)


def full(ledger: Ledger) -> None:
    """What is asked of a disk without room spends nothing, stores nothing and says why."""
    reservation = ledger.reserve(question("x"))
    with pytest.raises(UnavailableError, match="the database's disk is full"):
        ledger.store(reservation, os.urandom(3_000_000))
    with pytest.raises(UnavailableError, match="the database's disk is full"):
        ledger.reserve(question("y" * 300_000))


def test_a_full_disk_spends_nothing(durable: Server) -> None:
    """As the database says it; a disk that is really full follows, where one can be made."""
    with filled(durable) as (ledger, schema):
        head = ledger.head
        durable.run(
            f"CREATE FUNCTION {schema}.no() RETURNS trigger LANGUAGE plpgsql "
            "AS $$BEGIN RAISE EXCEPTION 'no room' USING ERRCODE = 'disk_full'; END$$",
            f"CREATE TRIGGER no BEFORE INSERT ON {schema}.totals FOR EACH STATEMENT EXECUTE FUNCTION {schema}.no()",
        )
        for _ in range(2):
            with pytest.raises(UnavailableError, match="the database's disk is full"):
                ledger.reserve(question("y"))
        durable.run(f"DROP FUNCTION {schema}.no CASCADE")
        assert ledger.verify() == head
        assert ledger.reserve(question("y")).charged
        assert ledger.account("visits").total.spent * 10 == 2


def test_a_disk_that_is_full() -> None:
    with tempfile.TemporaryDirectory(prefix="qx-disk-") as folder:
        # The server's user looks into it.
        disk = Path(folder)
        disk.chmod(0o755)
        mount = ["mount", "-t", "tmpfs", "-o", "size=90m,mode=1777", "tmpfs", folder]
        if shutil.which("mount") is None or subprocess.run(mount, capture_output=True).returncode:
            pytest.skip("a small disk cannot be made here: mount")
        try:
            with server(durable=True, parent=folder) as running, Ledger.open(made(staffed(running))) as ledger:
                ledger.register(dataset="visits", specification=specification())
                ledger.reserve(question("x"))
                filler = os.open(disk / "filler", os.O_CREAT | os.O_WRONLY)
                with suppress(OSError):
                    while os.write(filler, bytes(4096)):
                        pass
                os.close(filler)
                full(ledger)
                (disk / "filler").unlink()
                assert ledger.store(ledger.reserve(question("x")), b"42").content == b"42"
                assert ledger.account("visits").total.spent * 10 == 1
                ledger.verify()
        finally:
            subprocess.run(["umount", folder], check=True)
