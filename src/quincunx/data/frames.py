"""Frames and relations as sources: pandas, Polars, Arrow, DuckDB. Opening one reads its metadata and no row."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Sequence
from typing import Any
from weakref import WeakKeyDictionary

from sqlglot import exp

from quincunx.data import arrow
from quincunx.data.names import distinct_names
from quincunx.data.origin import Found, Given, described, visible
from quincunx.data.series import column_of, storage_of
from quincunx.data.sql import quoted
from quincunx.data.storage import MILLISECONDS, NAME, RAW_TEXT, unchecked
from quincunx.errors import DataError, UnavailableError, kind_of

# Rows of a relation that cross over at a time: with texts of at most 128 KiB no buffer passes 2 GiB, where it raises.
_BATCH = 8_192
_LONGEST = 131_072


class _Stream:
    """An object that shows nothing but its Arrow stream."""

    def __init__(self, source: Any) -> None:
        self._source = source

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self._source.__arrow_c_stream__(requested_schema)


def find(source: object) -> Found:
    """The origin of a frame or a relation, and why questions cannot see some of its columns."""
    room = type(source).__module__.partition(".")[0]
    readers: dict[str, Callable[[Any], Found]] = {
        "pandas": _pandas,
        "polars": _polars,
        "pyarrow": _arrow,
        "duckdb": _relation,
        "_duckdb": _relation,
    }
    if room not in readers:
        hint = "Give a pandas or Polars frame, an Arrow table, a DuckDB relation, or the path of a Parquet or CSV file."
        raise DataError("cannot read a table from this", where="Table", got=kind_of(source), hint=hint)
    return readers[room](source)


def _types(empty: Callable[[Sequence[str]], object], names: Sequence[str]) -> list[tuple[str, str | None]]:
    """The engine's types of the columns of a frame without rows. A column that it cannot read spoils no other."""
    relation = exp.to_table(NAME)
    found = described(relation, given=empty(names)) if names else []
    if found is not None:
        return [(name, unchecked(storage)) for name, storage in found]
    if len(names) == 1:
        return [(names[0], None)]
    half = len(names) // 2
    return [*_types(empty, names[:half]), *_types(empty, names[half:])]


def _pandas(frame: Any) -> Found:
    if type(frame).__name__ != "DataFrame":
        raise DataError("expected a DataFrame", where="Table", got=kind_of(frame))
    # The same memory under another head: a column that the caller replaces later is still the old one here.
    held = frame.copy(deep=False)
    dtypes = dict(zip(distinct_names(list(held.columns), "Table"), held.dtypes, strict=True))
    # One column of each dtype is described; categories are values, so each such column stands for itself.
    like = {name: ("category", name) if str(dtype) == "category" else dtype for name, dtype in dtypes.items()}
    first = {kind: name for name, kind in reversed(like.items())}
    ours = {kind: storage for kind, name in first.items() if (storage := storage_of(dtypes[name])) is not None}

    def empty(chosen: Sequence[str]) -> object:
        return type(held)({name: held[name].iloc[:0] for name in chosen}, copy=False)

    theirs = dict(_types(empty, [name for kind, name in first.items() if kind not in ours]))
    known = {kind: ours[kind] if kind in ours else theirs[name] for kind, name in first.items()}
    fields, hidden = visible([(name, known[kind]) for name, kind in like.items()])
    odd = frozenset(name for name, kind in like.items() if kind in ours)
    origin = Given(kind="pandas", fields=fields, provide=lambda chosen: _pandas_rows(held, odd, chosen))
    return origin, hidden


def _pandas_rows(frame: Any, odd: frozenset[str], names: Sequence[str]) -> object:
    """The columns as they are; as Arrow where one of them would make the engine's reader of pandas raise."""
    columns = {name: column_of(frame[name]) if name in odd else frame[name] for name in names}
    if not odd.intersection(names):
        return type(frame)(columns, copy=False)
    pyarrow = arrow.pyarrow()
    if pyarrow is None:
        return type(frame)(columns, copy=False)
    arrays = {name: column if _is_arrow(column) else pyarrow.array(column) for name, column in columns.items()}
    return pyarrow.table(arrays)


def _is_arrow(column: Any) -> bool:
    return type(column).__module__.partition(".")[0] == "pyarrow"


