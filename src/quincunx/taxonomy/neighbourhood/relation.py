"""N: which change is protected? Ordered pairs of datasets, and the secrets that an uncertain attacker asks about."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from itertools import permutations
from typing import ClassVar, TypeAlias

from quincunx.errors import SpecificationError
from quincunx.taxonomy.case import Case, Law
from quincunx.taxonomy.choice import Choice
from quincunx.taxonomy.dataset import Record
from quincunx.taxonomy.world import World

# two datasets, the position in which they differ (None: several), how far apart they count as
Pair: TypeAlias = tuple[str, str, int | None, Fraction]
# what is assumed in each, the datasets that fit, the position
Secret: TypeAlias = tuple[str, frozenset[str], str, frozenset[str], int | None]
ONE = Fraction(1)


class Neighbourhood(Choice):
    """Pairs of datasets that must look alike."""

    __slots__ = ()
    letter: ClassVar[str] = "N"

    @abstractmethod
    def pairs(self, world: World) -> Iterator[Pair]:
        """The ordered pairs."""

    def cases(self, world: World, laws: Mapping[str, Law]) -> list[Case]:
        """The laws of each pair."""
        return [
            Case(p=laws[x], q=laws[y], first=f"dataset {x}", second=f"dataset {y}", x=x, y=y, position=i, distance=d)
            for x, y, i, d in self.pairs(world)
        ]

    def secrets(self, world: World) -> list[Secret]:
        """Pairs of predicates for an attacker who does not know the rest of the data."""
        del world
        hint = "Choose Bounded, Unbounded, FreeLunch, Listed or Secrets for an attacker with a prior."
        what = f"the neighbourhood {self.name!r} names no secrets about uncertain data"
        raise SpecificationError(what, where="neighbourhood", hint=hint)

    def formula(self) -> str:
        return rf"\forall (D_1, D_2): \text{{{self.phrase()}}}"


def differing(world: World, allowed: Callable[[Record | None, Record | None], bool]) -> Iterator[Pair]:
    """Pairs that differ in one protected position, where `allowed(before, after)`."""
    values = [{records[i] for records in world.datasets.values()} for i in range(world.people)]
    for x, records in world.datasets.items():
        for i in world.protected:
            for record in sorted(values[i], key=lambda r: (r is None, str(r))):
                if record != records[i] and allowed(records[i], record):
                    y = world.changed(x, i, record)
                    if y is not None:
                        yield x, y, i, ONE


def record_secrets(world: World, allowed: Callable[[Record | None, Record | None], bool]) -> list[Secret]:
    """D(i) = t against D(i) = t', for every protected position."""
    found: list[Secret] = []
    for i in world.protected:
        groups: dict[Record | None, set[str]] = {}
        for x, records in world.datasets.items():
            groups.setdefault(records[i], set()).add(x)
        for t, u in permutations(sorted(groups, key=lambda r: (r is None, str(r))), 2):
            if allowed(t, u):
                found.append((said(i, t), frozenset(groups[t]), said(i, u), frozenset(groups[u]), i))
    return found


def said(position: int, record: Record | None) -> str:
    """A fact about one record, for people."""
    text = ", ".join(record) if isinstance(record, tuple) else record
    return f"record {position} absent" if record is None else f"record {position} = {text}"


def by_difference(world: World, allowed: Callable[[tuple[int, ...]], bool]) -> Iterator[Pair]:
    for x, y in permutations(world.datasets, 2):
        places = differences(world, x, y)
        if allowed(places):
            yield x, y, places[0] if len(places) == 1 else None, ONE


def differences(world: World, x: str, y: str) -> tuple[int, ...]:
    """The positions in which two datasets differ."""
    pairs = zip(world.datasets[x], world.datasets[y], strict=True)
    return tuple(i for i, (a, b) in enumerate(pairs) if a != b)
