"""Units of one record's content on vectors of records, and the unit without limit: any two datasets."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import Any, ClassVar

from quincunx.errors import SpecificationError
from quincunx.spec import label
from quincunx.spec.domain import Domain, Finite
from quincunx.spec.unit_base import Pair, Unit, near, no_group


def check_vectors(unit: Unit, domain: Domain) -> None:
    """Raise SpecificationError unless every dataset is a vector of records."""
    vectors = isinstance(domain, Finite) and all(isinstance(x, tuple) for x in domain.datasets)
    if not domain.ordered or not vectors:
        hint = "Use domain.Finite with vectors of records and ordered=True."
        where, got = type(unit).__name__, type(domain).__name__
        raise SpecificationError("needs datasets that are vectors", where=where, got=got, hint=hint)


class _Content(Unit):
    """Distance 1 where exactly one position of two vectors differs, and the two records are joined."""

    __slots__ = ()
    moves_between_parts: ClassVar[bool] = True
    one_person: ClassVar[bool] = True

    @abstractmethod
    def joined(self, before: Hashable, after: Hashable) -> bool:
        """Whether a record may change from one value to the other, in both directions."""

    def check(self, domain: Domain) -> None:
        check_vectors(self, domain)

    def distance(self, x: Hashable, x_prime: Hashable, domain: Domain) -> Fraction | float:  # noqa: ARG002
        if x == x_prime:
            return Fraction(0)
        if not isinstance(x, tuple) or not isinstance(x_prime, tuple) or len(x) != len(x_prime):
            return math.inf
        changed = [(a, b) for a, b in zip(x, x_prime, strict=True) if a != b]
        return Fraction(1) if len(changed) == 1 and self.joined(*changed[0]) else math.inf

    def protected_pairs(self, datasets: Sequence[Hashable], domain: Domain) -> Iterator[Pair]:
        return near(self, combinations(datasets, 2), domain)

    def times(self, k: int) -> Unit:
        raise no_group(self, k)

    def to_json(self) -> dict[str, object]:
        return {"kind": self.kind}

    def words(self) -> str:
        return f"{self.hidden()[0].upper()}{self.hidden()[1:]}."

    def unpromised(self) -> str:
        return "hide equally well what larger changes of one person's record show"


@dataclass(frozen=True, slots=True)
class Attribute(_Content):
    """One attribute of one record changes; records are tuples of attributes of one length."""

    kind: ClassVar[str] = "attribute"

    def joined(self, before: Hashable, after: Hashable) -> bool:
        if not isinstance(before, tuple) or not isinstance(after, tuple) or len(before) != len(after):
            return False
        changed = [a for a, b in zip(before, after, strict=True) if a != b]
        return len(changed) == 1

    def hidden(self) -> str:
        return "one attribute of one person's record has another value"


@dataclass(frozen=True, slots=True)
class Bit(_Content):
    """One bit of one record changes; records are texts of 0 and 1 of one length."""

    kind: ClassVar[str] = "bit"

    def joined(self, before: Hashable, after: Hashable) -> bool:
        if not isinstance(before, str) or not isinstance(after, str) or len(before) != len(after):
            return False
        return set(before + after) <= set("01") and sum(a != b for a, b in zip(before, after, strict=True)) == 1

    def hidden(self) -> str:
        return "one bit of one person's record is the other"


@dataclass(frozen=True, slots=True)
class Blowfish(_Content):
    """One record changes along an edge of a policy: a graph whose edges join values that must not be told apart.

    policy: pairs of different records, in both directions. With the complete graph it is Replace on vectors. Public
    constraints are a scope.
    """

    kind: ClassVar[str] = "blowfish"
    policy: tuple[tuple[Hashable, Hashable], ...]

    def __init__(self, policy: Iterable[Iterable[Hashable]]) -> None:
        found = []
        for edge in policy:
            ends = tuple(label.check(end, "Blowfish") for end in edge) if not isinstance(edge, str) else (edge,)
            if len(ends) != 2 or ends[0] == ends[1]:
                hint = 'Write pairs of different records: [("low", "middle"), ("middle", "high")].'
                raise SpecificationError("an edge joins two records", where="Blowfish", got=repr(edge)[:60], hint=hint)
            found.append(tuple(sorted(ends, key=label.order)))
        if not found:
            raise SpecificationError("a policy has at least one edge", where="Blowfish", got="none")
        object.__setattr__(self, "policy", tuple(sorted(set(found), key=label.order)))

    def joined(self, before: Hashable, after: Hashable) -> bool:
        return (before, after) in self.policy or (after, before) in self.policy

    def hidden(self) -> str:
        return "one person's record is one or the other of two values that the policy joins"

    def unpromised(self) -> str:
        return "hide equally well which of two values that no edge joins a person has"

    def to_json(self) -> dict[str, object]:
        return {"kind": self.kind, "policy": [[label.to_json(a), label.to_json(b)] for a, b in self.policy]}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Blowfish:
        """The unit that `to_json` wrote."""
        return cls([tuple(label.from_json(end, "policy") for end in edge) for edge in data["policy"]])


@dataclass(frozen=True, slots=True)
class FreeLunch(Unit):
    """Distance 1 between any two different datasets: nothing about the data may show."""

    kind: ClassVar[str] = "free-lunch"
    moves_between_parts: ClassVar[bool] = True

    def check(self, domain: Domain) -> None:
        """It fits every domain."""

    def distance(self, x: Hashable, x_prime: Hashable, domain: Domain) -> Fraction | float:  # noqa: ARG002
        return Fraction(int(x != x_prime))

    def protected_pairs(self, datasets: Sequence[Hashable], domain: Domain) -> Iterator[Pair]:  # noqa: ARG002
        return ((x, y, Fraction(1)) for x, y in combinations(datasets, 2))

    def times(self, k: int) -> Unit:  # noqa: ARG002 - one step reaches everything
        return self

    def steps_to(self, other: Unit) -> int | None:
        """1: every step of any premetric joins two datasets. None for a metric, whose bound may be smaller."""
        return None if other.is_metric else 1

    def to_json(self) -> dict[str, object]:
        return {"kind": self.kind}

    def words(self) -> str:
        return "Any change at all: any two datasets are compared."

    def hidden(self) -> str:
        return "the data are these or any others"

    def unpromised(self) -> str:
        return ""
