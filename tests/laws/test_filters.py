"""Filters under an adversary that chooses the next mechanism from the answers so far, on worlds small enough to list.

Two checks, both over every strategy. Enumeration builds the law of the whole transcript for each strategy of depth 3
and asks `Standard.least`. Dynamic programming finds the worst strategy exactly for one number at a time: δ(ε) is the
sum of (P − e^ε·P')⁺ over transcripts, and each node may take the action that makes its own share largest.
The real `Filter` decides what is admitted. At the end, the rule it must not use: stopping on a composed curve.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction

import pytest

from quincunx.errors import BudgetError, PrivacyError
from quincunx.finite import Mechanism, adaptive, sequential
from quincunx.loss import GaussianLaw, Loss, StatedLaw
from quincunx.loss.filter import Batch, Filter, Odometer
from quincunx.mechanisms import RandomizedResponse
from quincunx.numbers import Ball, Log, ball, exact_fraction, normal_tail, precision
from quincunx.spec.standard import ZCDP, Additive, Approximate, GaussianDP, Pure, Renyi

Pair = tuple[Fraction, Fraction]
# The transcripts of a strategy as (P(t), P'(t)); those of one likelihood ratio are merged, which changes no standard.
Leaves = tuple[Pair, ...]
ONE: Leaves = ((Fraction(1), Fraction(1)),)


@dataclass(frozen=True)
class Choice:
    """One entry of the adversary's menu: a mechanism on the inputs 0 and 1, its loss, and its share of δ."""

    name: str
    leaves: Leaves
    loss: Loss
    delta: Fraction = Fraction(0)


def pairs(*entries: tuple[str, str]) -> Leaves:
    return tuple((Fraction(p), Fraction(q)) for p, q in entries)


def response(p: str) -> Choice:
    mechanism = RandomizedResponse(probability=p)
    q = str(1 - Fraction(p))
    return Choice(f"rr({p})", pairs((p, q), (q, p)), mechanism.loss)


def known(name: str, leaves: Leaves) -> Choice:
    """A mechanism of which ε and ρ are known, from enumeration and rounded up."""
    p, q = zip(*leaves, strict=True)
    epsilon, rho = Pure().least(p, q).upper, ZCDP().least(p, q).upper
    return Choice(name, leaves, Loss.of(StatedLaw(epsilon=above(epsilon), rho=above(rho))))


def bell(name: str, leaves: Leaves) -> Choice:
    """A mechanism of which μ is known: no easier to tell apart than N(0, 1) from N(μ, 1)."""
    p, q = zip(*leaves, strict=True)
    return Choice(name, leaves, Loss.of(GaussianLaw(mu2=above(GaussianDP().least(p, q).upper) ** 2)))


def leak(chance: str) -> Choice:
    """Publishes the input with probability `chance`, otherwise nothing."""
    rest = str(1 - Fraction(chance))
    law = StatedLaw(epsilon=Fraction(0), rho=Fraction(0), delta=Fraction(chance))
    return Choice(f"leak({chance})", pairs((chance, "0"), ("0", chance), (rest, rest)), Loss.of(law))


def shared(choice: Choice, delta: str) -> Choice:
    return Choice(f"{choice.name} with δ = {delta}", choice.leaves, choice.loss, Fraction(delta))


