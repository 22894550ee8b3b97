"""What every release keeps exactly, on random hierarchies with random constraints."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from quincunx.invariant.topdown.limits import crossing
from quincunx.noise.testing import key_of, keyed
from tests.invariant.topdown.worlds import random_world


@pytest.fixture
def worlds(ci: bool) -> int:
    return 200 if ci else 60


def test_sums_zeros_invariants_and_bounds_are_exact(tmp_path: Path, worlds: int) -> None:
    kept, bounded, crossed, fractions = 0, 0, 0, 0
    for number in range(worlds):
        folder = tmp_path / str(number)
        folder.mkdir()
        planned, truth, bounds = random_world(f"property {number}", folder)
        with keyed(key_of(f"property {number}")):
            release = planned.run()
        schema, geography = planned.schema, planned.geography
        for level, table in enumerate(release.tables):
            assert table.min() >= 0
            assert (table[:, schema.empty] == 0).all()
            if level:
                assert (np.add.reduceat(table, geography.starts[level], axis=0) == release.tables[level - 1]).all()
        for fact in planned.invariants:
            exact = schema.answers(fact.query, truth[fact.level])
            assert (schema.answers(fact.query, release.tables[fact.level]) == exact).all()
            kept += 1
        for level, query, low, high in bounds:
            found = schema.answers(query, release.tables[level])
            assert ((low <= found) & (found <= high)).all()
            bounded += 1
        assert release.solved.repairs == ()
        if crossing(schema, [*planned.exact_limits(release.measured.facts), *planned.limits]) is None:
            fractions += release.solved.fractional
        else:
            crossed += 1
    assert kept > worlds // 2
    assert bounded > worlds // 6
    assert crossed >= worlds // 40
    assert fractions == 0
