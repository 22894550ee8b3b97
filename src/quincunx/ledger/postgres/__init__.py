"""A ledger in a PostgreSQL database, which several machines share. Needs the extra `postgres`."""

from quincunx.ledger.postgres.making import create, migrate
from quincunx.ledger.postgres.place import is_address
from quincunx.ledger.postgres.store import Postgres

__all__ = ["Postgres", "create", "is_address", "migrate"]
