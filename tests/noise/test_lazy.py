"""Uniforms keep the bits they have, and decisions wait until they are certain."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from flint import arb, ctx
from hypothesis import given
from hypothesis import strategies as st

from quincunx.noise.lazy import LazyUniform, certain_floor, decide
from quincunx.noise.testing import KeyedBits, key_of
from quincunx.numbers import Ball, ball, exact_fraction, precision
from tests.noise.scripted import HIGH, LOW, Scripted


def ends(uniform: LazyUniform) -> tuple[Fraction, Fraction]:
    return Fraction(uniform.prefix, 1 << uniform.bits), Fraction(uniform.prefix + 1, 1 << uniform.bits)


def test_a_fresh_uniform_may_be_anything() -> None:
    assert ends(LazyUniform(KeyedBits(key_of("x")))) == (0, 1)


def test_refining_keeps_the_prefix_and_takes_the_next_word() -> None:
    stream, twin = KeyedBits(key_of("refine")), KeyedBits(key_of("refine"))
    uniform = LazyUniform(stream, 0b1011, 4)
    prefix = 0b1011
    for step in range(1, 6):
        low, high = ends(uniform)
        uniform.refine()
        prefix = prefix << 64 | twin.integer(64)
        assert (uniform.prefix, uniform.bits) == (prefix, 4 + 64 * step)
        assert low <= ends(uniform)[0] < ends(uniform)[1] <= high


@pytest.mark.parametrize("working_precision", [10, 53, 200])
@pytest.mark.parametrize("continuation", [LOW, HIGH])
def test_the_ball_is_the_interval_at_any_precision(working_precision: int, continuation: int) -> None:
    # The ends are dyadic; a ball's radius 2^-k needs one bit. Nothing may be cut off by the working precision.
    for prefix, bits in ((0, 1), (1, 1), (0, 52), (2**52 - 1, 52), (2**51, 52), (5, 4)):
        uniform = LazyUniform(Scripted([], continuation=continuation), prefix, bits)
        for _ in range(3):
            with precision(working_precision):
                enclosure = uniform.ball()
            low, high = ends(uniform)
            middle, radius = exact_fraction(enclosure.mid()), exact_fraction(enclosure.rad())
            assert (middle - radius, middle + radius) == (low, high)
            uniform.refine()


KNOWN = st.integers(1, 80).flatmap(lambda bits: st.tuples(st.just(bits), st.integers(0, 2**bits - 1)))


@given(KNOWN, st.fractions(0, 1))
def test_at_least_is_certain_exactly_when_the_interval_decides(known: tuple[int, int], threshold: Fraction) -> None:
    bits, prefix = known
    uniform = LazyUniform(Scripted([]), prefix, bits)
    low, high = ends(uniform)
    expected = True if low >= threshold else (False if high <= threshold else None)
    assert uniform.at_least(threshold) is expected
    with precision(300):
        # A ball may only lose certainty where its radius touches the end of the interval.
        answer = uniform.at_least(ball(threshold))
    assert answer in (expected, None)
    if expected is not None and min(abs(low - threshold), abs(high - threshold)) > Fraction(1, 2**250):
        assert answer is expected


def test_at_least_at_the_ends() -> None:
    uniform = LazyUniform(Scripted([]), 3, 2)
    assert uniform.at_least(Fraction(3, 4)) is True
    assert uniform.at_least(Fraction(1)) is False
    assert uniform.at_least(Fraction(7, 8)) is None
    assert uniform.at_least(Fraction(0)) is True
    assert LazyUniform(Scripted([]), 0, 2).at_least(Fraction(0)) is True
    assert uniform.at_least(Ball(1)) is False
    assert uniform.at_least(Ball(0.75)) is True


@pytest.mark.parametrize("nothing", [arb("nan"), arb(0, math.inf)])
def test_a_threshold_without_information_decides_nothing(nothing: Ball) -> None:
    assert LazyUniform(Scripted([]), 3, 2).at_least(nothing) is None


def test_decide_asks_until_there_is_an_answer_and_refines_all_in_turn() -> None:
    stream = KeyedBits(key_of("decide"))
    first, second = LazyUniform(stream, 1, 4), LazyUniform(stream, 2, 4)
    asked: list[tuple[int, int]] = []

    def question() -> str | None:
        asked.append((first.bits, second.bits))
        return "yes" if len(asked) == 3 else None

    assert decide(question, first, second) == "yes"
    assert asked == [(4, 4), (68, 68), (132, 132)]


def test_decide_takes_falsehood_and_zero_for_answers() -> None:
    uniform = LazyUniform(Scripted([]), 1, 4)
    assert decide(lambda: False, uniform) is False
    assert decide(lambda: 0, uniform) == 0
    assert uniform.bits == 4


def test_decide_sharpens_with_the_bits_and_restores_the_precision() -> None:
    before = ctx.prec
    uniform = LazyUniform(Scripted([]), 1, 4)
    seen: list[int] = []

    def question() -> bool | None:
        seen.append(ctx.prec)
        return True if len(seen) == 3 else None

    decide(question, uniform, extra_bits=30)
    assert all(bits >= 30 + 4 + 64 * turn for turn, bits in enumerate(seen))
    assert ctx.prec == before


def test_decide_does_not_swallow_errors() -> None:
    with pytest.raises(ZeroDivisionError):
        decide(lambda: 1 // 0, LazyUniform(Scripted([]), 1, 4))


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (Ball(2.5), 2),
        (Ball(2), 2),
        (Ball(-2.5), -3),
        (Ball(0), 0),
        (arb(2.5, 0.4), 2),
        (arb(2.5, 0.6), None),
        (arb(2, 1e-30), None),
        (arb(3, 1e-300), None),
        (arb(0, 1e-300), None),
        (arb("nan"), None),
        (arb("inf"), None),
        (arb("-inf"), None),
        (arb(0, math.inf), None),
        (arb(0) / 0, None),
        (Ball((2**102 + 1, -2)), 2**100),
        (Ball((1, -5000)), 0),
        (-Ball((1, -5000)), -1),
    ],
    ids=str,
)
def test_a_floor_is_certain_or_none(value: Ball, expected: int | None) -> None:
    with precision(200):
        assert certain_floor(value) == expected


def test_the_floor_of_a_number_longer_than_the_precision_is_still_right() -> None:
    # 2^200 + 1/2 has 201 bits; a floor that is rounded to 53 bits must not claim certainty for a wrong integer.
    value = Ball((2**201 + 1, -1))
    with precision(53):
        assert certain_floor(value) in (None, 2**200)
