"""Sessions over Spark: the plan file, what fails and when, exact ledgers, and no value where none belongs."""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sqlglot import exp

import quincunx as qx
from quincunx.errors import DataError, HaltedError, QuincunxError, RefusalError, UnavailableError
from quincunx.ledger import Ledger
from quincunx.table.engines.spark import SparkEngine, stages
from quincunx.table.engines.spark.dialect import SparkDialect
from quincunx.table.engines.spark.scratch import Scratch
from tests.spark import MASTER, available
from tests.table.engines.postgres.test_session import PLAN, QUESTION, ROWS, session
from tests.table.engines.spark.lost import CANARY
from tests.table.engines.spark.places import framed

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.ci, pytest.mark.spark]
ROOT = Path(__file__).parents[4]
KINDS = {"person": "BIGINT", "region": "STRING", "cost": "DOUBLE", "note": "STRING"}
COUNT = "SELECT COUNT(*) AS n FROM visits"


def plan_for(source: str, engine: str = "") -> str:
    """A plan over the same visits."""
    return engine + PLAN.format(source=source)


def test_a_plan_tried_here_runs_on_a_cluster_with_the_same_ledger(cluster: SparkSession, tmp_path: Path) -> None:
    """Tried on a file by DuckDB, run on a table of a catalogue: what was answered is shown again for nothing."""
    frame = pa.table(dict(zip(KINDS, map(list, zip(*ROWS, strict=True)), strict=True)))
    pq.write_table(frame, tmp_path / "visits.parquet")
    cluster.read.parquet(str(tmp_path / "visits.parquet")).createOrReplaceGlobalTempView("visits")
    tried, run = tmp_path / "tried.toml", tmp_path / "run.toml"
    tried.write_text(plan_for('"visits.parquet"', 'engine = { kind = "duckdb" }\n'))
    with qx.Session.open(tried) as asked:
        first = asked.sql("SELECT region, COUNT(*) AS n FROM visits GROUP BY region", spend="1/2")
    engine = f'engine = {{ kind = "spark", master = "{MASTER}" }}\n'
    run.write_text(plan_for('{ spark = "global_temp.visits" }', engine))
    with qx.Session.open(run) as asked:
        assert asked.check().covered
        again = asked.sql("SELECT region, COUNT(*) AS n FROM visits GROUP BY region", spend="1/2")
        assert (again.spent, list(again.rows)) == (0, list(first.rows))
        assert asked.remaining == Fraction(1, 2)
        assert asked.sql(COUNT, spend="1/4").spent == Fraction(1, 4)
        assert asked.remaining == Fraction(1, 4)
    with qx.Session.open(tried) as asked:
        assert asked.sql(COUNT, spend="1/4").spent == 0


def test_a_frame_and_a_folder_are_the_same_dataset(cluster: SparkSession, tmp_path: Path) -> None:
    source = framed(cluster, KINDS, ROWS)
    with session(source, tmp_path / "ledger.db") as asked:
        first = asked.sql(QUESTION, spend="1/4")
        assert type(asked._connect()).kind == "spark"
    source.write.parquet(f"file://{tmp_path}/visits")
    with session(qx.Spark(f"parquet.`{tmp_path}/visits`"), tmp_path / "ledger.db") as asked:
        again = asked.sql(QUESTION, spend="1/4")
        assert (again.spent, list(again.rows)) == (0, list(first.rows))


@pytest.mark.parametrize(
    ("engine", "source", "says"),
    [
        ("", '{ spark = "a b" }', "cannot be a table's name"),
        ("", '{ spark = "visits", table = "t" }', "a table is in one place"),
        ("", '{ sparc = "visits" }', "Did you mean spark"),
        ('engine = { kind = "postgres", master = "local" }', '"a.parquet"', "only Spark has master"),
        ('engine = { kind = "spark", scratch = "x" }', '{ spark = "visits" }', "no path of a folder"),
        ('engine = { kind = "spark", mastre = "x" }', '{ spark = "visits" }', "Did you mean master"),
    ],
)
def test_a_plan_with_a_bad_source_says_its_line(tmp_path: Path, engine: str, source: str, says: str) -> None:
    plan = tmp_path / "plan.toml"
    plan.write_text(plan_for(source, f"{engine}\n"))
    with pytest.raises(QuincunxError, match=says) as caught:
        qx.Session.open(plan)
    assert "plan.toml:1" in str(caught.value)


