"""Replay finds every bug that is seeded into a relation; without it the same cases hold."""

from __future__ import annotations

from typing import Any

import pytest

from quincunx.audit import Replay
from quincunx.table.schema import Limits
from tests.audit.tables.several import replayed
from tests.audit.tables.several_bugs import BUGS, Bug


def found(bug: Bug) -> Replay:
    options: dict[str, Any] = {
        "norms": (bug.norm,),
        "pairs": bug.pairs,
        "giants": bug.giants,
        "series": bug.name,
        "shrunk": 0,
    }
    # Nobody counts for more than one row, so that two people who move are too many.
    return replayed(bug.unit, bug.sql, limits=Limits(rows=1, groups=1, per_group=1), **options)


@pytest.mark.parametrize("bug", BUGS, ids=lambda bug: bug.name)
def test_a_seeded_bug_is_found(bug: Bug, monkeypatch: pytest.MonkeyPatch) -> None:
    bug.patch(monkeypatch)
    report = found(bug)
    assert any(each.part.startswith("measure") for each in report.violations)
    assert not any(each.part == "engine" for each in report.violations)


@pytest.mark.parametrize("bug", [pytest.param(each, marks=pytest.mark.ci) for each in BUGS], ids=lambda bug: bug.name)
def test_without_the_bug_the_same_cases_hold(bug: Bug) -> None:
    report = found(bug)
    assert (report.refused, report.check().cases) == (0, bug.pairs)


def test_there_are_bugs_of_every_class() -> None:
    assert len({bug.name for bug in BUGS}) == len(BUGS) >= 25
