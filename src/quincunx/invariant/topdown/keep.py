"""What the ledger keeps of a release, of one table or several: measurements and invariants, before all computing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Protocol

from quincunx import noise
from quincunx.errors import BudgetError
from quincunx.invariant.topdown.budget import Invariant, Line
from quincunx.invariant.topdown.geography import Geography
from quincunx.invariant.topdown.measure import draw, levels_of, pack, unpack
from quincunx.invariant.topdown.people import counted
from quincunx.invariant.topdown.schema import Integers, Schema
from quincunx.ledger import Ledger, Question
from quincunx.ledger.spending import rounded
from quincunx.numbers import amount, stated
from quincunx.spec import Specification

Facts = tuple[tuple[Invariant, Integers], ...]


class Planned(Protocol):
    """What is asked of a planned table here: who counts, what is measured, and what must be possible."""

    dataset: str
    version: str
    specification: Specification
    schema: Schema
    geography: Geography
    source: Path | Integers
    key: str | None
    counts: str | None
    invariants: tuple[Invariant, ...]
    public: dict[str, object]

    def lines(self, level: int) -> list[Line]:
        """What is measured at a level."""

    def cost(self, level: int) -> Fraction:
        """What the measurements of a level cost."""

    def check_limits(self, facts: Facts) -> object:
        """Raise where no table keeps the invariants and bounds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """What the ledger keeps of one release. answers: noisy, in the order of the budget's lines that are measured.
    facts: the invariants, exact. head: the ledger's head. charged: what this call cost."""

    answers: tuple[tuple[Line, Integers], ...] = field(repr=False)
    facts: tuple[tuple[Invariant, Integers], ...] = field(repr=False)
    head: str
    charged: Fraction
    injected: bool


def keep(
    plans: Sequence[Planned], ledger: Ledger, check: Callable[[Sequence[Facts]], None] | None = None
) -> tuple[Measured, ...]:
    """Reserve, then draw and keep what the ledger does not have yet, and return what it has, for every table of one
    dataset: all of them are reserved before one is drawn. check: what must hold among the facts of all tables; it is
    asked before anything is spent."""
    test_key = noise.injected()
    first = plans[0]
    registration = ledger.register(dataset=first.dataset, specification=first.specification)
    read = [_Reader(planned) for planned in plans]
    head = ledger.head
    facts: list[Facts] = []
    for planned, reader in zip(plans, read, strict=True):
        facts.append(())
        if planned.invariants:
            reservation = ledger.reserve(_question(planned, Fraction(0), "invariants"), injected=test_key)
            if reservation.stored:
                answer = ledger.reveal(reservation)
            else:
                answer = ledger.store(reservation, _packed(reader.exact, test_key), injected=test_key)
            facts[-1] = tuple(zip(planned.invariants, unpack(answer.content)[0], strict=True))
            # What cannot be satisfied is said before anything is spent; it depends on public facts alone.
            planned.check_limits(facts[-1])
    if check is not None:
        check(facts)
    levels = [
        (number, level)
        for number, planned in enumerate(plans)
        for level in range(planned.geography.depth)
        if planned.lines(level)
    ]
    prices = charges([plans[number].cost(level) for number, level in levels], registration.total)
    for price in prices:
        registration.check_size(price)
    questions = {
        (number, level): _question(plans[number], price, f"level {level}")
        for (number, level), price in zip(levels, prices, strict=True)
    }
    unpaid = sum((each.cost for each in questions.values() if not ledger.paid(each)), Fraction(0))
    affordable = ledger.account(first.dataset).affordable()
    if unpaid > affordable:
        raise BudgetError(
            "the budget does not cover this release; nothing was spent",
            where=first.dataset,
            got=f"{stated('ρ', unpaid)}, with {amount(affordable)} remaining",
            hint="Lower rho in the plan; what was paid for before costs nothing.",
            symbol="ρ",
            requested=unpaid,
            affordable=affordable,
        )
    reservations = {each: ledger.reserve(questions[each], injected=test_key) for each in levels}
    answers: list[list[tuple[Line, Integers]]] = [[] for _ in plans]
    injected = False
    for number, level in levels:
        reservation, lines = reservations[number, level], plans[number].lines(level)
        if reservation.stored:
            answer = ledger.reveal(reservation)
        else:
            drawn = partial(read[number].drawn, level)
            answer = ledger.store(reservation, _packed(drawn, test_key), injected=test_key)
        kept, about = unpack(answer.content)
        injected, head = injected or bool(about["injected"]), answer.head
        answers[number] += zip(lines, kept, strict=True)
    return tuple(
        Measured(
            answers=tuple(answers[number]),
            facts=facts[number],
            head=head,
            charged=sum((each.charged for (own, _), each in reservations.items() if own == number), Fraction(0)),
            injected=injected,
        )
        for number in range(len(plans))
    )


class _Reader:
    """The exact tables of one plan; its file is read when they are first needed."""

    def __init__(self, planned: Planned) -> None:
        self._planned = planned
        self._tables: list[Integers] = []

    def _read(self) -> list[Integers]:
        planned = self._planned
        if not self._tables:
            found = counted(planned.source, planned.schema, planned.geography, key=planned.key, counts=planned.counts)
            self._tables = levels_of(found, planned.geography)
        return self._tables

    def exact(self) -> list[Integers]:
        """The invariants."""
        tables = self._read()
        return [self._planned.schema.answers(each.query, tables[each.level]) for each in self._planned.invariants]

    def drawn(self, level: int) -> list[Integers]:
        """The noisy answers of a level."""
        return draw(self._planned.schema, self._read()[level], self._planned.lines(level))


def charges(costs: Sequence[Fraction], total: Fraction) -> list[Fraction]:
    """What each level is charged, in fractions that a ledger adds up: differences of the rounded running total.

    All levels are reserved before one is drawn, so what counts is that together they are charged at least what all of
    them cost; the running total is rounded up, to a multiple of 1e-30 where its fraction is long.
    """
    found, before, running = [], Fraction(0), Fraction(0)
    for cost in costs:
        running += cost
        after = rounded(running, total, running - 1)
        found.append(after - before)
        before = after
    return found


def _packed(make: Callable[[], list[Integers]], test_key: bool) -> bytes | None:
    """What is stored; None where the people could not be read, which halts the dataset for all alike."""
    try:
        return pack(make(), {"injected": test_key})
    except Exception:
        return None


def _question(planned: Planned, cost: Fraction, what: str) -> Question:
    return Question(
        dataset=planned.dataset,
        version=planned.version,
        specification=planned.specification,
        cost=cost,
        asked={**planned.public, "what": what},
    )
