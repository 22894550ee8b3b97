"""The unit of one record and those that depend on it."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import Any, ClassVar

from quincunx.errors import SpecificationError, kind_of
from quincunx.numbers import positive_integer
from quincunx.spec.domain import Domain
from quincunx.spec.single import check_vectors
from quincunx.spec.unit_base import Pair, Unit, near, no_group


@dataclass(frozen=True, slots=True)
class Dependent(Unit):
    """Distance 1 where one record is replaced, and with it at most size − 1 of those that depend on it.

    dependence: R, position → the positions whose records may change with it; positions count from 0. size: c ≥ 1, how
    many records change at most. With c = 1 it is Replace on vectors. A place that is None is empty, and is no record.
    """

    kind: ClassVar[str] = "dependent"
    moves_between_parts: ClassVar[bool] = True
    dependence: tuple[tuple[int, tuple[int, ...]], ...]
    size: int

    def __init__(self, dependence: Mapping[int, Iterable[int]], size: object) -> None:
        given: object = dependence
        if not isinstance(given, Mapping):
            hint = "Write position → positions that depend on it: {0: [1, 2]}."
            raise SpecificationError("expected a mapping", where="Dependent", got=kind_of(given), hint=hint)
        found = []
        for place, others in dependence.items():
            after = sorted({_place(other) for other in others} - {_place(place)})
            found.append((place, tuple(after)))
        object.__setattr__(self, "dependence", tuple(sorted(found)))
        object.__setattr__(self, "size", positive_integer(size, "Dependent(size)"))

    def check(self, domain: Domain) -> None:
        check_vectors(self, domain)
        last = max((len(x) for x in domain.datasets), default=0)  # type: ignore[attr-defined]
        beyond = [i for place, others in self.dependence for i in (place, *others) if i >= last]
        if beyond:
            hint = f"Positions are 0 to {last - 1} here."
            raise SpecificationError("no dataset has this position", where="Dependent", got=str(beyond[0]), hint=hint)

    def distance(self, x: Hashable, x_prime: Hashable, domain: Domain) -> Fraction | float:  # noqa: ARG002
        if x == x_prime:
            return Fraction(0)
        if not isinstance(x, tuple) or not isinstance(x_prime, tuple) or len(x) != len(x_prime):
            return math.inf
        moved = {i for i, (a, b) in enumerate(zip(x, x_prime, strict=True)) if a != b}
        empty = any(records[i] is None for records in (x, x_prime) for i in moved)
        follows = dict(self.dependence)
        led = any(moved - {i} <= set(follows.get(i, ())) for i in moved)
        return Fraction(1) if len(moved) <= self.size and led and not empty else math.inf

    def protected_pairs(self, datasets: Sequence[Hashable], domain: Domain) -> Iterator[Pair]:
        return near(self, combinations(datasets, 2), domain)

    def times(self, k: int) -> Unit:
        raise no_group(self, k)

    def steps_to(self, other: Unit) -> int | None:
        """1 where the other joins no records that this does not, and no more of them; None otherwise."""
        if not isinstance(other, Dependent):
            return None
        mine = dict(self.dependence)
        fewer = all(set(others) <= set(mine.get(place, ())) for place, others in other.dependence)
        return 1 if other.size == 1 or (fewer and other.size <= self.size) else None

    def words(self) -> str:
        more = self.size - 1
        rest = "" if not more else f", and with it up to {more} of the records that are stated to depend on it"
        return f"One person's record being exchanged for another{rest}."

    def hidden(self) -> str:
        return "one person's record, with those that depend on it, has another value"

    def unpromised(self) -> str:
        return "hide equally well what more records, or records that are not stated to depend on each other, show"

    def to_json(self) -> dict[str, object]:
        listed = [[place, list(others)] for place, others in self.dependence]
        return {"kind": self.kind, "dependence": listed, "size": self.size}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Dependent:
        """The unit that `to_json` wrote."""
        places = [place for place, _ in data["dependence"]]
        if len(set(places)) < len(places):
            raise SpecificationError("a position is listed twice", where="dependence", got=f"{len(places)} positions")
        return cls(dict(data["dependence"]), data["size"])


def _place(value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        hint = "Positions are whole numbers from 0."
        raise SpecificationError("expected a position", where="Dependent", got=repr(value)[:40], hint=hint)
    return value
