"""Releases: every question of a plan, fixed before the first is answered."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from pathlib import Path
from typing import Any, Final, Literal

from quincunx.errors import BudgetError, QuincunxError
from quincunx.ledger import Question
from quincunx.numbers import Number, amount, at_most, exact_text, stated
from quincunx.release import write
from quincunx.release.account import Account, Look
from quincunx.release.answer import Answer
from quincunx.release.answering import Connect, answer_once, answer_quote, draw_answers
from quincunx.release.dataset import Dataset
from quincunx.release.explanation import Explanation
from quincunx.release.plan_file import ReleaseEntry
from quincunx.release.pricing import Priced, price_batch
from quincunx.release.proposal import Proposal, Proposed, asked_of, written
from quincunx.release.quote import (
    Price,
    Quote,
    at_price,
    cost,
    explained,
    quoted,
    settled,
    stating,
    together,
)
from quincunx.release.reveal import FIRST, answer_of, lasting_notes, reveal_facts, said_now
from quincunx.release.tidy import check_tidy
from quincunx.release.toml import placed
from quincunx.release.weighting import weighted
from quincunx.release.whole import check_folder
from quincunx.release.within import assumed_rows, measured_outputs, spend_within
from quincunx.table import Program

_ZERO: Final = Fraction(0)
_BATCH: Final = "quincunx/batch/1"
_NORMS: Final[tuple[Literal[1, 2], ...]] = (1, 2)


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """A plan that holds together: what every release would cost and how wrong it would be. No private row was read.

    releases: (name, explanation). charged, charged_delta: what running all of them now would cost the dataset.
    remaining, affordable: what the dataset has left, and the largest spend that every budget would admit. notes: what
    is to be said about tables and ledger.
    """

    dataset: str
    symbol: str
    releases: tuple[tuple[str, Explanation], ...]
    charged: Fraction
    charged_delta: Fraction
    remaining: Fraction
    remaining_delta: Fraction
    affordable: Fraction
    notes: tuple[str, ...]

    @property
    def covered(self) -> bool:
        """Whether the budgets cover all of it."""
        return self.charged <= self.affordable and self.charged_delta <= self.remaining_delta

    def to_dict(self) -> dict[str, Any]:
        """The check as JSON values, amounts as exact texts."""
        names = ("charged", "charged_delta", "remaining", "remaining_delta", "affordable")
        return {
            "dataset": self.dataset,
            "symbol": self.symbol,
            **{name: exact_text(getattr(self, name)) for name in names},
            "covered": self.covered,
            "releases": {name: explanation.to_dict() for name, explanation in self.releases},
            "notes": list(self.notes),
        }

    def lines(self) -> list[str]:
        """The check in words."""
        lines = []
        for name, explanation in self.releases:
            lines += [f"{name}:", *(f"  {line}" for line in explanation.lines()[:-1])]
        rest = stated(self.symbol, self.remaining, self.remaining_delta)
        total = stated(self.symbol, self.charged, self.charged_delta)
        lines.append(f"all of it would cost {total}; remaining {rest} for {self.dataset}")
        if not self.covered:
            lines.append(f"not covered: at most {stated(self.symbol, self.affordable)} can be spent")
        return [*lines, *self.notes, "No private row was read."]

    def __str__(self) -> str:
        return "\n".join(self.lines())


@dataclass(frozen=True, slots=True, kw_only=True)
class Release:
    """What was written: the folder, the answers by name, and the ledger's head after them.

    answers: with what this run spent, which is nothing for those that were stored before. The files say what each
    release cost, whichever run paid for it. notes: what is to be said of this run alone.
    """

    folder: Path
    answers: dict[str, Answer]
    head: str
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Planned:
    """All entries, priced. whole: the one question that pays for all of them; None where each pays for itself."""

    entries: Sequence[ReleaseEntry]
    quotes: Sequence[Quote]
    whole: Question | None

    @property
    def questions(self) -> list[Question]:
        """What is charged."""
        return [quote.question for quote in self.quotes] if self.whole is None else [self.whole]


def check(dataset: Dataset, account: Account, connect: Connect, entries: Sequence[ReleaseEntry]) -> Check:
    """What running the entries would cost, and their errors."""
    with account.looking() as look:
        planned = _planned(dataset, look, entries)
        charged, charged_delta = _charged(look, planned)
        costs = [cost(dataset, look, each.priced, planned.whole or each.question) for each in planned.quotes]
        standing, affordable = look.standing, look.affordable
    releases = [
        (entry.name, explained(dataset, each.text, each.program, connect(), each.priced, price))
        for entry, each, price in zip(entries, planned.quotes, costs, strict=True)
    ]
    return Check(
        dataset=dataset.name,
        symbol=dataset.registration.symbol,
        releases=tuple(releases),
        charged=charged,
        charged_delta=charged_delta,
        remaining=standing.remaining,
        remaining_delta=standing.remaining_delta,
        affordable=affordable,
        notes=lasting_notes(dataset, account, standing),
    )


def propose(
    dataset: Dataset,
    account: Account,
    entries: Sequence[ReleaseEntry],
    within: Mapping[str, Number],
    assume: Mapping[str, Number] | None,
) -> Proposal:
    """What the entries would spend where these half-widths are asked of their outputs; the others as they are."""
    outputs = {}
    for entry in entries:
        with _entry_errors(entry):
            outputs[entry.name] = measured_outputs(dataset.program(entry.sql, limits=entry.limits))
    asked = asked_of(entries, outputs, within, assume)
    given = dataset.registration
    with account.looking() as look:
        affordable = look.affordable
    proposed = tuple(
        Proposed(
            name=entry.name,
            spend=spend,
            delta=entry.delta,
            within={} if entry is before else entry.within or {},
            written=written(entry),
        )
        for entry, before, spend in zip(asked, entries, _spends(dataset, asked), strict=True)
    )
    return Proposal(
        dataset=dataset.name,
        symbol=given.symbol,
        confidence=dataset.confidence,
        assumed=assumed_rows(assume),
        releases=proposed,
        budget=_budget(dataset),
        affordable=affordable,
    )


def release(
    dataset: Dataset,
    account: Account,
    connect: Connect,
    entries: Sequence[ReleaseEntry],
    folder: Path,
    progress: Callable[[str], None],
) -> Release:
    """Answer all entries, then write them. Refused as a whole, before anything is spent, if the budgets do not do."""
    with account.looking() as look:
        planned = _planned(dataset, look, entries)
        _admit(dataset, look, planned)
        waiting = _waiting(dataset, look, planned)
    check_folder(folder)
    progress("trying every release on made-up rows")
    for program in waiting:
        connect().rehearse(program)
    if planned.whole is None:
        drawn = _one_by_one(dataset, account, connect, planned, progress)
    else:
        progress(f"answering all {len(entries)} releases")
        drawn = _together(dataset, account, connect, planned, planned.whole)
    progress("writing the tables")
    answers = reveal_facts(dataset, account, connect) | {name: each.answer for name, each in drawn.items()}
    with account.looking() as look:
        head, standing = look.head, look.standing
    first = [note for answer in answers.values() for note in answer.notes if note.startswith(FIRST)]
    # What is published does not depend on which run writes it: prices from the ledger, and what is left at the end.
    published = {}
    for name, answer in answers.items():
        rest, rest_delta = standing.remaining, standing.remaining_delta
        lasting = replace(answer, remaining=rest, remaining_delta=rest_delta, head=head)
        if name in drawn:
            lasting = replace(lasting, spent=drawn[name].spent, delta=drawn[name].delta)
        said = {*first, *(drawn[name].said if name in drawn else ())}
        published[name] = replace(lasting, notes=tuple(note for note in lasting.notes if note not in said))
    write.write(folder, published, head)
    return Release(folder=folder, answers=answers, head=head, notes=tuple(first))


def _planned(dataset: Dataset, look: Look, entries: Sequence[ReleaseEntry]) -> _Planned:
    spends = _spends(dataset, entries)
    delta = sum((entry.delta for entry in entries), _ZERO)
    if dataset.standard.shares_delta and delta:
        return _as_one(dataset, look, entries, spends, delta)
    quotes = []
    for entry, spend in zip(entries, spends, strict=True):
        with _entry_errors(entry):
            price = Price(
                spend=spend,
                delta=entry.delta or None,
                share=entry.share is not None,
                weights=entry.weights,
                limits=entry.limits,
            )
            quotes.append(quoted(dataset, look, entry.sql, price))
            check_tidy(quotes[-1].program, entry.tidy)
    return _Planned(entries=entries, quotes=quotes, whole=None)


def _waiting(dataset: Dataset, look: Look, planned: _Planned) -> list[Program]:
    """Everything that a release would ask the engine, its facts too: it is tried before anything is paid."""
    asked = [(planned.whole or quote.question, each) for quote in planned.quotes for each in quote.priced.programs]
    asked += [(stating(dataset, program), program) for program in dataset.facts.values()]
    return [program for question, program in asked if not look.answered(question)]


def _spends(dataset: Dataset, entries: Sequence[ReleaseEntry]) -> list[Fraction]:
    """What each entry spends. Shares divide what the entries with a price leave of the plan's budget.

    The plan's budget is what is registered, not what happens to be left, so that running a plan again asks the same
    questions, which cost nothing.
    """
    fixed: dict[str, Fraction] = {}
    for entry in entries:
        if entry.spend is not None:
            fixed[entry.name] = entry.spend
        elif entry.within is not None:
            with _entry_errors(entry):
                fixed[entry.name] = _spend_within(dataset, entry, entry.within)
    given = dataset.registration
    budget = _budget(dataset)
    left = budget - sum(fixed.values(), _ZERO)
    shares = {entry.name: entry.share for entry in entries if entry.share is not None}
    if shares and left <= 0:
        first = next(entry for entry in entries if entry.share is not None)
        got = f"{stated(given.symbol, budget)} in all"
        hint = "Lower the other entries' spend, or raise the plan's budget."
        raise first.node.child("share").wrong("nothing of the plan's budget is left to share", got=got, hint=hint)
    whole = sum(shares.values(), _ZERO)
    return [fixed[each.name] if each.name in fixed else left * shares[each.name] / whole for each in entries]


def _budget(dataset: Dataset) -> Fraction:
    given = dataset.registration
    return given.total if given.plan is None else min(given.plan, given.total)


def _spend_within(dataset: Dataset, entry: ReleaseEntry, within: Mapping[str, Fraction]) -> Fraction:
    program = weighted(dataset.program(entry.sql, limits=entry.limits), entry.weights)
    # The δ of a question with public keys belongs to the batch, not to its own noise.
    delta = entry.delta if program.selection is not None else _ZERO
    return spend_within(program, dataset.standard, within, dataset.confidence, delta, assume=entry.assume)


def _as_one(
    dataset: Dataset, look: Look, entries: Sequence[ReleaseEntry], spends: list[Fraction], delta: Fraction
) -> _Planned:
    """All entries as one (ε, δ), which the ledger can keep; what it holds from before is replayed as it is."""
    epsilon, shared = sum(spends, _ZERO), any(entry.share is not None for entry in entries)
    kept = settled(dataset.registration, look, epsilon, delta, share=shared)
    earlier = [(epsilon, delta, True)] if kept.changed else []
    if _differ(dataset, entries):
        earlier += [(epsilon, delta, False), (kept.spend, kept.delta, False)]
    for spend, used, derive in dict.fromkeys(earlier) if earlier and look.known else ():
        before = _composed(dataset, look, entries, spends, spend, used, derive=derive)
        if before.whole is not None and look.paid(before.whole):
            return before
    dataset.registration.check_size(kept.spend)
    return _composed(dataset, look, entries, spends, kept.spend, kept.delta, kept.notes)


def _differ(dataset: Dataset, entries: Sequence[ReleaseEntry]) -> bool:
    """Whether a key follows from declared facts that was selected privately before there was such a rule."""
    with suppress(QuincunxError):
        pairs = [
            [dataset.program(each.sql, 1, derive=way, limits=each.limits) for way in (False, True)] for each in entries
        ]
        return any(before != now for before, now in pairs)
    return False


def _composed(
    dataset: Dataset,
    look: Look,
    entries: Sequence[ReleaseEntry],
    spends: list[Fraction],
    epsilon: Fraction,
    delta: Fraction,
    notes: tuple[str, ...] = (),
    *,
    derive: bool = True,
) -> _Planned:
    """All entries by their composed curve, with the kind of noise that errs less."""
    programs = []
    for entry in entries:
        with _entry_errors(entry):
            plans = (dataset.program(entry.sql, norm, derive=derive, limits=entry.limits) for norm in _NORMS)
            programs.append(tuple(weighted(each, entry.weights) for each in plans))
            check_tidy(programs[-1][0], entry.tidy)
    chosen = _priced_together(tuple(programs), tuple(spends), epsilon, delta)
    quotes = [at_price(dataset, look, entry.sql, priced, notes) for entry, priced in zip(entries, chosen, strict=True)]
    return _Planned(entries=entries, quotes=quotes, whole=together(dataset, chosen, epsilon, delta))


# A batch takes seconds to be priced, and `check` is followed by `release`.
@lru_cache(maxsize=16)
def _priced_together(
    programs: tuple[tuple[Program, ...], ...], spends: tuple[Fraction, ...], epsilon: Fraction, delta: Fraction
) -> list[Priced]:
    return price_batch([list(each) for each in programs], list(spends), epsilon, delta)


def _charged(look: Look, planned: _Planned) -> tuple[Fraction, Fraction]:
    """What the dataset would pay now: each different question that was not paid for before, once."""
    unpaid = {each.key: each for each in planned.questions if not look.paid(each)}.values()
    return sum((each.cost for each in unpaid), _ZERO), sum((each.delta for each in unpaid), _ZERO)


def _admit(dataset: Dataset, look: Look, planned: _Planned) -> None:
    """A release that the budgets do not cover is refused before its first question."""
    cost, delta = _charged(look, planned)
    left, symbol = look.standing, dataset.registration.symbol
    for sign, requested, spent, affordable in (
        (symbol, cost, left.total.spent, look.affordable),
        ("δ", delta, left.delta.spent, left.remaining_delta),
    ):
        if requested > affordable:
            got = f"{stated(sign, requested)}, with {amount(spent)} spent and {amount(affordable)}"
            raise BudgetError(
                "the budget does not cover this release; nothing was spent",
                where=f"dataset {dataset.name!r}",
                got=f"{got} remaining",
                hint=f"The largest affordable spend is {sign} = {at_most(affordable)}.",
                symbol=sign,
                requested=requested,
                spent=spent,
                remaining=affordable,
                affordable=affordable,
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Drawn:
    """An answer of this run, what it cost whoever paid for it, and the notes that are about this asking alone."""

    answer: Answer
    spent: Fraction
    delta: Fraction
    said: Sequence[str]


def _one_by_one(
    dataset: Dataset, account: Account, connect: Connect, planned: _Planned, progress: Callable[[str], None]
) -> dict[str, _Drawn]:
    answers: dict[str, _Drawn] = {}
    for entry, quote in zip(planned.entries, planned.quotes, strict=True):
        progress(f"answering {entry.name}, {len(answers) + 1} of {len(planned.entries)}")
        with account.looking() as look:
            found = answer_quote(account, look, connect, quote)
        answer = answer_of(dataset, account, quote, found, found.content, entry.tidy)
        said, question = said_now(dataset, account, found), quote.question
        answers[entry.name] = _Drawn(answer=answer, spent=question.cost, delta=question.delta, said=said)
    return answers


def _together(
    dataset: Dataset, account: Account, connect: Connect, planned: _Planned, whole: Question
) -> dict[str, _Drawn]:
    batch = [quote.priced for quote in planned.quotes]
    with account.looking() as look:
        # Every question was rehearsed with the release.
        found = answer_once(
            account,
            look,
            whole,
            lambda: None,
            lambda: {"format": _BATCH, "answers": draw_answers(connect, batch)},
        )
    price = stated(dataset.registration.symbol, whole.cost, whole.delta)
    note = f"All releases of the plan were charged as one, {price}; what is spent here is this one's share."
    answers = {}
    for entry, quote, content in zip(planned.entries, planned.quotes, found.content["answers"], strict=True):
        share = quote.priced.spend / whole.cost
        part = replace(found, charged=share * found.charged, charged_delta=share * found.charged_delta)
        answer = answer_of(dataset, account, quote, part, content, entry.tidy, (note,))
        said = said_now(dataset, account, part)
        answers[entry.name] = _Drawn(answer=answer, spent=share * whole.cost, delta=share * whole.delta, said=said)
        found = replace(found, first=False)
    return answers


@contextmanager
def _entry_errors(entry: ReleaseEntry) -> Iterator[None]:
    """Errors get the line of the entry in front."""
    try:
        yield
    except QuincunxError as error:
        error.path = entry.node.path
        raise placed(error, entry.node.place) from None
