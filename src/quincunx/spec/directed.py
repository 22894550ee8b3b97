"""Units with a direction: only what speaks for the first of two datasets is bounded (`directed.md`)."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import permutations
from typing import Any, ClassVar

from quincunx.errors import SpecificationError, kind_of
from quincunx.spec import label
from quincunx.spec.domain import Domain, Finite
from quincunx.spec.listed_units import Listed, both_ends
from quincunx.spec.unit_base import Pair, Unit, near, no_group


@dataclass(frozen=True, slots=True)
class Directed(Listed):
    """Distance 1 from x to x' for the listed pairs (x, x') of datasets of a finite world, in that direction only.

    `pairs`: pairs of different datasets. What the release says for x against x' is bounded; what it says for x' is not.
    """

    kind: ClassVar[str] = "directed"
    moves_between_parts: ClassVar[bool] = True
    directed: ClassVar[bool] = True
    pairs: tuple[tuple[Hashable, Hashable], ...]

    def __init__(self, pairs: Iterable[Iterable[Hashable]]) -> None:
        ends = {both_ends(pair, "Directed") for pair in pairs}
        if any(x == y for x, y in ends):
            hint = "Leave out pairs of a dataset with itself; their distance is 0."
            raise SpecificationError("a dataset is not its own neighbour", where="Directed", hint=hint)
        object.__setattr__(self, "pairs", tuple(sorted(ends, key=label.order)))

    def _labels(self) -> Iterable[Hashable]:
        return (end for pair in self.pairs for end in pair)

    def distance(self, x: Hashable, x_prime: Hashable, domain: Domain) -> Fraction | float:  # noqa: ARG002
        return Fraction(0) if x == x_prime else Fraction(1) if (x, x_prime) in self.pairs else math.inf

    def protected_pairs(self, datasets: Sequence[Hashable], domain: Domain) -> Iterator[Pair]:  # noqa: ARG002
        inside = set(datasets)
        return ((x, y, Fraction(1)) for x, y in self.pairs if x in inside and y in inside)

    def times(self, k: int) -> Unit:
        raise no_group(self, k)

    def words(self) -> str:
        count = len(self.pairs)
        return (
            f"Any of {count} listed change{'' if count == 1 else 's'} from one dataset to another, in that direction."
        )

    def hidden(self) -> str:
        return "the data are the first dataset of a listed change rather than the second"

    def unpromised(self) -> str:
        return "hide that the data are the second dataset of a change rather than the first, nor hide other changes"

    def to_json(self) -> dict[str, object]:
        return {"kind": self.kind, "pairs": [[label.to_json(x), label.to_json(y)] for x, y in self.pairs]}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Directed:
        """The unit that `to_json` wrote."""
        return cls([tuple(label.from_json(end, "pairs") for end in pair) for pair in data["pairs"]])


@dataclass(frozen=True, slots=True)
class OneSided(Unit):
    """Distance 1 from x to x' where one sensitive record of x is another record in x', sensitive or not.

    sensitive: the records whose presence is hidden. Where both records are sensitive the two datasets are at distance 1
    in both directions; from a record that is not sensitive no distance is finite (Kotsogiannis, Doudalis, Haney,
    Machanavajjhala and Mehrotra 2020, Definition 3). On unordered domains a dataset is a multiset of records. A place
    that is None is empty, and is no record.
    """

    kind: ClassVar[str] = "one-sided"
    moves_between_parts: ClassVar[bool] = True
    directed: ClassVar[bool] = True
    one_person: ClassVar[bool] = True
    sensitive: tuple[Hashable, ...]

    def __init__(self, sensitive: Iterable[Hashable]) -> None:
        given: object = sensitive
        if isinstance(given, str) or not isinstance(given, Iterable):
            hint = 'List the sensitive records: OneSided(["ill"]).'
            raise SpecificationError("expected records", where="OneSided", got=kind_of(given), hint=hint)
        found = {label.check(record, "OneSided") for record in sensitive}
        if not found or None in found:
            hint = "Name at least one record; None marks an empty place."
            raise SpecificationError("expected sensitive records", where="OneSided", got=f"{len(found)}", hint=hint)
        object.__setattr__(self, "sensitive", tuple(sorted(found, key=label.order)))

    def check(self, domain: Domain) -> None:
        if not isinstance(domain, Finite) or not all(isinstance(x, tuple) for x in domain.datasets):
            hint = "Use domain.Finite whose datasets are tuples of records."
            got = type(domain).__name__
            raise SpecificationError("needs datasets that list their records", where="OneSided", got=got, hint=hint)

    def distance(self, x: Hashable, x_prime: Hashable, domain: Domain) -> Fraction | float:
        if x == x_prime:
            return Fraction(0)
        if not isinstance(x, tuple) or not isinstance(x_prime, tuple) or len(x) != len(x_prime):
            return math.inf
        if domain.ordered:
            moved = [(a, b) for a, b in zip(x, x_prime, strict=True) if a != b]
        else:
            before, after = (Counter(x) - Counter(x_prime)), (Counter(x_prime) - Counter(x))
            moved = list(zip(before.elements(), after.elements(), strict=True))
        near = len(moved) == 1 and moved[0][0] in self.sensitive and moved[0][1] is not None
        return Fraction(1) if near else math.inf

    def protected_pairs(self, datasets: Sequence[Hashable], domain: Domain) -> Iterator[Pair]:
        return near(self, permutations(datasets, 2), domain)

    def times(self, k: int) -> Unit:
        raise no_group(self, k)

    def steps_to(self, other: Unit) -> int | None:
        """1 where every record that the other calls sensitive is sensitive here; None otherwise."""
        return 1 if isinstance(other, OneSided) and set(other.sensitive) <= set(self.sensitive) else None

    def words(self) -> str:
        count = len(self.sensitive)
        return (
            f"One person's sensitive record being exchanged for any other, in that direction; "
            f"{'one value of a record is' if count == 1 else f'{count} values of a record are'} sensitive."
        )

    def hidden(self) -> str:
        return "one person's record is a sensitive one rather than another"

    def unpromised(self) -> str:
        return "hide records that are not sensitive, nor that a person's record is not sensitive"

    def to_json(self) -> dict[str, object]:
        return {"kind": self.kind, "sensitive": [label.to_json(record) for record in self.sensitive]}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> OneSided:
        """The unit that `to_json` wrote."""
        return cls([label.from_json(record, "sensitive") for record in data["sensitive"]])
