"""Where the rows of a table are: frames, relations and files. Types come from metadata, never from values."""

from __future__ import annotations

import csv
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import duckdb
from sqlglot import exp

from quincunx.errors import DataError
from quincunx.table.declaration import distinct_names
from quincunx.table.engines.connection import connect
from quincunx.table.engines.piece import call, decimal_parts, text

# The name under which a frame is known to the engine while a question runs.
NAME: Final = "source"
# Type in the source → type in questions; types that are not here are invisible.
TYPES: Final[Mapping[str, str]] = {
    **dict.fromkeys(("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT"), "integer"),
    **dict.fromkeys(("UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT", "UHUGEINT"), "integer"),
    **dict.fromkeys(("FLOAT", "DOUBLE"), "decimal"),
    **dict.fromkeys(("VARCHAR", "ENUM", "UUID"), "text"),
    "DATE": "date",
    **dict.fromkeys(("TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS"), "timestamp"),
    "TIMESTAMP WITH TIME ZONE": "timestamp",
    "BOOLEAN": "boolean",
}


def type_of(storage: str) -> str | None:
    """The type in questions of a type in the source; None where there is none."""
    if decimal_parts(storage) is not None:
        return "decimal"
    return TYPES.get("ENUM" if storage.startswith("ENUM(") else storage)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Origin:
    """One source. kind: what it is. fields: its visible columns with their types in the source.

    once: it must be read exactly once in a question, because a second reading may differ or is impossible. paths: the
    files that the engine may open. provide: makes the object that the engine reads; None for files.
    """

    kind: str
    fields: tuple[tuple[str, str], ...]
    once: bool = False
    paths: tuple[str, ...] = ()
    provide: Callable[[], object] | None = None
    reader: exp.Expression | None = None

    def relation(self) -> exp.Expression:
        """What stands in FROM."""
        return exp.to_table(NAME) if self.reader is None else self.reader.copy()

    def attach(self, cursor: duckdb.DuckDBPyConnection) -> None:
        """Make the rows readable under `relation` for this cursor, without copying where that is possible."""
        if self.provide is not None:
            cursor.register(NAME, self.provide())


class _Stream:
    """An object that shows nothing but its Arrow stream."""

    def __init__(self, source: Any) -> None:
        self._source = source

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self._source.__arrow_c_stream__(requested_schema)


def find(source: object, declared: Mapping[str, str | None]) -> tuple[Origin, tuple[str, ...]]:
    """The origin of whatever was given, and notes on the columns that questions cannot see."""
    if isinstance(source, str | Path):
        return _file(Path(source))
    room = type(source).__module__.partition(".")[0]
    readers: dict[str, Callable[[Any, Mapping[str, str | None]], tuple[Origin, tuple[str, ...]]]] = {
        "pandas": _pandas,
        "polars": _polars,
        "pyarrow": _arrow,
        "duckdb": _relation,
        "_duckdb": _relation,
    }
    if room not in readers:
        hint = "Give a pandas or Polars frame, an Arrow table, a DuckDB relation, or the path of a Parquet or CSV file."
        raise DataError("cannot read a table from this", where="Table", got=type(source).__name__, hint=hint)
    return readers[room](source, declared)


def _visible(described: list[tuple[str, str]]) -> tuple[tuple[tuple[str, str], ...], tuple[str, ...]]:
    distinct_names([name for name, _ in described], "Table")
    seen = tuple((name, storage) for name, storage in described if type_of(storage) is not None)
    notes = tuple(
        f"Column {name} is of type {storage.partition('(')[0]}, which questions cannot use."
        for name, storage in described
        if type_of(storage) is None
    )
    return seen, notes


def _described(provide: Callable[[], object] | None, reader: exp.Expression | None, paths: list[str]) -> Any:
    """Names and types from the source's own metadata."""
    connection = connect(paths)
    try:
        if provide is not None:
            connection.register(NAME, provide())
        relation = exp.to_table(NAME) if reader is None else reader
        rows = connection.execute(f"DESCRIBE {exp.select('*').from_(relation).sql(dialect='duckdb')}").fetchall()
    except duckdb.Error:
        rows = None
    finally:
        connection.close()
    return None if rows is None else [(str(row[0]), str(row[1])) for row in rows]


def _frame(
    kind: str, empty: object, provide: Callable[[], object], notes: tuple[str, ...] = (), once: bool = False
) -> tuple[Origin, tuple[str, ...]]:
    described = _described(lambda: empty, None, [])
    if described is None:
        raise DataError("the engine cannot read this frame", where="Table", got=kind)
    fields, hidden = _visible(described)
    return Origin(kind=kind, fields=fields, provide=provide, once=once), (*notes, *hidden)


