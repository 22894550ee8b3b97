"""An answer: a table with companion columns, and everything there is to know about it. A frozen value."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Generic

from quincunx.data import FrameT, out
from quincunx.errors import ParameterError
from quincunx.loss import Loss
from quincunx.numbers import exact_text
from quincunx.release import show
from quincunx.release.column import Column
from quincunx.spec import Specification

if TYPE_CHECKING:
    from rich.console import RenderableType


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer(Generic[FrameT]):
    """The answer to one question, read from what the ledger stored.

    columns: keys, and every measured output n with n_low, n_high and n_se. The interval covers the bounded statistic
    with probability at least `confidence`, row by row; sampling error is not included. n_se: the standard deviation of
    the noise. sql: the question. dataset, version: the data. specification: the dataset's guarantee. loss: what this
    answer leaks at input distance 1. symbol: ε or ρ. spent, delta: what this answer cost the dataset now; 0 for a
    stored answer. remaining, remaining_delta: what the dataset has left. head: the ledger's head. mechanisms: the noise
    of each measured number, in words. biases: what the bounded statistic may lack. notes: what else must be said.
    source: the kind of the first private table's source, which `frame` gives back.
    """

    columns: tuple[Column, ...]
    sql: str
    dataset: str
    version: str
    specification: Specification
    loss: Loss
    symbol: str
    spent: Fraction
    delta: Fraction
    remaining: Fraction
    remaining_delta: Fraction
    head: str
    confidence: Fraction
    mechanisms: tuple[str, ...]
    biases: tuple[str, ...]
    notes: tuple[str, ...]
    source: str

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

    def to_dict(self) -> dict[str, Any]:
        """The whole answer as JSON values: rows, amounts as exact texts, specification, notes."""
        return {
            "rows": [{name: _json(value) for name, value in row.items()} for row in self.rows],
            "spent": exact_text(self.spent),
            "delta": exact_text(self.delta),
            "remaining": exact_text(self.remaining),
            "remaining_delta": exact_text(self.remaining_delta),
            "symbol": self.symbol,
            "head": self.head,
            "confidence": exact_text(self.confidence),
            "columns": [
                {"name": c.name, "type": c.type, "role": c.role} | ({"note": c.note} if c.note else {})
                for c in self.columns
            ],
            "dataset": self.dataset,
            "version": self.version,
            "sql": self.sql,
            "mechanisms": list(self.mechanisms),
            "biases": list(self.biases),
            "notes": list(self.notes),
            "specification": self.specification.to_dict(),
            "loss": json.loads(self.loss.to_json()),
        }

    def to_json(self) -> str:
        """`to_dict` as JSON text."""
        return json.dumps(self.to_dict(), ensure_ascii=False)

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
