"""Small worlds for replay: rows of generated texts, units of protection, and pairs that differ by one change."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

# One row: a text for each column of its table, in its order, or None for NULL. The engine casts texts to types.
Row: TypeAlias = tuple[str | None, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """All rows of one unit of protection in one table. owner: what identifies the unit among those of a world."""

    owner: tuple[str | None, ...]
    rows: tuple[Row, ...]
    table: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """Two neighbouring worlds: `common` with `before`, and `common` with `after`. kind: how the change was made.

    A unit that has rows in several tables has a piece in each.
    """

    kind: str
    common: tuple[Piece, ...]
    before: tuple[Piece, ...]
    after: tuple[Piece, ...]

    @property
    def worlds(self) -> tuple[tuple[Row, ...], tuple[Row, ...]]:
        """The rows of both worlds, of all tables."""
        first, second = (
            tuple(row for piece in (*self.common, *changed) for row in piece.rows)
            for changed in (self.before, self.after)
        )
        return first, second

    @property
    def size(self) -> int:
        """How many rows both worlds have together."""
        return sum(map(len, self.worlds))

    def rows(self, table: str) -> tuple[tuple[Row, ...], tuple[Row, ...]]:
        """The rows of one table in both worlds."""
        first, second = (
            tuple(row for piece in (*self.common, *changed) if piece.table == table for row in piece.rows)
            for changed in (self.before, self.after)
        )
        return first, second