def _polars(frame: Any) -> Found:
    kind = type(frame).__name__
    if kind not in ("DataFrame", "LazyFrame"):
        raise DataError("expected a DataFrame or a LazyFrame", where="Table", got=kind)
    polars = sys.modules["polars"]
    lazy = kind == "LazyFrame"
    schema = frame.collect_schema() if lazy else frame.schema
    zoned = {name for name, dtype in schema.items() if _zoned_milliseconds(dtype)}
    halves = {name for name, dtype in schema.items() if str(dtype) == "Float16"}
    exact = {name: dtype.scale for name, dtype in schema.items() if type(dtype).__name__ == "Decimal"}
    none = schema.to_frame()

    def safe(name: str) -> Any:
        column = polars.col(name)
        if name in exact:
            return column.cast(polars.Decimal(38, exact[name]), strict=False)
        return column.to_physical() if name in zoned else column.cast(polars.Float32) if name in halves else column

    def chosen(source: Any, names: Sequence[str]) -> Any:
        return source.select([safe(name) for name in names])

    types = _types(lambda names: _Stream(chosen(none, names)), list(schema))
    fields, hidden = visible([(name, MILLISECONDS if name in zoned else storage) for name, storage in types])

    def provide(names: Sequence[str]) -> object:
        rows = chosen(frame, names)
        return _Stream(rows.collect() if lazy else rows)

    return Given(kind="polars-lazy" if lazy else "polars", fields=fields, once=True, provide=provide), hidden


def _zoned_milliseconds(dtype: Any) -> bool:
    return getattr(dtype, "time_unit", None) == "ms" and getattr(dtype, "time_zone", None) is not None


def _arrow(source: Any) -> Found:
    kind = type(source).__name__
    if kind not in ("Table", "RecordBatch", "RecordBatchReader"):
        hint = "Read it into an Arrow table first."
        raise DataError("expected an Arrow table", where="Table", got=kind, hint=hint)
    pyarrow, schema = arrow.pyarrow(), source.schema
    names = distinct_names(list(schema.names), "Table")
    ours = {name: storage for name in names if (storage := arrow.storage(schema.field(name).type)) is not None}

    def chosen(table: Any, wanted: Sequence[str]) -> Any:
        return pyarrow.table({name: arrow.safe(table.column(name)) for name in wanted})

    none = schema.empty_table()
    types = _types(lambda wanted: chosen(none, wanted), names)
    fields, hidden = visible([(name, ours.get(name, storage)) for name, storage in types])
    rows = _READERS.setdefault(source, _Rows(source)) if kind == "RecordBatchReader" else None
    held = pyarrow.Table.from_batches([source]) if kind == "RecordBatch" else source

    def provide(wanted: Sequence[str]) -> object:
        return chosen(held if rows is None else rows.table(), wanted)

    return Given(kind="arrow", fields=fields, provide=provide), hidden


class _Rows:
    """The rows of a reader that can be read once, kept for all questions. Nothing is read before the first."""

    def __init__(self, reader: Any) -> None:
        self._reader = reader
        self._lock = threading.Lock()
        self._table: Any = None

    def table(self) -> Any:
        """All rows. A reader that failed is not asked for the rest, which would pass for the whole."""
        with self._lock:
            if self._table is None:
                reader, self._reader = self._reader, None
                if reader is None:
                    raise UnavailableError("the reader failed before", where="Table")
                self._table = reader.read_all()
            return self._table


# Two tables over one reader share its rows: the second would find none.
_READERS: WeakKeyDictionary[Any, _Rows] = WeakKeyDictionary()


def _relation(relation: Any) -> Found:
    if not hasattr(relation, "columns") or not hasattr(relation, "types"):
        hint = 'Give a relation: connection.sql("SELECT …") or connection.table("name").'
        raise DataError("expected a DuckDB relation", where="Table", got=kind_of(relation), hint=hint)
    described = [(str(name), unchecked(str(kind))) for name, kind in zip(relation.columns, relation.types, strict=True)]
    fields, hidden = visible(described)
    storage = dict(fields)

    def provide(names: Sequence[str]) -> object:
        # A relation lives on its own connection; its rows cross over as one Arrow stream.
        chosen = relation.project(", ".join(_crossing(name, storage[name]) for name in names))
        return _Stream(chosen) if arrow.pyarrow() is None else chosen.to_arrow_reader(_BATCH)

    return Given(kind="duckdb", fields=fields, provide=provide, once=True, alone=True), hidden


def _crossing(name: str, storage: str) -> str:
    if storage != RAW_TEXT:
        return quoted(name)
    shown = f"{quoted(name)}::VARCHAR"
    return f"CASE WHEN strlen({shown}) <= {_LONGEST} THEN {shown} END AS {quoted(name)}"
