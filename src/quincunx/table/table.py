"""Tables and what their curator declares about them."""

from __future__ import annotations

import difflib
import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Generic, Literal, Protocol, TypeAlias, TypedDict, Unpack, overload

from quincunx.data import FrameT, Notation, decimal_parts, distinct_names, read_notation, type_of
from quincunx.errors import DataError, SpecificationError, under
from quincunx.spec import AddRemove, Replace
from quincunx.table.content import Content
from quincunx.table.declaration import (
    Declaration,
    check_numbers,
    read_auto,
    read_columns,
    read_keys,
    read_limits,
    read_owner,
    read_span,
)
from quincunx.table.engines.engine import Binding, engine_for, engine_named
from quincunx.table.engines.keys import python_value
from quincunx.table.engines.scan import inside
from quincunx.table.engines.typed_sql import DEFAULTS, integer_type
from quincunx.table.expression import Value
from quincunx.table.links import check_link
from quincunx.table.schema import LENGTH, ColumnSchema, Limits, Link, Schema, TableSchema

if TYPE_CHECKING:
    import duckdb
    import polars

    from quincunx.table.engines.postgres.source import Postgres
    from quincunx.table.engines.spark.source import Spark

__all__ = ["Table", "schema"]

# How many names of columns an error lists.
_SHOWN: Final = 40
# How many values of a public table are kept for questions to look up.
_KEPT: Final = 2**22
# How many different values of a public column are keys by themselves.
_LISTED: Final = 2**14


class Streamed(Protocol):
    """A frame that Arrow can read: of pandas or Polars, an Arrow table or reader of batches, a DuckDB relation."""

    def __arrow_c_stream__(self, requested_schema: Any = None) -> object:
        """Its rows as a stream."""
        ...


class Lazy(Protocol):
    """A lazy frame, which is read when a question asks for it."""

    def collect(self, *args: Any, **kwargs: Any) -> Any:
        """The frame."""
        ...


Frame: TypeAlias = Streamed | Lazy


class _Declared(TypedDict, total=False):
    """What may be declared of a private table, for the checker of types."""

    limits: Mapping[str, object] | Literal["auto"] | None
    columns: Mapping[str, Mapping[str, object]] | None
    owner: Mapping[str, str] | None
    encoding: str | None
    separator: str | None
    decimal: str | None
    thousands: str | None


