"""Replay of tables whose limits are chosen: the choice and every rung hold, and seeded bugs are found."""

from __future__ import annotations

import sys
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from quincunx.table.engines import weights
from quincunx.table.relations import Fold, RollUp
from quincunx.table.rules import climbing
from quincunx.table.schema import Limits
from tests.audit.tables.bugs import Patch, wrapped
from tests.audit.tables.scenes import UNITS, VISITS, Scene, scene
from tests.audit.tables.several import replayed

BY_KEY = "SELECT region, COUNT(*) AS n, SUM(cost) AS s, COUNT(DISTINCT age) AS d FROM visits GROUP BY region"
PEOPLE = "SELECT region, flag, COUNT(DISTINCT person) AS p FROM visits WHERE age < 90 GROUP BY region, flag"
MIXED = "SELECT region, AVG(age) AS m, COUNT(DISTINCT person) AS p FROM visits GROUP BY region"
TOTAL = "SELECT SUM(cost) AS s, MEDIAN(age) AS q, COUNT(*) FILTER (WHERE flag) AS f FROM visits"
UNKNOWN = "SELECT note, COUNT(*) AS n FROM visits GROUP BY note"
PERSONS = [unit for unit in UNITS if "row" not in unit]


def auto(unit: str, last: int = 5, **more: int) -> Scene:
    table = replace(VISITS, limits=Limits(auto=last, **more))
    found = scene(unit, "none")
    return replace(found, schema=replace(found.schema, tables={"visits": table}), limits="auto")


@pytest.mark.parametrize("unit", ["add-remove person", "replace person", "add-remove person x 3"])
def test_chosen_limits_hold(unit: str) -> None:
    found = auto(unit).replay([BY_KEY, PEOPLE], pairs=12, series=unit, shrunk=0)
    assert found.check().holds
    assert found.refused == 0
    largest = {cell.aggregate: cell.largest for cell in found.cells}
    # Somebody whose place on the ladder changes is all that the choice allows for; of three, not always all.
    assert largest["choice of limits"] == 1 or "x 3" in unit
    assert {cell.limits for cell in found.cells} == {"auto"}
    assert max(largest.values()) > 0.9


@pytest.mark.ci
@pytest.mark.parametrize("unit", PERSONS)
def test_chosen_limits_hold_in_every_unit(unit: str, full: bool) -> None:
    """Groups of 3, people and their days, absent people, both norms, unknown keys, other limits beside them."""
    people = "person-" not in unit
    asked = [BY_KEY, TOTAL, *([PEOPLE, MIXED] if people else [])]
    cases = 0
    for last, more in ((5, {}), (20, {"groups": 2, "per_group": 2})) if full else ((5, {}),):
        at = auto(unit, last, **more)
        found = at.replay([*asked, *([UNKNOWN] if more else [])], pairs=24 if full else 6, series=unit, shrunk=0)
        assert found.check().holds
        cases += found.cases
    assert cases >= (200 if full else 24)


@pytest.mark.ci
def test_generated_questions_with_chosen_limits_hold(full: bool) -> None:
    for unit in PERSONS if full else ["replace person"]:
        found = auto(unit, groups=2).replay(count=20 if full else 5, pairs=10 if full else 5, series=unit, shrunk=0)
        assert found.check().holds
        assert any(cell.limits.startswith("auto") for cell in found.cells)


@pytest.mark.ci
def test_several_tables_with_chosen_limits_hold() -> None:
    """Joins and roll-ups: whoever is missing in one of the tables is on no rung of the join's ladder."""
    asked = "SELECT COUNT(*) AS n FROM visits AS a JOIN encounters AS b ON a.person = b.person"
    found = replayed("replace person", asked, limits=Limits(auto=5), pairs=16, series="several", shrunk=0)
    assert found.check().holds
    assert {"choice of limits", "COUNT(*)"} <= {cell.aggregate for cell in found.cells}


@pytest.mark.ci
def test_one_world_at_a_time_gives_the_same_report() -> None:
    at = auto("replace person")
    both = [
        at.replay([MIXED, TOTAL], norms=(2,), pairs=4, giants=0, series=7, shrunk=0, batched=each)
        for each in (True, False)
    ]
    assert both[0] == both[1]


