"""A parameter that was computed: exactly where it can be, between certified floats everywhere."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cmp_to_key
from typing import Final

from quincunx.numbers import Ball, Exact, Log, ball, float_above, float_below, precision, text
from quincunx.spec import at_most, multiple

_BITS: Final = 256


@dataclass(frozen=True, slots=True, kw_only=True)
class Value:
    """bounds: floats (lower, upper) around the number; upper may be infinite. exact: the number, where it is known."""

    bounds: tuple[float, float]
    exact: Exact | None = None

    @classmethod
    def of(cls, exact: Exact) -> Value:
        """An exact number."""
        with precision(_BITS):
            middle = ball(exact)
            return cls(bounds=(float_below(middle), float_above(middle)), exact=exact)

    @classmethod
    def log(cls, factor: Fraction | None) -> Value:
        """ε from the factor e^ε ≥ 1; None is infinite."""
        if factor is None:
            return INFINITE
        return cls.of(Log(factor)) if factor > 1 else ZERO

    @classmethod
    def between(cls, lower: Ball, upper: Ball) -> Value:
        """What two ends of balls enclose."""
        return cls(bounds=(max(float_below(lower), 0.0), float_above(upper)))

    def over(self, distance: Fraction) -> Value:
        """The value divided by a distance > 0."""
        if distance == 1:
            return self
        if self.exact is not None:
            value = multiple(self.exact, 1 / distance)
            if not isinstance(value, Ball):
                return Value.of(value)
        with precision(_BITS):
            if self.exact is not None:
                ends = (ball(self.exact) / ball(distance),) * 2
            else:
                ends = (Ball(self.bounds[0]) / ball(distance), Ball(self.bounds[1]) / ball(distance))
            return Value.between(*ends)

    def within(self, limit: Exact) -> bool | None:
        """Whether it is at most `limit`; None where the enclosure leaves it open."""
        if self.exact is not None:
            return at_most(self.exact, limit)
        if at_most(Ball(self.bounds[1]), limit):
            return True
        return False if at_most(Ball(self.bounds[0]), limit) is False else None

    @property
    def infinite(self) -> bool:
        """Whether no finite number is enough."""
        return self.bounds[0] == math.inf

    def __float__(self) -> float:
        return self.bounds[1]

    def __str__(self) -> str:
        if self.exact is not None:
            return text.amount(self.exact)
        low, high = self.bounds
        if self.infinite:
            return "∞"
        return f"about {text.near(high)}" if self.narrow else f"{text.below(low)} to {text.above(high)}"

    @property
    def narrow(self) -> bool:
        """Whether the digits that are written are the same at both ends."""
        return self.bounds[1] <= self.bounds[0] * (1 + 1e-5) + 1e-300

    def stated(self, symbol: str) -> str:
        """With its symbol: "ε = ln(3) (about 1.09861)", "ρ ≈ 0.341", "ε = ∞", "ε between 0.1 and 0.25"."""
        if self.exact is not None:
            return text.stated(symbol, self.exact)
        low, high = self.bounds
        if self.infinite:
            return f"{symbol} = ∞"
        if self.narrow:
            return f"{symbol} ≈ {text.near(high)}"
        return f"{symbol} between {text.below(low)} and {text.above(high)}"

    def to_json(self) -> dict[str, object]:
        """The bounds, and the exact number as text where it is known."""
        low, high = ("inf" if math.isinf(x) else x for x in self.bounds)
        return {"lower": low, "upper": high, **({} if self.exact is None else {"exact": str(self.exact)})}


ZERO: Final = Value(bounds=(0.0, 0.0), exact=Fraction(0))
INFINITE: Final = Value(bounds=(math.inf, math.inf))


def above(one: Value, other: Value) -> bool:
    """Whether one is larger, exactly where both are known, by their bounds otherwise."""
    if one.exact is not None and other.exact is not None:
        return at_most(one.exact, other.exact) is False
    return one.bounds > other.bounds


def sorted_values(values: list[Value]) -> list[Value]:
    """In increasing order."""

    def order(a: Value, b: Value) -> int:
        return 1 if above(a, b) else -1 if above(b, a) else 0

    return sorted(values, key=cmp_to_key(order))


def joined(values: list[Value], place: int) -> Value:
    """The largest of some values, the one at `place` leading: its exact number, and bounds that hold for all."""
    best = values[place]
    if best.exact is not None and all(value.within(best.exact) for value in values):
        return best
    return Value(bounds=(max(v.bounds[0] for v in values), max(v.bounds[1] for v in values)))
