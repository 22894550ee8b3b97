"""δ(ε) of compositions whose laws all lie on one grid: the inversion of `inversion.py` over a single period.

On a grid of spacing h the moments have the period 2πi/h, so N nodes of one period carry everything: nothing is
truncated, and one fast Fourier transform of each tilted law gives its moments at all nodes. The transform's own error
is bounded by Higham 2002, Theorem 24.2, and added; tilting makes it relative to e^{K(σ)−σε}, which is close to δ.
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np
from numpy.typing import NDArray

from quincunx.loss.grid import Grid
from quincunx.loss.law import log_with_error
from quincunx.loss.saddle import SIGMAS, Saddle, exp, log

Floats = NDArray[np.float64]

_UNIT: Final = 2.0**-53
_MOST_NODES: Final = 1 << 19
_SHARE: Final = 1e-7


class GridInversion(Saddle):
    """A composition of grids, each used as often as its count, ready to be inverted at any ε."""

    def __init__(self, terms: list[tuple[Grid, int]]) -> None:
        self._terms = terms
        self._mesh = terms[0][0].mesh
        total = np.zeros(len(SIGMAS))
        with np.errstate(all="ignore"):
            for grid, count in terms:
                exponents = SIGMAS[:, None] * grid.losses + np.log(grid.mass)
                top = exponents.max(axis=1)
                total += count * (top + np.log(np.exp(exponents - top[:, None]).sum(axis=1)))
        # From above, as Chernoff's inequality needs it: sums of positive terms are off by a few ulp for each doubling.
        above = total + 64 * _UNIT * (np.abs(total) + sum(count for _, count in terms) * 16)
        super().__init__(above, sum(grid.infinite * count for grid, count in terms))
        self._spectra: dict[tuple[int, int], tuple[NDArray[np.complex128], Floats]] = {}

    def bounds(self, epsilon: float) -> tuple[float, float]:
        """Certified lower and upper bound on Σ mass·(1 − e^{ε−L})⁺ of the composed grid, its infinite mass left out."""
        index, nodes = self._line(epsilon)
        sigma, h = float(SIGMAS[index]), self._mesh
        value, error = self._spectrum(index, nodes)
        s = np.asarray(sigma + 2j * math.pi / (nodes * h) * np.arange(nodes // 2 + 1), dtype=np.complex128)
        exponent = value - s * epsilon
        wobble = error + 4 * _UNIT * np.abs(s * epsilon) + 200 * _UNIT
        reference = float(exponent[0].real)
        kernel, off = _kernel(s, h, epsilon)
        weight = np.where(np.arange(len(s)) % (nodes // 2) == 0, 1.0, 2.0)
        summands = weight * np.exp(exponent - reference) * kernel
        growth = np.where(wobble > 30, wobble, np.log(np.expm1(np.minimum(wobble, 30.0))))
        sizes = weight * np.abs(kernel) * np.exp(exponent.real - reference + growth)
        sizes += weight * off * np.exp(exponent.real - reference + np.minimum(wobble, 700.0))
        total, rounding = float(np.sum(summands.real)) / nodes, float(np.sum(sizes)) / nodes
        aliases = self._aliases(index, nodes * h, epsilon, reference)
        factor = exp(reference)
        low, high = factor * (total - rounding - aliases), factor * (total + rounding)
        if not (math.isfinite(low) and math.isfinite(high)):
            return 0.0, 1.0
        return max(0.0, low * (1 - 1e-15)), min(1.0, math.nextafter(high * (1 + 1e-15), math.inf))

    def _line(self, epsilon: float) -> tuple[int, int]:
        index = self._saddle(epsilon)
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

    def _spectrum(self, index: int, nodes: int) -> tuple[NDArray[np.complex128], Floats]:
        if (index, nodes) not in self._spectra:
            sigma, h = float(SIGMAS[index]), self._mesh
            omega = 2 * math.pi / (nodes * h) * np.arange(nodes // 2 + 1)
            value, error = np.zeros(len(omega), dtype=np.complex128), np.zeros(len(omega))
            for grid, count in self._terms:
                with np.errstate(all="ignore"):
                    weights = np.log(grid.mass)
                    exponents = sigma * grid.losses + weights
                    top = float(exponents.max())
                    tilted = np.exp(exponents - top)
                    # Each tilted mass is off by the rounding of the parts of its exponent; where it is 0, by nothing.
                    parts = np.abs(sigma * grid.losses) + np.where(grid.mass > 0, np.abs(weights), 0.0) + abs(top) + 4
                    one, off = self._moment(tilted, nodes, 4 * _UNIT * float(np.sum(tilted * parts)))
                    shift = np.asarray(top + 1j * omega * (grid.first * h), dtype=np.complex128)
                    part, wobble = log_with_error(shift, one, off, 8 * _UNIT * np.abs(shift))
                    value += count * part
                    error += count * wobble + 2 * _UNIT * (np.abs(count * part) + np.abs(value))
            self._spectra[index, nodes] = value, np.where(np.isfinite(error) & np.isfinite(value), error, math.inf)
        return self._spectra[index, nodes]

    def _moment(self, tilted: Floats, nodes: int, off: float) -> tuple[NDArray[np.complex128], Floats]:
        one = np.conj(np.fft.rfft(tilted, nodes))
        # ‖error‖₂ ≤ η·log₂N·‖x̂‖₂ with η < 16 u; ‖x̂‖₂ = √N·‖x‖₂, and one coordinate is at most the whole.
        norm = float(np.sqrt(np.sum(tilted * tilted)))
        return one, np.full(len(one), 16 * _UNIT * math.log2(nodes) * norm * math.sqrt(nodes) + off)


def _kernel(s: NDArray[np.complex128], h: float, epsilon: float) -> tuple[NDArray[np.complex128], Floats]:
    """Σ over grid points l > ε of (1 − e^{ε−l})·e^{−s(l−ε)}: the difference of two geometric series, and its error."""
    first = max(0.0, math.ceil(epsilon / h) * h - epsilon)
    one, two = np.exp(-s * first) / -np.expm1(-s * h), np.exp(-(s + 1) * first) / -np.expm1(-(s + 1) * h)
    # The difference cancels where e^{−sh} is small, so its error is that of the two terms.
    off = 16 * _UNIT * (np.abs(one) + np.abs(two)) * (2 + np.abs(s + 1) * first)
    return np.asarray(one - two, dtype=np.complex128), np.asarray(off, dtype=np.float64)
