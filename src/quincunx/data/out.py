"""Rows written as files: what a query gives, as Parquet or CSV by the name of the file."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from quincunx.data.sql import literal

if TYPE_CHECKING:
    import duckdb

# Ending of a file → how DuckDB writes it.
_WRITTEN: Final = {".csv": "FORMAT csv, HEADER true", ".parquet": "FORMAT parquet"}


def copy_to(connection: duckdb.DuckDBPyConnection, query: str, path: Path, ending: str | None = None) -> None:
    """Write the rows of a query. ending: what the file is, where its name does not say it yet."""
    connection.execute(f"COPY ({query}) TO {literal(str(path))} ({_WRITTEN[ending or path.suffix.lower()]})")


def write_file(path: Path, query: str, tables: Mapping[str, Mapping[str, Any]], ending: str | None = None) -> None:
    """Write the rows of a query over tables that are given as arrays by column; OSError where it cannot be done."""
    import duckdb

    connection = duckdb.connect()
    try:
        for name, table in tables.items():
            connection.register(name, dict(table))
        copy_to(connection, query, path, ending)
    except duckdb.Error as error:
        raise OSError(type(error).__name__) from None
    finally:
        connection.close()
