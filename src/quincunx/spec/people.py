"""Units that speak of people: what a piece is, and how often each occurs in a dataset."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections import Counter
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Literal, TypeAlias

from quincunx.errors import SpecificationError, kind_of
from quincunx.numbers import positive_integer
from quincunx.spec.domain import Domain, Finite
from quincunx.spec.period import Per
from quincunx.spec.unit_base import Pair, Unit

# what a unit sees of a dataset: how often each protected piece occurs, or the vector of records
View: TypeAlias = Counter[Hashable] | tuple[Hashable, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class People(Unit):
    """People by a key, or one for each record; `per`: pieces of one period; `group`: how many changes count as 1."""

    # how many additions and removals one change is at most
    removals: ClassVar[int] = 1
    one_person: ClassVar[bool] = True
    key: str | None = None
    per: Per | None = None
    group: int = 1

    def __init__(
        self, *, key: str | None = None, per: Per | Mapping[str, str] | None = None, group: object = 1
    ) -> None:
        where = type(self).__name__
        if key is not None and (not isinstance(key, str) or not key):
            raise SpecificationError("the key must be the name of a column", where=where, got=kind_of(key))
        if per is not None and key is None:
            hint = "Name the column that identifies a person: key=…"
            raise SpecificationError("a person-period needs a key", where=where, got="per without key", hint=hint)
        object.__setattr__(self, "key", key)
        object.__setattr__(self, "per", Per.read(per))
        object.__setattr__(self, "group", positive_integer(group, f"{where}(group)"))

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that say whose a row is: the key, and that of the period; none where each row is a person."""
        return tuple(name for name in (self.key, self.per.column if self.per else None) if name is not None)

    def check(self, domain: Domain) -> None:
        where = type(self).__name__
        if isinstance(domain, Finite):
            for dataset in domain.datasets:
                domain.records(dataset)
        if self.key is not None and domain.ordered:
            hint = "In a vector each position is one person; use key=None, or an unordered domain."
            raise SpecificationError("a key has no meaning on an ordered domain", where=where, hint=hint)
        for column in self.columns:
            if domain.column(column) is None:
                hint = "Declare it in the domain's columns."
                raise SpecificationError(f"the domain has no column {column!r}", where=where, hint=hint)
        if self.per is not None:
            self.per.check_type(domain)

    def view(self, dataset: Hashable, domain: Domain) -> View:
        """What the unit sees: the vector itself on ordered domains, otherwise the multiset of protected pieces.

        A piece is a record (no key), or (owner, all rows of that owner), where the owner is the key's value, joined
        with the period if there is one.
        """
        records = domain.records(dataset)
        if domain.ordered and isinstance(dataset, tuple):
            return dataset
        if self.key is None:
            return records
        owned: dict[Hashable, list[tuple[Hashable, int]]] = {}
        for row, count in records.items():
            owned.setdefault(self._owner(row, domain), []).append((row, count))
        return Counter((owner, frozenset(rows)) for owner, rows in owned.items())

    def _owner(self, row: Hashable, domain: Domain) -> Hashable:
        values: Sequence[Hashable] = row  # type: ignore[assignment]
        person = values[position(domain, self.key)]
        return person if self.per is None else (person, self.per.of(values[position(domain, self.per.column)]))

    def distance(self, x: Hashable, x_prime: Hashable, domain: Domain) -> Fraction | float:
        return self._premetric(self.changes(self.view(x, domain), self.view(x_prime, domain)))

    def protected_pairs(self, datasets: Sequence[Hashable], domain: Domain) -> Iterator[Pair]:
        views = [self.view(dataset, domain) for dataset in datasets]
        for i, x in enumerate(datasets):
            for j in range(i + 1, len(datasets)):
                distance = self._premetric(self.changes(views[i], views[j]))
                if isinstance(distance, Fraction) and distance > 0:
                    yield x, datasets[j], distance

    def _premetric(self, changes: int | float) -> Fraction | float:
        return Fraction(0) if changes == 0 else Fraction(1) if changes <= self.group else math.inf

    @abstractmethod
    def changes(self, a: View, b: View) -> int | float:
        """The smallest number of single changes that turn one view into the other; inf where none do."""

    def times(self, k: int) -> Unit:
        return type(self)(key=self.key, per=self.per, group=self.group * k)

    def up_to(self, k: int) -> Unit:
        """The unit whose one step is any change at a distance of at most k from this one, for metrics too."""
        return self.times(k)

    def reach2(self, norm: Literal[1, 2], *, signed: bool, single: bool = False) -> int:
        """The square of how far one step moves a sum to which each piece adds a vector of norm at most 1.

        signed: whether coordinates may be negative; single: whether there is one coordinate. Proof: unit.md.
        """
        if self.removals == 1 or (single and not signed):
            return self.group**2
        return self.group**2 * (4 if signed or norm == 1 else 2)

    def _piece(self) -> str:
        """The protected thing, in words."""
        if self.per is not None:
            one = f"one person's rows of one {self.per.period}"
            return one if self.group == 1 else f"up to {self.group} times {one}"
        if self.key is not None:
            return f"{self._count()}, with all their rows,"
        return f"{self._count()}, {'who is one record' if self.group == 1 else 'one record each'},"

    def _count(self) -> str:
        return "one person" if self.group == 1 else f"up to {self.group} people"

    def _pieces(self) -> str:
        return "people" if self.per is None else f"person-{self.per.period}s"

    def _single(self) -> bool:
        return self.group == 1 and self.per is None

    def _identified(self) -> str:
        person = "" if self.key is None else f" Rows that share one value of {self.key} belong to one person."
        if self.per is None:
            return person
        week = " (from Monday to Sunday)" if self.per.period == "week" else ""
        return f"{person} The {self.per.period}{week} of a row is read from {self.per.column}."

    def _larger(self) -> str:
        if self.group > 1:
            return f"hide equally well what more than {self.group} {self._pieces()} show together"
        if self.per is not None:
            return f"hide equally well what one person's rows of several {self.per.period}s show together"
        return "hide equally well what several people show together"

    def to_json(self) -> dict[str, object]:
        data: dict[str, object] = {"kind": self.kind, "group": self.group}
        if self.key is not None:
            data["key"] = self.key
        if self.per is not None:
            data["per"] = {"column": self.per.column, "period": self.per.period}
        return data


def position(domain: Domain, column: str | None) -> int:
    """Where a column stands in a row."""
    found = None if column is None else domain.column(column)
    if found is None:
        raise SpecificationError(f"the domain has no column {column!r}", hint="Declare it in the domain's columns.")
    return found[0]


def common_subsequence(a: Sequence[Hashable], b: Sequence[Hashable]) -> int:
    """The length of the longest common subsequence."""
    best = [0] * (len(b) + 1)
    for x in a:
        diagonal = 0
        for j, y in enumerate(b, start=1):
            diagonal, best[j] = best[j], diagonal + 1 if x == y else max(best[j], best[j - 1])
    return best[-1]
