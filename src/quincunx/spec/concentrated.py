"""Concentrated standards: the Rényi divergences of all orders under a line, and the loss around its mean."""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Final

from quincunx.errors import ParameterError
from quincunx.numbers import Ball, Exact, amount, ball, float_above, non_negative, rational
from quincunx.spec.divergence import (
    FOREVER,
    INFINITE,
    UNKNOWN,
    ZERO,
    Bounds,
    Number,
    cumulant,
    is_zero,
    larger,
    losses,
    raised,
    sharpened,
)
from quincunx.spec.measure import Found, likelier
from quincunx.spec.standard_base import Standard
from quincunx.spec.wording import latex_number

_TOLERANCE: Final = Ball(1) + Ball(1) / 10**6
# Around a mean the bound of an interval is coarser, and a hundred-thousandth is enough.
_LOOSE: Final = Ball(1) + Ball(1) / 10**5
_MOST_EVALUATIONS: Final = 1_000
_FARTHEST: Final = 1e60


def climb(
    value: Callable[[float], tuple[Ball, Ball]],
    above: Callable[[float, float, dict[float, Ball]], Ball],
    near: Callable[[float], Ball],
    start: Ball,
    end: float,
    enough: Ball = _TOLERANCE,
) -> Bounds:
    """Branch and bound: the supremum over 0 < t ≤ end of a function, between a lower and an upper end.

    value(t): (its ball, the convex function behind it). above(a, b, at): an upper bound on [a, b], a > 0, from the
    convex function's values. near(b): an upper bound on (0, b]. start: a lower bound to begin with. enough: the factor
    between the two ends at which to stop.
    """
    here, at = {}, {}
    best = start

    def look(t: float) -> None:
        nonlocal best
        here[t], at[t] = value(t)
        best = raised(best, here[t].lower())

    def bound(a: float, b: float) -> float:
        return float_above(near(b)) if a == 0 else min(float_above(above(a, b, at)), float_above(near(b)))

    look(end)
    heap = [(-bound(0.0, end), 0.0, end)]
    while len(at) < _MOST_EVALUATIONS and -heap[0][0] > float_above(best * enough):
        _, a, b = heapq.heappop(heap)
        cut = (
            (b / 16 if b <= 1 else min(1.0, b / 4))
            if a == 0
            else math.sqrt(a) * math.sqrt(b)
            if b > 4 * a
            else (a + b) / 2
        )
        if not a < cut < b or cut < 1e-250:
            heapq.heappush(heap, (-bound(a, b), a, b))
            break
        look(cut)
        for left, right in ((a, cut), (cut, b)):
            heapq.heappush(heap, (-bound(left, right), left, right))
    return best, larger([Ball(-heap[0][0])], floor=best)


def under_a_line(p: Sequence[Number], q: Sequence[Number], xi: Fraction, omega: Fraction | None) -> Bounds:
    """sup over 1 < α ≤ ω of (D_α(P‖Q) − ξ)/α, at least 0 (concentrated.md)."""
    terms = losses(p, q)
    if terms is None:
        return FOREVER
    shift = ball(xi)
    mean = sum((a * loss for a, loss in terms), ZERO)
    top = larger([loss.upper() for _, loss in terms])
    if mean.is_nan() or not top.is_finite():
        return UNKNOWN
    if (top - shift).upper() <= 0:
        return ZERO, ZERO
    bottom = min((loss.lower() for _, loss in terms), key=float_above)
    spread, reach = sum((a * (loss - mean) ** 2 for a, loss in terms), ZERO) / 2, top - bottom

    def value(t: float) -> tuple[Ball, Ball]:
        k = cumulant(terms, Ball(t)) - shift * Ball(t)
        return k / (Ball(t) * (1 + Ball(t))), k

    best = raised(ZERO, (mean - shift).lower())
    last = math.inf if omega is None else float(omega - 1)
    reached = min(1.0, last)
    while not best > 0 and reached < min(last, 1e12):
        best = raised(best, value(reached)[0].lower())
        reached = min(2 * reached, last)
    if not best > 0:
        best = raised(best, value(reached)[0].lower())
    tail = (top - shift).upper()
    # Beyond α = (D_∞ − ξ)/best nothing is larger than best.
    end = min(last, float_above((tail / best).upper()) if best > 0 else math.inf)
    if not end < 1e15:
        return best, larger([tail])
    if end <= 0:
        return best, larger([best])

    def near(b: float) -> Ball:
        # K − ξt ≤ ct + vt² with c = KL − ξ and v = V·e^{bR}/2, so it is at most (c + vt)/(1 + t), monotone in t.
        c, v = mean - shift, spread * (Ball(b) * reach).exp()
        return larger([c.upper(), ((c + v * Ball(b)) / (1 + Ball(b))).upper()])

    found = climb(value, _line, near, best, end)
    cap = larger([tail])
    return found[0], cap if cap < found[1] else found[1]


