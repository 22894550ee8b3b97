"""Floats that leave a ball are on the promised side of it, and as close as the ball allows."""

from __future__ import annotations

import math
import os
import signal
import sys
import threading
import warnings
from collections.abc import Callable
from fractions import Fraction

import pytest
from flint import arb, ctx
from hypothesis import example, given
from hypothesis import strategies as st
from scipy import stats

from quincunx.numbers import (
    Ball,
    Log,
    ball,
    exact_fraction,
    float_above,
    float_below,
    float_near,
    normal_quantile,
    normal_tail,
    precision,
)

BIGGEST = sys.float_info.max
SMALLEST = 5e-324

# Rationals of all magnitudes: around the largest float, around the smallest, and far beyond both.
MAGNITUDES = st.builds(
    lambda mantissa, exponent, denominator: Fraction(mantissa, denominator) * Fraction(2) ** exponent,
    st.integers(-(2**60), 2**60),
    st.integers(-1250, 1100),
    st.integers(1, 2**20),
)


def is_smallest_not_below(bound: float, value: Fraction) -> bool:
    """`bound` is the least float ≥ value, counting +inf as one."""
    at_or_above = bound == math.inf or (bound != -math.inf and Fraction(bound) >= value)
    before = math.nextafter(bound, -math.inf)
    return at_or_above and (before == -math.inf or Fraction(before) < value)


@given(MAGNITUDES)
@example(Fraction(BIGGEST))
@example(Fraction(BIGGEST) + 1)
@example(-Fraction(BIGGEST) - 1)
@example(Fraction(BIGGEST) + Fraction(2) ** 969)
@example(Fraction(2) ** 1024)
@example(-(Fraction(2) ** 2000))
@example(Fraction(SMALLEST))
@example(Fraction(SMALLEST) / 2)
@example(-Fraction(SMALLEST) / 3)
@example(Fraction(0))
@example(Fraction(1, 3))
@example(Fraction(2**53 + 1))
def test_of_a_rational_the_bounds_are_the_neighbouring_floats(value: Fraction) -> None:
    assert is_smallest_not_below(float_above(value), value)
    assert is_smallest_not_below(-float_below(value), -value)


@given(MAGNITUDES, st.integers(20, 300))
@example(Fraction(BIGGEST) + 1, 300)
@example(Fraction(1, 3), 20)
def test_of_a_ball_the_bounds_are_outside_it(value: Fraction, bits: int) -> None:
    with precision(bits):
        enclosure = ball(value)
        above, below = float_above(enclosure), float_below(enclosure)
    assert above == math.inf or (above > -math.inf and Fraction(above) >= value)
    assert below == -math.inf or (below < math.inf and Fraction(below) <= value)
    if bits >= 130:
        # A ball of 130 bits is 2^-76 of an ulp wide: its ends may straddle one float, never two.
        assert math.nextafter(above, -math.inf) <= float_above(value) <= above
        assert below <= float_below(value) <= math.nextafter(below, math.inf)


@given(MAGNITUDES)
def test_near_is_within_an_ulp(value: Fraction) -> None:
    with precision(200):
        for near in (float_near(value), float_near(ball(value))):
            assert float_below(value) <= near <= float_above(value)


@pytest.mark.parametrize("bits", [10_000, 19_000, 21_000, 40_000])
def test_bounds_hold_at_any_precision(bits: int) -> None:
    # A mantissa of 21,000 bits has an exponent below −20,000 although the number is ordinary.
    with precision(bits):
        third = ball(Fraction(1, 3))
        assert float_below(third) == float_below(Fraction(1, 3))
        assert float_above(third) == float_above(Fraction(1, 3))
        assert exact_fraction(third.lower()) <= Fraction(1, 3) <= exact_fraction(third.upper())


@pytest.mark.parametrize("exponent", [10**4, 10**12, 10**30])
def test_beyond_the_largest_float_the_bound_is_infinite_at_once(exponent: int) -> None:
    with precision(256):
        huge = ball(exponent).exp()
    assert float_above(huge) == math.inf
    assert float_below(huge) == BIGGEST
    assert float_below(-huge) == -math.inf
    assert float_above(-huge) == -BIGGEST


@pytest.mark.parametrize("exponent", [800, 10**4, 10**12, 10**30])
def test_below_the_smallest_float_the_bound_keeps_its_side(exponent: int) -> None:
    with precision(256):
        tiny = (-ball(exponent)).exp()
    assert float_above(tiny) == SMALLEST
    assert float_below(tiny) == 0.0
    assert float_below(-tiny) == -SMALLEST
    assert float_above(-tiny) == 0.0


def test_balls_without_information_give_infinite_bounds() -> None:
    for nothing in (arb("nan"), arb(0) / 0, arb(0, math.inf)):
        assert float_above(nothing) == math.inf
        assert float_below(nothing) == -math.inf
    for infinite, value in ((arb("inf"), math.inf), (arb("-inf"), -math.inf)):
        assert float_above(infinite) == float_below(infinite) == value


