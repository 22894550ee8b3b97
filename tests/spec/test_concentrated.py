"""Concentrated standards and the tail of the loss: monotone, infinite where they must be, processed or not."""

from __future__ import annotations

import random
from fractions import Fraction
from itertools import pairwise

import pytest

from quincunx import Specification, domain, scope, standard, unit
from quincunx.errors import PrivacyError
from quincunx.finite import Mechanism
from quincunx.numbers import Ball, float_above, float_below, precision
from quincunx.spec.concentrated import around_the_mean, under_a_line
from quincunx.spec.standard import (
    Approximate,
    Concentrated,
    MeanConcentrated,
    Probabilistic,
    Pure,
    RangeBounded,
    Relaxed,
    Standard,
)

F = Fraction
HALF = F(1, 2)


def law(dice: random.Random, size: int) -> tuple[Fraction, ...]:
    weights = [dice.choice((1, 2, 3, 30)) for _ in range(size)]
    return tuple(F(w, sum(weights)) for w in weights)


def pairs(count: int) -> list[tuple[tuple[Fraction, ...], tuple[Fraction, ...]]]:
    dice = random.Random(5)
    return [(law(dice, 4), law(dice, 4)) for _ in range(count)]


@pytest.mark.parametrize("pair", pairs(8))
def test_a_larger_offset_and_fewer_orders_need_less(pair: tuple[tuple[Fraction, ...], tuple[Fraction, ...]]) -> None:
    p, q = pair
    by_offset = [Concentrated(xi).least(p, q) for xi in (0, "1/100", "1/10", 1, 10)]
    by_order = [Concentrated(0, omega).least(p, q) for omega in ("11/10", 2, 8, 64, None)]
    for one, two in pairwise(by_offset):
        assert two.lower <= one.upper
    for one, two in pairwise(by_order):
        assert one.lower <= two.upper
    assert by_offset[-1].upper == 0


@pytest.mark.parametrize("pair", pairs(8))
def test_an_offset_of_pure_needs_nothing(pair: tuple[tuple[Fraction, ...], tuple[Fraction, ...]]) -> None:
    """ε-DP is (ε, 0)-zero-concentrated."""
    p, q = pair
    epsilon = F(float_above(Pure().least(p, q).upper))
    assert Concentrated(epsilon).least(p, q).upper == 0
    assert Concentrated(epsilon * F(99, 100)).least(p, q).upper > 0


@pytest.mark.parametrize("standard", [Concentrated(), Concentrated(5, 2), MeanConcentrated(), RangeBounded()], ids=repr)
def test_an_output_of_one_law_alone_is_infinite(standard: Standard) -> None:
    least = standard.least((HALF, HALF, F(0)), (HALF, F(0), HALF))
    assert not least.lower.is_finite()


def test_suprema_of_equal_laws_are_zero() -> None:
    p = (F(1, 3), F(2, 3))
    with precision(128):
        assert under_a_line(p, p, F(0), None)[1] <= 1e-30
        assert around_the_mean(p, p)[1] <= 1e-30
    assert MeanConcentrated().least(p, p).exact == 0


@pytest.mark.parametrize("pair", pairs(8))
@pytest.mark.parametrize("standard", [Concentrated("1/10"), Concentrated(0, 3), RangeBounded()], ids=repr)
def test_merging_outputs_never_raises_what_is_closed(
    standard: Standard, pair: tuple[tuple[Fraction, ...], tuple[Fraction, ...]]
) -> None:
    p, q = pair
    whole = standard.least(p, q)
    for i, j in ((0, 1), (1, 3), (2, 3)):
        one, two = ([x[i] + x[j], *(v for k, v in enumerate(x) if k not in (i, j))] for x in (p, q))
        assert float_below(standard.least(one, two).lower) <= float_above(whole.upper) * (1 + 1e-12)


def test_merging_outputs_breaks_probabilistic_privacy() -> None:
    """(0, ½, ½) and (½, ½, 0): at δ = ½ nothing exceeds 0; with the first two outputs merged it is ln 2."""
    p, q = (F(0), HALF, HALF), (HALF, HALF, F(0))
    assert Probabilistic(HALF).least(p, q).exact == 0
    merged = Probabilistic(HALF).least((HALF, HALF), (F(1), F(0)))
    assert str(merged.exact) == "ln(2)"
    assert Approximate(HALF).least((HALF, HALF), (F(1), F(0))).exact == 0
    assert Relaxed(0, HALF).least(p, q).exact == 0


