"""The smallest intensity of a pair of laws, event by event, with the event that shows it.

The functions here look at one direction, P against Q; `worse` joins the two.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from quincunx.numbers import Ball, Exact, ball, normal_quantile, precision
from quincunx.spec import tradeoff
from quincunx.spec.curve import Curve, Point, curve_of
from quincunx.spec.divergence import (
    FOREVER,
    INFINITE,
    UNKNOWN,
    ZERO,
    Bounds,
    Number,
    as_rational,
    is_zero,
    larger,
    raised,
    sharpened,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Least:
    """The smallest intensity at which a pair of laws satisfies a standard.

    lower, upper: balls whose ends enclose it; `upper` may be infinite. exact: the number itself where it is known
    exactly. event: indices of the outputs of the witnessing event, likelier under the first law than under the second.
    swapped: the witness compares the second law with the first.
    """

    lower: Ball
    upper: Ball
    exact: Exact | None
    event: tuple[int, ...]
    swapped: bool


EQUAL: Final = Least(lower=ZERO, upper=ZERO, exact=Fraction(0), event=(), swapped=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """One direction's answer. key: an exact rational that rises with the intensity, where known."""

    lower: Ball
    upper: Ball
    event: tuple[int, ...]
    key: Fraction | None = None

    @classmethod
    def of(cls, bounds: Bounds, event: tuple[int, ...], key: Fraction | None = None) -> Found:
        """From a pair of bounds."""
        return cls(lower=bounds[0], upper=bounds[1], event=event, key=key)


def worse(ahead: Found, back: Found, from_key: Callable[[Fraction], Exact]) -> Least:
    """The larger of the two directions. `from_key` turns a key into the intensity it stands for."""
    lower, upper = raised(ahead.lower, back.lower), larger([back.upper], floor=ahead.upper)
    if ahead.key is not None and back.key is not None:
        # Exact keys decide ties and near-ties that balls cannot.
        swapped = back.key > ahead.key
        exact: Exact | None = from_key(back.key if swapped else ahead.key)
    else:
        swapped, exact = bool(back.lower > ahead.lower), None
    event = back.event if swapped else ahead.event
    return Least(lower=lower, upper=upper, exact=exact, event=event, swapped=swapped)


def likelier(p: Sequence[Number], q: Sequence[Number]) -> tuple[int, ...]:
    """The outputs that are likelier under P; those impossible under Q, where P has any."""
    impossible = tuple(i for i, (a, b) in enumerate(zip(p, q, strict=True)) if is_zero(b) and not is_zero(a))
    return impossible or tuple(i for i, (a, b) in enumerate(zip(p, q, strict=True)) if _greater(a, b))


def _greater(a: Number, b: Number) -> bool:
    if isinstance(a, Fraction) and isinstance(b, Fraction):
        return a > b
    return bool(ball(a) > ball(b))


def _scan(shape: Curve, value: Callable[[Point], Bounds]) -> Found:
    lower, upper = ZERO, ZERO
    event: tuple[int, ...] = ()
    for point in shape.attained:
        low, _ = value(point)
        if low > lower:
            lower, event = low, shape.event(point)
    for point in shape.dominating:
        upper = larger([value(point)[1]], floor=upper)
    return Found(lower=lower, upper=larger([lower], floor=upper), event=event)


def _exactly(shape: Curve, key: Callable[[Point], Fraction | None], start: Fraction) -> Found:
    """The vertex with the largest key; None is infinite. Bounds are left to the caller."""
    best, where = start, None
    for point in shape.attained:
        here = key(point)
        if here is None:
            return Found.of(FOREVER, shape.event(point))
        if here > best:
            best, where = here, point
    return Found(lower=ZERO, upper=ZERO, event=shape.event(where) if where else (), key=best)


def epsilon(p: Sequence[Number], q: Sequence[Number], exact: bool, delta: Fraction) -> Found:
    """The smallest ε ≥ 0 with P(S) ≤ e^ε Q(S) + δ for all S. Key: e^ε, the largest (P(S) − δ)/Q(S), at least 1."""
    shape = curve_of(p, q, exact)
    if not exact:
        return _scan(shape, lambda point: _epsilon_at(point, ball(delta)))

    def key(point: Point) -> Fraction | None:
        gap, level = as_rational(point.power) - delta, as_rational(point.level)
        if gap <= 0:
            return Fraction(1)
        return gap / level if level else None

    found = _exactly(shape, key, Fraction(1))
    if found.key is None:
        return found
    value = ball(found.key - 1).log1p() if found.key < 2 else ball(found.key).log()
    return Found.of((value.lower(), value.upper()), found.event, found.key)


