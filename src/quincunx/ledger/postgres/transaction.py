"""A transaction in PostgreSQL: the statements of every ledger, on one connection."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, Literal

from quincunx.ledger.postgres.schema import FOUND, TABLES, VERSION, expected
from quincunx.ledger.statements import Statements
from quincunx.ledger.store import TableName

if TYPE_CHECKING:
    from psycopg import Connection

_BATCH = 2_000


class PostgresTransaction(Statements):
    """A transaction of one connection. schema: where the tables are. ledger: which ledger it is, of all that exist."""

    __slots__ = ("_ledger", "connection", "schema")

    def __init__(self, connection: Connection[Any], schema: str, ledger: str) -> None:
        super().__init__(VERSION)
        self.connection, self.schema, self._ledger = connection, schema, ledger

    @property
    def ledger(self) -> str:
        """Which ledger it is."""
        return self._ledger

    def run(self, statement: str, *values: object) -> Iterator[tuple[Any, ...]]:
        cursor = self.connection.execute(statement.replace("?", "%s").encode(), values)
        return iter(cursor) if cursor.description else iter(())

    def stream(self, statement: str) -> Iterator[tuple[Any, ...]]:
        with self.connection.cursor(name="rows") as cursor:
            cursor.itersize = _BATCH
            cursor.execute(statement.encode())
            yield from cursor

    def add(self, table: TableName | Literal["records"], rows: Iterable[tuple[Any, ...]]) -> None:
        """Rows of another ledger, as its transaction gives them."""
        width = len(TABLES[table][0])
        with self.connection.cursor() as cursor, cursor.copy(f"COPY {table} FROM STDIN".encode()) as copy:
            for row in rows:
                # What is worked out of a halt stands after what is kept of it.
                copy.write_row(row[:width])

    def require(self, wanted: int) -> None:
        """It knows every record."""

    def damages(self) -> list[str]:
        """What differs from the tables as they were made, and pages whose checksum the database found wrong."""
        found = differences(self.connection, self.schema)
        failed = self.one("SELECT checksum_failures FROM pg_stat_database WHERE datname = current_database()")
        return found + ([f"the database found {failed[0]} damaged pages"] if failed and failed[0] else [])

    def damage(self, error: Exception) -> str | None:
        """The name of the error, if the database says that a table or an index is damaged."""
        state = getattr(error, "sqlstate", None)
        return type(error).__name__ if state in ("XX001", "XX002") else None


def differences(connection: Connection[Any], schema: str) -> list[str]:
    """What is not as a ledger's tables were made, in words; a trigger or a rule could change what is written."""
    found = set(connection.execute(FOUND.encode(), {"schema": schema}).fetchall())
    made = expected(schema)
    wrong = sorted(found ^ made, key=str)
    return [
        f"the {kind} {' '.join(each for each in (table, name) if each)} is not as it was made"
        for kind, table, name, _ in wrong
    ]