def spec(standard: Standard, intensity: object) -> Specification:
    return Specification(
        domain=domain.Finite(datasets=("x", "y")),
        scope=scope.Everything(),
        unit=unit.Neighbours([("x", "y")]),
        standard=standard,
        intensity=intensity,
    )


@pytest.mark.parametrize(
    ("standard", "enough", "little"),
    [
        (Probabilistic("1/10"), "1.1", "1.09"),
        (Relaxed("1/10", "1/10"), "0.96", "0.95"),
        (RangeBounded(), "2.2", "2.19"),
        (Concentrated("1/10"), "0.4494", "0.4493"),
        (Concentrated(0, 3), "0.5494", "0.5493"),
        (MeanConcentrated(), "1.0482", "1.0481"),
    ],
    ids=repr,
)
def test_a_specification_is_judged_stored_and_described(standard: Standard, enough: str, little: str) -> None:
    response = Mechanism({"x": {"0": "3/4", "1": "1/4"}, "y": {"0": "1/4", "1": "3/4"}})
    assert spec(standard, enough).holds(response)
    assert spec(standard, little).holds(response).status == "fails"
    assert Specification.from_json(spec(standard, enough).to_json()) == spec(standard, enough)
    assert standard.symbol in spec(standard, enough).describe()
    assert spec(standard, enough).latex()


def test_what_has_no_rule_is_refused() -> None:
    with pytest.raises(PrivacyError, match="no rule composes"):
        spec(Concentrated("1/10"), 1).compose(spec(Concentrated("1/10"), 1))
    with pytest.raises(PrivacyError, match="group map"):
        spec(Probabilistic("1/10"), 1).group(2)


def test_a_rare_output_far_from_the_mean_is_not_overlooked() -> None:
    """The worst λ may be enormous: laws that differ by 1e-16 in an output of probability 1e-12."""
    rare, hair = F(1, 10**12), F(7, 10**16)
    p, q = (rare, 1 - rare), (rare + hair, 1 - rare - hair)
    with precision(256):
        low, high = around_the_mean(p, q)
        # A few λ of each sign, straight from the definition.
        from quincunx.spec.divergence import ZERO, cumulant, losses

        terms = losses(p, q) or []
        mean = sum((a * loss for a, loss in terms), ZERO)
        for exponent in range(0, 16, 3):
            for sign in (1, -1):
                size = Ball(sign * 10**exponent)
                value = 2 * cumulant([(a, loss - mean) for a, loss in terms], size) / (size * size)
                assert value.lower() <= high
    assert low <= high


@pytest.mark.parametrize(("omega", "expected"), [(10, 8.4338), (3, 9.9078), (None, 8.4338)])
def test_truncated_concentration_converts_as_published(omega: int | None, expected: float) -> None:
    """ρ = 1, δ = 1e-6: at ω = 10 the best order 1 + √(ln 1e6) = 4.72 is allowed, at ω = 3 it is not."""
    epsilon = standard.Concentrated(omega=omega).implied(Fraction(1), standard.Approximate("1e-6"))
    assert epsilon is not None
    assert round(float_above(epsilon), 4) == expected
    # By Rényi of one order the sharper rule is a little below, at the best order that ω allows.
    order = Fraction(min(omega or 10, Fraction(472, 100)))
    line = standard.Concentrated(omega=omega).implied(Fraction(1), standard.Renyi(order))
    assert line == order
    sharper = standard.Renyi(order).implied(line, standard.Approximate("1e-6"))
    assert sharper is not None
    assert expected - 1.5 < float_above(sharper) < expected


def test_concentrated_without_offset_and_zcdp_imply_each_other() -> None:
    one, two = standard.Concentrated(), standard.ZCDP()
    assert one.implied(Fraction(1, 2), two) == two.implied(Fraction(1, 2), one) == Fraction(1, 2)
    assert standard.Concentrated("1/10").implied(Fraction(1), two) is None
    assert standard.Concentrated(omega=9).implied(Fraction(1), two) is None
    assert standard.Concentrated(omega=9).implied(Fraction(1), standard.Renyi(10)) is None
    assert standard.Concentrated("1/10", 9).implied(Fraction(1), standard.Concentrated("1/5", 8)) == 1
    assert standard.Concentrated("1/10", 9).implied(Fraction(1), standard.Concentrated("1/5", 10)) is None
    assert standard.Concentrated().implied(Fraction(1), standard.Approximate(0)) is None
    assert standard.ZCDP("1/10").implied(Fraction(1), one) is None
