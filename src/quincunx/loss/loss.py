"""`Loss`: what a mechanism leaks at input distance 1. The currency of the library.

A loss is a composition of laws, each with a count. It answers in every standard it can state with a float that is not
below the certified upper bound; `*_bounds` give both ends; what is impossible is `math.inf`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

from quincunx.errors import DataError, ParameterError
from quincunx.loss.convert import delta_from_pure, delta_from_zcdp
from quincunx.loss.law import Bounds, Law, Profile, Real, Terms
from quincunx.loss.stated import Largest
from quincunx.numbers import (
    Ball,
    ball,
    delta_parameter,
    float_above,
    float_below,
    non_negative,
    positive_integer,
    precision,
)

_PRECISION = 256


class Unit(Protocol):
    """The part of a protection unit that parallel composition asks for."""

    @property
    def moves_between_parts(self) -> bool:
        """Whether one step can take a person out of one part and put them into another."""
        ...


@dataclass(frozen=True, slots=True)
class Loss:
    """What a mechanism leaks at input distance 1: the composition of `terms`, each a law and how often it is used.

    Compose with `a + b`, repeat with `n * a`, and ask: `pure()`, `zcdp()`, `delta(epsilon)`, `epsilon(delta)`.
    """

    terms: tuple[tuple[Law, int], ...] = ()

    def __post_init__(self) -> None:
        counts: dict[Law, int] = {}
        for law, count in self.terms:
            counts[law] = counts.get(law, 0) + count
        ordered = sorted(counts.items(), key=lambda term: repr(term[0]))
        object.__setattr__(self, "terms", tuple(ordered))

    @classmethod
    def of(cls, law: Law) -> Loss:
        """The loss of one use of `law`."""
        return cls(((law, 1),))

    def __add__(self, other: object) -> Loss:
        return Loss(self.terms + other.terms) if isinstance(other, Loss) else NotImplemented

    def __radd__(self, other: object) -> Loss:
        # `sum(losses)` starts at 0.
        return self if isinstance(other, int) and other == 0 else NotImplemented

    def __mul__(self, count: object) -> Loss:
        """The composition of `count` uses: the one place where repetition happens."""
        if isinstance(count, bool) or not isinstance(count, int):
            return NotImplemented
        if count < 0:
            raise ParameterError("a loss is repeated 0 or more times", where="n * loss", got=str(count))
        return Loss(tuple((law, count * uses) for law, uses in self.terms)) if count else Loss()

    __rmul__ = __mul__

    def group(self, k: object) -> Loss:
        """The loss at distance `k`: what protects k people together."""
        size = positive_integer(k, "k")
        return self if size == 1 else Loss(tuple((law.group(size), count) for law, count in self.terms))

    @staticmethod
    def parallel(parts: Iterable[Loss | tuple[Loss, Loss]], *, unit: Unit) -> Loss:
        """The loss of releasing every part of a partition of the records.

        Each part is its loss A under add/remove, or a pair (A, R) with its loss R under replace; R is A.group(2) where
        it is not given. Under add/remove one part changes: the largest A. Under replace a person may move between two
        parts: the largest of every R and every A_i + A_j, i ≠ j.
        """
        if getattr(unit, "group", 1) != 1:
            hint = "Compose for one person, then call .group(k)."
            raise ParameterError("parallel parts are stated for one person", where="unit", hint=hint)
        pairs = [part if isinstance(part, tuple) else (part, part.group(2)) for part in map(_checked_part, parts)]
        if not unit.moves_between_parts:
            return _largest_of([stay for stay, _ in pairs])
        inside = [replace for _, replace in pairs]
        # i ≠ j are positions: two equal parts are two parts.
        across = [a + b for i, (a, _) in enumerate(pairs) for b, _ in pairs[:i]]
        return _largest_of(inside + across)

    def pure(self) -> float:
        """The smallest ε with δ = 0, or the next float above it; `inf` where there is none."""
        return self.pure_bounds()[1]

    def pure_bounds(self) -> tuple[float, float]:
        """Certified lower and upper bound on the smallest ε with δ = 0."""
        return _bounds(lambda: (self.total_pure(),) * 2)

    def zcdp(self) -> float:
        """A ρ such that the loss is ρ-zCDP: D_α ≤ ρ·α for every α > 1."""
        return self.zcdp_bounds()[1]

    def zcdp_bounds(self) -> tuple[float, float]:
        """Certified lower and upper bound on the smallest ρ."""
        return _bounds(self.total_zcdp)

    def delta(self, epsilon: object) -> float:
        """A δ such that the loss is (ε, δ)."""
        return self.delta_bounds(epsilon)[1]

    def delta_bounds(self, epsilon: object) -> tuple[float, float]:
        """Certified lower and upper bound on the smallest δ at `epsilon` ≥ 0."""
        exact = non_negative(epsilon, "epsilon")
        return _bounds(lambda: self.delta_balls(ball(exact)))

    def epsilon(self, delta: object) -> float:
        """An ε such that the loss is (ε, δ)."""
        return self.epsilon_bounds(delta)[1]

    def epsilon_bounds(self, delta: object) -> tuple[float, float]:
        """Certified lower and upper bound on the smallest ε at 0 ≤ `delta` < 1."""
        target = delta_parameter(delta)
        low, high = self.pure_bounds()
        if target == 0 or not self.terms:
            return low, high
        with precision(_PRECISION):
            goal = ball(target)
            upper = _first(lambda e: bool(self.delta_balls(Ball(e))[1] <= goal), high)
            lower = _last(lambda e: bool(self.delta_balls(Ball(e))[0] > goal), upper)
        return lower, upper

    def total_pure(self) -> Real:
        """The total ε: exact where all of it is rational, else a ball at the working precision."""
        return _total_pure(self.terms)

    def total_zcdp(self) -> Bounds:
        """A lower and an upper bound on the total ρ, exact where rational."""
        bounds = [(law.zcdp(), count) for law, count in self.terms]
        return _sum(floor * count for (floor, _), count in bounds), _sum(
            ceiling * count for (_, ceiling), count in bounds
        )

    def delta_balls(self, epsilon: Ball) -> tuple[Ball, Ball]:
        """Balls around bounds on δ(ε): exact where the composition has a profile, else far apart."""
        families = self._families()
        profile = _profile(families[0]) if len(families) == 1 else None
        if profile is not None:
            low, high = profile.delta(epsilon)
            return low.max(Ball(0)), high.max(Ball(0)).min(Ball(1))
        if not self.terms:
            return Ball(0), Ball(0)
        ceiling = delta_from_pure(_ball(self.total_pure()), epsilon)
        ceiling = ceiling.min(delta_from_zcdp(_ball(self.total_zcdp()[1]), epsilon))
        ceiling = ceiling.min(self._one_profile_ceiling(families, epsilon))
        # Leaving out all but one law is post-processing, so its δ is a lower bound.
        floor = Ball(0)
        for law, _ in self.terms:
            single = law.profile([(law, 1)])
            if single is not None:
                floor = floor.max(single.delta(epsilon)[0])
        return floor, ceiling

    def _one_profile_ceiling(self, families: list[Terms], epsilon: Ball) -> Ball:
        # (ε₀, 0) composed with (ε − ε₀, δ) is (ε, δ): spend the pure terms first, and ask the one that is not pure.
        unbounded = [terms for terms in families if not _ball(_total_pure(terms)).is_finite()]
        if len(unbounded) != 1:
            return Ball(1)
        profile = _profile(unbounded[0])
        spent = _sum(_total_pure(terms) for terms in families if terms is not unbounded[0])
        rest = epsilon - _ball(spent)
        return profile.delta(rest)[1] if profile is not None and rest >= 0 else Ball(1)

    def _families(self) -> list[Terms]:
        families: dict[object, list[tuple[Law, int]]] = {}
        for law, count in self.terms:
            families.setdefault(law.family(), []).append((law, count))
        return list(families.values())

    def covers(self, other: Loss) -> bool:
        """Whether this loss certainly dominates `other`; False where it is not known."""
        counts = dict(self.terms)
        if all(counts.get(law, 0) >= count for law, count in other.terms):
            # Leaving out mechanisms is post-processing.
            return True
        mine, theirs = self._families(), other._families()
        if len(mine) != 1 or len(theirs) != 1 or mine[0][0][0].family() != theirs[0][0][0].family():
            return False
        return mine[0][0][0].covers(mine[0], theirs[0])


def _checked_part(part: object) -> Loss | tuple[Loss, Loss]:
    pair = part if isinstance(part, tuple) else (part,)
    if len(pair) not in (1, 2) or not all(isinstance(loss, Loss) for loss in pair):
        raise DataError(
            "a part is a Loss or a pair (add/remove loss, replace loss)", where="parts", got=str(type(part))
        )
    return part  # type: ignore[return-value]


def _largest_of(losses: Sequence[Loss]) -> Loss:
    kept: list[Loss] = []
    for loss in dict.fromkeys(losses):
        if any(other.covers(loss) for other in kept):
            continue
        kept = [other for other in kept if not loss.covers(other)] + [loss]
    if len(kept) <= 1:
        return kept[0] if kept else Loss()
    return Loss.of(Largest(tuple(sorted(kept, key=repr))))


def _profile(terms: Terms) -> Profile | None:
    return terms[0][0].profile(terms)


def _total_pure(terms: Terms) -> Real:
    return _sum(law.pure() * count for law, count in terms)


def _ball(value: Real) -> Ball:
    return ball(value) if isinstance(value, Fraction) else value


def _sum(values: Iterable[Real]) -> Real:
    exact, rough = Fraction(0), None
    for value in values:
        if isinstance(value, Fraction):
            exact += value
        else:
            rough = value if rough is None else rough + value
    return exact if rough is None else ball(exact) + rough


def _bounds(question: Callable[[], Bounds]) -> tuple[float, float]:
    with precision(_PRECISION):
        lower, upper = question()
        return max(0.0, float_below(lower)), max(0.0, float_above(upper))


def _first(holds: Callable[[float], bool], ceiling: float) -> float:
    """A float close above the first ε at which `holds`, itself verified to hold; never above `ceiling`."""
    if holds(0.0):
        return 0.0
    high = 1.0
    while high < ceiling and not holds(high):
        high *= 2.0
        if high > 2.0**1000:
            return math.inf
    high, low = min(high, ceiling), 0.0
    return _bisect(lambda e: not holds(e), low, high)[1]


def _last(exceeds: Callable[[float], bool], ceiling: float) -> float:
    """A float close below the last ε at which `exceeds`, itself verified to exceed; 0 where none does."""
    if not exceeds(0.0):
        return 0.0
    high = ceiling
    if math.isinf(high):
        high = 1.0
        while exceeds(high) and high < 2.0**1000:
            high *= 2.0
    return _bisect(exceeds, 0.0, high)[0]


def _bisect(below: Callable[[float], bool], low: float, high: float) -> tuple[float, float]:
    # `below(low)` is true and `below(high)` is not; both ends keep that, so both ends are verified.
    while high - low > 1e-13 * high:
        middle = (low + high) / 2
        if not low < middle < high:
            break
        if below(middle):
            low = middle
        else:
            high = middle
    return low, high
