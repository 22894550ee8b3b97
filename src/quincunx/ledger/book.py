"""What is read and written inside one transaction: records, and the totals that are worked out from them."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Final

from quincunx.errors import RegistrationError
from quincunx.ledger.budget import Balance, Demand, admit
from quincunx.ledger.record import GENESIS, Record, chained, decoded, head_text
from quincunx.ledger.registration import Registration
from quincunx.ledger.store import Transaction

# A holder of a total: which budget, and whose. The dataset's own has no further name.
Holder = tuple[str, str]
DATASET: Final[Holder] = ("dataset", "")
_ZERO: Final = Fraction(0)


class Book:
    """An open transaction. It lives as long as the transaction does."""

    __slots__ = ("_last", "_spent", "_store")

    def __init__(self, transaction: Transaction) -> None:
        self._store = transaction
        # Within a transaction nobody else writes, so what was read once stays true.
        self._last: tuple[int, str] | None = None
        self._spent: dict[tuple[str, Holder], tuple[Fraction, Fraction] | None] = {}

    def last(self) -> tuple[int, str]:
        """(number of records, hash of the last)."""
        if self._last is None:
            self._last = self._store.last() or (0, GENESIS)
        return self._last

    def head(self) -> str:
        """The head as it is printed."""
        return head_text(*self.last())

    def append(self, kind: str, body: str, time: str) -> int:
        """Add a record to the chain, its body as canonical JSON; its number."""
        seq, previous = self.last()
        seq, hashed = seq + 1, chained(seq + 1, time, kind, body, previous)
        self._store.append((seq, time, kind, body, previous, hashed))
        self._last = (seq, hashed)
        return seq

    def records(self, first: int) -> Iterator[Record]:
        """The records from number `first` on."""
        return map(decoded, self._store.records(first))

    def datasets(self) -> list[str]:
        """The registered names, sorted."""
        return self._store.datasets()

    def registration(self, dataset: str) -> Registration:
        """What is registered, or RegistrationError."""
        found = self.found(dataset)
        if found is None:
            hint = "Register it first: its specification and its total."
            raise RegistrationError("is not registered in this ledger", where=f"dataset {dataset!r}", hint=hint)
        return found

    def found(self, dataset: str) -> Registration | None:
        """What is registered, or None."""
        text = self._store.registration(dataset)
        return None if text is None else Registration.from_text(text)

    def keep(self, registration: Registration, seq: int) -> None:
        """Make this the registration of its dataset, by record `seq`."""
        self._store.add_registration(registration.dataset, seq, registration.text())

    def spent(self, dataset: str, holder: Holder) -> tuple[Fraction, Fraction]:
        """What the holder has spent: (ε, ρ or μ²; δ)."""
        return self._total(dataset, holder) or (_ZERO, _ZERO)

    def holds(self, dataset: str, holder: Holder) -> bool:
        """Whether the holder was ever charged, be it 0."""
        return self._total(dataset, holder) is not None

    def holders(self, dataset: str, budget: str) -> list[str]:
        """Whose totals of one budget are kept, sorted."""
        return self._store.holders(dataset, budget)

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

    def charge(self, dataset: str, holders: list[Holder], cost: Fraction, delta: Fraction, seq: int) -> None:
        """Add to the totals of every holder, by record `seq`."""
        for holder in holders:
            spent, used = self.spent(dataset, holder)
            self._spent[dataset, holder] = (spent + cost, used + delta)
            self._store.add_total(dataset, *holder, seq, str(spent + cost), str(used + delta))

    def _total(self, dataset: str, holder: Holder) -> tuple[Fraction, Fraction] | None:
        if (dataset, holder) not in self._spent:
            row = self._store.total(dataset, *holder)
            self._spent[dataset, holder] = (Fraction(row[0]), Fraction(row[1])) if row else None
        return self._spent[dataset, holder]


def _words(dataset: str, holder: Holder) -> str:
    budget, name = holder
    return f"dataset {dataset!r}" if holder == DATASET else f"dataset {dataset!r}, {budget} {name!r}"
