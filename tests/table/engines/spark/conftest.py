"""One session of Spark for all tests of the engine."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from tests.spark import started

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture(scope="session")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    """Spark on this machine, stopped at the end."""
    session = started(str(tmp_path_factory.mktemp("warehouse")))
    yield session
    session.stop()