@dataclass(frozen=True, slots=True, init=False)
class Table(Generic[FrameT]):
    """A table: where its rows are, and what is declared about them.

    source: a pandas or Polars frame (also lazy), an Arrow table or reader of batches, a DuckDB relation, the path of a
    Parquet or CSV file, of a folder of Parquet files or a pattern for them, a table of a database (Postgres), a frame
    or a table of a Spark cluster (Spark).
    limits: how much of one person may count in a question: rows, groups, per_group; "auto" where each question chooses
    privately how many rows count. columns: name → {"type", "bounds",
    "step", "keys", "length", "null"}, each optional. owner: {"via": table, "on": column} where the table has no
    person's key: its rows are those people's to whom rows of `via` with the same value belong. public: anyone may read
    it; it has no limits. encoding, separator, decimal, thousands: how a CSV file is written that is not UTF-8, or not
    1234.5 between commas. Opening reads no private row: the engine that reads the source finds its columns by their
    metadata.
    """

    origin: Binding
    limits: Limits
    columns: Mapping[str, Declaration]
    public: bool
    link: Link | None
    dialect: Notation
    notes: tuple[str, ...]

    # Answers come in the kind of frame that a private table came in.
    @overload
    def __init__(
        self: Table[Any],
        source: Frame | str | Path | Postgres | Spark,
        *,
        public: Literal[True],
        **declared: Unpack[_Declared],
    ) -> None: ...
    @overload
    def __init__(
        self: Table[polars.DataFrame],
        source: polars.DataFrame | polars.LazyFrame,
        *,
        public: bool = False,
        **declared: Unpack[_Declared],
    ) -> None: ...
    @overload
    def __init__(
        self: Table[duckdb.DuckDBPyRelation],
        source: duckdb.DuckDBPyRelation | str | Path | Postgres | Spark,
        *,
        public: bool = False,
        **declared: Unpack[_Declared],
    ) -> None: ...
    @overload
    def __init__(self: Table[Any], source: Frame, *, public: bool = False, **declared: Unpack[_Declared]) -> None: ...
    def __init__(
        self,
        source: Frame | str | Path | Postgres | Spark,
        *,
        limits: Mapping[str, object] | Literal["auto"] | None = None,
        columns: Mapping[str, Mapping[str, object]] | None = None,
        owner: Mapping[str, str] | None = None,
        public: bool = False,
        encoding: str | None = None,
        separator: str | None = None,
        decimal: str | None = None,
        thousands: str | None = None,
    ) -> None:
        declared, dialect = read_columns(columns or {}), read_notation(encoding, separator, decimal, thousands)
        with under("source"):
            origin, hidden = engine_for(source).bind(source, dialect, declared)
        _check_names(declared, origin, hidden)
        if public and limits:
            hint = "Leave limits out: a public table holds nobody's secrets."
            with under("limits"):
                raise DataError("a public table has no limits", where="limits", hint=hint)
        link = None if owner is None else read_owner(owner)
        if public and link is not None:
            hint = "Leave owner out: rows that anyone may read are nobody's."
            with under("owner"):
                raise DataError("a public table has no owner", where="owner", hint=hint)
        object.__setattr__(self, "origin", origin)
        object.__setattr__(self, "limits", read_limits(limits or {}))
        object.__setattr__(self, "columns", declared)
        object.__setattr__(self, "public", public)
        object.__setattr__(self, "link", link)
        object.__setattr__(self, "dialect", dialect)
        object.__setattr__(self, "notes", tuple(f"Column {name} {why}." for name, why in hidden.items()))

    def __repr__(self) -> str:
        # The frame itself may be private; its shape too.
        return f"Table(kind={self.kind!r}, public={self.public})"

    @property
    def encoding(self) -> str | None:
        """The declared encoding of a CSV file."""
        return self.dialect.encoding

    @property
    def kind(self) -> str:
        """pandas, polars, polars-lazy, arrow, duckdb, parquet, csv, postgres or spark."""
        return self.origin.kind

    def schema(self, name: str, tables: Mapping[str, Table]) -> TableSchema:
        """What questions see of this table; keys that name a column of a public table are read from it."""
        columns, content = [], self._content() if self.public else None
        for column, each in zip(self._columns(name), self._declarations(), strict=True):
            with under("columns", column.name, "keys"):
                keys = _keys(f"{name}.columns.{column.name}.keys", each, column.type, tables)
            columns.append(replace(column, keys=keys if keys is not None else _different(content, column)))
        return TableSchema(
            name=name,
            columns=tuple(columns),
            limits=self.limits,
            public=self.public,
            encoding=self.encoding,
            marks=self.dialect.marks,
            link=self.link,
            content=content,
        )

    def _declarations(self) -> list[Declaration]:
        declared = {column.lower(): each for column, each in self.columns.items()}
        return [declared.get(column.lower(), Declaration()) for column, _ in self.origin.fields]

    def _columns(self, name: str) -> list[ColumnSchema]:
        """The visible columns without their keys."""
        found = []
        for (column, storage), each in zip(self.origin.fields, self._declarations(), strict=True):
            with under("columns", column):
                kind = each.type or type_of(storage) or "text"
                check_numbers(f"{name}.{column}", kind, each)
                parts = decimal_parts(storage)
                if kind == "decimal" and parts is not None and each.bounds is not None:
                    low, high = inside(each.bounds, parts)
                    if low > high:
                        where = f"{name}.columns.{column}.bounds"
                        raise DataError("no value of the column lies between the bounds", where=where, got=storage)
                length = LENGTH if each.length is None else each.length
                span = read_span(each, kind, f"{name}.columns.{column}.bounds")
                found.append(
                    ColumnSchema(
                        name=column,
                        type=kind,
                        bounds=each.bounds,
                        step=each.step,
                        length=length,
                        span=span,
                        nullable=each.null,
                        auto=read_auto(each, kind, f"{name}.columns.{column}.bounds"),
                    )
                )
        return found

    def values(self, name: str) -> list[Value]:
        """All values of one column of a public table, in its order."""
        listed = self._columns("table") if self.public else []
        found = next((column for column in listed if column.name.lower() == name.lower()), None)
        if found is None:
            hint = "Name a column of a public table."
            raise DataError(f"no public column {name!r}", where="Table.values", hint=hint)
        return [python_value(row[0]) for row in self._rows([found], texts=False)]

    def digest(self) -> str:
        """SHA-256 of the visible columns and all rows of a public table, in their order."""
        if not self.public:
            raise DataError("only public tables have a digest", where="Table.digest")
        return self._content().digest

    def _content(self) -> Content:
        """All rows of a public table, read now."""
        described = self._columns("table")
        hashed = hashlib.sha256(repr([(each.name, each.type) for each in described]).encode())
        with under("source"):
            rows = self._rows(described, texts=True)
        for row in rows:
            hashed.update(repr(row).encode())
        columns = [tuple(row[place] for row in rows) for place in range(len(described))]
        storage = dict(self.origin.fields)
        types = [
            (each.name, _kept_type(each.type, storage[each.name], values))
            for each, values in zip(described, columns, strict=True)
        ]
        small = len(rows) * len(described) <= _KEPT
        return Content(
            digest=hashed.hexdigest(), types=tuple(types), rows=len(rows), columns=tuple(columns) if small else None
        )

    def _rows(self, columns: Sequence[ColumnSchema], *, texts: bool) -> list[tuple[Any, ...]]:
        return engine_named(self.origin.engine).public_rows(self.origin, columns, texts=texts)


