"""A Spark session of the tests' own, on this machine alone. It needs the extra `spark` and a Java runtime.

Without them what needs Spark is skipped by its name, unless QUINCUNX_REQUIRE names `spark`. Tests that need it are
marked `spark`, and run in one process: `pytest -n 0 --ci -m spark`.
"""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING

import pytest

from tests.datasets import required

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

MASTER = "local[2]"
# Few partitions, no code made for each statement and no planning while it runs: tables of tests are small, and planning
# is what takes the time. The heap is that of the driver, which is all there is.
_ARGUMENTS = (
    "--driver-memory 3g --driver-java-options '-XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=256m' "
    "--conf spark.sql.shuffle.partitions=2 "
    "--conf spark.sql.codegen.wholeStage=false --conf spark.sql.codegen.factoryMode=NO_CODEGEN "
    "--conf spark.sql.adaptive.enabled=false --conf spark.sql.warehouse.dir={} pyspark-shell"
)
# As users run it.
USUAL = {
    "spark.sql.codegen.wholeStage": "true",
    "spark.sql.codegen.factoryMode": "FALLBACK",
    "spark.sql.adaptive.enabled": "true",
}


def available() -> None:
    """Skip by name where something is missing, or fail where Spark is required."""
    missing = None
    try:
        import pyspark  # noqa: F401
    except ImportError:
        missing = "pyspark is not installed (pip install '.[spark]')"
    if missing is None and not (shutil.which("java") or os.environ.get("JAVA_HOME")):
        missing = "there is no Java (apt install openjdk-17-jre-headless)"
    if missing is not None:
        (pytest.fail if required("spark") else pytest.skip)(missing)


def started(folder: str) -> SparkSession:
    """The session, started by the library itself where none runs yet."""
    available()
    from quincunx.table.engines.spark.cluster import Cluster
    from quincunx.table.engines.spark.session import running

    os.environ["PYSPARK_SUBMIT_ARGS"] = _ARGUMENTS.format(folder)
    return running(Cluster(master=MASTER))
