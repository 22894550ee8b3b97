"""DuckDB as an engine: a private connection in memory that can read the declared sources and nothing else."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
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
from quincunx.table.engines.scan import read
from quincunx.table.engines.stand_in import Stage
from quincunx.table.engines.statement import Source, Statement, owners, statement
from quincunx.table.measure import Program, columns_read
from quincunx.table.plan import Filter, Scan
from quincunx.table.schema import Schema
from quincunx.table.storage import NAME

if TYPE_CHECKING:
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
        source, _ = self._source(program)
        return statement(program, source).sql

    def rehearse(self, program: Program) -> None:
        """Run the program on no rows and on made-up ones of the same columns; RefusalError if that fails.

        No private row is read. A program that passed is remembered.
        """
        if program in self._rehearsed:
            return
        source, table = self._source(program)
        name = next(name for name, each in self._tables.items() if each is table)
        passed = False
        with noticing() as pressed:
            try:
                written = statement(program, replace(source, relation=exp.to_table(NAME)))
                for made in self._stage.relations(name, table.origin.fields, source.names, self._schema):
                    with self._stage.connection.cursor() as cursor:
                        cursor.execute(f"CREATE TEMP VIEW {NAME} AS FROM {made}")
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
        source, table = self._source(program)
        tried = self._rehearsed.get(program) if source.relation == exp.to_table(NAME) else None
        written = statement(program, source) if tried is None else tried
        found: Result | None = None
        used = self._connection
        with noticing() as pressed:
            try:
                cursor = used.cursor()
                try:
                    with table.origin.reading(cursor, source.names) as relation:
                        if relation != source.relation:
                            written = statement(program, replace(source, relation=relation))
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

    def _source(self, program: Program) -> tuple[Source, Table]:
        """Where the rows of a program come from; replay adds the world of each row to its owner."""
        rows = program.query.rows
        scan = rows.source if isinstance(rows, Filter) else rows
        if not isinstance(scan, Scan) or scan.table.lower() not in self._tables:
            raise QueryError("the engine runs planned questions on its own tables", where="duckdb")
        table, declared = self._tables[scan.table.lower()], self._schema.table(scan.table)
        if declared is None or declared.public:
            raise QueryError("the engine runs questions on private tables", where="duckdb", got=scan.table)
        storage = {name.lower(): kind for name, kind in table.origin.fields}
        required = [each.name for each in declared.required]
        names = table.origin.needed([*columns_read(program), *self._schema.unit.columns, *required])
        chosen = [each for each in declared.columns if each.name in names]
        columns = {each.name.lower(): read(each, storage[each.name.lower()]) for each in chosen}
        unclipped = {each.name.lower(): read(each, storage[each.name.lower()], clip=False) for each in chosen}
        source = Source(
            relation=table.origin.relation(names),
            names=tuple(names),
            columns=columns,
            owners=owners(self._schema.unit, unclipped),
            once=table.origin.once,
            required=tuple(columns[name.lower()] for name in required),
        )
        return source, table


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
