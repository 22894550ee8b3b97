"""Units that are lists of pairs: a neighbour relation or a metric on a finite world."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import combinations
from typing import Any, ClassVar

from quincunx.errors import SpecificationError, kind_of
from quincunx.numbers import non_negative
from quincunx.spec import label
from quincunx.spec.domain import Domain, Finite
from quincunx.spec.unit_base import Pair, Unit, near


class Listed(Unit):
    """Pairs of datasets by name, in a finite world."""

    __slots__ = ()

    @abstractmethod
    def _labels(self) -> Iterable[Hashable]:
        """Every dataset that is named."""

    def check(self, domain: Domain) -> None:
        where = type(self).__name__
        if not isinstance(domain, Finite):
            hint = "Listed pairs need a Finite domain; for tables and histograms use AddRemove or Replace."
            raise SpecificationError("does not fit the domain", where=where, got=kind_of(domain), hint=hint)
        listed = set(domain.datasets)
        for name in self._labels():
            if name not in listed:
                hint = "Take datasets of the domain as they are stored; multisets of records are stored sorted."
                got = repr(name)[:60]
                raise SpecificationError("names a dataset outside the domain", where=where, got=got, hint=hint)

    def protected_pairs(self, datasets: Sequence[Hashable], domain: Domain) -> Iterator[Pair]:
        return near(self, combinations(datasets, 2), domain)


def both_ends(pair: Iterable[Hashable], where: str) -> tuple[Hashable, Hashable]:
    """The two datasets of a pair as it is written."""
    ends = tuple(pair) if isinstance(pair, Iterable) and not isinstance(pair, str) else (pair,)
    if len(ends) != 2:
        hint = 'Write pairs of datasets: ("x", "y").'
        raise SpecificationError("expected a pair", where=where, got=f"{len(ends)} datasets", hint=hint)
    return label.check(ends[0], where), label.check(ends[1], where)


def _in_order(pair: Iterable[Hashable], where: str) -> tuple[Hashable, Hashable]:
    first, second = sorted(both_ends(pair, where), key=label.order)
    return first, second


@dataclass(frozen=True, slots=True)
class Neighbours(Listed):
    """Distance 1 for the listed pairs of datasets of a finite world, in both directions.

    `pairs`: pairs of different datasets. Because nothing is known about what a step means, it is assumed that
    one can move a person between parts.
    """

    kind: ClassVar[str] = "neighbours"
    moves_between_parts: ClassVar[bool] = True
    pairs: tuple[tuple[Hashable, Hashable], ...]
    _index: frozenset[tuple[Hashable, Hashable]] = field(init=False, repr=False, compare=False)

    def __init__(self, pairs: Iterable[Iterable[Hashable]]) -> None:
        ends = {_in_order(pair, "Neighbours") for pair in pairs}
        if any(x == y for x, y in ends):
            hint = "Leave out pairs of a dataset with itself; their distance is 0."
            raise SpecificationError("a dataset is not its own neighbour", where="Neighbours", hint=hint)
        object.__setattr__(self, "pairs", tuple(sorted(ends, key=label.order)))
        object.__setattr__(self, "_index", frozenset(ends | {(y, x) for x, y in ends}))

    def _labels(self) -> Iterable[Hashable]:
        return (end for pair in self.pairs for end in pair)

    def distance(self, x: Hashable, x_prime: Hashable, domain: Domain) -> Fraction | float:  # noqa: ARG002
        return Fraction(0) if x == x_prime else Fraction(1) if (x, x_prime) in self._index else math.inf

    def times(self, k: int) -> Unit:
        near: dict[Hashable, set[Hashable]] = {}
        for x, y in self._index:
            near.setdefault(x, {x}).add(y)
        reach = dict(near)
        for _ in range(k - 1):
            reach = {x: set().union(*(near[y] for y in ends)) for x, ends in reach.items()}
        return Neighbours([(x, y) for x, ends in reach.items() for y in ends if x != y])

    def words(self) -> str:
        count = len(self.pairs)
        return f"Any of {count} listed change{'' if count == 1 else 's'} between two datasets, in either direction."

    def hidden(self) -> str:
        return "one of the listed changes was made"

    def unpromised(self) -> str:
        return "hide changes that are not listed equally well"

    def to_json(self) -> dict[str, object]:
        return {"kind": self.kind, "pairs": [[label.to_json(x), label.to_json(y)] for x, y in self.pairs]}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Neighbours:
        """The unit that `to_json` wrote."""
        return cls([tuple(label.from_json(end, "pairs") for end in pair) for pair in data["pairs"]])


@dataclass(frozen=True, slots=True)
class Metric(Listed):
    """Distances of one's own between datasets of a finite world; pairs that are not listed are infinitely far.

    `distances`: (x, x') → a number > 0, in units in which the intensity is stated; the guarantee for the pair is
    intensity × distance. Symmetric: a pair listed in both orders must have one value. Only standards that are linear
    in the distance may be stated with it.
    """

    kind: ClassVar[str] = "metric"
    moves_between_parts: ClassVar[bool] = True
    is_metric: ClassVar[bool] = True
    distances: tuple[tuple[tuple[Hashable, Hashable], Fraction], ...]
    _index: Mapping[tuple[Hashable, Hashable], Fraction] = field(init=False, repr=False, compare=False)

    def __init__(self, distances: Mapping[Any, object] | Iterable[tuple[Any, object]]) -> None:
        listed: dict[tuple[Hashable, Hashable], Fraction] = {}
        for ends, value in distances.items() if isinstance(distances, Mapping) else distances:
            pair, number = _in_order(ends, "Metric"), non_negative(value, "Metric")
            if (pair[0] == pair[1]) != (number == 0):
                hint = "The distance is 0 between a dataset and itself, and greater than 0 otherwise."
                got = str(number)
                raise SpecificationError("a distance of 0 has another meaning", where="Metric", got=got, hint=hint)
            if listed.setdefault(pair, number) != number:
                hint = "State one number for the pair, whichever comes first."
                raise SpecificationError("a pair has two distances", where="Metric", got=repr(pair)[:60], hint=hint)
        positive = ((pair, number) for pair, number in listed.items() if number)
        kept = sorted(positive, key=lambda item: label.order(item[0]))
        object.__setattr__(self, "distances", tuple(kept))
        object.__setattr__(self, "_index", {**dict(kept), **{(y, x): number for (x, y), number in kept}})

    def _labels(self) -> Iterable[Hashable]:
        return (end for pair, _ in self.distances for end in pair)

    def distance(self, x: Hashable, x_prime: Hashable, domain: Domain) -> Fraction | float:  # noqa: ARG002
        return Fraction(0) if x == x_prime else self._index.get((x, x_prime), math.inf)

    def times(self, k: int) -> Unit:
        hint = "Its guarantee already grows with the distance; state the pairs and distances that you need."
        raise SpecificationError("a metric has no group of steps", where="Metric", got=f"k = {k}", hint=hint)

    def words(self) -> str:
        count = len(self.distances)
        return (
            f"Changes between {count} listed pair{'' if count == 1 else 's'} of datasets, each in proportion to its "
            "stated distance: the bound for a pair is the intensity times the distance."
        )

    def hidden(self) -> str:
        return "one of the listed changes was made, in proportion to its distance"

    def unpromised(self) -> str:
        return "hide changes between pairs that are not listed"

    def latex(self) -> str:
        return (
            r"d_{\mathcal{X}}(x, x') < \infty \text{, with } \varepsilon \cdot d_{\mathcal{X}}(x, x') "
            r"\text{ in place of } \varepsilon"
        )

    def to_json(self) -> dict[str, object]:
        entries = [
            {"between": [label.to_json(x), label.to_json(y)], "distance": str(number)}
            for (x, y), number in self.distances
        ]
        return {"kind": self.kind, "distances": entries}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Metric:
        """The unit that `to_json` wrote."""
        entries = data["distances"]
        return cls(
            [
                (tuple(label.from_json(end, "between") for end in entry["between"]), entry["distance"])
                for entry in entries
            ]
        )
