"""A process that ends between two statements: every place where a crash can happen, one after another.

    python -m tests.ledger.crash FOLDER [--server=PORT]

For each step (register, reserve, store, add, amend, halt, reopen) a child is forked that leaves, without cleaning up,
before its k-th statement, for k = 1, 2, … until the step completes. After each crash the ledger is opened again,
verified, and the step is repeated. --server: in a PostgreSQL server on this port, with the roles of a ledger. The
report is one JSON object: step → for each k what was recorded, and what the repetition cost.
"""

from __future__ import annotations

import json
import os
import sqlite3
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import quote

import psycopg

from quincunx.errors import HaltedError
from quincunx.ledger import Ledger
from quincunx.ledger.sqlite import store
from tests.ledger.worlds import made, question, specification
from tests.postgres import Server

CRASHED, DONE = 77, 0


class Mortal(sqlite3.Connection):
    """A connection whose process ends before the statement at which `left` is 0."""

    left = -1

    def execute(self, *words: Any) -> sqlite3.Cursor:
        if Mortal.left == 0:
            os._exit(CRASHED)
        Mortal.left -= 1
        return super().execute(*words)


def mortal(path: str, wait: float) -> sqlite3.Connection:
    return sqlite3.connect(
        f"file:{quote(path)}?mode=rw",
        timeout=wait,
        isolation_level=None,
        check_same_thread=False,
        uri=True,
        factory=Mortal,
    )


class MortalSession(psycopg.Connection[Any]):
    """The same in a database."""

    def execute(self, *words: Any, **more: Any) -> psycopg.Cursor[Any]:
        if Mortal.left == 0:
            os._exit(CRASHED)
        Mortal.left -= 1
        return super().execute(*words, **more)


def failing(ledger: Ledger) -> None:
    with suppress(HaltedError):
        ledger.store(ledger.reserve(question("x")), None)


STEPS: dict[str, Callable[[Ledger], object]] = {
    "register": lambda ledger: ledger.register(dataset="visits", specification=specification()),
    "reserve": lambda ledger: ledger.reserve(question("x"), analyst="alice"),
    "store": lambda ledger: ledger.store(ledger.reserve(question("x")), b"42"),
    "add": lambda ledger: ledger.add("visits", cost="1/10", note="by hand"),
    "amend": lambda ledger: ledger.amend("visits", specification=specification(2), reason="more"),
    "halt": failing,
    "reopen": lambda ledger: ledger.reopen("visits", reason="mended"),
}
BEFORE: dict[str, list[str]] = {step: ["register"] for step in STEPS} | {"register": [], "reopen": ["register", "halt"]}


def crashed(path: str, step: str, statement: int) -> int:
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            store.connect = mortal
            psycopg.connect = MortalSession.connect  # type: ignore[assignment]
            ledger = Ledger.open(path)
            Mortal.left = statement
            STEPS[step](ledger)
            code = DONE
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def report(folder: Path, server: Server | None = None) -> dict[str, list[dict[str, Any]]]:
    found: dict[str, list[dict[str, Any]]] = {}
    for step in STEPS:
        for statement in range(200):
            path = str(folder / f"{step}-{statement}.db") if server is None else made(server)
            with Ledger.open(path) as ledger:
                for earlier in BEFORE[step]:
                    STEPS[earlier](ledger)
            code = crashed(path, step, statement)
            with Ledger.open(path) as ledger:
                entry: dict[str, Any] = {"code": code, "left": [record.kind for record in ledger.records()]}
                ledger.verify()
                if step in ("reserve", "store"):
                    entry["spent"] = str(ledger.account("visits").total.spent)
                    again = ledger.reserve(question("x"), analyst="alice" if step == "reserve" else None)
                    entry["charged again"] = str(again.charged)
                    entry["answer"] = ledger.store(again, b"43").content.decode()
                    entry["spent after"] = str(ledger.account("visits").total.spent)
                if step in ("halt", "reopen"):
                    entry["halted"] = ledger.account("visits").halted
                    with suppress(HaltedError):
                        entry["answer"] = ledger.store(ledger.reserve(question("x")), b"43").content.decode()
                entry["head"] = ledger.verify()
            found.setdefault(step, []).append(entry)
            if code == DONE:
                break
    return found


if __name__ == "__main__":
    port = next((int(word.partition("=")[2]) for word in sys.argv if word.startswith("--server=")), None)
    running = None if port is None else Server(binaries=Path(), folder=Path(), port=port, durable=True)
    print(json.dumps(report(Path(sys.argv[1]), running)))
