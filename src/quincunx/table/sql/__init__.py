"""The SQL that questions are written in: an allow-list of DuckDB's, read into a typed plan."""

from quincunx.table.sql.keys import Evaluate
from quincunx.table.sql.reader import read

__all__ = ["Evaluate", "read"]
