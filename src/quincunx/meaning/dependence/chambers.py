"""Information chambers: the records that must be counted with one record when people depend on each other.

Proof of the bound, and why the Markov boundary does not give one: chambers.md.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import Any, Final

from quincunx.errors import ParameterError, PrivacyError, kind_of
from quincunx.meaning.dependence.joint import Joint
from quincunx.numbers import Ball, Exact, Log, amount, ball, float_above, non_negative, precision
from quincunx.spec import Unit, of_people
from quincunx.spec import intensity as intensities

_BITS: Final = 256
# How many weights a search may add up before it is refused.
_MOST_WORK: Final = 2**25
# Beyond this a factor is shown as a power alone.
_READABLE: Final = 1e9
ABOUT: Final = ("record", "presence")


@dataclass(frozen=True, slots=True, kw_only=True)
class Chamber:
    """A record and the others that must be counted with it: it is jointly independent of everything outside.

    record: the record's number, or its name in a graph. others: S, the rest of the chamber. `size` is c = 1 + |S|.
    """

    record: Hashable
    others: tuple[Hashable, ...]

    @property
    def size(self) -> int:
        """c = 1 + |S|."""
        return 1 + len(self.others)

    def steps(self, *, unit: Unit, about: str = "record") -> int:
        """How many steps of `unit` lie between two datasets that differ inside the chamber alone.

        Replace: c. Add/remove: 2c, one record out and another in for each; with about="presence", c: each record is
        known but for whether it is in the data. Fewer where one step of the unit is a group of people.
        """
        if about not in ABOUT:
            raise ParameterError('must be "record" or "presence"', where="about", got=repr(about)[:40])
        if not of_people(unit):
            hint = "State it for people: unit.Replace() or unit.AddRemove()."
            raise PrivacyError("a chamber counts people", where="unit", got=kind_of(unit), hint=hint)
        return unit.steps_for(self.size, presence=about == "presence")

    def factor(self, epsilon: object, *, unit: Unit, about: str = "record") -> float:
        """e^{kε}, k = `steps`: how far one release under pure ε moves the odds of a statement about the record.

        Certified: not below the true value. epsilon: a number as typed, or Log(3) for ln 3.
        """
        return float_above(growth(intensity(epsilon), self.steps(unit=unit, about=about)))

    def words(self, epsilon: object, *, unit: Unit, about: str = "record") -> str:
        """The bound in words, with its conditions."""
        number, steps = intensity(epsilon), self.steps(unit=unit, about=about)
        alone = Chamber(record=self.record, others=()).steps(unit=unit, about=about)
        # Replacing does not hide how many people there are: a record is in the data, or another one in its place.
        replaced = unit.keeps_number
        what = "any statement about this person" + ("'s record" if replaced else "")
        who, besides = "nobody's record", ""
        if about == "presence":
            # Where the others' records are unknown too, each of them is one removed and another added: more steps.
            what = f"whether this person is in the data{' and not another in their place' if replaced else ''}"
            who = "of everyone in the chamber what their record would be, and of nobody whether they are in the data"
            besides = ", and what this person's would be,"
        others = f"everyone's outside a chamber of {self.size} people, this one included"
        tied = f"This person's record is independent of {others if self.others else 'all others'}."
        return (
            f"{tied} Then one release at ε = {amount(number)} moves the odds of {what} by a factor of at most "
            f"{_times(number, steps)}, for someone who knows {who}. For someone who already knows all other "
            f"records{besides} the factor is at most {_times(number, alone)}, however people depend on each other. "
            "Both bounds are for pure ε and one release; the first is for the prior from which this dependence was "
            "read."
        )


def chamber(joint: Joint, record: int) -> Chamber:
    """The smallest chamber of a record: S is a smallest set with X_i independent of everyone outside S ∪ {i} jointly.

    Where several sets are equally small, the first in the order of the records is taken.
    """
    place = joint.place(record)
    # Who depends on the record alone can be outside no chamber, so the search is among the others.
    forced = [j for j in _others(joint, place) if not _independent(joint, place, (j,))]
    free = [j for j in _others(joint, place) if j not in forced]
    _affordable(joint, len(free))
    # With all of them inside nobody is outside, so one is always found.
    more = next(s for s in _subsets(free) if _independent(joint, place, tuple(j for j in free if j not in s)))
    return Chamber(record=place, others=tuple(sorted((*forced, *more))))


def component(graph: Mapping[Any, Iterable[Hashable]], record: Hashable) -> Chamber:
    """The connected component of a record in a dependence graph: {record: those it depends on directly}.

    It contains a chamber wherever records of different components are independent, as in every prior that is a product
    of factors on the graph's cliques. A graph of pairs found dependent two by two is no such graph: see chambers.md.
    """
    linked = _symmetric(graph)
    if record not in linked:
        raise ParameterError("no such record", where="record", got=repr(record)[:40], hint="Name one of the graph's.")
    reached, waiting = {record}, [record]
    while waiting:
        near = linked[waiting.pop()] - reached
        reached |= near
        waiting += near
    return Chamber(record=record, others=tuple(each for each in linked if each in reached and each != record))


def markov_boundary(joint: Joint, record: int) -> tuple[int, ...]:
    """A smallest set C of others with π(X_i | everyone else) = π(X_i | C). For comparison: it bounds nothing."""
    place = joint.place(record)
    others = _others(joint, place)
    _affordable(joint, len(others))
    # Everyone else is always such a set.
    return next(chosen for chosen in _subsets(others) if _sufficient(joint, place, chosen))


def growth(epsilon: Exact, steps: int) -> Fraction | Ball:
    """e^{steps·ε}: a rational for the logarithm of one, otherwise a ball."""
    if isinstance(epsilon, Log):
        return epsilon.of**steps
    with precision(_BITS):
        return (ball(epsilon) * steps).exp()


def intensity(epsilon: object) -> Exact:
    """ε as typed, 0 or greater."""
    number = intensities.number(epsilon, "epsilon")
    if isinstance(number, Fraction):
        return non_negative(number, "epsilon")
    if number.of < 1:
        raise ParameterError("must be 0 or greater", where="epsilon", got=str(number)[:40])
    return number


def _times(epsilon: Exact, steps: int) -> str:
    """The factor in digits, rounded up: a stated bound must not be below the true one."""
    bound, power = growth(epsilon, steps), "e^ε" if steps == 1 else f"e^({steps}ε)"
    if isinstance(bound, Fraction) and bound.denominator == 1:
        return f"{power} = {amount(bound)}"
    top = float_above(bound)
    if top >= _READABLE:
        return power
    decimals = next((d for d in range(4) if top * 10**d >= 1000), 4)
    return f"{power} ≈ {math.ceil(Fraction(top) * 10**decimals) / 10**decimals:,.{decimals}f}"


def _others(joint: Joint, place: int) -> list[int]:
    return [j for j in range(joint.records) if j != place]


def _subsets(places: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """Every subset, smaller ones first."""
    return (chosen for size in range(len(places) + 1) for chosen in combinations(places, size))


def _affordable(joint: Joint, free: int) -> None:
    if len(joint.cells) << free > _MOST_WORK:
        hint = "Describe who depends on whom instead: component(graph, record)."
        got = f"2^{free} sets of records × {len(joint.cells)} tuples"
        raise ParameterError("too many sets to search", where="joint", got=got, hint=hint)


def _independent(joint: Joint, place: int, outside: Sequence[int]) -> bool:
    """Whether X_i and the records outside are independent: π(a, r) = π(a)·π(r) for all a and r, in whole weights."""
    both, mine, rest = joint.sums((place, *outside)), joint.sums((place,)), joint.sums(outside)
    return all(both.get((*a, *r), 0) * joint.total == w * v for a, w in mine.items() for r, v in rest.items())


def _sufficient(joint: Joint, place: int, chosen: Sequence[int]) -> bool:
    """Whether π(a | everyone else) = π(a | C): π(a, rest)·π(C) = π(a, C)·π(rest) for all a and all possible rests."""
    others = _others(joint, place)
    at = [others.index(j) for j in chosen]
    whole, rest = joint.sums((place, *others)), joint.sums(others)
    part, known, mine = joint.sums((place, *chosen)), joint.sums(chosen), joint.sums((place,))
    for r, weight in rest.items():
        c = tuple(r[j] for j in at)
        if any(whole.get((*a, *r), 0) * known[c] != part.get((*a, *c), 0) * weight for a in mine):
            return False
    return True


def _symmetric(graph: object) -> dict[Hashable, set[Hashable]]:
    hint = 'Write every record once: {"ann": ["bob"], "bob": [], "cy": []}.'
    if not isinstance(graph, Mapping) or not graph:
        got = "nothing" if isinstance(graph, Mapping) else type(graph).__name__
        raise ParameterError("expected {record: neighbours}", where="graph", got=got, hint=hint)
    linked: dict[Hashable, set[Hashable]] = {each: set() for each in graph}
    for each, near in graph.items():
        if isinstance(near, str | bytes) or not isinstance(near, Iterable):
            got = type(near).__name__
            raise ParameterError("expected a list of neighbours", where=f"graph[{each!r}]", got=got, hint=hint)
        for other in near:
            if other not in linked:
                got = repr(other)[:40]
                raise ParameterError("a neighbour is no record", where=f"graph[{each!r}]", got=got, hint=hint)
            linked[each].add(other)
            linked[other].add(each)
    return linked
