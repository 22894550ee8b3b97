"""How fast a table is answered, next to DuckDB without noise and to opendp.

    python bench/table.py            a table; the exit code is the number of targets missed
    python bench/table.py --json     the same for machines

The question: COUNT(*) and SUM(amount) for each of 1,000 public groups, of 10 million rows of 1 million people, with at
most 20 rows a person. How many rows people have is geometric, so that one in eight is over the limit and has two fifths
of the rows. DuckDB does the same weighting in floating point without noise, written by hand in two ways, of which the
faster counts. Each peer runs in its own process, opendp in its own virtual environment below `bench/.venvs`; all answer
in turn, repetition by repetition. Ratios are best to best, of the whole call: planning, engine, noise and ledger. The
same by a key of texts is measured beside itself with texts as they arrive, which is what looking at their bytes costs.
"""

from __future__ import annotations

import argparse
import itertools
import json
import math
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
VENV = HERE / ".venvs" / "opendp-polars"
PEER = "opendp[polars]==0.16.0"
ROWS, PER_PERSON, GROUPS, LIMIT, HIGHEST = 10_000_000, 10, 1_000, 20, 5_000
GROWTH = (1_000_000, 3_000_000, 10_000_000, 30_000_000)
SMALL_CALLS = 30
QUESTION = "SELECT grp, COUNT(*) AS n, SUM(amount) AS total FROM visits GROUP BY grp"
TEXT_QUESTION = "SELECT name, COUNT(*) AS n, SUM(amount) AS total FROM visits GROUP BY name"
SMALL = "SELECT region, COUNT(*) AS n, AVG(age) AS mean_age FROM visits GROUP BY region"
LEVELS = "[0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9]"
NINE = f"SELECT QUANTILE_CONT(amount, {LEVELS}) AS q FROM visits"
BUCKETS = "SELECT grp, MEDIAN(FLOOR(amount / 5)) AS q FROM visits GROUP BY grp"
PREVIEWS = {"closed": SMALL, "simulated": f"SELECT QUANTILE_CONT(age, {LEVELS}) AS q FROM visits"}
Task = Callable[[str], object]

CLIPPED = f"least(greatest(amount, 0), {HIGHEST})"
STATEMENTS = {
    "l1, everybody joined": f"""
        WITH people AS (
            SELECT person_id, least(1, {LIMIT} / count(*)) AS w FROM '{{path}}' GROUP BY person_id)
        SELECT grp, sum(w), sum(w * {CLIPPED}) FROM '{{path}}' JOIN people USING (person_id) GROUP BY grp""",
    "l1, those over the limit joined": f"""
        WITH heavy AS (
            SELECT person_id, {LIMIT} / count(*) AS w FROM '{{path}}' GROUP BY person_id HAVING count(*) > {LIMIT})
        SELECT grp, sum(coalesce(w, 1)), sum(coalesce(w, 1) * {CLIPPED})
        FROM '{{path}}' LEFT JOIN heavy USING (person_id) GROUP BY grp""",
    "l2, from (person, group)": f"""
        WITH pairs AS (
            SELECT person_id, grp, count(*) AS v, sum({CLIPPED}) AS s FROM '{{path}}' GROUP BY person_id, grp),
        people AS (
            SELECT person_id, least(1, {LIMIT} / sqrt(sum(v * v))) AS w FROM pairs GROUP BY person_id)
        SELECT grp, sum(w * v), sum(w * s) FROM pairs JOIN people USING (person_id) GROUP BY grp""",
    "l2, those over the limit joined": f"""
        WITH many AS (
            SELECT person_id FROM '{{path}}' GROUP BY person_id HAVING count(*) > {LIMIT}),
        pairs AS (
            SELECT person_id, grp, count(*) AS v FROM '{{path}}' SEMI JOIN many USING (person_id) GROUP BY ALL),
        heavy AS (
            SELECT person_id, {LIMIT} / sqrt(sum(v * v)) AS w FROM pairs GROUP BY person_id
            HAVING sum(v * v) > {LIMIT**2})
        SELECT grp, sum(coalesce(w, 1)), sum(coalesce(w, 1) * {CLIPPED})
        FROM '{{path}}' LEFT JOIN heavy USING (person_id) GROUP BY grp""",
}


