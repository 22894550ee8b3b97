"""Coins and choices with exact probabilities: rational, e^{−γ}, or proportional to e^{weight}.

All are one comparison. With cumulative probabilities F_1 ≤ F_2 ≤ …, the choice is the number of F_i ≤ U. The filter is
in integers: the first bits of U are compared with ⌊2^bits·F_i⌋; equal bits are a doubt, decided with more bits of U.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import partial
from typing import overload

import numpy as np
from flint import ctx
from numpy.typing import NDArray

from quincunx.errors import ParameterError
from quincunx.noise.bits import SecureBits, source
from quincunx.noise.lazy import LazyUniform, decide
from quincunx.noise.shape import Shape, Size, shaped
from quincunx.numbers import (
    Ball,
    Exact,
    Log,
    Number,
    ball,
    exact_fraction,
    float_near,
    non_negative,
    precision,
    probability,
    rational,
)

Cumulative = Callable[[], Sequence[Ball | Fraction]]
# Balls of the table hold this many bits below the prefix.
_TABLE_PRECISION = 256


@overload
def bernoulli(p: Number, size: None = None) -> bool: ...


@overload
def bernoulli(p: Number, size: Shape) -> NDArray[np.bool_]: ...


def bernoulli(p: Number, size: Size = None) -> bool | NDArray[np.bool_]:
    """True with probability `p`, exact as typed. `size` is a length, a shape, or None for one Python bool."""
    chance = probability(p, "p")
    drawn: bool | NDArray[np.bool_] = shaped(size, lambda count: choose(source(), lambda: [chance], count) == 0)
    return drawn


@overload
def bernoulli_exp(gamma: Number, size: None = None) -> bool: ...


@overload
def bernoulli_exp(gamma: Number, size: Shape) -> NDArray[np.bool_]: ...


def bernoulli_exp(gamma: Number, size: Size = None) -> bool | NDArray[np.bool_]:
    """True with probability e^{−gamma}, gamma ≥ 0, exact as typed. `size` as in `bernoulli`."""
    exponent = non_negative(gamma, "gamma")
    drawn: bool | NDArray[np.bool_] = shaped(
        size, lambda count: choose(source(), lambda: [(-ball(exponent)).exp()], count) == 0
    )
    return drawn


@overload
def choice(log_weights: Sequence[Number | Log], size: None = None) -> int: ...


@overload
def choice(log_weights: Sequence[Number | Log], size: Shape) -> NDArray[np.int64]: ...


def choice(log_weights: Sequence[Number | Log], size: Size = None) -> int | NDArray[np.int64]:
    """Index i with probability proportional to e^{log_weights[i]}.

    Each weight is an exact number as typed, or `numbers.Log(w)` for the weight w itself. `size` is a length, a shape,
    or None for one Python int. Ties in U between neighbours do not exist: every draw is decided.
    """
    if isinstance(log_weights, str | bytes) or not isinstance(log_weights, Sequence | np.ndarray):
        hint = "Give a list, a tuple or an array of numbers."
        got = type(log_weights).__name__
        raise ParameterError("expected a sequence of numbers", where="log_weights", got=got, hint=hint)
    weights: list[Exact] = [
        weight if isinstance(weight, Log) else rational(weight, "log_weights") for weight in log_weights
    ]
    if not weights:
        raise ParameterError("nothing to choose from", where="log_weights", got="an empty list")

    def cumulative() -> list[Ball]:
        # Relative to one weight near the largest: no overflow, and equal weights are equal exactly.
        parts = [_difference(weight, weights[top]).exp() for weight in weights]
        running, sums = Ball(0), []
        for part in parts:
            running = running + part
            sums.append(running)
        return [part / running for part in sums[:-1]]

    top = max(range(len(weights)), key=lambda i: _rough(weights[i]))
    drawn: int | NDArray[np.int64] = shaped(size, lambda count: choose(source(), cumulative, count))
    return drawn


def _rough(weight: Exact) -> Fraction:
    return Fraction(float_near(ball(weight))) if isinstance(weight, Log) else weight


def _difference(weight: Exact, top: Exact) -> Ball:
    if isinstance(weight, Log) and isinstance(top, Log):
        return ball(weight.of / top.of).log()
    if isinstance(weight, Fraction) and isinstance(top, Fraction):
        return ball(weight - top)
    # A rational far from 0 needs its whole part besides the working precision.
    extra = sum(one.numerator.bit_length() for one in (weight, top) if isinstance(one, Fraction))
    with precision(ctx.prec + extra):
        return ball(weight) - ball(top)


def choose(bits: SecureBits, cumulative: Cumulative, count: int) -> NDArray[np.int64]:
    """The number of `cumulative()` that are ≤ U, for `count` independent U."""
    drop = np.uint64(64 - bits.prefix_bits)
    with precision(_TABLE_PRECISION):
        bounds = [_bracket(value, bits.prefix_bits) for value in cumulative()]
    # The sums increase; their brackets, of different radii, need not until they are made to.
    low = np.minimum.accumulate(np.array([pair[0] for pair in bounds[::-1]], dtype=np.uint64))[::-1]
    high = np.maximum.accumulate(np.array([pair[1] for pair in bounds], dtype=np.uint64))
    prefixes = bits.words(count) >> drop
    chosen, doubtful = _counted(low, high, prefixes)
    for index in np.flatnonzero(doubtful):
        bits.fallbacks += 1
        uniform = LazyUniform(bits, int(prefixes[index]), bits.prefix_bits)
        chosen[index] = decide(partial(count_below, cumulative, uniform), uniform)
    return chosen


def _counted(
    low: NDArray[np.uint64], high: NDArray[np.uint64], prefixes: NDArray[np.uint64]
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """How many bounds are surely below each prefix, and where it could be more."""
    if len(high) == 1:
        # A coin: two comparisons are ten times as fast as two searches.
        below = prefixes > high[0]
        return below.astype(np.int64), below != (prefixes >= low[0])
    chosen = np.searchsorted(high, prefixes, side="left").astype(np.int64)
    return chosen, chosen != np.searchsorted(low, prefixes, side="right")


def _bracket(value: Ball | Fraction, bits: int) -> tuple[int, int]:
    # ⌊2^bits·F⌋ from both ends of its ball: F may be a dyadic fraction that no ball can recognise.
    scaled = (ball(value) if isinstance(value, Fraction) else value) * (1 << bits)
    low, high = (math.floor(exact_fraction(end)) for end in (scaled.lower(), scaled.upper()))
    # A ball around a probability may reach below 0 or above 1.
    return max(0, low), min(high, 1 << bits)


def count_below(cumulative: Cumulative, uniform: LazyUniform) -> int | None:
    """How many of the cumulative probabilities are ≤ U; None while the known bits leave it open."""
    answers = [uniform.at_least(value) for value in cumulative()]
    return None if None in answers else sum(bool(answer) for answer in answers)
