"""What is asked of an engine, what it computes, and which engines there are."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any, ClassVar, Final, Protocol, TypeAlias, runtime_checkable

import numpy as np
from numpy.typing import NDArray
from sqlglot import exp

from quincunx.data import Notation
from quincunx.errors import DataError
from quincunx.mechanisms import gathered
from quincunx.table.declaration import Declaration
from quincunx.table.engines.keys import python_value
from quincunx.table.expression import Value
from quincunx.table.measure import Program
from quincunx.table.plan import Key
from quincunx.table.schema import ColumnSchema, Schema

# Name → (module, class); loaded when something is opened, so that each may need libraries of its own.
ENGINES: Final[Mapping[str, tuple[str, str]]] = {
    "duckdb": ("quincunx.table.engines.duckdb", "DuckDB"),
    "postgres": ("quincunx.table.engines.postgres", "PostgresEngine"),
    "spark": ("quincunx.table.engines.spark", "SparkEngine"),
}
# Library and class of a source → the engine that reads it; everything else is data of this machine, which DuckDB reads.
ELSEWHERE: Final[dict[tuple[str, str], str]] = {
    ("quincunx", "Postgres"): "postgres",
    ("quincunx", "Spark"): "spark",
    ("pyspark", "DataFrame"): "spark",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """One integer for each group and measure, in lattice units, clamped to ±(2^62 − 1): exact, private, not yet noisy.

    Of a measure that is a histogram, one `Histogram` for each group; of one with a ladder a row: the weight at each
    rung, then the sum at each.
    keys: one tuple for each group; the cross product in its order for public keys, () for a question without GROUP BY.
    selection: for unknown keys the votes for each; None for public ones. It must not leave unnoised.
    """

    keys: list[tuple[Value, ...]]
    measures: tuple[NDArray[Any], ...]
    selection: NDArray[np.int64] | None

    def __repr__(self) -> str:
        # A private value must not appear in a traceback or a log.
        return "Result(private)"


class Binding(Protocol):
    """A source as its engine found it, by metadata alone: where its rows are, and in which types they arrive."""

    engine: ClassVar[str]

    @property
    def kind(self) -> str:
        """What the source is: pandas, parquet, …"""
        ...

    @property
    def fields(self) -> tuple[tuple[str, str], ...]:
        """The columns that questions can see, with the types in which they arrive."""
        ...

    @property
    def once(self) -> bool:
        """Whether it must be read exactly once in a question, because a second reading may differ."""
        ...

    def named(self, name: str) -> Binding:
        """The same rows under another name while they are read: a program may read a table twice."""
        ...

    def needed(self, names: Sequence[str]) -> list[str]:
        """The fields of these names, compared without case; where there are none, one that is cheap to read."""
        ...

    def relation(self, names: Sequence[str]) -> exp.Expression:
        """What stands in FROM for these columns. Reads nothing."""
        ...


class Held(Protocol):
    """A table as engines know it."""

    @property
    def origin(self) -> Binding:
        """Its source, bound by its engine."""
        ...

    @property
    def public(self) -> bool:
        """Whether anyone may read it."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptFile:
    """Where a snapshot rests between sessions. dataset, version: of what it is one; no other is read from there."""

    # Its name says what it holds, and no yes or no is taken for a file.
    ENDING: ClassVar[str] = ".snapshot"

    path: str = field(repr=False)
    dataset: str
    version: str


Kept: TypeAlias = bool | KeptFile | None


class Engine(Protocol):
    """What a session asks of an engine that holds its tables. `run` alone reads private rows.

    snapshot: whether private tables are read once, by the first program that needs each, and kept; None: where their
    sources are slow to read again. A file: they are, and where `keep_rows` has made it, they are taken from there.

    Whatever goes wrong inside `run` is one UnavailableError with a fixed text: engines' own messages hold values.
    """

    kind: ClassVar[str]

    def __init__(self, tables: Mapping[str, Held], schema: Schema, *, snapshot: Kept = False) -> None: ...

    @staticmethod
    def bind(
        source: object, notation: Notation, columns: Mapping[str, Declaration]
    ) -> tuple[Binding, Mapping[str, str]]:
        """Where the rows of a source are, and why questions cannot see some of its columns. Reads no row.

        columns: what is declared, by their names.
        """
        ...

    @staticmethod
    def public_rows(origin: Binding, columns: Sequence[ColumnSchema], *, texts: bool) -> list[tuple[Any, ...]]:
        """All rows of a public source in their order: keys as values, or everything as texts."""
        ...

    def check(self) -> tuple[str, ...]:
        """Look whether the tables can still be read as they were declared; what is worth saying. Reads no row."""
        ...

    def sql(self, program: Program) -> str:
        """The statement that `run` would execute. Reads nothing."""
        ...

    def rehearse(self, program: Program) -> None:
        """Try the program on made-up rows; RefusalError if it fails there. Reads no private row."""
        ...

    def run(self, program: Program) -> Result:
        """The exact measures of a program. Every number in the result is private."""
        ...

    def close(self) -> None:
        """Give everything back."""
        ...


