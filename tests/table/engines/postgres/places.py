"""Tables of a test server: rows of Arrow put there with their types, and what reads them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import psycopg
import pyarrow as pa

from quincunx.table.engines.postgres.source import Postgres
from tests.postgres import Server, fresh

_TYPES = {
    pa.int16(): "smallint",
    pa.int32(): "integer",
    pa.int64(): "bigint",
    pa.float32(): "real",
    pa.float64(): "double precision",
    pa.string(): "text",
    pa.date32(): "date",
    pa.bool_(): "boolean",
    pa.timestamp("us"): "timestamp",
}


def staffed(running: Server) -> Server:
    """The server with a role that reads, one that owns, and one that writes."""
    running.run(
        "CREATE ROLE reader LOGIN NOINHERIT",
        "CREATE ROLE owner LOGIN",
        "CREATE ROLE writer LOGIN",
        "GRANT CREATE, USAGE ON SCHEMA public TO owner",
        "GRANT USAGE ON SCHEMA public TO reader, writer",
    )
    return running


def type_of(kind: pa.DataType) -> str:
    """The type of the database that holds a type of Arrow."""
    return f"numeric({kind.precision},{kind.scale})" if pa.types.is_decimal(kind) else _TYPES[kind]


def filled(server: Server, columns: Mapping[str, str], rows: Iterable[Sequence[Any]], name: str = "") -> str:
    """A new table of these columns (name → type) and rows, which `reader` may read; its name with its schema."""
    name = name or fresh("t")
    listed = ", ".join(f'"{each}" {kind}' for each, kind in columns.items())
    with psycopg.connect(server.address("owner"), autocommit=True) as connection:
        connection.execute(f"CREATE TABLE public.{name} ({listed})".encode())
        with connection.cursor() as cursor, cursor.copy(f"COPY public.{name} FROM STDIN".encode()) as copy:
            for row in rows:
                copy.write_row(row)
        connection.execute(f"GRANT SELECT ON public.{name} TO reader".encode())
    return f"public.{name}"


def framed(server: Server, frame: pa.Table) -> Postgres:
    """The rows of a frame as a source in the database."""
    columns = {each.name: type_of(each.type) for each in frame.schema}
    rows = zip(*(column.to_pylist() for column in frame.columns), strict=True)
    return read(server, filled(server, columns, rows))


def read(server: Server, table: str, role: str = "reader") -> Postgres:
    """A table as a role reads it."""
    return Postgres(server.address(role), table=table)
