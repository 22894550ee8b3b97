"""Verification by enumeration: does a finite mechanism satisfy a specification, and at which smallest intensity?"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cmp_to_key
from math import inf
from typing import TYPE_CHECKING, Any, Final, Protocol

import numpy as np

from quincunx.errors import SpecificationError
from quincunx.numbers import Ball, Exact, amount, ball, float_above, float_below, near, precision
from quincunx.spec import sieve
from quincunx.spec.blocks import Blocks
from quincunx.spec.domain import Domain, Finite
from quincunx.spec.drawn import Drawn
from quincunx.spec.order import at_most, largest, multiple
from quincunx.spec.unit_base import Pair
from quincunx.spec.varying import Varying

if TYPE_CHECKING:
    from quincunx.spec.standard import Least

Number = Fraction | Ball
_BITS: Final = 256


class FiniteMechanism(Protocol):
    """A mechanism on a finite world: `law(x)` lists the probabilities of `outputs`, in their order."""

    @property
    def inputs(self) -> Sequence[Any]: ...
    @property
    def outputs(self) -> Sequence[Any]: ...
    def law(self, x: Any, /) -> Sequence[Number]: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Witness:
    """The pair of datasets that leaks most, and an event that shows it.

    `x`, `x_prime`: the datasets; `event`: the outputs that make up the event S; `universe`: the universe that
    contains both; `probability` = P_x(S) and `probability_prime` = P_x'(S).
    """

    x: Hashable
    x_prime: Hashable
    event: tuple[Hashable, ...]
    universe: str
    probability: Number
    probability_prime: Number

    def __str__(self) -> str:
        event = "{" + ", ".join(str(output) for output in self.event) + "}"
        first, second = _short(self.probability), _short(self.probability_prime)
        return f"the event {event} has probability {first} under {self.x!r} and {second} under {self.x_prime!r}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What enumeration found.

    `status`: "holds" (proved), "fails" (refuted) or "undecided" (the enclosure contains the stated intensity).
    `intensity`: a float certainly not below the smallest intensity that would do in every universe; inf if none.
    `bounds`: floats (lower, upper) around that smallest intensity. `exact`: its exact value, where known. `witness`:
    the pair that leaks most (of those that break the specification, where it fails); None only when no two datasets
    of a universe are at distance 1.
    """

    status: str
    intensity: float
    bounds: tuple[float, float]
    exact: Exact | None
    witness: Witness | None

    @property
    def holds(self) -> bool:
        """True only when proved."""
        return self.status == "holds"

    def __bool__(self) -> bool:
        return self.holds


@dataclass(frozen=True, slots=True, kw_only=True)
class _Pair:
    x: Hashable
    x_prime: Hashable
    universe: str
    distance: Fraction
    p: Sequence[Number]
    q: Sequence[Number]
    least: Least
    # The smallest intensity for the pair, least / distance: exactly, where it is a rational or a logarithm of one, and
    # between two floats.
    exact: Exact | None = field(init=False)
    bounds: tuple[float, float] = field(init=False)

    def __post_init__(self) -> None:
        least = self.least
        value = None if least.exact is None else multiple(least.exact, 1 / self.distance)
        object.__setattr__(self, "exact", None if isinstance(value, Ball) else value)
        with precision(_BITS):
            distance = ball(self.distance)
            ends = (least.lower, least.upper) if least.exact is None else (ball(least.exact),) * 2
            bounds = max(float_below(ends[0] / distance), 0.0), float_above(ends[1] / distance)
        object.__setattr__(self, "bounds", bounds)

    def within(self, intensity: Exact) -> bool | None:
        """Whether least ≤ intensity · distance; None where the enclosure leaves it open."""
        if self.least.exact is not None:
            return at_most(self.least.exact, intensity, self.distance)
        if at_most(self.least.upper, intensity, self.distance):
            return True
        return False if at_most(self.least.lower, intensity, self.distance) is False else None


def judge(spec: Blocks, mechanism: FiniteMechanism) -> Verdict:
    """Does the mechanism satisfy the specification at its stated intensity, in every universe?"""
    if isinstance(spec.intensity, Drawn):
        return drawn_verdict(spec, mechanism, spec.intensity, judged=True)
    found = list(_pairs(spec, mechanism))
    broken, open_ = [], False
    for pair in found:
        within = pair.within(spec.at(pair.x, pair.x_prime, pair.universe))
        open_ = open_ or within is None
        if within is False:
            broken.append(pair)
    status = "fails" if broken else "undecided" if open_ else "holds"
    return _verdict(status, found, _worst(broken or found), mechanism)


