"""A table of a Spark session as people name it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from quincunx.errors import DataError, kind_of
from quincunx.table.engines.spark.cluster import Cluster

_PART: Final = r"(?:`((?:[^`]|``)+)`|([^\W\d]\w*))"
_TABLE: Final = re.compile(rf"{_PART}(?:\.{_PART})?(?:\.{_PART})?")
_FOLDER: Final = re.compile(r"parquet\.`((?:[^`]|``)+)`", re.IGNORECASE)
_HINT: Final = 'Write "clinic.visits", with back-quotes around what is no plain name, or "parquet.`/data/visits`".'


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
