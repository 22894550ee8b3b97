"""Small worlds for replay: rows of generated texts, units of protection, and pairs that differ by one change."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

# One row: a text for each column of the table, in its order, or None for NULL. The engine casts texts to types.
Row: TypeAlias = tuple[str | None, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """One unit of protection with all its rows. owner: what identifies it among the pieces of a world."""

    owner: tuple[str | None, ...]
    rows: tuple[Row, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """Two neighbouring worlds: `common` with `before`, and `common` with `after`. kind: how the change was made."""

    kind: str
    common: tuple[Piece, ...]
    before: tuple[Piece, ...]
    after: tuple[Piece, ...]

    @property
    def worlds(self) -> tuple[tuple[Row, ...], tuple[Row, ...]]:
        """The rows of both worlds."""
        first, second = (
            tuple(row for piece in (*self.common, *changed) for row in piece.rows)
            for changed in (self.before, self.after)
        )
        return first, second

    @property
    def size(self) -> int:
        """How many rows both worlds have together."""
        return sum(map(len, self.worlds))
