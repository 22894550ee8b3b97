"""Answer once: rehearse, reserve, run, draw, store, reveal. This is where private rows are read and a budget is spent.

A question is paid for before the data are asked, and only what the ledger keeps is shown (ledger/ledger.md).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from quincunx.ledger import Question, Standing
from quincunx.noise import injected
from quincunx.release import stored
from quincunx.release.account import Account, Look
from quincunx.release.pricing import Priced
from quincunx.release.quote import Quote
from quincunx.table import Engine

# An engine is connected when it is first needed, and a replay needs none.
Connect = Callable[[], Engine]


@dataclass(frozen=True, slots=True, kw_only=True)
class Revealed:
    """A stored answer as it was revealed. charged, charged_delta, charged_analyst: what this call cost.

    replayed: the answer was there before. paid: the question was paid for before, and its answer was drawn now. first:
    it is the first question about the dataset in this ledger. seq: the answer's record. head, standing: the ledger's
    head and where the dataset stood when it was read.
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
    standing: Standing


def answer_once(
    account: Account,
    look: Look,
    question: Question,
    rehearse: Callable[[], None],
    draw: Callable[[], Mapping[str, Any]],
) -> Revealed:
    """Reveal what is stored; where nothing is, reserve, draw and store first. The look ends here.

    `rehearse` tries the question on made-up rows, before it is paid for. `draw` asks the data; it is called after the
    question is paid for and never otherwise. What it returns is encoded and dropped: only the ledger's copy is shown.
    If it fails, the ledger halts the dataset before anybody is told; Ctrl-C is no failure.
    """
    test_key, first = injected(), False
    replay = look.replay(question, injected=test_key)
    answered = replay is not None or look.answered(question)
    look.end()
    if not answered:
        rehearse()
    if replay is not None:
        reservation, answer = replay
    else:
        reservation, first = account.reserve(question, injected=test_key)
        ledger = account.register()
        if reservation.stored:
            answer = ledger.reveal(reservation)
        else:
            # One line for success and failure, outside of any handler: nothing of a failure hangs on to what is raised.
            answer = ledger.store(reservation, _content(draw), injected=test_key)
    return Revealed(
        content=stored.from_bytes(answer.content),
        charged=reservation.charged,
        charged_delta=reservation.charged_delta,
        charged_analyst=reservation.charged_analyst,
        replayed=reservation.stored,
        paid=not reservation.stored and not reservation.charged,
        first=first,
        seq=answer.seq,
        head=answer.head,
        standing=answer.standing,
    )


def answer_quote(account: Account, look: Look, connect: Connect, quote: Quote) -> Revealed:
    """The answer to one question, at its price."""
    return answer_once(
        account,
        look,
        quote.question,
        lambda: rehearsed(connect, quote.priced),
        lambda: draw_answers(connect, [quote.priced])[0],
    )


def draw_answers(connect: Connect, batch: Sequence[Priced]) -> list[dict[str, Any]]:
    """The noisy answers of priced questions, encoded. Private rows are read, and noise is drawn."""
    test_key = injected()
    return [stored.encode(each, each.ask(connect().run), injected=test_key) for each in batch]


def rehearsed(connect: Connect, priced: Priced) -> None:
    """Try all that a question may ask of the engine on made-up rows: a failure after a choice would tell of it."""
    for program in priced.programs:
        connect().rehearse(program)


def _content(draw: Callable[[], Mapping[str, Any]]) -> bytes | None:
    """What is to be stored; None where it could not be worked out, for whatever reason that rows may have."""
    try:
        return stored.to_bytes(draw())
    except Exception:
        return None
