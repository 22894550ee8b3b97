"""Sessions of our own beside the running one, with every setting that a result could depend on. See spark.md."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from typing import TYPE_CHECKING, Any, Final

from quincunx.errors import UnavailableError
from quincunx.table.engines.spark.cluster import Cluster, is_local

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# Rules that would write a column out wherever a condition names it: nested arithmetic would double at each level.
_LEFT_OUT: Final = ("PushDownPredicates", "PushPredicateThroughNonJoin")
_BATCH: Final = "spark.sql.parquet.columnarReaderBatchSize"
_HELD: Final = "64"
# As many as Spark reads by itself: where none of them is long, it is safe, and faster.
_SHORT: Final = "4096"
# What a value, an order or a failure could depend on is ours.
SETTINGS: Final = {
    "spark.sql.ansi.enabled": "true",
    "spark.sql.ansi.enforceReservedKeywords": "false",
    "spark.sql.ansi.doubleQuotedIdentifiers": "false",
    "spark.sql.parser.escapedStringLiterals": "false",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.timestampType": "TIMESTAMP_LTZ",
    "spark.sql.caseSensitive": "true",
    "spark.sql.decimalOperations.allowPrecisionLoss": "true",
    "spark.sql.legacy.timeParserPolicy": "CORRECTED",
    "spark.sql.readSideCharPadding": "true",
    "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",
    "spark.sql.parquet.datetimeRebaseModeInWrite": "CORRECTED",
    "spark.sql.parquet.datetimeRebaseModeInRead": "CORRECTED",
    "spark.sql.parquet.int96RebaseModeInRead": "CORRECTED",
    "spark.sql.parquet.mergeSchema": "false",
    "spark.sql.files.ignoreCorruptFiles": "false",
    "spark.sql.files.ignoreMissingFiles": "false",
    # So many rows are held at once, and further ones on disk: 4,096 with long texts, as one person may have, do not fit
    # a heap of 1 GB.
    _BATCH: _HELD,
    "spark.sql.windowExec.buffer.in.memory.threshold": _HELD,
    "spark.sql.sortMergeJoinExec.buffer.in.memory.threshold": _HELD,
    "spark.sql.cartesianProductExec.buffer.in.memory.threshold": _HELD,
    # A broadcast that an estimate chose could fail by what rows hold: only what was counted is sent to every worker.
    "spark.sql.autoBroadcastJoinThreshold": "-1",
    "spark.sql.adaptive.autoBroadcastJoinThreshold": "-1",
    "spark.sql.broadcastTimeout": "360000",
    "spark.sql.maxPlanStringLength": "0",
    "spark.sql.constraintPropagation.enabled": "false",
    # What the parser learnt of statements is kept for good, below 10 kB each of these; every new question adds to it.
    "spark.sql.parser.manageParserCaches": "true",
    "spark.sql.parser.parserDfaCacheFlushThreshold": "10000",
    "spark.sql.optimizer.excludedRules": ",".join(f"org.apache.spark.sql.catalyst.optimizer.{n}" for n in _LEFT_OUT),
}
# Of a session that we start on this machine: nobody else reaches it, and it says nothing.
_ALONE: Final = {
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    # What is known of earlier statements, at which nobody looks, would fill the driver's memory.
    "spark.sql.ui.retainedExecutions": "5",
    "spark.ui.retainedJobs": "5",
    "spark.ui.retainedStages": "5",
    "spark.ui.retainedTasks": "1000",
    "spark.log.level": "OFF",
    # People are counted in arrays of up to 8 MB, each of which starts a round of Java's collector if regions are small.
    "spark.driver.defaultJavaOptions": "-XX:G1HeapRegionSize=32m",
}
# pyspark prints messages, which may hold values, with the statement to stderr before it raises.
_TALKING: Final = ("SQLQueryContextLogger", "DataFrameQueryContextLogger", "py4j.clientserver", "py4j.java_gateway")
_INSTALL: Final = "pip install 'quincunx[spark]', and a Java runtime 17 or newer."


class _Silence:
    """Shared by all threads: the last one to leave lets the loggers speak again, as they did before the first came."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._inside = 0
        self._before: list[bool] = []

    def __enter__(self) -> None:
        loggers = [logging.getLogger(name) for name in _TALKING]
        with self._lock:
            if not self._inside:
                self._before = [each.disabled for each in loggers]
            self._inside += 1
            for each in loggers:
                each.disabled = True

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._inside -= 1
            if not self._inside:
                for name, state in zip(_TALKING, self._before, strict=True):
                    logging.getLogger(name).disabled = state


_SILENCE: Final = _Silence()


def silenced() -> AbstractContextManager[None]:
    """pyspark's own loggers say nothing in the block, whichever thread is in it."""
    return _SILENCE


# Sessions of others in which a batch is as in ours: how many threads want it, and what it was.
_NARROWED: Final[dict[SparkSession, tuple[int, str]]] = {}
_NARROWING: Final = threading.Lock()


@contextmanager
def narrowed(owner: SparkSession) -> Iterator[None]:
    """In the block files are read by as few rows at once as in our sessions: those of a frame are read by its own."""
    with _NARROWING:
        inside, before = _NARROWED.get(owner, (0, owner.conf.get(_BATCH) or ""))
        _NARROWED[owner] = inside + 1, before
        owner.conf.set(_BATCH, _HELD)
    try:
        yield
    finally:
        with _NARROWING:
            inside, before = _NARROWED.pop(owner)
            if inside > 1:
                _NARROWED[owner] = inside - 1, before
            else:
                owner.conf.set(_BATCH, before)


@contextmanager
def widened(own: SparkSession) -> Iterator[None]:
    """In the block a session of ours reads files by as many rows at once as Spark does: of columns that are short."""
    own.conf.set(_BATCH, _SHORT)
    try:
        yield
    finally:
        own.conf.set(_BATCH, _HELD)


def running(cluster: Cluster) -> SparkSession:
    """The session that runs in this process; where a master is named and none runs, one that is started."""
    try:
        from pyspark.errors import PySparkRuntimeError
        from pyspark.sql import SparkSession
    except ImportError:
        raise UnavailableError("pyspark is not installed", where="Spark", hint=_INSTALL) from None
    with suppress(PySparkRuntimeError):
        # That of this thread, or else the one that was started first.
        return SparkSession.active()
    if cluster.master is None:
        hint = 'Start one, or name where it shall run: Spark("clinic.visits", master="local[4]").'
        raise UnavailableError("no Spark session runs", where="Spark", hint=hint)
    started: SparkSession | None = None
    with silenced():
        try:
            # pyspark's checker of types takes the builder for a property.
            builder: Any = SparkSession.builder
            builder = builder.master(cluster.master).appName("quincunx")
            for name, value in (_ALONE if cluster.here else {"spark.log.level": "OFF"}).items():
                builder = builder.config(name, value)
            started = builder.getOrCreate()
        except Exception:
            started = None
    if started is None:
        raise UnavailableError("Spark could not be started", where="Spark", got=cluster.master, hint=_INSTALL)
    return started


def own(session: SparkSession) -> SparkSession:
    """A session of our own on the same cluster; every setting is read back."""
    found = session.newSession()
    for name, value in SETTINGS.items():
        found.conf.set(name, value)
    for name, value in SETTINGS.items():
        if found.conf.get(name) != value:
            hint = "Something sets it for all sessions: take it away."
            raise UnavailableError("a setting is not the one that was asked for", where="Spark", got=name, hint=hint)
    return found


def alone(session: SparkSession) -> bool:
    """Whether Spark runs on this machine alone."""
    return is_local(session.conf.get("spark.master") or "")
