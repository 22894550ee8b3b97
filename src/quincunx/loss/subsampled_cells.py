"""The sampled Gaussian cut into cells of its loss: masses that are right to a few ulp of themselves.

Along the base loss l, which is N(−μ²/2, μ²) under Q and N(μ²/2, μ²) under P, the sampled loss of (1−r)Q + rP against Q
is ln(1 − r + r·e^l). Its cells are intervals of l. A narrow interval around m of width w (in standard deviations) has
the mass φ(m)·w·Σ_k He_{2k}(m)·w^{2k}/((2k+1)!·4^k), which loses no digits, where a difference of tails would lose all
but those of w; wide intervals are differences of tails.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from quincunx.loss.grid import Cells, Grid, dominated, dominating, reversed_cells
from quincunx.loss.law import View

Floats = NDArray[np.float64]
_Way: TypeAlias = Callable[[Cells], Grid]
_UNIT: Final = 2.0**-53
# The series stops at k = 4; where w·(1 + |m|) is at most this, the rest is below 1e-17 of the mass.
_NARROW: Final = 0.05


@dataclass(frozen=True, slots=True)
class Line:
    """μ > 0 of the base and the sampling rate, 0 < r < 1."""

    mu: float
    rate: float

    @property
    def lowest(self) -> float:
        """The infimum of the sampled loss, ln(1 − r)."""
        return math.log1p(-self.rate)

    def highest(self, cut: float) -> float:
        """A loss above which the sampled law has less than `cut`."""
        end = self.mu * (math.sqrt(-2 * math.log(cut)) + self.mu / 2)
        # ln(1 − r + r·e^l) without overflow.
        return end + math.log(self.rate + (1 - self.rate) * math.exp(-end))

    def least(self, cut: float) -> float:
        """A loss below which the sampled law has less than `cut`, under P and under Q."""
        end = self.mu * (math.sqrt(-2 * math.log(cut)) + self.mu / 2)
        return math.log1p(self.rate * math.expm1(-end))

    def tails(self, loss: float) -> tuple[float, float]:
        """Upper bounds on the masses above the sampled loss `loss` > 0, under (1 − r)Q + rP and under Q."""
        base = loss + math.log1p(-(1 - self.rate) * math.exp(-loss)) - math.log(self.rate)
        p, q = (0.5 * math.erfc((base / self.mu + side * self.mu / 2) / math.sqrt(2)) for side in (-1, 1))
        return ((1 - self.rate) * q + self.rate * p) * (1 + 1e-10) + 1e-300, q * (1 + 1e-10) + 1e-300


@lru_cache(maxsize=16)
def grid(line: Line, replacing: bool, view: View) -> Grid:
    """The law on the grid of `view`, dominating or dominated, in one direction."""
    forward = cells(line, replacing, view.mesh, view.cut)
    ways = (dominated if view.below else dominating), forward, reversed_cells(forward)
    return _symmetric(line, view, *ways) if replacing else _one_way(line, view, *ways)


def _one_way(line: Line, view: View, on_grid: _Way, forward: Cells, backward: Cells) -> Grid:
    made = on_grid(backward if view.backwards else forward)
    mass = made.mass.copy()
    above, below = line.tails((forward.first + len(forward.p)) * view.mesh)
    if view.backwards:
        # What is above the last edge has, backwards, a loss below the grid: the lowest point is above it.
        mass[0] += 0.0 if view.below else below
        # What is below the first edge has, backwards, a loss above the grid.
        return Grid(view.mesh, made.first, mass, 0.0 if view.below else view.cut)
    return Grid(view.mesh, made.first, mass, 0.0 if view.below else above)


def _symmetric(line: Line, view: View, on_grid: _Way, forward: Cells, backward: Cells) -> Grid:
    """Losses above 0 as they are, their mirror images below, the rest at 0."""
    above, below = on_grid(forward), on_grid(backward)
    size = max(above.first + len(above.mass), -below.first) + 1
    mass = np.zeros(2 * size + 1)
    for each in (above, below):
        start = each.first + size
        mass[start : start + len(each.mass)] += each.mass
    # 1 − P(L > 0) − Q(L > 0) = (1 − r)·P(|Z| < μ/2).
    rest = (1 - line.rate) * math.erf(line.mu / 2 / math.sqrt(2))
    tail, under = line.tails((forward.first + len(forward.p)) * view.mesh)
    if view.below:
        mass[size] += max(0.0, rest * (1 - 1e-14))
        return Grid(view.mesh, -size, mass)
    mass[size] += rest * (1 + 1e-14)
    mass[0] += under
    return Grid(view.mesh, -size, mass, tail)


@lru_cache(maxsize=8)
def cells(line: Line, replacing: bool, mesh: float, cut: float) -> Cells:
    """The cells between grid points: from where no more than `cut` is below, or from 0, to where no more is above."""
    first = 0 if replacing else math.floor(line.least(cut) / mesh)
    last = max(first + 1, math.ceil(line.highest(cut) / mesh) + 1)
    inside = np.arange(first + 1, last + 1) * mesh
    # l = ln((e^L − (1 − r))/r) = L + ln(s/r) with s = 1 − e^{ln(1−r)−L}.
    s = -np.expm1(line.lowest - inside)
    with np.errstate(all="ignore"):
        edges = inside + np.log(np.maximum(s, 0.0) / line.rate)
        # Over one spacing e^L − (1 − r) grows by the factor 1 + (e^mesh − 1)/s: widths keep digits that edges lose.
        widths = np.log1p(math.expm1(mesh) / s[:-1])
        slips = 8 * _UNIT * (1 + np.abs(edges) + (np.abs(inside) - line.lowest) * (1 - s) / s)
    lowest = 0.0 if replacing else -math.inf
    edges, slips = np.concatenate(([lowest], edges)), np.concatenate(([0.0], slips))
    # At L = 0 the edge is l = 0 and s = r.
    widths = np.concatenate(([math.log1p(math.expm1(mesh) / line.rate) if replacing else math.inf], widths))
    p, p_error = _masses(line.mu, edges, widths, slips, line.mu / 2)
    q, q_error = _masses(line.mu, edges, widths, slips, -line.mu / 2)
    rate, rise = line.rate, np.exp(inside) * s
    # At an edge e^L − (1 − r) = r·e^l =: t, so (1−r)q + rp − e^L·q = rp − tq: it cancels only as far as l varies.
    lack, lack_error = _difference(rise * q, rise * (q_error + q * slips[1:]), rate * p, rate * p_error)
    start = np.concatenate(([0.0], rise[:-1]))
    more, more_error = _difference(rate * p, rate * p_error, start * q, start * (q_error + q * slips[:-1]))
    # The first cell begins at its grid point, where e^L − (1 − r) may be below 0.
    gap = rate if replacing else -math.exp(first * mesh) * math.expm1(line.lowest - first * mesh)
    more[0] -= gap * q[0]
    more_error[0] += abs(gap) * q_error[0] + 8 * _UNIT * (1 + abs(line.lowest)) * q[0]
    both, error = (1 - rate) * q + rate * p, (1 - rate) * q_error + rate * p_error
    if not replacing:
        # It also holds what lies below its point, less than the cut: so much may be missing above it.
        error[0] += cut
        more_error[0] += math.exp(first * mesh) * cut * (1 + 1e-12)
    return Cells(mesh, first, both, q, more, lack, error + 4 * _UNIT * both, q_error, more_error, lack_error)


def _difference(a: Floats, a_error: Floats, b: Floats, b_error: Floats) -> tuple[Floats, Floats]:
    return a - b, a_error + b_error + 8 * _UNIT * (a + b)


def _masses(mu: float, edges: Floats, widths: Floats, slips: Floats, mean: float) -> tuple[Floats, Floats]:
    """Masses of the intervals between `edges`, divided by μ, under N(mean, 1), and bounds on their errors.

    Edges are off by at most `slips`; where an edge is not known at all, the error is 1.
    """
    z, w = edges / mu - mean, widths / mu
    # How far z may be off: the edge's own error, and the rounding of μ, of the quotient and of the difference.
    off = slips / mu + 4 * _UNIT * (np.abs(np.where(np.isfinite(edges), edges, 0.0)) / mu + abs(mean))
    tails = np.fromiter(map(math.erfc, (np.abs(z) / math.sqrt(2)).tolist()), np.float64, len(z)) / 2
    a, b, left, right = z[:-1], z[1:], tails[:-1], tails[1:]
    wide = np.where(a >= 0, left - right, np.where(b <= 0, right - left, 1 - left - right))
    with np.errstate(all="ignore"):
        moved = np.where(np.isfinite(z), 0.4 * np.exp(-z * z / 2) * (1 + np.abs(z) * off) * off, 0.0)
        largest = np.where((a < 0) & (b > 0), 1.0, np.maximum(left, right))
        wide_error = 32 * _UNIT * largest + moved[:-1] + moved[1:]
        middle, w2 = (a + b) / 2, w * w
        m2 = middle * middle
        series = 1 + w2 / 24 * (m2 - 1)
        series += w2**2 / 1920 * ((m2 - 6) * m2 + 3)
        series += w2**3 / 322_560 * (((m2 - 15) * m2 + 45) * m2 - 15)
        series += w2**4 / 92_897_280 * ((((m2 - 28) * m2 + 210) * m2 - 420) * m2 + 105)
        narrow = np.exp(-m2 / 2) / math.sqrt(2 * math.pi) * w * series
        # m off by `off` moves φ(m) by m times that; the width is off by as much of itself as its lower edge.
        narrow_error = narrow * ((off[:-1] + off[1:]) * (1 + np.abs(middle)) + slips[:-1] + _UNIT * (32 + 4 * m2))
        usable = np.isfinite(narrow_error) & (w * (1 + np.abs(middle)) <= _NARROW)
    error = np.where(usable, narrow_error, wide_error)
    return np.where(usable, narrow, np.maximum(wide, 0.0)), np.where(np.isfinite(error), error, 1.0)
