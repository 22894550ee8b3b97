"""What the ledger hands out: a reservation, an answer, where a dataset stands, an account."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from quincunx.ledger.budget import Balance
from quincunx.ledger.halting import Halt
from quincunx.ledger.registration import Registration


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """Where a dataset stands. total, delta: its own balances in the budgeted parameter and in δ; halts: in order."""

    total: Balance
    delta: Balance
    halts: tuple[Halt, ...]

    @staticmethod
    def untouched(registration: Registration) -> Standing:
        """That of a dataset about which nothing was asked."""
        budgets = registration.total, registration.delta
        total, delta = (Balance(budget=each, spent=Fraction(0)) for each in budgets)
        return Standing(total=total, delta=delta, halts=())

    @property
    def remaining(self) -> Fraction:
        """What the dataset has left in the budgeted parameter."""
        return self.total.remaining or Fraction(0)

    @property
    def remaining_delta(self) -> Fraction:
        """What the dataset has left of δ."""
        return self.delta.remaining or Fraction(0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reservation:
    """A question that is paid for.

    dataset, question: the name, and the question's key. seq: the record that reserved it, now or earlier.
    charged, charged_delta: what this call cost the dataset; 0 for a retry or a replay.
    charged_analyst: what it cost the analyst. stored: whether an answer exists, which `reveal` gives.
    head, standing: the chain's head and where the dataset stands after this call.
    """

    dataset: str
    question: str
    seq: int
    charged: Fraction
    charged_delta: Fraction
    charged_analyst: Fraction
    stored: bool
    head: str
    standing: Standing


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """A stored answer: the only thing that may be shown.

    dataset, question: as in the reservation. content: the bytes that were stored first. seq: the record that holds
    their digest. head: the chain's head when it was read. standing: where the dataset stood then; of an answer that was
    stored by this call, at its reservation.
    """

    dataset: str
    question: str
    content: bytes
    seq: int
    head: str
    standing: Standing


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """A dataset's account at one moment.

    total, delta: the dataset's balances in the budgeted parameter and in δ. plans, analysts: (name, balance) of all who
    spent or have a limit. questions: how many were reserved. answers: how many of them are stored. halts: when an
    engine failed on the rows, in order.
    """

    registration: Registration
    total: Balance
    delta: Balance
    plans: tuple[tuple[str, Balance], ...]
    analysts: tuple[tuple[str, Balance], ...]
    questions: int
    answers: int
    halts: tuple[Halt, ...] = ()

    @property
    def halted(self) -> bool:
        """Whether the dataset is halted now: it answers nothing new."""
        return any(halt.reopened is None for halt in self.halts)

    def affordable(self, *, plan: str = "default", analyst: str | None = None) -> Fraction:
        """The largest spend that every budget in the way would admit: dataset, plan, and analyst if named."""
        untouched = Balance(budget=self.registration.plan, spent=Fraction(0))
        ways = [self.total, dict(self.plans).get(plan, untouched)]
        if analyst is not None:
            fresh = Balance(budget=self.registration.limit(analyst), spent=Fraction(0))
            ways.append(dict(self.analysts).get(analyst, fresh))
        return min(each.remaining for each in ways if each.remaining is not None)
