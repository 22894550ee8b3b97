"""How far a difference of noisy counts may be from the truth: quantiles of linear forms of many equal noises.

For Laplace noise the tail is the inverse of its moments along a vertical line, as `loss` inverts; see reach.md.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from statistics import NormalDist
from typing import Final

import numpy as np

from quincunx.table.aggregates.estimate import Floats, Noise

# A tail is certain to this part of the risk, and a reach to this part of itself.
_CERTAIN: Final = 1e-7
_HALVINGS: Final = 16
_STEEPEST: Final = 0.6


def reaches(noise: Noise, level: Fraction, cuts: int, risk: Fraction) -> Floats:
    """For each cut, q with P(g ≥ q) ≤ risk/2, where g = (1 − level)·Σ below − level·Σ above, of noises alone.

    There is one count below the first cut and one above the last; noise: that of each count, in whose units q is.
    """
    one, other = float(1 - level), float(level)
    below = np.arange(1, cuts + 1)
    above = cuts + 1 - below
    size = below * one + above * other
    if noise.norm == 1:
        scaled = np.array(_laplace(level, cuts, risk))
        # A lattice unit's margin for each count, by linear.md.
        return np.asarray(float(noise.spread) * (1 + 1e-12) * scaled + size)
    if noise.spread < 1:
        # Below one lattice unit the bell curve is no approximation; each noise at its own share of the risk always is.
        return np.asarray(size * noise.error(risk / (cuts + 1)))
    z = -NormalDist().inv_cdf(float(risk) / 2) * (1 + 1e-9)
    spread = np.sqrt(below * one**2 + above * other**2) * math.sqrt(noise.spread) * (1 + 1e-12)
    return np.asarray(z * spread + size)


@lru_cache(maxsize=256)
def _laplace(level: Fraction, cuts: int, risk: Fraction) -> tuple[float, ...]:
    """For noises of scale 1."""
    return tuple(
        _reach(((float(1 - level), below), (float(level), cuts + 1 - below)), float(risk) / 2)
        for below in range(1, cuts + 1)
    )


@lru_cache(maxsize=4096)
def quantile(terms: tuple[tuple[float, int], ...], risk: Fraction) -> float:
    """An x, the smallest but for a little, with P(Σ > x) ≤ risk, for Laplace noises of these scales and numbers."""
    return _reach(terms, float(risk))


def _reach(terms: Sequence[tuple[float, int]], risk: float) -> float:
    """The smallest x, but for a little, with P(Σ > x) ≤ risk; terms: scale and number of the noises of that scale."""
    widest, spread = max(scale for scale, _ in terms), math.sqrt(sum(2 * n * scale**2 for scale, n in terms))
    # Chernoff's bound, at a few slopes, is never too small.
    slopes = [part / widest / 32 for part in range(1, 32)]
    high = min((_log_moment(terms, s) - math.log(risk)) / s for s in slopes)
    slope = min(slopes, key=lambda s: (_log_moment(terms, s) - math.log(risk)) / s)
    # Any slope is sound; a steep one has aliases that hardly fade.
    tail = _Tail(terms, min(slope, _STEEPEST / widest), risk)
    low = min(spread, high)
    if tail(low) <= risk:
        return low
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (low, middle) if tail(middle) <= risk else (middle, high)
    return high


def _log_moment(terms: Sequence[tuple[float, int]], slope: float) -> float:
    return -sum(n * math.log1p(-((scale * slope) ** 2)) for scale, n in terms)


class _Tail:
    """x ↦ a little more than P(Σ > x): Σ_n M(s + inh)·e^{−(s + inh)x}/(s + inh)·h/2π, and what is left of the sum."""

    __slots__ = ("_log", "_more", "_nodes", "_slope", "_step")

    def __init__(self, terms: Sequence[tuple[float, int]], slope: float, risk: float) -> None:
        # Aliases are all positive: a wide step only adds to the tail, by about e^{−2π·slope/step}.
        self._slope, self._step = slope, 2 * math.pi * slope / (math.log(1 / risk) - math.log(_CERTAIN))
        narrow, count = min(scale for scale, _ in terms), 64
        while True:
            nodes = slope + 1j * self._step * np.arange(count)
            log = -sum(n * np.log(1 - (scale * nodes) ** 2) for scale, n in terms) - np.log(nodes)
            last = math.exp(log[-1].real - log[0].real)
            far = self._step * (count - 1)
            if narrow * far >= 1 and last * far < _CERTAIN * self._step:
                break
            count *= 2
        self._nodes, self._log = nodes, log
        # Beyond the last node, at ω, the size falls at least like 1/ω²: the rest is at most last·ω.
        self._more = math.exp(log[-1].real) * far / math.pi

    def __call__(self, x: float) -> float:
        terms = np.exp(self._log - self._nodes * x).real
        total = self._step / math.pi * float(terms.sum() - terms[0] / 2)
        return total * (1 + 1e-9) + self._more * math.exp(-self._slope * x) + 1e-13 * float(np.abs(terms).sum())
