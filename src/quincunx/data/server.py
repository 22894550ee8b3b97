"""Addresses of PostgreSQL servers: no password in them, and over a network a proof of who answers.

Tables that live in a database and ledgers of teams are reached by the same rules.
"""

from __future__ import annotations

from ipaddress import ip_address
from typing import Any, Final

from quincunx.errors import ParameterError, UnavailableError

# What would make a connection say less than it must: these are ours.
_OURS: Final = ("options", "application_name", "client_encoding", "target_session_attrs", "sslpassword")


def server_parts(address: str, where: str, hint: str) -> dict[str, Any]:
    """The parts of an address, as the database's own library reads them. where, hint: for what is refused.

    Refused with a password in it: that belongs into a password file or a service file, which no plan file holds.
    """
    server_library(where)
    from psycopg import ProgrammingError
    from psycopg.conninfo import conninfo_to_dict

    try:
        parts = conninfo_to_dict(address)
    except (ValueError, ProgrammingError):
        parts = {}
    if not parts:
        # Outside of the block above: the library's own error repeats what was typed.
        raise ParameterError("this is no address of a database", where=where, got=address[:80], hint=hint)
    if "password" in parts:
        safer = "Put it into a password file (PGPASSFILE) or a service file (?service=…), and leave it out here."
        raise ParameterError("an address with a password is not taken", where=where, hint=safer)
    for name in _OURS:
        if name in parts:
            raise ParameterError("this part of an address is set by Quincunx", where=where, got=name, hint=hint)
    return parts


def check_encrypted(host: str, number: str, encrypted: bool, mode: str, what: str) -> None:
    """Refuse a connection over a network on which somebody between could answer in the database's place.

    host: as it was named. number: the address of the Internet that answers, empty for a socket of this machine. what:
    is on the other machine.
    """
    if not _here(host, number) and (not encrypted or mode != "verify-full"):
        hint = "Add sslmode=verify-full (and sslrootcert=…) to the address, or to the service file."
        needs = f"{what} on another machine needs a connection that proves who answers"
        raise UnavailableError(needs, where=host, got=f"sslmode={mode or 'prefer'}", hint=hint)


def _here(host: str, number: str) -> bool:
    """Whether this machine answers. A name says nothing: hostaddr sends localhost anywhere, and so may a resolver."""
    if not number:
        return not host or host.startswith(("/", "@"))
    try:
        return ip_address(number).is_loopback
    except ValueError:
        return False


def server_library(where: str) -> None:
    """Refuse with the command that installs what is missing."""
    try:
        import psycopg  # noqa: F401
    except ImportError:
        hint = "pip install 'quincunx[postgres]'"
        raise UnavailableError("psycopg is not installed", where=where, hint=hint) from None
