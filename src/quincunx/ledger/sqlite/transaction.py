"""A transaction of a file. In files of formats 1 and 2 the newest row takes the place of the one before."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from typing import Any, Final

from quincunx.errors import UnavailableError
from quincunx.ledger.sqlite.schema import HALTING
from quincunx.ledger.statements import Statements
from quincunx.ledger.store import TableName

# What formats 1 and 2 keep of these, without the record that made it.
_NEWEST: Final = {
    "totals": "SELECT dataset, budget, holder, spent, delta FROM totals",
    "datasets": "SELECT name, registration FROM datasets",
    "halts": "SELECT seq, dataset, version, reopened, allowed FROM halts",
}


class SQLiteTransaction(Statements):
    """A transaction of a file of format 3. connection: the one that it runs on."""

    __slots__ = ("connection",)

    # A file is known by its name.
    ledger = ""

    def __init__(self, connection: sqlite3.Connection, version: int) -> None:
        super().__init__(version)
        self.connection = connection

    def run(self, statement: str, *values: object) -> Iterator[tuple[Any, ...]]:
        return self.connection.execute(statement, values)

    def require(self, wanted: int) -> None:
        """Make a file of format 3 one of format 4, inside the transaction that needs it."""
        if self.format < wanted:
            self.run(f"PRAGMA user_version = {wanted}")
            self.format = wanted

    def damages(self) -> list[str]:
        """What SQLite finds wrong with the file."""
        return [what for (what,) in self.run("PRAGMA integrity_check(5)") if what != "ok"]

    def damage(self, error: Exception) -> str | None:
        """The name of the error, if the file is damaged."""
        if isinstance(error, sqlite3.DatabaseError) and error.sqlite_errorcode & 0xFF == sqlite3.SQLITE_CORRUPT:
            return error.sqlite_errorname
        return None


class OlderTransaction(SQLiteTransaction):
    """A transaction of a file of format 1 or 2."""

    __slots__ = ()

    halted = _NEWEST["halts"]

    def require(self, wanted: int) -> None:
        """Make a file of format 1 one of format 2, inside the transaction that needs it."""
        if wanted > 2:
            hint = "Keep the file, and begin a new ledger with what remains of its budgets."
            raise UnavailableError("a ledger of this format cannot move", got=f"format {self.format}", hint=hint)
        if self.format < wanted:
            for statement in HALTING:
                self.run(statement)
            self.run("PRAGMA user_version = 2")
            self.format = 2

    def registration(self, dataset: str) -> str | None:
        row = self.one("SELECT registration FROM datasets WHERE name = ?", dataset)
        return None if row is None else row[0]

    def add_registration(self, dataset: str, seq: int, text: str) -> None:  # noqa: ARG002
        self.run("INSERT OR REPLACE INTO datasets VALUES (?, ?)", dataset, text)

    def total(self, dataset: str, budget: str, holder: str) -> tuple[str, str] | None:
        query = "SELECT spent, delta FROM totals WHERE dataset = ? AND budget = ? AND holder = ?"
        row: tuple[str, str] | None = self.one(query, dataset, budget, holder)
        return row

    def add_total(self, dataset: str, budget: str, holder: str, seq: int, spent: str, delta: str) -> None:  # noqa: ARG002
        self.run("INSERT OR REPLACE INTO totals VALUES (?, ?, ?, ?, ?)", dataset, budget, holder, spent, delta)

    def halts(self, dataset: str) -> list[tuple[int, str, int | None, int | None]]:
        return [] if self.format < 2 else super().halts(dataset)

    def add_halt(self, dataset: str, version: str, seq: int) -> None:
        self.require(2)
        self.run("INSERT INTO halts VALUES (?, ?, ?, NULL, NULL)", seq, dataset, version)
        self.withhold(dataset, seq)

    def add_reopening(self, dataset: str, seq: int, *, closed: bool) -> None:
        for column in ["reopened"] if closed else ["reopened", "allowed"]:
            self.run(f"UPDATE halts SET {column} = ? WHERE dataset = ? AND {column} IS NULL", seq, dataset)

    def withheld(self, key: str) -> bool:
        return self.format > 1 and super().withheld(key)

    def rows(self, table: TableName) -> Iterator[tuple[Any, ...]]:
        if table in ("halts", "withheld") and self.format < 2:
            return iter(())
        return self.run(_NEWEST[table]) if table in _NEWEST else super().rows(table)


def transaction(connection: sqlite3.Connection, version: int) -> SQLiteTransaction:
    """The transaction of a file in its format."""
    return (SQLiteTransaction if version > 2 else OlderTransaction)(connection, version)
