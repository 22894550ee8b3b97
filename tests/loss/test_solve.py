"""The crossing of a falling δ(ε) with a goal: verified on both sides."""

import math
from fractions import Fraction

import pytest

import quincunx as qx
from quincunx.loss.solve import first_within, last_beyond
from quincunx.numbers import Ball, precision


@pytest.mark.parametrize("goal", [0.5, 1e-6, 1e-100])
@pytest.mark.parametrize("guess", [1e-9, 1.0, 50.0, 1e4])
def test_an_exponential_is_crossed_from_both_sides(goal: float, guess: float) -> None:
    with precision(128):
        upper = first_within(lambda e: (-Ball(e)).exp(), Ball(goal), math.inf, guess)
        lower = last_beyond(lambda e: (-Ball(e)).exp(), Ball(goal), math.inf, guess)
    truth = -math.log(goal)
    assert lower <= truth * (1 + 1e-15)
    assert truth <= upper * (1 + 1e-15)
    assert upper - lower <= 1e-11 * upper


def test_what_holds_at_zero_is_zero() -> None:
    assert first_within(lambda e: Ball(1e-9) / (1 + e), Ball(1e-6), math.inf) == 0.0
    assert last_beyond(lambda e: Ball(1e-9) / (1 + e), Ball(1e-6), math.inf) == 0.0


def test_what_never_holds_is_infinite_or_the_ceiling() -> None:
    assert first_within(lambda _: Ball(1), Ball(0.5), math.inf) == math.inf
    assert first_within(lambda _: Ball(1), Ball(0.5), 3.0) == pytest.approx(3.0)


def test_a_jump_is_found() -> None:
    upper = first_within(lambda e: Ball(1) if e < 2.5 else Ball(0), Ball(0.5), math.inf)
    assert 2.5 <= upper <= 2.5 * (1 + 1e-11)


def test_an_undecided_ball_counts_against_us() -> None:
    wide = Ball(0.5, 0.25)
    assert first_within(lambda _: wide, Ball(0.5), 7.0) == pytest.approx(7.0)
    assert last_beyond(lambda _: wide, Ball(0.5), 7.0) == 0.0


def test_a_crossing_next_to_one_end_is_closed_in_on() -> None:
    """The crossing lies within 1e-14 of the lower end when the upper one is still 1e-6 away: that is not the end."""
    law = qx.mechanisms.Laplace(scale=Fraction(303951, 5000000)).loss
    low, high = law.epsilon_bounds("1e-5")
    assert high - low <= 1e-11 * high
    assert law.delta(high) <= 1e-5 < law.delta(low * (1 - 1e-12))
