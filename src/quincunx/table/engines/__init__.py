"""Engines: from a program to exact integers. Nothing that an engine says about the data leaves but these."""

from quincunx.table.engines.duckdb import DuckDB
from quincunx.table.engines.evaluate import evaluate
from quincunx.table.engines.result import Result

__all__ = ["DuckDB", "Result", "evaluate"]
