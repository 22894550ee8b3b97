"""δ(ε) of compositions whose laws all lie on one grid: the inversion of `inversion.py` over a single period.

On a grid of spacing h the moments have the period 2πi/h, so N nodes of one period carry everything: nothing is
truncated, and one fast Fourier transform of each tilted law gives its moments at all nodes. The transform's own error
is bounded and added; tilting makes it relative to e^{K(σ)−σε}, which is close to δ.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from quincunx.loss.grid import Grid
from quincunx.loss.grid_moments import Transform, real_moments, total_moments, transform
from quincunx.loss.saddle import SIGMAS, Saddle, exp, log

Complexes = NDArray[np.complex128]
Floats = NDArray[np.float64]

_UNIT: Final = 2.0**-53
_MOST_NODES: Final = 1 << 21
_SHARE: Final = 1e-7
# Nodes whose moments are below e^{FAINT} of the largest are left out, and bounded.
_FAINT: Final = -60.0
_EVERY: Final = 4


class GridInversion(Saddle):
    """A composition of grids, each used as often as its count, ready to be inverted at any ε."""

    def __init__(self, terms: list[tuple[Grid, int]]) -> None:
        self._terms = terms
        self._mesh = terms[0][0].mesh
        total = np.zeros(len(SIGMAS))
        for grid, count in terms:
            total += count * real_moments(grid)
        # The products and the sum are rounded.
        above = total + 4 * _UNIT * len(terms) * np.abs(total)
        super().__init__(above, sum(grid.infinite * count for grid, count in terms))
        self._spectra: dict[tuple[int, int], _Line] = {}

    def bounds(self, epsilon: float) -> tuple[float, float]:
        """Certified lower and upper bound on Σ mass·(1 − e^{ε−L})⁺ of the composed grid, its infinite mass left out."""
        # An overflow ends as bounds of 0 and 1.
        with np.errstate(all="ignore"):
            return self._bounds(epsilon)

    def _bounds(self, epsilon: float) -> tuple[float, float]:
        index, nodes = self._line(epsilon)
        line, h = self._spectrum(index, nodes), self._mesh
        # Σ over grid points l > ε of (1 − e^{ε−l})·e^{−s(l−ε)}, the first of them at ε + start: two geometric series.
        start = max(0.0, math.ceil(epsilon / h) * h - epsilon)
        at = epsilon + start
        reference = float(line.value[0].real) - float(line.s[0].real) * at
        exponent = line.value - line.s * at - reference
        wobble = line.error + 8 * _UNIT * np.abs(line.s) * (at + h) + 200 * _UNIT
        kernel = line.one - math.exp(-start) * line.two
        summands = line.weight * np.exp(exponent) * kernel
        growth = np.where(wobble > 30, np.minimum(wobble, 700.0), np.log(np.expm1(np.minimum(wobble, 30.0))))
        # The difference cancels where e^{−sh} is small, so the kernel's error is that of its two terms.
        errors = np.abs(kernel) * np.exp(exponent.real + growth)
        errors += line.off * np.exp(exponent.real + np.minimum(wobble, 700.0))
        total = float(np.sum(summands.real)) / nodes
        rounding = (float(np.sum(line.weight * errors)) + line.rest) / nodes
        aliases = self._aliases(index, nodes * h, epsilon, reference)
        factor = exp(reference)
        low, high = factor * (total - rounding - aliases), factor * (total + rounding)
        if not (math.isfinite(low) and math.isfinite(high)):
            return 0.0, 1.0
        return max(0.0, low * (1 - 1e-15)), min(1.0, math.nextafter(high * (1 + 1e-15), math.inf))

    def sharpness(self, epsilon: float) -> float:  # noqa: ARG002
        """Grids cost more of ε than this."""
        return 1e-8

    def _line(self, epsilon: float) -> tuple[int, int]:
        # Two abscissas to an octave are enough, and fewer lines are transformed; K may explode above the saddle point.
        index = max(self._saddle(epsilon) // _EVERY, 1) * _EVERY
        sigma = float(SIGMAS[index])
        goal = self._log_estimate(index, epsilon) + math.log(_SHARE)
        reference = float(self._real[index] - sigma * epsilon)
        width = 12 * math.sqrt(self._variance(index)) + 24 / sigma
        longest = max(len(grid.mass) for grid, _ in self._terms)
        nodes = 1 << max(8, math.ceil(math.log2(max(width / self._mesh, longest + 1))))
        while nodes < _MOST_NODES:
            aliases = self._aliases(index, nodes * self._mesh, epsilon, reference)
            if log(aliases) + reference <= goal:
                break
            nodes *= 2
        return index, nodes

    def _spectrum(self, index: int, nodes: int) -> _Line:
        if (index, nodes) not in self._spectra:
            sigma = float(SIGMAS[index])
            transforms = [(transform(grid, sigma, nodes), count) for grid, count in self._terms]
            # Nodes with next to no moment are left out; |1 − e^{−sh}| ≥ 1 − e^{−σh} bounds their kernels.
            sizes = sum((count * each.sizes() for each, count in transforms), np.zeros(nodes // 2 + 1))
            kept = np.flatnonzero(sizes - sizes[0] > _FAINT)
            value, error = total_moments(transforms, kept)
            weight = np.where(kept % (nodes // 2) == 0, 1.0, 2.0)
            rest = 4.04 * exp(_FAINT + float(sizes[0]) - float(value[0].real) + self._tops(transforms))
            rest *= (len(sizes) - len(kept)) / -math.expm1(-sigma * self._mesh)
            s = np.asarray(sigma + 2j * math.pi / (nodes * self._mesh) * kept, dtype=np.complex128)
            one, two = (np.asarray(-1 / np.expm1(-each * self._mesh), dtype=np.complex128) for each in (s, s + 1))
            off = 32 * _UNIT * (np.abs(one) + np.abs(two))
            self._spectra[index, nodes] = _Line(s, value, error, weight, one, two, off, rest)
        return self._spectra[index, nodes]

    @staticmethod
    def _tops(transforms: list[tuple[Transform, int]]) -> float:
        return sum(count * each.top for each, count in transforms)


@dataclass(frozen=True, slots=True)
class _Line:
    """The nodes s, K(s) with its error, the parts of the kernel that no ε changes, and a bound on what was left out."""

    s: Complexes
    value: Complexes
    error: Floats
    weight: Floats
    one: Complexes
    two: Complexes
    off: Floats
    rest: float
