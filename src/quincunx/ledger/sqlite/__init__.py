"""A ledger in one SQLite file."""

from quincunx.ledger.sqlite.place import MEMORY
from quincunx.ledger.sqlite.store import SQLite

__all__ = ["MEMORY", "SQLite"]
