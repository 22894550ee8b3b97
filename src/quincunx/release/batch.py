"""Releases: every question of a plan, fixed before the first is answered."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any, Final

from quincunx.errors import BudgetError, QuincunxError
from quincunx.ledger import Question
from quincunx.numbers.text import amount, at_most, exact_text, stated
from quincunx.release import asking, write
from quincunx.release.answer import Answer
from quincunx.release.desk import FIRST, Ask, Desk
from quincunx.release.explanation import GROUP_SIZE, Explanation
from quincunx.release.identity import asked
from quincunx.release.plan_file import ReleaseEntry
from quincunx.release.pricing import price_batch, spend_for
from quincunx.release.tidy import check_tidy
from quincunx.release.toml import placed
from quincunx.release.whole import check_folder

_ZERO: Final = Fraction(0)
_BATCH: Final = "quincunx/batch/1"


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
    asks: Sequence[Ask]
    whole: Question | None

    @property
    def questions(self) -> list[Question]:
        """What is charged."""
        return [ask.question for ask in self.asks] if self.whole is None else [self.whole]


def check(desk: Desk, entries: Sequence[ReleaseEntry]) -> Check:
    """What running the entries would cost, and their errors."""
    planned = _planned(desk, entries)
    charged, charged_delta = _charged(desk, planned)
    left = desk.books.left(desk.analyst)
    explanations = []
    for entry, ask in zip(entries, planned.asks, strict=True):
        cost = desk.cost(ask.priced, planned.whole or ask.question)
        explanations.append((entry.name, desk.explanation(entry.sql, ask.program, ask.priced, cost, GROUP_SIZE)))
    return Check(
        dataset=desk.dataset,
        symbol=desk.books.registration.symbol,
        releases=tuple(explanations),
        charged=charged,
        charged_delta=charged_delta,
        remaining=left.remaining,
        remaining_delta=left.remaining_delta,
        affordable=left.affordable,
        notes=desk.notes,
    )


def release(
    desk: Desk, entries: Sequence[ReleaseEntry], folder: Path, progress: Callable[[str], None] = lambda _: None
) -> Release:
    """Answer all entries, then write them. Refused as a whole, before anything is spent, if the budgets do not do."""
    planned = _planned(desk, entries)
    _admit(desk, planned)
    check_folder(folder)
    progress("trying every release on made-up rows")
    desk.rehearse(planned.whole, planned.asks)
    if planned.whole is None:
        drawn = _one_by_one(desk, planned, progress)
    else:
        progress(f"answering all {len(entries)} releases")
        drawn = _together(desk, planned, planned.whole)
    progress("writing the tables")
    answers = desk.facts() | {name: each.answer for name, each in drawn.items()}
    head, left = desk.books.head(), desk.books.left(desk.analyst)
    first = [note for answer in answers.values() for note in answer.notes if note.startswith(FIRST)]
    # What is published does not depend on which run writes it: prices from the ledger, and what is left at the end.
    published = {}
    for name, answer in answers.items():
        lasting = replace(answer, remaining=left.remaining, remaining_delta=left.remaining_delta, head=head)
        if name in drawn:
            lasting = replace(lasting, spent=drawn[name].spent, delta=drawn[name].delta)
        said = {*first, *(drawn[name].said if name in drawn else ())}
        published[name] = replace(lasting, notes=tuple(note for note in lasting.notes if note not in said))
    write.write(folder, published, head)
    return Release(folder=folder, answers=answers, head=head, notes=tuple(first))


def _planned(desk: Desk, entries: Sequence[ReleaseEntry]) -> _Planned:
    spends = _spends(desk, entries)
    delta = sum((entry.delta for entry in entries), _ZERO)
    if desk.standard.shares_delta and delta:
        return _as_one(desk, entries, spends, delta)
    asks = []
    for entry, spend in zip(entries, spends, strict=True):
        with _entry_errors(entry):
            share = entry.share is not None
            asks.append(desk.ask(entry.sql, spend=spend, delta=entry.delta or None, within=None, share=share))
            check_tidy(asks[-1].program, entry.tidy)
    return _Planned(entries=entries, asks=asks, whole=None)


def _spends(desk: Desk, entries: Sequence[ReleaseEntry]) -> list[Fraction]:
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
                fixed[entry.name] = _spend_within(desk, entry, entry.within)
    given = desk.books.registration
    budget = given.total if given.plan is None else min(given.plan, given.total)
    left = budget - sum(fixed.values(), _ZERO)
    shares = {entry.name: entry.share for entry in entries if entry.share is not None}
    if shares and left <= 0:
        first = next(entry for entry in entries if entry.share is not None)
        got = f"{stated(given.symbol, budget)} in all"
        hint = "Lower the other entries' spend, or raise the plan's budget."
        raise first.node.child("share").wrong("nothing of the plan's budget is left to share", got=got, hint=hint)
    whole = sum(shares.values(), _ZERO)
    return [fixed[each.name] if each.name in fixed else left * shares[each.name] / whole for each in entries]


def _spend_within(desk: Desk, entry: ReleaseEntry, within: Mapping[str, Fraction]) -> Fraction:
    program = desk.program(entry.sql)
    # The δ of a question with public keys belongs to the batch, not to its own noise.
    delta = entry.delta if program.selection is not None else _ZERO
    return spend_for(program, desk.standard, asking.indices(program, within), desk.confidence, delta)


def _as_one(desk: Desk, entries: Sequence[ReleaseEntry], spends: list[Fraction], delta: Fraction) -> _Planned:
    """All entries as one (ε, δ), which the ledger can keep; what it holds from before is replayed as it is."""
    epsilon, shared = sum(spends, _ZERO), any(entry.share is not None for entry in entries)
    settled = desk.books.settled(epsilon, delta, desk.analyst, share=shared)
    earlier = []
    if desk.books.look() is not None:
        earlier = [(epsilon, delta, True)] if settled.changed else []
        if _differ(desk, entries):
            earlier += [(epsilon, delta, False), (settled.spend, settled.delta, False)]
    for spend, used, derive in dict.fromkeys(earlier):
        before = _composed(desk, entries, spends, spend, used, derive=derive)
        if before.whole is not None and desk.books.paid(before.whole):
            return before
    desk.books.registration.check_size(settled.spend)
    return _composed(desk, entries, spends, settled.spend, settled.delta, settled.notes)


def _differ(desk: Desk, entries: Sequence[ReleaseEntry]) -> bool:
    """Whether a key follows from declared facts that was selected privately before there was such a rule."""
    with suppress(QuincunxError):
        return any(desk.program(entry.sql, 1, derive=False) != desk.program(entry.sql, 1) for entry in entries)
    return False


def _composed(
    desk: Desk,
    entries: Sequence[ReleaseEntry],
    spends: list[Fraction],
    epsilon: Fraction,
    delta: Fraction,
    notes: tuple[str, ...] = (),
    *,
    derive: bool = True,
) -> _Planned:
    """All entries by their composed curve, with the kind of noise that errs less."""
    known = (tuple(entry.sql for entry in entries), tuple(spends), epsilon, delta, derive)
    if known not in desk.batches:
        programs = []
        for entry in entries:
            with _entry_errors(entry):
                programs.append([desk.program(entry.sql, norm, derive=derive) for norm in (1, 2)])
                check_tidy(programs[-1][0], entry.tidy)
        desk.batches[known] = price_batch(programs, spends, epsilon, delta)
    chosen = desk.batches[known]
    given = desk.books.registration
    whole = Question(
        dataset=given.dataset,
        version=desk.version,
        specification=given.specification,
        cost=epsilon,
        delta=delta,
        asked={"batch": [asked(priced, desk.schema, desk.public) for priced in chosen]},
    )
    asks = [desk.at_price(entry.sql, priced, notes) for entry, priced in zip(entries, chosen, strict=True)]
    return _Planned(entries=entries, asks=asks, whole=whole)


def _charged(desk: Desk, planned: _Planned) -> tuple[Fraction, Fraction]:
    """What the dataset would pay now: each different question that was not paid for before, once."""
    unpaid = {each.key: each for each in planned.questions if not desk.books.paid(each)}.values()
    return sum((each.cost for each in unpaid), _ZERO), sum((each.delta for each in unpaid), _ZERO)


def _admit(desk: Desk, planned: _Planned) -> None:
    """A release that the budgets do not cover is refused before its first question."""
    cost, delta = _charged(desk, planned)
    left, symbol = desk.books.left(desk.analyst), desk.books.registration.symbol
    for sign, requested, spent, affordable in (
        (symbol, cost, left.spent, left.affordable),
        ("δ", delta, left.spent_delta, left.remaining_delta),
    ):
        if requested > affordable:
            got = f"{stated(sign, requested)}, with {amount(spent)} spent and {amount(affordable)}"
            raise BudgetError(
                "the budget does not cover this release; nothing was spent",
                where=f"dataset {desk.dataset!r}",
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


def _one_by_one(desk: Desk, planned: _Planned, progress: Callable[[str], None]) -> dict[str, _Drawn]:
    answers: dict[str, _Drawn] = {}
    for entry, ask in zip(planned.entries, planned.asks, strict=True):
        progress(f"answering {entry.name}, {len(answers) + 1} of {len(planned.entries)}")
        found, question = desk.kept(ask), ask.question
        answer = desk.answer(ask, found, found.content, entry.tidy)
        said = desk.said(found)
        answers[entry.name] = _Drawn(answer=answer, spent=question.cost, delta=question.delta, said=said)
    return answers


def _together(desk: Desk, planned: _Planned, whole: Question) -> dict[str, _Drawn]:
    # Every question was rehearsed with the release.
    found = asking.kept(desk.books, whole, desk.analyst, lambda: None, partial(_draw_all, desk, planned))
    price = stated(desk.books.registration.symbol, whole.cost, whole.delta)
    note = f"All releases of the plan were charged as one, {price}; what is spent here is this one's share."
    answers = {}
    for entry, ask, content in zip(planned.entries, planned.asks, found.content["answers"], strict=True):
        share = ask.priced.spend / whole.cost
        part = replace(found, charged=share * found.charged, charged_delta=share * found.charged_delta)
        answer = desk.answer(ask, part, content, entry.tidy, (note,))
        said = desk.said(part)
        answers[entry.name] = _Drawn(answer=answer, spent=share * whole.cost, delta=share * whole.delta, said=said)
        found = replace(found, first=False)
    return answers


def _draw_all(desk: Desk, planned: _Planned) -> dict[str, Any]:
    return {"format": _BATCH, "answers": asking.drawn(desk.engine, [ask.priced for ask in planned.asks])}


@contextmanager
def _entry_errors(entry: ReleaseEntry) -> Iterator[None]:
    """Errors get the line of the entry in front."""
    try:
        yield
    except QuincunxError as error:
        raise placed(error, entry.node.place) from None
