"""One state of a ledger, read in one transaction: what is registered, what is left, and answers that are kept.

A question whose answer is kept is replayed from here: whoever was charged for it reads, and writes nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Final

from quincunx.errors import DataError, PrivacyError, kind_of
from quincunx.ledger.account import Answer, Reservation, Standing
from quincunx.ledger.book import DATASET, Book
from quincunx.ledger.canonical import name
from quincunx.ledger.halting import Halts
from quincunx.ledger.question import Question
from quincunx.ledger.registration import Registration
from quincunx.ledger.store import Transaction

_ZERO: Final = Fraction(0)


class View:
    """What a ledger holds at one moment. It lives as long as its block, and changes nothing."""

    __slots__ = ("_book", "_check_key", "_transaction")

    def __init__(self, transaction: Transaction, check_key: Callable[[bool], None]) -> None:
        self._transaction, self._book, self._check_key = transaction, Book(transaction), check_key

    @property
    def head(self) -> str:
        """The chain's head."""
        return self._book.head()

    def registration(self, dataset: str) -> Registration | None:
        """What is registered, or None."""
        return self._book.found(dataset)

    def standing(self, dataset: str) -> Standing:
        """What is spent and left of the dataset's own budget."""
        return standing(self._transaction, self._book, self._book.registration(dataset))

    def affordable(self, dataset: str, *, plan: str = "default", analyst: str | None = None) -> Fraction:
        """The largest spend that every budget in the way would admit: dataset, plan, and analyst if named."""
        holders = [DATASET, ("plan", plan), *([] if analyst is None else [("analyst", analyst)])]
        ways = self._book.remaining(self._book.registration(dataset), holders)[:-1]
        return min(each for each in ways if each is not None)

    def paid(self, question: Question, *, analyst: str | None = None) -> bool:
        """Whether asking the question costs the dataset nothing more; with an analyst, nor them."""
        key, who = checked(question).key, None if analyst is None else name(analyst, "analyst")
        found = self._transaction.question(key)
        return found is not None and (who is None or self._transaction.charged(key, who))

    def answered(self, question: Question) -> bool:
        """Whether an answer is stored, so that no engine is asked."""
        return self._transaction.answer(checked(question).key) is not None

    def replay(
        self, question: Question, *, analyst: str | None = None, injected: bool = False
    ) -> tuple[Reservation, Answer] | None:
        """What `reserve` and `reveal` would give, where nobody would be charged; None where they have to be called.

        The question is refused as `reserve` would refuse it, whoever asks and under whatever key.
        """
        self._check_key(injected)
        who = None if analyst is None else name(analyst, "analyst")
        registration = check_asker(self._book, question, analyst)
        key = question.key
        seq, kept = self._transaction.question(key), self._transaction.answer(key)
        if seq is None or kept is None or (who is not None and not self._transaction.charged(key, who)):
            return None
        reservation = Reservation(
            dataset=question.dataset,
            question=key,
            seq=seq,
            charged=_ZERO,
            charged_delta=_ZERO,
            charged_analyst=_ZERO,
            stored=True,
            head=self.head,
            standing=standing(self._transaction, self._book, registration),
        )
        return reservation, revealed(self._transaction, self._book, reservation, reservation.standing)


def checked(question: object) -> Question:
    """The question, or DataError for what is none."""
    if not isinstance(question, Question):
        raise DataError("expected a Question", where="ledger", got=kind_of(question))
    return question


def check_asker(book: Book, question: Question, analyst: str | None) -> Registration:
    """What is registered, if the question is asked under it and by somebody who may ask."""
    registration = book.registration(checked(question).dataset)
    if registration.guarantee != question.guarantee:
        other = Registration(
            dataset=registration.dataset, specification=question.specification, budgets=registration.budgets
        )
        registration.check_same(other)
    if analyst is None or not book.holds(question.dataset, ("analyst", name(analyst, "analyst"))):
        registration.check_analyst(analyst, book.holders(question.dataset, "analyst"))
    return registration


def standing(transaction: Transaction, book: Book, registration: Registration) -> Standing:
    """What is spent and left of a dataset's own budget, inside one transaction."""
    return Standing(
        total=book.balance(registration, DATASET),
        delta=book.delta(registration),
        halts=Halts(transaction).listed(registration.dataset),
    )


def revealed(transaction: Transaction, book: Book, reservation: Reservation, now: Standing) -> Answer:
    """The stored answer to a reserved question; PrivacyError where there is none."""
    found = transaction.answer(reservation.question)
    if found is None:
        hint = "Ask the data again and store the answer; the question is paid for."
        raise PrivacyError("no answer is stored, so nothing may be shown", where="reveal", hint=hint)
    seq, content = found
    return Answer(
        dataset=reservation.dataset,
        question=reservation.question,
        content=content,
        seq=seq,
        head=book.head(),
        standing=now,
    )
