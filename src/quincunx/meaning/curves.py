"""δ(ε) of a stated standard: for each ε ≥ 0 a bound on P(S) − e^ε·P'(S) over all events S. Proofs: testing.md.

Where the standard has a pair of laws that is worst of all (pure, approximate, Gaussian, polygons), it is that pair's.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any, Final, TypeAlias

from quincunx.errors import PrivacyError
from quincunx.loss import delta_from_pure, delta_from_zcdp
from quincunx.numbers import Ball, Exact, ball
from quincunx.spec import Standard, gaussian_delta, kl_to_tv

Delta: TypeAlias = Callable[[Ball], Ball]


def delta_of(standard: Standard, intensity: Exact) -> Delta:
    """The function ε ↦ an upper bound on δ(ε), in balls; refused for standards of which none is derived."""
    rule = _RULES.get(standard.kind)
    if rule is None:
        hint = "State the guarantee as pure, approximate, zero-concentrated, Rényi, Gaussian, or by total variation."
        what = f"no error probabilities are derived from {type(standard).__name__}"
        raise PrivacyError(what, where="standard", got=standard.symbol, hint=hint)
    return rule(standard, intensity)


def _outside(share: Fraction, inside: Delta) -> Delta:
    # P = (1 − δ)A + δB, P' alike: what is stated of A and A' holds up to δ.
    return lambda epsilon: ball(share) + ball(1 - share) * inside(epsilon)


def _pure(intensity: Exact) -> Delta:
    return lambda epsilon: delta_from_pure(ball(intensity), epsilon)


def _gaussian(intensity: Exact) -> Delta:
    if intensity == 0:
        return lambda _: Ball(0)
    return lambda epsilon: gaussian_delta(ball(intensity), epsilon).max(Ball(0))


def _zcdp(intensity: Exact) -> Delta:
    # δ never exceeds its value at ε = 0, the total variation, which the divergence of order 1 bounds.
    return lambda epsilon: delta_from_zcdp(ball(intensity), epsilon).min(kl_to_tv(intensity))


def _renyi(standard: Any, intensity: Exact) -> Delta:
    # Canonne, Kamath and Steinke 2020, Proposition 12: δ ≤ e^{(α−1)(D−ε)}/(α−1)·(1 − 1/α)^α.
    order = ball(standard.alpha)

    def bound(epsilon: Ball) -> Ball:
        exponent = (order - 1) * (ball(intensity) - epsilon) - (order - 1).log() + order * (-1 / order).log1p()
        return exponent.exp().min(kl_to_tv(intensity))

    return bound


def _polygon(standard: Any, intensity: Exact) -> Delta:
    if intensity == 0:
        return lambda _: Ball(0)
    if intensity != 1:
        hint = "State the polygon of the larger group itself."
        what = "no error probabilities are derived from a polygon that is applied several times"
        raise PrivacyError(what, where="standard", got=f"k = {intensity}", hint=hint)
    # δ(ε) = sup over α of 1 − f(α) − e^ε·α is reached at a vertex; both orders of the two laws count.
    corners = [(ball(a), ball(b)) for a, b in standard.points]

    def bound(epsilon: Ball) -> Ball:
        growth, top = epsilon.exp(), Ball(0)
        for a, b in corners:
            top = top.max(1 - b - growth * a).max(1 - a - growth * b)
        return top

    return bound


_RULES: Final[dict[str, Callable[[Any, Exact], Delta]]] = {
    "pure": lambda _, x: _pure(x),
    "approximate": lambda standard, x: _outside(standard.delta, _pure(x)),
    "zcdp": lambda standard, x: _outside(standard.delta, _zcdp(x)),
    "renyi": _renyi,
    "gaussian": lambda _, x: _gaussian(x),
    # An event gains at most TV, whatever ε is.
    "tv": lambda _, x: lambda _epsilon: ball(x),
    "kl": lambda _, x: lambda _epsilon: kl_to_tv(x),
    "tradeoff": _polygon,
}
