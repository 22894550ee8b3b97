"""Values written back: as a frame of the kind that was read, or as a Parquet or CSV file.

Only DuckDB is always there; other libraries are imported when their frames are asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeVar

import numpy as np

from quincunx.data.sql import literal, quoted
from quincunx.errors import UnavailableError

if TYPE_CHECKING:
    import duckdb
    from typing_extensions import TypeVar as Defaulted

    # The kind of frame that was read and is written back; whoever does not say it may expect any.
    FrameT = Defaulted("FrameT", covariant=True, default=Any)
else:
    FrameT = TypeVar("FrameT", covariant=True)

# A column's type → DuckDB's, and how its values are handed over; decimals carry their own digits.
_DUCKDB: Final = {
    "integer": "BIGINT",
    "float": "DOUBLE",
    "text": "VARCHAR",
    "date": "DATE",
    "timestamp": "TIMESTAMP",
    "boolean": "BOOLEAN",
}
_NUMPY: Final[Mapping[str, tuple[Any, Any]]] = {
    "BIGINT": (np.int64, 0),
    "DOUBLE": (np.float64, 0.0),
    "BOOLEAN": (np.bool_, False),
}
_PANDAS: Final = {
    "integer": "Int64",
    "float": "float64",
    "boolean": "boolean",
    "text": "string",
    "timestamp": "datetime64[us]",
}
_WIDE: Final = 2**63


class Values(Protocol):
    """A column of values of one type; `float` is binary, `decimal` is exact with `scale` digits after the point."""

    @property
    def name(self) -> str:
        """What it is called."""
        ...

    @property
    def type(self) -> str:
        """integer, decimal, float, text, date, timestamp or boolean."""
        ...

    @property
    def values(self) -> tuple[Any, ...]:
        """A Python value for each row, None where there is none."""
        ...

    @property
    def scale(self) -> int:
        """How many digits of a decimal stand after the point."""
        ...


def relation(columns: Sequence[Values], *, folder: Path | None = None) -> Any:
    """A DuckDB relation over a table of its own, in a fresh connection that can reach nothing but `folder`."""
    import duckdb

    connection = duckdb.connect(":memory:")
    if folder is not None:
        connection.execute("SET allowed_directories = ?", [[str(folder.absolute())]])
    connection.execute("SET enable_external_access = false")
    handed: dict[str, Any] = {"row": np.arange(len(columns[0].values), dtype=np.int64)}
    selected = []
    for i, column in enumerate(columns):
        kind = engine_kind(column)
        handed[f"c{i}"], handed[f"v{i}"] = (
            handed_over(column, kind),
            np.array([v is not None for v in column.values], bool),
        )
        selected.append(f"CASE WHEN v{i} THEN CAST(c{i} AS {kind}) END AS {quoted(column.name)}")
    connection.register("handed", handed)
    connection.execute(f"CREATE TABLE answer AS SELECT {', '.join(selected)} FROM handed ORDER BY row")
    connection.unregister("handed")
    return connection.table("answer")


def like(source: str, columns: Sequence[Values]) -> Any:
    """The frame that fits a source: pandas, polars or arrow; a DuckDB relation for everything else."""
    return _FRAMES.get(source, relation)(columns)


def to_pandas(columns: Sequence[Values]) -> Any:
    """A DataFrame; whole numbers and booleans in the types that hold a missing value."""
    pandas = _library("pandas")
    return pandas.DataFrame(
        {
            column.name: pandas.Series(list(column.values), dtype=_pandas_type(column), name=column.name)
            for column in columns
        }
    )


def to_polars(columns: Sequence[Values]) -> Any:
    """A Polars DataFrame."""
    polars = _library("polars")
    types = {
        "integer": polars.Int64,
        "float": polars.Float64,
        "text": polars.String,
        "date": polars.Date,
        "timestamp": polars.Datetime("us"),
        "boolean": polars.Boolean,
    }
    return polars.DataFrame(
        [
            polars.Series(
                column.name,
                list(column.values),
                dtype=polars.Int128 if _wide(column) else types.get(column.type, polars.Decimal(38, column.scale)),
            )
            for column in columns
        ]
    )


def to_arrow(columns: Sequence[Values]) -> Any:
    """A pyarrow Table."""
    pyarrow = _library("pyarrow")
    return pyarrow.table(relation(columns))


_FRAMES: Final[Mapping[str, Callable[[Sequence[Values]], Any]]] = {
    "pandas": to_pandas,
    "polars": to_polars,
    "polars-lazy": lambda columns: to_polars(columns).lazy(),
    "arrow": to_arrow,
}


def _library(name: str) -> Any:
    try:
        return import_module(name)
    except ImportError:
        hint = f"Install {name}, or take answer.rows, which needs nothing."
        raise UnavailableError(f"{name} is not installed", where="answer", hint=hint) from None


def _wide(column: Values) -> bool:
    return column.type == "integer" and any(v is not None and not -_WIDE <= v < _WIDE for v in column.values)


def engine_kind(column: Values) -> str:
    """DuckDB's type for a column."""
    return "HUGEINT" if _wide(column) else _DUCKDB.get(column.type, f"DECIMAL(38, {column.scale})")


def handed_over(column: Values, kind: str) -> Any:
    """The values as a NumPy array that DuckDB reads as this type; what is missing is anything."""
    if kind in _NUMPY:
        dtype, missing = _NUMPY[kind]
        return np.array([missing if value is None else value for value in column.values], dtype=dtype)
    # Text holds every other value exactly, and is read back by its declared type.
    return np.array([_text(value) for value in column.values], dtype=object)


def _text(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, datetime):
        return value.isoformat(sep=" ")
    return value.isoformat() if isinstance(value, date) else str(value)


def _pandas_type(column: Values) -> str:
    return "object" if _wide(column) else _PANDAS.get(column.type, "object")


# Ending of a file → how DuckDB writes it.
_WRITTEN: Final = {".csv": "FORMAT csv, HEADER true", ".parquet": "FORMAT parquet"}


def copy_to(connection: duckdb.DuckDBPyConnection, query: str, path: Path, ending: str | None = None) -> None:
    """Write the rows of a query. ending: what the file is, where its name does not say it yet."""
    connection.execute(f"COPY ({query}) TO {literal(str(path))} ({_WRITTEN[ending or path.suffix.lower()]})")


def write_file(path: Path, query: str, tables: Mapping[str, Mapping[str, Any]], ending: str | None = None) -> None:
    """Write the rows of a query over tables that are given as arrays by column; OSError where it cannot be done."""
    import duckdb

    connection = duckdb.connect()
    try:
        for name, table in tables.items():
            connection.register(name, dict(table))
        copy_to(connection, query, path, ending)
    except duckdb.Error as error:
        raise OSError(type(error).__name__) from None
    finally:
        connection.close()
