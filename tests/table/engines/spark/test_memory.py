"""What a driver keeps of questions that it has answered."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from quincunx.table.engines.spark.session import own
from tests.table.engines.conformance import golden, worlds
from tests.table.engines.conformance.engines import InSpark
from tests.table.engines.conformance.questions import questions

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.ci, pytest.mark.spark]
# Bytes. What 50 statements leave behind is twice as much where the parser keeps all that it learns.
MOST = 100e6


def test_statements_that_were_read_are_forgotten(cluster: SparkSession, tmp_path: Path) -> None:
    with InSpark(cluster, tmp_path).opened(worlds.empty()) as (engine, declared):
        statements = [engine.sql(golden.planned(text, declared, 2)) for text in questions()[::7]]
    assert len(statements) >= 50
    bounded = own(cluster)
    read(bounded, statements[:1])
    before = held(cluster)
    read(bounded, statements)
    assert held(cluster) - before < MOST
    # As it would be without: nothing else forgets them.
    kept = own(cluster)
    kept.conf.set("spark.sql.parser.manageParserCaches", "false")
    before = held(cluster)
    read(kept, statements)
    assert held(cluster) - before > MOST


def read(session: SparkSession, statements: Iterable[str]) -> None:
    """The driver reads the statements, and runs none: their tables are not there, and EXPLAIN says so."""
    for each in statements:
        assert "Error occurred during query planning" in session.sql(f"EXPLAIN {each}").collect()[0][0]


def held(cluster: SparkSession) -> int:
    """Bytes that are in use in the heap of the driver."""
    machine: Any = cluster.sparkContext._jvm
    machine.java.lang.System.gc()
    found = machine.java.lang.Runtime.getRuntime()
    return int(found.totalMemory() - found.freeMemory())
