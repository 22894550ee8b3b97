"""PostgreSQL: tables of a database, read where they are. Needs the extra `postgres`."""

from quincunx.table.engines.postgres.engine import PostgresEngine

__all__ = ["PostgresEngine"]
