"""Parquet as a source: one file, or several as one table. Opening reads the files' metadata and no row."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from sqlglot import exp

from quincunx.data import arrow
from quincunx.data.connection import metadata
from quincunx.data.folder import Files, literal
from quincunx.data.origin import Found, Origin, columns_of, describing, visible
from quincunx.data.sql import binary, call, cast, choose, column, option, text
from quincunx.data.storage import MILLISECONDS, RAW_TEXT, unchecked
from quincunx.errors import DataError

if TYPE_CHECKING:
    import duckdb

# Rows that cross over at a time where a file is read through Arrow.
_BATCH: Final = 65_536
# The engine's own name for the place of a file in the list.
_PLACE: Final = "file_index"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Parquet(Origin):
    """Parquet files of the same columns, and one column for each key in their folders' names.

    The engine's reader raises where a text is not UTF-8, unless it is told to put something in the place of the bytes
    ("replace") or to leave them out ("ignore"). Either changes the text, and two people could become one; where both
    are asked and agree there was nothing to change, so the text is what they agree on, and NULL elsewhere. Moments in
    milliseconds are read through Arrow, as the whole numbers that they are stored as.
    """

    files: Files

    def relation(self, names: Sequence[str]) -> exp.Expression:
        # What is shown names the files as the curator did: their own names may be facts about people.
        return self._relation(names, shown=len(self.files.paths) > 1 or bool(self.files.keys))

    @contextmanager
    def reading(self, cursor: duckdb.DuckDBPyConnection, names: Sequence[str]) -> Iterator[exp.Expression]:
        relation = self._relation(names, shown=False)
        if isinstance(relation, exp.Table) and relation.name == self.name:
            cursor.register(self.name, _through_arrow(self.files, names, dict(self.fields)))
        yield relation

    def _relation(self, names: Sequence[str], *, shown: bool) -> exp.Expression:
        storage = dict(self.fields)
        if any(storage[name] == MILLISECONDS for name in names):
            return exp.to_table(self.name)
        texts = [name for name in names if storage[name] == RAW_TEXT]
        if not texts and not self.files.keys:
            return _read(self.files, "strict", shown=shown)
        chosen = [exp.alias_(self._value(name, texts, shown=shown), name, quoted=True) for name in names]
        ways = (("replace", "one"), ("ignore", "two")) if texts else (("strict", "one"),)
        first, *second = (_named(_read(self.files, way, shown=shown), name) for way, name in ways)
        select = exp.select(*chosen).from_(first)
        for other in second:
            # Rows side by side, in the order of the files: no filter and no thread may come between the two.
            select = select.join(exp.Join(this=other, method="POSITIONAL"))
        return select.subquery(self.name)

    def _value(self, name: str, texts: Sequence[str], *, shown: bool) -> exp.Expression:
        if name in self.files.keys:
            return _of_folder(self.files, name, shown=shown)
        return _agreed(name) if name in texts else column(name, "one")


def _read(files: Files, validation: str, *, shown: bool) -> exp.Expression:
    options = {
        "hive_partitioning": exp.false(),
        "utf8_validation": text(validation),
        # A file's statistics leave NaN out, and without this the engine concludes from them that there is none.
        "can_have_nan": exp.true(),
    }
    listed = [files.given] if shown else [literal(path) for path in files.paths]
    source = text(listed[0]) if len(listed) == 1 else exp.Array(expressions=[text(path) for path in listed])
    return call("READ_PARQUET", source, *(option(name, value) for name, value in options.items()))


def _of_folder(files: Files, key: str, *, shown: bool) -> exp.Expression:
    """The value of a key for the file that a row stands in."""
    place = files.keys.index(key)
    values = [] if shown else [values[place] for values in files.values]
    listed = exp.Array(expressions=[exp.null() if value is None else text(value) for value in values])
    which = binary(exp.Add, cast(column(_PLACE, "one"), "BIGINT"), cast(text("1"), "BIGINT"))
    return call("LIST_EXTRACT", cast(listed, "VARCHAR[]"), which)


def _named(relation: exp.Expression, name: str) -> exp.Expression:
    return exp.Table(this=relation, alias=exp.TableAlias(this=exp.to_identifier(name)))


def _agreed(name: str) -> exp.Expression:
    """What both readings say of a text, NULL where they differ."""
    same = exp.EQ(this=column(name, "one"), expression=column(name, "two"))
    return choose([(same, column(name, "one"))], exp.null())


def _through_arrow(files: Files, names: Sequence[str], storage: Mapping[str, str]) -> Any:
    """The columns as a stream of Arrow batches, in the types that the engine's own reader would give them."""
    pyarrow = arrow.pyarrow()
    reader = import_module("pyarrow.parquet").ParquetFile
    own = [name for name in names if name not in files.keys]

    def converted(name: str, values: Any) -> Any:
        if storage[name] == MILLISECONDS:
            return values.cast(pyarrow.int64())
        if storage[name] == "DATE":
            return values.cast(pyarrow.date32(), safe=False)
        return values.cast(pyarrow.string()) if storage[name] == "UUID" else arrow.safe(values)

    def batches() -> Iterator[Any]:
        for place, path in enumerate(files.paths):
            for batch in reader(path).iter_batches(batch_size=_BATCH, columns=own):
                found = {name: converted(name, batch.column(name)) for name in own}
                for key in set(names) - set(own):
                    value = pyarrow.scalar(files.values[place][files.keys.index(key)], pyarrow.string())
                    found[key] = pyarrow.repeat(value, batch.num_rows)
                # In one type whatever a file's own: a stream has one schema.
                arrays = [found[name].cast(kind) for name, kind in zip(names, types.types, strict=True)]
                yield pyarrow.RecordBatch.from_arrays(arrays, schema=types)

    first = reader(files.paths[0]).schema_arrow
    none = {name: converted(name, pyarrow.array([], type=first.field(name).type)) for name in own}
    types = pyarrow.schema([(name, none[name].type if name in none else pyarrow.string()) for name in names])
    return pyarrow.RecordBatchReader.from_batches(types, batches())


