"""Every pair of neighbours of a specification with a finite domain."""

from __future__ import annotations

import random
from collections.abc import Hashable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction

from quincunx.audit.spaces.space import Space, expect
from quincunx.errors import ParameterError
from quincunx.spec import Specification


@dataclass(frozen=True, slots=True, kw_only=True, init=False, eq=False)
class Finite(Space[Hashable]):
    """All protected pairs of a specification whose domain is finite: replay tries every one of them.

    Pairs lie inside one universe of the scope. A metric unit may set datasets farther than 1 apart; the sensitivity is
    then for each unit of distance.
    """

    specification: Specification
    _pairs: tuple[tuple[Hashable, Hashable, Fraction], ...] = field(init=False, repr=False)

    def __init__(self, specification: Specification) -> None:
        expect(specification, Specification, where="Finite", hint="Give a Specification over domain.Finite.")
        domain, scope, unit = specification.domain, specification.scope, specification.unit
        if not scope.enumerable(domain):
            hint = "Give a specification over domain.Finite, or take Records or Histograms."
            raise ParameterError("the domain cannot be listed", where="Finite", got=domain.kind, hint=hint)
        found = [pair for _, datasets in scope.universes(domain) for pair in unit.protected_pairs(datasets, domain)]
        if not found:
            raise ParameterError("no two datasets are neighbours", where="Finite", hint="Choose another unit or scope.")
        # Stable: the smallest pairs first, and as the domain lists them among equals.
        found.sort(key=lambda pair: _size(pair[0]) + _size(pair[1]))
        object.__setattr__(self, "specification", specification)
        object.__setattr__(self, "_pairs", tuple(found))

    def listed(self) -> tuple[tuple[Hashable, Hashable, Fraction], ...]:
        return self._pairs

    def draw(self, source: random.Random) -> Hashable:
        return source.choice(self._pairs)[source.randrange(2)]

    def neighbour(self, world: Hashable, source: random.Random) -> Hashable:
        """Any dataset at a finite distance; `listed` says at which."""
        return source.choice([b if a == world else a for a, b, _ in self._pairs if world in (a, b)])

    def smaller(self, before: Hashable, after: Hashable) -> Iterator[tuple[Hashable, Hashable]]:  # noqa: ARG002
        """None: the pairs are tried in order of size, so that the first that breaks is the smallest."""
        return iter(())

    def words(self) -> str:
        return f"all {len(self._pairs):,} pairs of {len(self.specification.domain.datasets):,} datasets"  # type: ignore[attr-defined]


def _size(dataset: Hashable) -> int:
    return len(dataset) if isinstance(dataset, tuple) else 1
