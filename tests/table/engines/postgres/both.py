"""Many worlds in one statement, in DuckDB and in PostgreSQL: what replay asks, with every integer compared."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, ClassVar

import duckdb
import numpy as np

from quincunx.audit.tables import worlds as replayed
from quincunx.audit.tables.worlds import WORLD, Storage, World, Worlds
from quincunx.data import decimal_parts
from quincunx.errors import UnavailableError
from quincunx.table.engines.engine import Result
from quincunx.table.engines.postgres import PostgresEngine
from quincunx.table.measure import Program
from quincunx.table.schema import ColumnSchema, Schema
from quincunx.table.table import Table
from tests.postgres import Server
from tests.table.engines.postgres.places import filled, read

TYPES = {
    "FLOAT": "real", "DOUBLE": "double precision", "VARCHAR": "text", "HUGEINT": "numeric",
    "TINYINT": "smallint", "UBIGINT": "numeric(20,0)",
}  # fmt: skip


def type_here(kind: str) -> str:
    """The type of the database that holds a type of DuckDB."""
    parts = decimal_parts(kind)
    return TYPES.get(kind, kind.lower()) if parts is None else f"numeric({parts[0]},{parts[1]})"


class PostgresWorlds(Worlds):
    """Several worlds of private tables on a server, ready for programs."""

    server: ClassVar[Server]

    def __init__(self, schema: Schema, storage: Storage, worlds: Sequence[World]) -> None:
        self._count = len(worlds)
        self._rows = duckdb.connect()
        world = ColumnSchema(name=WORLD, type="integer")
        wider, sources = dict(schema.tables), {}
        for name, kinds in storage.items():
            table = schema.tables[name]
            numbered = [(str(i), *row) for i, rows in enumerate(worlds) for row in rows[name]]
            names = [WORLD, *(each.name for each in table.columns)]
            types = ["BIGINT", *(kinds[each.name.lower()] for each in table.columns)]
            wider[name] = replace(table, columns=(world, *table.columns))
            columns = {each: type_here(kind) for each, kind in zip(names, types, strict=True)}
            made = filled(self.server, columns, self._texts(names, types, numbered))
            declared = {each.name: {"type": each.type} for each in table.columns}
            sources[name] = Table(read(self.server, made), columns=declared)
        self._engine: Any = PostgresEngine(sources, replace(schema, tables=wider))

    def _texts(self, names: Sequence[str], kinds: Sequence[str], rows: Sequence[Any]) -> list[tuple[Any, ...]]:
        """The rows as DuckDB reads them, as texts: what a type cannot hold is NULL in both."""
        select, given = replayed._cast(names, kinds, rows)
        shown = ", ".join(f'CAST("{name}" AS VARCHAR)' for name in names)
        found = self._rows.execute(f"SELECT {shown} FROM ({select})", given).fetchall()
        return [tuple(None if each is None else each.replace("(BC)", "BC") for each in row) for row in found]


class Compared:
    """Both at once. `differing`: the questions whose integers were not equal; `count`: how many were."""

    differing: ClassVar[list[tuple[str, str]]]
    failing: ClassVar[list[tuple[str, str]]]
    count: ClassVar[Counter[str]]

    def __init__(self, schema: Schema, storage: Storage, worlds: Sequence[World]) -> None:
        self.here, self.there = Worlds(schema, storage, worlds), PostgresWorlds(schema, storage, worlds)

    @classmethod
    def reset(cls) -> None:
        cls.differing, cls.failing, cls.count = [], [], Counter()

    def close(self) -> None:
        self.here.close()
        self.there.close()

    def run(self, program: Program) -> list[Result]:
        wanted = self.here.run(program)
        try:
            found = self.there.run(program)
        except UnavailableError:
            self.failing.append((repr(program.query.aggregates)[:200], self.there._engine.sql(program)))
            raise
        self.count["questions"] += 1
        self.count["worlds"] += len(found)
        if not all(equal(*pair) for pair in zip(wanted, found, strict=True)):
            self.differing.append((repr(program.query)[:400], self.there._engine.sql(program)))
        return found


def equal(one: Result, other: Result) -> bool:
    """Whether two results are the same: keys, measures and votes, in their order."""
    votes = (one.selection is None) == (other.selection is None) and (
        one.selection is None or np.array_equal(one.selection, other.selection)
    )
    return (
        one.keys == other.keys
        and all(_same(a, b) for a, b in zip(one.measures, other.measures, strict=True))
        and bool(votes)
    )


def _same(a: Any, b: Any) -> bool:
    if a.dtype == object:
        return all(x == y for x, y in zip(a.tolist(), b.tolist(), strict=True))
    return np.array_equal(a, b)
