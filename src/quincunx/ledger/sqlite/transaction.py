"""A transaction in SQL. Format 3 only adds rows; in older files the newest row takes the place of the one before."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from typing import Any, Final

from quincunx.ledger.record import FORMAT
from quincunx.ledger.sqlite.schema import HALTING
from quincunx.ledger.store import Row, TableName

_RECORD: Final = "seq, time, kind, body, previous, hash"
_ROWS: Final = {
    "totals": "dataset, budget, holder, seq, spent, delta",
    "datasets": "name, seq, registration",
    "questions": "key, dataset, seq",
    "charges": "question, analyst",
    "answers": "question, seq, content",
    "withheld": "question, halt",
    "reopenings": "seq, dataset, closed",
}
# Of each holder one: the least, then the least above it. All rows would be as many as there were spends.
_HOLDERS: Final = (
    "WITH RECURSIVE one(holder) AS (SELECT MIN(holder) FROM totals WHERE dataset = :dataset AND budget = :budget "
    "UNION ALL SELECT (SELECT MIN(holder) FROM totals WHERE dataset = :dataset AND budget = :budget "
    "AND holder > one.holder) FROM one WHERE one.holder IS NOT NULL) SELECT holder FROM one WHERE holder IS NOT NULL"
)
_FIRST_OPENING: Final = "SELECT MIN(o.seq) FROM reopenings AS o WHERE o.dataset = h.dataset AND o.seq > h.seq"
_HALTS: Final = {
    2: "SELECT seq, dataset, version, reopened, allowed FROM halts",
    3: f"SELECT seq, dataset, version, ({_FIRST_OPENING}), ({_FIRST_OPENING} AND NOT o.closed) FROM halts AS h",
}


class SQLiteTransaction:
    """A transaction of a file in one of the formats. connection: the one that it runs on."""

    __slots__ = ("connection", "format")

    def __init__(self, connection: sqlite3.Connection, version: int) -> None:
        self.connection, self.format = connection, version

    def require(self, wanted: int) -> None:
        """Make a file of format 1 one of format 2, inside the transaction that needs it."""
        if self.format < wanted:
            for statement in HALTING:
                self.connection.execute(statement)
            self.connection.execute("PRAGMA user_version = 2")
            self.format = 2

    def last(self) -> tuple[int, str] | None:
        """(number, hash) of the last record."""
        row: tuple[int, str] | None = self._one("SELECT seq, hash FROM records ORDER BY seq DESC LIMIT 1")
        return row

    def append(self, row: Row) -> None:
        """Add a record."""
        self.connection.execute("INSERT INTO records VALUES (?, ?, ?, ?, ?, ?)", row)

    def records(self, first: int = 1) -> Iterator[tuple[Any, ...]]:
        """The records from number `first` on, in order."""
        if first <= 1:
            # A record below 1 is nobody's, and is to be found.
            return self.connection.execute(f"SELECT {_RECORD} FROM records ORDER BY seq")
        return self.connection.execute(f"SELECT {_RECORD} FROM records WHERE seq >= ? ORDER BY seq", (first,))

    def body(self, seq: int) -> str:
        """The body of a record."""
        return str(self.connection.execute("SELECT body FROM records WHERE seq = ?", (seq,)).fetchone()[0])

    def bodies(self, kind: str) -> Iterator[str]:
        """The bodies of all records of a kind, in order."""
        rows = self.connection.execute("SELECT body FROM records WHERE kind = ? ORDER BY seq", (kind,))
        return (body for (body,) in rows)

    def datasets(self) -> list[str]:
        """The registered names, sorted."""
        return sorted(name for (name,) in self.connection.execute("SELECT DISTINCT name FROM datasets"))

    def registration(self, dataset: str) -> str | None:
        """What is registered."""
        newest = " ORDER BY seq DESC LIMIT 1" if self.format > 2 else ""
        row = self._one(f"SELECT registration FROM datasets WHERE name = ?{newest}", dataset)
        return None if row is None else row[0]

    def add_registration(self, dataset: str, seq: int, text: str) -> None:
        """Register by record `seq`."""
        if self.format > 2:
            self.connection.execute("INSERT INTO datasets VALUES (?, ?, ?)", (dataset, seq, text))
        else:
            self.connection.execute("INSERT OR REPLACE INTO datasets VALUES (?, ?)", (dataset, text))

    def total(self, dataset: str, budget: str, holder: str) -> tuple[str, str] | None:
        """(spent, δ) of a holder; None where nothing was ever charged."""
        newest = " ORDER BY seq DESC LIMIT 1" if self.format > 2 else ""
        query = f"SELECT spent, delta FROM totals WHERE dataset = ? AND budget = ? AND holder = ?{newest}"
        row: tuple[str, str] | None = self._one(query, dataset, budget, holder)
        return row

    def add_total(self, dataset: str, budget: str, holder: str, seq: int, spent: str, delta: str) -> None:
        """The total of a holder after record `seq`."""
        if self.format > 2:
            row = (dataset, budget, holder, seq, spent, delta)
            self.connection.execute("INSERT INTO totals VALUES (?, ?, ?, ?, ?, ?)", row)
        else:
            kept = (dataset, budget, holder, spent, delta)
            self.connection.execute("INSERT OR REPLACE INTO totals VALUES (?, ?, ?, ?, ?)", kept)

    def holders(self, dataset: str, budget: str) -> list[str]:
        """Whose totals of one budget are kept, sorted."""
        rows = self.connection.execute(_HOLDERS, {"dataset": dataset, "budget": budget})
        return sorted(holder for (holder,) in rows)

    def question(self, key: str) -> int | None:
        """The record that reserved the question."""
        row = self._one("SELECT seq FROM questions WHERE key = ?", key)
        return None if row is None else row[0]

    def add_question(self, key: str, dataset: str, seq: int) -> None:
        """Remember who reserved it. A second one would break the table's primary key."""
        self.connection.execute("INSERT INTO questions VALUES (?, ?, ?)", (key, dataset, seq))

    def charged(self, key: str, analyst: str) -> bool:
        """Whether the analyst was charged for the question."""
        return self._one("SELECT 1 FROM charges WHERE question = ? AND analyst = ?", key, analyst) is not None

    def add_charge(self, key: str, analyst: str) -> None:
        """Remember that they were. A second one would break the table's primary key."""
        self.connection.execute("INSERT INTO charges VALUES (?, ?)", (key, analyst))

    def answer(self, key: str) -> tuple[int, bytes] | None:
        """(record, content) of the stored answer."""
        row = self._one("SELECT seq, content FROM answers WHERE question = ?", key)
        return None if row is None else (row[0], bytes(row[1]))

    def add_answer(self, key: str, seq: int, content: bytes) -> None:
        """Keep the answer. A second one would break the table's primary key."""
        self.connection.execute("INSERT INTO answers VALUES (?, ?, ?)", (key, seq, content))

    def counts(self, dataset: str, after: int = 0, before: int | None = None) -> tuple[int, int]:
        """(questions reserved, answers to them), by records between the two."""
        query = (
            "SELECT COUNT(*), COUNT(answers.question) FROM questions LEFT JOIN answers ON question = key "
            "WHERE questions.dataset = ? AND questions.seq > ? AND questions.seq < ?"
        )
        reserved, answered = self.connection.execute(query, (dataset, after, before or 1 << 62)).fetchone()
        return reserved, answered

    def halts(self, dataset: str) -> list[tuple[int, str, int | None, int | None]]:
        """(record, version, reopened by, version allowed again by) of each halt, in order."""
        if self.format < 2:
            return []
        rows = self.connection.execute(f"{_HALTS[self.format]} WHERE dataset = ? ORDER BY seq", (dataset,))
        return [(seq, version, reopened, allowed) for seq, _, version, reopened, allowed in rows]

    def add_halt(self, dataset: str, version: str, seq: int) -> None:
        """Halt by record `seq`, and withhold every question that has no answer."""
        self.require(2)
        more = ", NULL, NULL" if self.format == 2 else ""
        self.connection.execute(f"INSERT INTO halts VALUES (?, ?, ?{more})", (seq, dataset, version))
        self.connection.execute(
            "INSERT INTO withheld SELECT key, ? FROM questions WHERE dataset = ? "
            "AND key NOT IN (SELECT question FROM answers) AND key NOT IN (SELECT question FROM withheld)",
            (seq, dataset),
        )

    def add_reopening(self, dataset: str, seq: int, *, closed: bool) -> None:
        """Reopen by record `seq`; versions that were halted on stay closed, or not."""
        if self.format > 2:
            self.connection.execute("INSERT INTO reopenings VALUES (?, ?, ?)", (seq, dataset, closed))
            return
        for column in ["reopened"] if closed else ["reopened", "allowed"]:
            update = f"UPDATE halts SET {column} = ? WHERE dataset = ? AND {column} IS NULL"
            self.connection.execute(update, (seq, dataset))

    def withheld(self, key: str) -> bool:
        """Whether the question was open at a halt."""
        return self.format > 1 and self._one("SELECT 1 FROM withheld WHERE question = ?", key) is not None

    def withheld_by(self, seq: int) -> int:
        """How many questions the halt of record `seq` withheld."""
        return int(self.connection.execute("SELECT COUNT(*) FROM withheld WHERE halt = ?", (seq,)).fetchone()[0])

    def rows(self, table: TableName) -> Iterator[tuple[Any, ...]]:
        """Everything that a table holds, for `verify`."""
        if table in ("halts", "withheld") and self.format < 2:
            return iter(())
        if table == "halts":
            return self.connection.execute(_HALTS[self.format])
        columns = _ROWS[table]
        if self.format < FORMAT and table in ("totals", "datasets"):
            columns = columns.replace("seq, ", "")
        return self.connection.execute(f"SELECT {columns} FROM {table}")

    def damages(self) -> list[str]:
        """What SQLite finds wrong with the file."""
        return [what for (what,) in self.connection.execute("PRAGMA integrity_check(5)") if what != "ok"]

    def damage(self, error: Exception) -> str | None:
        """The name of the error, if the file is damaged."""
        if isinstance(error, sqlite3.DatabaseError) and error.sqlite_errorcode & 0xFF == sqlite3.SQLITE_CORRUPT:
            return error.sqlite_errorname
        return None

    def _one(self, query: str, *values: object) -> Any:
        return self.connection.execute(query, values).fetchone()