def test_what_is_wrong_before_the_reservation_costs_nothing(cluster: SparkSession, tmp_path: Path) -> None:
    changed = cluster.sql("SELECT 1L AS person, 'x' AS region, '1' AS cost")
    changes: dict[str, tuple[Callable[[], Any], str]] = {
        "another type": (
            lambda: changed.createOrReplaceGlobalTempView("wards"),
            "the columns of a table have changed",
        ),
        "no table": (
            lambda: cluster.catalog.dropGlobalTempView("wards"),
            "Spark cannot be reached, or a table is gone",
        ),
    }
    framed(cluster, KINDS, ROWS).createOrReplaceGlobalTempView("wards")
    with session(qx.Spark("global_temp.wards"), tmp_path / "ledger.db") as asked:
        asked.sql(COUNT, spend="1/4")
        for change, says in changes.values():
            change()
            with pytest.raises(UnavailableError, match=says):
                asked.sql(QUESTION, spend="1/4")
            assert asked.remaining == Fraction(3, 4)
        # What was answered needs no Spark.
        assert asked.sql(COUNT, spend="1/4").spent == 0
    with Ledger.open(tmp_path / "ledger.db") as ledger:
        assert [each.kind for each in ledger.records()].count("reservation") <= 1
        ledger.verify()


