"""A process with a Spark of its own, in whose heap the rows of one person do not fit; what it prints is JSON.

python -m tests.table.engines.spark.crowd FOLDER: for each question, whether Spark gives DuckDB's integers.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq

from quincunx.spec.unit import AddRemove
from quincunx.table.engines import DuckDB, evaluate
from quincunx.table.engines.engine import open_engine
from quincunx.table.engines.spark.cluster import Cluster
from quincunx.table.engines.spark.session import running
from quincunx.table.engines.spark.source import Spark
from quincunx.table.rules import plan
from quincunx.table.schema import MAX_LENGTH
from quincunx.table.sql import read
from quincunx.table.table import Table, schema
from tests.table.engines.postgres.both import equal

# Spark takes at least 471 MB; what one person has is as much as the heap.
HEAP: Final = "640m"
ROWS: Final = 2_500
# A text that is longer than any may be, and is NULL: to write it down would take several times as much.
LONG: Final = 24_000_000
UNIT: Final = AddRemove(key="person")
LIMITS: Final = {"rows": 3}
COLUMNS: Final[dict[str, Any]] = {"note": {"length": MAX_LENGTH}, "x": {"bounds": (0, ROWS)}}
QUESTIONS: Final = (
    "SELECT COUNT(*) AS n FROM t WHERE note > 'a'",
    "SELECT COUNT(*) AS n FROM (SELECT note, LAG(note) OVER (PARTITION BY person ORDER BY x) AS l FROM t) AS w "
    "WHERE note <> l",
    "SELECT SUM(m) AS s FROM (SELECT person, MEDIAN(x) AS m, MAX(note) AS l FROM t GROUP BY person) AS p WHERE l > 'a'",
    "SELECT COUNT(*) AS n FROM t AS a WHERE x < 9 AND EXISTS "
    "(SELECT 1 FROM t AS b WHERE a.person = b.person AND a.note <> b.note AND b.x > a.x)",
)


def filled(file: Path) -> None:
    """Twenty people with one row each, and one with very many, each with a long text; they compress well."""
    people = [1, *(max(0, i - ROWS) for i in range(ROWS + 20))]
    notes = ["long" * (LONG // 4), *(str(i).rjust(MAX_LENGTH - 9, "a") for i in range(1, len(people)))]
    # In small pages, as Spark writes them: a page is what no reader divides.
    rows = pa.table({"person": people, "x": list(range(len(people))), "note": notes})
    pq.write_table(rows, file, write_batch_size=8, use_dictionary=False)


def main(folder: Path) -> None:
    os.environ["PYSPARK_SUBMIT_ARGS"] = (
        f"--driver-memory {HEAP} --conf spark.sql.shuffle.partitions=2 "
        "--conf spark.sql.adaptive.enabled=false pyspark-shell"
    )
    file = folder / "t.parquet"
    filled(file)
    here = {"t": Table(file, limits=LIMITS, columns=COLUMNS)}
    session = running(Cluster(master="local[2]"))
    sources: list[Any] = [session.read.parquet(str(file)), Spark(f"parquet.`{file}`")]
    before = session.conf.get("spark.sql.parquet.columnarReaderBatchSize")
    found: dict[str, bool] = {}
    for source, asked in zip(sources, (QUESTIONS[:1], QUESTIONS), strict=True):
        there = {"t": Table(source, limits=LIMITS, columns=COLUMNS)}
        with open_engine(there, schema(there, UNIT)) as spark, DuckDB(here, schema(here, UNIT), threads=1) as duck:
            for text in asked:
                program = plan(read(text, schema(here, UNIT), evaluate), schema(here, UNIT), 1)
                spark.rehearse(program)
                print(text, file=sys.stderr, flush=True)
                found[f"{type(source).__name__}: {text}"] = equal(duck.run(program), spark.run(program))
    found["settings"] = session.conf.get("spark.sql.parquet.columnarReaderBatchSize") == before
    print(json.dumps(found))
    session.stop()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
