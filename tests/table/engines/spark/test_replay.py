"""Neighbour replay through Spark, many worlds in one statement, and the same integers as DuckDB on every one."""

from __future__ import annotations

import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb
import pytest

from quincunx.audit import replay
from quincunx.audit.tables import worlds as replayed
from quincunx.audit.tables.worlds import WORLD, Storage, World, Worlds
from quincunx.data import quoted
from quincunx.table.engines.engine import Result
from quincunx.table.engines.spark import SparkEngine
from quincunx.table.engines.spark.source import Spark
from quincunx.table.measure import Program
from quincunx.table.schema import ColumnSchema, Schema
from quincunx.table.table import Table
from tests.audit.tables import scenes
from tests.table.engines.postgres.both import equal

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.ci, pytest.mark.spark]
# DuckDB would write these as doubles.
_EXACT = {"HUGEINT": "DECIMAL(38,0)", "UHUGEINT": "DECIMAL(38,0)"}


class SparkWorlds(Worlds):
    """Several worlds of private tables in files of Parquet, ready for programs."""

    def __init__(self, schema: Schema, storage: Storage, worlds: Sequence[World]) -> None:
        self._count = len(worlds)
        self._rows = duckdb.connect()
        self._folder = tempfile.TemporaryDirectory()
        world = ColumnSchema(name=WORLD, type="integer")
        wider, sources = dict(schema.tables), {}
        for name, kinds in storage.items():
            table = schema.tables[name]
            numbered = [(str(i), *row) for i, rows in enumerate(worlds) for row in rows[name]]
            names = [WORLD, *(each.name for each in table.columns)]
            types = ["BIGINT", *(kinds[each.name.lower()] for each in table.columns)]
            select, given = replayed._cast(names, types, numbered)
            cells = [(quoted(n), _EXACT.get(k, k)) for n, k in zip(names, types, strict=True)]
            chosen = [f"TRY_CAST({each} AS {kind}) AS {each}" for each, kind in cells]
            path = Path(self._folder.name) / f"{name}.parquet"
            self._rows.execute(f"CREATE OR REPLACE TABLE rows AS SELECT {', '.join(chosen)} FROM ({select})", given)
            self._rows.execute(f"COPY rows TO '{path}' (FORMAT parquet)")
            wider[name] = replace(table, columns=(world, *table.columns))
            declared = {each.name: {"type": each.type} for each in table.columns}
            sources[name] = Table(Spark(f"parquet.`{path}`"), columns=declared)
        self._engine: Any = SparkEngine(sources, replace(schema, tables=wider))

    def close(self) -> None:
        super().close()
        self._folder.cleanup()


class Compared:
    """Both at once: what differed, and how many were asked."""

    differing: list[str]
    count: Counter[str]

    def __init__(self, schema: Schema, storage: Storage, worlds: Sequence[World]) -> None:
        self.here, self.there = Worlds(schema, storage, worlds), SparkWorlds(schema, storage, worlds)

    def close(self) -> None:
        self.here.close()
        self.there.close()

    def run(self, program: Program) -> list[Result]:
        wanted, found = self.here.run(program), self.there.run(program)
        self.count["questions"] += 1
        if not all(equal(*pair) for pair in zip(wanted, found, strict=True)):
            self.differing.append(repr(program.query)[:400])
        return found


def test_neighbours_are_as_close_and_both_engines_agree(
    cluster: SparkSession,  # noqa: ARG001
    monkeypatch: pytest.MonkeyPatch,
    full: bool,
) -> None:
    """More than 300 pairs; with --full more than 1,000."""
    Compared.differing, Compared.count = [], Counter()
    monkeypatch.setattr(sys.modules["quincunx.audit.tables.replay"], "Worlds", Compared)
    chosen = list(scenes.scenes())[:: 13 if full else 27]
    cases = 0
    for number, scene in enumerate(chosen):
        questions = scene.questions()
        asked = questions[number :: len(chosen)][: 4 if full else 2]
        # Texts where numbers are declared: DuckDB reads those of files by a grammar of its own.
        storage = {name: {**kinds, "age": "BIGINT"} for name, kinds in scene.storage.items()}
        found = replay(scene.schema, asked, storage=storage, pairs=120 if full else 60, series=number, shrunk=0)
        assert found.violations == ()
        cases += found.cases
    assert Compared.differing == []
    assert Compared.count["questions"] >= 5
    assert cases >= (1_000 if full else 300)
    print(f"{Compared.count['questions']} programs, {cases:,} pairs: equal, 0 violations")
