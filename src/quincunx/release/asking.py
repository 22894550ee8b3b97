"""The way of a question: read → plan → price → rehearse, then reserve → run → draw → store → reveal."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Protocol

from quincunx.errors import ParameterError
from quincunx.ledger import Question
from quincunx.noise import injected
from quincunx.numbers import positive
from quincunx.numbers.text import amount
from quincunx.release import stored
from quincunx.release.books import PLAN, Books
from quincunx.release.identity import asked
from quincunx.release.pricing import Budgeted, Priced, price, spend_for
from quincunx.release.words import noises
from quincunx.table.expression import Measured
from quincunx.table.measure import Program
from quincunx.table.schema import Schema


class Engine(Protocol):
    """What a session asks of an engine. `run` alone reads private rows."""

    def rehearse(self, program: Program) -> None:
        """Try the program on made-up rows; RefusalError if it fails there. Reads no private row."""
        ...

    def run(self, program: Program) -> Any:
        """The exact measures: keys, measures and selection."""
        ...

    def sql(self, program: Program) -> str:
        """The statement that `run` would execute."""
        ...

    def close(self) -> None:
        """Give everything back."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """A stored answer as it was revealed. charged, charged_delta, charged_analyst: what this call cost.

    replayed: the answer was there before. paid: the question was paid for before, and its answer was drawn now. first:
    it is the first question about the dataset in this ledger.
    """

    content: dict[str, Any]
    charged: Fraction
    charged_delta: Fraction
    charged_analyst: Fraction
    replayed: bool
    paid: bool
    first: bool
    seq: int
    head: str


def spend_of(
    program: Program,
    standard: Budgeted,
    *,
    spend: object,
    within: Mapping[str, object] | None,
    confidence: Fraction,
    delta: object,
    other: Program | None = None,
) -> Fraction:
    """What a question spends: as stated, or for half-widths of named outputs; exactly one of the two is given."""
    if (spend is None) == (within is None):
        got = "neither" if spend is None else "both"
        hint = 'Write spend="0.05", or within={"n": 25} for a half-width.'
        raise ParameterError("a question says what it spends, or how wide its intervals may be", got=got, hint=hint)
    if within is not None:
        used = 0 if delta is None else delta
        return spend_for(program, standard, indices(program, within), confidence, used, other)
    return positive(spend, "spend")


def priced(
    program: Program, standard: Budgeted, spend: Fraction, delta: object, other: Program | None = None
) -> Priced:
    """The noise for a spend, if it can be drawn and told of: before anything is paid."""
    try:
        found = price(program, standard, spend, delta, other)
        noises(found.program, found.noise)
        return found
    except OverflowError:
        hint = "The noise would be too large to be worked out."
        raise ParameterError("the spend is too small", where="spend", got=amount(spend), hint=hint) from None


def indices(program: Program, within: Mapping[str, object]) -> dict[int, object]:
    """Output names with half-widths as numbers of aggregates."""
    outputs = {output.name.lower(): output for output in program.query.outputs}
    found: dict[int, object] = {}
    for name, width in within.items():
        output = outputs.get(str(name).lower())
        if output is None or not isinstance(output.expression, Measured):
            counted = [each.name for each in outputs.values() if isinstance(each.expression, Measured)]
            hint = f"Half-widths can be asked of {', '.join(counted) or 'counts and sums'}."
            raise ParameterError("no such count or sum", where="within", got=repr(name), hint=hint)
        found[output.expression.index] = width
    if not found:
        raise ParameterError("names no output", where="within", hint='Write within={"n": 25}.')
    return found


def question(books: Books, version: str, priced: Priced, schema: Schema, public: str) -> Question:
    """The question as the ledger knows it."""
    registration = books.registration
    return Question(
        dataset=registration.dataset,
        version=version,
        specification=registration.specification,
        cost=priced.spend,
        delta=priced.delta,
        asked=asked(priced, schema, public),
    )


def kept(
    books: Books,
    question: Question,
    analyst: str | None,
    rehearse: Callable[[], None],
    draw: Callable[[], Mapping[str, Any]],
) -> Kept:
    """Reserve, then draw and store unless an answer is stored, then reveal what is stored.

    `rehearse` tries the question on made-up rows, before it is paid for. `draw` asks the data; it is called after the
    question is paid for and never otherwise. What it returns is encoded and dropped: only the ledger's copy is shown.
    If it fails, the ledger halts the dataset before anybody is told; Ctrl-C is no failure.
    """
    ledger = books.open()
    test_key = injected()
    if not ledger.answered(question):
        rehearse()
    reservation = ledger.reserve(question, analyst=analyst, plan=PLAN, injected=test_key)
    first = books.asked()
    if reservation.stored:
        answer = ledger.reveal(reservation)
    else:
        # One line for success and failure, outside of any handler: nothing of a failure hangs on to what is raised.
        answer = ledger.store(reservation, _content(draw), injected=test_key)
    return Kept(
        content=stored.from_bytes(answer.content),
        charged=reservation.charged,
        charged_delta=reservation.charged_delta,
        charged_analyst=reservation.charged_analyst,
        replayed=reservation.stored,
        paid=not reservation.stored and not reservation.charged,
        first=first,
        seq=answer.seq,
        head=answer.head,
    )


def _content(draw: Callable[[], Mapping[str, Any]]) -> bytes | None:
    """What is to be stored; None where it could not be worked out, for whatever reason that rows may have."""
    try:
        return stored.to_bytes(draw())
    except Exception:
        return None


def drawn(engine: Engine, priceds: Sequence[Priced]) -> list[dict[str, Any]]:
    """The noisy answers of priced questions, encoded. This is where private rows are read."""
    test_key = injected()
    return [stored.encode(each, each.draw(engine.run(each.program)), injected=test_key) for each in priceds]
