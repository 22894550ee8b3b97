"""What the ledger's tests share: a specification, questions, and a clock that ticks when it is read."""

from __future__ import annotations

import os
import sqlite3
import tempfile
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import quincunx as qx
from quincunx.ledger import Ledger, Question
from quincunx.ledger.postgres import create
from quincunx.ledger.sqlite.schema import APPLICATION, TABLES
from tests.postgres import Server, fresh


def specification(intensity: object = 1, standard: object = None, unit: object = None) -> qx.Specification:
    return qx.Specification(
        domain=qx.domain.Tables(columns={"person_id": "text", "age": "integer"}),
        scope=qx.scope.Everything(),
        unit=unit or qx.unit.AddRemove(key="person_id"),
        standard=standard or qx.standard.ZCDP(delta="1e-6"),
        intensity=intensity,
    )


def question(asked: object, cost: object = "1/10", **changes: object) -> Question:
    """A question about the dataset "visits", version "1"."""
    parts = {"dataset": "visits", "version": "1", "specification": specification(), "cost": cost} | changes
    return Question(asked={"plan": asked}, **parts)  # type: ignore[arg-type]


def opened(path: Path, version: int) -> Ledger:
    """A new ledger in a file of one of the formats, with a clock that ticks."""
    connection = sqlite3.connect(path)
    for statement in TABLES[version]:
        connection.execute(statement)
    connection.execute(f"PRAGMA application_id = {APPLICATION}")
    connection.execute(f"PRAGMA user_version = {version}")
    connection.close()
    return Ledger.open(path, create=False, clock=ticking())


# Where `empty` makes ledgers; None: in memory.
SERVER: Server | None = None


def empty(clock: Callable[[], datetime] | None = None) -> Ledger:
    """A new ledger in the store that is tested."""
    more = {} if clock is None else {"clock": clock}
    return Ledger.open(":memory:" if SERVER is None else made(SERVER), **more)


def staffed(server: Server) -> Server:
    """The server with the roles of a ledger: owner, teller and auditor."""
    roles = [f"CREATE ROLE {role} LOGIN" for role in ("owner", "teller", "auditor")]
    server.run(*roles, "GRANT CREATE ON DATABASE postgres TO owner")
    return server


def made(server: Server) -> str:
    """The teller's address of a new ledger in a database."""
    schema = fresh()
    create(server.address("owner", schema=schema), tellers=["teller"], auditors=["auditor"])
    return server.address("teller", schema=schema)


def ticking() -> Callable[[], datetime]:
    """A clock that starts at noon and goes one second on with each look."""
    seconds = iter(range(10**9))
    return lambda: datetime(2026, 5, 1, 12, tzinfo=UTC) + timedelta(seconds=next(seconds))


def swift_folder() -> tempfile.TemporaryDirectory[str]:
    """A folder in memory where the system has one: killing processes tests the ledger, not the speed of a disk."""
    shared = "/dev/shm"
    usable = os.path.isdir(shared) and os.access(shared, os.W_OK)
    return tempfile.TemporaryDirectory(dir=shared if usable else None)
