"""What is known of a cluster from its settings; neither Spark nor pyspark is needed."""

from __future__ import annotations

import os

import pytest

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
    assert [capacity(heap, 2) for heap in (0, MB, 64 * MB, 512 * MB, 2**40)] == [10, 11, 17, 20, 20]
    for heap in range(4 * MB, 600 * MB, 7 * MB):
        assert 35 << capacity(heap, 2) <= heap // 8
        assert capacity(heap, 4) <= capacity(heap, 2)
