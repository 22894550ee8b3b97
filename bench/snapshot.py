"""How fast later questions, joins and roll-ups per person are, next to DuckDB without noise and to opendp.

    python bench/snapshot.py               a table; the exit code is the number of targets missed
    python bench/snapshot.py --processor   ratios of processor time, for a machine that is busy with other work
    python bench/snapshot.py --json        all figures for machines

The visits are those of table.py: 10 million rows of 1 million people. On a snapshot a question is measured beside
the plain GROUP BY on the kept columns, with limits that a quarter of the rows are over, and with limits that nobody is.
A private join pairs each visit with the row of its person in a table of 1 million, beside the same join and the same
weighting in DuckDB, on tables in memory (a snapshot) and on Parquet files (the first question of a session that was
just opened). A roll-up counts visits per person. Every answer is a whole call: planning, engine, noise and ledger.
"""

from __future__ import annotations

import argparse
import itertools
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from table import GROUPS, HIGHEST, PER_PERSON, QUESTION, ROWS, generate, opendp, peer_python

# About a quarter of the rows belong to people over the first, and nobody is over the second.
QUARTER, NOBODY = 25, 2_000
JOIN = (
    "SELECT p.area, COUNT(*) AS n, SUM(v.amount) AS total "
    "FROM visits AS v JOIN persons AS p USING (person_id) GROUP BY p.area"
)
ROLL_UP = (
    "SELECT COUNT(*) AS n, SUM(visits) AS total FROM "
    "(SELECT person_id, COUNT(*) AS visits FROM visits GROUP BY person_id) AS r WHERE visits > 4"
)
PLAIN = "SELECT grp, count(*), sum(amount) FROM {visits} GROUP BY grp"
JOINED = f"""
    WITH joined AS MATERIALIZED (
        SELECT person_id, area, amount FROM {{visits}} JOIN {{persons}} USING (person_id)),
    heavy AS (
        SELECT person_id, {QUARTER} / count(*) AS w FROM joined GROUP BY person_id HAVING count(*) > {QUARTER})
    SELECT area, sum(coalesce(w, 1)), sum(coalesce(w, 1) * amount) FROM joined LEFT JOIN heavy USING (person_id)
    GROUP BY area"""
ROLLED = f"""
    SELECT count(*), sum(least(visits, {QUARTER})) FROM
    (SELECT person_id, count(*) AS visits FROM {{visits}} GROUP BY person_id) WHERE visits > 4"""
Task = Callable[[Path], object]
Times = Mapping[str, list[tuple[float, float]]]


# --- inside a worker: one task a line; seconds, processor seconds and peak memory a line back


def ours() -> dict[str, Task]:
    """This library. Every call states another spend: an equal one would be replayed for free."""
    import quincunx as qx

    spends = itertools.count(1)
    sessions: dict[Any, Any] = {}
    home = tempfile.TemporaryDirectory()

    def session(folder: Path, kind: str, limit: int, snapshot: bool) -> Any:
        columns = {"grp": {"keys": list(range(GROUPS))}, "amount": {"bounds": (0, HIGHEST)}}
        return qx.Session(
            dataset=f"{kind} {limit} {snapshot} {next(spends)}",
            version="1",
            ledger=Path(home.name) / "ledger.db",
            tables={
                "visits": qx.Table(folder / "visits.parquet", limits={"rows": limit}, columns=columns),
                "persons": qx.Table(
                    folder / "persons.parquet", limits={"rows": 1}, columns={"area": {"keys": list(range(GROUPS))}}
                ),
            },
            unit=qx.unit.AddRemove(key="person_id"),
            standard={"pure": qx.standard.Pure(), "zcdp": qx.standard.ZCDP()}[kind],
            intensity=1_000_000,
            snapshot=snapshot,
        )

    def later(kind: str, limit: int, question: str = QUESTION) -> Task:
        def ask(folder: Path) -> None:
            known = (kind, limit)
            if known not in sessions:
                sessions[known] = session(folder, kind, limit, True)
            number = next(spends)
            # Another text each time, so that no plan is remembered.
            sessions[known].sql(f"{question} -- {number}", spend=f"1.{number:06d}")

        return ask

    def opened(folder: Path) -> None:
        if "new" in sessions:
            sessions["new"].close()
        sessions["new"] = session(folder, "pure", QUARTER, False)

    return {
        "open": opened,
        "pure, a quarter": later("pure", QUARTER),
        "zcdp, a quarter": later("zcdp", QUARTER),
        "pure, nobody": later("pure", NOBODY),
        "join": later("pure", QUARTER, JOIN),
        "join, first": lambda _: sessions["new"].sql(JOIN, spend=1),
        "roll-up": later("pure", QUARTER, ROLL_UP),
    }


