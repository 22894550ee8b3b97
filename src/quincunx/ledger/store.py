"""What a ledger asks of the place where it is kept: transactions, and in them rows. No other module knows any SQL.

Nothing that was written is ever changed: a total and a registration are rows with the number of the record that made
them, and the newest counts. Stores made before that (formats 1 and 2) keep the newest row only.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager
from typing import Any, Literal, Protocol

# (number, time, kind, body, hash of the one before, hash)
Row = tuple[int, str, str, str, str, str]
# What `rows` gives of each, in this order; without the record's number where only the newest row is kept.
TableName = Literal["totals", "datasets", "questions", "charges", "answers", "halts", "withheld", "reopenings"]


class Transaction(Protocol):
    """One transaction. It lives as long as the block that began it."""

    @property
    def format(self) -> int:
        """1: no halts; 2: halts, and totals that are overwritten; 3: rows are only added; 4: it may have moved."""
        ...

    @property
    def ledger(self) -> str:
        """Which ledger it is, of all that exist; "" for a file, which is known by its name."""
        ...

    def require(self, wanted: int) -> None:
        """Make this a store of at least that format, 2 or 4, so that versions that do not know it refuse to open it."""
        ...

    def last(self) -> tuple[int, str] | None:
        """(number, hash) of the last record."""
        ...

    def moved(self) -> tuple[str, str] | None:
        """(which ledger, its address) goes on in its place; None where this one does."""
        ...

    def append(self, row: Row) -> None:
        """Add a record."""
        ...

    def records(self, first: int = 1) -> Iterator[tuple[Any, ...]]:
        """The records from number `first` on, in order, as they are found."""
        ...

    def body(self, seq: int) -> str:
        """The body of a record."""
        ...

    def bodies(self, kind: str) -> Iterator[str]:
        """The bodies of all records of a kind, in order."""
        ...

    def datasets(self) -> list[str]:
        """The registered names, sorted."""
        ...

    def registration(self, dataset: str) -> str | None:
        """What is registered."""
        ...

    def add_registration(self, dataset: str, seq: int, text: str) -> None:
        """Register by record `seq`; from now on it counts."""
        ...

    def total(self, dataset: str, budget: str, holder: str) -> tuple[str, str] | None:
        """(spent, δ) of a holder; None where nothing was ever charged."""
        ...

    def add_total(self, dataset: str, budget: str, holder: str, seq: int, spent: str, delta: str) -> None:
        """The total of a holder after record `seq`; from now on it counts."""
        ...

    def holders(self, dataset: str, budget: str) -> list[str]:
        """Whose totals of one budget are kept, sorted."""
        ...

    def question(self, key: str) -> int | None:
        """The record that reserved the question."""
        ...

    def add_question(self, key: str, dataset: str, seq: int) -> None:
        """Remember who reserved it. A second one is an error."""
        ...

    def charged(self, key: str, analyst: str) -> bool:
        """Whether the analyst was charged for the question."""
        ...

    def add_charge(self, key: str, analyst: str) -> None:
        """Remember that they were. A second one is an error."""
        ...

    def answer(self, key: str) -> tuple[int, bytes] | None:
        """(record, content) of the stored answer."""
        ...

    def add_answer(self, key: str, seq: int, content: bytes) -> None:
        """Keep the answer. A second one is an error."""
        ...

    def counts(self, dataset: str, after: int = 0, before: int | None = None) -> tuple[int, int]:
        """(questions reserved, answers to them), by records between the two."""
        ...

    def halts(self, dataset: str) -> list[tuple[int, str, int | None, int | None]]:
        """(record, version, reopened by, version allowed again by) of each halt, in order."""
        ...

    def add_halt(self, dataset: str, version: str, seq: int) -> None:
        """Halt by record `seq`, and withhold every question that has no answer."""
        ...

    def add_reopening(self, dataset: str, seq: int, *, closed: bool) -> None:
        """Reopen by record `seq`; versions that were halted on stay closed, or not."""
        ...

    def withheld(self, key: str) -> bool:
        """Whether the question was open at a halt."""
        ...

    def withheld_by(self, seq: int) -> int:
        """How many questions the halt of record `seq` withheld."""
        ...

    def rows(self, table: TableName) -> Iterator[tuple[Any, ...]]:
        """Everything that a table holds, for `verify`."""
        ...

    def damages(self) -> list[str]:
        """What the store itself finds wrong with what it holds."""
        ...

    def damage(self, error: Exception) -> str | None:
        """What is damaged, if that is what the error says."""
        ...


class Store(Protocol):
    """A place for one ledger. path: as it is printed, without a password. memory: it ends with the process."""

    path: str
    memory: bool

    def writing(self) -> AbstractContextManager[Transaction]:
        """One transaction, alone from before its first look; all of it is durable, or none."""
        ...

    def reading(self) -> AbstractContextManager[Transaction]:
        """One transaction that sees one state; it waits for nobody."""
        ...

    def close(self) -> None:
        """Close the connections of this process. A ledger in memory is forgotten."""
        ...
