"""PostgreSQL as an engine: one statement for a question, by a role that reads and can do nothing else: postgres.md."""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import TracebackType
from typing import TYPE_CHECKING, Any, ClassVar, Final

import numpy as np
from numpy.typing import NDArray

from quincunx.data import Notation, frame_name
from quincunx.errors import DataError, RefusalError, UnavailableError
from quincunx.table.declaration import Declaration
from quincunx.table.engines.binding import bound, first_reading
from quincunx.table.engines.engine import Binding, Held, Result, result
from quincunx.table.engines.interruption import noticing
from quincunx.table.engines.postgres.connection import connect, translated
from quincunx.table.engines.postgres.dialect import POSTGRES
from quincunx.table.engines.postgres.frozen import FrozenLists, kept
from quincunx.table.engines.postgres.made_up import count, made_up
from quincunx.table.engines.postgres.origin import Found, find, settled
from quincunx.table.engines.postgres.source import Postgres
from quincunx.table.engines.recent import Recent
from quincunx.table.engines.rows import Sources
from quincunx.table.engines.statement import Statement, statement
from quincunx.table.measure import Program
from quincunx.table.schema import ColumnSchema, Schema

if TYPE_CHECKING:
    from psycopg import Connection


# Connections that a fork copied: closing them is their parent's business.
_INHERITED: Final[list[Any]] = []


class PostgresEngine:
    """Runs programs on tables of one database. See Engine for what each method promises."""

    kind: ClassVar[str] = "postgres"

    def __init__(self, tables: Mapping[str, Held], schema: Schema, *, snapshot: bool | None = False) -> None:
        if snapshot:
            hint = "Leave snapshot out: each question sees one state of the database."
            raise DataError("tables of a database are not kept", where="snapshot", hint=hint)
        private = {name.lower(): table for name, table in tables.items() if not table.public}
        self._found = {name: _own(table.origin) for name, table in private.items()}
        self._source = _together(list(self._found.values()))
        self._tables: Mapping[str, Held] = private | {
            table.name.lower(): kept(table.content)
            for table in schema.tables.values()
            if table.content is not None and table.content.columns is not None
        }
        self._schema = schema
        self._connection: Connection[Any] | None = None
        self._process = os.getpid()
        self._lock = threading.RLock()
        self._closed = False
        # Programs that passed on made-up rows, and their statements.
        self._rehearsed = Recent[tuple[Statement, dict[str, Any]]]()

    def __enter__(self) -> PostgresEngine:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @staticmethod
    def bind(source: object, notation: Notation, columns: Mapping[str, Declaration]) -> tuple[Found, Mapping[str, str]]:
        """Where the rows of a source are, and why questions cannot see some of its columns. Reads no row."""
        if not isinstance(source, Postgres):
            raise DataError("expected a table of a database", where="Postgres", got=type(source).__name__)
        if notation.declared:
            name = notation.declared[0]
            raise DataError(f"only CSV files have {name}", where=f"Table.{name}", hint=f"Leave {name} out.")
        with translated(source.shown), connect(source) as connection:
            found, hidden = find(connection, source)
        return settled(found, hidden, columns)

    @staticmethod
    def public_rows(
        origin: Binding,
        columns: Sequence[ColumnSchema],  # noqa: ARG004
        *,
        texts: bool,  # noqa: ARG004
    ) -> list[tuple[Any, ...]]:
        """Public tables are files or frames, which DuckDB reads."""
        hint = "Copy it into a file: anyone may read it."
        raise DataError("a public table is a file or a frame", where="Table", got=origin.kind, hint=hint)

    def close(self) -> None:
        """Give the connection back."""
        with self._lock:
            self._closed = True
            self._drop()

    def sql(self, program: Program) -> str:
        """The statement that `run` would execute; lists of public keys are its parameters. Reads nothing."""
        return self._written(program)[0].sql

    def check(self) -> tuple[str, ...]:
        """Connect, and look whether role, grants, settings and types are still what they were. Reads no row."""
        with self._lock, translated(self._source.shown):
            connection = self._living()
            for found in self._found.values():
                now, _ = find(connection, found.source)
                kinds = dict(now.catalogue)
                if now.once != found.once or any(kinds.get(name) != kind for name, kind in found.catalogue):
                    hint = "Open the session again, and look at what is declared."
                    where = f"{found.source.shown} {found.source.table}"
                    raise UnavailableError("the columns of a table have changed", where=where, hint=hint)
        return ()

    def rehearse(self, program: Program) -> None:
        """Look whether everything is as it was, then try the program on made-up rows; no private row is read.

        The connection on which the question will run is open and answers when this returns.
        """
        written, parameters = self._written(program)
        with self._lock:
            self.check()
            with translated(self._source.shown):
                # What stands below a view, its grants and policies, is found by planning the statement.
                self._execute(f"EXPLAIN {written.sql}", parameters)
            if self._rehearsed.get(program) is None:
                self._try(program)
                self._rehearsed.keep(program, (written, parameters))

    def run(self, program: Program) -> Result:
        """The exact measures of a program. Every number in the result is private.

        Ctrl-C is KeyboardInterrupt; everything else that goes wrong is one error.
        """
        written, parameters = self._written(program)
        found: Result | None = None
        with self._lock, noticing() as pressed:
            try:
                found = result(program, _columns(program, *self._execute(written.sql, parameters)))
            except Exception:
                # Raised below, outside of this handler: the engine's message must not hang on as a context.
                found = None
            finally:
                if found is None:
                    self._drop()
        if found is None:
            if pressed():
                raise KeyboardInterrupt
            raise UnavailableError(
                "the engine could not compute the question",
                where="postgres",
                hint="Look at the database: whether it answers, its disk, memory and limits on temporary files.",
            )
        return found

    def _try(self, program: Program) -> None:
        """Run the program on no rows and on made-up ones of the same columns; RefusalError if that fails."""
        sources, parameters = self._made_up(program)
        passed = False
        with noticing() as pressed:
            try:
                written = statement(program, sources, POSTGRES)
                for rows in (0, count(len(sources))):
                    numbers = {name: [*map(str, range(rows))] for name in parameters if name.startswith("rows")}
                    given = {**parameters, **numbers, **written.parameters}
                    result(program, _columns(program, *self._execute(written.sql, given)))
                passed = True
            except Exception:
                passed = False
            finally:
                if not passed:
                    self._drop()
        if not passed and pressed():
            raise KeyboardInterrupt
        if not passed:
            raise RefusalError(
                "the engine cannot compute this question: it failed on made-up rows; nothing was spent",
                where="postgres",
                hint="Write it in another way; no private row was read.",
            )

    def _made_up(self, program: Program) -> tuple[Sources, dict[str, Any]]:
        found, parameters = dict(self._sources(program)), self._public(program)
        for number, source in found.items():
            table = program.query.rows.tables[number]
            if table.public:
                continue
            fields, first = self._found[table.name.lower()].fields, first_reading(program, number)
            declared = self._schema.table(table.name)
            select, given = made_up(fields, source.names, declared, self._schema.unit.key, str(first))
            parameters |= {**given, f"rows{first}": []}
            found[number] = replace(source, relation=select.subquery(f"source{first}"))
        return found, parameters

    def _sources(self, program: Program) -> Sources:
        return bound(POSTGRES, program, self._tables, self._schema, self.kind)

    def _written(self, program: Program) -> tuple[Statement, dict[str, Any]]:
        if (tried := self._rehearsed.get(program)) is not None:
            return tried
        written = statement(program, self._sources(program), POSTGRES)
        return written, {**written.parameters, **self._public(program)}

    def _public(self, program: Program) -> dict[str, Any]:
        """The rows of public tables, as parameters."""
        given: dict[str, Any] = {}
        for number, source in self._sources(program).items():
            name = program.query.rows.tables[number].name.lower()
            origin = self._tables[name].origin
            if isinstance(origin, FrozenLists):
                given |= origin.named(frame_name(first_reading(program, number))).parameters(source.names)
        return given

    def _execute(self, sql: str, parameters: Mapping[str, Any]) -> tuple[list[str], list[tuple[Any, ...]]]:
        """Names and rows of one statement, which sees one snapshot. Parameters are numbered in the order of names."""
        connection = self._connect()
        cursor = connection.execute(sql.encode(), _parameters(parameters))
        return [each.name for each in cursor.description or ()], cursor.fetchall()

    def _connect(self) -> Connection[Any]:
        """The connection of this process, made anew where it was lost."""
        if self._closed:
            raise UnavailableError("the engine is closed", where="postgres", hint="Open a session again.")
        if self._process != os.getpid():
            # What a fork copied stays its parent's.
            _INHERITED.append(self._connection)
            self._connection, self._process = None, os.getpid()
        if self._connection is None or self._connection.broken or self._connection.closed:
            self._connection = connect(self._source)
        return self._connection

    def _living(self) -> Connection[Any]:
        """A connection that answers: one that was lost while it lay idle is replaced."""
        from psycopg import OperationalError

        connection = self._connect()
        try:
            connection.execute(b"SELECT 1")
        except OperationalError:
            self._drop()
            connection = self._connect()
        return connection

    def _drop(self) -> None:
        if self._connection is not None and self._process == os.getpid():
            self._connection.close()
        self._connection = None


