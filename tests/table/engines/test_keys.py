"""Public keys: whole numbers one after another are placed by subtraction, all others are looked up; the same groups."""

from __future__ import annotations

import random
from typing import Any

import pyarrow as pa
import pytest

from quincunx.spec.unit import AddRemove
from quincunx.table.engines import DuckDB, evaluate, statement
from quincunx.table.engines.keys import Run, run_of
from quincunx.table.rules import plan
from quincunx.table.sql import read
from quincunx.table.table import Table, schema

ENDS = [-(2**63), -(2**62) - 1, -1, 0, 1, 2, 3, 4, 5, 2**62, 2**63 - 1, None]


@pytest.mark.parametrize(
    ("values", "run"),
    [
        ((3,), Run(first=3, last=3, nulls=False)),
        ((0, 1, 2), Run(first=0, last=2, nulls=False)),
        ((-2, -1, 0, None), Run(first=-2, last=0, nulls=True)),
        ((), None),
        ((None,), None),
        ((0, 2), None),
        ((1, 0), None),
        ((0, 1, 1), None),
        ((None, 0, 1), None),
        ((0, None, 1), None),
        ((0, 1, None, None), None),
        ((True, False), None),
        (("0", "1"), None),
        ((2**62 - 1, 2**62), None),
    ],
)
def test_which_keys_are_a_run(values: tuple[Any, ...], run: Run | None) -> None:
    assert run_of(values, "BIGINT") == run
    for kind in ("HUGEINT", "DOUBLE", "VARCHAR", "BOOLEAN", "DECIMAL(9,2)"):
        assert run_of(values, kind) is None


@pytest.mark.parametrize("norm", [1, 2])
@pytest.mark.parametrize("snapshot", [False, True])
@pytest.mark.parametrize(
    "keys", [[0, 1, 2], [-1, 0, 1, 2, 3, None], [4], [3, 1, 2], [1, 2, 5], [None, 0, 1], [2, None], [7, 8]]
)
def test_a_run_gives_the_groups_that_looking_up_gives(
    keys: list[int | None], norm: Any, snapshot: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With rows at the ends of their type, which belong to no group and make nothing fail."""
    choose = random.Random(repr(keys))
    rows = [(choose.randrange(6), choose.choice(ENDS), choose.choice(ENDS)) for _ in range(300)]
    columns = {name: pa.array([row[i] for row in rows], pa.int64()) for i, name in enumerate(("person", "g", "h"))}
    listed = {"g": {"keys": keys}, "h": {"keys": [0, 1, 2, 3]}}
    tables = {"t": Table(pa.table(columns), limits={"rows": 9}, columns=listed)}
    declared = schema(tables, AddRemove(key="person"))
    found = []
    for way in (run_of, lambda *_: None):
        monkeypatch.setattr(statement, "run_of", way)
        with DuckDB(tables, declared, threads=1, snapshot=snapshot) as engine:
            for text in (
                "SELECT g, COUNT(*) AS n FROM t GROUP BY g",
                "SELECT h, g, COUNT(*) AS n FROM t GROUP BY h, g",
            ):
                program = plan(read(text, declared, evaluate), declared, norm)
                engine.rehearse(program)
                found.append([int(each) for each in engine.run(program).measures[0]])
    assert found[:2] == found[2:]
    assert any(found[0]) == (keys != [7, 8])
