"""DuckDB as an engine: a private connection in memory that can read the declared sources and nothing else."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any, ClassVar

import duckdb
import numpy as np
from numpy.typing import NDArray
from sqlglot import exp

from quincunx.data import Found, Notation, Origin, cast, connect, frame_name, origin_of
from quincunx.errors import DataError, RefusalError, UnavailableError
from quincunx.table.declaration import Declaration
from quincunx.table.engines.binding import bound, first_reading, scanned
from quincunx.table.engines.duckdb import kept_file
from quincunx.table.engines.duckdb.dialect import DUCKDB
from quincunx.table.engines.duckdb.frozen import kept
from quincunx.table.engines.duckdb.snapshot import Snapshot
from quincunx.table.engines.duckdb.stand_in import Stage
from quincunx.table.engines.engine import Binding, Held, Kept, KeptFile, Result, result
from quincunx.table.engines.interruption import noticing
from quincunx.table.engines.keys import normal
from quincunx.table.engines.recent import Recent
from quincunx.table.engines.rows import Source, Sources, stored
from quincunx.table.engines.scan import read
from quincunx.table.engines.statement import Statement, statement
from quincunx.table.measure import Program
from quincunx.table.schema import ColumnSchema, Schema


@dataclass(frozen=True, slots=True)
class _Rehearsed:
    """A program that passed: where its rows are, its statement over sources of their names, and that as DuckDB has
    read it, which takes a millisecond.
    """

    sources: Sources
    written: Statement
    parsed: duckdb.Statement


class DuckDB:
    """Runs programs on tables. `threads` changes the speed and no result.

    snapshot: whether private tables are read once, by the first program that needs each, and kept in memory; None:
    where their sources are slow to read again (CSV files). A file: they are, and come from there once it is made.

    Whatever goes wrong inside is one UnavailableError with a fixed text: the engine's own messages hold values.
    """

    kind: ClassVar[str] = "duckdb"

    def __init__(
        self, tables: Mapping[str, Held], schema: Schema, *, snapshot: Kept = False, threads: int | None = None
    ) -> None:
        private = {name.lower(): table for name, table in tables.items() if not table.public}
        self._tables: Mapping[str, Held] = private | {
            table.name.lower(): kept(table.content)
            for table in schema.tables.values()
            if table.content is not None and table.content.columns is not None
        }
        self._schema = schema
        # Public rows were read when the dataset was opened, and are not read again.
        origins = [_local(table.origin) for table in private.values()]
        self._paths = [path for origin in origins for path in origin.paths]
        self._folders = [folder for origin in origins for folder in origin.folders]
        self._threads = threads
        self._closed = False
        # Programs that passed on made-up rows.
        self._rehearsed = Recent[_Rehearsed]()
        self._stage = Stage()
        self._file = snapshot if isinstance(snapshot, KeptFile) else None
        self._snapshot = Snapshot(
            {
                name: table
                for name, table in self._tables.items()
                if not table.public and (table.origin.kind == "csv" if snapshot is None else snapshot)
            },
            schema,
        )
        self._connection = self._connected()
        if self._file is not None and Path(self._file.path).exists() and not self._attached():
            self.close()
            what = "the snapshot cannot be read, or is of another dataset or version, or of other declarations"
            got, hint = Path(self._file.path).name, "Make it anew by quincunx snapshot, or remove it."
            raise DataError(what, where="snapshot", got=got, hint=hint)

    def __enter__(self) -> DuckDB:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @staticmethod
    def bind(source: object, notation: Notation, columns: Mapping[str, Declaration]) -> Found:  # noqa: ARG004
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

    def keep(self, file: KeptFile) -> None:
        """Read all private tables into a snapshot's file, in the place of what it held. Nothing is asked of them."""
        with noticing() as pressed:
            kept = kept_file.write(file, partial(self._snapshot.rest, file), self._paths, self._folders)
        if not kept and pressed():
            raise KeyboardInterrupt
        if not kept:
            hint = "Check that the sources can be read, and that there is room in the folder."
            raise UnavailableError("the snapshot could not be made", where="duckdb", hint=hint)

    def check(self) -> tuple[str, ...]:
        """Data of this machine are looked at when they are read."""
        return ()

    def sql(self, program: Program) -> str:
        """The statement that `run` would execute; lists of public keys are its parameters. Reads nothing."""
        return statement(program, self._sources(program), DUCKDB).sql

    def rehearse(self, program: Program) -> None:
        """Run the program on no rows and on made-up ones of the same columns; RefusalError if that fails.

        No private row is read. A program that passed is remembered.
        """
        if self._rehearsed.get(program) is not None:
            return
        found = self._sources(program)
        sources = {
            number: replace(source, relation=exp.to_table(self._named(program, number)))
            for number, source in found.items()
        }
        passed = False
        with noticing() as pressed:
            try:
                written = statement(program, sources, DUCKDB)
                for made in self._made_up(program, sources):
                    with self._stage.connection.cursor() as cursor:
                        for name, rows in made.items():
                            cursor.execute(f"CREATE TEMP VIEW {name} AS FROM {rows}")
                        for crowd in {source.crowd for source in sources.values()} - {None}:
                            self._snapshot.gather_made_up(str(crowd), cursor)
                        result(program, _fetched(cursor, written))
                (parsed,) = self._stage.connection.extract_statements(written.sql)
                self._rehearsed.keep(program, _Rehearsed(sources=found, written=written, parsed=parsed))
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
        tried = self._rehearsed.get(program)
        sources = self._sources(program) if tried is None else tried.sources
        written = self._statement(program, sources, tried)
        found: Result | None = None
        used = self._connection
        with noticing() as pressed:
            try:
                cursor = used.cursor()
                try:
                    with ExitStack() as reading:
                        first = {number: first_reading(program, number) for number in sources}
                        opened = {
                            number: self._opened(program, number, sources[number], cursor, reading)
                            for number in sorted(set(first.values()))
                        }
                        now = {
                            number: replace(source, relation=opened[first[number]])
                            for number, source in sources.items()
                        }
                        if any(now[number].relation != source.relation for number, source in sources.items()):
                            written = statement(program, now, DUCKDB)
                        parsed = tried.parsed if tried is not None and written is tried.written else None
                        found = result(program, _fetched(cursor, written, parsed))
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
        if self._connection is used and not self._closed and not _answers(used):
            self._connection = self._connected()
            self._snapshot.forget()
            self._attached()
            used.close()

    def _sources(self, program: Program) -> Sources:
        found = bound(DUCKDB, program, self._tables, self._schema, self.kind)
        kept = {number: self._table(program, number) in self._snapshot for number in found}
        sources = {
            number: self._snapshot.source(self._table(program, number), source) if kept[number] else source
            for number, source in found.items()
        }
        alone = stored(program.query.rows, sources)
        if alone is None or alone.held is None:
            return sources
        return {number: replace(alone, crowd=self._snapshot.crowd(program, alone)) for number in sources}

    def _opened(
        self,
        program: Program,
        number: int,
        source: Source,
        cursor: duckdb.DuckDBPyConnection,
        reading: ExitStack,
    ) -> exp.Expression:
        """What stands in FROM for a scan while `reading` is open. Private rows are read, or will be."""
        table = self._table(program, number)
        if table not in self._snapshot:
            return reading.enter_context(self._origin(program, number).reading(cursor, source.names))
        self._snapshot.make(table, cursor)
        if source.crowd is not None:
            self._snapshot.gather(source.crowd, cursor)
        return exp.to_table(self._snapshot.name(table))

    @staticmethod
    def _table(program: Program, number: int) -> str:
        return program.query.rows.tables[number].name.lower()

    def _named(self, program: Program, number: int) -> str:
        """What the rows of a scan are called in a statement that was written before they were opened."""
        table = self._table(program, number)
        return self._snapshot.name(table) if table in self._snapshot else frame_name(first_reading(program, number))

    def _connected(self) -> duckdb.DuckDBPyConnection:
        kept = [] if self._file is None else kept_file.paths(self._file)
        return connect([*self._paths, *kept], self._threads, folders=self._folders)

    def _attached(self) -> bool:
        """Whether the tables are taken from a file."""
        file = self._file
        if file is None or not kept_file.attached(self._connection, file, self._snapshot.rested(file)):
            return False
        self._snapshot.found()
        return True

    def _statement(self, program: Program, sources: Sources, tried: _Rehearsed | None) -> Statement:
        """The statement of a program; written once where it reads frames and kept tables, as its rehearsal did."""
        frames = all(
            source.relation == exp.to_table(self._named(program, number)) for number, source in sources.items()
        )
        return statement(program, sources, DUCKDB) if tried is None or not frames else tried.written

    def _made_up(self, program: Program, sources: Sources) -> Iterator[dict[str, str]]:
        """What the statement reads → made-up tables for it: first empty ones, then some with rows."""
        made: dict[str, tuple[str, str]] = {}
        for number, source in sources.items():
            name, table = self._named(program, number), self._table(program, number)
            if name not in made:
                names = self._snapshot.names(table) if table in self._snapshot else source.names
                fields = self._origin(program, number).fields
                made[name] = self._stage.relations(table, fields, names, self._schema, len(sources))
                if table in self._snapshot:
                    made[name] = self._stage.kept(made[name], partial(self._keep_made_up, table))
        for place in range(2):
            yield {name: rows[place] for name, rows in made.items()}

    def _keep_made_up(self, table: str, rows: str, name: str) -> None:
        with self._stage.connection.cursor() as cursor:
            self._snapshot.keep(table, exp.to_table(rows), name, cursor)

    def _origin(self, program: Program, number: int) -> Origin:
        origin = _local(scanned(program, number, self._tables))
        return origin if len(program.query.rows.tables) == 1 else origin.beside()


def _answers(connection: duckdb.DuckDBPyConnection) -> bool:
    """Whether a database can still be used, with all that it keeps: after Ctrl-C it can."""
    try:
        connection.cursor().execute("SELECT 1")
    except duckdb.Error:
        return False
    return True


def _local(origin: Binding) -> Origin:
    if not isinstance(origin, Origin):
        raise DataError("the rows are not on this machine", where="duckdb", got=origin.kind)
    return origin


def _fetched(
    cursor: duckdb.DuckDBPyConnection, written: Statement, parsed: duckdb.Statement | None = None
) -> dict[str, NDArray[Any]]:
    """All columns of the result: numbers as they are, keys as Python objects. parsed: the statement, if it was read."""
    cursor.execute(parsed or written.sql, dict(written.parameters))
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
