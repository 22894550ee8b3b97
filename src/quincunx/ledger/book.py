"""What is read and written inside one transaction: records, and the tables that are worked out from them."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from fractions import Fraction
from typing import Final

from quincunx.errors import RegistrationError
from quincunx.ledger.budget import Balance, Demand, admit
from quincunx.ledger.record import GENESIS, Record, chained, decoded, head_text
from quincunx.ledger.registration import Registration

# A holder of a total: which budget, and whose. The dataset's own has no further name.
Holder = tuple[str, str]
DATASET: Final[Holder] = ("dataset", "")
_ZERO: Final = Fraction(0)


class Book:
    """An open transaction. It lives as long as the transaction does."""

    __slots__ = ("_connection", "_last", "_spent")

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        # Within a transaction nobody else writes, so what was read once stays true.
        self._last: tuple[int, str] | None = None
        self._spent: dict[tuple[str, Holder], tuple[Fraction, Fraction] | None] = {}

    def last(self) -> tuple[int, str]:
        """(number of records, hash of the last)."""
        if self._last is None:
            row = self._connection.execute("SELECT seq, hash FROM records ORDER BY seq DESC LIMIT 1").fetchone()
            self._last = row or (0, GENESIS)
        return self._last

    def head(self) -> str:
        """The head as it is printed."""
        return head_text(*self.last())

    def append(self, kind: str, body: str, time: str) -> int:
        """Add a record to the chain, its body as canonical JSON; its number."""
        seq, previous = self.last()
        seq, hashed = seq + 1, chained(seq + 1, time, kind, body, previous)
        row = (seq, time, kind, body, previous, hashed)
        self._connection.execute("INSERT INTO records VALUES (?, ?, ?, ?, ?, ?)", row)
        self._last = (seq, hashed)
        return seq

    def records(self, first: int) -> Iterator[Record]:
        """The records from number `first` on."""
        query = "SELECT seq, time, kind, body, previous, hash FROM records WHERE seq >= ? ORDER BY seq"
        return map(decoded, self._connection.execute(query, (first,)))

    def datasets(self) -> list[str]:
        """The registered names, sorted."""
        return sorted(name for (name,) in self._connection.execute("SELECT name FROM datasets"))

    def registration(self, dataset: str) -> Registration:
        """What is registered, or RegistrationError."""
        found = self.found(dataset)
        if found is None:
            hint = "Register it first: its specification and its total."
            raise RegistrationError("is not registered in this ledger", where=f"dataset {dataset!r}", hint=hint)
        return found

    def found(self, dataset: str) -> Registration | None:
        """What is registered, or None."""
        row = self._connection.execute("SELECT registration FROM datasets WHERE name = ?", (dataset,)).fetchone()
        return Registration.from_text(row[0]) if row else None

    def keep(self, registration: Registration) -> None:
        """Make this the registration of its dataset."""
        row = (registration.dataset, registration.text())
        self._connection.execute("INSERT OR REPLACE INTO datasets VALUES (?, ?)", row)

    def spent(self, dataset: str, holder: Holder) -> tuple[Fraction, Fraction]:
        """What the holder has spent: (ε, ρ or μ²; δ)."""
        return self._total(dataset, holder) or (_ZERO, _ZERO)

    def holds(self, dataset: str, holder: Holder) -> bool:
        """Whether the holder was ever charged, be it 0."""
        return self._total(dataset, holder) is not None

    def holders(self, dataset: str, budget: str) -> list[str]:
        """Whose totals of one budget are kept, sorted."""
        query = "SELECT holder FROM totals WHERE dataset = ? AND budget = ?"
        return sorted(holder for (holder,) in self._connection.execute(query, (dataset, budget)))

    def balance(self, registration: Registration, holder: Holder) -> Balance:
        """The holder's account in the budgeted parameter."""
        return Balance(budget=registration.budget(*holder), spent=self.spent(registration.dataset, holder)[0])

    def remaining(self, registration: Registration, holders: list[Holder]) -> list[Fraction | None]:
        """What is left of the holders' budgets, and of the dataset's δ."""
        balances = [self.balance(registration, holder) for holder in holders]
        return [balance.remaining for balance in (*balances, self.delta(registration))]

    def delta(self, registration: Registration) -> Balance:
        """The dataset's account of δ."""
        return Balance(budget=registration.delta, spent=self.spent(registration.dataset, DATASET)[1])

    def admit(self, registration: Registration, holders: list[Holder], cost: Fraction, delta: Fraction) -> None:
        """Raise BudgetError unless every holder, and for δ the dataset, can pay."""
        demands = [
            Demand(
                budget=holder[0],
                holder=_words(registration.dataset, holder),
                symbol=registration.symbol,
                requested=cost,
                balance=self.balance(registration, holder),
            )
            for holder in holders
        ]
        if DATASET in holders:
            where, rest = _words(registration.dataset, DATASET), self.delta(registration)
            demands.append(Demand(budget="dataset", holder=where, symbol="δ", requested=delta, balance=rest))
        admit(demands)

    def charge(self, dataset: str, holders: list[Holder], cost: Fraction, delta: Fraction) -> None:
        """Add to the totals of every holder."""
        for holder in holders:
            spent, used = self.spent(dataset, holder)
            self._spent[dataset, holder] = (spent + cost, used + delta)
            row = (dataset, *holder, str(spent + cost), str(used + delta))
            self._connection.execute("INSERT OR REPLACE INTO totals VALUES (?, ?, ?, ?, ?)", row)

    def _total(self, dataset: str, holder: Holder) -> tuple[Fraction, Fraction] | None:
        if (dataset, holder) not in self._spent:
            query = "SELECT spent, delta FROM totals WHERE dataset = ? AND budget = ? AND holder = ?"
            row = self._connection.execute(query, (dataset, *holder)).fetchone()
            self._spent[dataset, holder] = (Fraction(row[0]), Fraction(row[1])) if row else None
        return self._spent[dataset, holder]

    def reservation(self, key: str) -> int | None:
        """The number of the record that reserved the question, or None."""
        row = self._connection.execute("SELECT seq FROM questions WHERE key = ?", (key,)).fetchone()
        return row[0] if row else None

    def reserve(self, key: str, dataset: str, seq: int) -> None:
        """Remember who reserved the question. A second one would break the table's primary key."""
        self._connection.execute("INSERT INTO questions VALUES (?, ?, ?)", (key, dataset, seq))

    def paid(self, key: str, analyst: str) -> bool:
        """Whether the analyst was charged for the question."""
        query = "SELECT 1 FROM charges WHERE question = ? AND analyst = ?"
        return self._connection.execute(query, (key, analyst)).fetchone() is not None

    def pay(self, key: str, analyst: str) -> None:
        """Remember that the analyst was charged for the question."""
        self._connection.execute("INSERT INTO charges VALUES (?, ?)", (key, analyst))

    def answer(self, key: str) -> tuple[int, bytes] | None:
        """(number of its record, content) of the stored answer, or None."""
        row = self._connection.execute("SELECT seq, content FROM answers WHERE question = ?", (key,)).fetchone()
        return (row[0], bytes(row[1])) if row else None

    def store(self, key: str, seq: int, content: bytes) -> None:
        """Keep the answer. A second one would break the table's primary key."""
        self._connection.execute("INSERT INTO answers VALUES (?, ?, ?)", (key, seq, content))

    def counts(self, dataset: str) -> tuple[int, int]:
        """(questions reserved, answers stored)."""
        query = (
            "SELECT COUNT(*), COUNT(answers.question) FROM questions LEFT JOIN answers ON question = key "
            "WHERE questions.dataset = ?"
        )
        reserved, stored = self._connection.execute(query, (dataset,)).fetchone()
        return reserved, stored


def _words(dataset: str, holder: Holder) -> str:
    budget, name = holder
    return f"dataset {dataset!r}" if holder == DATASET else f"dataset {dataset!r}, {budget} {name!r}"
