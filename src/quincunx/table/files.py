"""Files as sources: Parquet and CSV. Opening one reads its metadata, or its first line, and no row."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, Final

import duckdb
from sqlglot import exp

from quincunx.errors import DataError
from quincunx.table import arrow
from quincunx.table.declaration import distinct_names
from quincunx.table.encoding import UTF8, first_line, private_folder, readable
from quincunx.table.engines.connection import connect
from quincunx.table.engines.piece import call, choose, column, text
from quincunx.table.origin import Found, Origin, described, visible
from quincunx.table.storage import MARKED_TEXT, MILLISECONDS, NAME, RAW_TEXT, unchecked

# Rows that cross over at a time where a file is read through Arrow.
_BATCH: Final = 65_536


def find(path: Path, encoding: str | None) -> Found:
    """The origin of a file, and why questions cannot see some of its columns. encoding: of a CSV file."""
    kind = path.suffix.lower().lstrip(".")
    if kind not in ("parquet", "csv"):
        raise DataError("expected a .parquet or .csv file", where="Table", got=str(path))
    if not path.is_file():
        raise DataError("there is no such file", where="Table", got=str(path))
    full = str(path.resolve())
    if set(full) & set("*?[]{}"):
        hint = "Rename the file: these characters stand for several files."
        raise DataError("the path holds one of * ? [ ] { }", where="Table", got=str(path), hint=hint)
    if kind == "csv":
        return _csv(path, full, encoding or UTF8)
    if encoding is not None:
        hint = "Leave encoding out: Parquet has one of its own."
        raise DataError("only CSV files have an encoding", where="Table.encoding", got=str(path), hint=hint)
    return _parquet(path, full)


def _option(name: str, value: exp.Expression) -> exp.Expression:
    return exp.PropertyEQ(this=exp.to_identifier(name), expression=value)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Parquet(Origin):
    """A Parquet file.

    The engine's reader raises where a text is not UTF-8, unless it is told to put something in the place of the bytes
    ("replace") or to leave them out ("ignore"). Either changes the text, and two people could become one; where both
    are asked and agree there was nothing to change, so the text is what they agree on, and NULL elsewhere. Moments in
    milliseconds are read through Arrow, as the whole numbers that they are stored as.
    """

    path: str

    def relation(self, names: Sequence[str]) -> exp.Expression:
        storage = dict(self.fields)
        if any(storage[name] == MILLISECONDS for name in names):
            return exp.to_table(NAME)
        texts = [name for name in names if storage[name] == RAW_TEXT]
        if not texts:
            return self._read("strict")
        chosen = [
            exp.alias_(_agreed(name) if name in texts else column(name, "one"), name, quoted=True) for name in names
        ]
        # Rows side by side, in the order of the file: no filter and no thread may come between the two.
        one, two = (_named(self._read(way), name) for way, name in (("replace", "one"), ("ignore", "two")))
        return exp.select(*chosen).from_(one).join(exp.Join(this=two, method="POSITIONAL")).subquery(NAME)

    @contextmanager
    def reading(self, cursor: duckdb.DuckDBPyConnection, names: Sequence[str]) -> Iterator[exp.Expression]:
        relation = self.relation(names)
        if isinstance(relation, exp.Table) and relation.name == NAME:
            cursor.register(NAME, _through_arrow(self.path, names, dict(self.fields)))
        yield relation

    def _read(self, validation: str) -> exp.Expression:
        options = {
            "hive_partitioning": exp.false(),
            "utf8_validation": text(validation),
            # A file's statistics leave NaN out, and without this the engine concludes from them that there is none.
            "can_have_nan": exp.true(),
        }
        return call("READ_PARQUET", text(self.path), *(_option(name, value) for name, value in options.items()))


def _named(relation: exp.Expression, name: str) -> exp.Expression:
    return exp.Table(this=relation, alias=exp.TableAlias(this=exp.to_identifier(name)))


def _agreed(name: str) -> exp.Expression:
    """What both readings say of a text, NULL where they differ."""
    same = exp.EQ(this=column(name, "one"), expression=column(name, "two"))
    return choose([(same, column(name, "one"))], exp.null())


def _through_arrow(path: str, names: Sequence[str], storage: Mapping[str, str]) -> Any:
    """The columns as a stream of Arrow batches, in the types that the engine's own reader would give them."""
    pyarrow = arrow.pyarrow()
    file = import_module("pyarrow.parquet").ParquetFile(path)

    def converted(name: str, values: Any) -> Any:
        if storage[name] == MILLISECONDS:
            return values.cast(pyarrow.int64())
        if storage[name] == "DATE":
            return values.cast(pyarrow.date32(), safe=False)
        return values.cast(pyarrow.string()) if storage[name] == "UUID" else arrow.safe(values)

    def batches() -> Iterator[Any]:
        for batch in file.iter_batches(batch_size=_BATCH, columns=list(names)):
            columns = [converted(name, batch.column(name)) for name in names]
            yield pyarrow.RecordBatch.from_arrays(columns, names=list(names))

    none = {name: pyarrow.array([], type=file.schema_arrow.field(name).type) for name in names}
    types = pyarrow.schema([(name, converted(name, values).type) for name, values in none.items()])
    return pyarrow.RecordBatchReader.from_batches(types, batches())


