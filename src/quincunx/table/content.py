"""Public tables as questions see them: all their rows, as they were when the dataset was opened."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from fractions import Fraction
from typing import Final

from quincunx.table.expression import Value


@dataclass(frozen=True, slots=True, kw_only=True)
class Content:
    """All rows of a public table. What changes in its source later is not seen.

    digest: SHA-256 of names, types and rows, in their order. types: the columns with the types in which an engine holds
    them. columns: the values of each as texts, from which the types give them back; None where there are too many.
    """

    digest: str
    types: tuple[tuple[str, str], ...]
    rows: int
    columns: tuple[tuple[str | None, ...], ...] | None = field(repr=False, compare=False)

    def values(self, name: str, kind: str) -> list[Value] | None:
        """The values of a column of a declared type, in the order of the rows; None where they are not kept."""
        place = next((i for i, (each, _) in enumerate(self.types) if each.lower() == name.lower()), None)
        if place is None or self.columns is None:
            return None
        return read(self.columns[place], kind)


def read(texts: Sequence[str | None], kind: str) -> list[Value] | None:
    """What the texts of an engine stand for; None where one of them is no value of Python's."""
    try:
        return [None if text is None else _READERS[kind](text) for text in texts]
    except ValueError:
        return None


_READERS: Final[Mapping[str, Callable[[str], Value]]] = {
    "integer": int,
    "decimal": Fraction,
    "text": str,
    "date": date.fromisoformat,
    "timestamp": datetime.fromisoformat,
    "boolean": lambda text: text == "true",
}
