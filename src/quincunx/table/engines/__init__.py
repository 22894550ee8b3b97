"""Engines: from a program to exact integers. Nothing that an engine says about the data leaves but these.

DuckDB is loaded when it is first used: data that live elsewhere are read by engines of their own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from quincunx.lazy import exports
from quincunx.table.engines.engine import ENGINES, Engine, KeptFile, Result, keep_rows, open_engine

if TYPE_CHECKING:
    from quincunx.table.engines.duckdb import DuckDB
    from quincunx.table.engines.published import evaluate

# public name → (module, attribute)
_NAMES: dict[str, tuple[str, str | None]] = {
    "DuckDB": ("quincunx.table.engines.duckdb", "DuckDB"),
    "evaluate": ("quincunx.table.engines.published", "evaluate"),
}

__all__ = ["ENGINES", "DuckDB", "Engine", "KeptFile", "Result", "evaluate", "keep_rows", "open_engine"]

__getattr__, __dir__ = exports(__name__, _NAMES)