def baseline() -> dict[str, Task]:
    """DuckDB alone, on tables in memory and on files."""
    import duckdb

    connection = duckdb.connect()

    def kept(statement: str) -> Task:
        def run(folder: Path) -> object:
            if not connection.execute("FROM duckdb_tables() WHERE table_name = 'visits'").fetchall():
                for name, columns in (("visits", "person_id, grp, amount"), ("persons", "person_id, area")):
                    connection.execute(f"CREATE TABLE {name} AS SELECT {columns} FROM '{folder / name}.parquet'")
            return connection.execute(statement.format(visits="visits", persons="persons")).fetchnumpy()

        return run

    def files(statement: str) -> Task:
        def run(folder: Path) -> object:
            named = {name: f"'{folder / name}.parquet'" for name in ("visits", "persons")}
            return connection.execute(statement.format(**named)).fetchnumpy()

        return run

    return {
        "plain": kept(PLAIN),
        "join": kept(JOINED),
        "join, first": files(JOINED),
        "roll-up": kept(ROLLED),
    }


def peer() -> dict[str, Task]:
    """opendp by rows, as in table.py."""
    ask = opendp()["rows"]
    return {"rows": lambda folder: ask(str(folder / "visits.parquet"))}


WORKERS = {"quincunx": ours, "duckdb": baseline, "opendp": peer}


def work(name: str) -> None:
    """Answer tasks until the input ends. A task is a JSON list: name, folder."""
    tasks = WORKERS[name]()
    for line in sys.stdin:
        task, folder = json.loads(line)
        start, before = time.perf_counter(), time.process_time()
        tasks[task](Path(folder))
        taken = time.perf_counter() - start, time.process_time() - before
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
        print(json.dumps([*taken, peak]), flush=True)


# --- the conductor


class Worker:
    """A process that times tasks."""

    def __init__(self, name: str, python: str = sys.executable) -> None:
        command = [python, str(Path(__file__).resolve()), "--worker", name]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.peak = 0

    def taken(self, task: str, folder: Path) -> tuple[float, float]:
        """Seconds and processor seconds of one call; the peak memory of the process is kept."""
        print(json.dumps([task, str(folder)]), file=self.process.stdin, flush=True)
        answer = self.process.stdout.readline() if self.process.stdout else ""
        if not answer:
            raise SystemExit(f"the worker for {task!r} ended; its message is above")
        seconds, processor, self.peak = json.loads(answer)
        return seconds, processor

    def close(self) -> None:
        """End the process by ending its input."""
        if self.process.stdin:
            self.process.stdin.close()
        self.process.wait()


def write(folder: Path) -> None:
    """The visits of table.py, and one row for each person."""
    import duckdb

    generate(folder / "visits.parquet", ROWS)
    people = f"SELECT i AS person_id, hash(i) % {GROUPS} AS area FROM range({ROWS // PER_PERSON}) AS made(i)"
    people = f"SELECT person_id, CAST(area AS BIGINT) AS area FROM ({people}) ORDER BY hash(person_id, 1)"
    duckdb.connect().execute(f"COPY ({people}) TO '{folder / 'persons.parquet'}' (FORMAT parquet)")


def measure(repetitions: int, folder: Path, with_peer: bool) -> dict[str, Any]:
    """All times by worker and task, and the peak memory of each worker."""
    print(f"writing {ROWS:,} rows", file=sys.stderr)
    # In a process of its own, so that the workers' machine is as it was.
    subprocess.run([sys.executable, __file__, "--write", str(folder)], check=True)
    workers = {"quincunx": Worker("quincunx"), "duckdb": Worker("duckdb")}
    if with_peer:
        workers["opendp"] = Worker("opendp", peer_python())
    tasks = [("quincunx", each) for each in _TASKS] + [("duckdb", each) for each in _BASELINES]
    tasks += [("opendp", "rows")] if with_peer else []
    times: dict[str, list[tuple[float, float]]] = {f"{worker} {task}": [] for worker, task in tasks}
    for repetition in range(repetitions + 1):
        print(f"repetition {repetition} of {repetitions}", file=sys.stderr)
        for worker, task in tasks:
            taken = workers[worker].taken(task, folder)
            # The first of all makes the snapshots and the tables in memory.
            if repetition:
                times[f"{worker} {task}"].append(taken)
    found = {"times": times, "peaks": {name: worker.peak for name, worker in workers.items()}}
    for each in workers.values():
        each.close()
    return found


