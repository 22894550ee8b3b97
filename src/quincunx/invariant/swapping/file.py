"""Swapping a file: DuckDB holds the values, which are never converted; what moves here are row numbers."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import numpy as np

from quincunx.data import copy_to, quoted, type_of, unchecked
from quincunx.errors import DataError, cause
from quincunx.invariant.swapping.columns import EVERY, Integers, compact
from quincunx.invariant.swapping.swap import Drawn

# Whole numbers that NumPy holds as they are.
_WHOLE: Final = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT", "BOOLEAN")
_READ: Final = {
    # As text, so that 007 stays 007 and every value is written as it was read.
    ".csv": "SELECT * FROM read_csv(?, header = true, all_varchar = true)",
    ".parquet": "SELECT * FROM read_parquet(?)",
}


class FileTable:
    """A CSV or Parquet file, read into memory."""

    def __init__(self, path: str | Path) -> None:
        import duckdb

        self.path = Path(path)
        query = _READ[_format(self.path, "FILE")]
        self._connection: Any = duckdb.connect()
        # What does not fit into memory is an error: private rows are not spilled to a disk that nobody named.
        self._connection.execute("SET temp_directory = ''")
        self._asked(f"CREATE TABLE data AS {query}", [str(self.path)])
        described = self._asked("DESCRIBE data").fetchall()
        self.types = {row[0]: _type(row[0], row[1]) for row in described}
        self._kinds = {row[0]: row[1] for row in described}
        if "rowid" in {name.lower() for name in self.types}:
            raise DataError("a column has the reserved name 'rowid'", where=self.path.name, hint="Rename it.")
        self.rows = self._count("TRUE")

    def _asked(self, query: str, values: list[str] | None = None) -> Any:
        with _readable(self.path):
            return self._connection.execute(query, values or [])

    def _count(self, condition: str) -> int:
        return int(self._asked(f"SELECT COUNT(*) FROM data WHERE {condition}").fetchall()[0][0])

    def incomplete(self, name: str) -> bool:
        """Whether the column has missing values; a float that is not a number is one."""
        column = quoted(name)
        floats = self._kinds[name] in ("FLOAT", "DOUBLE")
        return self._count(f"{column} IS NULL OR isnan({column})" if floats else f"{column} IS NULL") > 0

    def codes(self, name: str, rows: slice = EVERY) -> Integers:
        """The codes of the column, or of some of its rows."""
        column = quoted(name)
        if self._kinds[name] in _WHOLE and rows == EVERY and not self.incomplete(name):
            return compact(np.asarray(self._asked(f"SELECT {column} FROM data ORDER BY rowid").fetchnumpy()[name]))
        start, stop, step = rows.indices(self.rows)
        # A table that was filled once has the rows 0, 1, …
        those = f"rowid >= {start} AND rowid < {stop} AND (rowid - {start}) % {step} = 0"
        data = "data" if rows == EVERY else f"(SELECT rowid, {column} FROM data WHERE {those})"
        found = self._asked(
            f"SELECT k.code FROM {data} AS d JOIN (SELECT v, row_number() OVER () - 1 AS code FROM "
            f"(SELECT DISTINCT {column} AS v FROM {data} AS e)) AS k ON d.{column} IS NOT DISTINCT FROM k.v "
            "ORDER BY d.rowid"
        ).fetchnumpy()
        return np.asarray(found["code"], dtype=np.int64)

    def texts(self, name: str) -> tuple[list[str], Integers]:
        """The column's different values as texts, sorted, and the number of each row's; a missing one is "missing"."""
        query = f"SELECT coalesce(CAST({quoted(name)} AS VARCHAR), 'missing') AS v FROM data ORDER BY rowid"
        values, places = np.unique(
            np.asarray(self._asked(query).fetchnumpy()["v"], dtype=object).astype(str), return_inverse=True
        )
        return [str(value) for value in values], places.astype(np.int64)

    def write(self, drawn: Drawn, out: str | Path) -> None:
        """Write the swapped rows, without the household key. The file appears when it is complete, or not at all."""
        target = Path(out)
        ending = _format(target, "--out")
        moves = {"place": np.arange(self.rows), "line": drawn.order, "source": drawn.source[drawn.order]}
        kept = [name for name in self.types if name != drawn.roles.household]
        picked = ", ".join(f"{'s' if name in drawn.roles.column else 'd'}.{quoted(name)}" for name in kept)
        self._connection.register("moves", moves)
        partial = target.with_name(f".{target.name}.{secrets.token_hex(4)}.partial")
        try:
            with _readable(target, "written"):
                rows = (
                    f"SELECT {picked} FROM moves AS m JOIN data AS d ON d.rowid = m.line "
                    "JOIN data AS s ON s.rowid = m.source ORDER BY m.place"
                )
                copy_to(self._connection, rows, partial, ending)
                os.replace(partial, target)
        finally:
            partial.unlink(missing_ok=True)
            self._connection.unregister("moves")


def check_target(source: str | Path, out: str | Path) -> None:
    """Raise DataError, before anything is read, where the result could not be written."""
    target = Path(out)
    _format(target, "--out")
    if not target.parent.is_dir():
        raise DataError("the folder does not exist", where="--out", got=str(target.parent), hint="Make it first.")
    if target.exists() and Path(source).exists() and target.samefile(source):
        hint = "The data as collected would be lost: choose another name."
        raise DataError("the result would replace the file that is read", where="--out", got=str(target), hint=hint)


def _format(path: Path, where: str) -> str:
    ending = path.suffix.lower()
    # A compressed file can be read, not written: nobody asked how.
    if ending == ".gz" and where == "FILE":
        ending = path.with_suffix("").suffix.lower()
    if ending not in _READ:
        hint = "The name must end in .csv or .parquet."
        raise DataError("unknown kind of file", where=where, got=path.name, hint=hint)
    return ending


@contextmanager
def _readable(path: Path, done: str = "read") -> Iterator[None]:
    import duckdb

    try:
        yield
    except (duckdb.Error, OSError) as error:
        # The engine's own message may contain values.
        what = f"the file cannot be {done}"
        raise DataError(what, where=str(path), got=cause(error)) from None


def _type(name: str, kind: str) -> str:
    word = type_of(unchecked(kind))
    if word is None:
        hint = "Convert it to numbers, texts or dates, or drop it."
        raise DataError(f"column {name!r} has a type that no schema describes", got=kind[:40], hint=hint)
    return word