def _epsilon_at(point: Point, delta: Ball) -> Bounds:
    gap, level = ball(point.power) - delta, ball(point.level)
    if gap <= 0:
        return ZERO, ZERO
    if level.is_zero():
        return FOREVER if gap > 0 else UNKNOWN
    low = (gap.lower() / level.upper()).lower()
    high = (gap.upper() / level.lower()).upper() if level > 0 else INFINITE
    return (low.log().lower() if low > 1 else ZERO), (larger([high.log().upper()]) if high > 1 else ZERO)


def total_variation(p: Sequence[Number], q: Sequence[Number], exact: bool) -> Found:
    """The largest P(S) − Q(S). It is its own key."""
    shape = curve_of(p, q, exact)
    if not exact:
        return _scan(shape, _variation_at)
    found = _exactly(shape, lambda point: as_rational(point.power) - as_rational(point.level), Fraction(0))
    value = ball(found.key if found.key is not None else Fraction(0))
    return Found.of((value.lower(), value.upper()), found.event, found.key)


def _variation_at(point: Point) -> Bounds:
    gap = ball(point.power) - ball(point.level)
    return gap.lower(), gap.upper()


def gaussian(p: Sequence[Number], q: Sequence[Number], exact: bool) -> Found:
    """The smallest μ with Φ⁻¹(P(S)) − Φ⁻¹(Q(S)) ≤ μ for all S.

    The bound at level a is the power Φ(Φ⁻¹(a) + μ), concave in a, so the vertices decide.
    """
    shape, found = curve_of(p, q, exact), Found.of(UNKNOWN, ())

    def compute() -> Bounds:
        nonlocal found
        found = _scan(shape, _mu_at)
        return found.lower, found.upper

    return Found.of(sharpened(compute, exact), found.event)


def _mu_at(point: Point) -> Bounds:
    if is_zero(point.level):
        return FOREVER if ball(point.power) > 0 else UNKNOWN
    if is_zero(point.power_rest):
        return FOREVER if ball(point.level_rest) > 0 else UNKNOWN
    # The level may be 1 or the power 0 only where the other is too, or where a ball is undecided.
    if not all(ball(x) > 0 for x in (point.level, point.level_rest, point.power, point.power_rest)):
        return UNKNOWN
    mu = _quantile(point.power, point.power_rest) - _quantile(point.level, point.level_rest)
    return UNKNOWN if mu.is_nan() else (mu.lower(), mu.upper())


def _quantile(x: Number, rest: Number) -> Ball:
    """Φ⁻¹(x) from the smaller of x and 1 − x, which has the better relative precision."""
    return -normal_quantile(ball(rest)) if ball(rest) < ball(x) else normal_quantile(ball(x))


def repeated(p: Sequence[Number], q: Sequence[Number], exact: bool, f: tradeoff.Vertices) -> Found:
    """The smallest k with P(S) ≤ (1 − f)^{∘k}(Q(S)) for all S; (1 − f)^{∘k} is concave, so the vertices decide."""

    def value(point: Point) -> Bounds:
        if not isinstance(point.power, Fraction) and not point.power.is_finite():
            return UNKNOWN
        # A dominating power above 1 is a ball's; no true power is above 1, but the chord to it may be too low.
        if _end(point.power, up=True) > 1:
            return ZERO, INFINITE
        high = tradeoff.steps(f, _end(point.level, up=False), _end(point.power, up=True), up=True)
        low = tradeoff.steps(f, _end(point.level, up=True), _end(point.power, up=False), up=False)
        return (INFINITE if low is None else Ball(low)), (INFINITE if high is None else Ball(high))

    with precision(256):
        found = _scan(curve_of(p, q, exact), value)
    known = found.lower.is_finite() and found.lower == found.upper
    return Found.of((found.lower, found.upper), found.event, as_rational(found.lower) if known else None)


def _end(x: Number, *, up: bool) -> Fraction:
    if isinstance(x, Fraction):
        return x
    return max(as_rational(x.upper() if up else x.lower()), Fraction(0))


def truncated(p: Sequence[Number], q: Sequence[Number], ratio: Number) -> tuple[Number, ...]:
    """min(P, ratio·Q), normalised. Where the removed mass m is at most δ, this law is ≤ P/(1−m) ≤ P/(1−δ)."""
    if isinstance(ratio, Fraction):
        exact = [min(as_rational(a), ratio * as_rational(b)) for a, b in zip(p, q, strict=True)]
        total = sum(exact, Fraction(0))
        return tuple(x / total for x in exact)
    # A zero stays an exact zero, so that supports stay decided.
    none = [is_zero(a) or is_zero(b) for a, b in zip(p, q, strict=True)]
    kept = [ZERO if no else ball(a).min(ratio * ball(b)) for a, b, no in zip(p, q, none, strict=True)]
    whole = sum(kept, ZERO)
    return tuple(x / whole for x in kept)
