"""One person with more than fits a heap: many rows with long texts, and a text that is longer than any may be."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from quincunx.table.engines.spark import stages
from tests.spark import available
from tests.table.engines.spark.crowd import QUESTIONS
from tests.table.engines.spark.places import framed

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.ci, pytest.mark.spark]
ROOT = Path(__file__).parents[4]


def test_one_person_does_not_fill_the_heap(tmp_path: Path) -> None:
    available()
    command = [sys.executable, "-m", "tests.table.engines.spark.crowd", str(tmp_path)]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert run.returncode == 0, run.stderr[-2000:]
    found = json.loads(run.stdout.splitlines()[-1])
    # A frame is asked the first question, a file all, and the frame's session is as it was.
    assert len(found) == 1 + len(QUESTIONS) + 1
    assert all(found.values()), found


def test_people_with_long_names_are_few_where_they_are_sent(cluster: SparkSession) -> None:
    names = framed(cluster, {"o0": "STRING", "n": "BIGINT"}, [("a" * 1000, 1), ("\u00e9", 2)])
    assert stages._sent(names) == 2 * 100 + 1000 + 2
    assert stages._sent(framed(cluster, {"o0": "BIGINT"}, [(7,), (8,)])) == 200
    assert stages._sent(cluster.range(0).toDF("o0")) == 0
    # A million people who are numbers, as before.
    assert stages.MOST == 100 * 1_000_000
