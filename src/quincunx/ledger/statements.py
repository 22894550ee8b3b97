"""The statements of a ledger in SQL, for every database that only adds rows. Placeholders are written "?"."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any, Final

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
    "WITH RECURSIVE one(holder) AS (SELECT MIN(holder) FROM totals WHERE dataset = ? AND budget = ? "
    "UNION ALL SELECT (SELECT MIN(holder) FROM totals WHERE dataset = ? AND budget = ? "
    "AND holder > one.holder) FROM one WHERE one.holder IS NOT NULL) SELECT holder FROM one WHERE holder IS NOT NULL"
)
_FIRST_OPENING: Final = "SELECT MIN(o.seq) FROM reopenings AS o WHERE o.dataset = h.dataset AND o.seq > h.seq"


class Statements(ABC):
    """A transaction in SQL. Rows are only added; the newest counts. What each method does: store.py."""

    __slots__ = ("format",)

    @property
    @abstractmethod
    def ledger(self) -> str:
        """Which ledger it is."""

    halted = f"SELECT seq, dataset, version, ({_FIRST_OPENING}), ({_FIRST_OPENING} AND o.closed = 0) FROM halts AS h"

    def __init__(self, version: int) -> None:
        self.format = version

    @abstractmethod
    def run(self, statement: str, *values: object) -> Iterator[tuple[Any, ...]]:
        """The rows of a statement, which is carried out before this returns."""

    def stream(self, statement: str) -> Iterator[tuple[Any, ...]]:
        """The rows of a statement that may give very many."""
        return self.run(statement)

    def one(self, statement: str, *values: object) -> Any:
        """The first row, or None."""
        return next(self.run(statement, *values), None)

    def last(self) -> tuple[int, str] | None:
        row: tuple[int, str] | None = self.one("SELECT seq, hash FROM records ORDER BY seq DESC LIMIT 1")
        return row

    def moved(self) -> tuple[str, str] | None:
        row = self.one("SELECT kind, body FROM records ORDER BY seq DESC LIMIT 1") if self.format > 3 else None
        if row is None or row[0] != "moved":
            return None
        body = json.loads(row[1])
        return None if body["ledger"] == self.ledger else (body["ledger"], body["address"])

    def append(self, row: Row) -> None:
        self.run("INSERT INTO records VALUES (?, ?, ?, ?, ?, ?)", *row)

    def records(self, first: int = 1) -> Iterator[tuple[Any, ...]]:
        if first <= 1:
            # A record below 1 is nobody's, and is to be found.
            return self.stream(f"SELECT {_RECORD} FROM records ORDER BY seq")
        return self.run(f"SELECT {_RECORD} FROM records WHERE seq >= ? ORDER BY seq", first)

    def body(self, seq: int) -> str:
        return str(self.one("SELECT body FROM records WHERE seq = ?", seq)[0])

    def bodies(self, kind: str) -> Iterator[str]:
        return (body for (body,) in self.run("SELECT body FROM records WHERE kind = ? ORDER BY seq", kind))

    def datasets(self) -> list[str]:
        return sorted(name for (name,) in self.run("SELECT DISTINCT name FROM datasets"))

    def registration(self, dataset: str) -> str | None:
        row = self.one("SELECT registration FROM datasets WHERE name = ? ORDER BY seq DESC LIMIT 1", dataset)
        return None if row is None else row[0]

    def add_registration(self, dataset: str, seq: int, text: str) -> None:
        self.run("INSERT INTO datasets VALUES (?, ?, ?)", dataset, seq, text)

    def total(self, dataset: str, budget: str, holder: str) -> tuple[str, str] | None:
        query = (
            "SELECT spent, delta FROM totals WHERE dataset = ? AND budget = ? AND holder = ? ORDER BY seq DESC LIMIT 1"
        )
        row: tuple[str, str] | None = self.one(query, dataset, budget, holder)
        return row

    def add_total(self, dataset: str, budget: str, holder: str, seq: int, spent: str, delta: str) -> None:
        self.run("INSERT INTO totals VALUES (?, ?, ?, ?, ?, ?)", dataset, budget, holder, seq, spent, delta)

    def holders(self, dataset: str, budget: str) -> list[str]:
        return sorted(holder for (holder,) in self.run(_HOLDERS, *(dataset, budget) * 2))

    def question(self, key: str) -> int | None:
        row = self.one("SELECT seq FROM questions WHERE key = ?", key)
        return None if row is None else row[0]

    def add_question(self, key: str, dataset: str, seq: int) -> None:
        self.run("INSERT INTO questions VALUES (?, ?, ?)", key, dataset, seq)

    def charged(self, key: str, analyst: str) -> bool:
        return self.one("SELECT 1 FROM charges WHERE question = ? AND analyst = ?", key, analyst) is not None

    def add_charge(self, key: str, analyst: str) -> None:
        self.run("INSERT INTO charges VALUES (?, ?)", key, analyst)

    def answer(self, key: str) -> tuple[int, bytes] | None:
        row = self.one("SELECT seq, content FROM answers WHERE question = ?", key)
        return None if row is None else (row[0], bytes(row[1]))

    def add_answer(self, key: str, seq: int, content: bytes) -> None:
        self.run("INSERT INTO answers VALUES (?, ?, ?)", key, seq, content)

    def counts(self, dataset: str, after: int = 0, before: int | None = None) -> tuple[int, int]:
        query = (
            "SELECT COUNT(*), COUNT(answers.question) FROM questions LEFT JOIN answers ON question = key "
            "WHERE questions.dataset = ? AND questions.seq > ? AND questions.seq < ?"
        )
        reserved, answered = self.one(query, dataset, after, before or 1 << 62)
        return reserved, answered

    def halts(self, dataset: str) -> list[tuple[int, str, int | None, int | None]]:
        rows = self.run(f"{self.halted} WHERE dataset = ? ORDER BY seq", dataset)
        return [(seq, version, reopened, allowed) for seq, _, version, reopened, allowed in rows]

    def add_halt(self, dataset: str, version: str, seq: int) -> None:
        self.run("INSERT INTO halts VALUES (?, ?, ?)", seq, dataset, version)
        self.withhold(dataset, seq)

    def withhold(self, dataset: str, seq: int) -> None:
        """Withhold every question of the dataset that has no answer, by the halt of record `seq`."""
        self.run(
            "INSERT INTO withheld SELECT key, ? FROM questions WHERE dataset = ? "
            "AND key NOT IN (SELECT question FROM answers) AND key NOT IN (SELECT question FROM withheld)",
            seq,
            dataset,
        )

    def add_reopening(self, dataset: str, seq: int, *, closed: bool) -> None:
        self.run("INSERT INTO reopenings VALUES (?, ?, ?)", seq, dataset, int(closed))

    def withheld(self, key: str) -> bool:
        return self.one("SELECT 1 FROM withheld WHERE question = ?", key) is not None

    def withheld_by(self, seq: int) -> int:
        return int(self.one("SELECT COUNT(*) FROM withheld WHERE halt = ?", seq)[0])

    def rows(self, table: TableName) -> Iterator[tuple[Any, ...]]:
        return self.stream(self.halted if table == "halts" else f"SELECT {_ROWS[table]} FROM {table}")
