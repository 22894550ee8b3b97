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

Floats = NDArray[np.float64]

SIGMAS: Final[Floats] = 2.0 ** (np.arange(-10 * 8, 12 * 8 + 1) / 8)
_UNIT: Final = 2.0**-53
_MOST_NODES: Final = 1 << 19
_SHARE: Final = 1e-7


class GridInversion:
    """A composition of grids, each used as often as its count, ready to be inverted at any ε."""

    def __init__(self, terms: list[tuple[Grid, int]]) -> None:
        self._terms = terms
        self._mesh = terms[0][0].mesh
        self.infinite = min(1.0, sum(grid.infinite * count for grid, count in terms) * (1 + 1e-12))
        total = np.zeros(len(SIGMAS))
        with np.errstate(all="ignore"):
            for grid, count in terms:
                exponents = SIGMAS[:, None] * grid.losses + np.log(np.maximum(grid.mass, 1e-320))
                top = exponents.max(axis=1)
                total += count * (top + np.log(np.exp(exponents - top[:, None]).sum(axis=1)))
        # From above, as Chernoff's inequality needs it: sums of positive terms are off by a few ulp for each doubling.
        self._real = total + 64 * _UNIT * (np.abs(total) + sum(count for _, count in terms) * 8)
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
        kernel = _kernel(s, h, epsilon)
        weight = np.where(np.arange(len(s)) % (nodes // 2) == 0, 1.0, 2.0)
        summands = weight * np.exp(exponent - reference) * kernel
        growth = np.where(wobble > 30, wobble, np.log(np.expm1(np.minimum(wobble, 30.0))))
        sizes = weight * np.abs(kernel) * np.exp(exponent.real - reference + growth)
        total, rounding = float(np.sum(summands.real)) / nodes, float(np.sum(sizes)) / nodes
        aliases = self._aliases(index, nodes * h, epsilon, reference)
        factor = math.exp(reference) if reference < 700 else math.inf
        low, high = factor * (total - rounding - aliases), factor * (total + rounding)
        if not (math.isfinite(low) and math.isfinite(high)):
            return 0.0, 1.0
        return max(0.0, low * (1 - 1e-15)), min(1.0, math.nextafter(high * (1 + 1e-15), math.inf))

    def estimate(self, epsilon: float) -> float:
        """The saddle-point estimate of δ(ε), to choose where to look."""
        index = self._saddle(epsilon)
        return math.exp(min(0.0, self._log_estimate(index, epsilon)))

    def chernoff(self, epsilon: float) -> float:
        """A certified upper bound on δ(ε) from real moments alone: e^{K(r)−rε}·max_y (1 − e^{−y})e^{−ry}."""
        peak = SIGMAS * np.log(SIGMAS / (1 + SIGMAS)) - np.log1p(SIGMAS)
        best = float(np.nanmin(self._real - SIGMAS * epsilon + peak))
        return math.exp(min(best, 0.0)) * (1 + 1e-12)

    def _saddle(self, epsilon: float) -> int:
        values = self._real - SIGMAS * epsilon - np.log(SIGMAS * (SIGMAS + 1))
        return int(np.nanargmin(values[1:-1])) + 1

    def _variance(self, index: int) -> float:
        k, s = self._real, SIGMAS
        left = (k[index] - k[index - 1]) / (s[index] - s[index - 1])
        right = (k[index + 1] - k[index]) / (s[index + 1] - s[index])
        return max(float(2 * (right - left) / (s[index + 1] - s[index - 1])), self._mesh**2)

    def _log_estimate(self, index: int, epsilon: float) -> float:
        sigma = float(SIGMAS[index])
        spread = self._variance(index) + sigma**-2 + (1 + sigma) ** -2
        return float(
            self._real[index] - sigma * epsilon - math.log(sigma * (sigma + 1)) - 0.5 * math.log(2 * math.pi * spread)
        )

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
            if aliases == 0 or math.log(aliases) + reference <= goal:
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
                    exponents = sigma * grid.losses + np.log(np.maximum(grid.mass, 1e-320))
                    top = float(exponents.max())
                    tilted = np.exp(exponents - top)
                    one, off = self._moment(tilted, nodes)
                    shift = np.asarray(top + 1j * omega * (grid.first * h), dtype=np.complex128)
                    part, wobble = log_with_error(shift, one, off, 8 * _UNIT * np.abs(shift))
                    value += count * part
                    error += count * wobble + 2 * _UNIT * (np.abs(count * part) + np.abs(value))
            self._spectra[index, nodes] = value, np.where(np.isfinite(error) & np.isfinite(value), error, math.inf)
        return self._spectra[index, nodes]

    def _moment(self, tilted: Floats, nodes: int) -> tuple[NDArray[np.complex128], Floats]:
        one = np.conj(np.fft.rfft(tilted, nodes))
        # ‖error‖₂ ≤ η·log₂N·‖x̂‖₂ with η < 16 u; ‖x̂‖₂ = √N·‖x‖₂, and one coordinate is at most the whole.
        norm = float(np.sqrt(np.sum(tilted * tilted)))
        exponents = 8 * _UNIT * float(np.sum(tilted)) * 40
        return one, np.full(len(one), 16 * _UNIT * math.log2(nodes) * norm * math.sqrt(nodes) + exponents)

    def _aliases(self, index: int, period: float, epsilon: float, reference: float) -> float:
        sigma = float(SIGMAS[index])
        left = -sigma * period - reference
        further, k = SIGMAS[index + 1 :], self._real[index + 1 :]
        peak = further * np.log(further / (1 + further)) - np.log1p(further)
        gap = (further - sigma) * period
        right = float(np.nanmin(k - further * epsilon + peak - gap - reference - np.log(-np.expm1(-gap))))
        total = (math.exp(left) / -math.expm1(-sigma * period) if left < 700 else math.inf) + (
            math.exp(right) if right < 700 else math.inf
        )
        return 1.01 * total


def _kernel(s: NDArray[np.complex128], h: float, epsilon: float) -> NDArray[np.complex128]:
    """Σ over grid points l > ε of (1 − e^{ε−l})·e^{−s(l−ε)}: two geometric series."""
    first = max(0.0, math.ceil(epsilon / h) * h - epsilon)
    return np.asarray(np.exp(-s * first) / -np.expm1(-s * h) - np.exp(-(s + 1) * first) / -np.expm1(-(s + 1) * h))
