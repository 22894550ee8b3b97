"""The file: SQLite in write-ahead mode, synced at every commit, one writer at a time.

Connections are taken from a pool, one for each transaction at a time, and never cross a fork.
"""

from __future__ import annotations

import os
import random
import secrets
import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from typing import Final
from urllib.parse import quote

from quincunx.errors import PrivacyError, UnavailableError, cause
from quincunx.ledger.record import FORMAT
from quincunx.ledger.sqlite.place import MEMORY, check_file, located
from quincunx.ledger.sqlite.schema import APPLICATION, TABLES
from quincunx.ledger.sqlite.transaction import SQLiteTransaction, transaction

_SETTINGS: Final = (
    "PRAGMA synchronous = FULL",
    "PRAGMA fullfsync = ON",
    "PRAGMA checkpoint_fullfsync = ON",
    "PRAGMA trusted_schema = OFF",
    # SQLite's own waiting backs off to a tenth of a second and starves a crowd; `_begun` waits instead.
    "PRAGMA busy_timeout = 5",
)
_REASONS: Final = {
    sqlite3.SQLITE_BUSY: ("another process holds the ledger's lock", "Try again; nothing was spent by this call."),
    sqlite3.SQLITE_LOCKED: ("another connection holds the ledger's lock", "Try again; nothing was spent by this call."),
    sqlite3.SQLITE_FULL: ("the disk is full", "Make room and try again; a retry costs nothing more."),
    sqlite3.SQLITE_READONLY: ("the ledger cannot be written", "Check who may write the file and its folder."),
    sqlite3.SQLITE_PERM: ("the ledger cannot be opened", "Check who may read and write the file and its folder."),
    sqlite3.SQLITE_CANTOPEN: ("the ledger cannot be opened", "Check who may read and write the file and its folder."),
    sqlite3.SQLITE_IOERR: ("the disk failed", "Try again when it works; a retry costs nothing more."),
    sqlite3.SQLITE_NOTADB: ("this file is not a ledger", "Correct the path; a ledger is made by its first use."),
    sqlite3.SQLITE_CORRUPT: (
        "the ledger's file is damaged",
        "Restore a copy and verify it with the last printed head.",
    ),
}
# The longest pause between two attempts to get the lock, in seconds.
_STEP: Final = 0.004
# Connections that a fork copied: SQLite forbids the child to use them, and closing them is its parent's business.
_INHERITED: Final[list[sqlite3.Connection]] = []


