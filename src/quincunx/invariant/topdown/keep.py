"""What the ledger keeps of a release: measurements and invariants, before anything is computed from them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING

from quincunx import noise
from quincunx.errors import BudgetError
from quincunx.invariant.topdown.budget import Invariant, Line
from quincunx.invariant.topdown.limits import carried
from quincunx.invariant.topdown.measure import draw, levels_of, pack, unpack
from quincunx.invariant.topdown.people import counted
from quincunx.invariant.topdown.schema import Integers
from quincunx.ledger import Ledger, Question
from quincunx.ledger.spending import rounded
from quincunx.numbers.text import amount, stated

if TYPE_CHECKING:
    from quincunx.invariant.topdown.topdown import TopDown


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """What the ledger keeps of one release. answers: noisy, in the order of the budget's lines that are measured.
    facts: the invariants, exact. head: the ledger's head. charged: what this call cost."""

    answers: tuple[tuple[Line, Integers], ...] = field(repr=False)
    facts: tuple[tuple[Invariant, Integers], ...] = field(repr=False)
    head: str
    charged: Fraction
    injected: bool


def keep(planned: TopDown, ledger: Ledger) -> Measured:
    """Reserve, then draw and keep what the ledger does not have yet, and return what it has."""
    test_key = noise.injected()
    registration = ledger.register(dataset=planned.dataset, specification=planned.specification)
    read: list[Integers] = []

    def tables() -> list[Integers]:
        """The exact tables of every level; the people are read when they are first needed."""
        if not read:
            found = counted(planned.source, planned.schema, planned.geography, key=planned.key, counts=planned.counts)
            read.extend(levels_of(found, planned.geography))
        return read

    head = ledger.head
    facts: tuple[tuple[Invariant, Integers], ...] = ()
    if planned.invariants:
        reservation = ledger.reserve(_question(planned, Fraction(0), "invariants"), injected=test_key)
        if reservation.stored:
            answer = ledger.reveal(reservation)
        else:

            def exact() -> list[Integers]:
                return [planned.schema.answers(each.query, tables()[each.level]) for each in planned.invariants]

            answer = ledger.store(reservation, _packed(exact, test_key), injected=test_key)
        facts = tuple(zip(planned.invariants, unpack(answer.content)[0], strict=True))
        # What cannot be satisfied is said before anything is spent; it depends on public facts alone.
        carried(planned.schema, planned.geography, [*planned.exact_limits(facts), *planned.limits])
    levels = [level for level in range(planned.geography.depth) if planned.lines(level)]
    prices = charges([planned.cost(level) for level in levels], registration.total)
    for price in prices:
        registration.check_size(price)
    questions = {
        level: _question(planned, price, f"level {level}") for level, price in zip(levels, prices, strict=True)
    }
    unpaid = sum((each.cost for each in questions.values() if not ledger.paid(each)), Fraction(0))
    affordable = ledger.account(planned.dataset).affordable()
    if unpaid > affordable:
        raise BudgetError(
            "the budget does not cover this release; nothing was spent",
            where=planned.dataset,
            got=f"{stated('ρ', unpaid)}, with {amount(affordable)} remaining",
            hint="Lower rho in the plan; what was paid for before costs nothing.",
            symbol="ρ",
            requested=unpaid,
            affordable=affordable,
        )
    reservations = {level: ledger.reserve(questions[level], injected=test_key) for level in levels}
    answers: list[tuple[Line, Integers]] = []
    injected = False
    for level in levels:
        if reservations[level].stored:
            answer = ledger.reveal(reservations[level])
        else:

            def drawn(level: int = level) -> list[Integers]:
                return draw(planned.schema, tables()[level], planned.lines(level))

            answer = ledger.store(reservations[level], _packed(drawn, test_key), injected=test_key)
        kept, about = unpack(answer.content)
        injected, head = injected or bool(about["injected"]), answer.head
        answers += zip(planned.lines(level), kept, strict=True)
    charged = sum((each.charged for each in reservations.values()), Fraction(0))
    return Measured(answers=tuple(answers), facts=facts, head=head, charged=charged, injected=injected)


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


def _question(planned: TopDown, cost: Fraction, what: str) -> Question:
    return Question(
        dataset=planned.dataset,
        version=planned.version,
        specification=planned.specification,
        cost=cost,
        asked={**planned.public, "what": what},
    )
