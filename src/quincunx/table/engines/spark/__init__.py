"""Spark: frames, tables of a catalogue and Parquet folders, read where they are. Needs the extra `spark`."""

from quincunx.table.engines.spark.engine import SparkEngine

__all__ = ["SparkEngine"]
