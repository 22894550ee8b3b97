"""Halts: an engine failed on the rows of a dataset. What was open then is withheld; nobody is told which one it was.

See ledger.md, "When an engine fails", for what remains to be learned.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from quincunx.errors import HaltedError
from quincunx.ledger.store import Transaction


@dataclass(frozen=True, slots=True, kw_only=True)
class Halt:
    """One halt of a dataset. seq: its record. version: the version of the data that the engine failed on.

    questions: how many were reserved since the halt before, or since the beginning. withheld: how many were open, and
    are never answered. reopened: the record that reopened the dataset; None while it is halted. allowed: the record
    that opened this version again; None while it is closed.
    """

    seq: int
    version: str
    questions: int
    withheld: int
    reopened: int | None
    allowed: int | None

    @property
    def bits(self) -> float:
        """log2(1 + questions): what the moment of the halt can have told, at most."""
        return math.log2(1 + self.questions)


def bits(halts: Iterable[Halt]) -> float:
    """What all of them can have told together, rounded up to a tenth of a bit."""
    return math.ceil(10 * sum(halt.bits for halt in halts)) / 10


def told(halts: Sequence[Halt]) -> list[str]:
    """What is to be said of a dataset's halts wherever an answer of it is shown; nothing where there were none."""
    if not halts:
        return []
    openings = {record for halt in halts for record in (halt.reopened, halt.allowed) if record is not None}
    again = f"reopened {_times(len(openings))}" if openings else "not reopened"
    now = "; it is halted now" if halts[-1].reopened is None else ""
    what = f"This dataset was halted {_times(len(halts))}, when an engine failed on its rows, and {again}{now}."
    return [f"{what} That can have told at most {bits(halts)} bits about them."]


def _times(number: int) -> str:
    return {1: "once", 2: "twice"}.get(number, f"{number} times")


def halted(dataset: str) -> HaltedError:
    """The one sentence for whoever asks: those whose question was open, those who come later, and the one."""
    return HaltedError(
        "the dataset is halted, because an engine failed on its rows; nobody is told on which question",
        where=f"dataset {dataset!r}",
        hint="Questions that were open at that moment stay paid and are not answered; others cost nothing now, and "
        "stored answers can be asked for. The curator reopens it by a new version, or by `quincunx ledger reopen`.",
    )


def withheld(dataset: str) -> HaltedError:
    """The sentence for all questions that were open at a halt, once the dataset is open again."""
    return HaltedError(
        "this question was open when the dataset was halted; it stays paid and is not answered on this version",
        where=f"dataset {dataset!r}",
        hint="Ask another question, or ask it about a new version of the data.",
    )


class Halts:
    """The halts of a ledger, inside one transaction."""

    __slots__ = ("_store",)

    def __init__(self, transaction: Transaction) -> None:
        self._store = transaction

    def check(self, dataset: str, version: str, key: str) -> bool:
        """Raise unless a question that has no answer may be asked; whether its version reopens the dataset."""
        halts = self._store.halts(dataset)
        if not halts:
            return False
        standing = any(reopened is None for _, _, reopened, _ in halts)
        closed = any(each == version for _, each, _, allowed in halts if allowed is None)
        if closed or (standing and version in self._versions(dataset)):
            raise halted(dataset)
        if self._store.withheld(key):
            raise withheld(dataset)
        return standing

    def refusal(self, dataset: str, key: str) -> HaltedError | None:
        """What everyone is told whose question was open at a halt, whatever became of it; None for the others."""
        if not self._store.withheld(key):
            return None
        standing = any(reopened is None for _, _, reopened, _ in self._store.halts(dataset))
        return halted(dataset) if standing else withheld(dataset)

    def halt(self, dataset: str, version: str, seq: int) -> HaltedError:
        """Halt the dataset by record `seq`, and withhold everything that is open; what all of them are told."""
        self._store.add_halt(dataset, version, seq)
        return halted(dataset)

    def pending(self, dataset: str) -> bool:
        """Whether there is anything that a reason would reopen: the dataset, or a version."""
        return any(allowed is None for _, _, _, allowed in self._store.halts(dataset))

    def listed(self, dataset: str) -> tuple[Halt, ...]:
        """All halts of the dataset, in order."""
        found, before = [], 0
        for seq, version, reopened, allowed in self._store.halts(dataset):
            asked, _ = self._store.counts(dataset, before, seq)
            found.append(
                Halt(
                    seq=seq,
                    version=version,
                    questions=asked,
                    withheld=self._store.withheld_by(seq),
                    reopened=reopened,
                    allowed=allowed,
                )
            )
            before = seq
        return tuple(found)

    def version(self, seq: int) -> str:
        """The version that the reservation in record `seq` asks about."""
        return str(json.loads(self._store.body(seq))["version"])

    def _versions(self, dataset: str) -> set[str]:
        """Every version that was ever asked about. Read from the records, which happens while a dataset is halted."""
        bodies = map(json.loads, self._store.bodies("reservation"))
        return {body["version"] for body in bodies if body["dataset"] == dataset}
