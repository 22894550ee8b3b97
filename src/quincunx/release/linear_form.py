"""How far Σ c_i·K_i can be from 0, for many independent noises K_i: the half-widths of linear outputs. See then.md."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from statistics import NormalDist
from typing import Final

import numpy as np

from quincunx.table import Floats, Noise

# Points of the transform, and halvings of the search.
_POINTS: Final = 4096
_HALVINGS: Final = 60
# What the transform's tail is trusted to; it is added to the tail.
_SLACK: Final = 1e-7


@dataclass(frozen=True, slots=True, kw_only=True)
class Noises:
    """Independent noises with the same law: the law in lattice units of `unit`."""

    noise: Noise
    unit: float

    @property
    def spread(self) -> float:
        """The scale of Laplace-type noise, σ of Gaussian-type noise, in the data's unit."""
        return (
            float(self.noise.spread) * self.unit if self.noise.norm == 1 else math.sqrt(self.noise.spread) * self.unit
        )


def half_width(coefficients: Sequence[tuple[float, Noises]], risk: Fraction) -> float:
    """A q with P(|Σ c_i·K_i| > q) ≤ risk, in the data's unit; the least where there is one term."""
    terms = [(abs(c), law) for c, law in coefficients if c]
    if not terms:
        return 0.0
    if len(terms) == 1:
        ((c, law),) = terms
        return math.nextafter(c * law.noise.error(risk) * law.unit, math.inf)
    margin = sum(c * law.unit for c, law in terms)
    wide = [c * law.spread for c, law in terms if law.noise.norm == 1]
    bell = math.sqrt(sum((c * law.spread) ** 2 for c, law in terms if law.noise.norm == 2))
    # Moments bound the tail on any lattice; the law of the continuous noises is narrower, with a lattice unit for each.
    found = [_chernoff(wide, bell, float(risk))]
    if all(law.noise.norm == 1 or law.noise.spread >= 1 for _, law in terms):
        found.append(_continuous(np.array(wide), bell, float(risk)) + margin)
    return math.nextafter(min(found) * (1 + 1e-9), math.inf)


def standard_error(coefficients: Sequence[tuple[float, Noises]]) -> float:
    """The standard deviation of Σ c_i·K_i."""
    return math.sqrt(sum(c * c * law.noise.variance * law.unit**2 for c, law in coefficients))


def _chernoff(wide: Sequence[float], bell: float, risk: float) -> float:
    """min over s of (ln(2/risk) + ln E[e^{sX}])/s: no discrete law here has larger moments than its continuous one."""
    scales = np.array(wide)
    deviation = math.sqrt(2 * float(np.sum(scales**2)) + bell**2)
    most = 1 / float(scales.max()) if len(scales) else 8 * math.sqrt(-2 * math.log(risk)) / deviation
    s = np.linspace(0, 1, 513)[1:-1] * most
    logs = 0.5 * (bell * s) ** 2
    if len(scales):
        logs = logs - np.log1p(-((s[:, None] * scales) ** 2)).sum(axis=1)
    return float(np.min((math.log(2 / risk) + logs) / s))


def _continuous(scales: Floats, bell: float, risk: float) -> float:
    """The least q at which the tail of Laplace variables of these scales and one normal variable is at most risk."""
    if not len(scales):
        return -NormalDist().inv_cdf(risk / 2) * bell
    deviation = math.sqrt(2 * float(np.sum(scales**2)) + bell**2)
    # Over this period what wraps around has a probability below the slack: ten times the Chernoff bound.
    period = 2 * _chernoff(scales.tolist(), bell, _SLACK)
    t = np.arange(1, _POINTS + 1) * (2 * math.pi / (2 * period))
    logs = -0.5 * (bell * t) ** 2 - np.log1p((t[:, None] * scales) ** 2).sum(axis=1)
    curve = np.exp(logs) / np.arange(1, _POINTS + 1)
    cut = _cut(scales, bell, float(t[-1]))

    def tail(q: float) -> float:
        # P(|X| ≤ q) = (2/π)·∫ sin(tq)·φ(t)/t dt, by the trapezoidal rule, whose error is what wraps around.
        inside = q / period + 2 / math.pi * float(np.sum(np.sin(t * q) * curve))
        return 1 - inside + _SLACK + cut

    low, high = 0.0, period / 2
    if tail(high) > risk:
        return math.inf
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (low, middle) if tail(middle) <= risk else (middle, high)
    return high if deviation else 0.0


def _cut(scales: Floats, bell: float, last: float) -> float:
    """(2/π)·∫ φ(t)/t dt beyond the last point, at most: φ(t) ≤ φ(last)·(last/t)^2."""
    with np.errstate(over="ignore"):
        logs = -0.5 * (bell * last) ** 2 - float(np.log1p((last * scales) ** 2).sum())
    # Beyond `last` every factor 1 + a²t² grows at least by (1 + a²t²)/(1 + a²·last²); the widest is near (t/last)².
    return math.exp(logs) * 2 / math.pi
