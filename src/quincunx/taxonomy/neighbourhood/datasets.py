"""N of whole datasets: any two, around one of them, listed, within a distance or a constraint."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, cast

from quincunx.numbers import positive
from quincunx.taxonomy.dataset import Record
from quincunx.taxonomy.neighbourhood.records import OneRecord, Unbounded
from quincunx.taxonomy.neighbourhood.relation import (
    ONE,
    Neighbourhood,
    Pair,
    Secret,
    by_difference,
    differences,
)
from quincunx.taxonomy.world import World


@dataclass(frozen=True, slots=True)
class FreeLunch(Neighbourhood):
    """Any two datasets."""

    def pairs(self, world: World) -> Iterator[Pair]:
        return by_difference(world, bool)

    def secrets(self, world: World) -> list[Secret]:
        return [
            (f"dataset {x}", frozenset({x}), f"dataset {y}", frozenset({y}), None) for x, y, _, _ in self.pairs(world)
        ]

    def phrase(self) -> str:
        return "anything at all about the data"


@dataclass(frozen=True, slots=True)
class Individual(Neighbourhood):
    """One dataset and those that differ from it in one record."""

    needs: ClassVar[tuple[str, ...]] = ("dataset",)

    def pairs(self, world: World) -> Iterator[Pair]:
        centre = world.needed("dataset", "individual protection")
        return (pair for pair in OneRecord().pairs(world) if centre in pair[:2])

    def phrase(self) -> str:
        return "anything about an individual of one dataset"


@dataclass(frozen=True, slots=True)
class PerInstance(Neighbourhood):
    """One dataset and the one without one of its records."""

    needs: ClassVar[tuple[str, ...]] = ("dataset", "position")

    def pairs(self, world: World) -> Iterator[Pair]:
        centre, place = world.needed("dataset", "per-instance protection"), world.needed("position", "it")
        found = Unbounded().pairs(world)
        return (pair for pair in found if centre in pair[:2] and pair[2] == place)

    def phrase(self) -> str:
        return "the presence of one individual in one dataset"


@dataclass(frozen=True, slots=True)
class Listed(Neighbourhood):
    """The pairs of datasets that the world lists, in both directions."""

    needs: ClassVar[tuple[str, ...]] = ("neighbours",)

    def pairs(self, world: World) -> Iterator[Pair]:
        found = cast("Sequence[tuple[str, str]]", world.needed("neighbours", "a generic relation"))
        for x, y in dict.fromkeys([*found, *((y, x) for x, y in found)]):
            places = differences(world, x, y)
            yield x, y, places[0] if len(places) == 1 else None, ONE

    def secrets(self, world: World) -> list[Secret]:
        return [
            (f"dataset {x}", frozenset({x}), f"dataset {y}", frozenset({y}), None) for x, y, _, _ in self.pairs(world)
        ]

    def phrase(self) -> str:
        return "anything in a stated relation"


@dataclass(frozen=True, slots=True)
class Constrained(Neighbourhood):
    """Datasets within a distance. radius: Δ. common: only possible datasets that share a record (distributional)."""

    radius: Fraction = Fraction(1)
    common: bool = False
    needs: ClassVar[tuple[str, ...]] = ("distance",)

    def __post_init__(self) -> None:
        object.__setattr__(self, "radius", positive(self.radius, "radius"))

    def pairs(self, world: World) -> Iterator[Pair]:
        far = cast("Mapping[tuple[str, str], Fraction]", world.needed("distance", "a constrained definition"))
        allowed = world.needed("possible", "distributional privacy") if self.common else None
        for x, y, place, _ in by_difference(world, bool):
            if (x, y) not in far or far[x, y] > self.radius:
                continue
            if allowed is not None:
                shared = set(world.datasets[x]) & set(world.datasets[y]) - {None}
                if not {x, y} <= cast("frozenset[str]", allowed) or not shared:
                    continue
            yield x, y, place, ONE

    def phrase(self) -> str:
        rest = " among possible datasets with a record in common" if self.common else ""
        return f"anything within a distance of {self.radius}{rest}"


@dataclass(frozen=True, slots=True)
class SensitivityInduced(Neighbourhood):
    """Datasets whose statistic differs by at most its sensitivity, the most that one record changes it."""

    needs: ClassVar[tuple[str, ...]] = ("statistic",)

    def pairs(self, world: World) -> Iterator[Pair]:
        f = cast("Mapping[str, Fraction]", world.needed("statistic", "a sensitivity-induced relation"))
        reach = max((abs(f[x] - f[y]) for x, y, _, _ in OneRecord().pairs(world)), default=Fraction(0))
        return (pair for pair in by_difference(world, bool) if abs(f[pair[0]] - f[pair[1]]) <= reach)

    def phrase(self) -> str:
        return "anything that moves a statistic by no more than one record can"


@dataclass(frozen=True, slots=True)
class Induced(Neighbourhood):
    """Possible datasets with no possible dataset between them: no proper part of the changes leads to one."""

    needs: ClassVar[tuple[str, ...]] = ("possible",)

    def pairs(self, world: World) -> Iterator[Pair]:
        allowed = sorted(cast("frozenset[str]", world.needed("possible", "induced neighbours")))
        moves = {(x, y): self._moves(world, x, y) for x in allowed for y in allowed if x != y}
        for (x, y), change in moves.items():
            if not any(moves[x, z] < change for z in allowed if z not in (x, y)):
                yield x, y, next(iter(change))[0] if len(change) == 1 else None, ONE

    def _moves(self, world: World, x: str, y: str) -> frozenset[tuple[int, Record | None]]:
        return frozenset((i, world.datasets[y][i]) for i in differences(world, x, y))

    def phrase(self) -> str:
        return "the smallest changes that public constraints allow"


@dataclass(frozen=True, slots=True)
class Metric(Neighbourhood):
    """All pairs at a finite distance, each with its distance."""

    needs: ClassVar[tuple[str, ...]] = ("distance",)

    def pairs(self, world: World) -> Iterator[Pair]:
        far = cast("Mapping[tuple[str, str], Fraction]", world.needed("distance", "a metric definition"))
        for x, y, place, _ in by_difference(world, bool):
            if (x, y) in far:
                yield x, y, place, far[x, y]

    def phrase(self) -> str:
        return "anything about the data, in proportion to a distance"
