"""How many durable spends a ledger takes in a second, next to SQLite's own inserts on the same disk.

    python bench/ledger.py            a table
    python bench/ledger.py --json     the same for machines
    python bench/ledger.py --folder F where the files are made (default: a temporary folder)
    python bench/ledger.py --postgres a ledger in a PostgreSQL server of its own, with fsync, in that folder

A spend is a whole question: reserved, answered, stored and revealed, which is two transactions that are synced to the
disk. The floor is two transactions of one insert each, in write-ahead mode with synchronous = FULL, which is the least
that any ledger on SQLite can do. Both run in turn, round by round, because a disk has slow minutes; ratios are between
medians of the same run. With several processes all of them write to one file.
"""

from __future__ import annotations

import argparse
import json
import os
import sqlite3
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import quincunx as qx
from quincunx.ledger import Ledger, Question

ROUNDS, SECONDS = 5, 1.0
PROCESSES = (1, 16)
REQUIRED = 300
# Of a ledger in PostgreSQL, with 16 processes.
SHARED = 200
ROW = "x" * 600
SPEC = qx.Specification(
    domain=qx.domain.Tables(columns={"person_id": "text", "age": "integer"}),
    scope=qx.scope.Everything(),
    unit=qx.unit.AddRemove(key="person_id"),
    standard=qx.standard.ZCDP(delta="1e-10"),
    intensity=1,
)


def spends(path: Path | str, process: int, until: float) -> int:
    """Ask new questions until the time is over; how many were answered."""
    done = 0
    with Ledger.open(path, wait=60) as ledger:
        while time.monotonic() < until:
            asked = {"plan": f"SELECT COUNT(*) FROM visits WHERE age = {done}", "process": process, "at": str(until)}
            question = Question(dataset="visits", version="1", specification=SPEC, cost="1e-6", asked=asked)
            ledger.store(ledger.reserve(question, analyst="alice"), b"x" * 100)
            done += 1
    return done


def inserts(path: Path | str, process: int, until: float) -> int:  # noqa: ARG001 - the same shape as `spends`
    """Two transactions of one insert each until the time is over; how many pairs were made."""
    connection, done = sqlite3.connect(path, timeout=0.005, isolation_level=None), 0
    connection.execute("PRAGMA synchronous = FULL")
    while time.monotonic() < until:
        for _ in range(2):
            _begun(connection)
            connection.execute("INSERT INTO rows (text) VALUES (?)", (ROW,))
            connection.execute("COMMIT")
        done += 1
    connection.close()
    return done


def _begun(connection: sqlite3.Connection) -> None:
    # The ledger's way of waiting, so that the comparison is between what is written.
    while True:
        try:
            connection.execute("BEGIN IMMEDIATE")
            return
        except sqlite3.OperationalError:
            time.sleep(0.002)


def crowd(work: Callable[[Path | str, int, float], int], path: Path | str, processes: int) -> float:
    """Pairs of transactions a second, of all processes together."""
    begun = time.monotonic()
    pipes = []
    for process in range(processes):
        read, write = os.pipe()
        pid = os.fork()
        if pid == 0:
            code = 1
            try:
                os.write(write, work(path, process, begun + SECONDS).to_bytes(8, "big"))
                code = 0
            finally:
                os._exit(code)
        os.close(write)
        pipes.append((pid, read))
    counts = [int.from_bytes(os.read(read, 8), "big") for _, read in pipes]
    for pid, read in pipes:
        os.close(read)
        os.waitpid(pid, 0)
    return sum(counts) / (time.monotonic() - begun)


