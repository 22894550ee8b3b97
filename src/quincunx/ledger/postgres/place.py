"""Where a ledger in PostgreSQL is: an address without a password, read by the rules of the database's own library."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import parse_qsl, urlencode, urlsplit

from quincunx.errors import ParameterError

SCHEMES: Final = ("postgresql://", "postgres://")
SCHEMA: Final = "quincunx"
_NAME: Final = re.compile(r"[a-z_][a-z0-9_]{0,62}")


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
    # Loaded when it is needed: a ledger in a file reads no data.
    from quincunx.data import server_parts

    hint = "Write postgresql://teller@host:5432/database, with ?schema=… where it is not quincunx."
    try:
        split = urlsplit(address)
        asked = parse_qsl(split.query, keep_blank_values=True, strict_parsing=bool(split.query))
    except ValueError:
        raise ParameterError("this is no address of a database", where="ledger", got=address[:80], hint=hint) from None
    rest = urlencode([(name, value) for name, value in asked if name != "schema"])
    address = f"{split.scheme}://{split.netloc}{split.path}" + (f"?{rest}" if rest else "")
    parts = server_parts(address, "ledger", hint)
    schema = dict(asked).get("schema", SCHEMA)
    if not _NAME.fullmatch(schema):
        small = "Write small letters, digits and underscores."
        raise ParameterError("this cannot be a schema's name", where="ledger", got=repr(schema[:80]), hint=small)
    where = split.netloc.rpartition("@")[2]
    shown = f"{split.scheme}://{where}{split.path}" + ("" if schema == SCHEMA else f"?schema={schema}")
    return Place(shown=shown, schema=schema, parts=parts)
