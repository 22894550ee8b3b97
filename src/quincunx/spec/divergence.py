"""How far apart two laws on the same finite set of outputs are: certified arithmetic.

A law is a sequence of numbers, one per output: exact rationals, or balls that contain the true probabilities.
Everything here is one-directional, first law against second; `spec.standard` takes the worse direction.
Results are pairs (lower, upper) of balls that enclose the true value; the upper end may be infinite.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Final, TypeAlias

from quincunx.errors import MatrixError, ParameterError
from quincunx.numbers import Ball, ball, float_above, precision

Number: TypeAlias = Fraction | Ball
Bounds: TypeAlias = tuple[Ball, Ball]

INFINITE: Final = Ball.pos_inf()
ZERO: Final = Ball(0)
UNKNOWN: Final[Bounds] = (ZERO, INFINITE)
FOREVER: Final[Bounds] = (INFINITE, INFINITE)

_BITS: Final = (256, 512, 1024, 4096)
_SUM_TOLERANCE: Final = 2.0**-100
_TOLERANCE: Final = Fraction(1, 10**6)
_MOST_EVALUATIONS: Final = 1_000


def checked(p: Sequence[Number], q: Sequence[Number]) -> tuple[tuple[Number, ...], tuple[Number, ...], bool]:
    """The two laws, and whether both are exact. A mixed pair becomes balls. Refuses what is not a law."""
    if len(p) != len(q) or not p:
        raise MatrixError(
            "two laws must list the same outputs, at least one", got=f"{len(p)} and {len(q)} probabilities"
        )
    exact = all(isinstance(x, Fraction) for law in (p, q) for x in law)
    with precision(_BITS[0]):
        return _law(p, exact), _law(q, exact), exact


def _law(law: Sequence[Number], exact: bool) -> tuple[Number, ...]:
    if exact:
        if any(x < 0 for x in law) or sum(law, Fraction(0)) != 1:
            raise MatrixError("a law needs probabilities of 0 or more that sum to exactly 1")
        return tuple(law)
    balls = tuple(ball(x) for x in law)
    total = sum(balls, ZERO)
    # NaN and infinite balls fail the width test, a certainly negative entry the second.
    if not total.rad() < _SUM_TOLERANCE or not total.contains(1) or any(x < 0 for x in balls):
        raise MatrixError("a law needs probabilities of 0 or more whose sum is a ball around 1, narrower than 2^-100")
    return tuple(x.nonnegative_part() for x in balls)


def is_zero(x: Number) -> bool:
    """Whether x is certainly 0. A ball that contains 0 and more is not."""
    return x == 0 if isinstance(x, Fraction) else x.is_zero()


def as_rational(x: Number) -> Fraction:
    """A rational, or a ball of radius 0 such as an end point, as a rational."""
    if isinstance(x, Fraction):
        return x
    exact = x.fmpq()
    return Fraction(int(exact.p), int(exact.q))


def larger(values: Iterator[Ball] | Sequence[Ball], floor: Ball = ZERO) -> Ball:
    """The largest of `values` and `floor`, each an end point (NaN counts as no information: infinite)."""
    top = floor
    for value in values:
        if value.is_nan():
            return INFINITE
        if value > top:
            top = value
    return top


def raised(floor: Ball, candidate: Ball) -> Ball:
    """The larger of two lower bounds; a NaN adds nothing."""
    return candidate if candidate > floor else floor


def sharpened(compute: Callable[[], Bounds], exact: bool, enough: float = 1e-9) -> Bounds:
    """`compute` at 256 bits, and at more while the enclosure of exact laws is wider than `enough` of its size."""
    lower, upper = UNKNOWN
    for bits in _BITS if exact else _BITS[:1]:
        with precision(bits):
            lower, upper = compute()
            if not upper.is_finite() and not lower.is_finite():
                return FOREVER
            if upper.is_finite() and (upper - lower) <= upper * Ball(enough):
                break
    return lower, upper


def enclosed(value: Ball) -> Bounds:
    """The bounds of a non-negative quantity known as one ball; NaN is no information."""
    if value.is_nan():
        return UNKNOWN
    return raised(ZERO, value.lower()), larger([value.upper()])


def log_ratio(p: Number, q: Number) -> Ball:
    """ln(p/q) for p, q > 0, with full relative precision near p = q where they are rational."""
    if isinstance(p, Fraction) and isinstance(q, Fraction):
        excess = (p - q) / q
        return ball(excess).log1p() if abs(excess) < Fraction(1, 2) else ball(p / q).log()
    return (ball(p) / ball(q)).log()


def losses(p: Sequence[Number], q: Sequence[Number]) -> list[tuple[Ball, Ball]] | None:
    """The pairs (p_i, ln p_i/q_i) where p_i > 0; None where some q_i is 0 and its p_i is not."""
    present = [(a, b) for a, b in zip(p, q, strict=True) if not is_zero(a)]
    # Zero against a ball that may be zero is undecided, not infinite: its logarithm is NaN and says so.
    if any(is_zero(b) and ball(a) > 0 for a, b in present):
        return None
    return [(ball(a), log_ratio(a, b) if not is_zero(b) else Ball.nan()) for a, b in present]


def kl(p: Sequence[Number], q: Sequence[Number]) -> Bounds:
    """KL(P‖Q) = Σ p ln(p/q)."""
    terms = losses(p, q)
    return FOREVER if terms is None else enclosed(sum((a * loss for a, loss in terms), ZERO))


def cumulant(terms: Sequence[tuple[Ball, Ball]], t: Ball) -> Ball:
    """K(t) = ln Σ p·exp(t·ln(p/q)) = t·D_{1+t}(P‖Q), written so that small t keeps its relative precision."""
    return sum((a * (t * loss).expm1() for a, loss in terms), ZERO).log1p()


def renyi(p: Sequence[Number], q: Sequence[Number], alpha: Fraction) -> Bounds:
    """The Rényi divergence D_α(P‖Q) = ln(Σ p^α q^{1−α})/(α − 1), α > 1."""
    terms = losses(p, q)
    if terms is None:
        return FOREVER
    t = ball(alpha - 1)
    return enclosed(cumulant(terms, t) / t)


def zcdp(p: Sequence[Number], q: Sequence[Number]) -> Bounds:
    """sup over α > 1 of D_α(P‖Q)/α, by branch and bound on t = α − 1.

    K(t) = t·D_{1+t} is convex with K(0) = 0. On [a, b] it is below its chord A + Bt, whose intercept A is ≤ 0, and
    D_α/α = K/(t(1+t)) ≤ (A + Bt)/(t(1+t)) = (B − A)/(1+t) + A/t, which rises up to t* = √−A/(√(B−A) − √−A), where
    it is (√(B−A) − √−A)², and falls after it. For α ≥ D_∞/best, D_α/α ≤ D_∞/α ≤ best. As t → 0 it tends to KL.
    With ε the largest |ln(p/q)| the whole is at most ε·tanh(ε/2). Near t = 0, with V the variance of the loss ln(p/q)
    under P and R its range, K'' ≤ V·e^{tR}, so K ≤ KL·t + V·e^{tR}·t²/2 and D_α/α ≤ max(KL, V·e^{tR}/2).
    """
    terms = losses(p, q)
    if terms is None:
        return FOREVER
    start = sum((a * loss for a, loss in terms), ZERO)
    top = larger([loss.upper() for _, loss in terms])
    wide = larger([abs(loss).upper() for _, loss in terms])
    if start.is_nan() or not wide.is_finite() or len(terms) < sum(not is_zero(b) for b in q):
        # Where P misses an output of Q, the losses do not bound the pair: only D_∞ does.
        cap = top if not start.is_nan() and top.is_finite() else INFINITE
    else:
        cap = (wide * (wide / 2).tanh()).upper()
    best = raised(ZERO, start.lower())
    far = float_above((top / best - 1).upper()) if best > 0 else math.inf
    if not far < 1e300 or not cap.is_finite() or far <= 0:
        return best, cap
    spread = sum((a * (loss - start) * (loss - start) for a, loss in terms), ZERO) / 2
    reach = top - min(loss.lower() for _, loss in terms)

    def bound(a: float, b: float) -> float:
        early = larger([start.upper()], floor=(spread * (Ball(b) * reach).exp()).upper())
        return min(float_above(_chord(a, b, at)), float_above(early))

    at = {0.0: ZERO, far: cumulant(terms, Ball(far))}
    best = raised(best, _value(at[far], far).lower())
    heap = [(-bound(0.0, far), 0.0, far)]
    enough = best * ball(1 + _TOLERANCE)
    while len(at) < _MOST_EVALUATIONS and -heap[0][0] > float_above(enough) and not cap <= enough:
        _, a, b = heapq.heappop(heap)
        cut = _cut(a, b)
        if not a < cut < b:
            heapq.heappush(heap, (-bound(a, b), a, b))
            break
        at[cut] = cumulant(terms, Ball(cut))
        best = raised(best, _value(at[cut], cut).lower())
        enough = best * ball(1 + _TOLERANCE)
        for left, right in ((a, cut), (cut, b)):
            heapq.heappush(heap, (-bound(left, right), left, right))
    # The bound of each interval is a float above its ball; the tail beyond `far` is at most the first lower bound.
    found = larger([Ball(-heap[0][0])], floor=best)
    return best, cap if cap < found else found


def _cut(a: float, b: float) -> float:
    if a == 0:
        return b / 16 if b <= 1 else min(1.0, b / 4)
    return math.sqrt(a) * math.sqrt(b) if b > 4 * a else (a + b) / 2


def _value(k: Ball, t: float) -> Ball:
    return k / (Ball(t) * (1 + Ball(t)))


def _chord(a: float, b: float, at: dict[float, Ball]) -> Ball:
    """An upper bound of D_α/α for t in [a, b] from the chord of K."""
    if a == 0:
        return (at[b] / Ball(b)).upper()
    slope = (at[b] - at[a]) / (Ball(b) - Ball(a))
    drop = (slope * Ball(a) - at[a]).nonnegative_part()
    root = drop.sqrt()
    gain = (slope + drop).nonnegative_part().sqrt() - root
    # t* < a ⇔ √−A < a·(√(B−A) − √−A)
    if root < Ball(a) * gain:
        return _value(at[a], a).upper()
    if root > Ball(b) * gain:
        return _value(at[b], b).upper()
    return (gain * gain).upper()


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """An f-divergence Σ q·f(p/q) of a convex f with f(1) = 0, output by output.

    term: (p, q) ↦ q·f(p/q) for p, q > 0. at_zero: f(0), the weight of an output with p = 0 and q > 0.
    slope: lim f(t)/t as t → ∞, the weight of an output with q = 0 and p > 0. exact: `term` on rationals with p, q ≥ 0,
    where it is rational (only called where at_zero and slope do not make the sum infinite).
    """

    term: Callable[[Number, Number], Ball]
    at_zero: Callable[[], Ball]
    slope: Callable[[], Ball]
    exact: Callable[[Fraction, Fraction], Fraction] | None = None


def _hellinger(p: Number, q: Number) -> Ball:
    gap = ball(p).sqrt() - ball(q).sqrt()
    return gap * gap / 2


def _jensen_shannon(p: Number, q: Number) -> Ball:
    middle: Number = (ball(p) + ball(q)) / 2
    if isinstance(p, Fraction) and isinstance(q, Fraction):
        middle = (p + q) / 2
    return (ball(p) * log_ratio(p, middle) + ball(q) * log_ratio(q, middle)) / 2


def _chi_squared(p: Number, q: Number) -> Ball:
    gap = ball(p - q) if isinstance(p, Fraction) and isinstance(q, Fraction) else ball(p) - ball(q)
    return gap * gap / ball(q)


def _exact_chi_squared(p: Fraction, q: Fraction) -> Fraction:
    return (p - q) ** 2 / q if q else Fraction(0)


SHAPES: Final[dict[str, Shape]] = {
    "kl": Shape(term=lambda p, q: ball(p) * log_ratio(p, q), at_zero=lambda: ZERO, slope=lambda: INFINITE),
    "reverse-kl": Shape(term=lambda p, q: -ball(q) * log_ratio(p, q), at_zero=lambda: INFINITE, slope=lambda: ZERO),
    "total-variation": Shape(
        term=lambda p, q: abs(ball(p) - ball(q)) / 2,
        at_zero=lambda: Ball(0.5),
        slope=lambda: Ball(0.5),
        exact=lambda p, q: abs(p - q) / 2,
    ),
    "chi-squared": Shape(
        term=_chi_squared,
        at_zero=lambda: Ball(1),
        slope=lambda: INFINITE,
        exact=_exact_chi_squared,
    ),
    "squared-hellinger": Shape(term=_hellinger, at_zero=lambda: Ball(0.5), slope=lambda: Ball(0.5)),
    "jensen-shannon": Shape(term=_jensen_shannon, at_zero=lambda: Ball(2).log() / 2, slope=lambda: Ball(2).log() / 2),
}


def custom_shape(f: Callable[[Ball], Ball], at_zero: Ball, slope: Ball) -> Shape:
    """The shape of a convex f given as a function of balls.

    It is refused where f(1) ≠ 0 or a chord is certainly below f at a few points: a guard against slips, not a proof.
    """
    with precision(128):
        if not f(Ball(1)).contains(0):
            raise ParameterError("an f-divergence needs f(1) = 0", where="f")
        for a, b in ((0.125, 0.5), (0.25, 1.0), (0.5, 2.0), (1.0, 4.0), (2.0, 16.0)):
            if 2 * f(Ball((a + b) / 2)) > f(Ball(a)) + f(Ball(b)):
                chord = f"a chord below f on [{a}, {b}]"
                raise ParameterError("an f-divergence needs a convex f", where="f", got=chord)
    return Shape(term=lambda p, q: ball(q) * f(ball(p) / ball(q)), at_zero=lambda: at_zero, slope=lambda: slope)


def f_divergence(p: Sequence[Number], q: Sequence[Number], shape: Shape) -> Bounds:
    """Σ q·f(p/q), with q·f(0) where p = 0 and p·slope where q = 0."""
    total = ZERO
    for a, b in zip(p, q, strict=True):
        if is_zero(a) and is_zero(b):
            continue
        if is_zero(a) or is_zero(b):
            mass, weight = (ball(b), shape.at_zero()) if is_zero(a) else (ball(a), shape.slope())
            if weight.is_finite():
                total += mass * weight
            elif mass > 0:
                return FOREVER
            else:
                return UNKNOWN
        else:
            total += shape.term(a, b)
    return enclosed(total)
