"""N of several records: of a person, an element, a group, or of those that depend on each other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, cast

from quincunx.numbers import positive_integer
from quincunx.taxonomy.neighbourhood.relation import (
    Neighbourhood,
    Pair,
    by_difference,
    differences,
)
from quincunx.taxonomy.world import World


@dataclass(frozen=True, slots=True)
class Client(Neighbourhood):
    """All records of one person change, appear or disappear."""

    needs: ClassVar[tuple[str, ...]] = ("persons",)

    def pairs(self, world: World) -> Iterator[Pair]:
        owners = cast("Sequence[tuple[str, str]]", world.needed("persons", "client-level protection"))
        return by_difference(world, lambda places: len({owners[i][0] for i in places}) == 1)

    def phrase(self) -> str:
        return "anything about all the records of a person"


@dataclass(frozen=True, slots=True)
class Element(Neighbourhood):
    """All records of one element of one person change, appear or disappear."""

    needs: ClassVar[tuple[str, ...]] = ("persons",)

    def pairs(self, world: World) -> Iterator[Pair]:
        owners = cast("Sequence[tuple[str, str]]", world.needed("persons", "element-level protection"))
        return by_difference(world, lambda places: len({owners[i] for i in places}) == 1)

    def phrase(self) -> str:
        return "anything about one element of a person"


@dataclass(frozen=True, slots=True)
class Group(Neighbourhood):
    """At most c records differ. size: c."""

    size: int = 2

    def __post_init__(self) -> None:
        object.__setattr__(self, "size", positive_integer(self.size, "size"))

    def pairs(self, world: World) -> Iterator[Pair]:
        return by_difference(world, lambda places: len(places) <= self.size)

    def phrase(self) -> str:
        return f"anything about a group of {self.size}"


@dataclass(frozen=True, slots=True)
class Dependent(Neighbourhood):
    """One record is replaced, and with it at most c − 1 others that depend on it. size: c."""

    size: int = 2
    needs: ClassVar[tuple[str, ...]] = ("dependence",)

    def __post_init__(self) -> None:
        object.__setattr__(self, "size", positive_integer(self.size, "size"))

    def pairs(self, world: World) -> Iterator[Pair]:
        follows = cast("Mapping[int, frozenset[int]]", world.needed("dependence", "dependent protection"))
        for x, y, place, distance in by_difference(world, lambda places: len(places) <= self.size):
            places = differences(world, x, y)
            both = all(world.datasets[z][i] is not None for z in (x, y) for i in places)
            if both and any(set(places) - {i} <= follows.get(i, frozenset()) for i in places):
                yield x, y, place, distance

    def phrase(self) -> str:
        return f"the value of an individual's record and of up to {self.size - 1} that depend on it"
