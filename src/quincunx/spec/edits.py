"""Units of people that join the others: added, removed or replaced; and all rows of one element of a person."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from quincunx.errors import SpecificationError
from quincunx.spec.domain import Domain
from quincunx.spec.people import People, View, position
from quincunx.spec.period import pieces
from quincunx.spec.unit_base import Unit


@dataclass(frozen=True, slots=True, kw_only=True, init=False)
class AddRemoveReplace(People):
    """Distance 1: at most `group` people are added, removed or replaced, each of which is one change.

    It is bounded and unbounded at once (Desfontaines and Pejó 2020, Definition 2). Parameters as for AddRemove. On
    ordered domains the number of changes is the edit distance between vectors.
    """

    kind: ClassVar[str] = "add-remove-replace"
    moves_between_parts: ClassVar[bool] = True
    removals: ClassVar[int] = 2

    def words(self) -> str:
        piece = self._piece()
        return (
            f"{piece[0].upper()}{piece[1:]} being added to the data, removed from them or exchanged for "
            f"{self._others()}.{self._identified()}"
        )

    def hidden(self) -> str:
        return f"{self._piece()} {'is' if self._single() else 'are'} in the data or not, or {self._others()} instead"

    def _others(self) -> str:
        return "another" if self.group == 1 and self.per is None else "others"

    def unpromised(self) -> str:
        return self._larger()

    def changes(self, a: View, b: View) -> int | float:
        if isinstance(a, tuple) and isinstance(b, tuple):
            return _edits(a, b)
        # What one has more than the other: of the two numbers the smaller is exchanged, the rest added or removed.
        one, two = Counter(a), Counter(b)
        return max((one - two).total(), (two - one).total())

    def steps_to(self, other: Unit) -> int | None:
        """⌈n / group⌉, where n changes of this unit make one step of `other`: as many as its group for the same
        period, and as many as AddRemove needs for another."""
        if not isinstance(other, People) or self.key != other.key:
            return None
        each = pieces(self.per, other.per)
        if each is None:
            return None
        single = 1 if self.per == other.per else each * other.removals
        return -(-single * other.group // self.group)


def _edits(a: Sequence[Hashable], b: Sequence[Hashable]) -> int:
    """The fewest insertions, deletions and exchanges between two vectors."""
    above = list(range(len(b) + 1))
    for i, x in enumerate(a, start=1):
        here = [i]
        for j, y in enumerate(b, start=1):
            here.append(min(above[j] + 1, here[j - 1] + 1, above[j - 1] + (x != y)))
        above = here
    return above[-1]


@dataclass(frozen=True, slots=True, kw_only=True, init=False, repr=False)
class Element(People):
    """Distance 1: the rows of at most `group` elements change, appear or disappear; an element is one person's rows
    with one value of a column.

    `key`: the column that identifies a person. `element`: the column whose values are the elements, such as the site
    that a person visits. It protects less than a whole person, and more than one row.
    """

    kind: ClassVar[str] = "element"
    moves_between_parts: ClassVar[bool] = True
    # A person whose rows of one element change is removed and added back.
    removals: ClassVar[int] = 2
    # Rows of one element may lie in any number of parts.
    one_person: ClassVar[bool] = False
    element: str

    def __init__(self, *, key: str, element: str, group: object = 1) -> None:
        for name, column in (("key", key), ("element", element)):
            given: object = column
            if not isinstance(given, str) or not given:
                got = type(given).__name__
                raise SpecificationError(f"the {name} must be the name of a column", where="Element", got=got)
        if key == element:
            hint = "With one element for each person it is a whole person: use AddRemoveReplace."
            raise SpecificationError("key and element are one column", where="Element", got=repr(key)[:60], hint=hint)
        super(Element, self).__init__(key=key, group=group)
        object.__setattr__(self, "element", element)

    def __repr__(self) -> str:
        return f"Element(key={self.key!r}, element={self.element!r}, group={self.group})"

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that say whose a row is: the key and the element."""
        return (str(self.key), self.element)

    def _owner(self, row: Hashable, domain: Domain) -> Hashable:
        values: Sequence[Hashable] = row  # type: ignore[assignment]
        return values[position(domain, self.key)], values[position(domain, self.element)]

    def changes(self, a: View, b: View) -> int | float:
        one, two = Counter(a), Counter(b)
        # A piece is (owner, rows): an owner whose rows differ has a piece on either side, or on one.
        return len({piece[0] for piece in ((one - two) | (two - one))})  # type: ignore[index]

    def steps_to(self, other: Unit) -> int | None:
        """⌈other.group / group⌉ for the same columns; None otherwise: a person has any number of elements."""
        same = isinstance(other, Element) and (self.key, self.element) == (other.key, other.element)
        return -(-other.group // self.group) if same and isinstance(other, Element) else None

    def times(self, k: int) -> Unit:
        return Element(key=str(self.key), element=self.element, group=self.group * k)

    def _piece(self) -> str:
        one = f"one person's rows of one {self.element}"
        return one if self.group == 1 else f"up to {self.group} times {one}"

    def words(self) -> str:
        piece = self._piece()
        return (
            f"{piece[0].upper()}{piece[1:]} being changed, added to the data or removed from them. Rows that share one "
            f"value of {self.key} belong to one person, and those that share one value of {self.element} as well to "
            "one element."
        )

    def hidden(self) -> str:
        return f"{self._piece()} are these, others or none"

    def unpromised(self) -> str:
        return "hide equally well what several elements of one person show together"

    def to_json(self) -> dict[str, object]:
        return {"kind": self.kind, "key": self.key, "element": self.element, "group": self.group}
