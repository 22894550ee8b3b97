"""Shortest paths between datasets along protected steps, and the metric that they make of any relation."""

from __future__ import annotations

import heapq
from collections.abc import Hashable, Sequence
from fractions import Fraction

from quincunx.errors import SpecificationError, kind_of
from quincunx.spec.domain import Domain, Finite
from quincunx.spec.listed_units import Metric
from quincunx.spec.unit_base import Unit


class Paths:
    """Shortest paths along the protected steps of a unit between the given datasets, and through no others."""

    def __init__(self, unit: Unit, datasets: Sequence[Hashable], domain: Domain) -> None:
        self._near: dict[Hashable, list[tuple[Hashable, Fraction]]] = {x: [] for x in datasets}
        self._from: dict[Hashable, dict[Hashable, Fraction]] = {}
        for x, x_prime, distance in unit.protected_pairs(datasets, domain):
            self._near[x].append((x_prime, distance))
            if not unit.directed:
                self._near[x_prime].append((x, distance))

    def length(self, x: Hashable, x_prime: Hashable) -> Fraction | None:
        """The length of the shortest path; None where there is none."""
        if x not in self._near:
            return None
        if x not in self._from:
            self._from[x] = self._dijkstra(x)
        return self._from[x].get(x_prime)

    def _dijkstra(self, start: Hashable) -> dict[Hashable, Fraction]:
        settled: dict[Hashable, Fraction] = {}
        # The counter breaks ties, since datasets of mixed types cannot be compared.
        queue, counter = [(Fraction(0), 0, start)], 0
        while queue:
            length, _, x = heapq.heappop(queue)
            if x in settled:
                continue
            settled[x] = length
            for near, distance in self._near[x]:
                if near not in settled:
                    counter += 1
                    heapq.heappush(queue, (length + distance, counter, near))
        return settled


def shortest_path(unit: Unit, domain: Domain) -> Metric:
    """The metric of a relation: the distance of two datasets is the length of the shortest path of protected steps.

    unit: any unit that fits the domain. domain: a Finite one, whose datasets are all the places a path may go through.
    Pairs that no path joins are infinitely far. Of `Replace` it is the Hamming distance, of `AddRemove` the symmetric
    difference, wherever the domain holds the datasets between.
    """
    given: object = domain
    if not isinstance(given, Finite):
        hint = "On larger domains the metrics of people are unit.Hamming and unit.SymmetricDifference."
        what = "paths are found on a finite domain only"
        raise SpecificationError(what, where="shortest_path", got=kind_of(given), hint=hint)
    if unit.directed:
        hint = "A metric is symmetric; take a unit that is."
        what = "a unit with a direction has no metric"
        raise SpecificationError(what, where="shortest_path", got=kind_of(unit), hint=hint)
    unit.check(domain)
    datasets = given.datasets
    paths = Paths(unit, datasets, domain)
    found = [
        ((x, y), length)
        for i, x in enumerate(datasets)
        for y in datasets[i + 1 :]
        if (length := paths.length(x, y)) is not None
    ]
    return Metric(found)
