"""A privacy loss with equally spaced values, and its exact δ(ε).

δ(ε) = E_P[(1 − e^{ε−L})⁺] over the loss L. With the atoms in falling order of loss, it is the largest over k of
A_k − e^ε·B_k, where A_k = Σ_{j≤k} p_j and B_k = Σ_{j≤k} p_j·e^{−l_j}: the summands are positive while l_j > ε and
negative afterwards. So one pair of running sums answers every ε.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from quincunx.numbers import Ball, float_near, precision

PRECISION: Final = 256
# A sum of more atoms is left to bounds that need no sum.
MAX_ATOMS: Final = 1 << 16


@dataclass(frozen=True, slots=True)
class Spectrum:
    """Atoms j = 0, 1, … with loss `top` − j·`gap`; `missing` is an upper bound on the mass that was cut off."""

    top: Ball
    gap: Ball
    missing: Ball
    mass: tuple[Ball, ...]
    tilted: tuple[Ball, ...]

    @classmethod
    def of(cls, probabilities: Sequence[Ball], *, top: Ball, gap: Ball, missing: Ball) -> Spectrum:
        """Running sums of the atoms' probabilities."""
        mass, tilted = [Ball(0)], [Ball(0)]
        factor, ratio = (-top).exp(), gap.exp()
        for probability in probabilities:
            mass.append(mass[-1] + probability)
            tilted.append(tilted[-1] + probability * factor)
            factor = factor * ratio
        return cls(top, gap, missing, tuple(mass), tuple(tilted))

    def delta(self, epsilon: Ball) -> tuple[Ball, Ball]:
        """Certified bounds on δ(ε)."""
        with precision(PRECISION):
            # About the number of atoms with a loss above ε; two on either side make sure of the true one.
            middle = float_near((self.top - epsilon) / self.gap)
            last = len(self.mass) - 1
            first = int(min(max(middle - 1, 0), last))
            growth = epsilon.exp()
            candidates = [self.mass[k] - growth * self.tilted[k] for k in range(first, min(first + 4, last) + 1)]
            best = Ball(0)
            for candidate in candidates:
                best = best.max(candidate)
            return best, best + self.missing
