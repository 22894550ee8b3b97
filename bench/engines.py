"""How long a question takes where the data live, beside the engine's plain GROUP BY in the same run.

    python bench/engines.py                     10 million rows of 1 million people in 1,000 groups
    python bench/engines.py --rows 200000       smaller, for a look
    python bench/engines.py --json              all figures for machines
    python bench/engines.py --engine spark      one engine alone
    python bench/engines.py --growth 5          and what Spark takes for five times as many rows and people
    python bench/engines.py --questions 200     what the driver of Spark keeps of so many different questions

PostgreSQL is a server of the bench's own, on loopback and without syncing, with two workers for each query; DuckDB
reads the same rows from Parquet with two threads. Measured is the engine alone: COUNT and SUM in both norms, with
limits that some people are over. `guards` is what the statement costs beside one without the tests that keep values
where nothing raises. Spark runs on this machine with two threads and its usual heap of 1 GB, and reads the same Parquet
file itself; its plain query, in a session with Spark's own settings, and both norms are asked in turn, and what is
shown are medians of the rounds after the first five, which Java needs to get warm. A question is tried on made-up rows
first, as a session does, and that is not measured. `memory` is the most that the JVM of the driver, which does all the
work here, has held.
The exit code is the number of targets missed: at most 18 times the plain query on PostgreSQL, at most 10 times on
Spark, with less than 2 GB of memory.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import duckdb
import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.postgres import Server, server
from tests.table.engines.postgres.both import equal
from tests.table.engines.postgres.places import filled, staffed
from tests.table.engines.postgres.places import read as reads

from quincunx.spec.unit import AddRemove
from quincunx.table.engines import DuckDB, evaluate
from quincunx.table.engines import scan as scanning
from quincunx.table.engines.engine import Engine, open_engine
from quincunx.table.engines.typed_sql import Piece
from quincunx.table.measure import Program
from quincunx.table.rules import plan
from quincunx.table.sql import read
from quincunx.table.table import Table, schema

MOST = {"postgres": 18.0, "spark": 10.0}
# Bytes of the driver of Spark.
MEMORY = 2e9
GROUPS, LIMIT = 1_000, 20
# Rounds until Java has compiled what it runs, and those that are measured at least.
COLD, WARM = 5, 15
QUESTION = "SELECT grp, COUNT(*) AS n, SUM(amount) AS s FROM visits GROUP BY grp"
PLAIN = "SELECT grp, count(*), sum(amount) FROM {} GROUP BY grp"
KINDS = {"person": "bigint", "grp": "integer", "amount": "double precision"}
COLUMNS: dict[str, Any] = {
    "grp": {"keys": list(range(GROUPS))},
    "amount": {"bounds": (0, 300), "step": "0.01"},
}


def generated(rows: int, file: Path) -> None:
    """Visits: most people have few, some have very many."""
    source = np.random.default_rng(7)
    people = max(1, rows // 10)
    person = np.minimum(source.integers(0, people, rows), (people * source.random(rows) ** 1.5).astype(np.int64))
    groups = source.integers(0, GROUPS, rows, dtype=np.int32)
    found = {"person": person, "grp": groups, "amount": source.gamma(2, 40, rows)}
    with duckdb.connect() as connection:
        connection.register("found", found)
        connection.execute(f"COPY (FROM found) TO '{file}' (FORMAT parquet)")


def copied(running: Server, file: Path) -> str:
    """The rows in a table of the server."""
    with duckdb.connect() as connection, tempfile.NamedTemporaryFile(suffix=".csv") as text:
        connection.execute(f"COPY (FROM '{file}') TO '{text.name}' (FORMAT csv, HEADER false)")
        Path(text.name).chmod(0o644)
        table = filled(running, KINDS, [])
        Path(text.name).parent.chmod(0o1777)
        running.run(f"COPY {table} FROM '{text.name}' (FORMAT csv)", f"ANALYZE {table}")
    return table


def best(task: Callable[[], object], times: int) -> float:
    found = []
    for _ in range(times):
        start = time.perf_counter()
        task()
        found.append(time.perf_counter() - start)
    return min(found)


def in_turn(tasks: dict[str, Callable[[], object]], times: int, cold: int) -> dict[str, float]:
    """The medians of tasks that are run one after another, round by round; the first rounds do not count."""
    found: dict[str, list[float]] = {name: [] for name in tasks}
    for _ in range(cold + times):
        for name, task in tasks.items():
            found[name].append(best(task, 1))
    return {name: statistics.median(seconds[cold:]) for name, seconds in found.items()}


def unguarded(value: Piece, bounds: Any) -> Piece:
    """A double that is only moved into its bounds."""
    from sqlglot import exp

    from quincunx.table.engines.typed_sql import call, choose, double

    if bounds is None:
        return value
    inside = call("LEAST", call("GREATEST", value.sql.copy(), double(bounds[0])), double(bounds[1]))
    return Piece(sql=choose([(exp.Is(this=value.sql, expression=exp.null()), exp.null())], inside), type="DOUBLE")


def declared_for(file: Path) -> tuple[dict[str, Table], Any]:
    here = {"visits": Table(file, limits={"rows": LIMIT}, columns=COLUMNS)}
    return here, schema(here, AddRemove(key="person"))


def same(engine: Engine, duck: DuckDB, declared: Any, norm: Any) -> Program:
    """The question in a norm, of which both engines give the same integers."""
    program = plan(read(QUESTION, declared, evaluate), declared, norm)
    engine.rehearse(program)
    if not equal(duck.run(program), engine.run(program)):
        raise SystemExit("the engines differ")
    return program


def compared(name: str, engine: Engine, duck: DuckDB, declared: Any, times: int, *, guards: bool) -> dict[str, float]:
    """Seconds of both engines in both norms, whose integers are equal."""
    figures: dict[str, float] = {}
    for norm in (1, 2):
        program = same(engine, duck, declared, norm)
        for each, asked in ((name, engine), ("duckdb", duck)):
            figures[f"{each} l{norm}"] = best(lambda e=asked, p=program: e.run(p), times)  # type: ignore[misc]
        if guards:
            kept, scanning._double = scanning._double, unguarded
            try:
                figures[f"{name} l{norm} without guards"] = best(lambda p=program: engine.run(p), times)  # type: ignore[misc]
            finally:
                scanning._double = kept
    return figures


def duckdb_plain(file: Path, times: int) -> float:
    with duckdb.connect(config={"threads": 2}) as plain:
        return best(lambda: plain.execute(PLAIN.format(f"'{file}'")).fetchall(), times)


def in_postgres(file: Path, times: int) -> dict[str, float]:
    here, declared = declared_for(file)
    with server() as running:
        staffed(running)
        running.run("ALTER SYSTEM SET max_parallel_workers_per_gather = 2", "ALTER SYSTEM SET work_mem = '256MB'")
        running.run("SELECT pg_reload_conf()")
        table = copied(running, file)
        there = {"visits": Table(reads(running, table), limits={"rows": LIMIT}, columns=COLUMNS)}
        with open_engine(there, declared) as postgres, DuckDB(here, declared, threads=2) as duck:
            connection: Any = postgres._connect()  # type: ignore[attr-defined]
            plain = best(lambda: connection.execute(PLAIN.format(table).encode()).fetchall(), times)
            return {"postgres plain": plain, **compared("postgres", postgres, duck, declared, times, guards=True)}


def in_spark(file: Path, times: int, cold: int = COLD, warm: int = WARM) -> dict[str, float]:
    import os

    from quincunx.table.engines.spark.cluster import Cluster
    from quincunx.table.engines.spark.session import running
    from quincunx.table.engines.spark.source import Spark

    os.environ["PYSPARK_SUBMIT_ARGS"] = "--conf spark.sql.shuffle.partitions=8 pyspark-shell"
    here, declared = declared_for(file)
    root = running(Cluster(master="local[2]"))
    try:
        there = {"visits": Table(Spark(f"parquet.`{file}`"), limits={"rows": LIMIT}, columns=COLUMNS)}
        with open_engine(there, declared) as spark, DuckDB(here, declared, threads=2) as duck:
            asked = PLAIN.format(f"parquet.`{file}`")
            usual = root.newSession()
            tasks: dict[str, Callable[[], object]] = {"spark plain": lambda: usual.sql(asked).collect()}
            found = {}
            for norm in (1, 2):
                program = same(spark, duck, declared, norm)
                tasks[f"spark l{norm}"] = lambda p=program: spark.run(p)  # type: ignore[misc]
                found[f"duckdb l{norm}"] = best(lambda p=program: duck.run(p), times)  # type: ignore[misc]
            found |= in_turn(tasks, max(warm, times), cold)
        status = Path(f"/proc/{root.sparkContext._gateway.proc.pid}/status").read_text()
        peak = next(line for line in status.splitlines() if line.startswith("VmHWM"))
        found["spark memory"] = float(peak.split()[1]) * 1024
        return found
    finally:
        root.stop()


def kept_by_driver(questions: int) -> dict[str, float]:
    """Bytes in use in the driver's heap after some of the conformance suite's questions, each another one."""
    from tests.table.engines.conformance import golden, worlds
    from tests.table.engines.conformance.engines import InSpark
    from tests.table.engines.conformance.questions import questions as every
    from tests.table.engines.spark.test_memory import held

    from quincunx.table.engines.spark.cluster import Cluster
    from quincunx.table.engines.spark.session import SETTINGS, running

    root = running(Cluster(master="local[2]"))
    found: dict[str, float] = {}
    try:
        with tempfile.TemporaryDirectory() as folder, InSpark(root, Path(folder)).opened(worlds.tables()) as opened:
            engine, declared = opened
            for name, value in SETTINGS.items():
                # As users have them: the tests let the parser keep more.
                engine._connect().conf.set(name, value)
            for i, text in enumerate(every()[:questions], 1):
                engine.run(golden.planned(text, declared, 2))
                if i in (1, 50, questions):
                    found[f"after {i}"] = held(root)
        return found
    finally:
        root.stop()


def grown(rows: int, times: int) -> dict[str, float]:
    """Seconds of Spark for a table of another size, after two rounds: each takes long enough to be warm by then."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "visits.parquet"
        generated(rows, file)
        return in_spark(file, times, cold=2, warm=3)


