"""Two laws that an attacker must not tell apart, and the largest measure over many such pairs."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from operator import mul
from typing import TypeAlias

from quincunx.numbers import Ball, precision
from quincunx.spec import Found, Standard, sieve, whole
from quincunx.taxonomy.answer import Witness
from quincunx.taxonomy.value import Value, above, joined

Law: TypeAlias = tuple[Fraction, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """An ordered pair of laws, the first against the second.

    first, second: what each assumes, for people. x, y: the datasets, where each law is one dataset's. position: the
    record in which they differ, where it is one. distance: how far apart they count as. weight: of a random case.
    labels: what the laws are laws of, where it is not the output alone.
    """

    p: Law
    q: Law
    first: str
    second: str
    x: str | None = None
    y: str | None = None
    position: int | None = None
    distance: Fraction = Fraction(1)
    weight: Fraction = Fraction(1)
    labels: tuple[str, ...] | None = None

    def witness(self, event: Sequence[int], outputs: Sequence[Hashable]) -> Witness:
        """The event and its probability under both laws."""
        return Witness(
            first=self.first,
            second=self.second,
            event=tuple(outputs[i] for i in event),
            probability=(sum((self.p[i] for i in event), Fraction(0)), sum((self.q[i] for i in event), Fraction(0))),
        )


def measured(standard: Standard, case: Case) -> tuple[Value, Found]:
    """The measure of one case in one direction, divided by its distance."""
    with precision(256):
        if case.p == case.q:
            return Value.of(Fraction(0)), Found.of((Ball(0), Ball(0)), (), None)
        found = standard._found(case.p, case.q, True)
        if found.key is not None:
            return Value.of(standard._from_key(found.key)).over(case.distance), found
        return Value.between(found.lower, found.upper).over(case.distance), found


def floats(cases: Sequence[Case]) -> tuple[sieve.Floats, list[tuple[int, int]]] | None:
    """The different laws as floats, and each case as a pair of places among them."""
    place: dict[int, int] = {}
    laws: list[Law] = []
    for case in cases:
        for law in (case.p, case.q):
            if id(law) not in place:
                place[id(law)] = len(laws)
                laws.append(law)
    # Laws on different things are filled up with impossible outputs, which change no measure.
    width = max(map(len, laws), default=0)
    padded = [law if len(law) == width else law + (Fraction(0),) * (width - len(law)) for law in laws]
    rounded = sieve.rounded(padded) if laws else None
    return None if rounded is None else (rounded, [(place[id(case.p)], place[id(case.q)]) for case in cases])


def worst(standard: Standard, cases: Sequence[Case]) -> tuple[Value, int, Found]:
    """The largest measure over distance, the case that has it, and its event. `cases` is not empty."""
    known: dict[int, tuple[Value, Found]] = {}
    # Ties are common, and what is equal is measured once.
    seen: dict[tuple[Law, Law, Fraction], tuple[Value, Found]] = {}

    def certain(i: int) -> float:
        case = cases[i]
        key = (case.p, case.q, case.distance)
        if key not in seen:
            seen[key] = measured(standard, case)
        known[i] = seen[key]
        return known[i][0].bounds[0]

    kept = list(range(len(cases)))
    table = floats(cases) if len(cases) > 1 else None
    bounds = None if table is None else sieve.bounds(standard, *table)
    if bounds is not None:
        kept = sieve.contenders(*sieve.over(bounds, [case.distance for case in cases]), certain)
    else:
        for i in kept:
            certain(i)
    best = kept[0]
    for i in kept[1:]:
        if above(known[i][0], known[best][0]):
            best = i
    return joined([known[i][0] for i in kept], kept.index(best)), best, known[best][1]


def grouped(cases: Sequence[Case], key: Callable[[Case], Hashable]) -> dict[Hashable, list[Case]]:
    """The cases by a key, in the order in which keys first occur."""
    groups: dict[Hashable, list[Case]] = {}
    for case in cases:
        groups.setdefault(key(case), []).append(case)
    return groups


def mixture(laws: Sequence[Law], weights: Sequence[Fraction]) -> Law:
    """The law of a dataset drawn with the given weights (not all 0; they are normalised)."""
    kept = [(law, w) for law, w in zip(laws, weights, strict=True) if w]
    if len(kept) == 1:
        return kept[0][0]
    # Over common denominators sums are of whole numbers, which have no common divisors to look for.
    shares = whole([w for _, w in kept])
    rows = [whole(law) for law, _ in kept]
    unit = math.lcm(*(denominator for _, denominator in rows))
    factors = [share * (unit // denominator) for share, (_, denominator) in zip(shares[0], rows, strict=True)]
    total = unit * sum(shares[0])
    columns = zip(*(row for row, _ in rows), strict=True)
    return tuple(Fraction(sum(map(mul, factors, column)), total) for column in columns)


def times(factor: Fraction, law: Law) -> list[Fraction]:
    """Every probability of a law times a factor."""
    row, unit = whole(law)
    return [Fraction(factor.numerator * x, factor.denominator * unit) for x in row]
