"""The ledger: who spent what on which data, for ever.

Reserve, store, reveal: a question is paid for before the data are asked, an answer is kept before it is shown, and only
what is kept is shown. What each step guarantees, and what a crash leaves: ledger.md.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from fractions import Fraction
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from quincunx.errors import DataError, ParameterError, PrivacyError, UnavailableError, kind_of
from quincunx.ledger import verify
from quincunx.ledger.account import Account, Answer, Reservation
from quincunx.ledger.amendment import check_amendment
from quincunx.ledger.book import DATASET, Book
from quincunx.ledger.canonical import canonical, check_moment, digest, dumped, name, sentence
from quincunx.ledger.halting import Halts
from quincunx.ledger.moving import moved
from quincunx.ledger.postgres import Postgres, is_address
from quincunx.ledger.question import Question
from quincunx.ledger.record import Record, head_text
from quincunx.ledger.registration import Budgets, Registration
from quincunx.ledger.spending import rounded
from quincunx.ledger.sqlite import MEMORY, SQLite
from quincunx.ledger.store import Store, Transaction
from quincunx.ledger.view import View, check_asker, checked, revealed, standing
from quincunx.noise import injected as key_injected
from quincunx.numbers import Number, delta_parameter, non_negative
from quincunx.spec import Specification

_MAX_ANSWER: Final = 1 << 28
_ZERO: Final = Fraction(0)


def _utc() -> datetime:
    return datetime.now(UTC)


class Ledger:
    """An open ledger. Threads may share it; a forked child may go on using it, unless it is in memory."""

    __slots__ = ("_clock", "_store")

    def __init__(self, store: Store, clock: Callable[[], datetime]) -> None:
        self._store, self._clock = store, clock

    @staticmethod
    def open(
        path: str | os.PathLike[str], *, create: bool = True, wait: float = 30, clock: Callable[[], datetime] = _utc
    ) -> Ledger:
        """The ledger in the file `path`, made if it does not exist and `create` is true; or in a database.

        ":memory:" is a ledger that ends with the process. postgresql://… is one that several machines share, and that
        its owner has made (`quincunx ledger create`). wait: how many seconds a call waits for other processes
        before it raises UnavailableError. clock: gives the time of the records, with its zone.
        """
        if isinstance(wait, bool) or not isinstance(wait, int | float) or not 0 <= wait <= 3600 or math.isnan(wait):
            raise ParameterError("must be from 0 to 3600 seconds", where="wait", got=ascii(wait)[:40])
        if is_address(path):
            return Ledger(Postgres(str(path), wait=wait), clock)
        return Ledger(SQLite(path, create=create, wait=wait), clock)

    @staticmethod
    def beside(folder: Path, written: str) -> str:
        """The place that a plan file in this folder names: a file beside it, memory, or an address as it is."""
        return written if written == MEMORY or is_address(written) else str(folder / written)

    @staticmethod
    def exists(path: str | os.PathLike[str]) -> bool:
        """Whether there is a ledger to open. Looks at the place alone, and makes nothing.

        A database is not asked: nobody but its owner makes a ledger there.
        """
        return is_address(path) or os.path.exists(path)

    def close(self) -> None:
        """Close the file. A ledger in memory is forgotten."""
        self._store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<Ledger: {self._store.path}>"

    @property
    def path(self) -> str:
        """The file's absolute path, or ":memory:"."""
        return self._store.path

    @property
    def head(self) -> str:
        """The number of records and the beginning of the last hash, as "17:3fa9…". Keep it: `verify` asks for it."""
        with self._store.reading() as transaction:
            return Book(transaction).head()

    @property
    def datasets(self) -> tuple[str, ...]:
        """The registered names."""
        with self._store.reading() as transaction:
            return tuple(Book(transaction).datasets())

    def register(self, *, dataset: str, specification: Specification, budgets: Budgets | None = None) -> Registration:
        """Agree on the five blocks, the total and the budgets of a dataset. The first call records them.

        budgets: {"plan": limit of each plan, "analysts": {name: limit}}, in the budgeted parameter; both optional. A
        later call that says the same changes nothing; one that differs raises RegistrationError and shows both.
        """
        given = Registration(dataset=dataset, specification=specification, budgets=budgets)
        with self._writing() as transaction:
            book = Book(transaction)
            found = book.found(given.dataset)
            if found is not None:
                found.check_same(given)
                return found
            given.check_names(book.datasets())
            _require(transaction, given)
            book.keep(given, book.append("registration", given.text(), self._now()))
        return given

    def amend(
        self,
        dataset: str,
        *,
        reason: str,
        specification: Specification | None = None,
        budgets: Budgets | None = None,
    ) -> Registration:
        """Change what is registered, with a reason that is recorded. What is left out stays as it is.

        The total may not fall below what is spent. Scope, unit and standard may change only before the first spend:
        what was spent under one unit says nothing about another.
        """
        why = sentence(reason, "reason")
        with self._writing() as transaction:
            book = Book(transaction)
            old = book.registration(name(dataset, "dataset"))
            new = Registration(
                dataset=old.dataset,
                specification=old.specification if specification is None else specification,
                budgets=old.budgets if budgets is None else budgets,
            )
            if new.text() == old.text():
                raise ParameterError("nothing would change", where="amend", hint="Say what should become different.")
            new.check_names(book.datasets(), old, book.holders(old.dataset, "analyst"))
            _require(transaction, new)
            check_amendment(old, new, *book.spent(old.dataset, DATASET), any(transaction.counts(old.dataset)))
            body = canonical({**new.to_dict(), "reason": why}, "amend")
            book.keep(new, book.append("amendment", body, self._now()))
        return new

    def reserve(
        self, question: Question, *, analyst: str | None = None, plan: str = "default", injected: bool = False
    ) -> Reservation:
        """Pay for a question, or raise BudgetError and change nothing. Only then may the data be asked.

        A question that was reserved before, by anyone, costs the dataset nothing more; an analyst who was not yet
        charged for it is charged. Nothing is ever paid back. plan: whose share is used. injected: whether noise is
        drawn from an injected key, which only a ledger in memory admits. While the dataset is halted only questions
        with a stored answer are taken, and the first about a new version, which reopens it.
        """
        self._check_key(injected)
        key, cost, delta = checked(question).key, question.cost, question.delta
        who = None if analyst is None else ("analyst", name(analyst, "analyst"))
        share = ("plan", name(plan, "plan"))
        # What is recorded is written before the lock is taken, so that others wait less.
        spend = {"dataset": question.dataset, "question": key, "cost": str(cost), "delta": str(delta)}
        more = {"version": question.version, "asked": json.loads(question.asked), "plan": plan}
        asked = dumped({**spend, **more, "analyst": analyst})
        with self._writing() as transaction:
            book = Book(transaction)
            registration = check_asker(book, question, analyst)
            seq, time, stored = transaction.question(key), self._now(), transaction.answer(key) is not None
            halts = Halts(transaction)
            if not stored and halts.check(question.dataset, question.version, key):
                self._reopened(transaction, book, question.dataset, time, version=question.version)
            first = seq is None
            # A question asked before is free for the dataset and the plan, not for an analyst who sees it newly.
            joins = who is not None and (first or not transaction.charged(key, who[1]))
            payers = ([DATASET, share] if first else []) + ([who] if who is not None and joins else [])
            book.admit(registration, payers, cost, delta)
            if first:
                registration.check_spend(cost, delta, partial(book.remaining, registration, payers))
            if seq is None:
                seq = by = book.append("reservation", asked, time)
                transaction.add_question(key, question.dataset, seq)
            elif joins:
                by = book.append("replay", dumped({**spend, "analyst": analyst}), time)
            if payers:
                book.charge(question.dataset, payers, cost, delta, by)
            if who is not None and joins:
                transaction.add_charge(key, who[1])
            return Reservation(
                dataset=question.dataset,
                question=key,
                seq=seq,
                charged=cost if first else _ZERO,
                charged_delta=delta if first else _ZERO,
                charged_analyst=cost if joins else _ZERO,
                stored=stored,
                head=book.head(),
                standing=standing(transaction, book, registration),
            )

    @contextmanager
    def look(self) -> Iterator[View]:
        """One state of the ledger, for as long as the block lasts: what is left, and answers that are kept.

        It is one reading transaction, and inside the block no other call is made to a ledger in memory.
        """
        with self._store.reading() as transaction:
            yield View(transaction, self._check_key)

    def paid(self, question: Question, *, analyst: str | None = None) -> bool:
        """Whether asking the question costs the dataset nothing more; with an analyst, nor them. Changes nothing."""
        with self.look() as view:
            return view.paid(question, analyst=analyst)

    def answered(self, question: Question) -> bool:
        """Whether an answer is stored, so that no engine is asked. Changes nothing."""
        with self.look() as view:
            return view.answered(question)

    def store(self, reservation: Reservation, content: bytes | None, *, injected: bool = False) -> Answer:
        """Keep the noisy answer, and return the one that is kept: the first that was stored, which may be another.

        content: None says that an engine failed on the rows. Then the dataset is halted, and everything that is open is
        withheld: HaltedError, the same for this question and for the others when they come to be stored. Drop your own
        draw afterwards, and show only what is returned.
        """
        self._check_key(injected)
        if content is not None and (not isinstance(content, bytes) or len(content) > _MAX_ANSWER):
            got = f"{len(content)} bytes" if isinstance(content, bytes) else type(content).__name__
            raise DataError(f"an answer is stored as bytes, at most {_MAX_ANSWER}", where="store", got=got)
        key, dataset = _key(reservation), reservation.dataset
        with self._writing() as transaction:
            book, halts = Book(transaction), Halts(transaction)
            _check_reserved(transaction, reservation)
            # An answer that is there is shown, also to those whose engine failed: nobody learns of it.
            stored = transaction.answer(key) is not None
            refusal = None if stored else halts.refusal(dataset, key)
            if not stored and refusal is None and content is None:
                version = halts.version(reservation.seq)
                body = dumped({"dataset": dataset, "version": version})
                refusal = halts.halt(dataset, version, book.append("halted", body, self._now()))
            elif not stored and refusal is None and content is not None:
                body = dumped({"dataset": dataset, "question": key, "digest": digest(content), "size": len(content)})
                transaction.add_answer(key, book.append("answer", body, self._now()), content)
            if refusal is None:
                # What is returned leaves this block after the commit, or not at all. Whoever holds the lock reads no
                # more than is needed: a halt since the reservation would have withheld an answer that is stored now.
                now = standing(transaction, book, book.registration(dataset)) if stored else reservation.standing
                return revealed(transaction, book, reservation, now)
        # One line for all, when the halt is durable: not even a traceback tells the one that failed from the others.
        raise refusal

    def reopen(self, dataset: str, *, reason: str) -> Account:
        """Let a halted dataset answer again, for a reason that is recorded; the account after it.

        Questions that were open at the halt stay withheld on their version. Every opening is counted and shown.
        """
        why = sentence(reason, "reason")
        with self._writing() as transaction:
            book, halts = Book(transaction), Halts(transaction)
            registration = book.registration(name(dataset, "dataset"))
            if not halts.pending(dataset):
                raise ParameterError("nothing is halted, so there is nothing to reopen", where=f"dataset {dataset!r}")
            self._reopened(transaction, book, dataset, self._now(), reason=why)
            return _account(transaction, book, registration)

    def move(self, address: str) -> str:
        """Close this ledger for ever, and go on with all of it in an empty one in a database; the head.

        address: postgresql://…, made by its owner. A move that was interrupted is repeated with the same address; at no
        moment can both be spent from. Stored answers can still be read here.
        """
        return moved(self._store, address, self._now)

    def reveal(self, reservation: Reservation) -> Answer:
        """The stored answer to a reserved question, read from the ledger."""
        _key(reservation)
        with self._store.reading() as transaction:
            _check_reserved(transaction, reservation)
            book = Book(transaction)
            now = standing(transaction, book, book.registration(reservation.dataset))
            return revealed(transaction, book, reservation, now)

    def add(self, dataset: str, *, cost: Number, delta: Number = 0, note: str, when: str | None = None) -> Account:
        """Record what was spent on the dataset with other tools; the account after it.

        cost, delta: in the budgeted parameter and in δ; a fraction that is too long is rounded up. when: the day or
        time it happened, ISO 8601. More than remains is refused: amend the total first, so that the specification stays
        true.
        """
        spent, used, why = non_negative(cost, "cost"), delta_parameter(delta), sentence(note, "note")
        if when is not None:
            check_moment(when)
        with self._writing() as transaction:
            book = Book(transaction)
            registration = book.registration(name(dataset, "dataset"))
            spent = rounded(spent, registration.total, book.balance(registration, DATASET).remaining or _ZERO)
            used = rounded(used, registration.delta, book.delta(registration).remaining or _ZERO)
            book.admit(registration, [DATASET], spent, used)
            body = {"dataset": dataset, "cost": spent, "delta": used, "note": why, "when": when}
            book.charge(dataset, [DATASET], spent, used, book.append("external", canonical(body, "add"), self._now()))
            return _account(transaction, book, registration)

    def account(self, dataset: str) -> Account:
        """What is registered, spent and left, at one moment."""
        with self._store.reading() as transaction:
            book = Book(transaction)
            return _account(transaction, book, book.registration(name(dataset, "dataset")))

    def records(self, *, last: int | None = None) -> tuple[Record, ...]:
        """All records in order, or the `last` few."""
        if last is not None and (type(last) is not int or last < 0):
            raise ParameterError("must be a whole number, 0 or greater", where="last", got=ascii(last)[:40])
        with self._store.reading() as transaction:
            book = Book(transaction)
            first = 1 if last is None else book.last()[0] - last + 1
            return tuple(book.records(first))

    def export(self) -> Iterator[str]:
        """Every record as one line of JSON, in order. Answers are there by their digests."""
        return (record.to_json() for record in self.records())

    def verify(self, head: str | None = None) -> str:
        """Work everything out again from the records; the head, or VerificationError that says where it differs.

        head: one that was printed earlier. With it a ledger that was rolled back, cut or rewritten is found too.
        """
        with self._store.reading() as transaction:
            return head_text(*verify.checked(transaction, head, self._store.path))

    def _reopened(
        self,
        transaction: Transaction,
        book: Book,
        dataset: str,
        time: str,
        *,
        version: str | None = None,
        reason: str | None = None,
    ) -> None:
        body = canonical({"dataset": dataset, "version": version, "reason": reason}, "reopen")
        transaction.add_reopening(dataset, book.append("reopened", body, time), closed=reason is None)

    @contextmanager
    def _writing(self) -> Iterator[Transaction]:
        with self._store.writing() as transaction:
            gone = transaction.moved()
            if gone is not None:
                hint = f"It goes on at {gone[1]}"
                raise UnavailableError("this ledger has moved, and is closed", where=self.path, hint=hint)
            yield transaction

    def _now(self) -> str:
        return self._clock().astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")

    def _check_key(self, injected: bool) -> None:
        if (injected or key_injected()) and not self._store.memory:
            hint = 'Use a ledger in ":memory:" for tests.'
            raise PrivacyError("not private: injected key; a ledger does not keep this", where="ledger", hint=hint)


