"""The database: one row is locked before the first look, so that transactions that spend happen one after another.

Connections are taken from a pool, one for each transaction at a time, and never cross a fork. See postgres.md.
"""

from __future__ import annotations

import os
import weakref
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, Final

from quincunx.errors import UnavailableError
from quincunx.ledger.postgres.place import Place, located
from quincunx.ledger.postgres.schema import APPLICATION, VERSION
from quincunx.ledger.postgres.transaction import PostgresTransaction, differences

if TYPE_CHECKING:
    from psycopg import Connection, Error

_REPEAT: Final = "A retry costs nothing more."
# SQLSTATE → what it is and what to do. Messages of the database are not passed on: they may hold values.
_REASONS: Final = {
    "55P03": ("another process holds the ledger's lock", "Try again; nothing was spent by this call."),
    "53100": ("the database's disk is full", f"Make room and try again. {_REPEAT}"),
    "53200": ("the database has no memory left", f"Try again. {_REPEAT}"),
    "53300": ("the database takes no more connections", f"Try again. {_REPEAT}"),
    "42501": ("this role may not do that", "A teller is made by `quincunx ledger create ADDRESS --teller ROLE`."),
    "25006": ("the database is read-only", "Name the primary server."),
    "42P01": ("there is no ledger here", "The owner makes one: `quincunx ledger create ADDRESS --teller ROLE`."),
    "3F000": ("there is no ledger here", "The owner makes one: `quincunx ledger create ADDRESS --teller ROLE`."),
    "XX001": ("the ledger's tables are damaged", "Restore a copy and verify it with the last printed head."),
    "XX002": ("the ledger's tables are damaged", "Restore a copy and verify it with the last printed head."),
}
_LOST: Final = ("the database cannot be reached", f"Try again when it answers. {_REPEAT}")
_OTHER: Final = ("the database refused this", "`quincunx ledger verify` may say why.")
# Values that do not come back from a power cut would give budget back.
_SAFE: Final = {
    "fsync": ("on",),
    "full_page_writes": ("on",),
    "synchronous_commit": ("on", "remote_write", "remote_apply"),
    "server_encoding": ("UTF8",),
}
# Connections that a fork copied: closing them is their parent's business.
_INHERITED: Final[list[Any]] = []


