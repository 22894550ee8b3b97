"""Replay finds every seeded bug, and shrinks it; without the bug the same cases hold."""

from __future__ import annotations

import pytest

from tests.audit.tables.bugs import BUGS, Bug


@pytest.mark.parametrize("bug", BUGS, ids=lambda bug: bug.name)
def test_a_seeded_bug_is_found(bug: Bug, monkeypatch: pytest.MonkeyPatch) -> None:
    bug.patch(monkeypatch)
    found = bug.at.replay(bug.sql, norms=(bug.norm,), pairs=bug.pairs, giants=1, series=bug.name, shrunk=0)
    assert not found.holds
    assert any(violation.part.startswith(bug.part) or bug.part in violation.part for violation in found.violations)
    print(f"\n{bug.name}: {len(found.violations)} of {found.cases} cases")


@pytest.mark.parametrize("bug", BUGS, ids=lambda bug: bug.name)
def test_without_the_bug_the_same_cases_hold(bug: Bug) -> None:
    found = bug.at.replay(bug.sql, norms=(bug.norm,), pairs=bug.pairs, giants=1, series=bug.name, shrunk=0)
    assert found.refused == 0
    assert found.check().cases == bug.pairs


def test_there_are_bugs_of_every_class() -> None:
    assert len({bug.name for bug in BUGS}) == len(BUGS) >= 20
