"""One of many places in a row, with probability proportional to e^{−rate·|F(place) − target|}. See runs.md.

F never falls from one place to the next. Places lie in runs, along which F rises by the same step each time, so that
the weights of a run are a geometric series: the run is drawn by its sum, and then the place in it. Work grows with the
number of runs, not of places.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from quincunx.noise.bits import SecureBits, source
from quincunx.noise.chance import count_below
from quincunx.noise.lazy import LazyUniform, certain_floor, decide
from quincunx.noise.order import below
from quincunx.numbers import Ball, ball

# Whole numbers: int64, or Python's own where they are too large for it.
Whole: TypeAlias = NDArray[Any]

# Error of the filter (runs.md): of a logarithm for each unit of its size, and of a uniform in units of its last bit.
_RELATIVE: Final = 2.0**-49
_FLAT: Final = 64.0
_LAST_BITS: Final = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Runs:
    """Run r has `lengths[r]` ≥ 1 places; F is `values[r]` at its first and rises by `slopes[r]` ≥ 0 at each next one.

    F at the end of a run is at most F at the beginning of the next.
    """

    lengths: NDArray[np.int64]
    values: Whole
    slopes: Whole

    @property
    def last(self) -> Whole:
        """F at the last place of each run."""
        return self.values + (self.lengths - 1) * self.slopes

    def split(self, target: Fraction) -> tuple[Runs, int]:
        """The same places, in runs of which the first so many are at or below the target, and the others above."""
        # A whole number is above the target where it is above its floor.
        under = int(np.searchsorted(self.last, math.floor(target), side="right"))
        if under == len(self.lengths) or self.values[under] > target:
            return self, under
        value, slope = int(self.values[under]), int(self.slopes[under])
        # Its last place is above the target, so it rises.
        first = math.floor((target - value) / slope) + 1
        lengths, values, slopes = (_doubled(each, under) for each in (self.lengths, self.values, self.slopes))
        lengths[under], lengths[under + 1] = first, lengths[under] - first
        values[under + 1] += first * slope
        return Runs(lengths=lengths, values=values, slopes=slopes), under + 1


def _doubled(given: Whole, at: int) -> Whole:
    """The same with the element `at` twice."""
    found = np.empty(len(given) + 1, dtype=given.dtype)
    found[: at + 1], found[at + 1 :] = given[: at + 1], given[at:]
    return found


def near(runs: Runs, target: Fraction, rate: Fraction) -> int:
    """The number, from 0, of one place, drawn."""
    bits = source()
    parted, under = runs.split(target)
    run = _run(bits, parted, under, target, rate) if len(parted.lengths) > 1 else 0
    length, slope = int(parted.lengths[run]), int(parted.slopes[run])
    away = _away(bits, length, slope * rate)
    # Below the target the last place of a run is the likeliest, above it the first.
    within = length - 1 - away if run < under else away
    return int(parted.lengths[:run].sum()) + within


def weights(runs: Runs, target: Fraction, rate: Fraction) -> list[Ball]:
    """e^{−rate·|F − target|} for every place, one by one: for small worlds."""
    places = [
        int(value) + step * int(slope)
        for value, slope, length in zip(runs.values, runs.slopes, runs.lengths, strict=True)
        for step in range(int(length))
    ]
    return [(-ball(rate * abs(place - target))).exp() for place in places]


def passing(gaps: Whole, rate: Fraction) -> NDArray[np.bool_]:
    """For every gap ≥ 0 a coin of its own that is true with probability e^{−rate·gap}."""
    bits = source()
    size = np.ldexp(1.0, bits.prefix_bits)
    prefix = bits.words(len(gaps)) >> np.uint64(64 - bits.prefix_bits)
    exponent = gaps.astype(np.float64) * float(rate)
    with np.errstate(under="ignore"):
        chance = np.exp(-exponent) * size
    error = chance * np.minimum((exponent + _FLAT) * _RELATIVE, 1.0) + np.ldexp(1.0, -900)
    passed = prefix + np.uint64(1) <= chance - error
    doubtful = ~passed & (prefix < chance + error)
    for index in np.flatnonzero(doubtful):
        bits.fallbacks += 1
        uniform = LazyUniform(bits, int(prefix[index]), bits.prefix_bits)
        gap = -rate * int(gaps[index])
        passed[index] = not decide(lambda u=uniform, gap=gap: u.at_least(ball(gap).exp()), uniform)  # type: ignore[misc]
    return np.asarray(passed)


def _run(bits: SecureBits, runs: Runs, under: int, target: Fraction, rate: Fraction) -> int:
    """Which run, by the sums of their weights."""
    whole = math.floor(target)
    part, speed = float(target - whole), float(rate)
    # Differences are exact, so that only their sizes are rounded.
    gaps = np.concatenate(
        ((whole - runs.last[:under]).astype(np.float64) + part, (runs.values[under:] - whole).astype(np.float64) - part)
    )
    lengths = runs.lengths.astype(np.float64)
    with np.errstate(all="ignore"):
        step = runs.slopes.astype(np.float64) * speed
        series = np.where(step > 0, np.expm1(-lengths * step) / np.expm1(-step), lengths)
        size = np.log(series) - speed * gaps
        weight = np.exp(size - size.max())
        error = (speed * gaps + _FLAT) * _RELATIVE + len(lengths) * 2.0**-52
        least, most = np.cumsum(weight * (1 - error)), np.cumsum(weight * (1 + error) + np.ldexp(1.0, -900))
    prefix = bits.integer(64) >> (64 - bits.prefix_bits)
    if np.isfinite(most[-1]) and float(error[weight > 0].max()) < 2.0**-20:
        low, high = (math.ldexp(prefix + end, -bits.prefix_bits) for end in (0, 1))
        surely = int(np.searchsorted(most[:-1], low * least[-1] * (1 - 2.0**-50), side="right"))
        perhaps = int(np.searchsorted(least[:-1], high * most[-1] * (1 + 2.0**-50), side="right"))
        if surely == perhaps:
            return surely
    bits.fallbacks += 1
    uniform = LazyUniform(bits, prefix, bits.prefix_bits)
    return decide(partial(count_below, _cumulative(runs, under, target, rate), uniform), uniform)


def _cumulative(runs: Runs, under: int, target: Fraction, rate: Fraction) -> Callable[[], Sequence[Ball]]:
    """The cumulative probabilities of the runs, but for the last, at the working precision."""
    ends = [*runs.last[:under].tolist(), *runs.values[under:].tolist()]
    gaps = [abs(end - target) for end in ends]
    best = min(gaps)

    def sums() -> list[Ball]:
        running, found = Ball(0), []
        for gap, slope, length in zip(gaps, runs.slopes.tolist(), runs.lengths.tolist(), strict=True):
            running = running + (-ball(rate * (gap - best))).exp() * _series(rate * slope, length)
            found.append(running)
        return [each / running for each in found[:-1]]

    return sums


def _series(step: Fraction, length: int) -> Ball:
    """1 + e^{−step} + … + e^{−(length − 1)·step}."""
    return (-ball(step * length)).expm1() / (-ball(step)).expm1() if step else Ball(length)


def _away(bits: SecureBits, length: int, step: Fraction) -> int:
    """k from 0 to length − 1 with probability proportional to e^{−step·k}: ⌊−ln(1 − U·(1 − e^{−step·length}))/step⌋."""
    if length == 1:
        return 0
    if not step:
        return int(below(bits, length, 1)[0])
    prefix = bits.integer(64) >> (64 - bits.prefix_bits)
    speed = float(step)
    if speed > 0:
        all_but = math.expm1(-speed * length)

        def floor(end: int, side: float) -> int | None:
            inside = math.ldexp(min(max(end, 0), 1 << bits.prefix_bits), -bits.prefix_bits) * all_but
            value = -math.log1p(inside) / speed * (1 + side * 2.0**-45) if inside > -1 else math.inf
            return math.floor(value) if value < 2.0**52 else None

        low, high = floor(prefix - _LAST_BITS, -1), floor(prefix + 1 + _LAST_BITS, 1)
        if low is not None and low == high and low < length:
            return low
    bits.fallbacks += 1
    uniform = LazyUniform(bits, prefix, bits.prefix_bits)

    def exactly() -> int | None:
        return certain_floor(-(uniform.ball() * (-ball(step * length)).expm1()).log1p() / ball(step))

    # An answer never reaches the length, which a ball around one that comes close may not know.
    return min(decide(exactly, uniform, extra_bits=length.bit_length()), length - 1)
