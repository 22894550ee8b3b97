"""Addresses of ledgers: what is taken, what is refused, and what is shown of them."""

from __future__ import annotations

import builtins
from ipaddress import ip_address
from typing import Any

import psycopg
import pytest

from quincunx.data import check_encrypted
from quincunx.errors import ParameterError, UnavailableError
from quincunx.ledger import Ledger
from quincunx.ledger.postgres.place import is_address, located
from tests.postgres import Server


@pytest.mark.parametrize(
    ("address", "shown", "schema"),
    [
        ("postgresql://teller@db.example:5433/clinic", "postgresql://db.example:5433/clinic", "quincunx"),
        ("postgres://db.example/clinic?schema=studies", "postgres://db.example/clinic?schema=studies", "studies"),
        ("postgresql://teller@[::1]/clinic?sslmode=verify-full", "postgresql://[::1]/clinic", "quincunx"),
        ("postgresql:///clinic?host=/run/postgresql&service=clinic", "postgresql:///clinic", "quincunx"),
    ],
)
def test_an_address_is_shown_without_who_and_how(address: str, shown: str, schema: str) -> None:
    found = located(address)
    assert (found.shown, found.schema) == (shown, schema)
    assert "schema" not in found.parts
    assert is_address(address)


@pytest.mark.parametrize(
    ("address", "says"),
    [
        ("postgresql://teller:hunter2@db/clinic", "an address with a password is not taken"),
        ("postgresql://teller@db/clinic?password=hunter2", "an address with a password is not taken"),
        ("postgresql://teller@db/clinic?options=-csearch_path%3Dpublic", "set by Quincunx"),
        ("postgresql://teller@db/clinic?target_session_attrs=any", "set by Quincunx"),
        ("postgresql://teller@db/clinic?schema=Robert'); DROP TABLE records; --", "cannot be a schema's name"),
        ("postgresql://teller@db/clinic?schema=", "cannot be a schema's name"),
        ("postgresql://teller@db/clinic?sslmod=verify-full", "no address of a database"),
        ("postgresql://[::1/clinic", "no address of a database"),
    ],
)
def test_a_bad_address_is_refused_and_no_password_is_repeated(address: str, says: str) -> None:
    with pytest.raises(ParameterError, match=says) as caught:
        Ledger.open(address)
    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize("path", ["ledger.db", ":memory:", "/postgresql://x", None, 3])
def test_a_file_is_no_address(path: object) -> None:
    assert not is_address(path)


@pytest.mark.parametrize(
    ("host", "number"),
    [
        ("/run/postgresql", ""),
        ("@postgresql", ""),
        ("", ""),
        ("localhost", "127.0.0.1"),
        ("localhost", "::1"),
        ("127.3.2.1", "127.3.2.1"),
        ("db.example", "127.0.0.1"),
    ],
)
def test_this_machine_needs_no_encryption(host: str, number: str) -> None:
    check_encrypted(host, number, False, "disable", "a ledger")


@pytest.mark.parametrize(
    ("host", "number", "encrypted", "mode"),
    [
        ("db.example", "10.0.0.7", False, "disable"),
        ("db.example", "10.0.0.7", True, "require"),
        ("db.example", "10.0.0.7", True, "verify-ca"),
        ("10.0.0.7", "10.0.0.7", True, "prefer"),
        ("localhost.evil.example", "10.0.0.7", True, "require"),
        ("127.0.0.1.evil.example", "10.0.0.7", False, ""),
        ("db.example", "10.0.0.7", False, "verify-full"),
        # Names of this machine that lead to another: by hostaddr, or by a resolver.
        ("localhost", "10.0.0.7", False, "disable"),
        ("127.0.0.1", "10.0.0.7", True, "require"),
        ("/run/postgresql", "10.0.0.7", False, "disable"),
        ("", "fd00::2", False, "disable"),
        # What cannot be read is not taken for this machine.
        ("localhost", "", False, "disable"),
        ("localhost", "nowhere", False, "disable"),
    ],
)
def test_another_machine_must_prove_who_answers(host: str, number: str, encrypted: bool, mode: str) -> None:
    with pytest.raises(UnavailableError, match="proves who answers"):
        check_encrypted(host, number, encrypted, mode, "a ledger")
    check_encrypted(host, number, True, "verify-full", "a ledger")


@pytest.mark.ci
@pytest.mark.parametrize(
    "address", ["postgresql://teller@db.example/postgres?hostaddr=127.0.0.1", "postgresql://teller@localhost/postgres"]
)
def test_who_answers_is_asked_of_the_connection(durable: Server, address: str) -> None:
    """What the library says of a connection is what the rule needs: a number, whatever was named."""
    with psycopg.connect(address, port=durable.port, sslmode="disable") as connection:
        assert ip_address(connection.info.hostaddr).is_loopback


def test_without_the_library_the_command_that_installs_it_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def missing(name: str, *more: Any) -> Any:
        if name.split(".")[0] == "psycopg":
            raise ImportError(name)
        return real(name, *more)

    monkeypatch.setattr(builtins, "__import__", missing)
    with pytest.raises(UnavailableError, match=r"pip install 'quincunx\[postgres\]'"):
        Ledger.open("postgresql://teller@db/clinic")