# What quantiles are measured beside: DuckDB's own, without privacy, and the weights of people by themselves.
PLAIN = {
    "nine": f"SELECT quantile_cont(amount, {LEVELS}) FROM '{{path}}'",
    "nine by group": f"SELECT grp, quantile_cont(amount, {LEVELS}) FROM '{{path}}' GROUP BY grp",
    "weighting": f"""
        WITH people AS (
            SELECT person_id, least(1, {LIMIT} / count(*)) AS w FROM '{{path}}' GROUP BY person_id)
        SELECT sum(w) FROM '{{path}}' JOIN people USING (person_id)""",
}


# --- inside a worker: one task a line, its seconds and peak memory a line back


def ours() -> dict[str, Task]:
    """This library with a ledger on disk. Every call states another spend: an equal one would be replayed for free."""
    import quincunx as qx

    standards = {"pure": qx.standard.Pure(), "zcdp": qx.standard.ZCDP()}
    spends, sessions = itertools.count(1), {}
    folder = tempfile.TemporaryDirectory()

    def session(path: str, kind: str) -> Any:
        names = [f"group {i:04d}" for i in range(GROUPS)]
        columns = {"grp": {"keys": list(range(GROUPS))}, "name": {"keys": names}, "amount": {"bounds": (0, HIGHEST)}}
        return qx.Session(
            dataset=f"{Path(path).name} {kind}",
            version="1",
            ledger=Path(folder.name) / f"{kind}.db",
            tables={"visits": qx.Table(path, limits={"rows": LIMIT}, columns=columns)},
            unit=qx.unit.AddRemove(key="person_id"),
            standard=standards[kind],
            intensity=1_000_000,
        )

    def ask(path: str, kind: str, question: str = QUESTION) -> None:
        if (path, kind) not in sessions:
            sessions[path, kind] = session(path, kind)
        answer = sessions[path, kind].sql(question, spend=f"1.{next(spends):06d}")
        if not answer.spent:
            raise SystemExit("the answer was a replay, so nothing was measured")

    def small(plan: str) -> None:
        if plan not in sessions:
            sessions[plan] = qx.Session.open(plan)
        sessions[plan].sql(SMALL, spend=f"0.0001{next(spends):06d}")

    def preview(plan: str, kind: str) -> None:
        if plan not in sessions:
            sessions[plan] = qx.Session.open(plan)
        sessions[plan].explain(PREVIEWS[kind], spend=f"0.01{next(spends):06d}")

    def unchecked(path: str) -> None:
        from unittest.mock import patch

        from quincunx.data import parquet
        from quincunx.table.engines.duckdb import scan

        total = scan.arrived
        raw = patch.object(scan, "arrived", lambda s, k: (s, "VARCHAR") if k == scan.RAW_TEXT else total(s, k))
        strict = patch.object(
            parquet.Parquet, "_relation", lambda self, _, shown: parquet._read(self.files, "strict", shown=shown)
        )
        with raw, strict:
            ask(path, "pure", TEXT_QUESTION)

    return {
        "pure": lambda path: ask(path, "pure"),
        "zcdp": lambda path: ask(path, "zcdp"),
        "text": lambda path: ask(path, "pure", TEXT_QUESTION),
        "text, unchecked": unchecked,
        "nine": lambda path: ask(path, "pure", NINE),
        "buckets": lambda path: ask(path, "pure", BUCKETS),
        "small": small,
        "closed": lambda plan: preview(plan, "closed"),
        "simulated": lambda plan: preview(plan, "simulated"),
    }


