"""A column of an answer: Python values of one declared type, and what there is to say about them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, Literal, TypeAlias

from quincunx.release.drawn import Drawn

Role: TypeAlias = Literal["key", "value", "low", "high", "se", "bias"]
# What the types of columns are called; `float` is binary, `decimal` is exact.
TYPES: Final = ("integer", "decimal", "float", "text", "date", "timestamp", "boolean")


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """One column. `type` follows from the plan, never from the values.

    type: integer, decimal (with `scale` digits after the point), float, text, date, timestamp or boolean. role: "key",
    "value", or "low", "high", "se" and "bias" for the companions of a value. note: what was done to it, or what
    it lacks. about: what its interval is about, as "bounded count". drawn: how noise moves it, where that is known.
    """

    name: str
    type: str
    role: Role
    values: tuple[Any, ...]
    scale: int = 0
    note: str = ""
    about: str = ""
    drawn: Drawn | None = field(default=None, repr=False, compare=False)

    def picked(self, rows: Sequence[int]) -> Column:
        """The same column with these rows, in this order."""
        drawn = None if self.drawn is None else self.drawn.picked(rows)
        return replace(self, values=tuple(self.values[row] for row in rows), drawn=drawn)
