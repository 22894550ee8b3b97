"""What every inversion of moments shares: the saddle point, Chernoff's inequality, the aliases of a period."""

from __future__ import annotations

import math
from typing import Final

import numpy as np
from numpy.typing import NDArray

from quincunx.loss.solve import WIDTH

Floats = NDArray[np.float64]

# Abscissas σ that are tried: eight to an octave, from 2^-14 to 2^20, each twice the one an octave below.
OCTAVE: Final = 8
SIGMAS: Final[Floats] = np.ldexp(
    2.0 ** (np.arange(34 * OCTAVE + 1) % OCTAVE / OCTAVE), np.arange(34 * OCTAVE + 1) // OCTAVE - 14
)
# ln max_y (1 − e^{−y})·e^{−σy}.
_PEAKS: Final[Floats] = SIGMAS * np.log(SIGMAS / (1 + SIGMAS)) - np.log1p(SIGMAS)


class Saddle:
    """K(σ) of a composition on the abscissas, from above, and what follows from it alone."""

    def __init__(self, real: Floats, infinite: float) -> None:
        self._real = real
        # Mass whose loss is unbounded: it is added to δ from above.
        self.infinite = min(1.0, infinite * (1 + 1e-12))

    def estimate(self, epsilon: float) -> float:
        """The saddle-point estimate of δ(ε): uncertified, for choosing where to look."""
        return exp(self._log_estimate(self._saddle(epsilon), epsilon))

    def abscissa(self, epsilon: float) -> float:
        """The σ of the line on which δ(ε) is inverted: −d ln δ/dε, roughly."""
        return float(SIGMAS[self._saddle(epsilon)])

    def sharpness(self, epsilon: float) -> float:  # noqa: ARG002
        """How closely, in shares of ε, it is worth closing in on an ε."""
        return WIDTH

    def chernoff(self, epsilon: float) -> float:
        """A certified upper bound on δ(ε) from real moments alone: e^{K(r)−rε}·max_y (1 − e^{−y})e^{−ry}."""
        return math.exp(min(0.0, float(np.nanmin(self._real - SIGMAS * epsilon + _PEAKS)))) * (1 + 1e-12)

    def _saddle(self, epsilon: float) -> int:
        values = self._real - SIGMAS * epsilon - np.log(SIGMAS * (SIGMAS + 1))
        return int(np.nanargmin(values[2:-2])) + 2

    def _log_estimate(self, index: int, epsilon: float) -> float:
        sigma = float(SIGMAS[index])
        spread = self._variance(index) + sigma**-2 + (1 + sigma) ** -2
        height = float(self._real[index]) - sigma * epsilon
        return height - math.log(sigma * (sigma + 1)) - 0.5 * math.log(2 * math.pi * spread)

    def _variance(self, index: int) -> float:
        # Second difference of K over three neighbouring abscissas: a scale, not a bound.
        k, s = self._real, SIGMAS
        left = (k[index] - k[index - 1]) / (s[index] - s[index - 1])
        right = (k[index + 1] - k[index]) / (s[index + 1] - s[index])
        return max(float(2 * (right - left) / (s[index + 1] - s[index - 1])), 1e-30)

    def _aliases(self, index: int, period: float, epsilon: float, reference: float) -> float:
        """A bound on Σ_{m≠0} δ(ε + mT)·e^{σmT}, relative to e^reference."""
        sigma = float(SIGMAS[index])
        # m < 0: δ ≤ 1. m > 0: Chernoff's inequality at the best abscissa r > σ.
        left = -sigma * period - reference
        further = slice(index + 1, None)
        gap = (SIGMAS[further] - sigma) * period
        right = self._real[further] - SIGMAS[further] * epsilon + _PEAKS[further] - gap - reference
        right -= np.log(-np.expm1(-np.maximum(gap, 1e-12)))
        nearest = float(np.nanmin(right)) if len(right) else math.inf
        return 1.01 * (exp(left) / -math.expm1(-sigma * period) + exp(nearest))


def exp(x: float) -> float:
    """e^x, infinite instead of an overflow."""
    return math.exp(x) if x < 700 else math.inf


def log(x: float) -> float:
    """ln x, −∞ at 0."""
    return math.log(x) if x > 0 else -math.inf
