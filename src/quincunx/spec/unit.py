"""The unit d_𝒳: what change is protected? A premetric on datasets: 0, 1 for neighbours, ∞ otherwise.

`AddRemove` and `Replace` speak of people and fit every domain with records; `Neighbours` and `Metric` list pairs of a
finite world. Larger distances follow by the standard's own group map; only `Hamming`, `Metric` and
`SymmetricDifference` have distances of their own; `shortest_path` makes a metric of any relation.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Final, TypeAlias

from quincunx.errors import SpecificationError, kind_of
from quincunx.numbers import positive_integer
from quincunx.spec.domain import Domain, Finite
from quincunx.spec.paths import shortest_path
from quincunx.spec.period import Per, pieces
from quincunx.spec.relation import Metric, Neighbours, Pair, Unit
from quincunx.spec.single import Attribute, Bit, Blowfish, FreeLunch

__all__ = [
    "AddRemove",
    "Attribute",
    "Bit",
    "Blowfish",
    "FreeLunch",
    "Hamming",
    "Metric",
    "Neighbours",
    "Per",
    "Replace",
    "SymmetricDifference",
    "Unit",
    "from_json",
    "shortest_path",
]

# what a unit sees of a dataset: how often each protected piece occurs, or the vector of records
View: TypeAlias = Counter[Hashable] | tuple[Hashable, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class _People(Unit):
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
        person = values[_position(domain, self.key)]
        return person if self.per is None else (person, self.per.of(values[_position(domain, self.per.column)]))

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

    def changes(self, a: View, b: View) -> int | float:
        """The smallest number of single changes that turn one view into the other; inf where none do."""
        raise NotImplementedError

    def times(self, k: int) -> Unit:
        return type(self)(key=self.key, per=self.per, group=self.group * k)

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


@dataclass(frozen=True, slots=True, kw_only=True, init=False)
class AddRemove(_People):
    """Distance 1: at most `group` people are added or removed.

    `key`: the column that identifies a person, who is all rows with that value; None: each record is one person.
    `per`: {"column": date column, "period": day, week (ISO), month, quarter or year}: the unit is one person's rows
    of one period. `group`: k ≥ 1, how many such changes still count as distance 1. The number of changes is the size
    of the symmetric difference of the multisets of (person, rows); on ordered domains, of insertions and deletions.
    A person whose rows change, present in both datasets, counts twice: removed and added back.
    """

    kind: ClassVar[str] = "add-remove"
    moves_between_parts: ClassVar[bool] = False

    def words(self) -> str:
        piece = self._piece()
        return f"{piece[0].upper()}{piece[1:]} being added to the data or removed from them.{self._identified()}"

    def hidden(self) -> str:
        return f"{self._piece()} {'is' if self._single() else 'are'} in the data or not"

    def unpromised(self) -> str:
        return self._larger()

    def changes(self, a: View, b: View) -> int | float:
        if isinstance(a, tuple) and isinstance(b, tuple):
            return len(a) + len(b) - 2 * _common_subsequence(a, b)
        one, two = Counter(a), Counter(b)
        return (one - two).total() + (two - one).total()

    def steps_to(self, other: Unit) -> int | None:
        """⌈n / group⌉, where n single changes of this unit make one step of `other`.

        One piece of `other` is p pieces here (1 for the same period, 2 when ours is coarser: removed and added back
        with fewer rows, the number of our periods in theirs when ours is finer). A replaced piece is one removed and
        one added. Different keys: None, because the rows of one person need not belong to one owner.
        """
        if not isinstance(other, _People) or self.key != other.key:
            return None
        each = pieces(self.per, other.per)
        if each is None:
            return None
        single = each * (2 if isinstance(other, Replace) else 1)
        return -(-single * other.group // self.group)


@dataclass(frozen=True, slots=True, kw_only=True, init=False)
class Replace(_People):
    """Distance 1: at most `group` people are replaced; the number of people stays the same.

    Parameters as for AddRemove. On ordered domains it is the Hamming distance between vectors of equal length.
    """

    kind: ClassVar[str] = "replace"
    moves_between_parts: ClassVar[bool] = True

    def words(self) -> str:
        piece = self._piece()
        return (
            f"{piece[0].upper()}{piece[1:]} being exchanged for {self._others()}, while the number of {self._pieces()} "
            f"in the data stays the same.{self._identified()}"
        )

    def hidden(self) -> str:
        return f"{self._piece()} {'was' if self._single() else 'were'} exchanged for {self._others()}"

    def _others(self) -> str:
        if self.per is not None:
            return "those of another person or another time"
        return "another person" if self.group == 1 else "others"

    def unpromised(self) -> str:
        return f"hide how many {self._pieces()} are in the data, nor {self._larger()}"

    def changes(self, a: View, b: View) -> int | float:
        if isinstance(a, tuple) and isinstance(b, tuple):
            return sum(x != y for x, y in zip(a, b, strict=True)) if len(a) == len(b) else math.inf
        one, two = Counter(a), Counter(b)
        return (one - two).total() if one.total() == two.total() else math.inf

    def steps_to(self, other: Unit) -> int | None:
        """⌈other.group / group⌉ for the same key and period, None otherwise.

        Never AddRemove, since replacing keeps the number of pieces. Nor another period: replacing the only day of one
        person by a further day of another changes the number of people, and replacing a person may change how many
        days there are.
        """
        if not isinstance(other, Replace) or (self.key, self.per) != (other.key, other.per):
            return None
        return -(-other.group // self.group)


@dataclass(frozen=True, slots=True, kw_only=True, init=False, repr=False)
class Hamming(Replace):
    """The number of people who are replaced, as a metric: the guarantee for two datasets is intensity × distance.

    `key`: as for AddRemove. Inside the universes of some invariants no two datasets differ in one person, so that the
    distances 2, 3, … need a guarantee of their own, which a path of single steps does not give.
    """

    kind: ClassVar[str] = "hamming"
    is_metric: ClassVar[bool] = True

    def __init__(self, *, key: str | None = None) -> None:
        super(Hamming, self).__init__(key=key)

    def __repr__(self) -> str:
        return f"Hamming(key={self.key!r})"

    def _premetric(self, changes: int | float) -> Fraction | float:
        return Fraction(int(changes)) if changes < math.inf else math.inf

    def times(self, k: int) -> Unit:
        hint = "Its guarantee already grows with the distance: k people cost k times the intensity."
        raise SpecificationError("a metric has no group of steps", where="Hamming", got=f"k = {k}", hint=hint)

    def _piece(self) -> str:
        # A key may be a household's as well as a person's, so the column itself names the thing.
        return f"one {self.key}, with all its rows," if self.key else super(Hamming, self)._piece()

    def _pieces(self) -> str:
        return f"different values of {self.key}" if self.key else super(Hamming, self)._pieces()

    def _others(self) -> str:
        return "another" if self.key else super(Hamming, self)._others()

    def words(self) -> str:
        piece, pieces = self._piece(), self._pieces()
        return (
            f"{piece[0].upper()}{piece[1:]} being exchanged for {self._others()}, while the number of {pieces} in the "
            "data stays the same. Several exchanges count in proportion to their number: the bound for two datasets is "
            "the intensity times the number of exchanges between them."
        )

    def latex(self) -> str:
        return (
            r"d_{\mathrm{Ham}}(x, x') < \infty \text{, with } \varepsilon \cdot d_{\mathrm{Ham}}(x, x') "
            r"\text{ in place of } \varepsilon"
        )

    def to_json(self) -> dict[str, object]:
        return {"kind": self.kind} if self.key is None else {"kind": self.kind, "key": self.key}


@dataclass(frozen=True, slots=True, kw_only=True, init=False, repr=False)
class SymmetricDifference(AddRemove):
    """The number of people who are added or removed, as a metric: the guarantee is intensity × distance.

    `key`: as for AddRemove. It is to `AddRemove` what `Hamming` is to `Replace`.
    """

    kind: ClassVar[str] = "symmetric-difference"
    is_metric: ClassVar[bool] = True

    def __init__(self, *, key: str | None = None) -> None:
        super(SymmetricDifference, self).__init__(key=key)

    def __repr__(self) -> str:
        return f"SymmetricDifference(key={self.key!r})"

    def _premetric(self, changes: int | float) -> Fraction | float:
        return Fraction(int(changes))

    def times(self, k: int) -> Unit:
        hint = "Its guarantee already grows with the distance: k people cost k times the intensity."
        raise SpecificationError(
            "a metric has no group of steps", where="SymmetricDifference", got=f"k = {k}", hint=hint
        )

    def words(self) -> str:
        single = super(SymmetricDifference, self).words()
        return (
            f"{single} Several changes count in proportion to their number: the bound for two datasets is the "
            "intensity times the number of people added and removed between them."
        )

    def latex(self) -> str:
        return (
            r"d_{\mathrm{SymDiff}}(x, x') < \infty \text{, with } \varepsilon \cdot d_{\mathrm{SymDiff}}(x, x') "
            r"\text{ in place of } \varepsilon"
        )

    def to_json(self) -> dict[str, object]:
        return {"kind": self.kind} if self.key is None else {"kind": self.kind, "key": self.key}


def _position(domain: Domain, column: str | None) -> int:
    found = None if column is None else domain.column(column)
    if found is None:
        raise SpecificationError(f"the domain has no column {column!r}", hint="Declare it in the domain's columns.")
    return found[0]


def _common_subsequence(a: Sequence[Hashable], b: Sequence[Hashable]) -> int:
    best = [0] * (len(b) + 1)
    for x in a:
        diagonal = 0
        for j, y in enumerate(b, start=1):
            diagonal, best[j] = best[j], diagonal + 1 if x == y else max(best[j], best[j - 1])
    return best[-1]


def from_json(data: Mapping[str, object]) -> Unit:
    """The unit that `to_json` wrote. The schema has been checked by the caller."""
    content = {key: value for key, value in data.items() if key != "kind"}
    return _READERS[str(data["kind"])](content)


_READERS: Final[dict[str, Callable[[Mapping[str, Any]], Unit]]] = {
    "add-remove": lambda data: AddRemove(**data),
    "replace": lambda data: Replace(**data),
    "hamming": lambda data: Hamming(**data),
    "symmetric-difference": lambda data: SymmetricDifference(**data),
    "neighbours": Neighbours.from_json,
    "metric": Metric.from_json,
    "attribute": lambda data: Attribute(**data),
    "bit": lambda data: Bit(**data),
    "blowfish": Blowfish.from_json,
    "free-lunch": lambda data: FreeLunch(**data),
}