@runtime_checkable
class Keeper(Protocol):
    """An engine that can leave a snapshot in a file."""

    def keep(self, file: KeptFile) -> None:
        """Read all private tables into the file. UnavailableError where that fails."""
        ...


def engine_named(kind: str) -> type[Engine]:
    """The engine of a name in ENGINES."""
    module, name = ENGINES[kind]
    found: type[Engine] = getattr(import_module(module), name)
    return found


def engine_for(source: object) -> type[Engine]:
    """The engine that reads a source."""
    kind = type(source)
    return engine_named(ELSEWHERE.get((kind.__module__.partition(".")[0], kind.__name__), "duckdb"))


def open_engine(tables: Mapping[str, Held], schema: Schema, *, snapshot: Kept = None) -> Engine:
    """The engine that reads the tables: one for all private ones."""
    kinds = {table.origin.engine for table in tables.values() if not table.public}
    if len(kinds) != 1:
        hint = "Bring them together in one place, or open a session for each."
        raise DataError("the private tables are read by different engines", where="tables", hint=hint)
    return engine_named(kinds.pop())(tables, schema, snapshot=snapshot)


def keep_rows(tables: Mapping[str, Held], schema: Schema, file: KeptFile) -> None:
    """Read all private tables into a snapshot's file, in the place of what it held. Nothing is asked of them."""
    with closing(open_engine(tables, schema, snapshot=True)) as engine:
        if not isinstance(engine, Keeper):
            raise DataError("this engine keeps no rows", where="snapshot", got=engine.kind)
        engine.keep(file)


def result(program: Program, columns: Mapping[str, NDArray[Any]]) -> Result:
    """The columns of a statement's answer as a result: groups of public keys that have no row are 0."""
    query, flat = program.query, program.unrolled().measures
    plain = np.asarray(columns["q"]) < 0 if "q" in columns else np.ones(len(columns["m0"]), dtype=bool)
    if not query.known_keys:
        named = [[_key(key, value) for value in columns[f"k{i}"]] for i, key in enumerate(query.keys)]
        listed = list(zip(*named, strict=True))
        keys = [key for key, here in zip(listed, plain.tolist(), strict=True) if here]
        votes = np.asarray(columns["s"], dtype=np.int64)[plain]
        # Values of keys for which nobody voted belong nowhere.
        among = {key: number for number, key in enumerate(keys)}
        place = np.array([among.get(key, -1) for key in listed], dtype=np.int64)
    else:
        keys, votes = list(itertools.product(*(key.values or () for key in query.keys))), None
        place = np.asarray(columns["g"], dtype=np.int64)
    found: list[NDArray[Any]] = []
    for i, measure in enumerate(flat):
        column = np.asarray(columns[f"m{i}"], dtype=np.int64)
        if measure.grid is not None or measure.ladder is not None:
            here = (np.asarray(columns["q"]) == i) & (place >= 0)
            bucket = np.asarray(columns["t"], dtype=np.int64)
            if measure.ladder is not None:
                weights = np.zeros((len(keys), len(measure.ladder.rungs)), dtype=np.int64)
                weights[place[here], bucket[here]] = column[here]
                found.append(weights)
                continue
            found.append(gathered(len(keys), place[here], bucket[here], column[here]))
            continue
        aligned = np.zeros(len(keys), dtype=np.int64)
        aligned[place[plain]] = column[plain]
        found.append(aligned)
    return Result(keys=keys, measures=tuple(_rolled(program, iter(found))), selection=votes)


def _rolled(program: Program, flat: Iterator[NDArray[Any]]) -> Iterator[NDArray[Any]]:
    """One array for each measure: of a ladder, the weights at its rungs with the sums at each behind them."""
    for measure in program.measures:
        parts = [next(flat) for _ in range(1 + len(measure.sums))]
        yield np.column_stack(parts) if len(parts) > 1 else parts[0]


def _key(key: Key, value: Any) -> Value:
    """A key as it is published: one that was read in steps is so many of them."""
    found = python_value(value)
    return found * key.stepped if key.stepped is not None and isinstance(found, int) else found
