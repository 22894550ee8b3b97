"""Moments of a law on a grid: at the real abscissas from above, and at all nodes of a vertical line by one transform.

On a grid of spacing h, E[e^{sL}] has the period 2πi/h. At s = σ + 2πik/T with T = N·h it is the discrete Fourier
transform of length N of the tilted masses, whose own error is in the bound.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from quincunx.loss.grid import Grid
from quincunx.loss.law import Moments, log_with_error
from quincunx.loss.saddle import OCTAVE, SIGMAS

Complexes = NDArray[np.complex128]
Floats = NDArray[np.float64]
Indices = NDArray[np.int64]
_UNIT: Final = 2.0**-53
# Doublings of the abscissa by squaring before the exponentials are computed anew.
_DOUBLINGS: Final = 7
# Less than this is counted as this much, and so is a product that underflows; e^{−FALL} is less.
_NOTHING: Final = 1e-260
_FALL: Final = 640.0


@lru_cache(maxsize=16)
def real_moments(grid: Grid) -> Floats:
    """ln E[e^{σL}] on the abscissas `SIGMAS`, from above."""
    kept = np.flatnonzero(grid.mass > _NOTHING)
    if not len(kept):
        return np.full(len(SIGMAS), math.log(_NOTHING * max(1, len(grid.mass)))) + SIGMAS * abs(float(grid.losses[-1]))
    losses = grid.losses
    top = float(losses[-1])
    falls, mass = losses[kept] - top, grid.mass[kept]
    sums, tilt, start = np.empty(len(SIGMAS)), falls, 0
    for offset in range(OCTAVE):
        for done, place in enumerate(range(offset, len(SIGMAS), OCTAVE)):
            # Losses far below the top are left out before they underflow.
            first = int(np.searchsorted(falls, -_FALL / SIGMAS[place]))
            # e^{2σx} is the square of e^{σx}; the error of a power doubles with it.
            tilt = tilt[first - start :] ** 2 if done % _DOUBLINGS else np.exp(SIGMAS[place] * falls[first:])
            start = first
            sums[place] = np.sum(mass[first:] * tilt)
    # All parts are positive, so relative errors stay: of e^{σx} with |σx| ≤ FALL, doubled with each square; of the sum,
    # one rounding for each term. What was left out is e^{−FALL} of its mass at most, or has next to no mass.
    whole = _NOTHING * (len(grid.mass) + float(np.sum(mass)))
    sums = (sums + whole) * (1 + _UNIT * (2.0**_DOUBLINGS * 4 + 4 * _FALL + 2 * len(mass)))
    logs = np.log(sums)
    return np.asarray(logs + SIGMAS * top + 8 * _UNIT * (np.abs(logs) + 2 * np.abs(SIGMAS * top) + 1), dtype=np.float64)


def real_moment(grid: Grid, sigma: float) -> float:
    """ln E[e^{σL}] at one abscissa, in floats: how close two grids are, not a bound."""
    with np.errstate(all="ignore"):
        exponents = sigma * grid.losses + np.log(grid.mass)
        top = float(exponents.max())
        return top + math.log(float(np.sum(np.exp(exponents - top))))


@dataclass(frozen=True, slots=True, eq=False)
class Transform:
    """E[e^{sL}]/e^top of one grid at s = σ + 2πik/(nodes·mesh), k = 0 … nodes/2, without its turn by the first point.

    The rest of the period is conjugate. Every value is off by at most `off`.
    """

    first: int
    nodes: int
    top: float
    half: Complexes
    off: float

    def sizes(self) -> Floats:
        """Upper bounds on ln |E[e^{sL}]| − top, for k = 0 … nodes/2."""
        return np.asarray(np.log(np.abs(self.half) * (1 + 4 * _UNIT) + self.off), dtype=np.float64)

    def moments(self, k: Indices) -> Moments:
        """ln E[e^{sL}] at the nodes `k` ≥ 0, up to multiples of 2πi, and a bound on its error."""
        place = k % self.nodes
        one = self.half[np.minimum(place, self.nodes - place)]
        inside = np.where(place > self.nodes // 2, np.conj(one), one)
        # e^{iω·first·h}: the whole turns of k·first/nodes are left out, exactly.
        angle = 2 * math.pi / self.nodes * ((place * (self.first % self.nodes)) % self.nodes)
        shift = np.asarray(self.top + 1j * angle, dtype=np.complex128)
        with np.errstate(all="ignore"):
            return log_with_error(shift, inside, np.full(len(k), self.off), 8 * _UNIT * np.abs(shift))


def transform(grid: Grid, sigma: float, nodes: int) -> Transform:
    """The tilted masses, transformed; `nodes` is even."""
    with np.errstate(all="ignore"):
        weights = np.log(grid.mass)
        exponents = sigma * grid.losses + weights
        top = float(exponents.max())
        tilted = np.exp(exponents - top)
        # Each tilted mass is off by the rounding of the parts of its exponent; where it is 0, by nothing.
        parts = np.abs(sigma * grid.losses) + np.where(grid.mass > 0, np.abs(weights), 0.0) + abs(top) + 4
    off = 4 * _UNIT * float(np.sum(tilted * parts))
    # Points a whole period apart turn alike.
    turns = -(-len(tilted) // nodes)
    folded = np.pad(tilted, (0, turns * nodes - len(tilted))).reshape(turns, nodes).sum(axis=0)
    # Each value sums the masses, each through at most log₂N stages that err by less than 16 u of it (inversion.md).
    off += (16 * math.log2(nodes) + 2 * turns) * _UNIT * float(np.sum(folded))
    return Transform(grid.first, nodes, top, np.conj(np.fft.rfft(folded)), off)


def total_moments(transforms: Sequence[tuple[Transform, int]], k: Indices) -> Moments:
    """Σ count·ln E[e^{sL}] at the nodes `k`, and a bound on its error: infinite where nothing is known."""
    value, error = np.zeros(len(k), dtype=np.complex128), np.zeros(len(k))
    with np.errstate(all="ignore"):
        for each, count in transforms:
            one, off = each.moments(k)
            value += count * one
            # The product and the running sum are rounded.
            error += count * off + 2 * _UNIT * (np.abs(count * one) + np.abs(value))
    return value, np.where(np.isfinite(error) & np.isfinite(value), error, math.inf)
