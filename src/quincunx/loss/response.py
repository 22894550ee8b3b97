"""The loss of randomized response with several options: two answers tell the inputs apart, all others tell nothing."""

from __future__ import annotations

import heapq
from collections.abc import Hashable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import ClassVar, Final, cast

import numpy as np
from flint import arb_poly
from numpy.typing import NDArray

from quincunx.loss.lattice import LatticeLaw
from quincunx.loss.law import Bounds, Law, Moments, Profile, Terms, log_with_error
from quincunx.loss.spectrum import MAX_ATOMS, PRECISION, Spectrum
from quincunx.numbers import Ball, Log, ball, float_above, float_below, float_near, precision

# The search for ρ stops at this relative width, or after so many intervals; both leave a certified bound.
_WIDTH: Final = 1e-6
_MOST_INTERVALS: Final = 400


@dataclass(frozen=True, slots=True, kw_only=True)
class ResponseLaw(Law):
    """One answer has probability `high` under P and `low` under Q, another the reverse, all others the same under both.

    0 < low < high, high + low ≤ 1, exact rationals. The loss is ln(high/low), its negative, or 0. Truth with
    probability p among k options is high = max(p, r), low = min(p, r), r = (1 − p)/(k − 1).
    """

    high: Fraction
    low: Fraction

    def pure(self) -> Ball:
        """ln(high/low)."""
        return ball(self._unit)

    def zcdp(self) -> Bounds:
        """D_1 and a certified bound on the largest D_α/α, which need not be at α = 1 (response.md)."""
        return self.kl()[0], Ball(_largest_per_order(self))

    def kl(self) -> Bounds:
        """(high − low)·ln(high/low)."""
        value = ball(self.high - self.low) * ball(self._unit)
        return value, value

    def renyi(self, alpha: Fraction) -> Bounds:
        """ln[high^α·low^{1−α} + low^α·high^{1−α} + 1 − high − low]/(α − 1)."""
        value = self._divergence(ball(alpha))
        return value, value

    def group(self, k: int) -> LatticeLaw:
        """k steps of ordinary randomized response with the same ε, which dominates (response.md)."""
        return LatticeLaw(unit=self._unit, steps=k)

    def family(self) -> Hashable:
        """One unit, one lattice."""
        return ("response", self._unit)

    def profile(self, terms: Terms) -> Profile | None:
        """The exact sum over the lattice of the composition."""
        laws = tuple((cast(ResponseLaw, law), count) for law, count in terms)
        return _spectrum(laws) if 2 * sum(count for _, count in laws) <= MAX_ATOMS else None

    has_moments: ClassVar[bool] = True

    def log_moment(self, s: NDArray[np.complex128]) -> Moments:
        """s·u + ln[high + (1 − high − low)·e^{−su} + low·e^{−2su}], u = ln(high/low)."""
        unit = float_near(self.pure())
        step = np.exp(-s * unit)
        rest = float_near(1 - self.high - self.low)
        inside = float_near(self.high) + rest * step + float_near(self.low) * step**2
        # All parts are at most 1 in size; e^{−su} is off by its exponent's rounding, its square by twice that.
        off = 2.0**-53 * (np.abs(step) * (12 * np.abs(s * unit) + 16) + 16)
        return log_with_error(s * unit, np.asarray(inside, dtype=np.complex128), off, 4 * 2.0**-53 * np.abs(s * unit))

    def covers(self, mine: Terms, theirs: Terms) -> bool:
        """With one ratio, a larger `high` covers a smaller: the rest of the time it says less."""
        if len(mine) == len(theirs) == 1 and mine[0][1] >= theirs[0][1]:
            return self.high >= cast(ResponseLaw, theirs[0][0]).high
        return mine == theirs

    @property
    def _unit(self) -> Log:
        return Log(self.high / self.low)

    def _divergence(self, order: Ball) -> Ball:
        # 1 + low·(e^{αu} − 1) + high·(e^{−αu} − 1), written so that orders near 1 keep their digits.
        unit, above = self.pure(), order - 1
        excess = ball(self.high) * (above * unit).expm1() + ball(self.low) * (-above * unit).expm1()
        return excess.log1p() / above


@lru_cache(maxsize=64)
def _spectrum(laws: tuple[tuple[ResponseLaw, int], ...]) -> Spectrum:
    with precision(PRECISION):
        product = arb_poly([1])
        for law, count in laws:
            atoms = [law.high, 1 - law.high - law.low, law.low]
            product = product * arb_poly([ball(atom) for atom in atoms]) ** count
        gap = laws[0][0].pure()
        degree = sum(count for _, count in laws)
        return Spectrum.of(product.coeffs(), top=gap * degree, gap=gap, missing=Ball(0))


@lru_cache(maxsize=256)
def _largest_per_order(law: ResponseLaw) -> float:
    # D_α grows with α, so on [a, b] the quotient D_α/α is at most D_b/a; intervals are halved where that is largest.
    with precision(PRECISION):
        floor = float_below(law.kl()[0])
        # Beyond this order D_α/α ≤ u/α is at most D_1.
        unit = law.pure()
        end = max(2.0, 1 / float_below(law.high - law.low) * (1 + 1e-12))
        roof = float_above(unit / Ball(end))

        def over(a: float, b: float) -> tuple[float, float, float]:
            # D_α ≤ u at every order; far out the exponential may be too large for a ball.
            return -min(float_above(law._divergence(Ball(b)) / Ball(a)), float_above(unit / Ball(a))), a, b

        queue = [over(1.0, end)]
        for _ in range(_MOST_INTERVALS):
            top, a, b = queue[0]
            if -top <= max(floor, roof) * (1 + _WIDTH):
                break
            heapq.heappop(queue)
            # Geometric in the distance from 1, where the quotient is often largest.
            middle = 1 + (((a - 1) * (b - 1)) ** 0.5 if a > 1 else (b - 1) / 16)
            if not a < middle < b:
                heapq.heappush(queue, (top, a, b))
                break
            floor = max(floor, float_below(law._divergence(Ball(middle)) / Ball(middle)))
            heapq.heappush(queue, over(a, middle))
            heapq.heappush(queue, over(middle, b))
        # Ordinary randomized response with the same ε dominates, and has u·tanh(u/2).
        return min(max(-queue[0][0], roof), float_above(unit * (unit / 2).tanh()))
