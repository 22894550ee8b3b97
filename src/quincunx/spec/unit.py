"""The unit d_𝒳: what change is protected? A premetric on datasets: 0, 1 for neighbours, ∞ otherwise.

`AddRemove`, `Replace` and what joins them speak of people and fit every domain with records; others speak of the
content of records; `Neighbours`, `Directed` and `Metric` list pairs of a finite world. Larger distances follow by the
standard's own group map; only `Hamming`, `SymmetricDifference`, `Metric` and `Distance` have distances of their own;
`shortest_path` makes a metric of any relation. `Directed`, `OneSided` and `Distance` need not be symmetric.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Final, TypeGuard

from quincunx.errors import SpecificationError
from quincunx.spec.dependent import Dependent
from quincunx.spec.directed import Directed, OneSided
from quincunx.spec.distance import Distance
from quincunx.spec.edits import AddRemoveReplace, Element
from quincunx.spec.listed_units import Metric, Neighbours
from quincunx.spec.paths import shortest_path
from quincunx.spec.people import People, View, common_subsequence
from quincunx.spec.period import Per, pieces
from quincunx.spec.single import Attribute, Bit, Blowfish, FreeLunch
from quincunx.spec.unit_base import Unit

__all__ = [
    "AddRemove",
    "AddRemoveReplace",
    "Attribute",
    "Bit",
    "Blowfish",
    "Dependent",
    "Directed",
    "Distance",
    "Element",
    "FreeLunch",
    "Hamming",
    "Metric",
    "Neighbours",
    "OneSided",
    "Per",
    "Replace",
    "SymmetricDifference",
    "Unit",
    "from_json",
    "shortest_path",
]


@dataclass(frozen=True, slots=True, kw_only=True, init=False)
class AddRemove(People):
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
            return len(a) + len(b) - 2 * common_subsequence(a, b)
        one, two = Counter(a), Counter(b)
        return (one - two).total() + (two - one).total()

    def steps_to(self, other: Unit) -> int | None:
        """⌈n / group⌉, where n single changes of this unit make one step of `other`.

        One piece of `other` is p pieces here (1 for the same period, 2 when ours is coarser: removed and added back
        with fewer rows, the number of our periods in theirs when ours is finer). A replaced piece is one removed and
        one added. Different keys: None, because the rows of one person need not belong to one owner.
        """
        if not isinstance(other, People) or self.key != other.key:
            return None
        each = pieces(self.per, other.per)
        if each is None:
            return None
        single = each * other.removals
        return -(-single * other.group // self.group)

    def steps_for(self, people: int, *, presence: bool) -> int:
        """How many steps lie between datasets that differ in whether so many people are in them, or else in their
        records: one record out and another in."""
        return -(-(people if presence else 2 * people) // self.group)


@dataclass(frozen=True, slots=True, kw_only=True, init=False)
class Replace(People):
    """Distance 1: at most `group` people are replaced; the number of people stays the same.

    Parameters as for AddRemove. On ordered domains it is the Hamming distance between vectors of equal length.
    """

    kind: ClassVar[str] = "replace"
    moves_between_parts: ClassVar[bool] = True
    removals: ClassVar[int] = 2
    keeps_number: ClassVar[bool] = True

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

    def steps_for(self, people: int, *, presence: bool) -> int:  # noqa: ARG002
        """How many steps lie between datasets in which so many people are others: who is absent is one in whose place
        another stands."""
        return -(-people // self.group)


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

    def up_to(self, k: int) -> Unit:
        return Replace(key=self.key, group=k)

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

    def up_to(self, k: int) -> Unit:
        return AddRemove(key=self.key, group=k)

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


def of_people(unit: object) -> TypeGuard[AddRemove | Replace]:
    """Whether each step adds, removes or replaces whole people (or their periods): what tables, beliefs and
    sensitivities are known for."""
    return isinstance(unit, AddRemove | Replace)


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
    "add-remove-replace": lambda data: AddRemoveReplace(**data),
    "element": lambda data: Element(**data),
    "dependent": Dependent.from_json,
    "directed": Directed.from_json,
    "one-sided": OneSided.from_json,
    "distance": lambda data: Distance(**data),
}