class Postgres:
    """A ledger's place in a database. `path` is its address as it is printed."""

    memory = False

    def __init__(self, address: str, *, wait: float) -> None:
        self._place = located(address)
        self.path = self._place.shown
        self._wait = wait
        self._process = [os.getpid()]
        self._idle: list[Connection[Any]] = []
        # A ledger that nobody holds any more has nothing open. Not by __del__, which comes after the connections' own.
        weakref.finalize(self, _close, self._idle, self._process)
        self._closed = False
        with translated(self.path):
            connection, self.ledger = self._connected()
            self._idle.append(connection)

    @contextmanager
    def writing(self) -> Iterator[PostgresTransaction]:
        """One transaction that holds the gate's row from before its first look; all of it is durable, or none."""
        # After the lock every statement sees all that was committed before: READ COMMITTED, nobody else writes.
        milliseconds = max(1, int(self._wait * 1000))
        begin = "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE"
        lock = f"SET LOCAL lock_timeout = {milliseconds}; SELECT one FROM gate FOR UPDATE"
        with self._transaction(f"{begin}; {lock}", rows=1) as transaction:
            yield transaction

    @contextmanager
    def reading(self) -> Iterator[PostgresTransaction]:
        """One transaction that sees one state; it waits for nobody."""
        with self._transaction("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY") as transaction:
            yield transaction

    def close(self) -> None:
        """Close the connections of this process."""
        self._closed = True
        _close(self._idle, self._process)

    @contextmanager
    def _transaction(self, begin: str, *, rows: int = 0) -> Iterator[PostgresTransaction]:
        """rows: how many the last statement of `begin` gives, of a ledger that is whole."""
        with translated(self.path):
            connection, found = self._begun(begin)
            try:
                if found != rows:
                    # Nothing was locked, and others may spend at the same time.
                    hint = "Restore a copy and verify it with the last printed head."
                    raise UnavailableError("the gate of the ledger is gone", where=self.path, hint=hint)
                yield PostgresTransaction(connection, self._place.schema, self.ledger)
                if connection.execute("COMMIT").statusmessage != "COMMIT":
                    # A transaction in which something failed is rolled back without another word.
                    hint = f"Try again. {_REPEAT}"
                    raise UnavailableError("the database rolled this back", where=self.path, hint=hint)
            except BaseException:
                from psycopg import Error

                with suppress(Error):
                    connection.execute("ROLLBACK")
                self._give_back(connection)
                raise
            self._give_back(connection)

    def _begun(self, begin: str) -> tuple[Connection[Any], int]:
        """A connection on which the transaction has begun, and how many rows the last of its statements gave.

        A connection that was lost while it lay idle is replaced.
        """
        from psycopg import OperationalError

        if self._process != [os.getpid()]:
            _INHERITED.extend(self._idle)
            self._idle.clear()
            self._process[:] = [os.getpid()]
        if self._closed:
            raise UnavailableError("the ledger is closed", where=self.path, hint="Open it again.")
        while True:
            try:
                connection, idle = self._idle.pop(), True
            except IndexError:
                connection, idle = self._opened(), False
            try:
                cursor = connection.execute(begin.encode())
                while cursor.nextset():
                    pass
            except BaseException as error:
                lost = connection.broken or connection.closed
                with suppress(Exception):
                    connection.execute("ROLLBACK")
                self._give_back(connection)
                # Nothing had begun on it, so that nothing is repeated.
                if not (idle and lost and isinstance(error, OperationalError)):
                    raise
            else:
                return connection, max(0, cursor.rowcount)

    def _opened(self) -> Connection[Any]:
        connection, ledger = self._connected()
        if ledger != self.ledger:
            connection.close()
            hint = "Open the ledger again, and verify it with the last printed head."
            raise UnavailableError("the ledger was replaced while it was open", where=self.path, hint=hint)
        return connection

    def _give_back(self, connection: Connection[Any]) -> None:
        from psycopg.pq import TransactionStatus

        if self._closed or connection.closed or connection.info.transaction_status is not TransactionStatus.IDLE:
            connection.close()
        else:
            self._idle.append(connection)

    def _connected(self) -> tuple[Connection[Any], str]:
        connection = connect(self._place, self._wait)
        try:
            return connection, checked(connection, self._place)
        except BaseException:
            connection.close()
            raise


def _close(idle: list[Connection[Any]], process: list[int]) -> None:
    """Close the connections of this process; what a fork copied stays its parent's."""
    while process == [os.getpid()] and idle:
        idle.pop().close()


def connect(place: Place, wait: float) -> Connection[Any]:
    """A connection in autocommit with the settings that a ledger needs. Encrypted, or on this machine."""
    import psycopg

    from quincunx.data import check_encrypted

    given = {"connect_timeout": max(2, int(min(wait, 30))), **place.parts}
    # A role that a session begins with would hide who it is.
    ours = {
        "search_path": f"{place.schema},pg_temp",
        "client_min_messages": "error",
        "standard_conforming_strings": "on",
        "role": "none",
    }
    connection = psycopg.connect(
        **given,
        options=" ".join(f"-c {name}={value}" for name, value in ours.items()),
        client_encoding="utf8",
        target_session_attrs="read-write",
        application_name="quincunx ledger",
        autocommit=True,
        prepare_threshold=1,
    )
    try:
        info = connection.info
        mode = info.get_parameters().get("sslmode", "")
        check_encrypted(info.host or "", info.hostaddr or "", bool(connection.pgconn.ssl_in_use), mode, "a ledger")
    except BaseException:
        connection.close()
        raise
    return connection


