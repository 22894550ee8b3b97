"""DuckDB as an engine: a private connection in memory that can read the declared sources and nothing else."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from types import TracebackType
from typing import Any, ClassVar

import duckdb
import numpy as np
from numpy.typing import NDArray
from sqlglot import exp

from quincunx.data import Found, Notation, Origin, cast, connect, frame_name, origin_of
from quincunx.errors import DataError, RefusalError, UnavailableError
from quincunx.table.engines.binding import bound, scanned
from quincunx.table.engines.duckdb.dialect import DUCKDB
from quincunx.table.engines.duckdb.stand_in import Stage
from quincunx.table.engines.engine import Binding, Held, Result, result
from quincunx.table.engines.interruption import noticing
from quincunx.table.engines.keys import normal
from quincunx.table.engines.rows import Sources
from quincunx.table.engines.scan import read
from quincunx.table.engines.statement import Statement, statement
from quincunx.table.measure import Program
from quincunx.table.schema import ColumnSchema, Schema


class DuckDB:
    """Runs programs on tables. `threads` changes the speed and no result.

    Whatever goes wrong inside is one UnavailableError with a fixed text: the engine's own messages hold values.
    """

    kind: ClassVar[str] = "duckdb"

    def __init__(self, tables: Mapping[str, Held], schema: Schema, *, threads: int | None = None) -> None:
        self._tables = {name.lower(): table for name, table in tables.items()}
        self._schema = schema
        # Public rows elsewhere are read by their own engine, while planning.
        near = [table for table in tables.values() if not table.public or isinstance(table.origin, Origin)]
        origins = [_local(table.origin) for table in near]
        self._paths = [path for origin in origins for path in origin.paths]
        self._folders = [folder for origin in origins for folder in origin.folders]
        self._threads = threads
        self._connection = self._connected()
        self._closed = False
        # Programs that passed on made-up rows, and their statements over a source of that name.
        self._rehearsed: dict[Program, Statement] = {}
        self._stage = Stage()

    def __enter__(self) -> DuckDB:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @staticmethod
    def bind(source: object, notation: Notation) -> Found:
        """Where the rows of a source are, and why questions cannot see some of its columns. Reads no row."""
        return origin_of(source, notation)

    @staticmethod
    def public_rows(origin: Binding, columns: Sequence[ColumnSchema], *, texts: bool) -> list[tuple[Any, ...]]:
        """All rows of a public source in their order: keys as values, or everything as texts."""
        local, storage = _local(origin), dict(origin.fields)
        pieces = {each.name: read(DUCKDB, each, storage[each.name]) for each in columns}
        shown = {
            name: cast(each.sql, "VARCHAR") if texts else normal(DUCKDB, each).sql for name, each in pieces.items()
        }
        select = exp.select(*(exp.alias_(sql, name, quoted=True) for name, sql in shown.items()))
        rows: list[tuple[Any, ...]] | None = None
        connection = connect(local.paths, folders=local.folders)
        try:
            with local.reading(connection, list(pieces)) as relation:
                rows = connection.execute(DUCKDB.written(select.from_(relation))).fetchall()
        except Exception:
            rows = None
        finally:
            connection.close()
        if rows is None:
            raise UnavailableError("a public table cannot be read", where="Table", got=origin.kind)
        return rows

    def close(self) -> None:
        """Give the connection back."""
        self._closed = True
        self._connection.close()
        self._stage.close()

    def sql(self, program: Program) -> str:
        """The statement that `run` would execute; lists of public keys are its parameters. Reads nothing."""
        return statement(program, self._sources(program), DUCKDB).sql

    def rehearse(self, program: Program) -> None:
        """Run the program on no rows and on made-up ones of the same columns; RefusalError if that fails.

        No private row is read. A program that passed is remembered.
        """
        if program in self._rehearsed:
            return
        sources = {
            number: replace(source, relation=exp.to_table(frame_name(number)))
            for number, source in self._sources(program).items()
        }
        passed = False
        with noticing() as pressed:
            try:
                written = statement(program, sources, DUCKDB)
                for made in self._made_up(program, sources):
                    with self._stage.connection.cursor() as cursor:
                        for number, name in made.items():
                            cursor.execute(f"CREATE TEMP VIEW {frame_name(number)} AS FROM {name}")
                        result(program, _fetched(cursor, written))
                self._rehearsed[program] = written
                passed = True
            except Exception:
                self._stage = Stage()
        if not passed and pressed():
            raise KeyboardInterrupt
        if not passed:
            raise RefusalError(
                "the engine cannot compute this question: it failed on made-up rows; nothing was spent",
                where="duckdb",
                hint="Write it in another way; no private row was read.",
            )

    def run(self, program: Program) -> Result:
        """The exact measures of a program. Every number in the result is private.

        Ctrl-C is KeyboardInterrupt, whatever the engine makes of it; everything else that goes wrong is one error.
        """
        sources = self._sources(program)
        written = self._statement(program, sources)
        found: Result | None = None
        used = self._connection
        with noticing() as pressed:
            try:
                cursor = used.cursor()
                try:
                    with ExitStack() as reading:
                        opened = {
                            number: reading.enter_context(self._origin(program, number).reading(cursor, source.names))
                            for number, source in sources.items()
                        }
                        if any(opened[number] != source.relation for number, source in sources.items()):
                            read_now = {number: replace(sources[number], relation=opened[number]) for number in opened}
                            written = statement(program, read_now, DUCKDB)
                        found = result(program, _fetched(cursor, written))
                finally:
                    cursor.close()
            except Exception:
                # Raised below, outside of this handler: the engine's message must not hang on as a context.
                found = None
        if found is None:
            self._renew(used)
            if pressed():
                raise KeyboardInterrupt
            raise UnavailableError(
                "the engine could not compute the question",
                where="duckdb",
                hint="Check that the sources can be read and that there is enough memory.",
            )
        return found

    def _renew(self, used: duckdb.DuckDBPyConnection) -> None:
        """After an internal error the whole database is invalid, so the next question gets a new one."""
        if self._connection is used and not self._closed:
            self._connection = self._connected()
            used.close()

    def _sources(self, program: Program) -> Sources:
        return bound(DUCKDB, program, self._tables, self._schema, self.kind)

    def _connected(self) -> duckdb.DuckDBPyConnection:
        return connect(self._paths, self._threads, folders=self._folders)

    def _statement(self, program: Program, sources: Sources) -> Statement:
        """The statement of a program; written once where it reads frames alone, as its rehearsal did."""
        tried = self._rehearsed.get(program)
        frames = all(source.relation == exp.to_table(frame_name(number)) for number, source in sources.items())
        return statement(program, sources, DUCKDB) if tried is None or not frames else tried

    def _made_up(self, program: Program, sources: Sources) -> Iterator[dict[int, str]]:
        """The names of made-up tables for every scan: first empty ones, then some with rows."""
        tables = program.query.rows.tables
        made = {
            number: self._stage.relations(
                tables[number].name.lower(), self._origin(program, number).fields, source.names, self._schema
            )
            for number, source in sources.items()
        }
        for place in range(2):
            yield {number: names[place] for number, names in made.items()}

    def _origin(self, program: Program, number: int) -> Origin:
        return _local(scanned(program, number, self._tables))


def _local(origin: Binding) -> Origin:
    if not isinstance(origin, Origin):
        raise DataError("the rows are not on this machine", where="duckdb", got=origin.kind)
    return origin


def _fetched(cursor: duckdb.DuckDBPyConnection, written: Statement) -> dict[str, NDArray[Any]]:
    """All columns of the result: numbers as they are, keys as Python objects."""
    cursor.execute(written.sql, dict(written.parameters))
    names = [each[0] for each in cursor.description]
    if names[0] == "g":
        return dict(cursor.fetchnumpy())
    rows = cursor.fetchall()
    found: dict[str, NDArray[Any]] = {}
    for i, name in enumerate(names):
        kind = object if name.startswith("k") else np.int64
        column = np.empty(len(rows), dtype=kind)
        column[:] = [row[i] for row in rows]
        found[name] = column
    return found
