"""Many worlds in one engine query: the world of a row is a part of its owner and of its group.

What runs is the engine's own statement for the program with one more public key, the world, which the program says to
be one (`worlds`): a column of every private table. See replay.md for what this exercises and what only the plain way
does.
"""

from __future__ import annotations

import atexit
import functools
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, TypeAlias

import duckdb
import numpy as np

from quincunx.audit.tables.world import Row
from quincunx.data import quoted
from quincunx.errors import DataError
from quincunx.table import Column, ColumnSchema, DuckDB, Key, Program, Result, Schema, Table, TableSchema

# The extra column; no declared column may have its name.
WORLD: Final = "world of replay"


# The rows of the private tables of one world, by their names.
World: TypeAlias = Mapping[str, Sequence[Row]]
# The type of every column in its source, by table, both as they are spelled in the schema; columns in lower case.
Storage: TypeAlias = Mapping[str, Mapping[str, str]]


class Worlds:
    """Several worlds of private tables, ready for programs."""

    def __init__(self, schema: Schema, storage: Storage, worlds: Sequence[World]) -> None:
        self._count = len(worlds)
        self._rows = duckdb.connect(":memory:")
        world = ColumnSchema(name=WORLD, type="integer")
        wider, sources = dict(schema.tables), {}
        for place, (name, kinds) in enumerate(storage.items()):
            table = schema.tables[name]
            if table.column(WORLD) is not None:
                raise DataError("a column has the name that replay needs", where=table.name, got=repr(WORLD))
            numbered = [(str(i), *row) for i, rows in enumerate(worlds) for row in rows[name]]
            names = [WORLD, *(each.name for each in table.columns)]
            types = ["BIGINT", *(kinds[each.name.lower()] for each in table.columns)]
            _fill(self._rows, f"t{place}", names, types, numbered)
            wider[name] = replace(table, columns=(world, *table.columns))
            sources[name] = Table(self._rows.table(f"t{place}"))
        self._engine = DuckDB(sources, replace(schema, tables=wider), threads=1)

    def close(self) -> None:
        """Give everything back."""
        self._engine.close()
        self._rows.close()

    def run(self, program: Program) -> list[Result]:
        """What each world gives, by one statement."""
        key = Key(
            name=WORLD,
            expression=Column(name=WORLD, type="integer", nullable=False, scan=min(program.query.rows.tables)),
            values=tuple(range(self._count)),
        )
        query = replace(program.query, keys=(key, *program.query.keys))
        result = self._engine.run(replace(program, query=query, worlds=WORLD))
        return _aligned(result, self._count) if query.known_keys else _listed(result, self._count)


def alone(schema: Schema, storage: Storage, world: World, program: Program) -> Result:
    """What one world gives by the plain way: the engine as a session uses it, on tables of these rows alone."""
    connection = duckdb.connect(":memory:")
    try:
        sources = {}
        for place, (name, kinds) in enumerate(storage.items()):
            names = [each.name for each in schema.tables[name].columns]
            _fill(connection, f"t{place}", names, [kinds[each.lower()] for each in names], world[name])
            sources[name] = Table(connection.table(f"t{place}"))
        with DuckDB(sources, schema) as engine:
            return engine.run(program)
    finally:
        connection.close()


def typed(table: TableSchema, storage: Mapping[str, str], rows: Sequence[Row]) -> list[dict[str, Any]]:
    """The rows as a program reads them from the source: a value of its type, or None, by column."""
    names = [each.name for each in table.columns]
    select, given = _cast(names, [storage[name.lower()] for name in names], rows)
    with _caster(os.getpid()).cursor() as cursor:
        return [dict(zip(names, row, strict=True)) for row in cursor.execute(select, given).fetchall()]


@functools.cache
def _caster(_process: int) -> duckdb.DuckDBPyConnection:
    """What gives texts their types; it holds no data. One for each process, because none survives a fork."""
    # Given back before the interpreter ends: a connection that is alive then is reported as a leak.
    atexit.register(_caster.cache_clear)
    return duckdb.connect(":memory:", config={"threads": 1})


def _fill(
    connection: duckdb.DuckDBPyConnection, table: str, names: Sequence[str], kinds: Sequence[str], rows: Sequence[Row]
) -> None:
    """A table of these rows."""
    select, given = _cast(names, kinds, rows)
    connection.execute(f"CREATE TABLE {table} AS {select}", given)


def _cast(names: Sequence[str], kinds: Sequence[str], rows: Sequence[Row]) -> tuple[str, dict[str, Any]]:
    """The statement, with its parameters, that gives texts their types; what a type cannot hold is NULL."""
    columns = list(zip(*rows, strict=True)) if rows else [() for _ in names]
    cells = zip(names, kinds, strict=True)
    written = ", ".join(f"TRY_CAST(c{i} AS {kind}) AS {quoted(name)}" for i, (name, kind) in enumerate(cells))
    unnested = ", ".join(f"UNNEST(CAST($c{i} AS VARCHAR[])) AS c{i}" for i in range(len(names)))
    return f"SELECT {written} FROM (SELECT {unnested})", {f"c{i}": list(values) for i, values in enumerate(columns)}


def _aligned(result: Result, count: int) -> list[Result]:
    """The groups of each world: the worlds are the first key, so its groups stand together."""
    shaped = [measure.reshape(count, len(result.keys) // count, *measure.shape[1:]) for measure in result.measures]
    keys = [key[1:] for key in result.keys[: len(result.keys) // count]]
    return [
        Result(keys=keys, measures=tuple(measure[world] for measure in shaped), selection=None)
        for world in range(count)
    ]


def _listed(result: Result, count: int) -> list[Result]:
    votes = result.selection if result.selection is not None else np.zeros(0, dtype=np.int64)
    places: list[list[int]] = [[] for _ in range(count)]
    for place, key in enumerate(result.keys):
        places[int(key[0])].append(place)  # type: ignore[arg-type]
    return [
        Result(
            keys=[result.keys[place][1:] for place in here],
            measures=tuple(measure[here] for measure in result.measures),
            selection=votes[here],
        )
        for here in places
    ]