# "open" ends one session and opens another, which reads no row; the first question is asked of that.
_TASKS = ("pure, a quarter", "zcdp, a quarter", "pure, nobody", "join", "open", "join, first", "roll-up")
_BASELINES = ("plain", "join", "join, first", "roll-up")
# What is asked for → the task of ours, what it stands beside, the limit of the ratio.
_TARGETS = (
    ("a later question, a quarter of the rows over the limit", "pure, a quarter", "duckdb plain", 2.5),
    ("the same with Gaussian noise", "zcdp, a quarter", "duckdb plain", 2.5),
    ("a later question, nobody over the limit", "pure, nobody", "duckdb plain", 1.5),
    ("a private join on a snapshot, beside join and weighting", "join", "duckdb join", 1.3),
    ("a private join, first question", "join, first", "duckdb join, first", 1.6),
    ("a roll-up per person", "roll-up", "duckdb roll-up", 1.3),
)
_FASTER, _MEMORY = 15, 4


def judged(found: dict[str, Any], processor: bool) -> list[dict[str, Any]]:
    """One line for each target: what, measured, limit, and whether it is kept."""
    best = {name: min(each[processor] for each in taken) for name, taken in found["times"].items()}
    lines = []
    for what, task, beside, limit in _TARGETS:
        mine, theirs = best[f"quincunx {task}"], best[beside]
        lines.append(_line(what, f"{mine:.2f} s to {theirs:.2f} s", mine / theirs, limit, "×"))
    if "opendp rows" in best:
        mine, theirs = best["quincunx pure, a quarter"], best["opendp rows"]
        lines.append(
            _line("a later question, beside opendp by rows", f"{theirs:.2f} s", theirs / mine, _FASTER, "×", least=True)
        )
    # Seven sessions and snapshots in one process are more than a user has; each alone is below.
    lines.append(_line("peak memory of all sessions together", "", found["peaks"]["quincunx"] / 1e9, _MEMORY, "GB"))
    return lines


def _line(what: str, detail: str, value: float, limit: float, unit: str, *, least: bool = False) -> dict[str, Any]:
    kept = value >= limit if least else value <= limit
    return {"what": what, "detail": detail, "value": value, "limit": limit, "unit": unit, "least": least, "kept": kept}


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="print all figures as JSON")
    parser.add_argument("--repetitions", type=int, default=3, help="interleaved repetitions after a first (3)")
    parser.add_argument("--processor", action="store_true", help="judge by processor time")
    parser.add_argument("--no-peer", action="store_true", help="leave opendp out")
    parser.add_argument("--worker", choices=list(WORKERS), help=argparse.SUPPRESS)
    parser.add_argument("--write", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        work(options.worker)
        return
    if options.write:
        write(Path(options.write))
        return
    with tempfile.TemporaryDirectory() as folder:
        found = measure(options.repetitions, Path(folder), not options.no_peer)
    lines = judged(found, options.processor)
    missed = sum(not line["kept"] for line in lines)
    if options.json:
        print(json.dumps(found | {"targets": lines}, indent=2))
        sys.exit(missed)
    print(f"{'call':<40}{'seconds':>12}{'processor':>14}")
    for name, taken in found["times"].items():
        seconds, processor = (min(each[place] for each in taken) for place in (0, 1))
        print(f"{name:<40}{seconds:>10.3f} s{processor:>12.3f} s")
    print(f"\n{'target':<58}{'measured':>14}{'limit':>14}  verdict")
    for one in lines:
        measured = f"{one['value']:.2f} {one['unit']}"
        limit = f"{'≥' if one['least'] else '≤'} {one['limit']:g} {one['unit']}"
        print(f"{one['what']:<58}{measured:>14}{limit:>14}  {'pass' if one['kept'] else 'miss'}  ({one['detail']})")
    print(f"\n{missed} of {len(lines)} targets missed.")
    sys.exit(missed)


if __name__ == "__main__":
    main()
