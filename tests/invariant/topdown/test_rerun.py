"""Approximate intervals for the whole tables."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import norm, t

from quincunx.errors import ParameterError
from quincunx.invariant.topdown.geography import Geography
from quincunx.invariant.topdown.rerun import rerun, student
from quincunx.invariant.topdown.topdown import TopDown
from quincunx.noise.testing import key_of, keyed
from quincunx.spec.unit import Replace

PLACES = Geography.of([("r", f"b{i:03d}") for i in range(300)], ["root", "block"], "place")
TABLE = np.random.default_rng(3).integers(40, 400, (300, 2))


def planned() -> TopDown:
    return TopDown(
        dataset="reruns",
        version="1",
        ledger=":memory:",
        source=TABLE,
        geography=PLACES,
        attributes={"a": ["x", "y"]},
        shares={"root": {"share": "1/4", "a": 1}, "block": {"share": "3/4", "detailed": 1}},
        rho="1/10",
        unit=Replace(),
        invariants=[("root", "total")],
    )


@pytest.mark.parametrize("degrees", [4, 10, 20, 100])
@pytest.mark.parametrize("confidence", [0.8, 0.9, 0.95])
def test_students_quantile(degrees: int, confidence: float) -> None:
    level = (1 + confidence) / 2
    assert student(float(norm.ppf(level)), degrees) == pytest.approx(float(t.ppf(level, degrees)), rel=0.03)


def test_far_from_zero_they_cover_what_they_say() -> None:
    """600 cells far from 0, where nothing is cut: 90 % within six standard errors (false alarm below 1e-8)."""
    with keyed(key_of("reruns")):
        release = planned().run()
        found = {(each.level, each.query): each for each in rerun(release, 12)}
    cells = found["block", "detailed"]
    covered = (np.abs(release.tables[1] - TABLE) <= cells.half).mean()
    assert abs(covered - 0.9) < 6 * np.sqrt(0.09 / 600)
    assert abs(cells.covered - 0.9) < 0.03
    # An invariant does not move.
    assert found["root", "total"].half.max() == 0


def test_reruns_cost_nothing_and_leave_the_release_alone() -> None:
    with keyed(key_of("alone")):
        release = planned().run()
        before = [table.copy() for table in release.tables]
        rerun(release, 2)
    assert all((a == b).all() for a, b in zip(before, release.tables, strict=True))
    with pytest.raises(ParameterError):
        rerun(release, 0)
