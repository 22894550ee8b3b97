"""What is known of a cluster from its settings; neither Spark nor pyspark is needed."""

from __future__ import annotations

import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import sqlglot

from quincunx.table.engines.spark import stages
from quincunx.table.engines.spark.cluster import room
from quincunx.table.engines.spark.stages import capacity

MB = 2**20


@pytest.mark.parametrize(
    ("settings", "bytes_"),
    [
        ({"spark.master": "local[2]"}, 512 * MB),
        ({"spark.master": "local[2]", "spark.driver.memory": "3g"}, 1536 * MB),
        ({"spark.master": "local[4,2]", "spark.driver.memory": "2048m"}, 512 * MB),
        ({"spark.master": "local"}, 1024 * MB),
        ({"spark.master": "local[*]"}, 1024 * MB // (os.cpu_count() or 16)),
        ({"spark.master": "spark://here:7077", "spark.executor.cores": "8", "spark.executor.memory": "32G"}, 4096 * MB),
        ({"spark.master": "yarn", "spark.executor.memory": "16gb"}, 1024 * MB),
        ({"spark.master": "yarn", "spark.executor.memory": "a lot", "spark.executor.cores": "many"}, 64 * MB),
        ({}, 64 * MB),
    ],
)
def test_a_task_has_its_share_of_a_workers_heap(settings: dict[str, str], bytes_: int) -> None:
    assert room(settings.get) == bytes_


def test_arrays_take_an_eighth_of_it_at_most() -> None:
    assert [capacity(heap, 1) for heap in (0, MB, 64 * MB, 512 * MB, 2**40)] == [10, 12, 18, 20, 20]
    for heap in range(4 * MB, 600 * MB, 7 * MB):
        assert 26 << capacity(heap, 1) <= heap // 8
        assert capacity(heap, 3) <= capacity(heap, 1)


def test_rows_are_brought_together_where_arrays_do_not_hold_all_people() -> None:
    """By bytes, then by rows, which are counted only where bytes do not tell; in few enough parts to be shuffled."""

    def parts(size: int, rows: int | None, held: int) -> int:
        def counted() -> int:
            assert rows is not None
            return rows

        return stages._parts(size, counted, 200, held)

    assert parts(16 * 16 * 1024, None, 1024) == 1
    assert parts(16 * 16 * 1024 + 1, 16 * 1024, 1024) == 1
    assert parts(16 * 16 * 1024 + 1, 16 * 1024 + 1, 1024) == 1
    assert [parts(2**40, rows, 2**20) for rows in (2**24, 2**24 + 1, 50_000_000, 2**40)] == [1, 17, 48, 200]
    assert [parts(2**26, rows, 0) for rows in (2**20, 2**20 + 1)] == [1, 2]


@pytest.mark.parametrize(
    ("over", "where"),
    [
        ("over AS (SELECT o0, o1, COUNT(*) AS n FROM kept GROUP BY o0, o1)", "over"),
        ("units AS (SELECT DISTINCT o0, o1, g FROM kept), over AS (SELECT o0, o1, COUNT(*) AS n FROM units "
         "GROUP BY o0, o1)", "units"),
    ],
)  # fmt: skip
def test_they_are_brought_together_below_everything_that_groups(over: str, where: str) -> None:
    tree = sqlglot.parse_one(f"WITH kept AS (SELECT o0, o1, g FROM source), {over} SELECT * FROM over", dialect="spark")
    assert isinstance(tree, sqlglot.exp.Select)
    before = tree.sql(dialect="spark")
    found = stages.gathered(tree, "over", 7)
    together = "FROM (SELECT /*+ REPARTITION(7, o0, o1) */ * FROM kept) AS kept"
    assert tree.sql(dialect="spark") == before
    assert found.sql(dialect="spark") == before.replace("FROM kept", together)
    (made,) = [each for each in found.ctes if each.alias == where]
    assert together in made.sql(dialect="spark")


def test_rows_that_are_grouped_by_something_else_stay_below() -> None:
    over = "WITH kept AS (SELECT MAX(p) AS o0 FROM read GROUP BY g), over AS (SELECT o0 FROM kept GROUP BY o0)"
    tree = sqlglot.parse_one(f"{over} SELECT * FROM over", dialect="spark")
    assert isinstance(tree, sqlglot.exp.Select)
    found = stages.gathered(tree, "over", 2).sql(dialect="spark")
    assert found.endswith("over AS (SELECT o0 FROM (SELECT /*+ REPARTITION(2, o0) */ * FROM kept) AS kept GROUP BY o0) "
                          "SELECT * FROM over")  # fmt: skip


def test_a_number_of_partitions_that_a_cluster_chooses_is_no_error(tmp_path: Path) -> None:
    session: Any = SimpleNamespace(conf={"spark.sql.shuffle.partitions": "auto"})
    tree = sqlglot.exp.select("1")
    assert stages.staged(session, stages.Stages(tree), tmp_path, {"source": 2**30}) == "SELECT 1"
