"""Rows where Spark reads them: frames, and files of Parquet."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq

from quincunx.table.engines.spark.source import Spark
from tests.postgres import fresh

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def stored(frame: pa.Table, folder: Path, name: str = "") -> Spark:
    """The rows as a file of Parquet, which Spark reads itself."""
    path = folder / f"{name or fresh('t')}.parquet"
    pq.write_table(frame, path)
    return Spark(f"parquet.`{path}`")


def framed(session: SparkSession, kinds: Mapping[str, str], rows: Sequence[Sequence[Any]]) -> DataFrame:
    """The rows as a frame of the running session: values are texts that are cast to their types (name → type)."""
    texts = [[None if each is None else str(each) for each in row] for row in rows]
    schema = ", ".join(f"c{i} STRING" for i in range(len(kinds)))
    typed = [f"CAST(c{i} AS {kind}) AS `{name}`" for i, (name, kind) in enumerate(kinds.items())]
    found: DataFrame = session.createDataFrame(texts, schema).selectExpr(*typed)
    return found
