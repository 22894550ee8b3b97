"""N seen by an adversary who knows some records and has a prior over the rest (Bayesian, correlated, prior DP)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, permutations
from typing import ClassVar, cast

from quincunx.errors import SpecificationError
from quincunx.numbers import rational
from quincunx.taxonomy.case import Case, Law, mixture
from quincunx.taxonomy.neighbourhood import Neighbourhood, Pair, said
from quincunx.taxonomy.world import World


def priors_of(world: World, why: str) -> Mapping[str, Mapping[str, Fraction]]:
    """The world's priors."""
    return cast("Mapping[str, Mapping[str, Fraction]]", world.needed("priors", why))


def informed(
    world: World, laws: Mapping[str, Law], prior: str, adversaries: Iterable[tuple[int, frozenset[int]]]
) -> Iterator[Case]:
    """For each adversary (target, known positions) and each value of the known ones: the law of the output given one
    value of the target against given another. Values of probability 0 are left out."""
    weights = priors_of(world, "an adversary")[prior]
    for target, known in adversaries:
        groups: dict[tuple[object, ...], dict[object, list[str]]] = {}
        for x, records in world.datasets.items():
            if weights.get(x, 0) and records[target] is not None:
                key = tuple(records[i] for i in sorted(known))
                groups.setdefault(key, {}).setdefault(records[target], []).append(x)
        for values in groups.values():
            made = {t: mixture([laws[x] for x in xs], [weights[x] for x in xs]) for t, xs in values.items()}
            for t, u in permutations(made, 2):
                rest = f" and records {sorted(known)} known" if known else ""
                first, second = (f"{said(target, v)}{rest} under {prior}" for v in (t, u))  # type: ignore[arg-type]
                yield Case(p=made[t], q=made[u], first=first, second=second, position=target)


class _Adversary(Neighbourhood):
    __slots__ = ()

    def pairs(self, world: World) -> Iterator[Pair]:
        del world
        hint = "It already has a prior: keep background=Full()."
        raise SpecificationError("an adversary compares mixtures, not datasets", where="neighbourhood", hint=hint)

    def _adversaries(self, world: World) -> Sequence[tuple[int, frozenset[int]]]:
        return cast("Sequence[tuple[int, frozenset[int]]]", world.needed("adversaries", "an adversary's knowledge"))

    def _priors(self, world: World) -> list[str]:
        return list(priors_of(world, "an adversary"))

    def cases(self, world: World, laws: Mapping[str, Law]) -> list[Case]:
        who = self._adversaries(world)
        return [case for prior in self._priors(world) for case in informed(world, laws, prior, who)]


@dataclass(frozen=True, slots=True)
class Adversary(_Adversary):
    """Adversaries who know some records, with one prior over the rest (Bayesian DP of Yang, Sato and Nakagawa).

    prior: its name; None: the world's first.
    """

    prior: str | None = None
    needs: ClassVar[tuple[str, ...]] = ("priors", "adversaries")

    def _priors(self, world: World) -> list[str]:
        found = priors_of(world, "an adversary")
        if self.prior is not None and self.prior not in found:
            from quincunx.taxonomy.reading import nearest

            hint = nearest(self.prior, found)
            raise SpecificationError("unknown prior", where="neighbourhood", got=repr(self.prior), hint=hint)
        return [self.prior or next(iter(found))]

    def phrase(self) -> str:
        return "the value of a target's record, with what depends on it,"


@dataclass(frozen=True, slots=True)
class Correlated(_Adversary):
    """Every record is a target, nothing is known, one prior describes the correlation (correlated DP)."""

    needs: ClassVar[tuple[str, ...]] = ("priors",)

    def _priors(self, world: World) -> list[str]:
        return [next(iter(priors_of(world, "a correlation")))]

    def _adversaries(self, world: World) -> Sequence[tuple[int, frozenset[int]]]:
        return [(i, frozenset()) for i in world.protected]

    def phrase(self) -> str:
        return "the value of an individual's record, with all that correlates with it,"


@dataclass(frozen=True, slots=True)
class PriorFamily(_Adversary):
    """Adversaries with every prior of a family (prior DP)."""

    needs: ClassVar[tuple[str, ...]] = ("priors", "adversaries")

    def phrase(self) -> str:
        return "the value of a target's record, for every prior of a family,"


@dataclass(frozen=True, slots=True)
class PartlyFixed(_Adversary):
    """Up to k records are fixed and known, the rest come from a prior (Bayesian DP of Leung and Lui). known: k."""

    known: int = 1
    needs: ClassVar[tuple[str, ...]] = ("priors",)

    def __post_init__(self) -> None:
        number = rational(self.known, "known")
        if number.denominator != 1 or number < 0:
            raise SpecificationError("must be a whole number, 0 or greater", where="known", got=str(number))
        object.__setattr__(self, "known", int(number))

    def _adversaries(self, world: World) -> Sequence[tuple[int, frozenset[int]]]:
        return [
            (i, frozenset(others))
            for i in world.protected
            for size in range(min(self.known, world.people - 1) + 1)
            for others in combinations([j for j in range(world.people) if j != i], size)
        ]

    def phrase(self) -> str:
        return f"the value of an individual's record, up to {self.known} others being known,"
