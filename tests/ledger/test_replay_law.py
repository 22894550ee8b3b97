"""What the ledger promises, enumerated: on a small world every strategy that goes through it keeps the total.

The world has two datasets, 0 and 1, and one mechanism: a coin that tells the truth with probability 3/4, ε = ln 3. A
strategy chooses the next of three questions from the answers so far. Its transcript's law is worked out by running the
ledger once for each course of coins, and is then judged by the specification.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import product

import pytest

import quincunx as qx
from quincunx.errors import BudgetError
from quincunx.ledger import Ledger, Question
from quincunx.numbers import Log

COST = Fraction(1098612288669, 10**12)  # ln 3, rounded up
ROUNDS = 3
# The answers so far → the next question.
Strategy = dict[tuple[str, ...], str]
WORLD = qx.Specification(
    domain=qx.domain.Finite.multisets(["1"], range(2)),
    scope=qx.scope.Everything(),
    unit=qx.unit.AddRemove(),
    standard=qx.standard.Pure(),
    intensity=2 * COST,
)


def strategies(questions: str) -> Iterator[Strategy]:
    """Every way to choose ROUNDS questions from answers that are "0", "1" or "refused"; the first is "a"."""
    later = [path for depth in range(1, ROUNDS) for path in product("01", repeat=depth)]
    for chosen in product(questions, repeat=len(later)):
        yield {(): "a", **dict(zip(later, chosen, strict=True))}


def transcript(
    strategy: Strategy, coins: Iterator[str], ask: Callable[[Ledger, str, Iterator[str]], str]
) -> tuple[str, ...]:
    ledger = Ledger.open(":memory:")
    ledger.register(dataset="visits", specification=WORLD)
    seen: tuple[str, ...] = ()
    for _ in range(ROUNDS):
        # A refusal tells nothing: the strategy goes on as if the coin had shown 0.
        path = tuple("0" if answer == "refused" else answer for answer in seen)
        seen = (*seen, ask(ledger, strategy[path], coins))
    ledger.close()
    return seen


def through_the_ledger(ledger: Ledger, name: str, coins: Iterator[str]) -> str:
    question = Question(dataset="visits", version="1", specification=WORLD, cost=COST, asked={"plan": name})
    try:
        reservation = ledger.reserve(question)
    except BudgetError:
        return "refused"
    answer = ledger.reveal(reservation) if reservation.stored else ledger.store(reservation, next(coins).encode())
    return answer.content.decode()


def after_a_crash(ledger: Ledger, name: str, coins: Iterator[str]) -> str:
    """The first draw is lost before it is stored; the retry draws again and another process stores too late."""
    question = Question(dataset="visits", version="1", specification=WORLD, cost=COST, asked={"plan": name})
    try:
        reservation = ledger.reserve(question)
    except BudgetError:
        return "refused"
    if not reservation.stored:
        next(coins)
        ledger.store(ledger.reserve(question), next(coins).encode())
        ledger.store(reservation, b"too late")
    return ledger.reveal(reservation).content.decode()


def redrawn(ledger: Ledger, name: str, coins: Iterator[str]) -> str:
    """The bug: a repeated question is free and answered by a fresh draw."""
    question = Question(dataset="visits", version="1", specification=WORLD, cost=COST, asked={"plan": name})
    try:
        ledger.reserve(question)
    except BudgetError:
        return "refused"
    return next(coins)


def law(
    strategy: Strategy, ask: Callable[[Ledger, str, Iterator[str]], str], draws: int = ROUNDS
) -> qx.finite.Mechanism:
    rows: dict[tuple[str, ...], dict[tuple[str, ...], Fraction]] = {
        (): defaultdict(Fraction),
        ("1",): defaultdict(Fraction),
    }
    for flips in product((True, False), repeat=draws):
        for dataset, row in rows.items():
            # Each coin tells the dataset's bit, or its opposite.
            truth = "1" if dataset else "0"
            coins = iter([truth if honest else "10"[int(truth)] for honest in flips])
            weight = Fraction(1)
            for honest in flips:
                weight *= Fraction(3, 4) if honest else Fraction(1, 4)
            row[transcript(strategy, coins, ask)] += weight
    return qx.finite.Mechanism(rows)


def test_every_strategy_with_replays_keeps_the_total() -> None:
    count, tight = 0, 0
    for strategy in strategies("ab"):
        found = law(strategy, through_the_ledger)
        assert WORLD.holds(found).holds
        tight += WORLD.tightest(found).exact == Log(9)
        count += 1
    assert count == 64
    # Two questions are all that is ever paid for, and asking both uses what they cost.
    assert tight > 0


@pytest.mark.parametrize(
    "strategy", [dict.fromkeys(next(strategies("a")), "a"), {**next(strategies("b")), ("0", "0"): "c", ("1", "1"): "c"}]
)
def test_a_third_question_is_refused_and_a_crash_reveals_nothing(strategy: Strategy) -> None:
    assert WORLD.holds(law(strategy, through_the_ledger)).holds
    assert WORLD.holds(law(strategy, after_a_crash, draws=2 * ROUNDS)).holds
    assert WORLD.tightest(law(strategy, after_a_crash, 2 * ROUNDS)).exact == (
        WORLD.tightest(law(strategy, through_the_ledger)).exact
    )


def test_a_free_repeat_that_draws_again_breaks_the_total() -> None:
    always = dict.fromkeys(next(strategies("a")), "a")
    assert not WORLD.holds(law(always, redrawn)).holds
    assert WORLD.tightest(law(always, redrawn)).exact == Log(27)
    assert WORLD.tightest(law(always, through_the_ledger)).exact == Log(3)
