"""δ(ε) of any composition, between certified bounds, by inverting its moments along one vertical line.

With K(s) = Σ n_j·ln E[e^{sL_j}] and any σ > 0, the function f(x) = δ(x)·e^{σ(x−ε)} ≥ 0 has the Fourier transform
e^{K(s)−sε}/(s(s+1)) on s = σ + iω. Poisson's formula turns the trapezoidal sum over ω = 2πk/T into Σ_m f(ε + mT): an
upper bound that needs no discretisation of any law, off by aliases that Chernoff's inequality bounds. Where the moments
do not fade, because losses have atoms, averages of δ above and below it are inverted instead (smoothing.py). What is
added for truncation, for rounding and for aliases is in inversion.md. Only the choice of σ, T, the width of the average
and the number of nodes is heuristic: it moves the width of the bounds, never their truth.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from quincunx.loss.grid import Grid
from quincunx.loss.grid_moments import Transform, real_moments, total_moments, transform
from quincunx.loss.law import Law, View
from quincunx.loss.saddle import SIGMAS, Saddle, exp, log
from quincunx.loss.smoothing import Average

Complexes = NDArray[np.complex128]
Floats = NDArray[np.float64]
Terms = Sequence[tuple[Law, int]]
_Bounds: TypeAlias = tuple[float, float]

# With so many nodes or fewer δ itself is inverted; where it takes more, averages of it.
_PLAIN_NODES: Final = 1 << 13
# Nodes, and how many of the shortest waves that are kept an average is wide: more waves where little of δ is left.
_STAGES: Final = ((1 << 12, 6), (1 << 14, 6), (1 << 14, 24), (1 << 16, 6), (1 << 16, 24), (1 << 18, 6), (1 << 18, 24))
# Points of a grid in one period, at most.
_MOST_POINTS: Final = 1 << 21
# Aliases and truncation are pushed below this share of the expected δ, where nodes suffice.
_SHARE: Final = 1e-11
# Averages are refined until ε is known to about this share of itself.
_SHARP: Final = 1e-4
_EVERY: Final = 4
_UNIT: Final = 2.0**-53
CLOSED: Final = View()


class Inversion(Saddle):
    """The moments of a composition, in one view of its laws, ready to be inverted at any ε."""

    def __init__(self, terms: Terms, view: View = CLOSED) -> None:
        found = [(law, law.grid(view) if view != CLOSED else None, count) for law, count in terms]
        self._grids: list[tuple[Grid, int]] = [(grid, count) for _, grid, count in found if grid is not None]
        self._terms = [(law, count) for law, grid, count in found if grid is None]
        self._mesh, self._stage = view.mesh, 0
        value, error = moments(self._terms, SIGMAS.astype(np.complex128))
        real = value.real + error
        for grid, count in self._grids:
            real = real + count * real_moments(grid)
            real = real + 2 * _UNIT * np.abs(real)
        # Upper ends: Chernoff's inequality needs K from above.
        above = np.where(np.isfinite(real), real, math.inf)
        super().__init__(above, sum(grid.infinite * count for grid, count in self._grids))
        self._lines: dict[tuple[int, float, int], _Line] = {}
        self._transformed: dict[tuple[int, int], list[tuple[Transform, int]]] = {}

    def bounds(self, epsilon: float) -> _Bounds:
        """Certified lower and upper bound on δ(ε) for a float ε ≥ 0, the mass of unbounded loss left out."""
        # An overflow ends as bounds of 0 and 1.
        with np.errstate(all="ignore"):
            return self._bounds(epsilon)

    def _bounds(self, epsilon: float) -> _Bounds:
        index, period, nodes = self._line(epsilon)
        if nodes <= _PLAIN_NODES:
            return self._sum(epsilon, index, period, nodes, None)
        period, low, high = _coarser(period), 0.0, 1.0
        wanted = _SHARP * max(0.5, float(SIGMAS[index]) * epsilon)
        for stage in range(self._stage, len(_STAGES)):
            self._stage, (nodes, waves) = stage, _STAGES[stage]
            found = self._sum(epsilon, index, period, nodes, Average(waves * period / nodes))
            low, high = max(low, found[0]), min(high, found[1])
            if high - low <= wanted * high:
                break
        return low, high

    def sharpness(self, epsilon: float) -> float:
        """How closely it is worth closing in on an ε: averages say no more."""
        return _SHARP / 20 if self._line(epsilon)[2] > _PLAIN_NODES else super().sharpness(epsilon)

    def _sum(self, epsilon: float, index: int, period: float, nodes: int, average: Average | None) -> _Bounds:
        line = self._moments_on_line(index, period, nodes, average)
        exponent = line.value - line.s * epsilon
        # Everything below is relative to e^reference, a plain float.
        reference = float(exponent[0].real)
        # The exponential, the quotient and the sum are off by a few ulp each.
        wobble = line.error + 4 * _UNIT * np.abs(line.s * epsilon) + 100 * _UNIT
        powers, sizes = np.exp(exponent - reference), np.exp(exponent.real - reference)
        # e^z at z off by w is off by |e^z|·(e^w − 1).
        off = sizes * np.expm1(np.minimum(wobble, 700.0))
        aliases = self._aliases(index, period, epsilon, reference)
        truncation = self._truncation(float(SIGMAS[index]), period, nodes, average)
        truncation *= math.exp(min(700.0, float(wobble[0])))
        roof, floor = line.kernels[average]
        over = roof.total(powers, sizes, off, 1) + truncation
        # At most twice the first average is left in the other periods.
        under = floor.total(powers, sizes, off, -1) - truncation - (1 if average is None else 2) * aliases
        factor = exp(reference)
        low, high = factor * (1 - 1e-15) * under, factor * (1 + 1e-15) * over
        if not (math.isfinite(low) and math.isfinite(high)):
            return 0.0, 1.0
        return max(0.0, low), min(1.0, math.nextafter(high, math.inf))

    def _line(self, epsilon: float) -> tuple[int, float, int]:
        """The abscissa, the period T and the number of nodes, all from short lists so that lines are reused.

        With grids T is a power of 2 and a multiple of their spacing. More than `_PLAIN_NODES` means: too many.
        """
        line = self._line_at(self._saddle(epsilon), epsilon)
        # Long lines serve more ε: two abscissas to an octave, below the saddle point, because K may explode above.
        return line if line[2] <= _PLAIN_NODES else self._line_at(max(line[0] // _EVERY, 1) * _EVERY, epsilon)

    def _line_at(self, index: int, epsilon: float) -> tuple[int, float, int]:
        sigma, goal = float(SIGMAS[index]), self._log_estimate(index, epsilon) + math.log(_SHARE)
        reference = float(self._real[index] - sigma * epsilon)
        finer = 1 if self._grids else 2
        period = 2.0 ** (math.ceil(finer * math.log2(12 * math.sqrt(self._variance(index)) + 24 / sigma)) / finer)
        # A period of grids is transformed as a whole: aliases that a longer one would lower are left in the bounds.
        longest = _MOST_POINTS * self._mesh if self._grids else math.inf
        for _ in range(40):
            if log(self._aliases(index, period, epsilon, reference)) + reference <= goal or period >= longest:
                break
            period *= 2 ** (1 / finer)
        nodes = 128
        while nodes <= _PLAIN_NODES and log(self._truncation(sigma, period, nodes, None)) + reference > goal:
            nodes *= 2
        return index, max(period, 2 * self._mesh), nodes

    def _moments_on_line(self, index: int, period: float, nodes: int, average: Average | None) -> _Line:
        if (index, period, nodes) not in self._lines:
            s = SIGMAS[index] + 2j * math.pi / period * np.arange(nodes)
            value, error = moments(self._terms, s)
            if self._grids:
                transforms = self._transforms(index, round(period / self._mesh))
                others, off = total_moments(transforms, np.arange(nodes))
                value, error = value + others, error + off + 2 * _UNIT * (np.abs(value) + np.abs(others))
            kernel = 2 / period / (s * (s + 1))
            kernel[0] /= 2
            self._lines[index, period, nodes] = _Line(s, value, error, kernel, {})
        line = self._lines[index, period, nodes]
        if average not in line.kernels:
            line.kernels[average] = _kernels(line, average)
        return line

    def _transforms(self, index: int, nodes: int) -> list[tuple[Transform, int]]:
        if (index, nodes) not in self._transformed:
            sigma = float(SIGMAS[index])
            self._transformed[index, nodes] = [(transform(grid, sigma, nodes), count) for grid, count in self._grids]
        return self._transformed[index, nodes]

    def _truncation(self, sigma: float, period: float, nodes: int, average: Average | None) -> float:
        # |e^{K(σ+iω)}| ≤ e^{K(σ)}·decay(ω), 1/|s(s+1)| ≤ 1/ω², Σ_{k≥N} 1/k² ≤ 1/(N − 1).
        omega = 2 * math.pi * nodes / period
        decay = exp(min(0.0, sum(count * law.log_decay(sigma, omega) for law, count in self._terms)))
        if average is None:
            return 1.01 * period / (2 * math.pi**2 * (nodes - 1)) * decay
        # An average brings c/ω⁴ more: (2/T)·c·(T/2π)⁶·Σ_{k≥N} 1/k⁶, which is at most 1/5(N − 1)⁵.
        rest = average.fading(sigma) * (period / (2 * math.pi)) ** 6 / (5 * float(nodes - 1) ** 5)
        return 1.01 * 2 / period * rest * decay


def _coarser(period: float) -> float:
    # Powers of 2 only: lines are reused more often.
    return 2.0 ** math.ceil(math.log2(period))


def supported(terms: Terms) -> bool:
    """Whether every law of the composition knows its moments."""
    return all(law.has_moments for law, _ in terms)


@dataclass(frozen=True, slots=True)
class _Kernel:
    """What e^{K(s)−sε} is multiplied by at each node: its value, its size and a bound on its error."""

    value: Complexes
    size: Floats
    off: Floats

    @classmethod
    def of(cls, kernel: Complexes, factor: Complexes, off: Floats) -> _Kernel:
        value, whole = kernel * factor, np.abs(kernel)
        return cls(value, np.abs(value), whole * off)

    def total(self, powers: Complexes, sizes: Floats, off: Floats, sign: int) -> float:
        """The sum over the nodes, with all that it may be off added (`sign` 1) or taken away (−1)."""
        rounding = float(np.sum(self.size * off + self.off * (sizes + off)))
        return float(np.sum((powers * self.value).real)) + sign * rounding


@dataclass(frozen=True, slots=True)
class _Line:
    s: Complexes
    value: Complexes
    error: Floats
    kernel: Complexes
    # The kernels of the upper and of the lower bound, for each average.
    kernels: dict[Average | None, tuple[_Kernel, _Kernel]]


def _kernels(line: _Line, average: Average | None) -> tuple[_Kernel, _Kernel]:
    if average is None:
        plain = _Kernel(line.kernel, np.abs(line.kernel), np.zeros(len(line.s)))
        return plain, plain
    return _Kernel.of(line.kernel, *average.above(line.s)), _Kernel.of(line.kernel, *average.below(line.s))


def moments(terms: Terms, s: Complexes) -> tuple[Complexes, Floats]:
    """K(s) = Σ n_j·ln E[e^{sL_j}] of closed laws, up to multiples of 2πi, and a bound on its absolute error."""
    value, error = np.zeros_like(s), np.zeros(len(s))
    with np.errstate(all="ignore"):
        for law, count in terms:
            one, off = law.log_moment(s)
            value += count * one
            # The product and the running sum are rounded.
            error += count * off + 2 * _UNIT * (np.abs(count * one) + np.abs(value))
    # A NaN is a node about which nothing is known.
    return value, np.where(np.isfinite(value) & np.isfinite(error), error, math.inf)
