"""DuckDB as an engine: a private connection in memory that can read the declared sources and nothing else."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from types import TracebackType
from typing import TYPE_CHECKING, Any

import duckdb
import numpy as np
from numpy.typing import NDArray
from sqlglot import exp

from quincunx.errors import QueryError, RefusalError, UnavailableError
from quincunx.table.engines.connection import connect
from quincunx.table.engines.interruption import noticing
from quincunx.table.engines.keys import python_value
from quincunx.table.engines.result import Result
from quincunx.table.engines.rows import Source, Sources
from quincunx.table.engines.scan import read
from quincunx.table.engines.stand_in import Stage
from quincunx.table.engines.statement import Statement, statement
from quincunx.table.measure import Program, columns_read
from quincunx.table.schema import Schema
from quincunx.table.storage import frame_name

if TYPE_CHECKING:
    from quincunx.table.origin import Origin
    from quincunx.table.source import Table


class DuckDB:
    """Runs programs on tables. `threads` changes the speed and no result.

    Whatever goes wrong inside is one UnavailableError with a fixed text: the engine's own messages hold values.
    """

    kind = "duckdb"

    def __init__(self, tables: Mapping[str, Table], schema: Schema, *, threads: int | None = None) -> None:
        self._tables = {name.lower(): table for name, table in tables.items()}
        self._schema = schema
        self._paths = [path for table in tables.values() for path in table.origin.paths]
        self._folders = [folder for table in tables.values() for folder in table.origin.folders]
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

    def close(self) -> None:
        """Give the connection back."""
        self._closed = True
        self._connection.close()
        self._stage.close()

    def sql(self, program: Program) -> str:
        """The statement that `run` would execute; lists of public keys are its parameters. Reads nothing."""
        return statement(program, self._sources(program)).sql

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
                written = statement(program, sources)
                for made in self._made_up(program, sources):
                    with self._stage.connection.cursor() as cursor:
                        for number, name in made.items():
                            cursor.execute(f"CREATE TEMP VIEW {frame_name(number)} AS FROM {name}")
                        _result(program, _fetched(cursor, written))
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
                            written = statement(program, read_now)
                        found = _result(program, _fetched(cursor, written))
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

    def _connected(self) -> duckdb.DuckDBPyConnection:
        return connect(self._paths, self._threads, folders=self._folders)

    def _statement(self, program: Program, sources: Sources) -> Statement:
        """The statement of a program; written once where it reads frames alone, as its rehearsal did."""
        tried = self._rehearsed.get(program)
        frames = all(source.relation == exp.to_table(frame_name(number)) for number, source in sources.items())
        return statement(program, sources) if tried is None or not frames else tried

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
        """Where the rows of a scan are, under a name of its own."""
        return self._tables[program.query.rows.tables[number].name.lower()].origin.named(frame_name(number))

    def _sources(self, program: Program) -> dict[int, Source]:
        """Where the rows of a program come from, scan by scan."""
        used = columns_read(program)
        return {
            number: self._source(program, number, [slot.name for slot in used if slot.scan == number])
            for number in program.query.rows.tables
        }

    def _source(self, program: Program, number: int, read_: Sequence[str]) -> Source:
        """Where the rows of one scan come from; replay adds the world of each row."""
        name = program.query.rows.tables[number].name
        declared = self._schema.table(name)
        if name.lower() not in self._tables or declared is None:
            raise QueryError("the engine runs planned questions on its own tables", where="duckdb")
        if declared.public:
            raise QueryError("the engine runs questions on private tables", where="duckdb", got=name)
        origin = self._origin(program, number)
        storage = {name.lower(): kind for name, kind in origin.fields}
        required = [each.name for each in declared.required]
        names = origin.needed([*read_, *self._schema.unit.columns, *required])
        chosen = [each for each in declared.columns if each.name in names]
        columns = {each.name.lower(): read(each, storage[each.name.lower()]) for each in chosen}
        unclipped = {each.name.lower(): read(each, storage[each.name.lower()], clip=False) for each in chosen}
        return Source(
            relation=origin.relation(names),
            names=tuple(names),
            columns=columns,
            unclipped=unclipped,
            once=origin.once,
            required=tuple(columns[name.lower()] for name in required),
        )


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


def _result(program: Program, columns: dict[str, NDArray[Any]]) -> Result:
    query, numbers = program.query, range(len(program.measures))
    if not query.known_keys:
        named = [[python_value(value) for value in columns[f"k{i}"]] for i in range(len(query.keys))]
        measures = tuple(np.asarray(columns[f"m{i}"], dtype=np.int64) for i in numbers)
        votes = np.asarray(columns["s"], dtype=np.int64)
        return Result(keys=list(zip(*named, strict=True)), measures=measures, selection=votes)
    keys = list(itertools.product(*(key.values or () for key in query.keys)))
    place = np.asarray(columns["g"], dtype=np.int64)
    aligned = []
    for i in numbers:
        column = np.zeros(len(keys), dtype=np.int64)
        column[place] = np.asarray(columns[f"m{i}"], dtype=np.int64)
        aligned.append(column)
    return Result(keys=keys, measures=tuple(aligned), selection=None)
