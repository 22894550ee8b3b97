"""Connections that can do nothing but compute: no files but the declared ones, no extensions, fixed settings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from quincunx.data import memory
from quincunx.data.storage import NAME

if TYPE_CHECKING:
    import duckdb

# Everything that could change what a statement means, or what it can reach.
_SETTINGS: Final = {
    "TimeZone": "UTC",
    "Calendar": "gregorian",
    "default_collation": "",
    "default_null_order": "nulls_last",
    "default_order": "asc",
    "integer_division": False,
    "ieee_floating_point_ops": True,
    "enable_progress_bar": False,
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,
    "allow_community_extensions": False,
    "python_enable_replacements": False,
    "temp_directory": "",
    # It moves parts that occur twice out of the TRY around them, and then a row can raise.
    "disabled_optimizers": "common_subexpressions",
}


def connect(
    paths: Sequence[str] = (), threads: int | None = None, *, folders: Sequence[str] = (), most: int | None = None
) -> duckdb.DuckDBPyConnection:
    """A private connection in memory that can read `paths`, and what lies in `folders`; its settings are locked.

    most: the bytes of memory that it may take, where that is less than its share.
    """
    # Loaded here: what is declared about data elsewhere needs no engine of this machine.
    import duckdb

    connection = duckdb.connect(":memory:")
    for name, value in _SETTINGS.items():
        connection.execute(f"SET {name} = ?", [value])
    limits = [each for each in (memory.share(), most) if each is not None]
    if limits:
        connection.execute("SET memory_limit = ?", [f"{min(limits) >> 20}MiB"])
    if threads is not None:
        connection.execute("SET threads = ?", [threads])
    # The order matters: once external access is off, nothing can be allowed any more.
    connection.execute("SET allowed_paths = ?", [list(paths)])
    connection.execute("SET allowed_directories = ?", [list(folders)])
    connection.execute("SET enable_external_access = false")
    connection.execute("SET lock_configuration = true")
    return connection


def metadata(
    queries: Sequence[tuple[str, Sequence[object]]], paths: Sequence[str] = (), *, given: object = None
) -> list[list[tuple[Any, ...]]] | None:
    """The rows of queries about sources, not about their rows, each with its parameters; None where one has no answer.

    given: an object of this process, which a query calls by the name of a source.
    """
    connection = connect(paths)
    import duckdb

    try:
        if given is not None:
            connection.register(NAME, given)
        return [connection.execute(query, list(parameters)).fetchall() for query, parameters in queries]
    except duckdb.Error:
        return None
    finally:
        connection.close()
