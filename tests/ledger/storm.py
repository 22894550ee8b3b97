"""A crowd that is shot at: many processes spend from one ledger, each may be killed at any moment and is then replaced.

    python -m tests.ledger.storm FOLDER PROCESSES ATTEMPTS KILLS UNITS [--control] [--ledger=ADDRESS]

A process works through its attempts; every fourth question is one that all processes ask. After an answer is revealed
it is written to the process's own log, in one write. The parent kills processes by their own id, with SIGKILL, at
random moments, and starts the rest of their attempts again. The budget covers UNITS questions. With --control the
ledger's transactions are taken away, or in a database the lock of its gate. --ledger: an empty one in a database. The
report is one JSON object on standard output.
"""

from __future__ import annotations

import json
import os
import random
import signal
import sqlite3
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from typing import Any

from quincunx.errors import BudgetError, UnavailableError
from quincunx.ledger import Ledger, Question
from quincunx.ledger.book import Book
from quincunx.ledger.postgres import Postgres
from quincunx.ledger.postgres.transaction import PostgresTransaction
from quincunx.ledger.record import FORMAT
from quincunx.ledger.sqlite import SQLite
from quincunx.ledger.sqlite.transaction import SQLiteTransaction
from tests.ledger.worlds import question, specification


def work(path: str, log: Path, process: int, attempts: range, cost: Fraction) -> None:
    """Ask, pay, draw, store, reveal, log; one line for each attempt."""
    ledger, spec = Ledger.open(path, wait=120), specification()
    out = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    for attempt in attempts:
        # The last tenth is asked when the shooting is over, so that a fast machine cannot run away from it.
        while attempt >= attempts.stop * 9 // 10 and not (log.parent / "over").exists():
            time.sleep(0.005)
        shared = attempt % 4 == 0
        asked = f"shared {attempt}" if shared else f"{process} asks {attempt}"
        line = {"attempt": attempt, "asked": asked} | spend(ledger, question(asked, cost, specification=spec), shared)
        os.write(out, (json.dumps(line) + "\n").encode())


def spend(ledger: Ledger, asked: Question, shared: bool, tried: int = 0) -> dict[str, object]:
    """The revealed answer or "refused", and whether the question had been paid for and cut off before."""
    try:
        reservation = ledger.reserve(asked)
        drawn = f"{asked.asked}: {os.urandom(8).hex()}".encode()
        answer = ledger.reveal(reservation) if reservation.stored else ledger.store(reservation, drawn)
        cut = not reservation.charged and not reservation.stored and not shared
        return {"answer": answer.content.decode(), "retry": cut}
    except BudgetError:
        return {"answer": "refused", "retry": False}
    except UnavailableError:
        # The control meets this, because without transactions two records claim one number; and who loses the database.
        time.sleep(min(0.005 * 2**tried, 1.0))
        return spend(ledger, asked, shared, tried + 1) if tried < 20 else {"answer": "failed", "retry": False}


def started(path: str, log: Path, process: int, attempts: range, cost: Fraction) -> int:
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            work(path, log, process, attempts, cost)
            code = 0
        finally:
            os._exit(code)
    return pid


def lines(log: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []


@contextmanager
def without_transaction(self: SQLite) -> Iterator[SQLiteTransaction]:
    """Every statement by itself: what the ledger would be without BEGIN IMMEDIATE."""
    self._after_fork()
    connection = self._taken()
    connection.execute("PRAGMA busy_timeout = 60000")
    try:
        yield SQLiteTransaction(connection, FORMAT)
    except sqlite3.Error as error:
        raise UnavailableError("lost a race", got=type(error).__name__) from None
    finally:
        self._idle.append(connection)


@contextmanager
def without_lock(self: Postgres) -> Iterator[PostgresTransaction]:
    """A transaction that does not lock the gate before its first look."""
    with self._transaction("BEGIN") as transaction:
        yield transaction


admitted = Book.admit


def unhurried(self: Book, *words: Any) -> None:
    """A little time between the look at a budget and the spend, so that no machine is too fast for the control."""
    admitted(self, *words)
    time.sleep(0.002)


def storm(
    folder: Path, processes: int, attempts: int, kills: int, units: int, *, control: bool, ledger: str | None
) -> dict[str, object]:
    if control:
        SQLite.writing = without_transaction  # type: ignore[method-assign]
        Postgres.writing = without_lock  # type: ignore[method-assign]
        Book.admit = unhurried  # type: ignore[method-assign]
    cost = Fraction(1, units)
    path, dice, begun = ledger or str(folder / "ledger.db"), random.Random(16), time.monotonic()
    with Ledger.open(path) as opened:
        opened.register(dataset="visits", specification=specification())
    logs = {process: folder / f"{process}.log" for process in range(processes)}
    running = {started(path, logs[i], i, range(attempts), cost): i for i in range(processes)}
    killed, failed = 0, []
    while running:
        if killed >= kills:
            (folder / "over").touch()
        else:
            time.sleep(dice.uniform(0.0, 0.04))
            victim = dice.choice(list(running))
            os.kill(victim, signal.SIGKILL)
        pid, status = os.waitpid(-1, 0 if killed >= kills else os.WNOHANG)
        if pid == 0:
            continue
        process = running.pop(pid)
        if os.WIFSIGNALED(status):
            killed += 1
            # The attempt that was cut off is made again: a retry.
            rest = range(len(lines(logs[process])), attempts)
            running[started(path, logs[process], process, rest, cost)] = process
        elif status:
            failed.append(process)
    return _report(path, logs, killed, failed, time.monotonic() - begun)


def _report(path: str, logs: dict[int, Path], killed: int, failed: list[int], seconds: float) -> dict[str, object]:
    shown = [line for log in logs.values() for line in lines(log)]
    answers: dict[str, set[str]] = {}
    for line in shown:
        if line["answer"] not in ("refused", "failed"):
            answers.setdefault(line["asked"], set()).add(line["answer"])
    with Ledger.open(path) as ledger:
        with ledger._store.reading() as transaction:
            stored = {bytes(content).decode() for _, _, content in transaction.rows("answers")}
            reserved = [json.loads(body) for body in transaction.bodies("reservation")]
        spent = sum((Fraction(body["cost"]) for body in reserved), Fraction(0))
        account = ledger.account("visits")
        try:
            verified = ledger.verify()
        except Exception as error:
            verified = f"failed: {error}"
    return {
        "attempts": len(shown),
        "killed": killed,
        "failed": failed,
        "seconds": round(seconds, 1),
        "reservations": len(reserved),
        "questions reserved twice": len(reserved) - len({body["question"] for body in reserved}),
        "spent": str(spent),
        "overspent": str(max(Fraction(0), spent - 1)),
        "remaining": str(account.total.remaining),
        "refused": sum(line["answer"] == "refused" for line in shown),
        "revealed": sum(len(each) for each in answers.values()),
        "revealed without a record": sum(len(each - stored) for each in answers.values()),
        "questions with two answers": sum(len(each) > 1 for each in answers.values()),
        "retries of a cut-off question": sum(line["retry"] for line in shown),
        "reserved without an answer": account.questions - account.answers,
        "verified": verified,
    }


if __name__ == "__main__":
    place, *counts = [word for word in sys.argv[1:] if not word.startswith("--")]
    named = next((word.partition("=")[2] for word in sys.argv if word.startswith("--ledger=")), None)
    print(json.dumps(storm(Path(place), *map(int, counts), control="--control" in sys.argv, ledger=named)))