def _key(reservation: object) -> str:
    if not isinstance(reservation, Reservation):
        raise DataError("expected a Reservation", where="ledger", got=kind_of(reservation))
    return reservation.question


def _check_reserved(transaction: Transaction, reservation: Reservation) -> None:
    if transaction.question(reservation.question) != reservation.seq:
        hint = "Reserve the question in this ledger first; if it was, verify the ledger with the reservation's head."
        raise PrivacyError("this ledger holds no such reservation", where="ledger", hint=hint)


def _require(transaction: Transaction, registration: Registration) -> None:
    """A smallest spend is what format 1 does not know."""
    if registration.smallest_spend is not None:
        transaction.require(2)


def _account(transaction: Transaction, book: Book, registration: Registration) -> Account:
    dataset, (questions, answers) = registration.dataset, transaction.counts(registration.dataset)
    analysts = sorted({*book.holders(dataset, "analyst"), *dict(registration.analysts)})
    return Account(
        registration=registration,
        total=book.balance(registration, DATASET),
        delta=book.delta(registration),
        plans=tuple((each, book.balance(registration, ("plan", each))) for each in book.holders(dataset, "plan")),
        analysts=tuple((each, book.balance(registration, ("analyst", each))) for each in analysts),
        questions=questions,
        answers=answers,
        halts=Halts(transaction).listed(dataset),
    )
