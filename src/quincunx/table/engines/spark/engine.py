"""Spark as an engine: one statement for a question, over views of rows that cannot change while it runs: spark.md."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, ClassVar, Final
from urllib.parse import unquote, urlsplit

import numpy as np
from numpy.typing import NDArray
from sqlglot import exp

from quincunx.data import Notation, frame_name
from quincunx.errors import DataError, RefusalError, UnavailableError
from quincunx.table.declaration import Declaration
from quincunx.table.engines.binding import bound, first_reading
from quincunx.table.engines.engine import Binding, Held, Result, result
from quincunx.table.engines.interruption import noticing
from quincunx.table.engines.recent import Recent
from quincunx.table.engines.rows import Sources
from quincunx.table.engines.spark.dialect import SPARK
from quincunx.table.engines.spark.frozen import FrozenView, kept, listed
from quincunx.table.engines.spark.made_up import count, made_up
from quincunx.table.engines.spark.origin import Found, catalogue, find
from quincunx.table.engines.spark.scratch import Scratch
from quincunx.table.engines.spark.session import alone, narrowed, own, silenced, widened
from quincunx.table.engines.spark.stages import Stages, staged, understood
from quincunx.table.engines.statement import Statement, statement
from quincunx.table.interval import LARGEST
from quincunx.table.measure import Program
from quincunx.table.schema import MAX_LENGTH, ColumnSchema, Schema

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

# From so many bytes on those over the limit are looked for first: it changes the time alone.
LARGE: Final = 2**23


class SparkEngine:
    """Runs programs on tables of one cluster. See Engine for what each method promises."""

    kind: ClassVar[str] = "spark"

    def __init__(self, tables: Mapping[str, Held], schema: Schema, *, snapshot: bool | None = False) -> None:
        if snapshot:
            hint = "Leave snapshot out: what a question needs is written down while it is answered."
            raise DataError("tables of a cluster are not kept", where="snapshot", hint=hint)
        private = {name.lower(): table for name, table in tables.items() if not table.public}
        self._found = {name: _own(table.origin) for name, table in private.items()}
        self._tables: Mapping[str, Held] = private | {
            table.name.lower(): kept(table.content)
            for table in schema.tables.values()
            if table.content is not None and table.content.columns is not None
        }
        self._schema = schema
        self._root, self._scratch = _together(list(self._found.values()))
        self._session: SparkSession | None = None
        self._process = os.getpid()
        self._lock = threading.RLock()
        self._closed = False
        # Whether rows could be written down.
        self._tried = False
        # Programs that passed on made-up rows, with their statements.
        self._rehearsed = Recent[tuple[Statement, Stages]]()

    def __enter__(self) -> SparkEngine:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @staticmethod
    def bind(
        source: object,
        notation: Notation,
        columns: Mapping[str, Declaration],  # noqa: ARG004
    ) -> tuple[Found, Mapping[str, str]]:
        """Where the rows of a source are, and why questions cannot see some of its columns. Reads no row."""
        if notation.declared:
            name = notation.declared[0]
            raise DataError(f"only CSV files have {name}", where=f"Table.{name}", hint=f"Leave {name} out.")
        return find(source)

    @staticmethod
    def public_rows(
        origin: Binding,
        columns: Sequence[ColumnSchema],  # noqa: ARG004
        *,
        texts: bool,  # noqa: ARG004
    ) -> list[tuple[Any, ...]]:
        """Public tables are files or frames of this machine, which DuckDB reads."""
        hint, what = "Copy it into a file: anyone may read it.", "a public table is a file or a frame of this machine"
        raise DataError(what, where="Table", got=origin.kind, hint=hint)

    def close(self) -> None:
        """Remove what was written down. The cluster's session stays its owner's."""
        with self._lock:
            self._closed = True
            self._scratch.close()

    def sql(self, program: Program) -> str:
        """The question as one statement about views of tables and public keys; a large table gets it in parts.

        Reads nothing.
        """
        return self._written(program)[0].sql

    def check(self) -> tuple[str, ...]:
        """Look whether Spark answers, columns are what they were, and rows could be written down. Reads no row."""
        with self._lock, silenced():
            now: dict[str, dict[str, str]] | None = None
            session = self._connect()
            try:
                now = {name: catalogue(found.reading(session)) for name, found in self._found.items()}
                for found in self._found.values():
                    if not found.once:
                        _files(session, found)
            except Exception:
                # Raised below, outside of this handler: Spark's message must not hang on as a context.
                now = None
            written = self._writes(session)
        if now is None:
            hint = "Look at the cluster, the table's name and the grants, and try again; nothing was spent."
            raise UnavailableError("Spark cannot be reached, or a table is gone", where="spark", hint=hint)
        for name, found in self._found.items():
            if any(now[name].get(each) != kind for each, kind in found.fields):
                hint = "Open the session again, and look at what is declared."
                raise UnavailableError("the columns of a table have changed", where=name, hint=hint)
        if not written:
            hint = (
                "Name a folder that all machines of the cluster can write to as this user: scratch. Nothing was spent."
            )
            raise UnavailableError("rows cannot be written down", where="Spark.scratch", hint=hint)
        return ()

    def _writes(self, session: SparkSession) -> bool:
        """Whether what Spark writes to our folder can be read again: tried once, with a row that is nobody's."""
        if not self._tried:
            try:
                with self._scratch.opened() as folder:
                    made, _ = _written_down(session, session.range(1).toDF("z"), [("z", "z")], folder / "tried")
                    self._tried = [row[0] for row in made.collect()] == [0]
            except UnavailableError:
                raise
            except Exception:
                return False
        return self._tried

    def rehearse(self, program: Program) -> None:
        """Look whether everything is as it was, then try the program on made-up rows; no private row is read."""
        with self._lock:
            self.check()
            if self._rehearsed.get(program) is None:
                self._rehearsed.keep(program, self._try(program))

    def run(self, program: Program) -> Result:
        """The exact measures of a program. Every number in the result is private.

        Ctrl-C is KeyboardInterrupt; everything else that goes wrong is one error.
        """
        written, stages = self._written(program)
        found: Result | None = None
        with self._lock, silenced(), noticing() as pressed:
            try:
                found = self._answer(program, written, stages)
            except Exception:
                # Raised below, outside of this handler: the engine's message must not hang on as a context.
                found = None
        if found is None:
            if pressed():
                raise KeyboardInterrupt
            raise UnavailableError(
                "the engine could not compute the question",
                where="spark",
                hint="Look at the cluster: workers, memory, disks, and whether files changed while they were read.",
            )
        return found

    def _answer(self, program: Program, written: Statement, stages: Stages) -> Result:
        session = self._connect()
        with self._scratch.opened() as folder:
            sizes, unchanged = self._open(session, program, written, folder)
            large = sum(sizes.values()) >= LARGE
            with widened(session) if self._short(program) else nullcontext():
                sql = staged(session, stages, folder, sizes) if large else stages.alone
                found = result(program, self._fetched(program, sql))
            for each in unchanged:
                each()
        return found

    def _open(
        self, session: SparkSession, program: Program, written: Statement, folder: Path
    ) -> tuple[dict[str, int], list[Callable[[], None]]]:
        """Make the views of a question. Bytes of its tables by view, and what looks whether files are the same."""
        sizes: dict[str, int] = {}
        unchanged: list[Callable[[], None]] = []
        for number, source in self._first(program).items():
            found = self._found[program.query.rows.tables[number].name.lower()].named(frame_name(number))
            frame = found.reading(session)
            chosen = [_column(found, name) for name in source]
            if found.once:
                with nullcontext() if found.frame is None else narrowed(found.frame.sparkSession):
                    frame, bytes_ = _written_down(session, frame, chosen, folder / found.alias)
            else:
                before = _files(session, found)
                bytes_ = sum(length for *_, length in before)
                frame = frame.selectExpr(*(f"{sql} AS c{i}" for i, (_, sql) in enumerate(chosen)))
                unchanged.append(partial(_compare, session, found, before))
            sizes[found.alias] = bytes_
            frame.toDF(*(name for name, _ in chosen)).createOrReplaceTempView(found.alias)
        self._constants(session, program, written)
        return sizes, unchanged

    def _constants(self, session: SparkSession, program: Program, written: Statement) -> None:
        """Views of public keys and public tables."""
        given = written.parameters
        for i in range(len(program.query.keys)):
            if f"keys{i}" in given:
                listed_ = zip(given[f"keys{i}"], given[f"places{i}"], strict=True)
                # What is too large for a whole number belongs to no row.
                pairs = [(v, place) for v, place in listed_ if not isinstance(v, int) or abs(v) <= LARGEST]
                texts = [None if v is None else _text(v) for v, _ in pairs]
                _view(session, f"keys{i}", {"v": ("STRING", texts), "i": ("BIGINT", [place for _, place in pairs])})
        for number, source in self._sources(program).items():
            origin = self._tables[program.query.rows.tables[number].name.lower()].origin
            if isinstance(origin, FrozenView):
                named = origin.named(frame_name(first_reading(program, number)))
                texts_ = {name: ("STRING", values) for name, values in named.texts(source.names).items()}
                _view(session, f"public_{named.alias}", texts_)

    def _try(self, program: Program) -> tuple[Statement, Stages]:
        """Run the program on made-up rows of the same columns, and look at what is sent where there are many.

        RefusalError if that fails.
        """
        found: tuple[Statement, Stages] | None = None
        with silenced(), noticing() as pressed:
            try:
                found = written, stages = self._written(program)
                session, first = self._connect(), self._first(program)
                for number, names in first.items():
                    table = program.query.rows.tables[number].name
                    fields, owner = self._found[table.lower()].fields, self._schema.unit.key
                    select = made_up(fields, names, self._schema.table(table), owner, count(len(first)))
                    session.sql(select).createOrReplaceTempView(frame_name(number))
                self._constants(session, program, written)
                result(program, self._fetched(program, stages.alone))
                understood(session, stages)
            except (DataError, UnavailableError):
                raise
            except Exception:
                found = None
        if found is None and pressed():
            raise KeyboardInterrupt
        if found is None:
            raise RefusalError(
                "the engine cannot compute this question: it failed on made-up rows; nothing was spent",
                where="spark",
                hint="Write it in another way; no private row was read.",
            )
        return found

    def _first(self, program: Program) -> dict[int, tuple[str, ...]]:
        """The private scans, each table once, with the columns that are read."""
        found: dict[int, dict[str, None]] = {}
        for number, source in self._sources(program).items():
            if not program.query.rows.tables[number].public:
                found.setdefault(first_reading(program, number), {}).update(dict.fromkeys(source.names))
        return {number: tuple(names) for number, names in found.items()}

    def _short(self, program: Program) -> bool:
        """Whether no column that is read can hold more than some bytes in a row, whoever wrote the files."""
        tables = program.query.rows.tables
        kinds = (
            dict(self._found[tables[number].name.lower()].fields)[name]
            for number, names in self._first(program).items()
            for name in names
        )
        return not any(kind.startswith(("VARCHAR", "DECIMAL")) for kind in kinds)

    def _sources(self, program: Program) -> Sources:
        return bound(SPARK, program, self._tables, self._schema, self.kind)

    def _written(self, program: Program) -> tuple[Statement, Stages]:
        if (tried := self._rehearsed.get(program)) is not None:
            return tried
        written = statement(program, self._sources(program), SPARK)
        return written, Stages(written.tree)

    def _fetched(self, program: Program, sql: str) -> dict[str, NDArray[Any]]:
        frame = self._connect().sql(sql)
        return _columns(program, frame.columns, frame.collect())

    def _connect(self) -> SparkSession:
        if self._closed:
            raise UnavailableError("the engine is closed", where="spark", hint="Open a session again.")
        if self._process != os.getpid():
            hint = "Open the session in the process that asks."
            raise UnavailableError("Spark does not survive a fork", where="spark", hint=hint)
        if self._session is None:
            self._session = own(self._root)
        return self._session