def baseline() -> dict[str, Task]:
    """DuckDB alone: the same weights as doubles, no noise, no ledger."""
    import duckdb

    connection = duckdb.connect()

    def run(statement: str) -> Task:
        return lambda path: connection.execute(statement.format(path=path)).fetchnumpy()

    return {name: run(statement) for name, statement in {**STATEMENTS, **PLAIN}.items()}


def opendp() -> dict[str, Task]:
    """opendp's Polars interface with the same unit, bounds and public keys."""
    import warnings

    import opendp.prelude as dp
    import polars as pl

    warnings.filterwarnings("ignore")
    dp.enable_features("contrib")
    keys = pl.LazyFrame({"grp": list(range(GROUPS))})

    def ask(path: str, loss: Any, truncated: Callable[[Any], Any]) -> object:
        context = dp.Context.compositor(
            data=pl.scan_parquet(path),
            privacy_unit=dp.unit_of(contributions=1, identifier="person_id"),
            privacy_loss=loss,
            split_evenly_over=1,
            margins=[dp.polars.Margin(by=["grp"], max_length=10**8)],
        )
        total = pl.col("amount").fill_null(0).dp.sum((0, HIGHEST))
        grouped = truncated(context.query()).group_by("grp").agg(dp.len(), total)
        return grouped.with_keys(keys).release().collect()

    def rows(query: Any) -> Any:
        return query.truncate_per_group(LIMIT)

    def groups(query: Any) -> Any:
        # Its default, keep="sample", fails in this version: a struct with two fields of one name.
        return query.truncate_num_groups(LIMIT, by=["grp"], keep="first").truncate_per_group(LIMIT, by=["grp"])

    return {
        "rows": lambda path: ask(path, dp.loss_of(epsilon=1.0), rows),
        "groups": lambda path: ask(path, dp.loss_of(rho=0.5), groups),
    }


WORKERS = {"quincunx": ours, "duckdb": baseline, "opendp": opendp}


def work(name: str) -> None:
    """Answer tasks until the input ends. A task is a JSON list: name, path."""
    tasks = WORKERS[name]()
    for line in sys.stdin:
        task, path = json.loads(line)
        start = time.perf_counter()
        tasks[task](path)
        seconds = time.perf_counter() - start
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
        print(json.dumps([seconds, peak]), flush=True)


# --- the conductor


class Worker:
    """A process that times tasks."""

    def __init__(self, name: str, python: str = sys.executable) -> None:
        command = [python, str(Path(__file__).resolve()), "--worker", name]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.peak = 0

    def seconds(self, task: str, path: Path) -> float:
        """Seconds of one call; the peak memory of the process is kept."""
        print(json.dumps([task, str(path)]), file=self.process.stdin, flush=True)
        answer = self.process.stdout.readline() if self.process.stdout else ""
        if not answer:
            raise SystemExit(f"the worker for {task!r} ended; its message is above")
        taken, self.peak = json.loads(answer)
        return float(taken)

    def close(self) -> None:
        """End the process by ending its input."""
        if self.process.stdin:
            self.process.stdin.close()
        self.process.wait()


def peer_python() -> str:
    """The interpreter of opendp's environment, which is made when it is missing."""
    python = VENV / "bin" / "python"
    if not (VENV / "ready").exists():
        print(f"making {VENV.relative_to(HERE.parent)} with {PEER}", file=sys.stderr)
        subprocess.run([sys.executable, "-m", "venv", "--clear", str(VENV)], check=True)
        subprocess.run([str(python), "-m", "pip", "install", "--quiet", PEER], check=True, stdout=sys.stderr)
        (VENV / "ready").touch()
    return str(python)


