"""Standards on the privacy loss itself: probabilistic, relaxed, range-bounded.

The loss of an output is ln P/P', +∞ where only P' is 0. Unlike (ε, δ) these are not conditions on the power curve, and
the first two are not closed under post-processing.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cmp_to_key
from typing import ClassVar, Final, TypeAlias

from quincunx.numbers import Ball, Exact, amount, ball, delta_parameter
from quincunx.spec.curve import whole
from quincunx.spec.divergence import FOREVER, INFINITE, ZERO, Number, as_rational, is_zero, larger
from quincunx.spec.measure import Found, epsilon, likelier
from quincunx.spec.standard_base import Factor, WithDelta
from quincunx.spec.wording import latex_number, times

# e^ε, None if infinite, and the event
Key: TypeAlias = tuple[Fraction | None, tuple[int, ...]]
# Beyond this many undominated subsets a knapsack is enclosed by its relaxation instead of solved.
_MOST_SUBSETS: Final = 20_000


def _ratio(a: Number, b: Number) -> tuple[Ball, Ball]:
    """Ends of a/b; infinite above where b may be 0, and below where it is."""
    top, bottom = ball(a), ball(b)
    if bottom.is_zero():
        return (INFINITE if top > 0 else ZERO), INFINITE
    low = (top.lower() / bottom.upper()).lower()
    return low, (top.upper() / bottom.lower()).upper() if bottom > 0 else INFINITE


def _falling(ends: Sequence[Ball]) -> list[int]:
    """Places by falling end points; floats would confuse those that are near."""

    def order(i: int, j: int) -> int:
        return -1 if ends[i] > ends[j] else 1 if ends[i] < ends[j] else 0

    return sorted(range(len(ends)), key=cmp_to_key(order))


def _smallest(ends: Sequence[Ball]) -> Ball:
    return ends[_falling(ends)[-1]]


def _log(key: Fraction) -> tuple[Ball, Ball]:
    value = ball(key).log()
    return value.lower(), value.upper()


class _Loss(Factor):
    """A standard on the loss: exactly by its key, and between others where the laws are balls."""

    __slots__ = ()

    def _found(self, p: Sequence[Number], q: Sequence[Number], exact: bool) -> Found:
        if not exact:
            return self._loose(p, q)
        given = self._key([as_rational(x) for x in p], [as_rational(x) for x in q])
        if given is None:
            return self._enclosed(p, q)
        key, event = given
        return Found.of(FOREVER, event) if key is None else Found.of(_log(key), event, key)

    def _loose(self, p: Sequence[Number], q: Sequence[Number]) -> Found:
        """For balls: between the hockey stick, which is never larger, and pure."""
        below, above = epsilon(p, q, False, self._mass()), epsilon(p, q, False, Fraction(0))
        return Found(lower=below.lower, upper=above.upper, event=below.event)

    def _mass(self) -> Fraction:
        return Fraction(0)

    @abstractmethod
    def _key(self, p: Sequence[Fraction], q: Sequence[Fraction]) -> Key | None:
        """The key of the first law against the second; None where it is only enclosed."""

    def _enclosed(self, p: Sequence[Number], q: Sequence[Number]) -> Found:
        """What is known where there is no key."""
        return self._loose(p, q)


def by_ratio(p: Sequence[Fraction], q: Sequence[Fraction]) -> list[int]:
    """The outputs possible under P, by falling P/Q, those impossible under Q first."""
    present = [i for i, a in enumerate(p) if a]
    both, _ = whole((*p, *q))
    place = len(p)
    # The rising Q/P is the falling P/Q, with 0 for what is impossible under Q.
    return sorted(present, key=lambda i: Fraction(both[place + i], both[i]))


@dataclass(frozen=True, slots=True)
class Probabilistic(_Loss, WithDelta):
    """Probabilistic (ε, δ)-differential privacy: P(ln P/P' > ε) ≤ δ, both ways. It is stronger than (ε, δ).

    delta: δ, a rational in [0, 1).
    """

    delta: Fraction

    kind: ClassVar[str] = "probabilistic"

    def _mass(self) -> Fraction:
        return self.delta

    def _loose(self, p: Sequence[Number], q: Sequence[Number]) -> Found:
        """By the ratios' lower ends with masses' lower ends, and by their upper ends with upper ends."""
        ratios = [_ratio(a, b) for a, b in zip(p, q, strict=True)]
        found, event = [ZERO, ZERO], []
        for side in (0, 1):
            mass = ZERO
            for i in _falling([r[side] for r in ratios]):
                mass += ball(p[i]).upper() if side else ball(p[i]).lower()
                event += [] if side else [i]
                limit = ball(self.delta)
                if (mass.upper() > limit.lower()) if side else (mass.lower() > limit.upper()):
                    found[side] = ratios[i][side]
                    break
        low = found[0].log().lower() if found[0] > 1 and found[0].is_finite() else found[0] if found[0] > 1 else ZERO
        high = INFINITE if not found[1].is_finite() else found[1].log().upper() if found[1] > 1 else ZERO
        return Found(lower=low, upper=high, event=tuple(sorted(event)))

    def _key(self, p: Sequence[Fraction], q: Sequence[Fraction]) -> Key:
        mass, event = Fraction(0), []
        for i in by_ratio(p, q):
            mass += p[i]
            event.append(i)
            if mass > self.delta:
                # The loss of this output is exceeded with probability at most δ, and reached with more.
                return (max(p[i] / q[i], Fraction(1)) if q[i] else None), tuple(sorted(event))
        return Fraction(1), ()

    def words(self, intensity: Exact) -> str:
        return (
            f"ε = {amount(intensity)}, δ = {amount(self.delta)}: except for outputs that come with probability at most "
            f"{amount(self.delta)}, no output becomes more than {times(intensity)} times as likely when the data "
            "change by one unit."
        )

    def latex(self, intensity: Exact) -> str:
        return (
            rf"P\left(\ln\tfrac{{P}}{{P'}} > \varepsilon\right) \le \delta, \quad {self._stated(intensity)},\ "
            rf"\delta = {latex_number(self.delta)}"
        )


@dataclass(frozen=True, slots=True)
class Relaxed(_Loss, WithDelta):
    """Relaxed (ε, δ_a, δ_p): outside a set of outputs of probability δ_p, (ε, δ_a) holds, both ways.

    delta: δ_a, a rational in [0, 1). outside: δ_p, a rational in [0, 1). Which outputs are given up is a knapsack;
    it is solved exactly while few subsets are feasible, and enclosed beyond (tails.md).
    """

    delta: Fraction
    outside: Fraction

    kind: ClassVar[str] = "relaxed"
    parameters: ClassVar[tuple[str, ...]] = ("delta", "outside")

    def __post_init__(self) -> None:
        WithDelta.__post_init__(self)
        object.__setattr__(self, "outside", delta_parameter(self.outside, "outside"))

    def _mass(self) -> Fraction:
        return min(self.delta + self.outside, Fraction(1))

    def _enclosed(self, p: Sequence[Number], q: Sequence[Number]) -> Found:
        # δ_a + δ_p as one δ is weaker, and giving up nothing is one way.
        low, high = epsilon(p, q, True, self._mass()), epsilon(p, q, True, self.delta)
        return Found(lower=low.lower, upper=high.upper, event=low.event)

    def _key(self, p: Sequence[Fraction], q: Sequence[Fraction]) -> Key | None:
        """The smallest factor over all sets that may be given up; None where there are too many."""
        order = by_ratio(p, q)
        worst = [i for i in order if p[i] > q[i]]
        # (mass given up, set): a set is undominated if no other gives up the same or less and contains it.
        sets: list[tuple[Fraction, frozenset[int]]] = [(Fraction(0), frozenset())]
        for i in worst:
            sets += [(mass + p[i], kept | {i}) for mass, kept in sets if mass + p[i] <= self.outside]
            if len(sets) > _MOST_SUBSETS:
                return None
        best: Fraction | None = None
        event: tuple[int, ...] = tuple(sorted(worst))
        for mass, dropped in sets:
            # Only maximal sets matter: giving up more never hurts.
            if any(mass + p[i] <= self.outside for i in worst if i not in dropped):
                continue
            factor, here = factor_outside(p, q, [i for i in order if i not in dropped], self.delta)
            if factor is not None and (best is None or factor < best):
                best, event = factor, here
                if best == 1:
                    break
        return best, event

    def words(self, intensity: Exact) -> str:
        return (
            f"ε = {amount(intensity)}, δ = {amount(self.delta)}, outside = {amount(self.outside)}: except for outputs "
            f"that come with probability at most {amount(self.outside)}, the probability of any event grows to at most "
            f"{times(intensity)} times what it was, plus {amount(self.delta)}, when the data change by one unit."
        )

    def latex(self, intensity: Exact) -> str:
        return (
            rf"\exists B: P(B) \le \delta_p,\ P(S \setminus B) \le e^{{\varepsilon}}\,P'(S \setminus B) + \delta_a, "
            rf"\quad {self._stated(intensity)},\ \delta_a = {latex_number(self.delta)},\ "
            rf"\delta_p = {latex_number(self.outside)}"
        )


def factor_outside(p: Sequence[Fraction], q: Sequence[Fraction], order: Sequence[int], delta: Fraction) -> Key:
    """The largest (P(S) − δ)/Q(S) over prefixes S of the order, at least 1; None is infinite."""
    both, _ = whole((delta, *p, *q))
    tops, bottoms = both[1 : len(p) + 1], both[len(p) + 1 :]
    # best = top/bottom, compared crosswise in whole numbers.
    top, bottom, event, power, level = 1, 1, 0, -both[0], 0
    for size, i in enumerate(order, 1):
        power, level = power + tops[i], level + bottoms[i]
        if power > 0 and not level:
            return None, tuple(sorted(order[:size]))
        if level and power * bottom > top * level:
            top, bottom, event = power, level, size
    return Fraction(top, bottom), tuple(sorted(order[:event]))


@dataclass(frozen=True, slots=True)
class RangeBounded(_Loss):
    """Range-bounded privacy: ε is the largest minus the smallest loss ln P/P' over all outputs."""

    kind: ClassVar[str] = "range-bounded"

    def _loose(self, p: Sequence[Number], q: Sequence[Number]) -> Found:
        pairs = [(a, b) for a, b in zip(p, q, strict=True) if not (is_zero(a) and is_zero(b))]
        sure = [_ratio(a, b) for a, b in pairs if ball(a) > 0 and ball(b) > 0]
        low = ZERO
        if sure:
            top, bottom = larger([r[0] for r in sure]), _smallest([r[1] for r in sure])
            ratio = (top / bottom).lower()
            low = ratio.log().lower() if ratio > 1 else ZERO
        if any((is_zero(a) and ball(b) > 0) or (is_zero(b) and ball(a) > 0) for a, b in pairs):
            return Found.of(FOREVER, likelier(p, q))
        if len(sure) < len(pairs):
            return Found(lower=low, upper=INFINITE, event=likelier(p, q))
        wide = (larger([r[1] for r in sure]) / _smallest([r[0] for r in sure])).upper()
        return Found(lower=low, upper=wide.log().upper() if wide > 1 else ZERO, event=likelier(p, q))

    def _key(self, p: Sequence[Fraction], q: Sequence[Fraction]) -> Key:
        either = [i for i in range(len(p)) if p[i] or q[i]]
        apart = [i for i in either if not p[i] or not q[i]]
        if apart:
            return None, (apart[0],)
        ratio = {i: p[i] / q[i] for i in either}
        top, bottom = max(either, key=lambda i: ratio[i]), min(either, key=lambda i: ratio[i])
        return ratio[top] / ratio[bottom], tuple(sorted({top, bottom}))

    def words(self, intensity: Exact) -> str:
        return (
            f"ε = {amount(intensity)}: when the data change by one unit, the factors by which two outputs become more "
            f"likely differ by a factor of at most {times(intensity)}."
        )

    def latex(self, intensity: Exact) -> str:
        return (
            rf"\max \ln\tfrac{{P}}{{P'}} - \min \ln\tfrac{{P}}{{P'}} \le \varepsilon, \quad {self._stated(intensity)}"
        )
