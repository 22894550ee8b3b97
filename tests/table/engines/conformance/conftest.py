"""One parameter for each engine."""

from __future__ import annotations

import pytest

from tests.table.engines.conformance.engines import ENGINES, Place
from tests.table.engines.postgres.conftest import reading
from tests.table.engines.spark.conftest import cluster

__all__ = ["cluster", "place", "reading"]


# A server takes seconds to start, and so does Spark.
_MARKS = {"postgres": [pytest.mark.ci], "spark": [pytest.mark.ci, pytest.mark.spark]}


@pytest.fixture(params=[pytest.param(name, marks=_MARKS.get(name, [])) for name in sorted(ENGINES)])
def place(request: pytest.FixtureRequest) -> Place:
    """Where tables are made and asked; skipped where the engine is not installed, unless it is required."""
    return ENGINES[request.param](request)
