"""Where the rows of a table are, and in which types they arrive. Types come from metadata, never from values.

**The scan is total.** No row may make a question fail: which questions fail would give the row away. Readers raise
before any TRY is reached, so what could make one raise is not left to it. Texts arrive as bytes that may not be UTF-8,
or already checked; moments that a reader would have to multiply arrive as the whole numbers that they are stored as.
`table/engines/duckdb/scan.py` makes values of both. See origin.md.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar

from sqlglot import exp

from quincunx.data.connection import metadata
from quincunx.data.names import distinct_names
from quincunx.data.sql import LANGUAGE, quoted
from quincunx.data.storage import NAME, RAW_TEXT, TYPES, type_of

if TYPE_CHECKING:
    import duckdb

Fields = tuple[tuple[str, str], ...]
# Column → the end of a sentence that says why questions cannot see it.
Hidden = Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Origin(ABC):
    """One source. kind: what it is. fields: its visible columns with the types in which they arrive.

    once: it must be read exactly once in a question, because a second reading may differ or is impossible. paths,
    folders: the files that the engine may open, and the folders in which it may open any.
    """

    engine: ClassVar[str] = "duckdb"

    kind: str
    fields: Fields
    once: bool = False
    # In no repr: of several files the names may be facts about people.
    paths: tuple[str, ...] = field(default=(), repr=False)
    folders: tuple[str, ...] = ()
    # What its rows are called while they are read.
    name: str = NAME

    @abstractmethod
    def relation(self, names: Sequence[str]) -> exp.Expression:
        """What stands in FROM for these columns. Reads nothing."""

    @abstractmethod
    def reading(
        self, cursor: duckdb.DuckDBPyConnection, names: Sequence[str]
    ) -> AbstractContextManager[exp.Expression]:
        """Make the rows of these columns readable for this cursor; what stands in FROM while they are."""

    def named(self, name: str) -> Origin:
        """The same rows under another name while they are read."""
        return self if name == self.name else replace(self, name=name)

    def beside(self) -> Origin:
        """The same rows, in a question that reads other tables too."""
        return self

    def needed(self, names: Sequence[str]) -> list[str]:
        """The fields of these names, compared without case; where there are none, one that is cheap to read."""
        wanted = {name.lower() for name in names}
        found = [name for name, _ in self.fields if name.lower() in wanted]
        return found or [min(self.fields, key=lambda field: TYPES.get(field[1]) == "text")[0]]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Given(Origin):
    """Rows that an object of this process holds. provide: makes what the engine reads, from the wanted columns.

    alone: it streams from a connection that answers one question at a time, perhaps that of another table. drained: it
    is read to its end before anything else is read.
    """

    provide: Callable[[Sequence[str]], object]
    alone: bool = False
    drained: bool = False

    def beside(self) -> Origin:
        return replace(self, drained=True) if self.alone else self

    def relation(self, names: Sequence[str]) -> exp.Expression:  # noqa: ARG002
        return exp.to_table(self.name)

    @contextmanager
    def reading(self, cursor: duckdb.DuckDBPyConnection, names: Sequence[str]) -> Iterator[exp.Expression]:
        if not self.drained:
            cursor.register(self.name, self.provide(names))
            try:
                yield self.relation(names)
            finally:
                cursor.unregister(self.name)
            return
        stream = f"{self.name}_stream"
        cursor.register(stream, self.provide(names))
        try:
            cursor.execute(f"CREATE TEMP TABLE {self.name} AS SELECT {self._storable(names)} FROM {stream}")
        finally:
            cursor.unregister(stream)
        try:
            yield self.relation(names)
        finally:
            cursor.execute(f"DROP TABLE {self.name}")

    def _storable(self, names: Sequence[str]) -> str:
        """The columns as a table can hold them: one refuses a text that is none, which a scan would read as NULL."""
        kinds = dict(self.fields)
        whole = {name: quoted(name) for name in names}
        return ", ".join(
            f"TRY(DECODE(ENCODE({each}))) AS {each}" if kinds[name] == RAW_TEXT else each
            for name, each in whole.items()
        )


def visible(described: Sequence[tuple[str, str | None]]) -> tuple[Fields, Hidden]:
    """The columns that questions can see, and why not the others; None: the engine cannot read it at all."""
    distinct_names([name for name, _ in described], "Table")
    seen = tuple((name, storage) for name, storage in described if storage is not None and type_of(storage) is not None)
    shown = dict(seen)
    hidden = {
        name: "is of a type that the engine cannot read"
        if storage is None
        else f"is of type {storage.partition('(')[0]}, which questions cannot use"
        for name, storage in described
        if name not in shown
    }
    return seen, hidden


def describing(relation: exp.Expression) -> str:
    """A query for the names and types of a source, from its own metadata."""
    return f"DESCRIBE {exp.select('*').from_(relation).sql(dialect=LANGUAGE)}"


def columns_of(rows: Sequence[tuple[Any, ...]]) -> list[tuple[str, str]]:
    """What such a query answers."""
    return [(str(row[0]), str(row[1])) for row in rows]


def described(
    relation: exp.Expression, paths: Sequence[str] = (), given: object = None
) -> list[tuple[str, str]] | None:
    """Names and types from a source's own metadata; None where the engine cannot read it."""
    rows = metadata([(describing(relation), ())], paths, given=given)
    return None if rows is None else columns_of(rows[0])


Found = tuple[Origin, Hidden]