def _in_each_group(monkeypatch: pytest.MonkeyPatch) -> None:
    """Somebody is counted in each of their groups, and held to be counted once."""
    original = climbing.choice

    def around(query: Any, ladder: Any, of: Any) -> Any:
        found, count = original(query, ladder, of), Fold(kind="count")
        inner = query.rows.fused()
        by = (*climbing._whose(inner), *(query.rows.base(key.expression) for key in query.keys))
        ended = climbing.in_bins(climbing.rolled(inner, count), ladder)
        return replace(found, rows=RollUp(source=inner, by=by, folds=(count,)), aggregates=(ended,))

    monkeypatch.setattr(climbing, "choice", around)
    # Without these the planner itself would weight them.
    monkeypatch.setattr(RollUp, "single", property(lambda _: True))
    monkeypatch.setattr(RollUp, "limits", property(lambda _: Limits(rows=1, groups=1, per_group=1)))


def _of_choices(change: Any) -> Patch:
    """The plan of the choice, changed."""

    def around(original: Any, query: Any, *rest: Any) -> Any:
        found = original(query, *rest)
        return found if found.climb is None else replace(found, climb=change(found.climb))

    module = sys.modules["quincunx.audit.tables.replay"]
    return wrapped(module, "climbing", around)


def _one_of_three(climb: Any) -> Any:
    (measure,) = climb.choice.measures
    grid = replace(measure.grid, weight=1)
    return replace(climb, choice=replace(climb.choice, measures=(replace(measure, grid=grid),)))


def _the_rung_below(climb: Any) -> Any:
    """The noise of the rung below, on the numbers of the rung."""
    pairs = zip(climb.programs[1:], climb.programs, strict=False)
    at = [
        replace(
            here,
            measures=tuple(
                replace(one, sensitivity2=two.sensitivity2)
                for one, two in zip(here.measures, below.measures, strict=True)
            ),
        )
        for here, below in pairs
    ]
    return replace(climb, programs=(climb.programs[0], *at))


def _heavier(original: Any, d: Any, vector: Any, *rest: Any) -> Any:
    """The weights of the next rung."""
    return original(d, replace(vector, bound2=Fraction(4) * vector.bound2), *rest)


BUGS: dict[str, tuple[Patch, str, int, str, str]] = {
    "a person counted in each group": (
        _in_each_group, BY_KEY, 1, "add-remove person", "choice",
    ),
    "a person counted in each group, by length": (
        _in_each_group, BY_KEY, 2, "replace person", "choice",
    ),
    "the choice priced for one of three": (
        _of_choices(_one_of_three), BY_KEY, 1, "add-remove person x 3", "choice",
    ),
    "the noise of the rung below": (
        _of_choices(_the_rung_below), BY_KEY, 2, "add-remove person", "measure",
    ),
    "the weights of the next rung": (
        wrapped(weights, "over_rows", _heavier), TOTAL, 1, "replace person", "measure",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", BUGS)
def test_a_seeded_bug_is_found(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    patch, sql, norm, unit, part = BUGS[name]
    options: dict[str, Any] = {"norms": (norm,), "pairs": 40, "giants": 1, "series": name, "shrunk": 0}
    assert auto(unit).replay(sql, **options).check().holds
    patch(monkeypatch)
    found = auto(unit).replay(sql, **options)
    assert not found.holds
    assert any(violation.part.startswith(part) for violation in found.violations)


def test_a_violation_of_the_choice_is_made_small(monkeypatch: pytest.MonkeyPatch) -> None:
    _in_each_group(monkeypatch)
    found = auto("add-remove person").replay(BY_KEY, norms=(1,), pairs=40, giants=0, series="small", shrunk=1)
    (first, *_) = found.violations
    assert first.part == "choice"
    # Two rows of one person in each of two groups: whoever has one is on the lowest rung, above which nobody lies.
    assert first.pair.size == 4
    assert "limits: auto" in str(first)
