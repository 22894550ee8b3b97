"""What a loss says about beliefs and tests, at one step of a unit. Proofs: belief/posterior.md, testing.md."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from typing import Final

from quincunx.errors import PrivacyError
from quincunx.loss import Curve, Loss, as_ball
from quincunx.meaning.curves import Delta
from quincunx.meaning.golden_section import smallest
from quincunx.meaning.guarantee import PRECISION, Growth, Unit, undecided
from quincunx.numbers import Ball, Exact, above, amount, ball, float_above, precision
from quincunx.spec import exponential

# The δ at which a loss that is not pure is named.
_USUAL: Final = Fraction(1, 10**6)
# Beyond this ε, e^ε is no bound that anyone would read.
_FURTHEST: Final = 700.0
# Fractions with a larger denominator are shown as decimals, rounded up.
_READABLE: Final = 10**6
# From here on a smaller δ no longer matters beside `outside`.
_NEGLIGIBLE: Final = 1e-6


@dataclass(frozen=True, slots=True)
class Leaking:
    """What a loss says, at one step of `unit`."""

    loss: Loss
    unit: Unit
    public: bool = False

    @property
    def stated(self) -> str:
        loss, delta = self.loss, self.loss.stated_delta()
        outside = f", δ = {amount(delta)}" if delta else ""
        with precision(PRECISION):
            pure = loss.total_pure()
        if isinstance(pure, Fraction) and pure.denominator <= _READABLE:
            return f"ε = {amount(pure)}{outside}"
        pure = as_ball(pure)
        if pure.is_finite():
            return f"ε ≤ {above(float_above(pure))}{outside}"
        low, high = loss.gdp_bounds()
        if low > 0:
            return f"μ ≤ {above(high)}"
        epsilon = loss.epsilon(_USUAL)
        if math.isfinite(epsilon):
            return f"ε ≤ {above(epsilon)} at δ = {amount(_USUAL)}"
        with precision(PRECISION):
            return f"ρ ≤ {above(float_above(loss.total_zcdp()[1]))}{outside}"

    @property
    def counted(self) -> str:
        return f"what was counted, a loss of {self.stated} in all"

    @property
    def pure(self) -> Exact | Ball | None:
        if self.loss.stated_delta():
            return None
        total = self.loss.total_pure()
        return total if isinstance(total, Fraction) or total.is_finite() else None

    def grown(self, steps: int) -> Leaking:
        return replace(self, loss=self.loss.group(steps))

    def growth(self, risk: Fraction | None) -> Growth:
        pure = self.pure
        always = None if pure is None else exponential(pure)
        if risk is None or pure == 0:
            if always is None:
                raise undecided("a loss that is not pure", self.stated)
            return always, Fraction(0)
        found = _best(self.loss, risk)
        if found is not None and (always is None or found.upper() < as_ball(always).lower()):
            return found, risk
        if always is None:
            hint = "Allow more than twice the δ that the loss states; where it states none, too much leaks for a bound."
            got = f"outside = {amount(risk)}"
            raise PrivacyError(
                "no bound on a belief follows from this loss", where="posterior_bounds", got=got, hint=hint
            )
        return always, Fraction(0)

    def delta(self) -> Delta:
        return _curve(self.loss).upper


# Beliefs, odds and groups ask the same loss the same questions; a curve is the dearest part of an answer.
@lru_cache(maxsize=64)
def _curve(loss: Loss) -> Curve:
    with precision(PRECISION):
        return loss.curve()


@lru_cache(maxsize=256)
def _best(loss: Loss, risk: Fraction) -> Ball | None:
    """The smallest e^ε·η/(η − 2δ(ε)) that is found: every ε with 2δ(ε) < η is valid."""
    delta, goal = _curve(loss).upper, ball(risk)

    def share(epsilon: float) -> float:
        # In balls: `risk` may be smaller than every float.
        return float_above(2 * delta(Ball(epsilon)) / goal)

    def value(epsilon: float) -> float:
        taken = share(epsilon)
        # Where nothing follows, a smaller δ is nearer to where something does.
        return epsilon - math.log1p(-taken) if taken < 1 else _FURTHEST + taken

    end = 1.0
    while end < _FURTHEST and share(end) > _NEGLIGIBLE:
        end *= 2
    places = [Ball(smallest(value, 0.0, end))]
    total = as_ball(loss.total_pure())
    if total.is_finite():
        # What is stated outside a δ holds from its own ε on, which no search meets exactly.
        places.append(total)
    best: Ball | None = None
    for at in places:
        rest = goal - 2 * delta(at)
        factor = at.exp() * goal / rest
        if rest > 0 and factor.is_finite() and (best is None or factor.upper() < best.upper()):
            best = factor
    return best
