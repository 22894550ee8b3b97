"""Making a ledger in a database, and bringing an older one up to date: the owner's work, not a teller's."""

from __future__ import annotations

import secrets
from collections.abc import Sequence

from quincunx.errors import ParameterError, UnavailableError
from quincunx.ledger.postgres.place import located
from quincunx.ledger.postgres.schema import APPLICATION, VERSION, grants, statements
from quincunx.ledger.postgres.store import connect, translated

_WAIT = 30.0


def create(address: str, *, tellers: Sequence[str] = (), auditors: Sequence[str] = ()) -> str:
    """Make an empty ledger, as the role that will own it; its address as it is printed. All of it, or nothing.

    tellers: roles that may spend: they read and add rows, and can change none. auditors: roles that may read.
    """
    from psycopg import sql

    place = located(address)
    with translated(place.shown), connect(place, _WAIT) as connection:
        quoted = {role: sql.Identifier(role).as_string(connection) for role in (*tellers, *auditors)}
        known = {name for (name,) in connection.execute("SELECT rolname FROM pg_roles")}
        for role in quoted:
            if role not in known:
                hint = f"Make it first: CREATE ROLE {role} LOGIN;"
                raise ParameterError("the database has no such role", where=place.shown, got=repr(role), hint=hint)
        found = connection.execute("SELECT 1 FROM pg_namespace WHERE nspname = %s", (place.schema,)).fetchone()
        if found is not None:
            hint = "Choose another with ?schema=… in the address."
            raise UnavailableError("the schema exists already", where=place.shown, got=place.schema, hint=hint)
        made = statements(place.schema, secrets.token_hex(16))
        made += [each for role in tellers for each in grants(place.schema, quoted[role], teller=True)]
        made += [each for role in auditors for each in grants(place.schema, quoted[role], teller=False)]
        with connection.transaction():
            connection.execute("; ".join(made).encode())
    return place.shown


def migrate(address: str) -> tuple[int, int]:
    """Bring a ledger to the newest format, as its owner; (the format before, the format now)."""
    place = located(address)
    with translated(place.shown), connect(place, _WAIT) as connection, connection.transaction():
        connection.execute("SELECT one FROM gate FOR UPDATE")
        row = connection.execute("SELECT version, application FROM format").fetchone()
        if row is None or row[1] != APPLICATION:
            raise UnavailableError("the tables are not those of a ledger", where=place.shown)
        if row[0] != VERSION:
            hint = "Update Quincunx: this version knows no way from there."
            raise UnavailableError(
                "this ledger has another format", where=place.shown, got=f"format {row[0]}", hint=hint
            )
        return int(row[0]), VERSION
