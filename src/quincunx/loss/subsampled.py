"""Amplification by subsampling people: a Gaussian mechanism that sees each person with a small probability.

Poisson sampling with add/remove: with (P, Q) the mechanism's pair, the sampled pair is ((1−r)Q + rP, Q) when a person
is removed and (Q, (1−r)Q + rP) when one is added; both are composed and the larger δ counts. Sampling without
replacement with replace has one symmetric pair, which agrees with the first on losses above 0 (subsampled.md).
"""

from __future__ import annotations

import math
from collections.abc import Hashable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from typing import ClassVar, Final

import numpy as np
from numpy.typing import NDArray

from quincunx.loss.gaussian import GaussianLaw
from quincunx.loss.grid import Cells, Grid, dominating, reversed_cells
from quincunx.loss.law import Bounds, Law, Moments, Profile, Terms, View, log_with_error
from quincunx.loss.stated import StatedLaw
from quincunx.numbers import Ball, ball, float_near, precision

Floats = NDArray[np.float64]
_UNIT: Final = 2.0**-53
# The loss is cut where no more than this is left above; it is added to δ.
_CUT: Final = 1e-26


@dataclass(frozen=True, slots=True, kw_only=True)
class SubsampledLaw(Law):
    """`base` run on a sample in which each person is with probability `rate`, 0 < rate < 1.

    `replacing` False: Poisson sampling, add/remove. `replacing` True: without replacement, replace.
    """

    base: GaussianLaw
    rate: Fraction
    replacing: bool

    has_moments: ClassVar[bool] = True
    symmetric: ClassVar[bool] = False

    def pure(self) -> Ball:
        """Unbounded, as the base is."""
        return Ball.pos_inf()

    def zcdp(self) -> Bounds:
        """At most the base's ρ: sampling never raises a divergence."""
        return Fraction(0), self.base.zcdp()[1]

    def kl(self) -> Bounds:
        """At most rate·D_1 of the base, by convexity."""
        return Fraction(0), self.rate * self.base.mu2 / 2

    def renyi(self, alpha: Fraction) -> Bounds:
        """At most the base's D_α."""
        return Fraction(0), self.base.renyi(alpha)[1]

    def gdp(self) -> Ball:
        """At most the base's μ would be true but loose; sampled Gaussians are composed by their own law instead."""
        return ball(self.base.mu2)

    def group(self, k: int) -> StatedLaw:
        """Only the base's ρ remains for several people at once."""
        return StatedLaw(epsilon=None, rho=self.base.mu2 / 2 * k * k)

    def family(self) -> Hashable:
        """Each sampled mechanism is its own."""
        return self

    def profile(self, terms: Terms) -> Profile | None:
        """Closed for one use."""
        return self if len(terms) == 1 and terms[0][1] == 1 else None

    def delta(self, epsilon: Ball) -> tuple[Ball, Ball]:
        """rate·δ_base(ln(1 + (e^ε − 1)/rate)), and for an added person (1 − γ(1−r))·δ_base(ln(γr/(1 − γ(1−r))))."""
        closed = self.base.profile([(self.base, 1)])
        with precision(256):
            rate, growth = ball(self.rate), epsilon.exp()
            removed = rate * closed.delta((1 + (growth - 1) / rate).log())[1]
            rest = 1 - growth * (1 - rate)
            if self.replacing or not rest > 0:
                return removed, removed
            added = rest * closed.delta((growth * rate / rest).log())[1]
            value = removed.max(added)
            return value, value

    @property
    def resolution(self) -> float:
        """Half of the loss lies within the rate of 0."""
        return float_near(self.rate)

    def grid(self, view: View) -> Grid:
        """The law on a grid of spacing `view.mesh`, dominating or dominated, in one direction."""
        return _grid(self, view)

    def log_moment(self, s: NDArray[np.complex128], view: View) -> Moments:
        """ln Σ mass·e^{s·loss} over the grid."""
        grid = self.grid(view)
        with np.errstate(divide="ignore"):
            losses, weights = grid.losses, np.log(grid.mass)
        value, tops, sizes = np.empty_like(s), np.empty(len(s)), np.empty(len(s))
        step = max(1, (1 << 21) // len(losses))
        for start in range(0, len(s), step):
            part = s[start : start + step, None]
            exponents = part.real * losses + weights
            top = exponents.max(axis=1)
            value[start : start + step] = (np.exp(exponents - top[:, None]) * np.exp(1j * part.imag * losses)).sum(
                axis=1
            )
            tops[start : start + step] = top
            sizes[start : start + step] = np.exp(exponents - top[:, None]).sum(axis=1)
        # Each term is off by the rounding of its exponent; the sum's rounding is bounded by the sum of the sizes.
        off = _UNIT * sizes * (64 + 8 * np.abs(s) * np.abs(losses).max() + 8 * math.log2(len(losses)))
        return log_with_error(tops.astype(np.complex128), value, off, 4 * _UNIT * np.abs(tops))


@lru_cache(maxsize=16)
def _grid(law: SubsampledLaw, view: View) -> Grid:
    line = _Line(math.sqrt(float_near(law.base.mu2)), float_near(law.rate))
    return _dominated(line, law.replacing, view) if view.below else _dominating(line, law.replacing, view)


@dataclass(frozen=True, slots=True)
class _Line:
    """The sampled Gaussian along its base loss l: under Q it is N(−μ²/2, μ²), under P it is N(μ²/2, μ²)."""

    mu: float
    rate: float

    def base_loss(self, loss: float) -> float:
        """The base loss l with ln(1 − r + r·e^l) = `loss`."""
        inside = math.expm1(loss) + self.rate
        return math.log(inside / self.rate) if inside > 0 else -math.inf

    def masses(self, a: float, b: float) -> tuple[float, float]:
        """The masses of a < l < b under (1 − r)Q + rP and under Q."""
        p = _between((a / self.mu) - self.mu / 2, (b / self.mu) - self.mu / 2)
        q = _between((a / self.mu) + self.mu / 2, (b / self.mu) + self.mu / 2)
        return (1 - self.rate) * q + self.rate * p, q

    def rounding(self, a: float, b: float) -> tuple[float, float]:
        """Bounds on the errors of `masses`: a few ulp of the larger error function of each difference."""
        p = _largest_tail((a / self.mu) - self.mu / 2, (b / self.mu) - self.mu / 2)
        q = _largest_tail((a / self.mu) + self.mu / 2, (b / self.mu) + self.mu / 2)
        return 64 * _UNIT * ((1 - self.rate) * q + self.rate * p), 64 * _UNIT * q

    def highest(self) -> float:
        """A loss above which the sampled law has less than the cut."""
        z = math.sqrt(-2 * math.log(_CUT))
        return math.log1p(self.rate * math.expm1(self.mu * (z + self.mu / 2)))


def _between(a: float, b: float) -> float:
    # P(a < Z < b), from the side where the tails are small.
    if a >= 0:
        return 0.5 * (math.erfc(a / math.sqrt(2)) - math.erfc(b / math.sqrt(2)))
    if b <= 0:
        return 0.5 * (math.erfc(-b / math.sqrt(2)) - math.erfc(-a / math.sqrt(2)))
    return 0.5 * (math.erf(b / math.sqrt(2)) + math.erf(-a / math.sqrt(2)))


def _largest_tail(a: float, b: float) -> float:
    # The arguments' own rounding moves a tail at z by z² of its ulps.
    nearest = 0.0 if a < 0 < b else min(abs(a), abs(b))
    return math.erfc(nearest / math.sqrt(2)) * (1 + nearest * nearest)


@lru_cache(maxsize=8)
def _cells(line: _Line, replacing: bool, mesh: float) -> tuple[Cells, float]:
    """The cells between grid points, for both directions, and the base loss where they end."""
    first = 0 if replacing else math.floor(math.log1p(-line.rate) / mesh)
    last = math.ceil(line.highest() / mesh) + 1
    edges = [0.0 if replacing else -math.inf, *(line.base_loss(j * mesh) for j in range(first + 1, last + 1))]
    pairs = [line.masses(a, b) for a, b in pairwise(edges)]
    p, q = np.array([pair[0] for pair in pairs]), np.array([pair[1] for pair in pairs])
    errors = [line.rounding(a, b) for a, b in pairwise(edges)]
    p_error, q_error = np.array([pair[0] for pair in errors]), np.array([pair[1] for pair in errors])
    return Cells(mesh, first, p, q, p_error, q_error), edges[-1]


def _dominating(line: _Line, replacing: bool, view: View) -> Grid:
    mesh = view.mesh
    cells, end = _cells(line, replacing, mesh)
    left = [mass * (1 + 1e-10) + 1e-300 for mass in line.masses(end, math.inf)]
    if replacing:
        rest = max(0.0, 1 - float(cells.p.sum() + cells.q.sum())) + 1e-9
        return _mirrored(dominating(cells), dominating(reversed_cells(cells)), rest, left[0])
    if view.backwards:
        grid = dominating(reversed_cells(cells))
        # What is above the last edge has, backwards, a loss below the grid: it is put on its lowest point.
        mass = grid.mass.copy()
        mass[0] += left[1]
        return Grid(mesh, grid.first, mass)
    grid = dominating(cells)
    return Grid(mesh, grid.first, grid.mass, left[0])


def _mirrored(above: Grid, below: Grid, rest: float, tail: float) -> Grid:
    """One symmetric law: losses above 0 as they are, their mirror images below, the rest at 0."""
    size = max(above.first + len(above.mass), -(below.first)) + 1
    mass = np.zeros(2 * size + 1)
    for grid in (above, below):
        start = grid.first + size
        mass[start : start + len(grid.mass)] += grid.mass
    mass[size] += rest
    return Grid(above.mesh, -size, mass, tail)


def _dominated(line: _Line, replacing: bool, view: View) -> Grid:
    """Cells whose merged loss is exactly a grid point: boundaries are found one after the other."""
    mesh = view.mesh
    start = 0.0 if replacing else -math.inf
    lowest = 0.0 if replacing else math.log1p(-line.rate)
    index, top = math.floor(lowest / mesh) + 1, math.floor(line.highest() / mesh)
    points: dict[int, tuple[float, float]] = {}
    stride, done = 1, start
    while index < top:
        cell = _cell(line, start, index * mesh, view.backwards)
        if cell is None:
            break
        p, q, start = cell
        points[index] = (p, q)
        done = start
        # Far out, where little mass is left, wider cells do.
        left = line.masses(start, math.inf)[0]
        stride = 1 if left > 1e-3 else 4 if left > 1e-6 else 16
        here = math.floor(math.log1p(line.rate * math.expm1(start)) / mesh) + 1
        index = max(index + stride, here)
    # What is left is one cell more, its merged loss rounded down.
    p, q = line.masses(done, math.inf)
    if p > 0 and q > 0:
        place = math.log(p / q) / mesh
        last = math.ceil(place + 1e-6) if view.backwards else math.floor(place - 1e-6)
        before = points.get(last, (0.0, 0.0))
        points[last] = (before[0] + p, before[1] + q)
    # What is taken off covers the rounding of every mass.
    ahead = {index: p * (1 - 1e-9) for index, (p, _) in points.items()}
    behind = {-index: q * (1 - 1e-9) for index, (_, q) in points.items()}
    if replacing:
        whole = sum(line.masses(0.0, math.inf))
        return _from_points(mesh, {**ahead, **behind, 0: max(0.0, 1 - whole - 1e-9)})
    return _from_points(mesh, behind if view.backwards else ahead)


def _from_points(mesh: float, points: dict[int, float]) -> Grid:
    first, last = min(points), max(points)
    mass = np.zeros(last - first + 1)
    for index, value in points.items():
        mass[index - first] = max(value, 0.0)
    return Grid(mesh, first, mass)


def _cell(line: _Line, start: float, loss: float, backwards: bool) -> tuple[float, float, float] | None:
    """The smallest cell from `start` whose merged loss ln(p/q) is at least `loss`: its masses and its end.

    Backwards the merged loss −ln(p/q) must be at least −`loss`, so the cell is the largest that is not beyond it. None
    where the mass runs out first.
    """
    # Masses of a cell are right to 1e-11 of themselves: aim beyond by ten times that.
    ratio = math.exp(loss) * (1 - 1e-10 if backwards else 1 + 1e-10)
    low = max(line.base_loss(loss), start)
    high, width = low, 0.25 * line.mu
    while not _beyond(line, start, high, ratio):
        low, high, width = high, high + width, 2 * width
        if width > 1e6:
            return None
    # A wider bracket costs sharpness, not truth: the end that is kept satisfies the condition.
    while high - low > 1e-8 * (1 + abs(high)):
        middle = (low + high) / 2
        if not low < middle < high:
            break
        low, high = (low, middle) if _beyond(line, start, middle, ratio) else (middle, high)
    end = low if backwards else high
    return (*line.masses(start, end), end)


def _beyond(line: _Line, start: float, end: float, ratio: float) -> bool:
    p, q = line.masses(start, end)
    return p > ratio * q