def measured(folder: Path) -> list[dict[str, float]]:
    """For each number of processes: medians of spends and of the floor, and their ratio."""
    ledger, plain = folder / "ledger.db", folder / "plain.db"
    with Ledger.open(ledger) as opened:
        opened.register(dataset="visits", specification=SPEC)
    connection = sqlite3.connect(plain)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("CREATE TABLE rows (seq INTEGER PRIMARY KEY, text TEXT)")
    connection.close()
    rows = []
    for processes in PROCESSES:
        ours, floor = [], []
        for _ in range(ROUNDS):
            ours.append(crowd(spends, ledger, processes))
            floor.append(crowd(inserts, plain, processes))
        ratio = statistics.median(ours) / statistics.median(floor)
        rates = {"spends": statistics.median(ours), "floor": statistics.median(floor), "ratio": ratio}
        rows.append({"processes": processes, **rates, "slowest": min(ours), "fastest": max(ours)})
    with Ledger.open(ledger) as opened:
        begun = time.monotonic()
        head = opened.verify()
        seconds = time.monotonic() - begun
        rows.append({"records": int(head.split(":")[0]), "verify_seconds": seconds})
    return rows


def shared(folder: str) -> list[dict[str, float]]:
    """The same for a ledger in PostgreSQL; the floor is two inserts, each committed, in the same server."""
    sys.path.insert(0, str(Path(__file__).parents[1]))
    from tests.postgres import server

    from quincunx.ledger.postgres import create

    rows = []
    with server(durable=True, parent=folder) as running:
        running.run("CREATE ROLE owner LOGIN", "CREATE ROLE teller LOGIN", "GRANT CREATE ON DATABASE postgres TO owner")
        running.run("CREATE TABLE public.plain (seq bigserial PRIMARY KEY, text text)")
        create(running.address("owner"), tellers=["teller"])
        with Ledger.open(running.address("teller")) as opened:
            opened.register(dataset="visits", specification=SPEC)
        for processes in PROCESSES:
            ours, floor = [], []
            for _ in range(ROUNDS):
                ours.append(crowd(spends, running.address("teller"), processes))
                floor.append(crowd(pairs, running.address("admin"), processes))
            ratio = statistics.median(ours) / statistics.median(floor)
            rates = {"spends": statistics.median(ours), "floor": statistics.median(floor), "ratio": ratio}
            rows.append({"processes": processes, **rates, "slowest": min(ours), "fastest": max(ours)})
        with Ledger.open(running.address("teller")) as opened:
            begun = time.monotonic()
            head = opened.verify()
            rows.append({"records": int(head.split(":")[0]), "verify_seconds": time.monotonic() - begun})
    return rows


def pairs(path: Path | str, process: int, until: float) -> int:  # noqa: ARG001 - the same shape as `spends`
    """Two transactions of one insert each until the time is over; how many pairs were made."""
    import psycopg

    done = 0
    with psycopg.connect(str(path), autocommit=True) as connection:
        while time.monotonic() < until:
            for _ in range(2):
                connection.execute("INSERT INTO public.plain (text) VALUES (%s)", (ROW,))
            done += 1
    return done


def _judged(row: dict[str, float], required: int) -> str:
    if row["spends"] >= required:
        return f"met: ≥ {required}"
    return f"missed: ≥ {required}" + (", as does the disk itself" if row["floor"] < required else "")


def main() -> None:
    parser = argparse.ArgumentParser(description="Durable spends a second.")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--folder", default=None)
    parser.add_argument("--postgres", action="store_true")
    options = parser.parse_args()
    required = SHARED if options.postgres else REQUIRED
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        *rows, verified = (
            shared(options.folder or tempfile.gettempdir()) if options.postgres else measured(Path(folder))
        )
    if options.json:
        print(json.dumps({"rows": rows, "verified": verified, "required": required}, indent=2))
        return
    print(f"{'processes':>9}  {'spends/s':>8}  {'(slowest … fastest)':>20}  {'floor/s':>8}  {'ratio':>5}")
    for row in rows:
        spread = f"{row['slowest']:,.0f} … {row['fastest']:,.0f}"
        rates = f"{row['spends']:>8,.0f}  {spread:>20}  {row['floor']:>8,.0f}  {row['ratio']:>5.2f}"
        print(f"{row['processes']:>9}  {rates}  {_judged(row, required)}")
    print(f"verify: {verified['records']:,.0f} records in {verified['verify_seconds']:.2f} s")


if __name__ == "__main__":
    main()
