"""What is asked of an engine, what it computes, and which engines there are."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar, Final, Protocol

import numpy as np
from numpy.typing import NDArray

from quincunx.errors import DataError
from quincunx.table.engines.keys import python_value
from quincunx.table.expression import Value
from quincunx.table.measure import Program

if TYPE_CHECKING:
    from quincunx.table.schema import Schema
    from quincunx.table.source import Table

# Name → (module, class); loaded when an engine is opened, so that each may need libraries of its own.
ENGINES: Final[Mapping[str, tuple[str, str]]] = {"duckdb": ("quincunx.table.engines.duckdb", "DuckDB")}


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """One integer for each group and measure, in lattice units, clamped to ±(2^62 − 1): exact, private, not yet noisy.

    keys: one tuple for each group; the cross product in its order for public keys, () for a question without GROUP BY.
    selection: for unknown keys the votes for each; None for public ones. It must not leave unnoised.
    """

    keys: list[tuple[Value, ...]]
    measures: tuple[NDArray[np.int64], ...]
    selection: NDArray[np.int64] | None

    def __repr__(self) -> str:
        # A private value must not appear in a traceback or a log.
        return "Result(private)"


class Engine(Protocol):
    """What a session asks of an engine that holds its tables. `run` alone reads private rows.

    Whatever goes wrong inside `run` is one UnavailableError with a fixed text: engines' own messages hold values.
    """

    kind: ClassVar[str]

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


def open_engine(tables: Mapping[str, Table], schema: Schema) -> Engine:
    """The engine that reads the tables: one for all private ones."""
    kinds = {table.origin.engine for table in tables.values() if not table.public}
    if len(kinds) != 1:
        hint = "Bring them together in one place, or open a session for each."
        raise DataError("the private tables are read by different engines", where="tables", hint=hint)
    module, name = ENGINES[kinds.pop()]
    engine: Engine = getattr(import_module(module), name)(tables, schema)
    return engine


def result(program: Program, columns: Mapping[str, NDArray[Any]]) -> Result:
    """The columns of a statement's answer as a result: groups of public keys that have no row are 0."""
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