def _different(content: Content | None, column: ColumnSchema) -> tuple[Value, ...] | None:
    """The values of a public column, which anyone may list; decimals are no keys."""
    if content is None or column.type == "decimal":
        return None
    values = content.values(column.name, column.type)
    found = tuple(dict.fromkeys(values or ()))
    return found if 0 < len(found) <= _LISTED else None


def _kept_type(kind: str, storage: str, values: Sequence[str | None]) -> str:
    """The engine's type that holds these values of a declared type exactly."""
    if kind == "decimal" and decimal_parts(storage) is not None:
        return storage
    if kind == "integer":
        whole = [int(value) for value in values if value is not None]
        return integer_type(min(whole, default=0), max(whole, default=0))
    return DEFAULTS[kind]


def schema(tables: Mapping[str, Table], unit: AddRemove | Replace) -> Schema:
    """The schema of all tables. Private tables must hold the unit's key, and its period's column where it has one, or
    lead by a link to one that does.
    """
    with under("tables"):
        names = distinct_names(list(tables), "tables")
    found = {}
    for name in names:
        with under("tables", name):
            found[name] = tables[name].schema(name, tables)
    declared = Schema(tables=found, unit=unit)
    for table in found.values():
        if table.link is not None:
            with under("tables", table.name, "owner"):
                check_link(declared, table)
        elif not table.public:
            with under("spec", "unit"):
                _check_unit(table, unit)
    if all(table.public for table in found.values()):
        with under("tables"):
            hint = "Leave public out for the table with the people."
            raise DataError("no table is private", where="tables", hint=hint)
    return declared


def _check_names(declared: Iterable[str], origin: Binding, hidden: Mapping[str, str]) -> None:
    """Only columns that questions can see are declared."""
    known = {name.lower() for name, _ in origin.fields}
    reasons = {name.lower(): why for name, why in hidden.items()}
    for name in declared:
        with under("columns", name):
            if name.lower() in reasons:
                hint = "Leave its declaration out, or pass the table with this column as a text or a number."
                raise DataError(f"column {name!r} {reasons[name.lower()]}", where=f"columns.{name}", hint=hint)
            if name.lower() not in known:
                shown = [each for each, _ in origin.fields]
                more = f" and {len(shown) - _SHOWN:,} more" if len(shown) > _SHOWN else ""
                close = difflib.get_close_matches(name, shown, n=1)
                hint = f"Did you mean {close[0]!r}?" if close else f"Its columns are {', '.join(shown[:_SHOWN])}{more}."
                raise DataError(f"the table has no column {name!r}", where="columns", hint=hint)


def _check_unit(table: TableSchema, unit: AddRemove | Replace) -> None:
    period = None if unit.per is None else unit.per.column
    for name in unit.columns:
        column = table.column(name)
        if column is None:
            hint = "Name the column that identifies a person."
            raise SpecificationError(f"table {table.name!r} has no column {name!r} to protect", where="unit", hint=hint)
        if name == period and column.type not in ("date", "timestamp"):
            hint = "Choose a column of type date or timestamp."
            raise SpecificationError(f"column {name!r} has no calendar", where="unit", got=column.type, hint=hint)


def _keys(where: str, declared: Declaration, kind: str, tables: Mapping[str, Table]) -> tuple[Value, ...] | None:
    if declared.keys is None:
        return None
    if not isinstance(declared.keys, str):
        return read_keys(declared.keys, kind, where)
    table, dot, column = declared.keys.rpartition(".")
    named = next((each for name, each in tables.items() if name.lower() == table.lower()), None)
    if not dot or named is None or not named.public:
        hint = 'Write a list, or "table.column" of a table that is declared public.'
        raise DataError("the keys are no public column", where=where, got=repr(declared.keys), hint=hint)
    different = dict.fromkeys(value for value in named.values(column) if value is not None)
    return read_keys(list(different), kind, where)