def _own(origin: Binding) -> Found:
    if not isinstance(origin, Found):
        raise DataError("the rows are not in Spark", where="spark", got=origin.kind)
    return origin


def _together(found: Sequence[Found]) -> tuple[SparkSession, Scratch]:
    """A session of the one cluster in which all private tables are, and where rows are written down."""
    named = {each.cluster.scratch for each in found if each.cluster.scratch is not None}
    if len(named) > 1:
        got = ", ".join(sorted(named))
        raise DataError("the private tables name different folders", where="Spark.scratch", got=got)
    root: SparkSession = found[0].root
    if not named and not alone(root):
        hint = 'Name a folder that all its machines see, and only you: Spark("clinic.visits", scratch="/shared/ann").'
        raise DataError("a cluster needs a folder in which rows are written down", where="Spark.scratch", hint=hint)
    return root, Scratch(named.pop() if named else None)


def _column(found: Found, name: str) -> tuple[str, str]:
    """A column and how it is taken.

    A text without a collation of its own, without blanks that only fill it, and none that is longer than any may be.
    """
    quoted = exp.to_identifier(name, quoted=True).sql(dialect=SPARK.name)
    if dict(found.fields)[name] != "VARCHAR":
        return name, quoted
    plain = f"CAST({quoted} AS STRING)"
    taken = f"RTRIM({plain})" if name in found.padded else plain
    return name, f"CASE WHEN OCTET_LENGTH({taken}) <= {MAX_LENGTH} THEN {taken} END"


