"""The statements of every engine are what they were, to the byte; a digest of each."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.table.engines.conformance import golden, worlds
from tests.table.engines.conformance.engines import Place
from tests.table.engines.conformance.questions import CONDITIONS, ROWS

HOME = Path(__file__).parents[3] / "fixtures" / "sql"
ASKED = [
    *(f"SELECT COUNT(*) AS n FROM {each}" for each in ROWS[::3]),
    *(f"SELECT COUNT(*) AS n FROM visits WHERE {each}" for each in CONDITIONS[::4]),
]


def statements(place: Place) -> Mapping[str, str]:
    """A digest of the statement of each question."""
    with place.opened(worlds.empty()) as (engine, declared):
        return {
            text: hashlib.sha256(engine.sql(golden.planned(text, declared, 2)).encode()).hexdigest()[:24]
            for text in ASKED
        }


def test_statements_are_the_golden_ones(place: Place, request: pytest.FixtureRequest) -> None:
    path = HOME / f"conformance_{place.name}.txt"
    found = "".join(f"{digest} {text}\n" for text, digest in statements(place).items())
    if not path.exists():
        path.write_text(found, encoding="utf-8")
        pytest.fail(f"{path.name} did not exist and was written: look at it, and run {request.node.name} again")
    assert found == path.read_text(encoding="utf-8")
