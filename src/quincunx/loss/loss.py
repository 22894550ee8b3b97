"""`Loss`: what a mechanism leaks at input distance 1. The currency of the library.

A loss is a composition of laws, each with a count. It answers in every standard it can state with a float that is not
below the certified upper bound; `*_bounds` give both ends; what is impossible is `math.inf`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from quincunx.errors import DataError, ParameterError, PrivacyError
from quincunx.loss.curve import Curve, families, total_pure
from quincunx.loss.exchange import from_json, to_json
from quincunx.loss.law import Bounds, Law, Real, kl_of, renyi_of, total, total_of
from quincunx.loss.sampling import Unit, subsampled
from quincunx.loss.solve import first_within, last_beyond
from quincunx.loss.spend import cost
from quincunx.loss.stated import Largest
from quincunx.loss.tradeoff import tradeoff
from quincunx.numbers import (
    Ball,
    Number,
    ball,
    delta_parameter,
    float_above,
    float_below,
    float_near,
    non_negative,
    positive_integer,
    precision,
    probability,
    rational,
)
from quincunx.spec import Additive

_PRECISION = 256


@dataclass(frozen=True, slots=True, eq=False)
class Loss:
    """What a mechanism leaks at input distance 1: the composition of `terms`, each a law and how often it is used.

    Compose with `a + b`, repeat with `n * a`, and ask: `pure()`, `zcdp()`, `delta(epsilon)`, `epsilon(delta)`.
    """

    terms: tuple[tuple[Law, int], ...] = ()

    def __post_init__(self) -> None:
        counts: dict[Law, int] = {}
        for law, count in self.terms:
            counts[law] = counts.get(law, 0) + count
        object.__setattr__(self, "terms", tuple(counts.items()))

    def __eq__(self, other: object) -> bool:
        """The same laws as often; their order does not matter."""
        return frozenset(self.terms) == frozenset(other.terms) if isinstance(other, Loss) else NotImplemented

    def __hash__(self) -> int:
        return hash(frozenset(self.terms))

    @classmethod
    def of(cls, law: Law) -> Loss:
        """The loss of one use of `law`."""
        return cls(((law, 1),))

    @classmethod
    def compose(cls, losses: Iterable[Loss]) -> Loss:
        """The composition of many losses in one go: equal to their sum."""
        return cls(tuple(term for loss in losses for term in loss.terms))

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

    def group(self, k: Number) -> Loss:
        """The loss at distance `k`: what protects k people together."""
        size = positive_integer(k, "k")
        return self if size == 1 else Loss(tuple((law.group(size), count) for law, count in self.terms))

    def subsample(self, rate: Number, *, scheme: str, unit: Unit) -> Loss:
        """The loss of running this on a random sample of people, each in it with probability `rate`, 0 < rate ≤ 1.

        `scheme` "poisson" goes with an add/remove unit, "without-replacement" with replace; other pairs are refused.
        Mechanisms that see one sample compose before it: sample their sum, not each of them.
        """
        law = subsampled(self, rate, scheme, unit)
        return self if law is None else Loss.of(law)

    @staticmethod
    def parallel(parts: Iterable[Loss | tuple[Loss, Loss]], *, unit: Unit) -> Loss:
        """The loss of releasing every part of a partition of the records.

        Each part is its loss A under add/remove, or a pair (A, R) with its loss R under replace; R is A.group(2) where
        it is not given. Under add/remove one part changes: the largest A. Under replace a person may move between two
        parts: the largest of every R and every A_i + A_j, i ≠ j. Units whose steps touch more than one person are
        refused: a step may change every part.
        """
        if not unit.one_person:
            hint = "Add the losses of the parts: a step of this unit may change all of them."
            what = "a change of this unit is not one person's"
            raise PrivacyError(what, where="parallel", got=type(unit).__name__, hint=hint)
        if getattr(unit, "group", 1) != 1:
            hint = "Compose for one person, then call .group(k)."
            raise ParameterError("parallel parts are stated for one person", where="unit", hint=hint)
        checked = [_checked_part(part) for part in parts]
        alone = [part[0] if isinstance(part, tuple) else part for part in checked]
        if not unit.moves_between_parts:
            return _largest_of(alone)
        inside = [part[1] if isinstance(part, tuple) else part.group(2) for part in checked]
        # i ≠ j are positions: two equal parts are two parts.
        across = [a + b for i, a in enumerate(alone) for b in alone[:i]]
        # Where people may also come and go, a part's loss under add/remove counts by itself.
        return _largest_of(inside + across + (alone if unit.kind != "replace" else []))

    def pure(self) -> float:
        """The smallest ε with δ = 0, or the next float above it; `inf` where there is none."""
        return self.pure_bounds()[1]

    def pure_bounds(self) -> tuple[float, float]:
        """Certified lower and upper bound on the smallest ε with δ = 0."""
        return (math.inf, math.inf) if self.stated_delta() else _bounds(lambda: (self.total_pure(),) * 2)

    def zcdp(self) -> float:
        """A ρ such that the loss is ρ-zCDP: D_α ≤ ρ·α for every α > 1."""
        return self.zcdp_bounds()[1]

    def zcdp_bounds(self) -> tuple[float, float]:
        """Certified lower and upper bound on the smallest ρ."""
        return (0.0, math.inf) if self.stated_delta() else _bounds(self.total_zcdp)

    def delta(self, epsilon: Number) -> float:
        """A δ such that the loss is (ε, δ)."""
        return self.delta_bounds(epsilon)[1]

    def delta_bounds(self, epsilon: Number) -> tuple[float, float]:
        """Certified lower and upper bound on the smallest δ at `epsilon` ≥ 0."""
        exact = non_negative(epsilon, "epsilon")
        return _bounds(lambda: self.curve().delta(ball(exact)))

    def epsilon(self, delta: Number) -> float:
        """An ε such that the loss is (ε, δ)."""
        return self.epsilon_bounds(delta)[1]

    def epsilon_bounds(self, delta: Number) -> tuple[float, float]:
        """Certified lower and upper bound on the smallest ε at 0 ≤ `delta` < 1."""
        target = delta_parameter(delta)
        if target < self.stated_delta():
            return 0.0, math.inf
        # At δ = δ₀ what is stated outside δ₀ holds as it stands.
        low, high = _bounds(lambda: (self.total_pure(),) * 2)
        if target == self.stated_delta() or not self.terms:
            return (low if target == 0 else 0.0), high
        with precision(_PRECISION):
            goal = ball(target)
            curve = self.curve()
            guess = curve.guess(float_near(goal))
            width = curve.sharpness(guess)
            upper = first_within(lambda e: curve.upper(Ball(e)), goal, high, guess, width)
            lower = last_beyond(lambda e: curve.lower(Ball(e)), goal, upper, upper * (1 - width), width)
        return lower, upper

    def renyi(self, alpha: Number) -> float:
        """An upper bound on D_α, the Rényi divergence at order `alpha` > 1."""
        return self.renyi_bounds(alpha)[1]

    def renyi_bounds(self, alpha: Number) -> tuple[float, float]:
        """Certified lower and upper bound on D_α."""
        order = rational(alpha, "alpha")
        if order <= 1:
            hint = "At order 1 ask kl(); at infinity, pure()."
            raise ParameterError("must be greater than 1", where="alpha", got=str(order)[:40], hint=hint)
        if self.stated_delta():
            return 0.0, math.inf
        return _bounds(lambda: total_of(self.terms, lambda law: renyi_of(law, order)))

    def gdp(self) -> float:
        """A μ such that the loss is μ-GDP; `inf` where none is known."""
        return self.gdp_bounds()[1]

    def gdp_bounds(self) -> tuple[float, float]:
        """0 and an upper bound on the smallest μ; equal to it where every law is Gaussian."""
        if self.stated_delta():
            return 0.0, math.inf
        squared = _bounds(lambda: (self.total_gdp(),) * 2)
        with precision(_PRECISION):
            low, high = float_below(Ball(squared[0]).sqrt()), float_above(Ball(squared[1]).sqrt())
        return (low if all(law.family() == "gaussian" for law, _ in self.terms) else 0.0), high

    def kl(self) -> float:
        """An upper bound on D_1, the divergence of Kullback and Leibler, in either direction."""
        return self.kl_bounds()[1]

    def kl_bounds(self) -> tuple[float, float]:
        """Certified lower and upper bound on D_1."""
        if self.stated_delta():
            return 0.0, math.inf
        return _bounds(lambda: total_of(self.terms, kl_of))

    def tv(self) -> float:
        """An upper bound on the total variation distance: δ at ε = 0."""
        return self.delta(0)

    def tv_bounds(self) -> tuple[float, float]:
        """Certified lower and upper bound on the total variation distance."""
        return self.delta_bounds(0)

    def tradeoff(self, alpha: Number) -> float:
        """A lower bound on the type II error of every test of level `alpha` that tells the two inputs apart."""
        return self.tradeoff_bounds(alpha)[0]

    def tradeoff_bounds(self, alpha: Number) -> tuple[float, float]:
        """Certified lower and upper bound on the trade-off function at `alpha`."""
        level = probability(alpha, "alpha")
        with precision(_PRECISION):
            return tradeoff(self.curve(), level)

    def spend(self, standard: Additive) -> Fraction:
        """What this costs a budget in the additive parameter of `standard`, exactly or rounded up to 12 decimals.

        ε for Pure and Approximate, ρ for ZCDP, μ² for GaussianDP, D_α for Renyi. A stated δ is asked by
        `stated_delta()` and is charged beside it; standards that cannot be met are refused.
        """
        return cost(standard, self)

    def to_json(self) -> str:
        """JSON text that `from_json` reads, now and later."""
        return to_json(self)

    @classmethod
    def from_json(cls, text: str) -> Loss:
        """The loss that `to_json` wrote. Whatever is unknown is refused."""
        return from_json(text, cls)

    def total_gdp(self) -> Real:
        """The total μ², exact where rational."""
        return total(law.gdp() * count for law, count in self.terms)

    def total_pure(self) -> Real:
        """The total ε: exact where all of it is rational, else a ball at the working precision."""
        return total_pure(self.terms)

    def total_zcdp(self) -> Bounds:
        """A lower and an upper bound on the total ρ, exact where rational."""
        return total_of(self.terms, lambda law: law.zcdp())

    def stated_delta(self) -> Fraction:
        """The total δ of parts that are only approximately private: 0 for every exact law."""
        return sum((law.stated_delta * count for law, count in self.terms), Fraction(0))

    def curve(self) -> Curve:
        """δ(ε) of the composition, ready for many questions."""
        return Curve(self.terms)

    def covers(self, other: Loss) -> bool:
        """Whether this loss certainly dominates `other`; False where it is not known."""
        counts = dict(self.terms)
        if all(counts.get(law, 0) >= count for law, count in other.terms):
            # Leaving out mechanisms is post-processing.
            return True
        mine, theirs = families(self.terms), families(other.terms)
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


def _bounds(question: Callable[[], Bounds]) -> tuple[float, float]:
    with precision(_PRECISION):
        lower, upper = question()
        return max(0.0, float_below(lower)), max(0.0, float_above(upper))
