"""Snapshots that rest in a file between sessions: written by the curator's own command, read by questions.

A kept table is called after a digest of what made it: dataset, version, table and the statements that read its rows. A
session looks for the names that it would write itself, so that other declarations, or another version, find nothing.
See snapshot.md.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final

import duckdb
from sqlglot import exp

from quincunx.data import connect
from quincunx.table.engines.engine import KeptFile

_FORMAT: Final = 1
_HELD: Final = "held"


def name_of(file: KeptFile, table: str, statements: Sequence[str]) -> str:
    """What a table is called in a file."""
    made = json.dumps([_FORMAT, file.dataset, file.version, table, *statements])
    return f"kept_{hashlib.sha256(made.encode()).hexdigest()[:32]}"


def paths(file: KeptFile) -> list[str]:
    """What a connection must be able to open to read a file; the second is looked for, and is not there."""
    return [file.path, f"{file.path}.wal"]


def attached(connection: duckdb.DuckDBPyConnection, file: KeptFile, names: Mapping[str, str]) -> bool:
    """Show the tables of a file, by what they are called here → there; False where it has not all of them.

    All are shown or none: under a name that were left behind, no table could be kept.
    """
    try:
        connection.execute(f"ATTACH {_text(file.path)} AS {_HELD} (READ_ONLY)")
        connection.begin()
        try:
            for here, there in names.items():
                connection.execute(f"CREATE VIEW {here} AS FROM {_HELD}.{there}")
            connection.commit()
        except BaseException:
            connection.rollback()
            connection.execute(f"DETACH {_HELD}")
            raise
    except duckdb.Error:
        return False
    return True


def write(
    file: KeptFile,
    keep: Callable[[duckdb.DuckDBPyConnection], None],
    sources: Sequence[str],
    folders: Sequence[str],
) -> bool:
    """Make a file anew, whole or not at all, for nobody but its owner; False where that failed.

    keep: makes the tables in the database that the connection uses. Until all are made, they lie in a folder of their
    own beside the file, which goes in any case.
    """
    place = Path(file.path)
    try:
        with tempfile.TemporaryDirectory(dir=place.parent, prefix=f".{place.name}.") as folder:
            made = Path(folder) / "rows"
            connection = connect(sources, folders=[*folders, folder])
            try:
                connection.execute(f"ATTACH {_text(str(made))} AS {_HELD}")
                connection.execute(f"USE {_HELD}")
                keep(connection)
                connection.execute("USE memory")
                connection.execute(f"DETACH {_HELD}")
            finally:
                connection.close()
            made.chmod(0o600)
            os.replace(made, place)
    except Exception:
        # What an engine says of rows holds values.
        return False
    return True


def _text(path: str) -> str:
    return exp.Literal.string(path).sql(dialect="duckdb")
