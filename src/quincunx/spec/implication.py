"""What one standard says about another: certified upper bounds, one function per edge.

`RULES[(kind, other kind)](source, x, target)` is an intensity of `target` that follows from `source` at intensity x,
or None where that target's parameters are out of reach. Proofs are in `implication.md`. Everything here holds for a
pair of laws in both directions, so it holds for every pair at unit distance.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any, Final, TypeAlias

from quincunx.numbers import Ball, Exact, Log, ball, float_above, normal_quantile, normal_tail
from quincunx.spec.divergence import Number

Intensity: TypeAlias = Exact | Ball
# The two standards are typed loosely: the table's key fixes which they are.
Rule: TypeAlias = Callable[[Any, Intensity, Any], "Intensity | None"]

# Below the number of digits that Python agrees to print.
_MOST_LOG_BITS: Final = 10_000
_BISECTIONS: Final = 80


def scaled(x: Intensity, factor: Fraction | int) -> Intensity:
    """factor·x, exactly where it is rational or the logarithm of a rational of reasonable size."""
    if isinstance(x, Fraction):
        return x * factor
    if isinstance(x, Log):
        whole = Fraction(factor)
        size = x.of.numerator.bit_length() + x.of.denominator.bit_length()
        if whole.denominator == 1 and size * abs(int(whole)) <= _MOST_LOG_BITS:
            return Log(x.of ** int(whole))
    return ball(x) * ball(Fraction(factor))


def exponential(x: Intensity) -> Number:
    """e^x: a rational where x is 0 or the logarithm of one, a ball otherwise."""
    if isinstance(x, Log):
        return x.of
    return Fraction(1) if x == 0 and isinstance(x, Fraction) else ball(x).exp()


def pure_to_kl(x: Intensity) -> Ball:
    """ε·tanh(ε/2)."""
    e = ball(x)
    return e * (e / 2).tanh()


def pure_to_gaussian(x: Intensity) -> Ball:
    """−2Φ⁻¹(1/(1 + e^ε))."""
    return -2 * normal_quantile(1 / (1 + ball(x).exp()))


def approximate_to_tv(x: Intensity, delta: Fraction) -> Intensity:
    """(e^ε − 1 + 2δ)/(e^ε + 1)."""
    e = exponential(x)
    if isinstance(e, Fraction):
        return (e - 1 + 2 * delta) / (e + 1)
    return (e - 1 + 2 * ball(delta)) / (e + 1)


def kl_to_tv(x: Intensity) -> Ball:
    """The smaller of √(KL/2) (Pinsker) and √(1 − e^{−KL}) (Bretagnolle–Huber)."""
    d = ball(x).nonnegative_part()
    return _smaller((d / 2).sqrt(), (-(-d).expm1()).nonnegative_part().sqrt())


def renyi_to_approximate(x: Intensity, alpha: Fraction, delta: Fraction) -> Ball | None:
    """max(0, D_α + ln(1/(αδ))/(α − 1) + ln(1 − 1/α)), for δ > 0."""
    if delta == 0:
        return None
    spread = -ball(alpha * delta).log() / ball(alpha - 1) + ball(1 - 1 / alpha).log()
    return _clipped(ball(x) + spread)


def zcdp_to_approximate(x: Intensity, delta: Fraction) -> Ball | None:
    """The infimum over α > 1 of `renyi_to_approximate(αρ, α, δ)`: any α is valid, so a search in floats finds one."""
    if delta == 0:
        return None
    rho = float_above(ball(x))
    if rho == 0:
        return Ball(0)
    if not rho < 1e150:
        return None
    toll = -float(ball(delta).log().mid())

    def estimate(s: float) -> float:
        t = math.exp(s)
        return (1 + t) * rho + (toll - math.log1p(t)) / t + s - math.log1p(t)

    # The best t is near √(ln(1/δ)/ρ); golden-section search on s = ln t around it.
    low, high = -40.0, 0.5 * (math.log(max(toll, 1.0)) - math.log(rho)) + 12 if rho < 1 else 40.0
    ratio = (math.sqrt(5) - 1) / 2
    for _ in range(120):
        left, right = high - ratio * (high - low), low + ratio * (high - low)
        low, high = (low, right) if estimate(left) <= estimate(right) else (left, high)
    alpha = 1 + Fraction(math.exp((low + high) / 2))
    return renyi_to_approximate(ball(x) * ball(alpha), alpha, delta)


def concentrated_to_approximate(x: Intensity, xi: Fraction, omega: Fraction | None, delta: Fraction) -> Ball | None:
    """ξ + ρ + 2√(ρ·ln 1/δ) while its order 1 + √(ln(1/δ)/ρ) is at most ω, else ξ + ρω + ln(1/δ)/(ω − 1)."""
    if delta == 0:
        return None
    rho, toll = ball(x).nonnegative_part(), -ball(delta).log()
    best = ball(xi) + rho + 2 * (rho * toll).nonnegative_part().sqrt()
    if omega is None or toll <= ball(omega - 1) * ball(omega - 1) * rho:
        return best
    # At any order up to ω the bound is valid, so where the comparison is open the last order serves.
    return ball(xi) + rho * ball(omega) + toll / ball(omega - 1)


def gaussian_delta(mu: Ball, epsilon: Ball) -> Ball:
    """δ(ε) of μ-GDP: Φ(−ε/μ + μ/2) − e^ε Φ(−ε/μ − μ/2)."""
    return normal_tail(epsilon / mu - mu / 2) - epsilon.exp() * normal_tail(epsilon / mu + mu / 2)


def gaussian_to_approximate(x: Intensity, delta: Fraction) -> Ball | None:
    """The smallest ε (to 2^-80 of its bracket, from above) with a certified δ(ε) ≤ δ."""
    mu, goal = ball(x).upper(), ball(delta)
    if mu == 0 or gaussian_delta(mu, Ball(0)) <= goal:
        return Ball(0)
    if delta == 0 or not mu.is_finite():
        return None
    low, high = Ball(0), (mu * mu / 2 + mu).mid()
    for _ in range(200):
        if gaussian_delta(mu, high) <= goal:
            break
        low, high = high, 2 * high
    else:
        return None
    for _ in range(_BISECTIONS):
        middle = ((low + high) / 2).mid()
        low, high = (low, middle) if gaussian_delta(mu, middle) <= goal else (middle, high)
    return high


def within(delta: Fraction, approximation: Fraction) -> Fraction | None:
    """δ' with δ = δ₁ + (1 − δ₁)δ': what is left of δ after an approximation δ₁; None if nothing is."""
    return (delta - approximation) / (1 - approximation) if delta > approximation else None


def extremal(x: Intensity, delta: Fraction) -> tuple[tuple[Number, ...], tuple[Number, ...]]:
    """The pair of laws of which every (ε, δ)-indistinguishable pair is a post-processing.

    P = (δ, (1−δ)e^ε/(1+e^ε), (1−δ)/(1+e^ε), 0), Q the same backwards. A ball stands for its upper end.
    """
    e = exponential(x.upper() if isinstance(x, Ball) else x)
    keep = 1 - delta
    if isinstance(e, Fraction):
        law: tuple[Number, ...] = (delta, keep * e / (1 + e), keep / (1 + e), Fraction(0))
    else:
        law = (ball(delta), ball(keep) / (1 + 1 / e), ball(keep) / (1 + e), Ball(0))
    return law, law[::-1]


def _smaller(a: Ball, b: Ball) -> Ball:
    return a if a.upper() <= b.upper() else b


def _clipped(x: Ball) -> Ball:
    return x if x > 0 else x.nonnegative_part()


def _finite(x: Ball) -> Ball | None:
    return x if x.is_finite() else None


def _by_extremal(delta: Callable[[Any], Fraction]) -> Rule:
    return lambda source, x, target: _finite(target.least(*extremal(x, delta(source))).upper)


def _pure_to_renyi(_: Any, x: Intensity, target: Any) -> Intensity:
    return _smaller(ball(x), ball(target.alpha) * pure_to_kl(x))


def _approximate_to_approximate(source: Any, x: Intensity, target: Any) -> Intensity | None:
    return x if target.delta >= source.delta else None


def _approximate_to_zcdp(source: Any, x: Intensity, target: Any) -> Intensity | None:
    return pure_to_kl(x) if target.delta >= source.delta else None


def _zcdp_to_approximate(source: Any, x: Intensity, target: Any) -> Intensity | None:
    rest = within(target.delta, source.delta)
    return None if rest is None else zcdp_to_approximate(x, rest)


def _zcdp_to_tv(source: Any, x: Intensity, _: Any) -> Intensity:
    return ball(source.delta) + ball(1 - source.delta) * kl_to_tv(x)


def _tv_to_zero(_: Any, x: Intensity, target: Any) -> Intensity | None:
    small = x <= target.delta if isinstance(x, Fraction) else ball(x) <= ball(target.delta)
    return Fraction(0) if small else None


def _if_exact(rule: Rule) -> Rule:
    # An approximation δ > 0 says nothing about standards that a small event can make infinite.
    return lambda source, x, target: rule(source, x, target) if source.delta == 0 else None


_FROM_PURE: Final[dict[str, Rule]] = {
    "pure": lambda _s, x, _t: x,
    "approximate": lambda _s, x, _t: x,
    "zcdp": lambda _s, x, _t: pure_to_kl(x),
    "renyi": _pure_to_renyi,
    "gaussian": lambda _s, x, _t: pure_to_gaussian(x),
    "kl": lambda _s, x, _t: pure_to_kl(x),
    "tv": lambda _s, x, _t: approximate_to_tv(x, Fraction(0)),
    "divergence": _by_extremal(lambda _: Fraction(0)),
    "tradeoff": _by_extremal(lambda _: Fraction(0)),
    "concentrated": lambda _s, x, _t: pure_to_kl(x),
}

RULES: Final[dict[tuple[str, str], Rule]] = {
    **{("pure", kind): rule for kind, rule in _FROM_PURE.items()},
    # With δ = 0 this standard is pure.
    **{("approximate", kind): _if_exact(rule) for kind, rule in _FROM_PURE.items()},
    ("approximate", "approximate"): _approximate_to_approximate,
    ("approximate", "zcdp"): _approximate_to_zcdp,
    ("approximate", "tv"): lambda s, x, _t: approximate_to_tv(x, s.delta),
    ("approximate", "divergence"): _by_extremal(lambda s: s.delta),
    ("approximate", "tradeoff"): _by_extremal(lambda s: s.delta),
    ("zcdp", "zcdp"): _approximate_to_approximate,
    ("zcdp", "approximate"): _zcdp_to_approximate,
    ("zcdp", "tv"): _zcdp_to_tv,
    ("zcdp", "renyi"): _if_exact(lambda _s, x, t: scaled(x, t.alpha)),
    ("zcdp", "kl"): _if_exact(lambda _s, x, _t: x),
    ("renyi", "renyi"): lambda s, x, t: x if t.alpha <= s.alpha else None,
    ("renyi", "kl"): lambda _s, x, _t: x,
    ("renyi", "tv"): lambda _s, x, _t: kl_to_tv(x),
    ("renyi", "approximate"): lambda s, x, t: renyi_to_approximate(x, s.alpha, t.delta),
    ("gaussian", "zcdp"): lambda _s, x, _t: _half_square(x),
    ("gaussian", "kl"): lambda _s, x, _t: _half_square(x),
    ("gaussian", "renyi"): lambda _s, x, t: scaled(_half_square(x), t.alpha),
    ("gaussian", "tv"): lambda _s, x, _t: 1 - 2 * normal_tail(ball(x) / 2),
    ("gaussian", "approximate"): lambda _s, x, t: gaussian_to_approximate(x, t.delta),
    ("zcdp", "concentrated"): _if_exact(lambda _s, x, _t: x),
    ("gaussian", "concentrated"): lambda _s, x, _t: _half_square(x),
    ("concentrated", "concentrated"): lambda s, x, t: x if t.xi >= s.xi and _no_farther(t.omega, s.omega) else None,
    ("concentrated", "zcdp"): lambda s, x, _t: x if s.xi == 0 and s.omega is None else None,
    ("concentrated", "renyi"): lambda s, x, t: _line(s, x, t.alpha) if _no_farther(t.alpha, s.omega) else None,
    ("concentrated", "kl"): lambda s, x, _t: _line(s, x, Fraction(1)),
    ("concentrated", "tv"): lambda s, x, _t: kl_to_tv(_line(s, x, Fraction(1))),
    ("concentrated", "approximate"): lambda s, x, t: concentrated_to_approximate(x, s.xi, s.omega, t.delta),
    ("kl", "tv"): lambda _s, x, _t: kl_to_tv(x),
    ("tv", "approximate"): _tv_to_zero,
    ("tv", "zcdp"): _tv_to_zero,
}


def _no_farther(order: Fraction | None, omega: Fraction | None) -> bool:
    """Whether orders up to the first are among those up to the second; None is all orders."""
    return omega is None or (order is not None and order <= omega)


def _line(source: Any, x: Intensity, alpha: Fraction) -> Intensity:
    """ξ + ρα."""
    grown = scaled(x, alpha)
    return source.xi + grown if isinstance(grown, Fraction) else ball(source.xi) + ball(grown)


def _half_square(x: Intensity) -> Intensity:
    return x * x / 2 if isinstance(x, Fraction) else ball(x) * ball(x) / 2


def _square(x: Intensity) -> Intensity:
    return x * x if isinstance(x, Fraction) else ball(x) * ball(x)


def _root(x: Intensity | None) -> Intensity | None:
    return None if x is None else ball(x).nonnegative_part().sqrt()


class _Exactly:
    """Zero-concentrated privacy without δ, which D_nor ≤ √ρ says in other words."""

    delta = Fraction(0)


def _through_zcdp(rule: Rule) -> Rule:
    return lambda _s, x, target: rule(_Exactly, _square(x), target)


def _to_root(rule: Rule) -> Rule:
    return lambda source, x, _t: _root(rule(source, x, _Exactly))


_NORMALISED: Final = "normalised-renyi"
RULES.update(
    {(_NORMALISED, kind): _through_zcdp(rule) for (source, kind), rule in list(RULES.items()) if source == "zcdp"}
)
RULES.update({(source, _NORMALISED): _to_root(rule) for (source, kind), rule in list(RULES.items()) if kind == "zcdp"})
RULES[_NORMALISED, _NORMALISED] = lambda _s, x, _t: x
