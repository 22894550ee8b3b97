"""What is refused by what it is; neither Spark nor pyspark is needed."""

from __future__ import annotations

import pytest

from quincunx.errors import DataError
from quincunx.table import Table
from quincunx.table.engines.spark import origin
from quincunx.table.engines.spark.source import Spark


def of_connect(name: str) -> object:
    """A value of a class of Spark Connect, of which nothing is asked."""
    return type(name, (), {"__module__": f"pyspark.sql.connect.{name.lower()}"})()


def test_frames_of_spark_connect_are_refused_with_the_reason() -> None:
    with pytest.raises(DataError, match="frames and sessions of Spark Connect are not read; got DataFrame") as caught:
        Table(of_connect("DataFrame"), limits={"rows": 1})
    assert "driver's own process" in str(caught.value)


def test_a_running_session_of_spark_connect_is_refused_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(origin, "running", lambda _: of_connect("SparkSession"))
    with pytest.raises(DataError, match="frames and sessions of Spark Connect are not read; got SparkSession"):
        Table(Spark("clinic.visits"), limits={"rows": 1})
