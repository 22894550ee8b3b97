"""Where the typing is broken, so that everything counts as the owner, numbers are wrong and no person moves another's.

What the typing licenses decides only whether a question is accepted: what is compared are hidden owners.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from quincunx.errors import QueryError, RefusalError
from quincunx.table.relations import Relation
from tests.audit.tables.several import replayed
from tests.table.relations import locality
from tests.table.relations.test_shapes import SHAPES, shape, stored


@pytest.fixture
def licentious(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Any expression is taken for any component of the owner."""
    monkeypatch.setattr(Relation, "licenses", lambda self, *_: self.owner is not None)
    locality._written.cache_clear()  # type: ignore[attr-defined]
    yield
    locality._written.cache_clear()  # type: ignore[attr-defined]


@pytest.mark.usefixtures("licentious")
def test_a_question_that_should_be_refused_is_local_and_wrong(ci: bool, full: bool) -> None:
    outcomes: Counter[str] = Counter()
    for given in SHAPES["refused"]:
        asked = replace(shape(given), right=False)
        made = locality.worlds(200 if full else 10 if ci else 1, "whole", given["name"])
        try:
            findings = [asked.finding(world) for world in (stored(given), *made)]
        except (QueryError, RefusalError):
            outcomes["refused"] += 1
            continue
        assert not any(findings), (given["name"], findings)
        visible: Counter[Any] = Counter()
        for (_, row), times in asked.relation(stored(given)).items():
            visible[row] += times
        outcomes["wrong" if visible != asked.plain(stored(given)) else "right"] += 1
    # Most of them are accepted now, and give something else than was asked for.
    assert outcomes["wrong"] >= 12, outcomes


@pytest.mark.usefixtures("licentious")
@pytest.mark.parametrize("unit", ["add-remove person", "replace person-day"])
def test_neighbours_are_as_close_as_declared_whatever_was_licensed(unit: str, ci: bool, full: bool) -> None:
    """Each of these would mix people, were it not for the hidden owners."""
    asked = [
        "SELECT COUNT(*) AS n, SUM(a.age) AS s FROM visits a JOIN encounters b ON a.note = b.ward",
        "SELECT COUNT(*) AS n FROM visits WHERE note IN (SELECT ward FROM encounters)",
        "SELECT COUNT(*) AS n FROM visits a WHERE EXISTS (SELECT 1 FROM encounters b WHERE b.ward = a.note)",
        "SELECT COUNT(*) AS n FROM (SELECT DISTINCT age FROM visits)",
        "SELECT COUNT(*) AS n FROM (SELECT note, COUNT(*) AS many FROM visits GROUP BY note) WHERE many > 1",
        "SELECT COUNT(*) AS n FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY note ORDER BY age) AS r FROM visits) "
        "WHERE r = 1",
        "SELECT COUNT(*) AS n FROM (SELECT note FROM visits EXCEPT SELECT ward FROM encounters)",
    ]
    found = replayed(unit, asked, pairs=200 if full else 40 if ci else 8, giants=0, series=f"typing {unit}", shrunk=0)
    assert found.refused == 0
    assert found.holds, found.violations[0]