def _line(a: float, b: float, at: dict[float, Ball]) -> Ball:
    """The largest chord(t)/(t(1+t)) on [a, b]; the chord of K − ξt has an intercept A ≤ 0."""
    slope = (at[b] - at[a]) / (Ball(b) - Ball(a))
    drop = (slope * Ball(a) - at[a]).nonnegative_part()
    root = drop.sqrt()
    gain = (slope + drop).nonnegative_part().sqrt() - root
    if root < Ball(a) * gain:
        return (at[a] / (Ball(a) * (1 + Ball(a)))).upper()
    if root > Ball(b) * gain:
        return (at[b] / (Ball(b) * (1 + Ball(b)))).upper()
    return (gain * gain).upper()


def around_the_mean(p: Sequence[Number], q: Sequence[Number]) -> Bounds:
    """sup over λ ≠ 0 of 2·ln E_P e^{λ(L − E L)}/λ², the square of the smallest τ (concentrated.md)."""
    terms = losses(p, q)
    if terms is None:
        return FOREVER
    mean = sum((a * loss for a, loss in terms), ZERO)
    if mean.is_nan():
        return UNKNOWN
    centred = [(a, loss - mean) for a, loss in terms]
    variance = sum((a * d * d for a, d in centred), ZERO)
    best, high = raised(ZERO, variance.lower()), larger([variance.upper()])
    for sign in (1, -1):
        side = [(a, sign * d) for a, d in centred]
        top = larger([d.upper() for _, d in side])
        low = min((d.lower() for _, d in side), key=float_above)
        if not best > 0:
            return best, INFINITE if not top.is_finite() else larger([(top - low).upper() ** 2 / 4])
        end = float_above((2 * top / best).upper())
        if end <= 0:
            # Nothing is above the mean on this side, so its cumulant is at most 0.
            continue
        if not end < _FARTHEST:
            # Hoeffding: a variable of range R is subgaussian with scale R/2.
            high = larger([((top - low) ** 2 / 4).upper()], floor=high)
            continue

        def value(t: float, side: list[tuple[Ball, Ball]] = side) -> tuple[Ball, Ball]:
            k = cumulant(side, Ball(t))
            return 2 * k / (Ball(t) * Ball(t)), k

        def near(b: float, width: Ball = top - low) -> Ball:
            return (variance * (Ball(b) * width).exp()).upper()

        low_end, high_end = climb(value, _parabola, near, best, end, _LOOSE)
        best, high = raised(best, low_end), larger([high_end], floor=high)
    return best, larger([best], floor=high)


def _parabola(a: float, b: float, at: dict[float, Ball]) -> Ball:
    """The largest 2(A + Bt)/t² on [a, b], A ≤ 0 the intercept: B²/(2|A|) at t = 2|A|/B, monotone around it."""
    slope = (at[b] - at[a]) / (Ball(b) - Ball(a))
    drop = (slope * Ball(a) - at[a]).nonnegative_part()
    if 2 * drop < Ball(a) * slope:
        return (2 * at[a] / (Ball(a) * Ball(a))).upper()
    if 2 * drop > Ball(b) * slope:
        return (2 * at[b] / (Ball(b) * Ball(b))).upper()
    return (slope * slope / (2 * drop)).upper() if drop > 0 else INFINITE


