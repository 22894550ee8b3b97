"""A process that ends between two statements: every place where a crash can happen, one after another.

    python -m tests.ledger.crash FOLDER [--server=PORT] [--moves]

For each step (register, reserve, store, add, amend, halt, reopen) a child is forked that leaves, without cleaning up,
before its k-th statement, for k = 1, 2, … until the step completes. After each crash the ledger is opened again,
verified, and the step is repeated. --server: in a PostgreSQL server on this port, with the roles of a ledger. The
report is one JSON object: step → for each k what was recorded, and what the repetition cost. --moves: instead, files
move to that server, and for each k the report says which of the two could be spent from, before and after the same
move again.
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

from quincunx.errors import HaltedError, RegistrationError, UnavailableError
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

    def cursor(self, *words: Any, **more: Any) -> Any:
        # What is copied does not go by execute.
        if Mortal.left == 0:
            os._exit(CRASHED)
        Mortal.left -= 1
        return super().cursor(*words, **more)


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


def crashed(path: str, act: Callable[[Ledger], object], statement: int) -> int:
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            store.connect = mortal
            psycopg.connect = MortalSession.connect  # type: ignore[assignment]
            ledger = Ledger.open(path)
            Mortal.left = statement
            act(ledger)
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
            code = crashed(path, STEPS[step], statement)
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


def spends(path: str, asked: str) -> bool:
    """Whether a new question is paid for there; if not, it has moved, or is empty and knows no dataset."""
    with Ledger.open(path) as ledger:
        try:
            ledger.reserve(question(asked, "1/100"))
        except (UnavailableError, RegistrationError):
            return False
        ledger.verify()
        return True


def moves(folder: Path, server: Server) -> list[dict[str, Any]]:
    """For each statement of a move: which of the two places could be spent from, and what a repetition leaves."""
    found = []
    for statement in range(1000):
        path, address = str(folder / f"move-{statement}.db"), made(server)
        with Ledger.open(path) as ledger:
            for step in ("register", "store", "add"):
                STEPS[step](ledger)
            ledger.reserve(question("open"))
        code = crashed(path, lambda ledger, address=address: ledger.move(address), statement)  # type: ignore[misc]
        entry: dict[str, Any] = {"code": code, "before": [spends(path, "y"), spends(address, "y")]}
        with Ledger.open(path) as ledger:
            head = ledger.move(address)
        entry["after"] = [spends(path, "z"), spends(address, "z")]
        with Ledger.open(address) as ledger:
            ledger.verify(head)
        found.append(entry)
        if code == DONE:
            break
    return found


if __name__ == "__main__":
    port = next((int(word.partition("=")[2]) for word in sys.argv if word.startswith("--server=")), None)
    running = None if port is None else Server(binaries=Path(), folder=Path(), port=port, durable=True)
    if "--moves" in sys.argv and running is not None:
        print(json.dumps(moves(Path(sys.argv[1]), running)))
    else:
        print(json.dumps(report(Path(sys.argv[1]), running)))
