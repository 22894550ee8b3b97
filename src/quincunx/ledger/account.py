"""What the ledger hands out: a reservation, an answer, an account."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from quincunx.ledger.budget import Balance
from quincunx.ledger.halting import Halt
from quincunx.ledger.registration import Registration


@dataclass(frozen=True, slots=True, kw_only=True)
class Reservation:
    """A question that is paid for.

    dataset, question: the name, and the question's key. seq: the record that reserved it, now or earlier.
    charged, charged_delta: what this call cost the dataset; 0 for a retry or a replay.
    charged_analyst: what it cost the analyst. stored: whether an answer exists, which `reveal` gives.
    head: the chain's head after this call.
    """

    dataset: str
    question: str
    seq: int
    charged: Fraction
    charged_delta: Fraction
    charged_analyst: Fraction
    stored: bool
    head: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """A stored answer: the only thing that may be shown.

    dataset, question: as in the reservation. content: the bytes that were stored first. seq: the record that holds
    their digest. head: the chain's head when it was read.
    """

    dataset: str
    question: str
    content: bytes
    seq: int
    head: str


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