def checked(connection: Connection[Any], place: Place) -> str:
    """Which ledger it is. Refused where a spend might be lost, or where a role could change what was written."""
    for name, safe in _SAFE.items():
        found = connection.execute(f"SHOW {name}".encode()).fetchone()
        if found is None or found[0] not in safe:
            hint = f"It must be {' or '.join(safe)}."
            raise UnavailableError(f"the database has an unsafe {name}", where=place.shown, hint=hint)
        if name == "synchronous_commit":
            # From now on it is the session's own, whatever the server's becomes.
            connection.execute(f"SET synchronous_commit = {found[0]}".encode())
    row = connection.execute("SELECT version, application, ledger FROM format").fetchone()
    if row is None or row[1] != APPLICATION:
        raise UnavailableError("the tables are not those of a ledger", where=place.shown, hint=_REASONS["42P01"][1])
    if row[0] != VERSION:
        hint = "Update Quincunx, or let the owner run `quincunx ledger migrate ADDRESS`."
        raise UnavailableError("this ledger has another format", where=place.shown, got=f"format {row[0]}", hint=hint)
    wrong = differences(connection, place.schema)
    if wrong:
        hint = "Restore a copy and verify it with the last printed head."
        what = "the tables are not as a ledger's were made"
        raise UnavailableError(what, where=place.shown, got="; ".join(wrong[:5]), hint=hint)
    _check_role(connection, place)
    return str(row[2])


# Whether a role, or one that it could take on, could change what was recorded: itself, or by what it could make of
# itself. The owner of the schema can drop its tables. Everybody who spends may lock the gate, which is a right to
# change its one column; its trigger lets nobody do that.
_MIGHTY: Final = """
WITH mine AS (SELECT oid, rolname, rolsuper, rolcreaterole FROM pg_roles WHERE pg_has_role(oid, 'MEMBER')),
ours AS (SELECT c.oid, c.relname, c.relowner FROM pg_class c
  WHERE c.relnamespace = %(schema)s::regnamespace AND c.relkind = 'r')
SELECT EXISTS (SELECT FROM mine WHERE rolsuper OR rolcreaterole
    OR rolname IN ('pg_write_server_files', 'pg_execute_server_program'))
  OR (SELECT pg_has_role(nspowner, 'MEMBER') FROM pg_namespace WHERE oid = %(schema)s::regnamespace)
  OR EXISTS (SELECT FROM ours o, mine m WHERE pg_has_role(o.relowner, 'MEMBER')
    OR has_table_privilege(m.oid, o.oid, 'UPDATE, DELETE, TRUNCATE, TRIGGER')
    OR (o.relname <> 'gate' AND has_any_column_privilege(m.oid, o.oid, 'UPDATE')))
"""


def _check_role(connection: Connection[Any], place: Place) -> None:
    row = connection.execute(_MIGHTY, {"schema": place.schema}).fetchone()
    if row is None or row[0] is not False:
        hint = "Spend as a teller: `quincunx ledger create ADDRESS --teller ROLE` gives a role what it needs."
        what = "this role could change what was recorded"
        raise UnavailableError(what, where=place.shown, hint=hint)


@contextmanager
def translated(path: str) -> Iterator[None]:
    """Errors of the database in our words; its messages may hold values, so only the code is shown."""
    from psycopg import Error

    try:
        yield
    except Error as error:
        raise reason(error, path) from None


def reason(error: Error, path: str) -> UnavailableError:
    """What an error of the database means."""
    from psycopg import OperationalError

    lost = isinstance(error, OperationalError) and error.sqlstate is None
    what, hint = _REASONS.get(
        error.sqlstate or "", _LOST if lost or (error.sqlstate or "")[:2] in ("08", "57") else _OTHER
    )
    return UnavailableError(what, where=path, got=error.sqlstate or type(error).__name__, hint=hint)
