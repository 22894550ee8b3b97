"""A process with a Spark of its own, of which something is lost; what it prints is JSON, and nothing else may be said.

python -m tests.table.engines.spark.lost machine FOLDER: a statement that raises with a value, then the JVM is killed.
python -m tests.table.engines.spark.lost worker FOLDER: the one worker is killed while a question is answered.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

import quincunx as qx
from quincunx.errors import HaltedError
from quincunx.ledger import Ledger
from quincunx.table.engines.spark import SparkEngine
from quincunx.table.engines.spark.cluster import Cluster
from quincunx.table.engines.spark.session import running

CANARY = "canary-8f2a61"
QUESTION = "SELECT COUNT(*) AS n FROM visits"
FETCHED: Any = SparkEngine._fetched


def session(source: Any, ledger: Path, rows: int = 2) -> qx.Session:
    return qx.Session(
        dataset="visits",
        version="1",
        tables={"visits": qx.Table(source, limits={"rows": rows})},
        unit=qx.unit.AddRemove(key="person"),
        standard=qx.standard.ZCDP(),
        intensity=1,
        ledger=ledger,
    )


def told(error: BaseException | None) -> str:
    """Everything that an error carries."""
    found = ""
    while error is not None:
        found += repr(error) + str(error.args)
        error = error.__cause__ or error.__context__
    return found


def account(ledger: Path) -> dict[str, Any]:
    with Ledger.open(ledger) as kept:
        kept.verify()
        found = kept.account("visits")
        return {"spent": str(found.total.spent), "answers": found.answers, "halts": len(found.halts)}


def failing(source: Any, ledger: Path, fetched: Any) -> dict[str, Any]:
    """A question that was paid for, whose statement is replaced."""
    SparkEngine._fetched = FETCHED  # type: ignore[method-assign]
    with session(source, ledger) as asked:
        engine: Any = asked._connect()
        program = asked._dataset.program(QUESTION)
        engine.rehearse(program)
        SparkEngine._fetched = fetched  # type: ignore[method-assign]
        try:
            asked.sql(QUESTION, spend="1/4")
        except HaltedError as error:
            return {"error": told(error), **account(ledger)}
    return {"error": "", **account(ledger)}


def machine(folder: Path) -> None:
    rows = pa.table({"person": pa.array([1, 2], pa.int64()), "note": pa.array([CANARY, CANARY])})
    pq.write_table(rows, folder / "visits.parquet")
    source = qx.Spark(f"parquet.`{folder / 'visits.parquet'}`", master="local[1]")

    def raising(self: Any, *_: Any) -> Any:
        # A value in Spark's own message, by a statement that fails in a worker and by one that fails in a plan.
        frame = self._connect().read.parquet(str(folder / "visits.parquet"))
        return frame.selectExpr("CAST(note AS INT)").collect()

    print(json.dumps(failing(source, folder / "raised.db", raising)), flush=True)

    def killed(self: Any, *given: Any) -> Any:
        os.kill(self._root.sparkContext._gateway.proc.pid, signal.SIGKILL)
        return FETCHED(self, *given)

    print(json.dumps(failing(source, folder / "killed.db", killed)), flush=True)


def worker(folder: Path) -> None:
    import pyspark

    os.environ.update(SPARK_HOME=str(Path(pyspark.__file__).parent), SPARK_WORKER_DIR=str(folder / "work"))
    # Processes that start quickly.
    brief = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
    os.environ["PYSPARK_SUBMIT_ARGS"] = (
        "--conf spark.executor.memory=600m --conf spark.driver.host=127.0.0.1 "
        "--conf spark.driver.bindAddress=127.0.0.1 --conf spark.sql.shuffle.partitions=1 "
        f"--driver-java-options '{brief}' --conf 'spark.executor.extraJavaOptions={brief}' "
        "--conf spark.sql.codegen.wholeStage=false --conf spark.sql.adaptive.enabled=false "
        "--conf spark.ui.enabled=false pyspark-shell"
    )
    (folder / "scratch").mkdir()
    master = "local-cluster[1,1,700]"
    spark = running(Cluster(master=master))
    drawn = spark.sql("SELECT 1L AS person FROM range(2000) WHERE rand() < 0.5")
    drawn.createOrReplaceGlobalTempView("drawn")
    source = qx.Spark("global_temp.drawn", scratch=str(folder / "scratch"))
    lost: list[int] = []

    def losing(self: Any, *given: Any) -> Any:
        for pid in executors():
            os.kill(pid, signal.SIGKILL)
            lost.append(pid)
        return FETCHED(self, *given)

    run: Any = SparkEngine.run
    results: list[Any] = []

    def noted(self: Any, program: Any) -> Any:
        results.append(run(self, program))
        return results[-1]

    with session(source, folder / "lost.db", rows=10) as asked:
        engine: Any = asked._connect()
        program = asked._dataset.program(QUESTION)
        engine.rehearse(program)
        SparkEngine._fetched, SparkEngine.run = losing, noted  # type: ignore[method-assign]
        asked.sql(QUESTION, spend="1/4")
    (total,) = (int(each.measures[0].sum()) for each in results)
    within = 0 < total**2 <= program.measures[0].sensitivity2
    left = [str(each) for each in (folder / "scratch").rglob("*.parquet")]
    print(json.dumps({"lost": len(lost), "within": bool(within), "left": left, **account(folder / "lost.db")}))
    spark.stop()


def executors() -> list[int]:
    """The processes of workers that belong to this one."""
    found = []
    for each in Path("/proc").iterdir():
        try:
            command = (each / "cmdline").read_bytes() if each.name.isdigit() else b""
        except OSError:
            continue
        if b"CoarseGrainedExecutorBackend" in command and _below(int(each.name), os.getpid()):
            found.append(int(each.name))
    return found


def _below(pid: int, above: int) -> bool:
    while pid > 1:
        if pid == above:
            return True
        pid = int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    return False


if __name__ == "__main__":
    {"machine": machine, "worker": worker}[sys.argv[1]](Path(sys.argv[2]))