class SQLite:
    """A ledger's file, or memory. `path` is absolute, or ":memory:"."""

    def __init__(self, path: object, *, create: bool, wait: float) -> None:
        self.path = located(path)
        self.memory = self.path == MEMORY
        self._wait = wait
        self._process = os.getpid()
        self._idle: list[sqlite3.Connection] = []
        self._closed = False
        self._gate: AbstractContextManager[object] = threading.Lock() if self.memory else nullcontext()
        self._file = (0, 0)
        if self.memory:
            self._idle.append(self._in_memory())
        else:
            if not os.path.exists(self.path):
                self._create(create)
            self._file = check_file(self.path)
            with _translated(self.path):
                self._idle.append(self._connected())

    @contextmanager
    def writing(self) -> Iterator[SQLiteTransaction]:
        """One transaction that holds the only write lock from its beginning; all of it is durable, or none."""
        with self._transaction("BEGIN IMMEDIATE") as transaction:
            yield transaction

    @contextmanager
    def reading(self) -> Iterator[SQLiteTransaction]:
        """One transaction that sees one state; it waits for nobody."""
        with self._transaction("BEGIN") as transaction:
            yield transaction

    def close(self) -> None:
        """Close the connections of this process. A ledger in memory is forgotten."""
        self._closed = True
        if self._process == os.getpid():
            while self._idle:
                self._idle.pop().close()

    def __del__(self) -> None:
        # A ledger that nobody holds any more has nothing open; what a fork copied stays its parent's.
        if getattr(self, "_idle", None):
            self.close()

    @contextmanager
    def _transaction(self, begin: str) -> Iterator[SQLiteTransaction]:
        self._after_fork()
        with self._gate, _translated(self.path):
            connection = self._taken()
            try:
                yield transaction(connection, self._begun(connection, begin))
                connection.execute("COMMIT")
            except BaseException:
                with suppress(sqlite3.Error):
                    if connection.in_transaction:
                        connection.execute("ROLLBACK")
                self._give_back(connection)
                raise
            self._give_back(connection)

    def _begun(self, connection: sqlite3.Connection, begin: str) -> int:
        """Begin, or wait for whoever holds the lock: a bounded time, in short steps of random length; the format."""
        until = time.monotonic() + self._wait
        while True:
            try:
                connection.execute(begin)
                # The first look takes the snapshot, so that waiting is over when it succeeds. It is at the format,
                # which a newer version may have changed since this connection was made.
                return _format_of(connection, self.path)
            except sqlite3.OperationalError as error:
                if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() >= until:
                    raise
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                time.sleep(random.uniform(0, _STEP))

    def _after_fork(self) -> None:
        if self._process == os.getpid():
            return
        if self.memory:
            # The child holds a copy; the parent would not see what it spends.
            hint = "Use a file for several processes."
            raise PrivacyError("a ledger in memory belongs to the process that made it", where="ledger", hint=hint)
        _INHERITED.extend(self._idle)
        self._idle, self._process = [], os.getpid()

    def _taken(self) -> sqlite3.Connection:
        if self._closed:
            raise UnavailableError("the ledger is closed", where=self.path, hint="Open it again.")
        if not self.memory and check_file(self.path) != self._file:
            # Connections would go on writing to a file that nobody else sees.
            hint = "Open the ledger again, and verify it with the last printed head."
            raise UnavailableError("the ledger's file was replaced while it was open", where=self.path, hint=hint)
        try:
            return self._idle.pop()
        except IndexError:
            return self._connected()

    def _give_back(self, connection: sqlite3.Connection) -> None:
        if self._closed or connection.in_transaction:
            connection.close()
        else:
            self._idle.append(connection)

    def _in_memory(self) -> sqlite3.Connection:
        connection = sqlite3.connect(MEMORY, isolation_level=None, check_same_thread=False)
        _fill(connection)
        return connection

    def _connected(self) -> sqlite3.Connection:
        connection = connect(self.path, self._wait)
        try:
            _check_format(connection, self.path)
            for setting in _SETTINGS:
                connection.execute(setting)
            if connection.execute("PRAGMA journal_mode").fetchone() != ("wal",):
                connection.execute("PRAGMA journal_mode = WAL")
        except BaseException:
            connection.close()
            raise
        return connection

    def _create(self, allowed: bool) -> None:
        """Make the file under another name and give it its own when it is complete: it is never seen half made."""
        if not allowed:
            hint = "Correct the path; a ledger is made by its first use."
            raise UnavailableError("there is no ledger here", where=self.path, hint=hint)
        fresh = f"{self.path}.{secrets.token_hex(8)}.new"
        try:
            os.close(os.open(fresh, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
            with _translated(self.path):
                connection = connect(fresh, self._wait)
                _fill(connection)
                connection.execute("PRAGMA journal_mode = WAL")
                connection.close()
            with suppress(FileExistsError):
                os.link(fresh, self.path)
        except OSError as error:
            hint = "Check who may write the folder; the file system must allow hard links."
            got = cause(error)
            raise UnavailableError("the ledger cannot be made here", where=self.path, got=got, hint=hint) from None
        finally:
            for end in ("", "-wal", "-shm", "-journal"):
                with suppress(OSError):
                    os.unlink(fresh + end)
        _sync_folder(os.path.dirname(self.path))


def connect(path: str, wait: float) -> sqlite3.Connection:
    """A connection to an existing file, in autocommit; `wait` is how long it waits for a lock, in seconds."""
    address = f"file:{quote(path)}?mode=rw"
    return sqlite3.connect(address, timeout=wait, isolation_level=None, check_same_thread=False, uri=True)


def _format_of(connection: sqlite3.Connection, path: str) -> int:
    """The format of the file, inside a transaction; one that is not known is refused."""
    version: int = connection.execute("PRAGMA user_version").fetchone()[0]
    if version not in TABLES:
        got, hint = f"format {version}", f"This version of Quincunx reads formats up to {max(TABLES)}; update it."
        raise UnavailableError("this ledger has a format that is not known", where=path, got=got, hint=hint)
    return version


def _fill(connection: sqlite3.Connection) -> None:
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("BEGIN EXCLUSIVE")
    for statement in TABLES[FORMAT]:
        connection.execute(statement)
    connection.execute(f"PRAGMA application_id = {APPLICATION}")
    connection.execute(f"PRAGMA user_version = {FORMAT}")
    connection.execute("COMMIT")


def _check_format(connection: sqlite3.Connection, path: str) -> None:
    # One transaction: another process may change the format between two looks.
    connection.execute("BEGIN")
    try:
        application = connection.execute("PRAGMA application_id").fetchone()[0]
        if application != APPLICATION:
            hint = "Correct the path; a ledger is made by its first use."
            raise UnavailableError("this file is not a ledger", where=path, hint=hint)
        version = _format_of(connection, path)
        found = {sql for (sql,) in connection.execute("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL")}
    finally:
        connection.execute("ROLLBACK")
    if found != set(TABLES[version]):
        # A trigger or a view could change what is written.
        hint = "Restore a copy and verify it with the last printed head."
        raise UnavailableError("the tables of this file are not those of a ledger", where=path, hint=hint)


@contextmanager
def _translated(path: str) -> Iterator[None]:
    try:
        yield
    except sqlite3.Error as error:
        code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF
        what, hint = _REASONS.get(code, ("the ledger's file cannot be used", "`quincunx ledger verify` may say why."))
        got = getattr(error, "sqlite_errorname", cause(error))
        raise UnavailableError(what, where=path, got=got, hint=hint) from None


def _sync_folder(folder: str) -> None:
    # The new name must survive a power cut too; not every system can sync a folder.
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
