"""Private tables: sources and their declarations, SQL, plans and rules, engines."""

from quincunx.table.source import Table

__all__ = ["Table"]
