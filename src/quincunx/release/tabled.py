"""A table of published columns: rows, frames and how it looks. What answers and what is worked out from them share."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from datetime import date
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Generic

from quincunx.data import FrameT, out
from quincunx.errors import ParameterError
from quincunx.release import show
from quincunx.release.column import Column

if TYPE_CHECKING:
    from rich.console import RenderableType


class Tabled(ABC, Generic[FrameT]):
    """Columns of published values, companions included. confidence: of all intervals. source: the kind of frame."""

    __slots__ = ()

    columns: tuple[Column, ...]
    confidence: Fraction
    source: str

    @abstractmethod
    def told(self) -> list[str]:
        """The lines below the table."""

    def __len__(self) -> int:
        """The number of rows."""
        return len(self.columns[0].values) if self.columns else 0

    def __getitem__(self, name: str) -> tuple[Any, ...]:
        """The values of a column, companions included: `answer["n_low"]`."""
        for column in self.columns:
            if column.name == name:
                return column.values
        known = ", ".join(column.name for column in self.columns)
        raise ParameterError("there is no such column", where="answer", got=repr(name), hint=f"Columns: {known}.")

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return iter(self.rows)

    @property
    def rows(self) -> list[dict[str, Any]]:
        """The rows as mappings from column to value."""
        names = [column.name for column in self.columns]
        return [dict(zip(names, row, strict=True)) for row in zip(*(c.values for c in self.columns), strict=True)]

    @property
    def keys(self) -> tuple[str, ...]:
        """The names of the columns that are not measured."""
        return tuple(column.name for column in self.columns if column.role == "key")

    @property
    def outputs(self) -> tuple[str, ...]:
        """The names of the measured columns, without companions."""
        return tuple(column.name for column in self.columns if column.role == "value")

    @property
    def value(self) -> Any:
        """The one number of an answer with one row and one measured output."""
        if len(self) != 1 or len(self.outputs) != 1:
            got = f"{len(self)} rows and {len(self.outputs)} outputs"
            raise ParameterError("the answer is not one number", where="value", got=got, hint='Write answer["n"].')
        return self[self.outputs[0]][0]

    @property
    def frame(self) -> FrameT:
        """The table as the kind of frame that the first private table came as; a DuckDB relation for files."""
        found: FrameT = out.like(self.source, self.columns)
        return found

    def to_pandas(self) -> Any:
        """A pandas DataFrame."""
        return out.to_pandas(self.columns)

    def to_polars(self) -> Any:
        """A Polars DataFrame."""
        return out.to_polars(self.columns)

    def to_arrow(self) -> Any:
        """A pyarrow Table."""
        return out.to_arrow(self.columns)

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return out.relation(self.columns).__arrow_c_stream__(requested_schema)

    def _json_rows(self) -> list[dict[str, Any]]:
        """The rows as JSON values."""
        return [{name: _json(value) for name, value in row.items()} for row in self.rows]

    def _json_columns(self) -> list[dict[str, str]]:
        """Names, types, roles and notes of the columns."""
        return [
            {"name": c.name, "type": c.type, "role": c.role} | ({"note": c.note} if c.note else {})
            for c in self.columns
        ]

    def __str__(self) -> str:
        return show.text(self)

    # What a plain interpreter shows is for people: the table.
    __repr__ = __str__

    def __rich__(self) -> RenderableType:
        return show.rich(self)

    def _repr_html_(self) -> str:
        return show.html(self)


def _json(value: Any) -> Any:
    # Exact decimals stay exact as texts; dates and times are ISO texts.
    if isinstance(value, Decimal):
        return str(value)
    return value.isoformat() if isinstance(value, date) else value
