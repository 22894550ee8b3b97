"""A dataset's account in a ledger, as one session sees it: opened when it is needed, made by the first question."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from fractions import Fraction
from types import EllipsisType
from typing import Final

from quincunx.errors import ParameterError, kind_of, under
from quincunx.ledger import Answer, Ledger, Question, Registration, Reservation, Standing, View

MEMORY: Final = ":memory:"
# One plan for each dataset: a share that went by the file's name would begin anew with a new name.
PLAN: Final = "default"


class Account:
    """The account of one dataset, for one analyst. Looking registers nothing; `register` does, or refuses what differs.

    path: of the ledger. registration: what this session would register. analyst: who asks, if anybody is named.
    """

    __slots__ = ("_first", "_known", "_ledger", "analyst", "path", "registration")

    def __init__(self, *, path: object, registration: Registration, analyst: str | None) -> None:
        if not isinstance(path, str | os.PathLike):
            hint = 'Write a path; ":memory:" forgets everything at the end and must be typed.'
            with under("ledger"):
                raise ParameterError("a ledger is needed", where="ledger", got=kind_of(path), hint=hint)
        self.path, self.registration, self.analyst = os.fspath(path), registration, analyst
        self._ledger = Ledger.open(MEMORY) if self.memory else None
        # Whether the ledger is known to have the dataset, and whether it has it from this session, which has not yet
        # asked anything.
        self._known = self._first = False

    @property
    def memory(self) -> bool:
        """Whether everything is forgotten at the end."""
        return self.path == MEMORY

    @contextmanager
    def looking(self) -> Iterator[Look]:
        """One state of the account, for as long as the block lasts or until it is let go."""
        with ExitStack() as stack:
            yield Look(self, stack)

    def look(self, stack: ExitStack) -> View | None:
        """The ledger, if it exists and knows the dataset by the same registration; None if it does not know it."""
        if self._ledger is None and Ledger.exists(self.path):
            self._ledger = Ledger.open(self.path, create=False)
        if self._ledger is None:
            return None
        view = stack.enter_context(self._ledger.look())
        registered = view.registration(self.registration.dataset)
        if registered is None:
            return None
        registered.check_same(self.registration)
        self._known = True
        return view

    def register(self) -> Ledger:
        """The ledger, made if there is none, with the dataset registered."""
        if self._ledger is None:
            self._ledger = Ledger.open(self.path)
        if not self._known:
            given = self.registration
            self._first = given.dataset not in self._ledger.datasets
            self._ledger.register(dataset=given.dataset, specification=given.specification, budgets=given.budgets)
            self._known = True
        return self._ledger

    def reserve(self, question: Question, *, injected: bool) -> tuple[Reservation, bool]:
        """Pay for the question; and whether it is the first about the dataset, which this session registered."""
        reservation = self.register().reserve(question, analyst=self.analyst, plan=PLAN, injected=injected)
        first, self._first = self._first, False
        return reservation, first

    def close(self) -> None:
        """Close the ledger. One in memory is forgotten."""
        if self._ledger is not None:
            self._ledger.close()


class Look:
    """One state of an account: one reading transaction, begun when it is first asked for anything."""

    __slots__ = ("_account", "_stack", "_view")

    def __init__(self, account: Account, stack: ExitStack) -> None:
        self._account, self._stack = account, stack
        self._view: View | EllipsisType | None = ...

    @property
    def known(self) -> bool:
        """Whether the ledger knows the dataset, by the same registration."""
        return self._seen() is not None

    @property
    def head(self) -> str:
        """The ledger's head; of an empty chain where there is no ledger yet."""
        view = self._seen()
        return "0:" if view is None else view.head

    @property
    def standing(self) -> Standing:
        """What is spent and left of the dataset's budget; all of it before the first question."""
        view, given = self._seen(), self._account.registration
        return Standing.untouched(given) if view is None else view.standing(given.dataset)

    @property
    def affordable(self) -> Fraction:
        """The largest spend that every budget in the way would admit."""
        view, given, analyst = self._seen(), self._account.registration, self._account.analyst
        if view is not None:
            return view.affordable(given.dataset, plan=PLAN, analyst=analyst)
        limits = [given.total, given.plan, None if analyst is None else given.limit(analyst)]
        return min(limit for limit in limits if limit is not None)

    def paid(self, question: Question) -> bool:
        """Whether the question was paid for before, so that the dataset is charged nothing more."""
        view = self._seen()
        return view is not None and view.paid(question)

    def answered(self, question: Question) -> bool:
        """Whether its answer is stored, so that no engine is asked."""
        view = self._seen()
        return view is not None and view.answered(question)

    def replay(self, question: Question, *, injected: bool) -> tuple[Reservation, Answer] | None:
        """The stored answer, where nobody has to pay for seeing it."""
        view = self._seen()
        return None if view is None else view.replay(question, analyst=self._account.analyst, injected=injected)

    def end(self) -> None:
        """Let the ledger go, before an engine is asked."""
        self._stack.close()

    def _seen(self) -> View | None:
        if self._view is ...:
            self._view = self._account.look(self._stack)
        return self._view
