"""What the standards on the loss say about each other, in words, and under larger δ."""

from __future__ import annotations

import math
import random
from fractions import Fraction
from itertools import pairwise

import pytest

from quincunx.numbers import Log, ball, float_above, float_below, normal_tail, precision
from quincunx.spec.divergence import as_rational
from quincunx.spec.standard import (
    KINDS,
    Approximate,
    CapacityBounded,
    Concentrated,
    MeanConcentrated,
    PowerDivergence,
    Probabilistic,
    Pure,
    RangeBounded,
    Relaxed,
    from_json,
)
from quincunx.spec.standard_base import Standard

F = Fraction
ALL = [
    Probabilistic("1/10"),
    Relaxed("1/10", "1/20"),
    RangeBounded(),
    Concentrated("1/10", 8),
    Concentrated(),
    MeanConcentrated("1/2"),
    MeanConcentrated(),
    PowerDivergence(3),
    CapacityBounded("chi-squared", ((1, -1), ("1/2", 0))),
]
P, Q = (F(3, 4), F(1, 4)), (F(1, 4), F(3, 4))


def some(count: int) -> list[tuple[tuple[Fraction, ...], tuple[Fraction, ...]]]:
    dice = random.Random(9)

    def law() -> tuple[Fraction, ...]:
        weights = [dice.choice((1, 2, 7, 50)) for _ in range(4)]
        return tuple(F(w, sum(weights)) for w in weights)

    return [(law(), law()) for _ in range(count)]


@pytest.mark.parametrize("standard", ALL, ids=repr)
def test_every_standard_is_stored_described_and_symmetric(standard: Standard) -> None:
    assert from_json(standard.to_json()) == standard
    assert KINDS[standard.kind] is type(standard)
    words, formula = standard.words(F(1, 2)), standard.latex(F(1, 2))
    assert words.startswith(f"{standard.symbol} = 0.5")
    assert words.endswith(".")
    assert formula.count("{") == formula.count("}")
    ahead, back = standard.least(P, Q), standard.least(Q, P)
    assert (ahead.exact, ahead.lower, ahead.upper) == (back.exact, back.lower, back.upper)


@pytest.mark.parametrize("pair", some(10))
def test_a_larger_delta_needs_no_more(pair: tuple[tuple[Fraction, ...], tuple[Fraction, ...]]) -> None:
    p, q = pair
    deltas = [F(0), F(1, 100), F(1, 10), F(1, 3), F(9, 10)]
    for make in (Probabilistic, lambda d: Relaxed(d, "1/50"), lambda d: Relaxed("1/50", d)):
        values = [make(d).least(p, q) for d in deltas]
        for one, two in pairwise(values):
            assert float_below(two.lower) <= float_above(one.upper)


@pytest.mark.parametrize("pair", some(10))
@pytest.mark.parametrize("delta", [F(1, 20), F(1, 5)])
def test_probabilistic_and_approximate_imply_each_other_up_to_parameters(
    pair: tuple[tuple[Fraction, ...], tuple[Fraction, ...]], delta: Fraction
) -> None:
    """Probabilistic implies approximate as it is; back with (ε', δ/(1 − e^{ε − ε'})) for any ε' > ε."""
    p, q = pair
    approximate, probabilistic = Approximate(delta).least(p, q), Probabilistic(delta).least(p, q)
    assert float_below(approximate.lower) <= float_above(probabilistic.upper)
    factor = approximate.exact.of if isinstance(approximate.exact, Log) else F(1)
    for larger in (factor * F(3, 2), factor * 4):
        wider = delta / (1 - factor / larger)
        if wider < 1:
            least = Probabilistic(wider).least(p, q).exact
            assert (least.of if isinstance(least, Log) else F(1)) <= larger


@pytest.mark.parametrize("pair", some(10))
def test_the_range_is_between_pure_and_twice_pure(pair: tuple[tuple[Fraction, ...], tuple[Fraction, ...]]) -> None:
    p, q = pair
    pure, wide = (float_above(s.least(p, q).upper) for s in (Pure(), RangeBounded()))
    assert pure <= wide * (1 + 1e-12)
    assert wide <= 2 * pure * (1 + 1e-12)


@pytest.mark.parametrize("pair", some(10))
def test_pure_bounds_powers_and_concentration(pair: tuple[tuple[Fraction, ...], tuple[Fraction, ...]]) -> None:
    """ε-DP gives every power e^ε − 1, and ρ = ε·tanh(ε/2)."""
    p, q = pair
    epsilon = float_above(Pure().least(p, q).upper)
    for k in (1, 2, 5):
        assert float_below(PowerDivergence(k).least(p, q).lower) <= math.expm1(epsilon) * (1 + 1e-12)
    assert float_below(Concentrated().least(p, q).lower) <= epsilon * math.tanh(epsilon / 2) * (1 + 1e-12)
    assert float_below(MeanConcentrated().least(p, q).lower) <= epsilon * (1 + 1e-12)


def test_gaussian_tails_at_epsilon_1() -> None:
    """N(1, 1) against N(0, 1): the loss exceeds 1 beyond 3/2, with 0.30854; the hockey stick there is 0.12694.

    Cells of a sixteenth have a border at 3/2, so that merging outputs into them changes neither number.
    """
    laws = []
    with precision(256):
        for mean in (1, 0):
            borders = [Fraction(j, 16) for j in range(-96, 113)]
            tails = [ball(1), *(normal_tail(ball(x - mean)) for x in borders), ball(0)]
            cells = [as_rational((a - b).mid()) for a, b in pairwise(tails)]
            laws.append([cell / sum(cells, Fraction(0)) for cell in cells])
        for delta, measure in (("0.30854", Probabilistic), ("0.12694", Approximate)):
            # The smallest ε is 1 at the δ of the figure, up to its fifth digit.
            least, more = Fraction(delta) - Fraction(1, 200_000), Fraction(delta) + Fraction(1, 200_000)
            assert measure(least).ahead(*laws).lower > ball(1)
            assert measure(more).ahead(*laws).upper < ball(1)