def test_a_wide_ball_is_bounded_at_its_ends() -> None:
    wide = arb(1, 2)
    # The radius of a ball has 30 bits and is rounded up.
    assert 3.0 <= float_above(wide) <= 3.0 * (1 + 2**-28)
    assert -1.0 * (1 + 2**-27) <= float_below(wide) <= -1.0


def test_ball_is_exact_where_it_can_be() -> None:
    assert ball(0.1).rad() == 0
    assert exact_fraction(ball(0.1)) == Fraction(0.1)
    assert ball(10**10) == 10**10
    assert ball(Fraction(3, 8)).rad() == 0
    assert ball(arb(2)) == 2
    with precision(100):
        assert ball(Log(3)).overlaps(arb(3).log())
        assert ball(Fraction(1, 3)).contains(arb(1) / 3)


@given(st.integers(-(2**300), 2**300), st.integers(-400, 400))
def test_exact_fraction_is_exact(mantissa: int, exponent: int) -> None:
    assert exact_fraction(Ball((mantissa, exponent))) == Fraction(mantissa) * Fraction(2) ** exponent


def test_precision_is_set_and_restored() -> None:
    before = ctx.prec
    with precision(200):
        assert ctx.prec == 200
        with precision(60):
            assert ctx.prec == 60
        assert ctx.prec == 200
    assert ctx.prec == before


def test_precision_is_restored_and_the_lock_freed_after_an_exception() -> None:
    before = ctx.prec
    with pytest.raises(ZeroDivisionError), precision(200), precision(300):
        raise ZeroDivisionError
    assert ctx.prec == before
    seen: list[int] = []
    other = threading.Thread(target=lambda: seen.append(_inside(70)))
    other.start()
    other.join(timeout=30)
    assert seen == [70]


def _inside(bits: int) -> int:
    with precision(bits):
        return int(ctx.prec)


def test_a_refused_precision_leaves_the_old_one() -> None:
    before = ctx.prec
    with pytest.raises((ValueError, TypeError, OverflowError)), precision(-5):
        pass
    assert ctx.prec == before


def test_threads_do_not_see_each_others_precision() -> None:
    wrong: list[int] = []

    def work(bits: int) -> None:
        for _ in range(300):
            if _inside(bits) != bits:
                wrong.append(bits)

    workers = [threading.Thread(target=work, args=(bits,)) for bits in (60, 90, 120, 150)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert wrong == []


def test_a_fork_while_another_thread_holds_the_precision_does_not_hang_the_child() -> None:
    ready, done = threading.Event(), threading.Event()

    def hold() -> None:
        with precision(100):
            ready.set()
            done.wait()

    holder = threading.Thread(target=hold)
    holder.start()
    ready.wait()
    try:
        with warnings.catch_warnings():
            # Newer Pythons warn about forking with threads, which is the very thing under test.
            warnings.simplefilter("ignore", DeprecationWarning)
            child = os.fork()
        if child == 0:
            signal.alarm(10)
            with precision(64):
                os._exit(0)
        _, status = os.waitpid(child, 0)
    finally:
        done.set()
        holder.join()
    assert status == 0, "the child waited for a lock whose owner it does not have"


# SciPy's normal tail and quantile are good to a few ulp where they do not underflow; 1e-12 leaves room for them.
RELATIVE = 1e-12


@pytest.mark.parametrize("x", [-37.0, -8.5, -1.0, -1e-9, 0.0, 1e-9, 0.5, 1.0, 3.0, 8.0, 20.0, 37.0])
def test_normal_tail_agrees_with_scipy(x: float) -> None:
    with precision(128):
        tail = normal_tail(ball(x))
        assert float_below(tail) <= float_above(tail)
        assert float_near(tail) == pytest.approx(stats.norm.sf(x), rel=RELATIVE, abs=0)


@pytest.mark.parametrize("p", [1e-300, 1e-20, 1e-3, 0.25, 0.5, 0.75, 0.975, 1 - 1e-12])
def test_normal_quantile_agrees_with_scipy_and_inverts_the_tail(p: float) -> None:
    with precision(256):
        z = normal_quantile(ball(p))
        # At the centre the quantile is 0 and only an absolute comparison has a meaning.
        assert float_near(z) == pytest.approx(stats.norm.ppf(p), rel=RELATIVE, abs=1e-15)
        assert normal_tail(-z).overlaps(ball(p))
        assert float_above(normal_tail(-z).rad()) < 1e-30


def test_ten_thousand_sigma_do_not_underflow() -> None:
    with precision(128):
        tail = normal_tail(ball(10_000))
        assert tail > 0
        # Mills: φ(x)/x·(1 − 1/x²) < tail < φ(x)/x, so ln tail = −x²/2 − ln(x√2π) within 1e-8.
        assert abs(float_near(tail.log()) - (-5e7 - math.log(10_000 * math.sqrt(2 * math.pi)))) < 1e-7


def _call(function: Callable[[], object]) -> object:
    return function()


def test_comparisons_of_balls_are_true_only_when_certain() -> None:
    with precision(53):
        third = ball(Fraction(1, 3))
        assert not _call(lambda: third < third + arb(0, 1e-30))
        assert not _call(lambda: third > third + arb(0, 1e-30))
        assert third < third + 1
