"""δ(ε) of any composition, between certified bounds, by inverting its moments along one vertical line.

With K(s) = Σ n_j·ln E[e^{sL_j}] and any σ > 0, the function f(x) = δ(x)·e^{σ(x−ε)} ≥ 0 has the Fourier transform
e^{K(s)−sε}/(s(s+1)) on s = σ + iω. Poisson's formula turns the trapezoidal sum over ω = 2πk/T into Σ_m f(ε + mT): an
upper bound that needs no discretisation of any law, off by aliases that Chernoff's inequality bounds. What is added for
truncation, for rounding and for aliases is in inversion.md. Only the choice of σ, T and the number of nodes is
heuristic: it moves the width of the bounds, never their truth.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from quincunx.loss.law import Law, View
from quincunx.loss.saddle import SIGMAS, Saddle, exp, log

Complexes = NDArray[np.complex128]
Floats = NDArray[np.float64]
Terms = tuple[tuple[Law, int], ...]

_MOST_NODES: Final = 1 << 16
# Laws on grids are summed point by point at every node.
_MOST_NODES_ON_GRIDS: Final = 1 << 10
# Aliases and truncation are pushed below this share of the expected δ, where nodes suffice.
_SHARE: Final = 1e-11
_UNIT: Final = 2.0**-53
CLOSED: Final = View()


class Inversion(Saddle):
    """The moments of a composition, in one view of its laws, ready to be inverted at any ε."""

    def __init__(self, terms: Terms, view: View = CLOSED) -> None:
        self._terms, self._view = terms, view
        value, error = moments(terms, view, SIGMAS.astype(np.complex128))
        # Upper ends: Chernoff's inequality needs K from above.
        above = np.where(np.isfinite(error), value.real + error, math.inf)
        super().__init__(above, sum(_infinite(law, view) * count for law, count in terms))
        self._lines: dict[tuple[int, float, int], _Line] = {}

    def bounds(self, epsilon: float) -> tuple[float, float]:
        """Certified lower and upper bound on δ(ε) for a float ε ≥ 0."""
        index, period, nodes = self._line(epsilon)
        sigma = float(SIGMAS[index])
        line = self._moments_on_line(index, period, nodes)
        exponent = line.value - line.s * epsilon
        wobble = line.error + 2 * _UNIT * np.abs(line.s * epsilon)
        # Everything below is relative to e^reference, a plain float.
        reference = float(exponent[0].real)
        weight = 1 / np.abs(line.s * (line.s + 1))
        summands = np.exp(exponent - reference) / (line.s * (line.s + 1))
        summands[0] /= 2
        total = 2 / period * float(np.sum(summands.real))
        # e^z at z off by w is off by |e^z|·(e^w − 1); the exponential, the quotient and the sum by a few ulp each.
        wobble += 100 * _UNIT
        growth = np.where(wobble > 30, wobble, np.log(np.expm1(np.minimum(wobble, 30.0))))
        rounding = 2 / period * float(np.sum(weight * np.exp(exponent.real - reference + growth)))
        ceiling = math.exp(min(700.0, float(wobble[0])))
        truncation = ceiling * self._truncation(sigma, period, nodes)
        aliases = self._aliases(index, period, epsilon, reference)
        factor = exp(reference)
        low = factor * (1 - 1e-15) * (total - rounding - truncation - aliases)
        high = factor * (1 + 1e-15) * (total + rounding + truncation)
        if not (math.isfinite(low) and math.isfinite(high)):
            return 0.0, 1.0
        return max(0.0, low), min(1.0, math.nextafter(high, math.inf))

    def _line(self, epsilon: float) -> tuple[int, float, int]:
        """The abscissa, the period T and the number of nodes, all from short lists so that lines are reused."""
        index = self._saddle(epsilon)
        sigma, goal = float(SIGMAS[index]), self._log_estimate(index, epsilon) + math.log(_SHARE)
        reference = float(self._real[index] - sigma * epsilon)
        period = 2.0 ** (math.ceil(2 * math.log2(12 * math.sqrt(self._variance(index)) + 24 / sigma)) / 2)
        for _ in range(40):
            if log(self._aliases(index, period, epsilon, reference)) + reference <= goal:
                break
            period *= math.sqrt(2)
        nodes, most = 128, _MOST_NODES if self._view == CLOSED else _MOST_NODES_ON_GRIDS
        while nodes < most and log(self._truncation(sigma, period, nodes)) + reference > goal:
            nodes *= 2
        return index, period, nodes

    def _moments_on_line(self, index: int, period: float, nodes: int) -> _Line:
        if (index, period, nodes) not in self._lines:
            s = SIGMAS[index] + 2j * math.pi / period * np.arange(nodes)
            self._lines[index, period, nodes] = _Line(s, *moments(self._terms, self._view, s))
        return self._lines[index, period, nodes]

    def _truncation(self, sigma: float, period: float, nodes: int) -> float:
        # |e^{K(σ+iω)}| ≤ e^{K(σ)}·decay(ω), 1/|s(s+1)| ≤ 1/ω², Σ_{k≥N} 1/k² ≤ 1/(N − 1).
        omega = 2 * math.pi * nodes / period
        decay = sum(count * law.log_decay(sigma, omega) for law, count in self._terms)
        return 1.01 * period / (2 * math.pi**2 * (nodes - 1)) * exp(min(0.0, decay))


def _infinite(law: Law, view: View) -> float:
    grid = None if view == CLOSED else law.grid(view)
    return 0.0 if grid is None else grid.infinite


def supported(terms: Terms) -> bool:
    """Whether every law of the composition knows its moments."""
    return all(law.has_moments for law, _ in terms)


@dataclass(frozen=True, slots=True)
class _Line:
    s: Complexes
    value: Complexes
    error: Floats


def moments(terms: Terms, view: View, s: Complexes) -> tuple[Complexes, Floats]:
    """K(s) = Σ n_j·ln E[e^{sL_j}] up to multiples of 2πi, and a bound on its absolute error."""
    value, error = np.zeros_like(s), np.zeros(len(s))
    with np.errstate(all="ignore"):
        for law, count in terms:
            one, off = law.log_moment(s, view)
            value += count * one
            # The product and the running sum are rounded.
            error += count * off + 2 * _UNIT * (np.abs(count * one) + np.abs(value))
    # A NaN is a node about which nothing is known.
    return value, np.where(np.isfinite(value) & np.isfinite(error), error, math.inf)