def tightest(spec: Blocks, mechanism: FiniteMechanism) -> Verdict:
    """The smallest intensity at which the other four blocks hold; the status is "fails" if no finite one does."""
    if isinstance(spec.intensity, Drawn):
        return drawn_verdict(spec, mechanism, spec.intensity, judged=False)
    found = list(_pairs(spec, mechanism))
    worst = _worst(found)
    status = "fails" if worst is not None and worst.bounds[0] == inf else "holds"
    if worst is not None and status == "holds" and max(pair.bounds[1] for pair in found) == inf:
        status = "undecided"
    return _verdict(status, found, worst, mechanism)


def _pairs(spec: Blocks, mechanism: FiniteMechanism) -> Iterator[_Pair]:
    """The pairs of each universe that could be the worst of those with one intensity; those left out are certainly
    below one that is kept."""
    domain = finite(spec.domain, "holds")
    laws = _laws(domain, mechanism)
    place = {dataset: i for i, dataset in enumerate(laws)}
    floats = sieve.rounded(list(laws.values())) if spec.standard.kind in sieve.SIEVES else None
    known: dict[tuple[Hashable, Hashable], Least] = {}
    measure = spec.standard.ahead if spec.unit.directed else spec.standard.least
    for universe, datasets in spec.scope.universes(domain):
        for listed in _alike(spec, universe, list(spec.unit.protected_pairs(datasets, domain))):

            def made(i: int, universe: str = universe, listed: Sequence[Pair] = listed) -> _Pair:
                x, x_prime, distance = listed[i]
                if (x, x_prime) not in known:
                    with precision(_BITS):
                        known[x, x_prime] = measure(laws[x], laws[x_prime])
                least, p, q = known[x, x_prime], laws[x], laws[x_prime]
                return _Pair(x=x, x_prime=x_prime, universe=universe, distance=distance, p=p, q=q, least=least)

            kept = list(range(len(listed)))
            if floats is not None and len(listed) > 1:
                ends = [(place[x], place[x_prime]) for x, x_prime, _ in listed]
                # Both directions at once: the ordered pairs, and the same reversed unless the unit has a direction.
                back = [] if spec.unit.directed else [(j, i) for i, j in ends]
                found = sieve.bounds(spec.standard, floats, ends + back)
                if found is not None:
                    low, high = (np.maximum(side[: len(ends)], side[-len(ends) :]) for side in found)
                    bounds = sieve.over((low, high), [distance for _, _, distance in listed])
                    kept = sieve.contenders(*bounds, lambda i, made=made: made(i).bounds[0])  # type: ignore[misc]
            yield from (made(i) for i in kept)


def _alike(spec: Blocks, universe: str, pairs: Sequence[Pair]) -> list[list[Pair]]:
    """The pairs by their stated intensity: only among equals is the worst enough."""
    if not isinstance(spec.intensity, Varying):
        return [list(pairs)]
    groups: dict[Exact, list[Pair]] = {}
    for pair in pairs:
        groups.setdefault(spec.at(pair[0], pair[1], universe), []).append(pair)
    return list(groups.values())


def drawn_verdict(spec: Blocks, mechanism: FiniteMechanism, stated: Drawn, *, judged: bool) -> Verdict:
    """For all but a share of the drawn pairs: the mass of those that break the bound, or the quantile of all."""
    domain = finite(spec.domain, "holds")
    laws, weights = _laws(domain, mechanism), stated.pairs()
    measure = spec.standard.ahead if spec.unit.directed else spec.standard.least
    found: list[tuple[_Pair, Fraction]] = []
    seen: set[tuple[Hashable, Hashable]] = set()
    for universe, datasets in spec.scope.universes(domain):
        for x, y, distance in spec.unit.protected_pairs(datasets, domain):
            weight = weights.get((x, y), Fraction(0))
            weight += Fraction(0) if spec.unit.directed else weights.get((y, x), Fraction(0))
            if weight and (x, y) not in seen:
                seen.add((x, y))
                least = measure(laws[x], laws[y])
                pair = _Pair(x=x, x_prime=y, universe=universe, distance=distance, p=laws[x], q=laws[y], least=least)
                found.append((pair, weight))
    found.sort(key=cmp_to_key(_falling))
    broken = sum((w for pair, w in found if pair.within(stated.value) is False), Fraction(0))
    doubtful = sum((w for pair, w in found if pair.within(stated.value) is None), Fraction(0))
    # The first pair that is not excused when the worst are: its value is the quantile.
    left, at = Fraction(0), None
    for pair, weight in found:
        left += weight
        if left > stated.share:
            at = pair
            break
    ends = [_quantile([(pair.bounds[side], w) for pair, w in found], stated.share) for side in (0, 1)]
    exact = Fraction(0) if at is None else at.exact
    if any(pair.exact is None and pair.bounds[0] < inf for pair, _ in found):
        # An enclosure may hide in which order the pairs are.
        exact = None
    status = "fails" if broken > stated.share else "undecided" if broken + doubtful > stated.share else "holds"
    if not judged:
        status = "fails" if ends[0] == inf else "undecided" if ends[1] == inf else "holds"
    witness = None if at is None else _witness(at, mechanism.outputs)
    return Verdict(status=status, intensity=ends[1], bounds=(ends[0], ends[1]), exact=exact, witness=witness)


