"""Neighbour replay through PostgreSQL, and the same integers as DuckDB on every world of it."""

from __future__ import annotations

import sys

import pytest

from quincunx.audit import replay
from tests.audit.tables import scenes
from tests.postgres import Server
from tests.table.engines.postgres.both import Compared, PostgresWorlds

pytestmark = pytest.mark.ci


def test_neighbours_are_as_close_and_both_engines_agree(
    reading: Server, monkeypatch: pytest.MonkeyPatch, full: bool
) -> None:
    """With --full more than 2,000 pairs; with --ci a few of each kind."""
    monkeypatch.setattr(PostgresWorlds, "server", reading, raising=False)
    monkeypatch.setattr(sys.modules["quincunx.audit.tables.replay"], "Worlds", Compared)
    Compared.reset()
    chosen = list(scenes.scenes())[:: 13 if full else 27]
    cases = 0
    for number, scene in enumerate(chosen):
        asked = scene.questions()
        for sql in (None, asked if full else asked[number :: len(chosen)][:2]):
            pairs, count = (24, 8) if full else (12, 2)
            # Texts where numbers are declared: DuckDB reads those of files by a grammar of its own.
            storage = {name: {**kinds, "age": "BIGINT"} for name, kinds in scene.storage.items()}
            found = replay(scene.schema, sql, storage=storage, pairs=pairs, count=count, series=number, shrunk=0)
            assert found.violations == ()
            cases += found.cases
    assert Compared.failing == []
    assert Compared.differing == []
    assert Compared.count["questions"] >= (80 if full else 8)
    assert cases >= (2_000 if full else 96)
    print(f"{Compared.count['questions']} programs, {cases:,} pairs: equal, 0 violations")