def _pandas(frame: Any, declared: Mapping[str, str | None]) -> tuple[Origin, tuple[str, ...]]:
    if type(frame).__name__ != "DataFrame":
        raise DataError("expected a DataFrame", where="Table", got=type(frame).__name__)
    names = distinct_names(list(frame.columns), "Table")
    kinds = {name.lower(): kind for name, kind in declared.items()}
    columns, notes = {}, []
    for name in names:
        series = frame[name]
        if str(series.dtype) != "object":
            columns[name] = series
        elif kinds.get(name.lower()) is not None:
            columns[name] = _texts(series)
        else:
            notes.append(f"Column {name} holds objects and has no declared type, so questions cannot use it.")
    # A dictionary of series keeps each column's memory; only object columns were converted.
    visible = type(frame)(columns, copy=False)
    return _frame("pandas", visible.iloc[:0], lambda: visible, tuple(notes))


def _texts(series: Any) -> Any:
    """Objects as texts, whatever they are, so that their conversion is the engine's and depends on each alone."""
    missing = series.isna()
    return type(series)(
        [None if gone else str(value) for value, gone in zip(series, missing, strict=True)],
        dtype="str",
        index=series.index,
    )


def _polars(frame: Any, _declared: Mapping[str, str | None]) -> tuple[Origin, tuple[str, ...]]:
    kind = type(frame).__name__
    if kind == "LazyFrame":
        empty = frame.collect_schema().to_frame()
        return _frame("polars-lazy", _Stream(empty), lambda: _Stream(frame.collect()), once=True)
    if kind != "DataFrame":
        raise DataError("expected a DataFrame or a LazyFrame", where="Table", got=kind)
    return _frame("polars", _Stream(frame.clear()), lambda: _Stream(frame), once=True)


def _arrow(table: Any, _declared: Mapping[str, str | None]) -> tuple[Origin, tuple[str, ...]]:
    if type(table).__name__ != "Table":
        hint = "Read it into an Arrow table first."
        raise DataError("expected an Arrow table", where="Table", got=type(table).__name__, hint=hint)
    return _frame("arrow", table.slice(0, 0), lambda: table)


def _relation(relation: Any, _declared: Mapping[str, str | None]) -> tuple[Origin, tuple[str, ...]]:
    if not hasattr(relation, "columns") or not hasattr(relation, "types"):
        hint = 'Give a relation: connection.sql("SELECT …") or connection.table("name").'
        raise DataError("expected a DuckDB relation", where="Table", got=type(relation).__name__, hint=hint)
    described = [(str(name), str(kind)) for name, kind in zip(relation.columns, relation.types, strict=True)]
    fields, notes = _visible(described)
    # A relation lives on its own connection; its rows cross over as one Arrow stream.
    return Origin(kind="duckdb", fields=fields, provide=lambda: _Stream(relation), once=True), notes


def _file(path: Path) -> tuple[Origin, tuple[str, ...]]:
    kind = path.suffix.lower().lstrip(".")
    if kind not in ("parquet", "csv"):
        raise DataError("expected a .parquet or .csv file", where="Table", got=str(path))
    if not path.is_file():
        raise DataError("there is no such file", where="Table", got=str(path))
    full = str(path.resolve())
    if set(full) & set("*?[]{}"):
        hint = "Rename the file: these characters stand for several files."
        raise DataError("the path holds one of * ? [ ] { }", where="Table", got=str(path), hint=hint)
    reader = _parquet(full) if kind == "parquet" else _csv(path, full)
    described = _described(None, reader, [full])
    if described is None:
        raise DataError(f"the file is not readable as {kind}", where="Table", got=str(path))
    fields, notes = _visible(described)
    return Origin(kind=kind, fields=fields, once=True, paths=(full,), reader=reader), notes


def _option(name: str, value: exp.Expression) -> exp.Expression:
    return exp.PropertyEQ(this=exp.to_identifier(name), expression=value)


def _parquet(full: str) -> exp.Expression:
    return call("READ_PARQUET", text(full), _option("hive_partitioning", exp.false()))


def _csv(path: Path, full: str) -> exp.Expression:
    """Comma-separated, quoted with ", names in the first line; every column a text, an empty one NULL.

    Nothing is guessed from the rows: a line with too few fields is padded with NULL, an unreadable one is dropped.
    """
    try:
        with path.open(encoding="utf-8-sig", newline="") as lines:
            names = next(csv.reader(lines), [])
    except (OSError, UnicodeDecodeError, csv.Error):
        names = []
    if not names:
        raise DataError("the first line must hold the columns' names", where="Table", got=str(path))
    distinct_names(names, "Table")
    columns = exp.Struct(expressions=[_option_text(name) for name in names])
    settings = {
        "columns": columns,
        "header": exp.true(),
        "auto_detect": exp.false(),
        "delim": text(","),
        "quote": text('"'),
        "escape": text('"'),
        "null_padding": exp.true(),
        "ignore_errors": exp.true(),
        "strict_mode": exp.false(),
        "parallel": exp.false(),
    }
    read = call("READ_CSV", text(full), *(_option(name, value) for name, value in settings.items()))
    # DuckDB 2.0 moves a TRY_CAST into the reader as a CAST, which drops or refuses the line; a materialised relation
    # stands between.
    apart = exp.select("*").from_("lines").with_("lines", as_=exp.select("*").from_(read), materialized=True)
    return apart.subquery(NAME)


def _option_text(name: str) -> exp.Expression:
    return exp.PropertyEQ(this=text(name), expression=text("VARCHAR"))