def _falling(one: tuple[_Pair, Fraction], other: tuple[_Pair, Fraction]) -> int:
    return -1 if _above(one[0], other[0]) else 1 if _above(other[0], one[0]) else 0


def _quantile(values: Sequence[tuple[float, Fraction]], share: Fraction) -> float:
    """The smallest number that all but a share of the mass are at most."""
    left = Fraction(0)
    for value, weight in sorted(values, key=lambda item: -item[0]):
        left += weight
        if left > share:
            return value
    return 0.0


def finite(domain: Domain, where: str) -> Finite:
    """The domain, if it can be enumerated."""
    if isinstance(domain, Finite):
        return domain
    hint = "State the same blocks on a Finite domain; for large domains use the mechanism's loss, which is proved."
    got = type(domain).__name__
    raise SpecificationError("only a finite world can be checked by enumeration", where=where, got=got, hint=hint)


def _laws(domain: Finite, mechanism: FiniteMechanism) -> dict[Hashable, Sequence[Number]]:
    laws: dict[Hashable, Sequence[Number]] = {}
    for x in mechanism.inputs:
        dataset = domain.canonical(x)
        if dataset in laws:
            hint = "The mechanism tells them apart: state the specification with ordered=True."
            raise SpecificationError("two inputs are the same multiset of records", where="mechanism", hint=hint)
        laws[dataset] = mechanism.law(x)
    missing = sum(dataset not in laws for dataset in domain.datasets)
    if missing:
        hint = "A mechanism must have a law for every dataset of the domain."
        got = f"{missing} of {len(domain.datasets)} missing"
        raise SpecificationError("the mechanism is not defined on the domain", where="mechanism", got=got, hint=hint)
    return laws


def _worst(found: Sequence[_Pair]) -> _Pair | None:
    worst: _Pair | None = None
    for pair in found:
        if worst is None or _above(pair, worst):
            worst = pair
    return worst


def _above(pair: _Pair, other: _Pair) -> bool:
    mine, theirs = pair.exact, other.exact
    if mine is not None and theirs is not None:
        return at_most(mine, theirs) is False
    return pair.bounds > other.bounds


def _verdict(status: str, found: Sequence[_Pair], shown: _Pair | None, mechanism: FiniteMechanism) -> Verdict:
    worst = _worst(found)
    if worst is None or shown is None:
        return Verdict(status=status, intensity=0.0, bounds=(0.0, 0.0), exact=Fraction(0), witness=None)
    lower = max(pair.bounds[0] for pair in found)
    upper = max(pair.bounds[1] for pair in found)
    known = [pair.exact for pair in found if pair.exact is not None]
    top = largest(known) if known else None
    exact = top if top is not None and all(pair.within(top) for pair in found) else None
    witness = _witness(shown, mechanism.outputs)
    return Verdict(status=status, intensity=upper, bounds=(lower, upper), exact=exact, witness=witness)


def _witness(pair: _Pair, outputs: Sequence[Hashable]) -> Witness:
    event = pair.least.event
    ends = [(pair.x, _total(pair.p, event)), (pair.x_prime, _total(pair.q, event))]
    (x, probability), (x_prime, probability_prime) = reversed(ends) if pair.least.swapped else ends
    return Witness(
        x=x,
        x_prime=x_prime,
        event=tuple(outputs[i] for i in event),
        universe=pair.universe,
        probability=probability,
        probability_prime=probability_prime,
    )


def _total(law: Sequence[Number], event: Sequence[int]) -> Number:
    total: Any = Fraction(0)
    for i in event:
        value = law[i]
        exact = isinstance(total, Fraction) and isinstance(value, Fraction)
        total = total + value if exact else _as_ball(total) + _as_ball(value)
    return total  # type: ignore[no-any-return]


def _as_ball(value: Number) -> Ball:
    with precision(_BITS):
        return ball(value)


def _short(value: Number) -> str:
    return amount(value) if isinstance(value, Fraction) else f"about {near(float(value.mid()))}"
