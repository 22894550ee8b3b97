"""Files as sources: which kind a path names, and what to do with kinds that are not read here."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from quincunx.data import delimited, folder, parquet
from quincunx.data.notation import Notation
from quincunx.data.origin import Found
from quincunx.errors import DataError

_DELIMITED: Final = (".csv", ".tsv")
_READ: Final = "Read it with Polars and pass the frame: Table(polars.{}({!r})). For a plan, write that as Parquet."
# Endings of files that other libraries open → what they are, and what to write.
_OTHERS: Final = {
    **dict.fromkeys(
        (".xlsx", ".xls", ".xlsm", ".ods"),
        ("a workbook", _READ.replace("{}", "read_excel", 1) + " Polars needs fastexcel for it."),
    ),
    **dict.fromkeys((".jsonl", ".ndjson"), ("JSON", _READ.replace("{}", "read_ndjson", 1))),
    ".json": ("JSON", _READ.replace("{}", "read_json", 1)),
    **dict.fromkeys((".feather", ".arrow", ".ipc"), ("Arrow's own format", _READ.replace("{}", "read_ipc", 1))),
    ".avro": ("Avro", _READ.replace("{}", "read_avro", 1)),
    **dict.fromkeys(
        (".duckdb", ".ddb"),
        ("a DuckDB database", "Open it with DuckDB and pass the relation: Table(duckdb.connect({!r}).table(…))."),
    ),
    **dict.fromkeys(
        (".sqlite", ".sqlite3", ".db"),
        (
            "a SQLite database",
            "Read a table of it with Polars and pass the frame: Table(polars.read_database('SELECT * FROM …', "
            "sqlite3.connect({!r}))). For a plan, write that as Parquet.",
        ),
    ),
    **dict.fromkeys(
        (".sas7bdat", ".sav", ".dta", ".xpt"),
        ("a statistical package's", "Read it with pandas and pass the frame. For a plan, write that as Parquet."),
    ),
}


def find(given: str | Path, declared: Notation | None = None) -> Found:
    """The origin of a file or of several, and why questions cannot see some columns. declared: of a CSV file."""
    check_local(str(given))
    path, notation = Path(given), declared or Notation()
    if folder.is_several(path):
        check_no_notation(notation, str(path))
        return parquet.find(folder.several(path))
    kind = _kind(path)
    if kind not in (".parquet", *_DELIMITED):
        raise _foreign(path, kind)
    if not path.is_file():
        raise DataError("there is no such file", where="Table", got=str(path))
    if kind == ".parquet":
        check_no_notation(notation, str(path))
        return parquet.find(folder.one(path))
    if set(str(path.resolve())) & set("*?[]{}"):
        hint = "Rename the file: these characters stand for several files."
        raise DataError("the path holds one of * ? [ ] { }", where="Table", got=str(path), hint=hint)
    return delimited.find(path, notation)


def check_local(given: str) -> None:
    """Refuse an address of the network: nothing here reaches it."""
    scheme, mark, _ = given.partition("://")
    if mark and scheme.isalnum():
        hint = "Open it with Polars or DuckDB and pass the frame, or copy the file here first."
        if scheme in ("postgres", "postgresql"):
            hint = 'Write Postgres("…", table="schema.table"), in a plan { postgres = "…", table = "schema.table" }.'
        raise DataError("a table is a file of this machine or a frame", where="Table", got=given, hint=hint)


def _kind(path: Path) -> str:
    """The ending that says what a file is; a compressed CSV file has its own before .gz."""
    endings = [each.lower() for each in path.suffixes]
    if endings[-1:] == [".gz"] and endings[-2:-1] and endings[-2] in _DELIMITED:
        return endings[-2]
    return endings[-1] if endings else ""


def _foreign(path: Path, kind: str) -> DataError:
    if kind in _OTHERS:
        name, hint = _OTHERS[kind]
        return DataError(
            f"expected a .parquet or .csv file, not {name}", where="Table", got=str(path), hint=hint.format(path.name)
        )
    hint = "Give a .parquet, .csv, .tsv, .csv.gz or .tsv.gz file, or a folder of Parquet files."
    return DataError("expected a .parquet or .csv file", where="Table", got=str(path) or "no name", hint=hint)


def check_no_notation(notation: Notation, got: str) -> None:
    """Refuse what only a CSV file can be declared to have."""
    if notation.declared:
        name = notation.declared[0]
        hint = f"Leave {name} out: Parquet files and frames hold values, and no characters to be read."
        raise DataError(f"only CSV files have {_ARTICLES[name]}", where=f"Table.{name}", got=got, hint=hint)


_ARTICLES: Final = {
    "encoding": "an encoding",
    "separator": "a separator",
    "decimal": "a decimal mark",
    "thousands": "a mark between thousands",
}
