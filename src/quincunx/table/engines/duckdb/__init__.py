"""DuckDB: files and frames of this machine, read by a connection that can do nothing else."""

from quincunx.table.engines.duckdb.engine import DuckDB

__all__ = ["DuckDB"]
