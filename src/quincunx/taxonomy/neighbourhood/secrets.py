"""N of facts about uncertain data: predicates, distributions, private values."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import ClassVar, cast

from quincunx.errors import SpecificationError
from quincunx.taxonomy.neighbourhood.relation import (
    Neighbourhood,
    Pair,
    Secret,
)
from quincunx.taxonomy.world import World


@dataclass(frozen=True, slots=True)
class Secrets(Neighbourhood):
    """The pairs of predicates that the world lists; an attacker needs a prior."""

    needs: ClassVar[tuple[str, ...]] = ("secrets",)

    def pairs(self, world: World) -> Iterator[Pair]:
        del world
        hint = "Choose background=Noiseless()."
        raise SpecificationError("predicates compare laws only under a prior", where="neighbourhood", hint=hint)

    def secrets(self, world: World) -> list[Secret]:
        found = cast("Iterable[tuple[frozenset[str], frozenset[str]]]", world.needed("secrets", "pufferfish privacy"))
        both = [pair for a, b in found for pair in ((a, b), (b, a))]
        return [(f"one of {_few(a)}", a, f"one of {_few(b)}", b, None) for a, b in both]

    def phrase(self) -> str:
        return "stated secrets"


def _few(names: frozenset[str]) -> str:
    some = sorted(names)
    return ", ".join(some[:3]) + (f" and {len(some) - 3} more" if len(some) > 3 else "")


@dataclass(frozen=True, slots=True)
class Distributions(Neighbourhood):
    """The pairs of priors that the world lists, with their distances where `metric`."""

    metric: bool = False
    needs: ClassVar[tuple[str, ...]] = ("priors", "pairs_of_priors")

    def pairs(self, world: World) -> Iterator[Pair]:
        del world
        hint = "Choose background=Noiseless()."
        raise SpecificationError("priors are compared only by an uncertain attacker", where="neighbourhood", hint=hint)

    def phrase(self) -> str:
        rest = ", in proportion to a distance" if self.metric else ""
        return f"from which of two distributions the data come{rest}"


@dataclass(frozen=True, slots=True)
class PrivateValue(Neighbourhood):
    """The private function of each pair (agg, priv) of the world; for coupled worlds."""

    needs: ClassVar[tuple[str, ...]] = ("coupled",)

    def pairs(self, world: World) -> Iterator[Pair]:
        del world
        hint = "Choose relativisation=CoupledWorlds()."
        raise SpecificationError("private values are compared by a simulator", where="neighbourhood", hint=hint)

    def phrase(self) -> str:
        return "stated private values"
