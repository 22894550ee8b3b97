"""The ledger as a session sees it: opened when it is needed, made by the first question and not by a look at it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from quincunx.errors import ParameterError, kind_of
from quincunx.ledger import Halt, Ledger, Question, Registration
from quincunx.ledger.spending import exact, rounded
from quincunx.numbers.text import stated
from quincunx.spec import Specification

MEMORY: Final = ":memory:"
# One plan for each dataset: a share that went by the file's name would begin anew with a new name.
PLAN: Final = "default"


@dataclass(frozen=True, slots=True, kw_only=True)
class Left:
    """What is left, exact: remaining and remaining_delta of the dataset; affordable: the largest spend that every
    budget in the way would admit; spent, spent_delta: by everyone so far. halts: when an engine failed on the rows.
    """

    spent: Fraction
    spent_delta: Fraction
    remaining: Fraction
    remaining_delta: Fraction
    affordable: Fraction
    halts: tuple[Halt, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Settled:
    """A spend as the ledger can keep it. changed: it is not kept as it was asked. notes: what is to be said of it."""

    spend: Fraction
    delta: Fraction
    changed: bool
    notes: tuple[str, ...]


class Books:
    """A dataset's pages in a ledger. Looking registers nothing; `open` registers, or refuses what differs."""

    __slots__ = ("_first", "_ledger", "_registered", "_registration", "path")

    def __init__(
        self, *, path: object, dataset: str, specification: Specification, budgets: Mapping[str, object] | None
    ) -> None:
        if not isinstance(path, str | os.PathLike):
            hint = 'Write a path; ":memory:" forgets everything at the end and must be typed.'
            raise ParameterError("a ledger is needed", where="ledger", got=kind_of(path), hint=hint)
        self.path = os.fspath(path)
        self._registration = Registration(dataset=dataset, specification=specification, budgets=budgets)
        self._ledger = Ledger.open(MEMORY) if self.memory else None
        self._registered = False
        # Whether this session registered the dataset in this ledger, and has not asked anything since.
        self._first = False

    @property
    def memory(self) -> bool:
        """Whether everything is forgotten at the end."""
        return self.path == MEMORY

    @property
    def registration(self) -> Registration:
        """What this session would register."""
        return self._registration

    def open(self) -> Ledger:
        """The ledger, with the dataset registered."""
        if self._ledger is None:
            self._ledger = Ledger.open(self.path)
        if not self._registered:
            given = self._registration
            self._first = given.dataset not in self._ledger.datasets
            self._ledger.register(dataset=given.dataset, specification=given.specification, budgets=given.budgets)
            self._registered = True
        return self._ledger

    def asked(self) -> bool:
        """Note that a question was reserved; whether it is the first about the dataset in this ledger."""
        first, self._first = self._first, False
        return first

    def look(self) -> Ledger | None:
        """The ledger if it exists and knows the dataset by the same registration; None if it does not know it."""
        if self._ledger is None and Ledger.exists(self.path):
            self._ledger = Ledger.open(self.path, create=False)
        ledger = self._ledger
        if ledger is None or self._registration.dataset not in ledger.datasets:
            return None
        ledger.account(self._registration.dataset).registration.check_same(self._registration)
        return ledger

    def left(self, analyst: str | None) -> Left:
        """What is left, for this analyst if one is named; all of it before the first question."""
        ledger, given = self.look(), self._registration
        if ledger is not None:
            account = ledger.account(given.dataset)
            return Left(
                spent=account.total.spent,
                spent_delta=account.delta.spent,
                remaining=account.total.remaining or Fraction(0),
                remaining_delta=account.delta.remaining or Fraction(0),
                affordable=account.affordable(plan=PLAN, analyst=analyst),
                halts=account.halts,
            )
        limits = [given.total, given.plan, None if analyst is None else given.limit(analyst)]
        return Left(
            spent=Fraction(0),
            spent_delta=Fraction(0),
            remaining=given.total,
            remaining_delta=given.delta,
            affordable=min(limit for limit in limits if limit is not None),
        )

    def settled(self, spend: Fraction, delta: Fraction, analyst: str | None, *, share: bool = False) -> Settled:
        """The spend with a denominator that the ledger can add up for ever, rounded up; a share is rounded down."""
        given = self._registration
        if exact(spend, given.total) and exact(delta, given.delta):
            return Settled(spend=spend, delta=delta, changed=spend < given.smallest, notes=())
        left = self.left(analyst)
        kept = rounded(spend, given.total, left.affordable, down=share)
        used = rounded(delta, given.delta, left.remaining_delta)
        notes = []
        if (kept, used) != (spend, delta):
            way = "down" if share else "up"
            price = stated(given.symbol, kept, used)
            notes.append(
                f"The spend was rounded {way} to a multiple of 1e-30, because its fraction is too long: {price}."
            )
        changed = bool(notes) or kept < given.smallest
        return Settled(spend=kept, delta=used, changed=changed, notes=tuple(notes))

    def paid(self, question: Question) -> bool:
        """Whether the question was paid for before, so that the dataset is charged nothing more."""
        ledger = self.look()
        return ledger is not None and ledger.paid(question)

    def head(self) -> str:
        """The ledger's head; of an empty chain where there is no ledger yet."""
        return self._ledger.head if self._ledger is not None else "0:"

    def close(self) -> None:
        """Close the ledger. One in memory is forgotten."""
        if self._ledger is not None:
            self._ledger.close()
