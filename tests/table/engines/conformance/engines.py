"""The engines that the suite is asked of. Another one is another entry of ENGINES."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, Protocol

import pyarrow as pa
import pytest
from sqlglot import exp

from quincunx.data import connect
from quincunx.spec.unit import AddRemove
from quincunx.table.engines import DuckDB
from quincunx.table.engines.dialect import Dialect
from quincunx.table.engines.duckdb.dialect import DUCKDB
from quincunx.table.engines.engine import Engine
from quincunx.table.engines.postgres import PostgresEngine
from quincunx.table.engines.postgres import connection as postgres
from quincunx.table.engines.postgres.dialect import POSTGRES
from quincunx.table.engines.postgres.origin import find
from quincunx.table.engines.postgres.source import Postgres
from quincunx.table.schema import Schema
from quincunx.table.table import Table, schema
from tests.postgres import Server
from tests.table.engines.conformance.worlds import Data
from tests.table.engines.postgres import places

UNIT: Final = AddRemove(key="person")
# From a dialect, what stands in FROM, and the type in which each column arrives, to a statement.
Build = Callable[[Dialect, exp.Expression, Mapping[str, str]], exp.Select]


class Place(Protocol):
    """Where tables are made and asked."""

    @property
    def name(self) -> str:
        """Of the engine, as its golden file is called."""
        ...

    @property
    def dialect(self) -> Dialect:
        """How it writes."""
        ...

    @property
    def every(self) -> int:
        """In CI it is asked every so many questions; odd, so that both norms are among them."""
        ...

    @property
    def hands(self) -> int:
        """How many ask it at once, each by an engine of its own."""
        ...

    def opened(self, tables: Mapping[str, Data]) -> Any:
        """A context that gives the engine over these tables, and their schema."""
        ...

    def fetched(self, data: Data, build: Build) -> list[tuple[Any, ...]]:
        """The rows of a statement over one table, in any order."""
        ...


_ARROW: Final = {
    "BIGINT": pa.int64(), "DOUBLE": pa.float64(), "VARCHAR": pa.string(), "DATE": pa.date32(),
    "TIMESTAMP": pa.timestamp("us"), "BOOLEAN": pa.bool_(), "CHAR(6)": pa.string(),
    "DECIMAL(38,0)": pa.decimal128(38, 0), "DECIMAL(12,3)": pa.decimal128(12, 3),
}  # fmt: skip


def frame(data: Data) -> pa.Table:
    """The rows as Arrow, where every type is declared."""
    return pa.table(
        {name: pa.array([row[name] for row in data.rows], type=_ARROW[kind]) for name, kind in data.types.items()}
    )


class InDuckDB:
    """DuckDB, over Arrow."""

    name = "duckdb"
    dialect: Dialect = DUCKDB
    every = 1
    hands = 1

    @contextmanager
    def opened(self, tables: Mapping[str, Data], *, snapshot: bool = False) -> Iterator[tuple[Engine, Schema]]:
        held = {
            name: Table(frame(each), public=True)
            if each.public
            else Table(frame(each), limits=each.limits, columns=each.columns)
            for name, each in tables.items()
        }
        declared = schema(held, UNIT)
        with DuckDB(held, declared, snapshot=snapshot, threads=1) as engine:
            yield engine, declared

    def fetched(self, data: Data, build: Build) -> list[tuple[Any, ...]]:
        connection = connect()
        connection.register("nasty", frame(data))
        select = build(DUCKDB, exp.to_table("nasty"), data.types)
        return connection.execute(DUCKDB.written(select)).fetchall()


class InPostgres:
    """PostgreSQL, over tables of a server of the tests' own."""

    name = "postgres"
    dialect: Dialect = POSTGRES
    every = 1
    hands = 1

    def __init__(self, server: Server) -> None:
        self.server = server

    @contextmanager
    def opened(self, tables: Mapping[str, Data]) -> Iterator[tuple[Engine, Schema]]:
        held = {
            name: Table(frame(each), public=True)
            if each.public
            else Table(self._source(each, name), limits=each.limits, columns=each.columns)
            for name, each in tables.items()
        }
        declared = schema(held, UNIT)
        with PostgresEngine(held, declared) as engine:
            yield engine, declared

    def fetched(self, data: Data, build: Build) -> list[tuple[Any, ...]]:
        source = self._source(data, "nasty")
        with postgres.connect(source) as connection:
            select = build(POSTGRES, find(connection, source)[0].relation([]), data.types)
            return connection.execute(POSTGRES.written(select).encode()).fetchall()

    def _source(self, data: Data, name: str) -> Postgres:
        """The rows in a table that always has the same name, which stands in the statements."""
        columns = {name: _POSTGRES.get(kind, kind.lower()) for name, kind in data.types.items()}
        rows = ([row[name] for name in data.types] for row in data.rows)
        self.server.run(f"DROP TABLE IF EXISTS public.asked_{name}")
        return places.read(self.server, places.filled(self.server, columns, rows, f"asked_{name}"))


_POSTGRES: Final = {
    "DOUBLE": "double precision", "VARCHAR": "text", "DECIMAL(38,0)": "numeric(38,0)", "DECIMAL(12,3)": "numeric(12,3)",
}  # fmt: skip


class InSpark:
    """Spark on this machine, over files of Parquet that it reads itself. A question takes a second, however small.

    Most of it is planning, in one thread: two plan at once.
    """

    name = "spark"
    every = 5
    hands = 2

    def __init__(self, session: Any, folder: Path) -> None:
        from quincunx.table.engines.spark.dialect import SPARK

        self.session, self.folder = session, folder
        self.dialect: Dialect = SPARK

    @contextmanager
    def opened(self, tables: Mapping[str, Data]) -> Iterator[tuple[Engine, Schema]]:
        from quincunx.table.engines.spark import SparkEngine
        from tests.table.engines.spark.places import stored

        held = {
            name: Table(frame(each), public=True)
            if each.public
            else Table(stored(frame(each), self.folder), limits=each.limits, columns=each.columns)
            for name, each in tables.items()
        }
        declared = schema(held, UNIT)
        with SparkEngine(held, declared) as engine:
            # The tests' heap has room for what the parser learns, 1 GB at most; half of its time is saved.
            engine._connect().conf.set("spark.sql.parser.parserDfaCacheFlushThreshold", "150000")
            yield engine, declared

    def fetched(self, data: Data, build: Build) -> list[tuple[Any, ...]]:
        from quincunx.table.engines.spark.session import own
        from tests.spark import USUAL
        from tests.table.engines.spark.places import stored

        session = own(self.session)
        for name, value in USUAL.items():
            session.conf.set(name, value)
        session.read.parquet(stored(frame(data), self.folder).folder).createOrReplaceTempView("nasty")
        select = build(self.dialect, exp.to_table("nasty"), data.types)
        return [tuple(row) for row in session.sql(self.dialect.written(select)).collect()]


# Each from the request of a test, which gives a server where one is needed, or skips by name.
ENGINES: Final[dict[str, Callable[[pytest.FixtureRequest], Place]]] = {
    "duckdb": lambda _request: InDuckDB(),
    "postgres": lambda request: InPostgres(request.getfixturevalue("reading")),
    "spark": lambda request: InSpark(request.getfixturevalue("cluster"), request.getfixturevalue("tmp_path")),
}
