"""A table of a PostgreSQL database as people name it."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any, Final

from quincunx.data import server_parts
from quincunx.errors import DataError, kind_of

_SERVICE: Final = re.compile(r"service=[\w.-]+")
_SCHEMES: Final = ("postgresql://", "postgres://")
# A name as SQL reads it: small letters where it stands without quotes.
_NAME: Final = r'(?:"((?:[^"]|"")+)"|([A-Za-z_\u0080-\uffff][\w$]*))'
_TABLE: Final = re.compile(rf"(?:{_NAME}\.)?{_NAME}")
_ADDRESS_HINT: Final = 'Write "service=clinic", an entry of a service file, or "postgresql://reader@host/database".'


@dataclass(frozen=True, slots=True, init=False)
class Postgres:
    """A table, a partitioned table or a view of a PostgreSQL database, as the source of a `Table`.

    address: "service=NAME", an entry of a service file, or "postgresql://reader@host/database"; a password belongs into
    a password file or the service file. table: its name with its schema, "public.visits"; without one, of `public`.
    Nothing is connected yet, and nothing is read.
    """

    address: str
    table: str
    parts: dict[str, Any] = field(repr=False, compare=False, hash=False)

    def __init__(self, address: str, *, table: str) -> None:
        for name, given in (("address", address), ("table", table)):
            if not isinstance(given, str):
                raise DataError("expected a text", where=f"Postgres.{name}", got=kind_of(given))
        if not _SERVICE.fullmatch(address) and not address.lower().startswith(_SCHEMES):
            raise DataError("this is no address of a database", where="Postgres", got=address[:80], hint=_ADDRESS_HINT)
        if _TABLE.fullmatch(table) is None:
            hint = 'Write "schema.table"; in double quotes what has capital letters: "public.\\"Visits\\"".'
            raise DataError("this cannot be a table's name", where="Postgres", got=table[:80], hint=hint)
        object.__setattr__(self, "address", address)
        object.__setattr__(self, "table", table)
        object.__setattr__(self, "parts", server_parts(address, "Postgres", _ADDRESS_HINT))

    @property
    def name(self) -> tuple[str, str]:
        """The schema and the table, as the catalogue spells them."""
        found = _TABLE.fullmatch(self.table)
        schema, own = ("public", "") if found is None else (_spelled(found[1], found[2]), _spelled(found[3], found[4]))
        return schema or "public", own

    @property
    def shown(self) -> str:
        """The address for people, without who reads there and how."""
        scheme, mark, rest = self.address.partition("://")
        return f"{scheme}{mark}{rest.partition('?')[0].rpartition('@')[2]}" if mark else self.address


def _spelled(quoted: str | None, plain: str | None) -> str:
    return quoted.replace('""', '"') if quoted is not None else (plain or "").lower()
