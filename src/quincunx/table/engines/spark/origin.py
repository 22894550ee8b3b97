"""What a session says of a frame, a table or a folder: its columns and their types. No row is read."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar, Final

from sqlglot import exp

from quincunx.data import distinct_names, type_of
from quincunx.errors import DataError
from quincunx.table.engines.spark.cluster import Cluster
from quincunx.table.engines.spark.session import own, running, silenced
from quincunx.table.engines.spark.source import Spark

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

# Types of Spark → the words of engines.
_TYPES: Final = {
    "byte": "TINYINT",
    "short": "SMALLINT",
    "integer": "INTEGER",
    "long": "BIGINT",
    "float": "FLOAT",
    "double": "DOUBLE",
    "boolean": "BOOLEAN",
    **dict.fromkeys(("string", "varchar", "char"), "VARCHAR"),
    "date": "DATE",
    "timestamp": "TIMESTAMP WITH TIME ZONE",
    "timestamp_ntz": "TIMESTAMP",
}
# How Spark marks a column that was declared as CHAR(n), whose texts it fills with blanks.
_PADDED: Final = "__CHAR_VARCHAR_TYPE_STRING"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Found:
    """A frame, a table of a catalogue or a folder of Parquet files, as its schema describes it.

    once: a second look at it may see other rows, so that they are written down; not so for files whose sizes and times
    are compared.
    """

    engine: ClassVar[str] = "spark"

    root: Any = field(repr=False)
    fields: tuple[tuple[str, str], ...]
    once: bool
    padded: frozenset[str] = frozenset()
    frame: Any = field(default=None, repr=False)
    source: Spark | None = None
    # What its rows are called in a statement.
    alias: str = field(default="source", repr=False)
    kind: str = "spark"

    @property
    def cluster(self) -> Cluster:
        """Where Spark runs."""
        return Cluster() if self.source is None else self.source.cluster

    def named(self, name: str) -> Found:
        """The same rows under another name."""
        return self if name == self.alias else replace(self, alias=name)

    def needed(self, names: Sequence[str]) -> list[str]:
        """The fields of these names, compared without case; where there are none, the first."""
        wanted = {name.lower() for name in names}
        return [name for name, _ in self.fields if name.lower() in wanted] or [self.fields[0][0]]

    def relation(self, names: Sequence[str]) -> exp.Expression:  # noqa: ARG002
        """What stands in FROM: a view that the engine makes for each question."""
        return exp.to_table(self.alias)

    def reading(self, session: SparkSession) -> DataFrame:
        """The rows, in a session of our own. Nothing is read yet."""
        if self.frame is not None:
            # A frame is of another session; what is global to both hands it over.
            name = f"quincunx_{secrets.token_hex(8)}"
            self.frame.createGlobalTempView(name)
            try:
                return session.table(f"{session.conf.get('spark.sql.globalTempDatabase')}.{name}")
            finally:
                session.catalog.dropGlobalTempView(name)
        return _read(session, self.source)


def _read(session: SparkSession, source: Spark | None) -> DataFrame:
    if source is None:
        raise TypeError(source)
    if source.folder is None:
        return session.table(source.table)
    # All files agree on their columns, or are refused here.
    return session.read.option("mergeSchema", "true").parquet(source.folder)


def find(source: object) -> tuple[Found, Mapping[str, str]]:
    """The source by its metadata, and why questions cannot see some of its columns."""
    if isinstance(source, Spark):
        root, schema = _classic(running(source.cluster)), None
        with silenced():
            try:
                schema = _read(own(root), source).schema
            except Exception:
                schema = None
        if schema is None:
            # Raised outside of the handler: messages of Spark may hold what is in files.
            hint = "Look at its name, what stands below a view, and the grants; files must agree on their columns."
            raise DataError("there is no such table, or it cannot be read", where="Spark", got=source.table, hint=hint)
        found = Found(root=root, source=source, fields=(), once=source.folder is None)
    else:
        frame: Any = _classic(source)
        found, schema = Found(root=frame.sparkSession, frame=frame, fields=(), once=True), frame.schema
    fields, hidden, padded = _visible(schema)
    if not fields:
        raise DataError("questions can see no column of the table", where="Spark")
    return replace(found, fields=fields, padded=padded), hidden


def _classic(given: Any) -> Any:
    """A frame or a session of a driver in this process; DataError for one of Spark Connect.

    Its views are resolved when they are read, and not when they are made, and its files are on another machine.
    """
    if type(given).__module__.startswith("pyspark.sql.connect"):
        what = "frames and sessions of Spark Connect are not read"
        hint = "Ask in the driver's own process: in a notebook of the cluster, or by spark-submit."
        raise DataError(what, where="Spark", got=type(given).__name__, hint=hint)
    return given


def catalogue(frame: DataFrame) -> dict[str, str]:
    """The columns that questions can see, with their types."""
    return dict(_visible(frame.schema)[0])


def _visible(schema: Any) -> tuple[tuple[tuple[str, str], ...], dict[str, str], frozenset[str]]:
    distinct_names([each.name for each in schema.fields], "Table")
    seen, hidden, padded = [], {}, set()
    for each in schema.fields:
        storage = _storage(each.dataType)
        if storage is None or type_of(storage) is None:
            hidden[each.name] = f"is of type {each.dataType.typeName()}, which questions cannot use"
            continue
        seen.append((each.name, storage))
        if str((each.metadata or {}).get(_PADDED, "")).lower().startswith("char"):
            padded.add(each.name)
    return tuple(seen), hidden, frozenset(padded)


def _storage(kind: Any) -> str | None:
    name = kind.typeName()
    if name.startswith("decimal"):
        return f"DECIMAL({kind.precision},{kind.scale})" if 0 <= kind.scale <= kind.precision <= 38 else None
    # A collation stands behind the name of a type.
    return _TYPES.get(name.partition("(")[0].partition(" ")[0])