def _own(origin: Binding) -> Found:
    if not isinstance(origin, Found):
        raise DataError("the rows are in no database", where="postgres", got=origin.kind)
    return origin


def _together(found: Sequence[Found]) -> Postgres:
    """The one database in which all private tables are."""
    if len({each.source.address for each in found}) != 1:
        hint = "Name the same address for all of them, or open a session for each."
        raise DataError("the private tables are in different databases", where="tables", hint=hint)
    return found[0].source


def _parameters(given: Mapping[str, Any]) -> list[list[str | None]]:
    """Lists of texts, in the order of their names. A key with a zero character is no text of the database."""
    zero = {name for name, values in given.items() if any(isinstance(each, str) and "\0" in each for each in values)}
    places = {name: [i for i, each in enumerate(given[name]) if "\0" not in str(each)] for name in zero}
    beside = {name.replace("keys", "places"): kept for name, kept in places.items()}
    found = []
    for name in sorted(given):
        values = given[name]
        chosen = places.get(name, beside.get(name))
        values = values if chosen is None else [values[i] for i in chosen]
        found.append([None if each is None else _text(each) for each in values])
    return found


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else repr(value) if isinstance(value, float) else str(value)


def _columns(program: Program, names: Sequence[str], rows: Sequence[tuple[Any, ...]]) -> dict[str, NDArray[Any]]:
    """All columns of the answer: numbers as they are, keys as Python objects."""
    found: dict[str, NDArray[Any]] = {}
    for i, name in enumerate(names):
        values = [row[i] for row in rows]
        if name.startswith("k"):
            # A wide whole number arrives as a decimal.
            whole = program.query.keys[int(name[1:])].expression.type == "integer"
            values = [int(each) if whole and each is not None else each for each in values]
        column = np.empty(len(rows), dtype=object if name.startswith("k") else np.int64)
        column[:] = values
        found[name] = column
    return found
