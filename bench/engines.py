"""How long a question takes where the data live, beside the engine's plain GROUP BY in the same run.

    python bench/engines.py                     10 million rows of 1 million people in 1,000 groups
    python bench/engines.py --rows 200000       smaller, for a look
    python bench/engines.py --json              all figures for machines

PostgreSQL is a server of the bench's own, on loopback and without syncing, with two workers for each query; DuckDB
reads the same rows from Parquet with two threads. Measured is the engine alone: COUNT and SUM in both norms, with
limits that some people are over. `guards` is what the statement costs beside one without the tests that keep values
where nothing raises.
The exit code is the number of targets missed: at most 18 times the plain query on PostgreSQL.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Callable
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
from quincunx.table.engines.engine import open_engine
from quincunx.table.engines.typed_sql import Piece
from quincunx.table.rules import plan
from quincunx.table.sql import read
from quincunx.table.table import Table, schema

MOST = 18.0
GROUPS, LIMIT = 1_000, 20
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


def unguarded(value: Piece, bounds: Any) -> Piece:
    """A double that is only moved into its bounds."""
    from sqlglot import exp

    from quincunx.table.engines.typed_sql import call, choose, double

    if bounds is None:
        return value
    inside = call("LEAST", call("GREATEST", value.sql.copy(), double(bounds[0])), double(bounds[1]))
    return Piece(sql=choose([(exp.Is(this=value.sql, expression=exp.null()), exp.null())], inside), type="DOUBLE")


def measured(rows: int, times: int) -> dict[str, float]:
    figures: dict[str, float] = {"rows": rows}
    with tempfile.TemporaryDirectory() as folder, server() as running:
        staffed(running)
        running.run("ALTER SYSTEM SET max_parallel_workers_per_gather = 2", "ALTER SYSTEM SET work_mem = '256MB'")
        running.run("SELECT pg_reload_conf()")
        file = Path(folder) / "visits.parquet"
        generated(rows, file)
        table = copied(running, file)
        there = {"visits": Table(reads(running, table), limits={"rows": LIMIT}, columns=COLUMNS)}
        here = {"visits": Table(file, limits={"rows": LIMIT}, columns=COLUMNS)}
        declared = schema(here, AddRemove(key="person"))
        with open_engine(there, declared) as postgres, DuckDB(here, declared, threads=2) as duck:
            connection: Any = postgres._connect()  # type: ignore[attr-defined]
            figures["postgres plain"] = best(lambda: connection.execute(PLAIN.format(table).encode()).fetchall(), times)
            with duckdb.connect(config={"threads": 2}) as plain:
                figures["duckdb plain"] = best(lambda: plain.execute(PLAIN.format(f"'{file}'")).fetchall(), times)
            for norm in (1, 2):
                program = plan(read(QUESTION, declared, evaluate), declared, norm)  # type: ignore[arg-type]
                if not equal(duck.run(program), postgres.run(program)):
                    raise SystemExit("the engines differ")
                for name, engine in (("postgres", postgres), ("duckdb", duck)):
                    figures[f"{name} l{norm}"] = best(lambda e=engine, p=program: e.run(p), times)  # type: ignore[misc]
                kept, scanning._double = scanning._double, unguarded
                try:
                    figures[f"postgres l{norm} without guards"] = best(lambda p=program: postgres.run(p), times)  # type: ignore[misc]
                finally:
                    scanning._double = kept
    return figures


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--times", type=int, default=2)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    figures = measured(given.rows, given.times)
    missed = 0
    ratios = {}
    for norm in (1, 2):
        for name in ("postgres", "duckdb"):
            ratios[f"{name} l{norm}"] = figures[f"{name} l{norm}"] / figures[f"{name} plain"]
        ratios[f"guards l{norm}"] = figures[f"postgres l{norm}"] / figures[f"postgres l{norm} without guards"]
        missed += ratios[f"postgres l{norm}"] > MOST
    if given.json:
        print(json.dumps({"seconds": figures, "ratios": ratios, "missed": missed}, indent=2))
    else:
        for name, value in figures.items():
            print(f"{name:32} {value:12,.3f}" + (" s" if name != "rows" else ""))
        for name, value in ratios.items():
            print(f"{name:32} {value:12.2f} ×" + (f"   at most {MOST:g}" if name.startswith("postgres") else ""))
    return missed


if __name__ == "__main__":
    raise SystemExit(main())
