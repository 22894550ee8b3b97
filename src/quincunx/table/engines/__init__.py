"""Engines: from a program to exact integers. Nothing that an engine says about the data leaves but these.

DuckDB is loaded when it is first used: data that live elsewhere are read by engines of their own.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from quincunx.table.engines.engine import ENGINES, Engine, Result, open_engine

if TYPE_CHECKING:
    from quincunx.table.engines.duckdb import DuckDB
    from quincunx.table.engines.published import evaluate

# public name → module
_NAMES = {"DuckDB": "quincunx.table.engines.duckdb", "evaluate": "quincunx.table.engines.published"}

__all__ = ["ENGINES", "DuckDB", "Engine", "Result", "evaluate", "open_engine"]


def __getattr__(name: str) -> Any:
    if name not in _NAMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_NAMES[name]), name)
