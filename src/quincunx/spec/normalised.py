"""The normalised Rényi metric D_nor: zero-concentrated privacy whose parameter grows in proportion to the distance.

D_nor(P, P') = sup over α > 1 of √(D_α/α), the larger of both directions, so D_nor ≤ √ρ says the same as ρ-zCDP for one
pair of laws. Unlike ρ it satisfies the triangle inequality (`standard.md`), so it may be stated with a metric.
Bailie, Gong and Meng, https://arxiv.org/abs/2501.08449.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import isqrt
from typing import ClassVar, Final

from quincunx.numbers import Ball, Exact, amount, ball, non_negative, precision
from quincunx.spec.divergence import Bounds, Number, sharpened, zcdp
from quincunx.spec.implication import scaled
from quincunx.spec.measure import Found, likelier
from quincunx.spec.standard_base import Standard

_DECIMALS: Final = 10**12


@dataclass(frozen=True, slots=True)
class NormalisedRenyi(Standard):
    """D_nor = sup over α > 1 of √(D_α(P‖P')/α), both ways; its intensity is √ρ where ρ is that of zCDP."""

    kind: ClassVar[str] = "normalised-renyi"
    symbol: ClassVar[str] = "√ρ"
    unadded: ClassVar[str] = "ρ is what adds up, not √ρ; keep the same budget in ZCDP() with ρ = (√ρ)²"
    linear_in_distance: ClassVar[bool] = True

    @staticmethod
    def root(rho: object) -> Fraction:
        """√ρ for a rational ρ: exact where it is rational, otherwise rounded up to 12 decimals."""
        value = non_negative(rho, "rho")
        exact = Fraction(isqrt(value.numerator), isqrt(value.denominator))
        if exact * exact == value:
            return exact
        # ⌈√(ρ·10^24)⌉ = ⌊√(⌈ρ·10^24⌉ − 1)⌋ + 1, since a square below ρ·10^24 is at most ⌈ρ·10^24⌉ − 1.
        return Fraction(isqrt(-(-value * _DECIMALS**2 // 1) - 1) + 1, _DECIMALS)

    def rho(self, intensity: Exact, distance: int = 1) -> Exact | Ball:
        """The ρ of zCDP at that many steps: (distance·√ρ)²."""
        self.check(intensity)
        with precision(256):
            total = scaled(intensity, distance)
            return total * total if isinstance(total, Fraction) else ball(total) * ball(total)

    def _found(self, p: Sequence[Number], q: Sequence[Number], exact: bool) -> Found:
        def compute() -> Bounds:
            low, high = zcdp(p, q)
            return low.sqrt().lower(), high.sqrt().upper() if high.is_finite() else high

        # zcdp stops at a relative width of 1e-6; the root halves it.
        return Found.of(sharpened(compute, exact, 0.1), likelier(p, q))

    def _group(self, intensity: Exact, k: int) -> tuple[Standard, Exact | Ball]:
        return self, scaled(intensity, k)

    def words(self, intensity: Exact) -> str:
        return (
            f"√ρ = {amount(intensity)}: when the data change by one unit, the output gives away no more, in Rényi "
            "divergence of every order, than one draw of a bell curve whose centre moves by √2 times √ρ standard "
            "deviations. It is ρ-zCDP, stated so that it grows in proportion to the distance."
        )

    def latex(self, intensity: Exact) -> str:
        return (
            rf"\sup_{{\alpha > 1}} \sqrt{{D_\alpha(P\,\|\,P')/\alpha}} \le \sqrt{{\rho}}, \quad "
            rf"{self._stated(intensity)}"
        )