def find(files: Files) -> Found:
    """The origin of Parquet files, and why questions cannot see some of their columns."""
    paths = tuple(dict.fromkeys([*files.paths, *map(literal, files.paths)]))
    shown = describing(_read(files, "strict", shown=False))
    asked = metadata([(shown, ()), (_STORED, [[literal(path) for path in files.paths]])], paths)
    if asked is None:
        what = "the file is not readable as parquet" if len(files.paths) == 1 else "a file is not readable as parquet"
        raise DataError(what, where="Table", got=files.given)
    found, stored = columns_of(asked[0]), _stored(asked[1])
    _check_alike(files, stored)
    slow = [name for name, entries in stored[0].items() if entries[0][-1]]
    if slow and arrow.pyarrow() is None:
        hint = "Install pyarrow, or write the file with microseconds."
        what = f"column {slow[0]!r} holds moments in milliseconds, which only pyarrow reads without failing"
        raise DataError(what, where="Table", got=files.given, hint=hint)
    own = {name.lower() for name, _ in found}
    # A column that the files hold themselves is read from them; and the name of the engine's own is not free.
    keys = [key for key in files.keys if key.lower() not in own]
    if keys and _PLACE in own:
        hint = "Rename it, or move the files out of the folders with values."
        raise DataError(f"no column beside keys of folders can be called {_PLACE}", where="Table", hint=hint)
    types = [(name, MILLISECONDS if name in slow else unchecked(storage)) for name, storage in found]
    fields, hidden = visible([*types, *((key, "VARCHAR") for key in keys)])
    kept = [files.keys.index(key) for key in keys]
    values = tuple(tuple(each[i] for i in kept) for each in files.values)
    listed = Files(given=files.given, paths=files.paths, keys=tuple(keys), values=values)
    return Parquet(kind="parquet", fields=fields, once=True, paths=paths, files=listed), hidden


# Of each column its own entry and those nested in it: name, number of parts, type, whether it counts milliseconds.
_Stored = Mapping[str, Sequence[tuple[Any, ...]]]


_STORED: Final = (
    "SELECT file_name, name, num_children, duckdb_type, converted_type, logical_type FROM parquet_schema(?)"
)


def _stored(rows: Sequence[tuple[Any, ...]]) -> list[_Stored]:
    """How each file stores its columns, by its own metadata."""
    by_file: dict[str, list[tuple[Any, ...]]] = {}
    for file, *entry, converted, logical in rows:
        by_file.setdefault(file, []).append((*entry, _is_milliseconds(str(converted), str(logical))))
    return [_columns(entries[1:]) for entries in by_file.values()]


def _columns(entries: Sequence[tuple[Any, ...]]) -> _Stored:
    """The columns themselves: what is nested in one follows it, and may have any name."""
    found: dict[str, list[tuple[Any, ...]]] = {}
    nested, last = 0, ""
    for entry in entries:
        last = last if nested else str(entry[0])
        found.setdefault(last, []).append(entry)
        nested = max(0, nested - 1) + (entry[1] or 0)
    return found


def _check_alike(files: Files, stored: Sequence[_Stored]) -> None:
    """All files hold the same columns in the same types. The file that differs is not named."""
    for other in stored[1:]:
        different = [name for name in {**stored[0], **other} if stored[0].get(name) != other.get(name)]
        if different:
            hint = "Write all files with one schema, or open them with DuckDB or Polars, cast, and pass the frame."
            what = f"the files do not all hold column {different[0]!r} in one type"
            raise DataError(what, where="Table", got=files.given, hint=hint)


def _is_milliseconds(converted: str, logical: str) -> bool:
    return converted == "TIMESTAMP_MILLIS" or ("Timestamp" in logical and "MILLIS=MilliSeconds" in logical)