def test_a_question_that_the_engine_cannot_compute_is_refused(
    cluster: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(SparkDialect, "total", lambda _, x: exp.Anonymous(this="NO_SUCH_FUNCTION", expressions=[x.sql]))
    with session(framed(cluster, KINDS, ROWS), tmp_path / "ledger.db") as asked:
        with pytest.raises(RefusalError, match="it failed on made-up rows"):
            asked.sql(COUNT, spend="1/4")
        assert asked.remaining == 1


def test_a_stage_that_spark_does_not_understand_is_refused_before_anything_is_paid(
    cluster: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is sent for a large table is looked at too, although the trial's own rows are few."""
    wrong = exp.select("no_such_column").from_("over")
    monkeypatch.setattr(stages, "gathered", lambda *_: wrong)
    with session(framed(cluster, KINDS, ROWS), tmp_path / "ledger.db") as asked:
        with pytest.raises(RefusalError, match="it failed on made-up rows"):
            asked.sql(COUNT, spend="1/4")
        assert asked.remaining == 1


def test_tables_of_two_engines_and_a_snapshot_are_refused(cluster: SparkSession, tmp_path: Path) -> None:
    frame = qx.Table(pd.DataFrame(ROWS, columns=list(KINDS)), limits={"rows": 2})
    for number, (given, says) in enumerate(
        (({"tables": {"other": frame}}, "read by different engines"), ({"snapshot": True}, "cluster are not kept"))
    ):
        asked = session(framed(cluster, KINDS, ROWS), tmp_path / f"{number}.db", **given)
        with asked, pytest.raises(DataError, match=says):
            asked.sql(QUESTION, spend="1/4")


def test_a_full_disk_halts_and_says_nothing_of_rows(cluster: SparkSession, tmp_path: Path) -> None:
    """No file of Spark's may be larger than a few kilobytes while the question is answered."""
    long = cluster.sql("SELECT id AS person, 'north' AS region, 1.0D AS cost, uuid() AS note FROM range(60000)")
    machine = cluster.sparkContext._gateway.proc.pid
    run: Any = SparkEngine.run

    def filled(self: SparkEngine, program: Any) -> Any:
        before = resource.prlimit(machine, resource.RLIMIT_FSIZE)
        resource.prlimit(machine, resource.RLIMIT_FSIZE, (8192, before[1]))
        try:
            return run(self, program)
        finally:
            resource.prlimit(machine, resource.RLIMIT_FSIZE, before)

    with pytest.MonkeyPatch.context() as patch, session(long, tmp_path / "ledger.db") as asked:
        patch.setattr(SparkEngine, "run", filled)
        with pytest.raises(HaltedError):
            asked.sql("SELECT COUNT(*) AS n FROM visits WHERE LENGTH(note) > 3", spend="1/4")
    with Ledger.open(tmp_path / "ledger.db") as kept:
        kept.verify()
        account = kept.account("visits")
        assert account.total.spent == Fraction(1, 4)
        assert (account.questions, account.answers, len(account.halts)) == (1, 0, 1)
    # Spark itself goes on.
    with session(long, tmp_path / "other.db") as asked:
        assert asked.sql(COUNT, spend="1/4").spent == Fraction(1, 4)


def lost(what: str, folder: Path) -> tuple[list[dict[str, Any]], str]:
    """What a process of its own prints, and everything that it and its Spark say."""
    available()
    command = [sys.executable, "-m", "tests.table.engines.spark.lost", what, str(folder)]
    found = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=400)
    assert found.returncode == 0, found.stderr[-2000:]
    return [json.loads(line) for line in found.stdout.splitlines() if line.startswith("{")], found.stdout + found.stderr


def test_a_canary_appears_nowhere_and_a_killed_machine_halts(tmp_path: Path) -> None:
    answers, said = lost("machine", tmp_path)
    assert [(each["spent"], each["answers"], each["halts"]) for each in answers] == [("1/4", 0, 1)] * 2
    assert all("the dataset is halted" in each["error"] for each in answers)
    assert CANARY not in said
    for ledger in ("raised.db", "killed.db"):
        assert CANARY not in (tmp_path / ledger).read_bytes().decode("latin-1")


def test_a_lost_worker_changes_nothing(tmp_path: Path) -> None:
    """Rows that were written down are not drawn again."""
    ((answer,), _) = lost("worker", tmp_path)
    assert answer["lost"] == 1
    assert answer["within"]
    assert (answer["left"], answer["spent"], answer["answers"], answer["halts"]) == ([], "1/4", 1, 0)


_LEFT = """
import os, signal, sys
from quincunx.table.engines.spark.scratch import Scratch
with Scratch(sys.argv[1]).opened() as folder:
    (folder / "rows.parquet").write_text("rows")
    print(folder, flush=True)
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_what_a_crash_left_is_removed_at_the_next_start(tmp_path: Path) -> None:
    used = Scratch(str(tmp_path))
    with used.opened() as mine:
        (mine / "rows.parquet").write_text("rows")
        died = subprocess.run([sys.executable, "-c", _LEFT, str(tmp_path)], capture_output=True, text=True, timeout=60)
        assert died.returncode == -signal.SIGKILL
        left = Path(died.stdout.strip())
        assert (left / "rows.parquet").exists()
        after = Scratch(str(tmp_path))
        with after.opened():
            assert not left.parent.exists()
            assert (mine / "rows.parquet").exists(), "what is in use is left alone"
        after.close()
    used.close()
    above = tmp_path / f"quincunx-spark-{os.getuid()}"
    assert list(above.iterdir()) == []
    above.chmod(0o755)
    with pytest.raises(UnavailableError, match="not the owner's alone"), Scratch(str(tmp_path)).opened():
        pass


def test_a_folder_that_cannot_be_used_is_said_before_anything_is_paid(cluster: SparkSession, tmp_path: Path) -> None:
    cluster.sql("SELECT 1L AS person, 'north' AS region, 1.0D AS cost").createOrReplaceGlobalTempView("folders")
    (tmp_path / "file").write_text("no folder")
    seen = tmp_path / "seen"
    seen.mkdir()
    (seen / f"quincunx-spark-{os.getuid()}").mkdir(mode=0o755)
    for place, words in ((tmp_path / "file", "rows cannot be written down"), (seen, "not the owner's alone")):
        source = qx.Spark("global_temp.folders", scratch=str(place))
        with session(source, tmp_path / "ledger.db") as asked:
            with pytest.raises(UnavailableError, match=words):
                asked.sql(COUNT, spend="1/4")
            assert asked.spent == 0
    cluster.catalog.dropGlobalTempView("folders")


def test_an_interrupted_question_is_no_failure(cluster: SparkSession, tmp_path: Path) -> None:
    with session(framed(cluster, KINDS, ROWS), tmp_path / "ledger.db") as asked:
        engine = asked._connect()
        assert isinstance(engine, SparkEngine)

        def interrupted(*_: object) -> Any:
            raise KeyboardInterrupt

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(SparkEngine, "_fetched", interrupted)
            with pytest.raises(KeyboardInterrupt):
                engine.run(asked._dataset.program(QUESTION))
        assert asked.sql(QUESTION, spend="1/4").spent == Fraction(1, 4)


def test_the_session_is_found_from_every_thread(cluster: SparkSession) -> None:
    from quincunx.table.engines.spark.cluster import Cluster
    from quincunx.table.engines.spark.session import running

    with ThreadPoolExecutor(1) as other:
        found = other.submit(running, Cluster()).result()
    assert found.sparkContext.applicationId == cluster.sparkContext.applicationId


def test_without_a_session_or_pyspark_it_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    available()
    from quincunx.table.engines.spark import session as sessions
    from quincunx.table.engines.spark.cluster import Cluster

    with monkeypatch.context() as patch:
        patch.setattr("pyspark.sql.SparkSession.getActiveSession", staticmethod(lambda: None))
        patch.setattr("pyspark.sql.SparkSession._instantiatedSession", None)
        with pytest.raises(UnavailableError, match="no Spark session runs"):
            sessions.running(Cluster())
    with monkeypatch.context() as patch:
        patch.setitem(sys.modules, "pyspark.sql", None)
        with pytest.raises(UnavailableError, match="pyspark is not installed") as caught:
            sessions.running(Cluster(master=MASTER))
        assert "quincunx[spark]" in str(caught.value)