def generate(path: Path, rows: int) -> None:
    """A Parquet file of visits in random order: everybody has one row, and the rest by exponential rates."""
    import duckdb
    import numpy as np

    source, people = np.random.default_rng(4), rows // PER_PERSON
    rates = source.standard_exponential(people)
    who = np.repeat(np.arange(people), 1 + source.multinomial(rows - people, rates / rates.sum()))
    source.shuffle(who)
    visits = {
        "person_id": who,
        "grp": source.integers(0, GROUPS, rows),
        "amount": source.integers(0, HIGHEST + 1, rows),
    }
    connection = duckdb.connect()
    connection.register("visits", visits)
    named = "SELECT *, printf('group %04d', grp) AS name FROM visits"
    connection.execute(f"COPY ({named}) TO '{path}' (FORMAT parquet)")
    connection.close()


def measure(repetitions: int, growth: bool, folder: Path) -> dict[str, Any]:
    """All times, in seconds, by worker and task; the peak memory of each worker."""
    files = {rows: folder / f"visits_{rows}.parquet" for rows in (GROWTH if growth else (ROWS,))}
    for rows, path in files.items():
        print(f"writing {rows:,} rows", file=sys.stderr)
        # In a process of its own, so that the workers' machine is as it was.
        subprocess.run([sys.executable, __file__, "--generate", str(path), str(rows)], check=True)
    workers = {"quincunx": Worker("quincunx"), "duckdb": Worker("duckdb"), "opendp": Worker("opendp", peer_python())}
    tasks = [("quincunx", each) for each in ("pure", "zcdp", "text", "text, unchecked", "nine", "buckets")]
    tasks += [("duckdb", name) for name in (*STATEMENTS, *PLAIN)]
    tasks += [("opendp", "rows"), ("opendp", "groups")]
    times: dict[str, list[float]] = {f"{worker} {task}": [] for worker, task in tasks}
    for repetition in range(repetitions):
        print(f"repetition {repetition + 1} of {repetitions}", file=sys.stderr)
        for worker, task in tasks:
            times[f"{worker} {task}"].append(workers[worker].seconds(task, files[ROWS]))
    # Memory is read before the larger files of the growth are asked for.
    found: dict[str, Any] = {"times": times, "peaks": {name: worker.peak for name, worker in workers.items()}}
    found["growth"] = {kind: growing(workers["quincunx"], kind, files, repetitions) for kind in ("pure", "zcdp")}
    for worker in workers.values():
        worker.close()
    return found | {"small": small(folder, "small")} | {kind: small(folder, kind) for kind in PREVIEWS}


def growing(worker: Worker, kind: str, files: dict[int, Path], repetitions: int) -> dict[int, float]:
    """The best time for each number of rows."""
    return {rows: min(worker.seconds(kind, path) for _ in range(repetitions)) for rows, path in files.items()}


def small(folder: Path, task: str) -> float:
    """The median time of a question on the sample, or of its preview, in a fresh process after a first one."""
    write = "import sys; from pathlib import Path; from quincunx.sample import write_sample; "
    write += "write_sample(Path(sys.argv[1]), 12_000)"
    if not (folder / "sample").exists():
        subprocess.run([sys.executable, "-c", write, str(folder / "sample")], check=True)
    worker = Worker("quincunx")
    taken = [worker.seconds(task, folder / "sample" / "plan.toml") for _ in range(1 + SMALL_CALLS)]
    worker.close()
    return statistics.median(taken[1:])