def _written_down(
    session: SparkSession, frame: DataFrame, chosen: Sequence[tuple[str, str]], folder: Path
) -> tuple[DataFrame, int]:
    """The columns, written down once: everything else is about these rows, whatever a second look would see."""
    taken = frame.selectExpr(*(f"{sql} AS c{i}" for i, (_, sql) in enumerate(chosen)))
    taken.write.parquet(folder.as_uri())
    size = sum(each.stat().st_size for each in folder.iterdir())
    return session.read.schema(taken.schema).parquet(folder.as_uri()), size


def _files(session: SparkSession, found: Found) -> list[tuple[str, str, int]]:
    """The files of a folder with their times and sizes. Their content is not read."""
    path = "" if found.source is None else found.source.folder or ""
    listing = session.read.format("binaryFile").load(path)
    names = sorted(listing.inputFiles())
    if alone(session) and all(name.startswith("file:/") for name in names):
        # Of this machine's files the system says it without a job, and to the nanosecond.
        looks = [(name, os.stat(unquote(urlsplit(name).path))) for name in names]
        return [(name, str(look.st_mtime_ns), look.st_size) for name, look in looks]
    rows = listing.selectExpr("path", "CAST(modificationTime AS STRING) AS time", "length").collect()
    return sorted((row["path"], row["time"], row["length"]) for row in rows)


def _compare(session: SparkSession, found: Found, before: list[tuple[str, str, int]]) -> None:
    if _files(session, found) != before:
        raise UnavailableError("files changed while they were read", where="spark")


def _view(session: SparkSession, name: str, columns: Mapping[str, tuple[str, Sequence[Any]]]) -> None:
    select, rows = listed(columns)
    session.sql(select, args={"rows": rows}).createOrReplaceTempView(name)


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else repr(value) if isinstance(value, float) else str(value)


def _columns(program: Program, names: Sequence[str], rows: Iterable[Sequence[Any]]) -> dict[str, NDArray[Any]]:
    """All columns of the answer: numbers as they are, keys as Python objects."""
    found: dict[str, NDArray[Any]] = {}
    held = list(rows)
    for i, name in enumerate(names):
        values = [row[i] for row in held]
        if name.startswith("k"):
            # A wide whole number arrives as a decimal.
            whole = program.query.keys[int(name[1:])].expression.type == "integer"
            values = [int(each) if whole and each is not None else each for each in values]
        column = np.empty(len(held), dtype=object if name.startswith("k") else np.int64)
        column[:] = values
        found[name] = column
    return found
