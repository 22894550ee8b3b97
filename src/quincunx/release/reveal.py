"""What the ledger keeps, as an answer: the table, what it cost, and what must be said about it."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, Final

from quincunx.ledger import Standing, halting
from quincunx.loss import Loss
from quincunx.numbers import stated
from quincunx.release import invariants as facts
from quincunx.release import stored
from quincunx.release.account import Account
from quincunx.release.answer import Answer
from quincunx.release.answering import Connect, Revealed, answer_once
from quincunx.release.column import Column
from quincunx.release.dataset import Dataset
from quincunx.release.derive import TABLE
from quincunx.release.publish import based, publish
from quincunx.release.quote import Quote, stating
from quincunx.release.ranking import contested, contested_above
from quincunx.release.rung import settled
from quincunx.release.words import noises
from quincunx.table import Program, evaluate

# How a note begins that belongs to one question only.
FIRST: Final = "The first question"


def answer_of(
    dataset: Dataset,
    account: Account,
    quote: Quote,
    found: Revealed,
    content: Mapping[str, Any],
    tidy: tuple[str, ...],
    more: tuple[str, ...] = (),
) -> Answer:
    """The answer as the ledger keeps it in `content`, with `more` notes; a replay is the same table."""
    program, kept = settled(quote.program, stored.decode(content))
    injected = ("not private: injected key",) if kept.injected else ()

    def published(program: Program) -> tuple[Column, ...]:
        return publish(program, kept, confidence=dataset.confidence, tidy=tidy, evaluate=evaluate)

    worked = _worked(program, kept, dataset, tidy)
    if worked is None:
        order = contested(program, published)
    else:
        order = contested_above({TABLE: worked[0]}, worked[1], dataset.confidence)
    said = (*injected, *said_now(dataset, account, found), *quote.notes, *more, *order)
    return _answer(
        dataset,
        found,
        columns=published(program),
        sql=quote.text,
        loss=kept.loss,
        mechanisms=noises(program, kept.mechanisms),
        biases=program.biases,
        notes=(*said, *lasting_notes(dataset, account, found.standing)),
        worked=worked,
    )


def _worked(
    program: Program, kept: stored.Stored, dataset: Dataset, tidy: tuple[str, ...]
) -> tuple[tuple[Column, ...], str] | None:
    above = program.query.above
    return (based(program, kept, confidence=dataset.confidence, tidy=tidy), above) if above else None


def reveal_facts(dataset: Dataset, account: Account, connect: Connect) -> dict[str, Answer]:
    """Every invariant, exactly, by its name. Inside the scope that they define this costs 0, which is said."""
    answers = {}
    for name, planned in dataset.facts.items():
        with account.looking() as look:
            found = answer_once(
                account,
                look,
                stating(dataset, planned),
                partial(_rehearse, connect, planned),
                partial(_read_fact, connect, planned),
            )
        said = "Cost 0: an invariant is published exactly, and nothing is promised about it."
        more = [each for each in said_now(dataset, account, found) if not each.startswith("Cost 0")]
        answers[name] = _answer(
            dataset,
            found,
            columns=facts.columns(planned, found.content),
            sql=dataset.invariants[name],
            loss=Loss(),
            mechanisms=(),
            biases=(),
            notes=(said, *more, *lasting_notes(dataset, account, found.standing)),
        )
    return answers


def _rehearse(connect: Connect, planned: Program) -> None:
    connect().rehearse(planned)


def _read_fact(connect: Connect, planned: Program) -> dict[str, Any]:
    return facts.encode(planned, connect().run(planned))


def said_now(dataset: Dataset, account: Account, found: Revealed) -> list[str]:
    """What is true of this asking alone, and not of the answer: a cost of zero, and that it was the first."""
    said, given = [], dataset.registration
    if found.replayed:
        said.append(f"Cost 0: this is the stored answer of record {found.seq}.")
    elif found.paid:
        said.append("Cost 0: the question was paid for before, and its answer had not been stored.")
    if found.charged_analyst and not found.charged:
        charged = stated(given.symbol, found.charged_analyst)
        said.append(f"{account.analyst} is charged {charged}, the dataset nothing.")
    if found.first and not account.memory:
        # A mistyped path makes a new ledger, and a new ledger has a whole budget: that must not pass in silence.
        total = stated(given.symbol, given.total, given.delta)
        said.append(f"{FIRST} about {dataset.name} in this ledger, which now gives it {total} in all.")
    return said


def lasting_notes(dataset: Dataset, account: Account, standing: Standing) -> tuple[str, ...]:
    """What is to be said about the tables and the ledger wherever an answer is shown."""
    told = [f"{name}: {note}" for name, table in dataset.tables.items() for note in table.notes]
    if account.memory:
        told.append("The ledger is in memory: what was spent is forgotten when this process ends.")
    if dataset.invariants:
        told.append(f"Published exactly and not protected: {', '.join(dataset.invariants)}.")
    if dataset.witness is not None:
        told.append(
            f"Only the presence of people who change no invariant is hidden, such as {dataset.witness.words()}."
        )
    return (*told, *halting.told(standing.halts))


def _answer(
    dataset: Dataset,
    found: Revealed,
    *,
    columns: tuple[Column, ...],
    sql: str,
    loss: Loss,
    mechanisms: tuple[str, ...],
    biases: tuple[str, ...],
    notes: tuple[str, ...],
    worked: tuple[tuple[Column, ...], str] | None = None,
) -> Answer:
    return Answer(
        columns=columns,
        sql=sql,
        dataset=dataset.name,
        version=dataset.version,
        specification=dataset.registration.specification,
        loss=loss,
        symbol=dataset.registration.symbol,
        spent=found.charged,
        delta=found.charged_delta,
        remaining=found.standing.remaining,
        remaining_delta=found.standing.remaining_delta,
        head=found.head,
        confidence=dataset.confidence,
        mechanisms=mechanisms,
        biases=biases,
        notes=notes,
        source=dataset.kind,
        worked=worked,
    )
