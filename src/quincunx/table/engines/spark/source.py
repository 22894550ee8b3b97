"""A table of a Spark session as people name it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from quincunx.errors import DataError, kind_of

_PART: Final = r"(?:`((?:[^`]|``)+)`|([^\W\d]\w*))"
_TABLE: Final = re.compile(rf"{_PART}(?:\.{_PART})?(?:\.{_PART})?")
_FOLDER: Final = re.compile(r"parquet\.`((?:[^`]|``)+)`", re.IGNORECASE)
_LOCAL: Final = re.compile(r"local(\[.*\])?")
_HINT: Final = 'Write "clinic.visits", with back-quotes around what is no plain name, or "parquet.`/data/visits`".'


@dataclass(frozen=True, slots=True, kw_only=True)
class Cluster:
    """Where Spark runs. master: of a session that is started where none runs, "local[4]", "spark://host:7077"; None:
    the session that runs. scratch: a folder that all machines see under this path, in which rows are written down while
    a question is answered; None: the temporary folder of this machine, where Spark runs on it alone.
    """

    master: str | None = None
    scratch: str | None = None

    def __post_init__(self) -> None:
        for name in ("master", "scratch"):
            given = getattr(self, name)
            if given is not None and (not isinstance(given, str) or not given):
                raise DataError("expected a text", where=f"Spark.{name}", got=kind_of(given))
        if self.scratch is not None and not self.scratch.startswith("/"):
            hint = "Write an absolute path of a folder that every machine of the cluster sees."
            raise DataError("this is no path of a folder", where="Spark.scratch", got=self.scratch[:80], hint=hint)

    @property
    def here(self) -> bool:
        """Whether the session that it would start runs on this machine alone."""
        return self.master is not None and is_local(self.master)


@dataclass(frozen=True, slots=True, init=False)
class Spark:
    """A table or view of the catalogue of a Spark session, or a folder of Parquet files, as the source of a `Table`.

    table: its name, "visits", "clinic.visits" or "catalog.clinic.visits", with back-quotes around what is no plain
    name; or "parquet.`/data/visits`", a file or folder that every machine of the cluster sees. master, scratch: see
    `Cluster`. Nothing is started yet, and nothing is read.
    """

    table: str
    cluster: Cluster

    def __init__(self, table: str, *, master: str | None = None, scratch: str | None = None) -> None:
        if not isinstance(table, str):
            raise DataError("expected a text", where="Spark.table", got=kind_of(table))
        if _FOLDER.fullmatch(table) is None and _TABLE.fullmatch(table) is None:
            raise DataError("this cannot be a table's name", where="Spark", got=table[:80], hint=_HINT)
        object.__setattr__(self, "table", table)
        object.__setattr__(self, "cluster", Cluster(master=master, scratch=scratch))

    @property
    def folder(self) -> str | None:
        """The path of a folder of Parquet files; None for a table of the catalogue."""
        found = _FOLDER.fullmatch(self.table)
        return None if found is None else found[1].replace("``", "`")


def is_local(master: str) -> bool:
    """Whether Spark runs on this machine alone."""
    return _LOCAL.fullmatch(master) is not None