def measured(rows: int, times: int, engines: tuple[str, ...]) -> dict[str, float]:
    figures: dict[str, float] = {"rows": rows}
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "visits.parquet"
        generated(rows, file)
        figures["duckdb plain"] = duckdb_plain(file, times)
        for name, ask in (("postgres", in_postgres), ("spark", in_spark)):
            figures |= ask(file, times) if name in engines else {}
    return figures


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--times", type=int, default=2)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--engine", choices=sorted(MOST), help="one alone; all that are installed otherwise")
    parser.add_argument("--growth", type=int, help="so many times the rows beside them, on Spark alone")
    parser.add_argument("--questions", type=int, help="only what the driver of Spark keeps of so many")
    given = parser.parse_args()
    if given.questions:
        for name, value in kept_by_driver(given.questions).items():
            print(f"{name:32} {value:15,.0f} bytes")
        return 0
    installed = tuple(each for each in MOST if each != "spark" or find_spec("pyspark") is not None)
    engines = (given.engine,) if given.engine else installed
    figures = measured(given.rows, given.times, engines)
    missed = 0
    ratios = {}
    for norm in (1, 2):
        for name in (*engines, "duckdb"):
            ratios[f"{name} l{norm}"] = figures[f"{name} l{norm}"] / figures[f"{name} plain"]
            missed += ratios[f"{name} l{norm}"] > MOST.get(name, float("inf"))
        if "postgres" in engines:
            ratios[f"guards l{norm}"] = figures[f"postgres l{norm}"] / figures[f"postgres l{norm} without guards"]
    missed += figures.get("spark memory", 0) > MEMORY
    if given.growth and "spark" in engines:
        for name, value in grown(given.rows * given.growth, given.times).items():
            if name.startswith("spark") and "memory" not in name:
                figures[f"{name}, {given.growth} times the rows"] = value
                ratios[f"growth of {name}"] = value / figures[name]
    if given.json:
        print(json.dumps({"seconds": figures, "ratios": ratios, "missed": missed}, indent=2))
    else:
        for name, value in figures.items():
            print(f"{name:32} {value:15,.3f}" + ("" if name == "rows" else " bytes" if "memory" in name else " s"))
        for name, value in ratios.items():
            most = MOST.get(name.partition(" ")[0])
            print(f"{name:32} {value:15.2f} ×" + ("" if most is None else f"   at most {most:g}"))
    return missed


if __name__ == "__main__":
    raise SystemExit(main())