def _parquet(path: Path, full: str) -> Found:
    plain = Parquet(kind="parquet", fields=(), path=full)
    found = described(plain._read("strict"), [full])
    if found is None:
        raise DataError("the file is not readable as parquet", where="Table", got=str(path))
    slow = _milliseconds(full)
    if slow and arrow.pyarrow() is None:
        hint = "Install pyarrow, or write the file with microseconds."
        what = f"column {slow[0]!r} holds moments in milliseconds, which only pyarrow reads without failing"
        raise DataError(what, where="Table", got=str(path), hint=hint)
    types = [(name, MILLISECONDS if name in slow else unchecked(storage)) for name, storage in found]
    fields, hidden = visible(types)
    return Parquet(kind="parquet", fields=fields, once=True, paths=(full,), path=full), hidden


def _milliseconds(full: str) -> list[str]:
    """The columns that are stored as moments in milliseconds, by the file's own metadata."""
    connection = connect([full])
    try:
        query = "SELECT name, num_children, converted_type, logical_type FROM parquet_schema(?)"
        _, *rows = connection.execute(query, [full]).fetchall()
    finally:
        connection.close()
    return [str(name) for name, _, *types in _top(rows) if _is_milliseconds(*map(str, types))]


def _top(rows: Sequence[tuple[Any, ...]]) -> Iterator[tuple[Any, ...]]:
    """The columns themselves: what is nested in one follows it, and may have any name."""
    nested = 0
    for row in rows:
        if not nested:
            yield row
        nested = max(0, nested - 1) + (row[1] or 0)


def _is_milliseconds(converted: str, logical: str) -> bool:
    return converted == "TIMESTAMP_MILLIS" or ("Timestamp" in logical and "MILLIS=MilliSeconds" in logical)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Csv(Origin):
    """A CSV file: comma-separated, quoted with ", names in the first line; every column a text, an empty one NULL.

    Nothing is guessed from the rows: a line with too few fields is padded with NULL, an unreadable one is dropped. A
    field that is not of the file's encoding is NULL.
    """

    path: str
    names: tuple[str, ...]
    encoding: str

    def relation(self, names: Sequence[str]) -> exp.Expression:  # noqa: ARG002
        return self._read(self.path)

    @contextmanager
    def reading(self, cursor: duckdb.DuckDBPyConnection, names: Sequence[str]) -> Iterator[exp.Expression]:  # noqa: ARG002
        with readable(self.path, self.encoding, self.folders[0]) as path:
            yield self._read(path)

    def _read(self, path: str) -> exp.Expression:
        columns = [exp.PropertyEQ(this=text(name), expression=text("VARCHAR")) for name in self.names]
        settings = {
            "columns": exp.Struct(expressions=columns),
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
        read = call("READ_CSV", text(path), *(_option(name, value) for name, value in settings.items()))
        # DuckDB 2.0 moves a TRY_CAST into the reader as a CAST, which drops or refuses the line; a materialised
        # relation stands between.
        apart = exp.select("*").from_("lines").with_("lines", as_=exp.select("*").from_(read), materialized=True)
        return apart.subquery(NAME)


def _csv(path: Path, full: str, encoding: str) -> Found:
    try:
        names = next(csv.reader([first_line(path, encoding)]), [])
    except (OSError, csv.Error):
        names = []
    if not names:
        raise DataError("the first line must hold the columns' names", where="Table", got=str(path))
    distinct_names(names, "Table")
    origin = Csv(
        kind="csv",
        fields=tuple((name, MARKED_TEXT) for name in names),
        once=True,
        paths=(full,),
        folders=(private_folder(),),
        path=full,
        names=tuple(names),
        encoding=encoding,
    )
    if described(origin.relation(names), [full]) is None:
        raise DataError("the file is not readable as csv", where="Table", got=str(path))
    return origin, {}
