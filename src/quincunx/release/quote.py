"""Plan and price: from the text of a question to its noise, its price and its identity. Nothing is paid here.

No private row is read. The ledger is looked at where it may hold the question at an earlier price or in an earlier
form, which is then replayed as it is.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, partial

from quincunx.errors import ParameterError, PrivacyError, QuincunxError
from quincunx.ledger import Question, Registration
from quincunx.ledger.spending import exact, rounded
from quincunx.numbers import Number, amount, delta_parameter, positive, stated
from quincunx.release.account import Look
from quincunx.release.dataset import Dataset
from quincunx.release.explanation import GROUP_SIZE, Cost, Explanation, output_errors, plan_words
from quincunx.release.identity import asked, fact
from quincunx.release.pricing import Priced, price
from quincunx.release.reach import check_reach
from quincunx.release.weighting import weighted
from quincunx.release.within import spend_within
from quincunx.release.words import noises
from quincunx.spec import Budgeted
from quincunx.table import Engine, Limits, Program


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    """What a question may cost, as it was typed: a spend, or half-widths to reach; and δ.

    share: the spend is a share of a budget, and is not rounded up. weights: how much of it each output gets.
    assume: what half-widths of means and the like are worked out for, {"rows": 1000}. limits: how much of one person
    may count for it, instead of what follows from its rows.
    interval: whether a part of it may pay for intervals, as those of quantiles do.
    """

    spend: Number | None = None
    within: Mapping[str, Number] | None = None
    delta: Number | None = None
    share: bool = False
    interval: bool = True
    weights: Mapping[str, Number] | None = None
    assume: Mapping[str, Number] | None = None
    limits: Limits | None = None

    @property
    def used(self) -> Fraction:
        """The δ, 0 where none is stated."""
        return Fraction(0) if self.delta is None else delta_parameter(self.delta)


@dataclass(frozen=True, slots=True, kw_only=True)
class Quote:
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Settled:
    """A spend as the ledger can keep it. changed: it is not kept as it was asked. notes: what is to be said of it."""

    spend: Fraction
    delta: Fraction
    changed: bool
    notes: tuple[str, ...]


def quoted(dataset: Dataset, look: Look, text: str, price: Price) -> Quote:
    """The question with its noise."""
    planned = weighted(dataset.program(text, interval=price.interval, limits=price.limits), price.weights)
    program, standard, other = planned, dataset.standard, None
    before = _selected_before(dataset, look, text, price, program)
    if before is not None:
        return before
    if standard.shares_delta and price.delta is not None and program.selection is None:
        other = weighted(dataset.program(text, 2, interval=price.interval, limits=price.limits), price.weights)
    wanted, used = spend_of(program, dataset, price, other), price.used
    kept = settled(dataset.registration, look, wanted, used, share=price.share)
    if kept.changed and look.known:
        # What a ledger holds from before amounts were rounded, or had a smallest size, is replayed as it is.
        with suppress(ParameterError):
            before = at_price(dataset, look, text, priced(program, standard, wanted, used, other))
            if look.paid(before.question):
                return before
    dataset.registration.check_size(kept.spend)
    found = priced(program, standard, kept.spend, kept.delta, other)
    unused = ("No δ was used: it would not lower the error.",) if used and not found.delta else ()
    return at_price(dataset, look, text, found, (*kept.notes, *unused))


def _selected_before(dataset: Dataset, look: Look, text: str, price: Price, now: Program) -> Quote | None:
    """The question as it was when keys that follow from facts were selected privately, if it was paid for then."""
    if price.delta is None or now.selection is not None:
        return None
    with suppress(QuincunxError):
        program = weighted(
            dataset.program(text, derive=False, interval=price.interval, limits=price.limits), price.weights
        )
        if program.selection is None or not look.known:
            return None
        wanted, used = spend_of(program, dataset, price), price.used
        kept = settled(dataset.registration, look, wanted, used)
        for spend, delta in ((wanted, used), (kept.spend, kept.delta)):
            quote = at_price(dataset, look, text, priced(program, dataset.standard, spend, delta))
            if look.paid(quote.question):
                return quote
    return None


def at_price(dataset: Dataset, look: Look, text: str, priced: Priced, notes: tuple[str, ...] = ()) -> Quote:
    """The question with noise that is given; refused where it would reach the ends of the lattice."""
    question = _question(dataset, priced.spend, priced.delta, asked(priced, dataset.schema, dataset.public))
    try:
        check_reach(priced, dataset.confidence)
    except PrivacyError:
        # What was paid for before there was such a limit is replayed as it is.
        if not look.paid(question):
            raise
    return Quote(text=text, priced=priced, question=question, notes=notes)


def together(dataset: Dataset, batch: list[Priced], spend: Fraction, delta: Fraction) -> Question:
    """The one question that pays for all of them."""
    content: dict[str, object] = {"batch": [asked(priced, dataset.schema, dataset.public) for priced in batch]}
    return _question(dataset, spend, delta, content)


def stating(dataset: Dataset, planned: Program) -> Question:
    """The question for an exact fact, which costs nothing."""
    return _question(dataset, Fraction(0), Fraction(0), fact(planned, dataset.schema, dataset.public))


def cost(dataset: Dataset, look: Look, priced: Priced, question: Question) -> Cost:
    """The price of `priced`, which `question` pays for."""
    paid, zero = look.paid(question), Fraction(0)
    return Cost(
        symbol=dataset.registration.symbol,
        spend=priced.spend,
        delta=priced.delta,
        charged=zero if paid else priced.spend,
        charged_delta=zero if paid else priced.delta,
        remaining=look.standing.remaining,
        affordable=look.affordable,
    )


def explained(
    dataset: Dataset,
    text: str,
    program: Program,
    engine: Engine,
    priced: Priced | None = None,
    cost: Cost | None = None,
    group_size: int = GROUP_SIZE,
) -> Explanation:
    """The plan in words; with a price also the errors, those of means for groups of `group_size` rows."""
    return Explanation(
        sql=text,
        dataset=dataset.name,
        unit=dataset.registration.specification.unit.words(),
        confidence=dataset.confidence,
        errors=() if priced is None else output_errors(priced, dataset.confidence, group_size),
        cost=cost,
        _written=cache(partial(engine.sql, program)),
        **plan_words(program, priced),
    )


def spend_of(program: Program, dataset: Dataset, price: Price, other: Program | None = None) -> Fraction:
    """What a question spends: as stated, or for half-widths of named outputs; exactly one of the two is given."""
    if (price.spend is None) == (price.within is None):
        got = "neither" if price.spend is None else "both"
        hint = 'Write spend="0.05", or within={"n": 25} for a half-width.'
        raise ParameterError("a question says what it spends, or how wide its intervals may be", got=got, hint=hint)
    if price.within is not None:
        used = 0 if price.delta is None else price.delta
        return spend_within(program, dataset.standard, price.within, dataset.confidence, used, other, price.assume)
    return positive(price.spend, "spend")


def settled(
    registration: Registration, look: Look, spend: Fraction, delta: Fraction, *, share: bool = False
) -> Settled:
    """The spend with a denominator that the ledger can add up for ever, rounded up; a share is rounded down."""
    if exact(spend, registration.total) and exact(delta, registration.delta):
        return Settled(spend=spend, delta=delta, changed=spend < registration.smallest, notes=())
    kept = rounded(spend, registration.total, look.affordable, down=share)
    used = rounded(delta, registration.delta, look.standing.remaining_delta)
    notes = []
    if (kept, used) != (spend, delta):
        way, price = "down" if share else "up", stated(registration.symbol, kept, used)
        notes.append(f"The spend was rounded {way} to a multiple of 1e-30, because its fraction is too long: {price}.")
    changed = bool(notes) or kept < registration.smallest
    return Settled(spend=kept, delta=used, changed=changed, notes=tuple(notes))


def priced(
    program: Program, standard: Budgeted, spend: Fraction, delta: Number, other: Program | None = None
) -> Priced:
    """The noise for a spend, if it can be drawn and told of: before anything is paid."""
    try:
        found = price(program, standard, spend, delta, other)
        noises(found.program, [each.mechanism for each in found.measurements])
        return found
    except OverflowError:
        hint = "The noise would be too large to be worked out."
        raise ParameterError("the spend is too small", where="spend", got=amount(spend), hint=hint) from None


def _question(dataset: Dataset, spend: Fraction, delta: Fraction, content: dict[str, object]) -> Question:
    return Question(
        dataset=dataset.name,
        version=dataset.version,
        specification=dataset.registration.specification,
        cost=spend,
        delta=delta,
        asked=content,
    )