@dataclass(frozen=True, slots=True)
class Concentrated(Standard):
    """ρ = sup over orders 1 < α ≤ ω of (D_α(P‖P') − ξ)/α, both ways.

    xi: ξ ≥ 0, what every order may have. omega: ω > 1, the largest order; None: all orders. With ξ = 0 and all orders
    it is zero-concentrated (ZCDP); with ω bounded concentrated, and with ξ = 0 also truncated concentrated.
    """

    xi: Fraction = Fraction(0)
    omega: Fraction | None = None

    kind: ClassVar[str] = "concentrated"
    symbol: ClassVar[str] = "ρ"
    parameters: ClassVar[tuple[str, ...]] = ("xi", "omega")

    def __post_init__(self) -> None:
        object.__setattr__(self, "xi", non_negative(self.xi, "xi"))
        given: object = self.omega
        if given is not None and given != "all":
            omega = rational(given, "omega")
            if omega <= 1:
                raise ParameterError("the largest order must be greater than 1", where="omega", got=amount(omega))
            object.__setattr__(self, "omega", omega)
        else:
            object.__setattr__(self, "omega", None)

    def _found(self, p: Sequence[Number], q: Sequence[Number], exact: bool) -> Found:
        return Found.of(sharpened(lambda: under_a_line(p, q, self.xi, self.omega), exact, 0.1), likelier(p, q))

    def words(self, intensity: Exact) -> str:
        orders = "of every order" if self.omega is None else f"of every order up to ω = {amount(self.omega)}"
        return (
            f"ρ = {amount(intensity)}, ξ = {amount(self.xi)}: when the data change by one unit, the Rényi divergence "
            f"{orders} is at most ξ plus ρ times the order."
        )

    def latex(self, intensity: Exact) -> str:
        top = "" if self.omega is None else rf" \le {latex_number(self.omega)}"
        return (
            rf"D_\alpha(P\,\|\,P') \le \xi + \rho\,\alpha \ \ \forall\, 1 < \alpha{top}, \quad "
            rf"{self._stated(intensity)},\ \xi = {latex_number(self.xi)}"
        )

    def to_json(self) -> dict[str, object]:
        """`kind`, ξ and ω; "all" for all orders."""
        return {"kind": self.kind, "xi": str(self.xi), "omega": "all" if self.omega is None else str(self.omega)}


@dataclass(frozen=True, slots=True)
class MeanConcentrated(Standard):
    """Mean-concentrated privacy: the loss ln P/P' has a mean of at most μ, and around it is subgaussian with scale τ:
    E e^{λ(L − E L)} ≤ e^{λ²τ²/2} for every λ, both ways. The intensity is τ.

    mu: μ, a rational ≥ 0; None: any mean.
    """

    mu: Fraction | None = None

    kind: ClassVar[str] = "mean-concentrated"
    symbol: ClassVar[str] = "τ"
    parameters: ClassVar[tuple[str, ...]] = ("mu",)

    def __post_init__(self) -> None:
        given: object = self.mu
        object.__setattr__(self, "mu", None if given in (None, "any") else non_negative(given, "mu"))

    def _found(self, p: Sequence[Number], q: Sequence[Number], exact: bool) -> Found:
        def compute() -> Bounds:
            low, high = around_the_mean(p, q)
            if self.mu is not None and low.is_finite():
                terms = losses(p, q) or []
                mean = sum((a * loss for a, loss in terms), ZERO)
                if mean > ball(self.mu):
                    return FOREVER
                if not mean <= ball(self.mu):
                    return low.sqrt().lower(), INFINITE
            return low.sqrt().lower(), high.sqrt().upper() if high.is_finite() else INFINITE

        if any(is_zero(b) and not is_zero(a) for a, b in zip(p, q, strict=True)):
            return Found.of(FOREVER, likelier(p, q))
        return Found.of(sharpened(compute, exact, 0.1), likelier(p, q))

    def words(self, intensity: Exact) -> str:
        mean = "any" if self.mu is None else f"at most μ = {amount(self.mu)}"
        return (
            f"τ = {amount(intensity)}: when the data change by one unit, the evidence that an output gives has a mean "
            f"of {mean}, and strays from it no more than a bell curve of standard deviation τ."
        )

    def latex(self, intensity: Exact) -> str:
        mean = "" if self.mu is None else rf"\mathbb{{E}} L \le {latex_number(self.mu)},\ "
        return (
            rf"{mean}\mathbb{{E}}\, e^{{\lambda (L - \mathbb{{E}} L)}} \le e^{{\lambda^2 \tau^2 / 2}} \ \ "
            rf"\forall \lambda, \quad \tau = {latex_number(intensity)}"
        )

    def to_json(self) -> dict[str, object]:
        """`kind` and μ; "any" for any mean."""
        return {"kind": self.kind, "mu": "any" if self.mu is None else str(self.mu)}
