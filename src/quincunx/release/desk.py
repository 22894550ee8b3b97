"""Where questions are planned, priced and answered: what a session and a release share."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final, Literal

from quincunx.errors import ParameterError, PrivacyError, QuincunxError, SpecificationError, kind_of
from quincunx.ledger import Question, halting
from quincunx.loss import Loss
from quincunx.numbers import delta_parameter, probability
from quincunx.numbers.text import stated
from quincunx.release import asking, guarantee, neighbours, stored
from quincunx.release import invariants as facts
from quincunx.release.answer import Answer
from quincunx.release.asking import Engine, Kept
from quincunx.release.books import Books
from quincunx.release.explanation import Cost, Explanation, output_errors, plan_words
from quincunx.release.identity import fact, public_digest
from quincunx.release.pricing import Budgeted, Priced
from quincunx.release.publish import publish
from quincunx.release.reach import check_reach
from quincunx.release.words import noises
from quincunx.spec.standard import is_budgeted
from quincunx.spec.unit import AddRemove, Replace, of_people
from quincunx.table import sql as reader
from quincunx.table.engines.duckdb import DuckDB
from quincunx.table.engines.evaluate import evaluate
from quincunx.table.measure import Program
from quincunx.table.rules import plan
from quincunx.table.source import Table, schema

# How a note begins that belongs to one question only.
FIRST: Final = "The first question"


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """A question that is planned and priced, and nothing more: its text, its noise and its identity.

    notes: what is to be said about its price.
    """

    text: str
    priced: Priced
    question: Question
    notes: tuple[str, ...] = ()

    @property
    def program(self) -> Program:
        """What the engine would compute."""
        return self.priced.program


class Desk:
    """One dataset: tables, guarantee, ledger, engine; parameters as in Session. Only `engine.run` reads private rows.

    program, ask, cost and explanation plan and price; answer shows what the ledger keeps.
    """

    __slots__ = (
        "_engine",
        "_facts",
        "_tables",
        "_witness",
        "analyst",
        "batches",
        "books",
        "confidence",
        "invariants",
        "public",
        "schema",
        "standard",
        "version",
    )

    def __init__(
        self,
        *,
        dataset: str,
        version: str,
        ledger: object,
        tables: Mapping[str, Table],
        unit: AddRemove | Replace,
        standard: Budgeted,
        intensity: object,
        budgets: Mapping[str, object] | None,
        confidence: object,
        analyst: str | None,
        invariants: object = (),
    ) -> None:
        _check_blocks(unit, standard)
        self.confidence = probability(confidence, "confidence")
        if not 0 < self.confidence < 1:
            raise ParameterError("must be between 0 and 1, both excluded", where="confidence", got=str(confidence)[:40])
        self._tables, self.version, self.analyst, self.standard = _checked(tables), version, analyst, standard
        self.schema = schema(self._tables, unit)
        self.public = public_digest(self._tables)
        self.invariants = facts.read_invariants(invariants)
        self._facts = {name: facts.program(text, self.schema) for name, text in self.invariants.items()}
        self._witness = neighbours.check(self._facts, self.schema, self._tables)
        self.books = Books(
            path=ledger,
            dataset=dataset,
            specification=guarantee.specification(self.schema, standard, intensity, facts.scope(self.invariants)),
            budgets=budgets,
        )
        self._engine: Engine | None = None
        # Prices of whole batches, which take seconds to find: (questions, spends, δ) → noise.
        self.batches: dict[tuple[object, ...], list[Priced]] = {}

    @property
    def dataset(self) -> str:
        """The name that owns the budget."""
        return self.books.registration.dataset

    @property
    def engine(self) -> Engine:
        """The engine, connected when it is first needed."""
        if self._engine is None:
            self._engine = DuckDB(self._tables, self.schema)
        return self._engine

    @property
    def notes(self) -> tuple[str, ...]:
        """What is to be said about the tables and the ledger."""
        return (*self._standing(), *halting.told(self.books.left(self.analyst).halts))

    def _standing(self) -> tuple[str, ...]:
        told = [f"{name}: {note}" for name, table in self._tables.items() for note in table.notes]
        if self.books.memory:
            told.append("The ledger is in memory: what was spent is forgotten when this process ends.")
        if self.invariants:
            told.append(f"Published exactly and not protected: {', '.join(self.invariants)}.")
        if self._witness is not None:
            told.append(
                f"Only the presence of people who change no invariant is hidden, such as {self._witness.words()}."
            )
        return tuple(told)

    def close(self) -> None:
        """Close the ledger and the engine."""
        self.books.close()
        if self._engine is not None:
            self._engine.close()

    def program(self, text: str, norm: Literal[1, 2] | None = None, *, derive: bool = True) -> Program:
        """The plan of a question, for the standard's own noise or for another norm.

        derive: whether keys that follow from declared facts are public, which they were not always.
        """
        query = reader.read(text, self.schema, evaluate, derive=derive)
        return plan(query, self.schema, self.standard.norm if norm is None else norm)

    def ask(
        self, text: str, *, spend: object, delta: object, within: Mapping[str, object] | None, share: bool = False
    ) -> Ask:
        """The question with its noise. share: the spend is a share of a budget, and is not rounded up."""
        before = self._selected(text, spend=spend, delta=delta, within=within)
        if before is not None:
            return before
        program, other = self.program(text), None
        if self.standard.shares_delta and delta is not None and program.selection is None:
            other = self.program(text, 2)
        wanted = asking.spend_of(
            program, self.standard, spend=spend, within=within, confidence=self.confidence, delta=delta, other=other
        )
        used = Fraction(0) if delta is None else delta_parameter(delta)
        settled = self.books.settled(wanted, used, self.analyst, share=share)
        if settled.changed and self.books.look() is not None:
            # What a ledger holds from before amounts were rounded, or had a smallest size, is replayed as it is.
            with suppress(ParameterError):
                before = self.at_price(text, asking.priced(program, self.standard, wanted, used, other))
                if self.books.paid(before.question):
                    return before
        self.books.registration.check_size(settled.spend)
        priced = asking.priced(program, self.standard, settled.spend, settled.delta, other)
        unused = ("No δ was used: it would not lower the error.",) if used and not priced.delta else ()
        return self.at_price(text, priced, (*settled.notes, *unused))

    def _selected(self, text: str, *, spend: object, delta: object, within: Mapping[str, object] | None) -> Ask | None:
        """The question as it was when keys that follow from facts were selected privately, if it was paid for then."""
        if delta is None or self.books.look() is None:
            return None
        with suppress(QuincunxError):
            program = self.program(text, derive=False)
            if program.selection is None or self.program(text).selection is not None:
                return None
            wanted = asking.spend_of(
                program, self.standard, spend=spend, within=within, confidence=self.confidence, delta=delta
            )
            used = delta_parameter(delta)
            kept = self.books.settled(wanted, used, self.analyst)
            for amount, share in ((wanted, used), (kept.spend, kept.delta)):
                ask = self.at_price(text, asking.priced(program, self.standard, amount, share))
                if self.books.paid(ask.question):
                    return ask
        return None

    def at_price(self, text: str, priced: Priced, notes: tuple[str, ...] = ()) -> Ask:
        """The question with noise that is given; refused where it would reach the ends of the lattice."""
        question = asking.question(self.books, self.version, priced, self.schema, self.public)
        try:
            check_reach(priced, self.confidence)
        except PrivacyError:
            # What was paid for before there was such a limit is replayed as it is.
            if not self.books.paid(question):
                raise
        return Ask(text=text, priced=priced, question=question, notes=notes)

    def cost(self, priced: Priced, question: Question) -> Cost:
        """The price of `priced`, which `question` pays for."""
        left, zero = self.books.left(self.analyst), Fraction(0)
        paid = self.books.paid(question)
        return Cost(
            symbol=self.books.registration.symbol,
            spend=priced.spend,
            delta=priced.delta,
            charged=zero if paid else priced.spend,
            charged_delta=zero if paid else priced.delta,
            remaining=left.remaining,
            affordable=left.affordable,
        )

    def explanation(
        self, text: str, program: Program, priced: Priced | None, cost: Cost | None, size: int
    ) -> Explanation:
        """The plan in words; with a price also the errors, those of means for groups of `size` rows."""
        return Explanation(
            sql=text,
            dataset=self.dataset,
            unit=self.books.registration.specification.unit.words(),
            confidence=self.confidence,
            errors=() if priced is None else output_errors(priced, self.confidence, size),
            cost=cost,
            engine_sql=self.engine.sql(program),
            **plan_words(program, priced),
        )

    def kept(self, ask: Ask) -> Kept:
        """Rehearse, pay, draw, store, and read what is stored."""
        return asking.kept(
            self.books,
            ask.question,
            self.analyst,
            lambda: self.engine.rehearse(ask.program),
            lambda: asking.drawn(self.engine, [ask.priced])[0],
        )

    def answer(
        self, ask: Ask, found: Kept, content: Mapping[str, Any], tidy: tuple[str, ...], more: tuple[str, ...] = ()
    ) -> Answer:
        """The answer as the ledger keeps it, with `more` notes; a replay is the same table."""
        kept = stored.decode(content)
        left, given = self.books.left(self.analyst), self.books.registration
        injected = ("not private: injected key",) if kept.injected else ()
        return Answer(
            columns=publish(ask.program, kept, confidence=self.confidence, tidy=tidy, evaluate=evaluate),
            sql=ask.text,
            dataset=given.dataset,
            version=self.version,
            specification=given.specification,
            loss=kept.loss,
            symbol=given.symbol,
            spent=found.charged,
            delta=found.charged_delta,
            remaining=left.remaining,
            remaining_delta=left.remaining_delta,
            head=found.head,
            confidence=self.confidence,
            mechanisms=noises(ask.program, kept.noise),
            biases=ask.program.biases,
            notes=(*injected, *self.said(found), *ask.notes, *more, *self._standing(), *halting.told(left.halts)),
            source=next(table.kind for table in self._tables.values() if not table.public),
        )

    def said(self, found: Kept) -> list[str]:
        """What is true of this asking alone, and not of the answer: a cost of zero, and that it was the first."""
        said, given = [], self.books.registration
        if found.replayed:
            said.append(f"Cost 0: this is the stored answer of record {found.seq}.")
        elif found.paid:
            said.append("Cost 0: the question was paid for before, and its answer had not been stored.")
        if found.charged_analyst and not found.charged:
            charged = stated(given.symbol, found.charged_analyst)
            said.append(f"{self.analyst} is charged {charged}, the dataset nothing.")
        if found.first and not self.books.memory:
            # A mistyped path makes a new ledger, and a new ledger has a whole budget: that must not pass in silence.
            total = stated(given.symbol, given.total, given.delta)
            said.append(f"{FIRST} about {self.dataset} in this ledger, which now gives it {total} in all.")
        return said

    def facts(self) -> dict[str, Answer]:
        """Every invariant, exactly, by its name. Inside the scope that they define this costs 0, which is said."""
        return {name: self._fact(name, planned) for name, planned in self._facts.items()}

    def rehearse(self, whole: Question | None, asks: Iterable[Ask]) -> None:
        """Try everything that a release would ask the engine, its facts too: refused as a whole, before it is paid."""
        waiting = [(whole or ask.question, ask.program) for ask in asks]
        waiting += [(self._stating(planned), planned) for planned in self._facts.values()]
        ledger = self.books.look()
        for question, program in waiting:
            if ledger is None or not ledger.answered(question):
                self.engine.rehearse(program)

    def _stating(self, planned: Program) -> Question:
        given = self.books.registration
        return Question(
            dataset=given.dataset,
            version=self.version,
            specification=given.specification,
            cost=0,
            asked=fact(planned, self.schema, self.public),
        )

    def _fact(self, name: str, planned: Program) -> Answer:
        given = self.books.registration
        found = asking.kept(
            self.books,
            self._stating(planned),
            self.analyst,
            lambda: self.engine.rehearse(planned),
            lambda: facts.encode(planned, self.engine.run(planned)),
        )
        left = self.books.left(self.analyst)
        said = "Cost 0: an invariant is published exactly, and nothing is promised about it."
        return Answer(
            columns=facts.columns(planned, found.content),
            sql=self.invariants[name],
            dataset=given.dataset,
            version=self.version,
            specification=given.specification,
            loss=Loss(),
            symbol=given.symbol,
            spent=found.charged,
            delta=found.charged_delta,
            remaining=left.remaining,
            remaining_delta=left.remaining_delta,
            head=found.head,
            confidence=self.confidence,
            mechanisms=(),
            biases=(),
            notes=(said, *(each for each in self.said(found) if not each.startswith("Cost 0")), *self.notes),
            source=next(table.kind for table in self._tables.values() if not table.public),
        )


def _checked(tables: object) -> dict[str, Table]:
    hint = 'Write {"visits": Table(frame_or_path, limits={"rows": 20})}.'
    for name, table in tables.items() if isinstance(tables, Mapping) else ():
        if not isinstance(table, Table):
            raise ParameterError("expected a Table", where=f"tables[{name!r}]", got=kind_of(table), hint=hint)
    if not isinstance(tables, Mapping):
        raise ParameterError("expected names with tables", where="tables", got=kind_of(tables), hint=hint)
    return dict(tables)


def _check_blocks(unit: object, standard: object) -> None:
    if not of_people(unit):
        hint = 'Write unit.AddRemove(key="person_id") or unit.Replace(key="person_id"); there is no default.'
        raise SpecificationError("expected a unit of protection", where="unit", got=kind_of(unit), hint=hint)
    if not is_budgeted(standard):
        hint = 'Write standard.ZCDP(), standard.Pure() or standard.Approximate(delta="1e-9").'
        raise SpecificationError(
            "no budget is kept in this standard", where="standard", got=kind_of(standard), hint=hint
        )
