"""Connections to a database that reads, with every setting that a result could depend on. See postgres.md."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

from quincunx.data import check_encrypted
from quincunx.errors import UnavailableError
from quincunx.table.engines.postgres.source import Postgres

if TYPE_CHECKING:
    from psycopg import Connection, Error

# What a result or a failure could depend on is ours. The last two change the speed alone.
SETTINGS: Final = {
    "role": "none",
    "search_path": "pg_catalog, pg_temp",
    "default_transaction_read_only": "on",
    "default_transaction_isolation": "read committed",
    "default_transaction_deferrable": "off",
    "row_security": "off",
    "timezone": "UTC",
    "datestyle": "ISO, MDY",
    "extra_float_digits": "1",
    "standard_conforming_strings": "on",
    "transform_null_equals": "off",
    "array_nulls": "on",
    "statement_timeout": "0",
    "lock_timeout": "0",
    "idle_in_transaction_session_timeout": "0",
    "idle_session_timeout": "0",
    "client_min_messages": "error",
    "client_encoding": "UTF8",
    # Hash tables that workers share are in shared memory, which grows with the rows and may be little in a container.
    "enable_parallel_hash": "off",
    "enable_mergejoin": "off",
    "jit": "off",
}
_READ_BACK: Final = b"SELECT name, current_setting(name) FROM unnest($1::text[]) AS name"
# What only later versions know, and would be refused by others at the start.
_LATER: Final = b"SELECT set_config(name, '0', false) FROM pg_settings WHERE name = 'transaction_timeout'"
# The first version that knows infinite numbers of NUMERIC; in those before 13 a quotient by infinity is an error.
_OLDEST: Final = 140_000
_WAIT: Final = 10
# SQLSTATE → what it is and what to do. Messages of the database are not passed on: they may hold values.
_REASONS: Final = {
    "42501": ("this role may not read that", "GRANT SELECT on the table, and USAGE on its schema, to the role."),
    "42P01": ("a table is gone", "Look at its name, and at what stands below a view."),
    "42703": ("a column is gone", "Open the session again: the table has changed."),
}
_LOST: Final = (
    "the database cannot be reached",
    "Look at the address, the role and its password file, and try again when it answers; nothing was spent.",
)
_OTHER: Final = ("the database refused this", "Its own log says why.")


def connect(source: Postgres) -> Connection[Any]:
    """A connection in autocommit, so that one statement sees one snapshot. Encrypted, or on this machine."""
    import psycopg

    if os.environ.get("PGPASSWORD"):
        hint = "Put the password into a password file (PGPASSFILE) or the service file, and unset PGPASSWORD."
        raise UnavailableError("a password stands in the environment", where="PGPASSWORD", hint=hint)
    escaped = {name: value.replace(" ", "\\ ") for name, value in SETTINGS.items() if name != "client_encoding"}
    connection = psycopg.connect(
        **{"connect_timeout": _WAIT, **source.parts},
        options=" ".join(f"-c {name}={value}" for name, value in escaped.items()),
        client_encoding="utf8",
        application_name="quincunx",
        autocommit=True,
        prepare_threshold=None,
        cursor_factory=psycopg.RawCursor,
    )
    try:
        info = connection.info
        mode = info.get_parameters().get("sslmode", "")
        check_encrypted(info.host or "", info.hostaddr or "", bool(connection.pgconn.ssl_in_use), mode, "a table")
        _check_server(connection, source.shown)
    except BaseException:
        connection.close()
        raise
    return connection


def _check_server(connection: Connection[Any], shown: str) -> None:
    """Refuse a server whose texts are not UTF-8, or on which a setting is not ours, whatever stands between."""
    if connection.info.server_version < _OLDEST:
        hint = "PostgreSQL 14 and later are read."
        raise UnavailableError("the server is too old", where=shown, got=str(connection.info.server_version), hint=hint)
    encoding = connection.info.parameter_status("server_encoding")
    if encoding != "UTF8":
        hint = "Copy the tables into a database with ENCODING 'UTF8'."
        raise UnavailableError("the database does not hold UTF-8", where=shown, got=str(encoding), hint=hint)
    connection.execute(_LATER)
    rows = connection.execute(_READ_BACK, [list(SETTINGS)]).fetchall()
    for name, setting in rows:
        if setting != SETTINGS[name]:
            hint = "Something between changes it: connect to the server itself."
            raise UnavailableError("a setting is not the one that was asked for", where=shown, got=name, hint=hint)


@contextmanager
def translated(shown: str) -> Iterator[None]:
    """Errors of the database in our words; its messages may hold values, so only the code is shown."""
    from psycopg import Error

    try:
        yield
    except Error as error:
        raise reason(error, shown) from None


def reason(error: Error, shown: str) -> UnavailableError:
    """What an error of the database means, in our words."""
    from psycopg import OperationalError

    state = error.sqlstate or ""
    lost = isinstance(error, OperationalError) and not state
    what, hint = _REASONS.get(state, _LOST if lost or state[:2] in ("08", "57") else _OTHER)
    return UnavailableError(what, where=shown, got=state or type(error).__name__, hint=hint)
