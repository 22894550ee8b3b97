"""A PostgreSQL server of the tests' own: made in a new folder, on loopback alone, under a user without rights, stopped.

The binaries come with the system (apt install postgresql). Without them what needs a server is skipped by its name,
unless QUINCUNX_REQUIRE names `postgres`.
"""

from __future__ import annotations

import glob
import os
import secrets
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg
import pytest

from tests.datasets import required


def binaries() -> Path | None:
    """The folder of initdb and pg_ctl; the newest version that is installed."""
    found = shutil.which("initdb")
    if found:
        return Path(found).parent
    folders = sorted(glob.glob("/usr/lib/postgresql/*/bin"), key=lambda each: int(each.split("/")[4]))
    return Path(folders[-1]) if folders else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Server:
    """A server. folder: its data. port: on 127.0.0.1. durable: whether it syncs. Its superuser is `admin`."""

    binaries: Path
    folder: Path
    port: int
    durable: bool

    def start(self) -> None:
        """Begin to serve, on loopback alone."""
        settings = {
            "listen_addresses": "127.0.0.1",
            "port": self.port,
            "unix_socket_directories": self.folder.parent,
            "fsync": "on" if self.durable else "off",
            "max_connections": 60,
            "shared_buffers": "64MB",
        }
        self.control("start", "-o", " ".join(f"-c {name}={value}" for name, value in settings.items()))

    def address(self, role: str, database: str = "postgres", **more: str) -> str:
        """An address for a role; everybody on this machine is trusted."""
        query = "&".join(f"{name}={value}" for name, value in more.items())
        return f"postgresql://{role}@127.0.0.1:{self.port}/{database}" + (f"?{query}" if query else "")

    def run(self, *statements: str, database: str = "postgres") -> list[Any]:
        """Carry out statements as the superuser; the rows of the last."""
        with psycopg.connect(self.address("admin", database), autocommit=True) as connection:
            for statement in statements:
                cursor = connection.execute(statement.encode())
            return cursor.fetchall() if cursor.description else []

    def control(self, *words: str) -> None:
        """pg_ctl with these words."""
        log = self.folder.parent / "log"
        run(str(self.binaries / "pg_ctl"), "-D", str(self.folder), "-l", str(log), "-w", *words)

    @property
    def log(self) -> str:
        """Everything that the server has logged."""
        return (self.folder.parent / "log").read_text(errors="replace")


def run(*command: str) -> None:
    """Run as a user who is not root: the server refuses to be root."""
    if os.geteuid() == 0:
        command = ("setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups", *command)
    # Output to a file: the server would hold a pipe open for ever.
    with tempfile.TemporaryFile() as out:
        done = subprocess.run(command, cwd="/", stdin=subprocess.DEVNULL, stdout=out, stderr=out, timeout=120)
        out.seek(0)
        assert done.returncode == 0, out.read().decode(errors="replace")[-2000:]


@contextmanager
def server(*, durable: bool = False, parent: str | None = None) -> Iterator[Server]:
    """A new server, stopped and removed at the end.

    durable: whether it syncs, which a ledger demands. parent: where its folder is made; in memory unless it is named.
    """
    where = binaries()
    if where is None:
        if required("postgres"):
            pytest.fail("PostgreSQL is not installed: apt install postgresql")
        pytest.skip("PostgreSQL is not installed: apt install postgresql")
    where_to = parent or ("/dev/shm" if os.access("/dev/shm", os.W_OK) else None)
    with tempfile.TemporaryDirectory(prefix="qx-pg-", dir=where_to) as home, socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        port = held.getsockname()[1]
        held.close()
        if os.geteuid() == 0:
            shutil.chown(home, "postgres")
        folder = Path(home) / "data"
        run(
            *(str(where / "initdb"), "-D", str(folder), "-U", "admin", "-A", "trust", "--locale=C.UTF-8", "-E", "UTF8"),
            *("--data-checksums", "--no-sync"),
        )
        made = Server(binaries=where, folder=folder, port=port, durable=durable)
        made.start()
        try:
            yield made
        finally:
            made.control("stop", "-m", "immediate")


def fresh(name: str = "") -> str:
    """A name for a schema or a role that nobody has used."""
    return f"q_{name}{secrets.token_hex(6)}"
