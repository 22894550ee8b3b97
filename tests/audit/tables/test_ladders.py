"""Replay of sums whose bounds are chosen: every unit and kind of limits holds, and seeded bugs are found."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from quincunx.table.engines import statement, weights
from quincunx.table.rules import scale
from quincunx.table.schema import Auto
from tests.audit.tables.bugs import Patch, wrapped
from tests.audit.tables.scenes import LIMITS, UNITS, VISITS, Scene, scene

BY_KEY = "SELECT region, SUM(cost) AS s, AVG(age) AS m, SUM(age) FILTER (WHERE flag) AS f FROM visits GROUP BY region"
TOTAL = "SELECT SUM(cost) AS s, AVG(cost) AS m FROM visits"
UNKNOWN = "SELECT note, SUM(cost) AS s FROM visits GROUP BY note"


def climbing(unit: str, limits: str, *, negative: bool = False) -> Scene:
    """VISITS with ladders in the place of bounds; their ends lie off the lattice of the step."""
    ladders = {
        "age": Auto(first=Fraction(2), last=Fraction(40)),
        "cost": Auto(first=Fraction("0.55"), last=Fraction("60.05"), negative=negative),
    }
    columns = tuple(
        replace(each, bounds=None, auto=ladders[each.name]) if each.name in ladders else each for each in VISITS.columns
    )
    return scene(unit, limits, replace(VISITS, columns=columns))


@pytest.mark.parametrize("unit", ["replace person", "add-remove person x 3", "replace row"])
def test_sums_with_chosen_bounds_hold(unit: str) -> None:
    found = climbing(unit, "rows", negative="replace" in unit).replay(BY_KEY, pairs=10, series=unit, shrunk=0)
    assert found.check().holds
    # One of the cells comes near what is declared.
    assert max(cell.largest for cell in found.cells) > 0.9


@pytest.mark.ci
@pytest.mark.parametrize("unit", UNITS)
def test_sums_with_chosen_bounds_hold_whatever_the_limits(unit: str, full: bool) -> None:
    for limits in list(LIMITS)[:-1] if full else ["groups + per_group"]:
        at = climbing(unit, limits, negative=len(limits) % 2 == 0)
        found = at.replay([TOTAL, UNKNOWN], pairs=24 if full else 8, series=f"{unit} {limits}", shrunk=0)
        assert found.check().holds


@pytest.mark.ci
def test_one_world_at_a_time_gives_the_same_report() -> None:
    at = climbing("replace person", "rows + groups")
    both = [
        at.replay(BY_KEY, norms=(2,), pairs=4, giants=0, series=7, shrunk=0, batched=each) for each in (True, False)
    ]
    assert both[0] == both[1]


def _of_ladders(change: Callable[[Any], Any]) -> Patch:
    return wrapped(
        scale,
        "_laddered",
        lambda original, *given: replace(found := original(*given), ladder=change(found.ladder)),
    )


def _the_sums_weights(original: Any, self: Any, i: int, ladder: Any) -> Any:
    del original, i, ladder
    return "heavy", self.among


BUGS: dict[str, tuple[Patch, str, int, str]] = {
    "the ladder with the sum's weights": (
        wrapped(statement._Writer, "_climbers", _the_sums_weights), BY_KEY, 2, "add-remove person",
    ),
    "the ladder not weighted": (
        _of_ladders(lambda each: replace(each, vector=replace(each.vector, bound2=10**6 * each.vector.bound2))),
        TOTAL, 1, "replace person",
    ),
    "the ladder priced for one of three": (
        _of_ladders(lambda ladder: replace(ladder, weight=ladder.weight // 3)), TOTAL, 1, "add-remove person x 3",
    ),
    "the ladder's C doubled in the engine": (
        wrapped(
            weights, "over_rows",
            lambda original, d, vector, *rest: original(
                d, replace(vector, bound2=4 * vector.bound2) if rest[2:] else vector, *rest
            ),
        ), TOTAL, 2, "add-remove person",
    ),
    "values not clipped at the rung": (
        wrapped(
            statement, "at_rung",
            lambda original, measure, *rest: original(replace(measure, high=9 * measure.high), *rest),
        ), TOTAL, 1, "add-remove person",
    ),
    "the noise of the rung below": (
        _of_ladders(
            lambda ladder: replace(
                ladder,
                rungs=tuple(
                    replace(rung, sensitivity2=below.sensitivity2)
                    for rung, below in zip(ladder.rungs, (ladder.rungs[0], *ladder.rungs), strict=False)
                ),
            )
        ), TOTAL, 1, "add-remove person",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", BUGS)
def test_a_seeded_bug_is_found(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    patch, sql, norm, unit = BUGS[name]
    at = climbing(unit, "rows")
    options: dict[str, Any] = {"norms": (norm,), "pairs": 20, "giants": 1, "series": name, "shrunk": 0}
    assert at.replay(sql, **options).check().holds
    patch(monkeypatch)
    found = at.replay(sql, **options)
    assert not found.holds
    assert any(violation.part.startswith("measure") for violation in found.violations)
