"""CSV as a source, also compressed by gzip. Opening reads the first line, and no byte after it is decoded."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from sqlglot import exp

from quincunx.data.encoding import UTF8, first_line, private_folder, readable
from quincunx.data.names import distinct_names
from quincunx.data.notation import COMMA, SEPARATORS, Notation, other_separator
from quincunx.data.origin import Found, Origin, described
from quincunx.data.sql import call, option, text
from quincunx.data.storage import marked_text
from quincunx.errors import DataError

if TYPE_CHECKING:
    import duckdb

# How files begin that are no CSV, whatever their names say → what is wrong, and what to do.
_SIGNS: Final = {
    b"\x1f\x8b": ("the file is compressed by gzip", "Name it .csv.gz."),
    b"PK\x03\x04": ("the file is a zip archive or a workbook", "Unpack it, or write the sheet as CSV."),
    b"PAR1": ("the file is a Parquet file", "Name it .parquet."),
}
_MARKS: Final = (b"\xff\xfe", b"\xfe\xff")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Csv(Origin):
    """A CSV file: quoted with ", names in the first line; every column a text, an empty one NULL.

    Nothing is guessed from the rows: a line with too few fields is padded with NULL, an unreadable one is dropped. A
    field that is not of the file's encoding is NULL.
    """

    path: str
    names: tuple[str, ...]
    encoding: str
    separator: str

    def relation(self, names: Sequence[str]) -> exp.Expression:  # noqa: ARG002
        return self._read(self.path)

    @contextmanager
    def reading(self, cursor: duckdb.DuckDBPyConnection, names: Sequence[str]) -> Iterator[exp.Expression]:  # noqa: ARG002
        with readable(self.path, self.encoding, self.folders[0]) as path:
            yield self._read(path)

    def _read(self, path: str) -> exp.Expression:
        # One piece of text: ten thousand columns as nodes of a tree would be copied again and again.
        quoted = [name.replace("'", "''") for name in self.names]
        columns = ", ".join(f"'{name}': 'VARCHAR'" for name in quoted)
        settings: dict[str, exp.Expression] = {
            "columns": exp.Var(this=f"{{{columns}}}"),
            "header": exp.true(),
            "auto_detect": exp.false(),
            "delim": text(self.separator),
            "quote": text('"'),
            "escape": text('"'),
            "null_padding": exp.true(),
            "ignore_errors": exp.true(),
            "strict_mode": exp.false(),
            "parallel": exp.false(),
        }
        if path.lower().endswith(".gz"):
            settings["compression"] = text("gzip")
        read = call("READ_CSV", text(path), *(option(name, value) for name, value in settings.items()))
        # DuckDB 2.0 moves a TRY_CAST into the reader as a CAST, which drops or refuses the line; a materialised
        # relation stands between.
        apart = exp.select("*").from_("lines").with_("lines", as_=exp.select("*").from_(read), materialized=True)
        return apart.subquery(self.name)


def find(path: Path, notation: Notation) -> Found:
    """The origin of a CSV file as it is declared; what its beginning shows to be otherwise is refused."""
    full, encoding = str(path.resolve()), notation.encoding or UTF8
    _check_beginning(path, encoding)
    separator = notation.separator or ("\t" if ".tsv" in path.name.lower() else COMMA)
    try:
        line = first_line(path, encoding)
        names = next(csv.reader([line], delimiter=separator), [])
    except (OSError, EOFError, csv.Error):
        line, names = "", []
    other = None if notation.separator else other_separator(line)
    if other is not None and other != separator:
        hint = f"Declare the separator: separator={other!r} in Python, separator = {_quoted(other)} in a plan."
        what = f"the first line is separated by {SEPARATORS[other]}, not {SEPARATORS[separator]}"
        raise DataError(what, where="Table.separator", got=str(path), hint=hint)
    if not names:
        raise DataError("the first line must hold the columns' names", where="Table", got=str(path))
    distinct_names(names, "Table")
    storage = marked_text(notation.decimal or ".", notation.thousands or "")
    origin = Csv(
        kind="csv",
        fields=tuple((name, storage) for name in names),
        once=True,
        paths=(full,),
        folders=(private_folder(),),
        path=full,
        names=tuple(names),
        encoding=encoding,
        separator=separator,
    )
    if described(origin.relation(names), [full]) is None:
        raise DataError("the file is not readable as csv", where="Table", got=str(path))
    return origin, {}


def observed(path: Path) -> Notation:
    """How a CSV file seems to be written, by its first line alone: to propose it, not to read the file so."""
    with suppress(OSError):
        with path.open("rb") as file:
            wide = file.read(2) in _MARKS
        for encoding in ("utf-16",) if wide else (UTF8, "windows-1252", "latin-1"):
            with suppress(DataError, EOFError):
                line = first_line(path, encoding)
                separator = None if ".tsv" in path.name.lower() else other_separator(line)
                return Notation(encoding=None if encoding == UTF8 else encoding, separator=separator)
    return Notation()


def _check_beginning(path: Path, encoding: str) -> None:
    """Refuse what the first bytes show to be no text, or a text in another encoding than declared."""
    try:
        with path.open("rb") as file:
            beginning = file.read(4)
    except OSError:
        beginning = b""
    for sign, (what, hint) in _SIGNS.items():
        if beginning.startswith(sign) and not (sign == b"\x1f\x8b" and path.suffix.lower() == ".gz"):
            raise DataError(what, where="Table", got=str(path), hint=hint)
    if beginning.startswith(_MARKS) and encoding != "utf-16":
        hint = 'Declare the encoding: encoding="utf-16".'
        raise DataError("the file begins with the mark of UTF-16", where="Table.encoding", got=str(path), hint=hint)


def _quoted(separator: str) -> str:
    return '"\\t"' if separator == "\t" else f'"{separator}"'
