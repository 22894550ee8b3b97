"""Where a ledger in PostgreSQL is: an address without a password, read by the rules of the database's own library."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import parse_qsl, urlencode, urlsplit

from quincunx.errors import ParameterError, UnavailableError

SCHEMES: Final = ("postgresql://", "postgres://")
SCHEMA: Final = "quincunx"
_NAME: Final = re.compile(r"[a-z_][a-z0-9_]{0,62}")
# What would make a connection say less than it must: these are ours.
_OURS: Final = ("options", "application_name", "client_encoding", "target_session_attrs", "sslpassword")
_LOOPBACK: Final = re.compile(r"localhost|127(\.\d{1,3}){3}|::1|")


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """shown: the address for people. schema: where the tables are. parts: what the database's library is given."""

    shown: str
    schema: str
    parts: dict[str, Any] = field(repr=False)


def is_address(path: object) -> bool:
    """Whether this is the address of a PostgreSQL database, and no file."""
    return isinstance(path, str) and path.lower().startswith(SCHEMES)


def located(address: str) -> Place:
    """The place of a ledger: postgresql://teller@host/database?schema=quincunx&sslmode=verify-full.

    Refused with a password in it: that belongs into a password file or a service file, which no plan file holds.
    """
    library()
    from psycopg import ProgrammingError
    from psycopg.conninfo import conninfo_to_dict

    hint = "Write postgresql://teller@host:5432/database, with ?schema=… where it is not quincunx."
    try:
        split = urlsplit(address)
        asked = parse_qsl(split.query, keep_blank_values=True, strict_parsing=bool(split.query))
        rest = urlencode([(name, value) for name, value in asked if name != "schema"])
        parts = conninfo_to_dict(f"{split.scheme}://{split.netloc}{split.path}" + (f"?{rest}" if rest else ""))
    except (ValueError, ProgrammingError):
        parts = {}
    if not parts:
        # Outside of the block above: the library's own error repeats what was typed.
        raise ParameterError("this is no address of a database", where="ledger", got=address[:80], hint=hint)
    if "password" in parts:
        safer = "Put it into a password file (PGPASSFILE) or a service file (?service=…), and leave it out here."
        raise ParameterError("an address with a password is not taken", where="ledger", hint=safer)
    for name in _OURS:
        if name in parts:
            raise ParameterError("this part of an address is set by Quincunx", where="ledger", got=name, hint=hint)
    schema = dict(asked).get("schema", SCHEMA)
    if not _NAME.fullmatch(schema):
        small = "Write small letters, digits and underscores."
        raise ParameterError("this cannot be a schema's name", where="ledger", got=repr(schema[:80]), hint=small)
    where = split.netloc.rpartition("@")[2]
    shown = f"{split.scheme}://{where}{split.path}" + ("" if schema == SCHEMA else f"?schema={schema}")
    return Place(shown=shown, schema=schema, parts=parts)


def check_encrypted(host: str, encrypted: bool, mode: str) -> None:
    """Refuse a connection over a network on which somebody between could answer in the database's place."""
    if not host.startswith("/") and not _LOOPBACK.fullmatch(host) and (not encrypted or mode != "verify-full"):
        hint = "Add sslmode=verify-full (and sslrootcert=…) to the address, or to the service file."
        what = "a ledger on another machine needs a connection that proves who answers"
        raise UnavailableError(what, where=host, got=f"sslmode={mode or 'prefer'}", hint=hint)


def library() -> None:
    """Refuse with the command that installs what is missing."""
    try:
        import psycopg  # noqa: F401
    except ImportError:
        hint = "pip install 'quincunx[postgres]'"
        raise UnavailableError("psycopg is not installed", where="ledger", hint=hint) from None