def judged(found: dict[str, Any]) -> list[dict[str, Any]]:
    """One line for each target: what, measured, limit, and whether it is kept."""
    best = {name: min(taken) for name, taken in found["times"].items()}
    lines = []

    def line(what: str, detail: str, value: float, limit: float, unit: str, *, least: bool = False) -> None:
        kept = value >= limit if least else value <= limit
        lines.append(
            {"what": what, "detail": detail, "value": value, "limit": limit, "unit": unit, "least": least, "kept": kept}
        )

    for kind, norm in (("pure", "l1"), ("zcdp", "l2")):
        mine = best[f"quincunx {kind}"]
        name = min((each for each in STATEMENTS if each.startswith(norm)), key=lambda each: best[f"duckdb {each}"])
        theirs = best[f"duckdb {name}"]
        line(f"{kind}, beside DuckDB ({name})", f"{mine:.2f} s to {theirs:.2f} s", mine / theirs, 1.3, "×")
    for kind, task, ratio in (("pure", "rows", 4), ("zcdp", "groups", 8)):
        mine, theirs = best[f"quincunx {kind}"], best[f"opendp {task}"]
        what = f"{kind}, beside opendp by {task}"
        line(what, f"{mine:.2f} s to {theirs:.2f} s", theirs / mine, ratio, "×", least=True)
    mine, theirs = best["quincunx text"], best["quincunx text, unchecked"]
    line("a key of texts, beside itself unchecked", f"{mine:.2f} s to {theirs:.2f} s", mine / theirs, 2, "×")
    line("peak memory", f"opendp {found['peaks']['opendp'] / 1e9:.1f} GB", found["peaks"]["quincunx"] / 1e9, 3, "GB")
    for kind, sizes in found["growth"].items():
        if len(sizes) > 1:
            first, last = min(sizes), max(sizes)
            # t ~ rows^power; a tenth above 1 is what caches may take.
            power = math.log(sizes[last] / sizes[first]) / math.log(last / first)
            detail = ", ".join(f"{rows // 10**6} M {taken:.2f} s" for rows, taken in sizes.items())
            line(f"{kind}, growth in rows", detail, power, 1.1, "power")
    line("a small question", f"median of {SMALL_CALLS}", 1e3 * found["small"], 50, "ms")
    for what, task, plain, limit in (
        ("nine quantiles", "nine", "nine", 1.0),
        ("1,000 groups of 1,000 buckets", "buckets", "nine by group", 3.0),
    ):
        mine, theirs = best[f"quincunx {task}"], best[f"duckdb {plain}"] + best["duckdb weighting"]
        line(f"{what}, beside DuckDB's + weighting", f"{mine:.2f} s to {theirs:.2f} s", mine / theirs, limit, "×")
    for kind, limit in (("closed", 10), ("simulated", 300)):
        line(f"a preview, errors {kind}", f"median of {SMALL_CALLS}", 1e3 * found[kind], limit, "ms")
    return lines


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="print all figures as JSON")
    parser.add_argument("--repetitions", type=int, default=3, help="interleaved repetitions (3)")
    parser.add_argument("--no-growth", action="store_true", help="10 million rows only")
    parser.add_argument("--worker", choices=list(WORKERS), help=argparse.SUPPRESS)
    parser.add_argument("--generate", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        work(options.worker)
        return
    if options.generate:
        generate(Path(options.generate[0]), int(options.generate[1]))
        return
    with tempfile.TemporaryDirectory() as folder:
        found = measure(options.repetitions, not options.no_growth, Path(folder))
    lines = judged(found)
    missed = sum(not line["kept"] for line in lines)
    if options.json:
        print(json.dumps(found | {"targets": lines}, indent=2))
        sys.exit(missed)
    print(f"{'call':<46}{'best':>10}{'median':>10}")
    for name, taken in found["times"].items():
        print(f"{name:<46}{min(taken):>8.2f} s{statistics.median(taken):>8.2f} s")
    print(f"\n{'target':<58}{'measured':>14}{'limit':>14}  verdict")
    for one in lines:
        measured = f"{one['value']:.2f} {one['unit']}"
        limit = f"{'≥' if one['least'] else '≤'} {one['limit']:g} {one['unit']}"
        print(f"{one['what']:<58}{measured:>14}{limit:>14}  {'pass' if one['kept'] else 'miss'}  ({one['detail']})")
    print(f"\n{missed} of {len(lines)} targets missed.")
    sys.exit(missed)


if __name__ == "__main__":
    main()