def above(value: Ball) -> Fraction:
    return Fraction(-(-exact_fraction(value.upper()) * 10**9 // 1), 10**9)


SKEW = pairs(("1/2", "1/6"), ("1/3", "1/2"), ("1/6", "1/3"))
EVEN = pairs(("1/2", "1/4"), ("1/4", "1/4"), ("1/4", "1/2"))
COIN, FAINT = response("3/4"), response("3/5")
PAST = tuple[Choice, ...]


class Room:
    """What a filter admits after each past. Filters cannot be copied, so every past is replayed on a new one."""

    def __init__(self, menu: Iterable[Choice], make: Callable[[], Filter]) -> None:
        self.menu, self._make = tuple(menu), make
        self._known: dict[PAST, tuple[Choice, ...]] = {}

    def open_to(self, past: PAST) -> tuple[Choice, ...]:
        key = tuple(sorted(past, key=lambda choice: choice.name))
        if key not in self._known:
            self._known[key] = tuple(choice for choice in self.menu if self._admits((*past, choice)))
        return self._known[key]

    def _admits(self, choices: PAST) -> bool:
        account = self._make()
        try:
            for choice in choices:
                account.admit(choice.loss, delta=choice.delta)
        except BudgetError:
            return False
        return True


def merged(leaves: Iterable[Pair]) -> Leaves:
    by_ratio: dict[Fraction | None, Pair] = {}
    for p, q in leaves:
        key = p / q if q else None
        before = by_ratio.get(key, (Fraction(0), Fraction(0)))
        by_ratio[key] = (before[0] + p, before[1] + q)
    return tuple(sorted(by_ratio.values()))


def strategies(room: Room, depth: int, past: PAST = ()) -> set[Leaves]:
    """The transcript laws of every strategy from here: stop, or choose, and go on as each answer suggests."""
    found = {ONE}
    for choice in room.open_to(past) if depth else ():
        after = strategies(room, depth - 1, (*past, choice))
        for plan in itertools.product(after, repeat=len(choice.leaves)):
            found.add(merged((p * a, q * b) for (p, q), then in zip(choice.leaves, plan, strict=True) for a, b in then))
    return found


def worst_delta(room: Room, growth: Fraction, depth: int, node: Pair = ONE[0], past: PAST = ()) -> Fraction:
    """The largest δ at e^ε = growth over every strategy of at most this depth, exactly."""
    p, q = node
    best = max(p - growth * q, Fraction(0))
    for choice in room.open_to(past) if depth else ():
        onward = (*past, choice)
        best = max(best, sum(worst_delta(room, growth, depth - 1, (p * a, q * b), onward) for a, b in choice.leaves))
    return best


def worst_moment(room: Room, alpha: int, depth: int, past: PAST = ()) -> Fraction:
    """The largest E_{P'}[(P/P')^α] over every strategy, exactly: it multiplies along the tree."""
    best = Fraction(1)
    for choice in room.open_to(past) if depth else ():
        rest = worst_moment(room, alpha, depth - 1, (*past, choice))
        best = max(best, sum(p**alpha / q ** (alpha - 1) for p, q in choice.leaves) * rest)
    return best


def flipped(room: Room) -> Room:
    """The same menu with P and P' exchanged."""
    turned = Room((), room._make)
    turned.menu = tuple(Choice(c.name, tuple((q, p) for p, q in c.leaves), c.loss, c.delta) for c in room.menu)
    return turned


def growth_below(epsilon: Fraction) -> Fraction:
    with precision(256):
        return exact_fraction(ball(epsilon).exp().lower())


SMALL = [COIN, FAINT, known("skew", SKEW)]
BUDGETS = [
    (Pure(), "1.609"),
    (Pure(), "2.5"),
    (Approximate("0"), "2"),
    (ZCDP(), "0.6"),
    (ZCDP(), "1"),
    (GaussianDP(), "1.5"),
    (Renyi(2), "1.2"),
    (Renyi("7/2"), "1.5"),
]


@pytest.mark.parametrize(("standard", "intensity"), BUDGETS, ids=str)
@pytest.mark.parametrize("menu", [SMALL[:2], [COIN, SMALL[2]]], ids=["two coins", "a coin and three outputs"])
def test_every_strategy_of_depth_three_keeps_the_claim(standard: Additive, intensity: str, menu: list[Choice]) -> None:
    room = Room(menu, lambda: Filter(standard, intensity))
    laws = strategies(room, 3)
    assert len(laws) > 2
    claim = ball(Fraction(intensity))
    for law in laws:
        p, q = zip(*law, strict=True)
        assert not standard.least(p, q).lower > claim


def test_the_worst_strategy_reaches_a_pure_budget() -> None:
    # So the enumeration could have failed: the claim is not merely loose.
    room = Room(SMALL[:1], lambda: Filter(Pure(), "3.295836866007"))
    reached = max(max(p / q for p, q in law) for law in strategies(room, 3))
    assert reached == 27
    assert worst_delta(room, Fraction(27), 4) == 0
    assert worst_delta(room, Fraction(26), 4) > 0


class Forgetful(Filter):
    """A broken filter: it forgets to charge every loss after the first."""

    def _decide(self, price: Fraction, share: Fraction) -> object:  # type: ignore[override]
        return super()._decide(price if self.account.spent == 0 else Fraction(0), share)


@pytest.mark.parametrize(("standard", "intensity"), [BUDGETS[0], BUDGETS[3], BUDGETS[5], BUDGETS[6]], ids=str)
def test_enumeration_catches_a_filter_that_forgets(standard: Additive, intensity: str) -> None:
    room = Room([COIN], lambda: Forgetful(standard, intensity))
    laws = [tuple(zip(*law, strict=True)) for law in strategies(room, 3)]
    assert any(standard.least(p, q).lower > ball(Fraction(intensity)) for p, q in laws)


WIDE = [COIN, FAINT, response("2/3"), known("skew", SKEW), known("even", EVEN)]
DEEP = 4


@pytest.mark.parametrize("intensity", ["0.9", "1.6", "2.75"])
def test_pure_filter_at_the_worst_strategy(intensity: str) -> None:
    room = Room(WIDE, lambda: Filter(Pure(), intensity))
    growth = growth_below(Fraction(intensity))
    assert worst_delta(room, growth, DEEP) == 0
    assert worst_delta(flipped(room), growth, DEEP) == 0


@pytest.mark.parametrize(("intensity", "delta"), [("1", "1/8"), ("1.2", "1/4"), ("0.4", "5/16"), ("0", "3/10")])
def test_approximate_filter_at_the_worst_strategy(intensity: str, delta: str) -> None:
    menu = [
        COIN,
        FAINT,
        leak("1/8"),
        leak("1/16"),
        shared(COIN, "1/8"),
        shared(known("skew", SKEW), "1/16"),
        shared(bell("even", EVEN), "1/8"),
    ]
    room = Room(menu, lambda: Filter(Approximate(delta), intensity))
    growth = growth_below(Fraction(intensity))
    worst = max(worst_delta(room, growth, 3), worst_delta(flipped(room), growth, 3))
    assert worst <= Fraction(delta)
    # The two leaks alone use up most of a δ budget, so the bound is nearly reached.
    assert worst > Fraction(delta) / 2


def test_shares_of_delta_are_spent_exactly() -> None:
    account = Filter(Approximate("3/10"), 0)
    for chance in ("1/10", "1/20", "3/20"):
        assert account.admit(leak(chance).loss).cost == 0
    assert account.account.remaining_delta == 0
    with pytest.raises(BudgetError):
        account.admit(leak("1e-12").loss)


@pytest.mark.parametrize("alpha", [2, 3, 8])
@pytest.mark.parametrize("intensity", ["0.7", "1.9"])
def test_renyi_filter_at_the_worst_strategy(alpha: int, intensity: str) -> None:
    room = Room(WIDE, lambda: Filter(Renyi(alpha), intensity))
    with precision(256):
        claim = ball((alpha - 1) * Fraction(intensity)).exp()
        assert not ball(worst_moment(room, alpha, DEEP)) > claim
        assert not ball(worst_moment(flipped(room), alpha, DEEP)) > claim


@pytest.mark.parametrize("intensity", ["0.4", "1.1"])
def test_zcdp_filter_at_the_worst_strategy_of_each_order(intensity: str) -> None:
    room = Room(WIDE, lambda: Filter(ZCDP(), intensity))
    with precision(256):
        for alpha in (2, 3, 5, 16, 64):
            claim = ball(alpha * (alpha - 1) * Fraction(intensity)).exp()
            assert not ball(worst_moment(room, alpha, DEEP)) > claim
            assert not ball(worst_moment(flipped(room), alpha, DEEP)) > claim


@pytest.mark.parametrize(("delta", "intensity"), [("1/8", "0.6"), ("3/16", "0.3"), ("1/4", "0")])
def test_approximate_zcdp_filter_over_every_strategy(delta: str, intensity: str) -> None:
    menu = [COIN, leak("1/8"), leak("1/16")]
    standard = ZCDP(delta)
    laws = strategies(Room(menu, lambda: Filter(standard, intensity)), 3)
    assert len(laws) > 5
    for law in laws:
        p, q = zip(*law, strict=True)
        assert not standard.least(p, q).lower > ball(Fraction(intensity))
    # One leak too many is caught: with ρ = 0 the whole δ is in the leaks.
    p, q = zip(*product_of(leak("1/8").leaves, leak("1/4").leaves), strict=True)
    assert standard.least(p, q).lower > 0


@pytest.mark.parametrize("intensity", ["1.2", "2"])
def test_gaussian_filter_at_the_worst_strategy_of_each_epsilon(intensity: str) -> None:
    menu = [bell(choice.name, choice.leaves) for choice in WIDE]
    room, mu = Room(menu, lambda: Filter(GaussianDP(), intensity)), Fraction(intensity)
    assert room.open_to(())
    with precision(256):
        for growth in map(Fraction, ("1", "3/2", "3", "8", "40")):
            # δ(ε) = Φ(μ/2 − ε/μ) − e^ε·Φ(−μ/2 − ε/μ) is what μ-GDP says, for every ε.
            m, e = ball(mu), ball(growth).log()
            claim = normal_tail(e / m - m / 2) - ball(growth) * normal_tail(e / m + m / 2)
            assert not ball(worst_delta(room, growth, 3)) > claim
            assert not ball(worst_delta(flipped(room), growth, 3)) > claim


def courses(menu: list[Choice], depth: int, node: Pair = ONE[0], past: PAST = ()) -> Iterator[tuple[Pair, PAST]]:
    """Every course of events, stopped anywhere: its probabilities, and the mechanisms it used."""
    yield node, past
    for choice in menu if depth else ():
        for p, q in choice.leaves:
            yield from courses(menu, depth - 1, (node[0] * p, node[1] * q), (*past, choice))


def test_the_odometer_bounds_every_course_at_its_own_total() -> None:
    tight = 0
    for (p, q), past in courses(SMALL, 3):
        meter = Odometer()
        for choice in past:
            meter.record(choice.loss)
        with precision(256):
            growth = ball(meter.total).exp()
            assert ball(p) <= growth * ball(q)
            assert ball(q) <= growth * ball(p)
            tight += bool(past) and bool(ball(p) * 2 > growth * ball(q))
    assert tight > 0


@pytest.mark.parametrize("growth", ["1", "3/2", "2", "5", "9"])
def test_a_batch_covers_every_order_and_every_stop(growth: str) -> None:
    menu = [COIN, FAINT, response("2/3"), known("skew", SKEW)]
    room, t = Room(menu, lambda: Filter(Pure(), 100)), Fraction(growth)

    def worst(left: PAST, node: Pair) -> Fraction:
        p, q = node
        best = max(p - t * q, Fraction(0))
        for choice in left:
            rest = tuple(other for other in left if other is not choice)
            best = max(best, sum(worst(rest, (p * a, q * b)) for a, b in choice.leaves))
        return best

    whole = [(p, q) for p, q in product_of(*(choice.leaves for choice in room.menu))]
    assert worst(room.menu, ONE[0]) == hockey_stick(whole, t)
    with precision(256):
        curve = Batch([choice.loss for choice in menu]).loss.curve()
        assert not curve.delta(ball(t).log())[1] < ball(hockey_stick(whole, t))


# The forbidden rule.


def hockey_stick(leaves: Iterable[Pair], growth: Fraction) -> Fraction:
    return sum((max(p - growth * q, Fraction(0)) for p, q in leaves), Fraction(0))


def product_of(*parts: Leaves) -> Leaves:
    whole = ONE
    for part in parts:
        whole = tuple((p * a, q * b) for p, q in whole for a, b in part)
    return whole


def table(leaves: Leaves) -> Mechanism:
    return Mechanism({x: {o: pair[x] for o, pair in enumerate(leaves)} for x in (0, 1)})


def test_stopping_on_the_composed_curve_is_broken() -> None:
    """Ask a coin of ln 3. If it says 0, ask the coin again; if it says 1, ask for a leak of probability 1/4."""
    coin, leaked = table(COIN.leaves), table(leak("1/4").leaves)
    # The rule looks at the losses so far: whichever was chosen, their composition is (ln 5, 1/4).
    standard = Approximate("1/4")
    assert _least(standard, sequential(coin, coin)) == Log(5)
    assert _least(standard, sequential(coin, leaked)) == Log(3)
    # The transcript is not: at δ = 1/4 its smallest ε is ln 6, and at ε = ln 5 its δ is 5/16.
    transcript = adaptive(coin, {0: coin, 1: leaked})
    assert _least(standard, transcript) == Log(6)
    law = list(zip(transcript.law(0), transcript.law(1), strict=True))
    assert hockey_stick(law, Fraction(5)) == Fraction(5, 16)
    # A filter with the budget (ln 5, 1/4) refuses the second coin.
    account = Filter(standard, Log(5))
    account.admit(COIN.loss)
    with pytest.raises(BudgetError):
        account.admit(COIN.loss)
    assert account.admit(leak("1/4").loss).remaining_delta == 0


def _least(standard: Approximate, world: Mechanism) -> object:
    return standard.least(world.law(0), world.law(1)).exact


def test_the_rule_is_broken_with_randomized_response_alone() -> None:
    """RR(2/3), then RR(3/4) on one answer and two of RR(2/3) on the other: pure mechanisms, no leak."""
    third, growth = response("2/3"), Fraction(3, 2)
    twice = product_of(third.leaves, third.leaves)
    promised = [hockey_stick(product_of(third.leaves, then), growth) for then in (COIN.leaves, twice)]
    assert promised == [Fraction(3, 8), Fraction(19, 54)]
    (p, q), (r, s) = third.leaves
    played = [(p * a, q * b) for a, b in twice] + [(r * a, s * b) for a, b in COIN.leaves]
    other = [(p * a, q * b) for a, b in COIN.leaves] + [(r * a, s * b) for a, b in twice]
    assert max(hockey_stick(played, growth), hockey_stick(other, growth)) == Fraction(89, 216)
    assert Fraction(89, 216) > max(promised)
    # The library's own curve of three uses is the number that the rule would have looked at.
    with precision(256):
        low, high = (3 * third.loss).curve().delta(ball(growth).log())
        assert not low > ball(Fraction(19, 54))
        assert not high < ball(Fraction(19, 54))


def symmetric(parts: int) -> list[Leaves]:
    """Every informative mechanism of two or three outputs whose laws are mirror images, in units of 1/parts.

    Mirror images, because then the pair itself is its loss in both directions.
    """
    found = []
    for a in range(1, parts + 1):
        for b in range(min(a, parts - a + 1)):
            p, q, rest = Fraction(a, parts), Fraction(b, parts), Fraction(parts - a - b, parts)
            found.append(((p, q), (q, p), *(((rest, rest),) if rest else ())))
    return found


def crossings(first: Leaves, second: Leaves) -> set[Fraction]:
    """e^ε at every corner of the two curves, and where they cross: the gain of the adversary is largest at one."""
    corners = sorted({Fraction(1)} | {p / q for p, q in (*first, *second) if q and p >= q})
    found = set(corners)
    for low, high in itertools.pairwise(corners):
        left = hockey_stick(first, low) - hockey_stick(second, low)
        right = hockey_stick(first, high) - hockey_stick(second, high)
        if left * right < 0:
            found.add(low + (high - low) * left / (left - right))
    return found


def broken(parts: int) -> list[tuple[int, Fraction, Fraction, Fraction, tuple[Leaves, Leaves, Leaves]]]:
    """Every way to break the rule in two rounds: outputs in all, e^ε, δ promised, δ in truth, the mechanisms."""
    menu, found = symmetric(parts), []
    for start in menu:
        for one, two in itertools.combinations(menu, 2):
            first, second = product_of(start, one), product_of(start, two)
            for growth in crossings(first, second):
                promised = max(hockey_stick(first, growth), hockey_stick(second, growth))
                truth = sum(
                    max(hockey_stick(product_of(((p, q),), then), growth) for then in (one, two)) for p, q in start
                )
                if truth > promised:
                    found.append((len(start) + len(one) + len(two), growth, promised, truth, (start, one, two)))
    return found


def test_the_counterexample_is_the_smallest() -> None:
    # One round is no choice. In two rounds nothing breaks in halves or thirds; in quarters the smallest has 7 outputs.
    assert broken(2) == []
    assert broken(3) == []
    found = broken(4)
    size = min(entry[0] for entry in found)
    smallest = {entry[4] for entry in found if entry[0] == size}
    coin = COIN.leaves
    assert size == 7
    assert smallest == {(coin, leak("1/4").leaves, coin)}
    assert {entry[1]: entry[2:4] for entry in found if entry[0] == size}[Fraction(5)] == (
        Fraction(1, 4),
        Fraction(5, 16),
    )


def test_the_odometer_refuses_what_has_no_running_total() -> None:
    with pytest.raises(PrivacyError):
        Odometer().record(leak("1/4").loss)
