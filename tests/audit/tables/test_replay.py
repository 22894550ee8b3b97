"""Neighbour replay: at least 20,000 (question, pair) cases, every cell of the coverage, no violation."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from quincunx.audit import Replay, replay
from quincunx.audit.tables.distance import gaps
from quincunx.audit.tables.questions import accepted
from quincunx.audit.tables.report import EMPTY
from quincunx.errors import DataError, ParameterError, VerificationError
from quincunx.spec.unit import AddRemove
from quincunx.table.engines import Result
from quincunx.table.rules import plan
from quincunx.table.schema import Limits, Schema, TableSchema
from tests.audit.tables.scenes import LIMITS, UNITS, VISITS, Scene, scene, scenes

# Unit → the least number of cases that its test must compare; together more than the promised 20,000.
FLOORS = {
    "add-remove person": 3_000,
    "replace person": 3_000,
    "add-remove person x 3": 3_000,
    "replace person x 3": 3_000,
    "add-remove person-week": 1_800,
    "replace person-day": 1_700,
    "add-remove person-month x 3": 1_800,
    "add-remove row": 2_500,
    "replace row": 2_500,
}
PAIRS = 40
# One of each kind for a newcomer's run: people, groups of them replaced, periods.
QUICK = ("add-remove person", "replace person x 3", "add-remove person-week")


def replayed(each: Scene, pairs: int, count: int) -> Replay:
    """The fixed questions and `count` generated ones, in both norms, on worlds of their own."""
    total = EMPTY
    for norm in (1, 2):
        series = f"{each.unit}, {each.limits}, {norm}"
        total += each.replay(each.questions(), norms=(norm,), pairs=pairs, giants=1, series=series)
        total += each.replay(norms=(norm,), count=count, pairs=pairs, giants=0, series=f"generated {series}")
    return total


@pytest.mark.parametrize(
    "unit", [pytest.param(each, marks=() if each in QUICK else pytest.mark.ci) for each in UNITS], ids=UNITS
)
def test_neighbours_are_as_close_as_declared(unit: str, full: bool) -> None:
    total, wanted = EMPTY, set()
    for each in scenes():
        if each.unit == unit:
            total += replayed(each, PAIRS * (4 if full else 1), 8 if full else 2)
            wanted |= each.cells()
    print(f"\n{total}")
    total.check()
    assert total.cases >= FLOORS[unit]
    assert wanted <= {cell.kind for cell in total.cells}
    # The worlds are hard: for every aggregate some pair is as far apart as it may be, or nearly.
    for aggregate in {cell.aggregate for cell in total.cells}:
        assert max(cell.largest for cell in total.cells if cell.aggregate == aggregate) > 0.9, aggregate


def test_the_cases_are_as_many_as_promised() -> None:
    assert FLOORS.keys() == UNITS.keys()
    assert sum(FLOORS.values()) >= 20_000
    assert {each.limits for each in scenes()} == LIMITS.keys()


@pytest.mark.parametrize("unit", ["add-remove person", "replace person x 3", "add-remove person-week", "replace row"])
@pytest.mark.parametrize("norm", [1, 2])
def test_one_world_at_a_time_holds_too(unit: str, norm: int) -> None:
    """The plain way, as a session asks the engine: no world column, no world in owner or key."""
    each = scene(unit, "rows + groups + per_group")
    asked = each.questions()[:4]
    found = each.replay(asked, norms=(norm,), pairs=4, giants=1, series="plain", batched=False)
    assert found.check().cases == 4 * len(asked)


@pytest.mark.parametrize("unit", ["add-remove person", "replace person-day", "add-remove row"])
def test_both_ways_give_the_same_numbers(unit: str) -> None:
    each = scene(unit, "rows + groups + per_group")
    reports = [
        each.replay(each.questions()[1::2], norms=(2,), pairs=6, giants=0, series="same", batched=batched)
        for batched in (True, False)
    ]
    assert reports[0] == reports[1]
    assert reports[0].cases > 0


def test_equal_series_give_equal_reports() -> None:
    each = scene("add-remove person", "rows")
    first, second, other = (each.replay(pairs=6, count=4, giants=0, series=series) for series in (1, 1, 2))
    assert first == second != other


def test_a_refused_question_is_counted_and_not_a_case() -> None:
    each = scene("add-remove person", "rows")
    found = each.replay(["SELECT MODE(age) FROM visits", "SELECT COUNT(*) AS n FROM visits"], norms=(1,), pairs=4)
    assert (found.refused, found.cases) == (1, 4)


def test_every_private_table_is_asked_and_a_public_one_is_not() -> None:
    other = replace(VISITS, name="calls", limits=Limits(rows=2))
    public = TableSchema(name="regions", columns=VISITS.columns[:1], public=True)
    visits = replace(VISITS, limits=Limits(rows=2))
    schema = Schema(tables={"visits": visits, "calls": other, "regions": public}, unit=AddRemove(key="person"))
    found = replay(schema, norms=(1,), pairs=4, count=3, giants=0)
    assert found.holds
    assert found.cases + 4 * found.refused == 4 * 2 * 3
    with pytest.raises(DataError, match="no table is private"):
        replay(Schema(tables={"regions": public}, unit=AddRemove()))


def test_a_column_with_the_name_of_the_world_is_refused() -> None:
    columns = (*VISITS.columns, replace(VISITS.columns[0], name="World of replay"))
    schema = Schema(tables={"visits": replace(VISITS, columns=columns, limits=Limits(rows=1))}, unit=AddRemove())
    with pytest.raises(DataError, match="name that replay needs"):
        replay(schema, "SELECT COUNT(*) AS n FROM visits", pairs=2, giants=0)


def test_a_question_about_one_table_is_not_refused_by_another() -> None:
    other = replace(VISITS, name="calls", limits=Limits(rows=2))
    schema = Schema(tables={"visits": replace(VISITS, limits=Limits(rows=2)), "calls": other}, unit=AddRemove())
    found = replay(schema, "SELECT COUNT(*) AS n FROM calls", norms=(1,), pairs=4, giants=0)
    assert (found.cases, found.refused) == (4, 0)


def test_nothing_compared_is_not_a_check_that_passed() -> None:
    found = scene("add-remove person", "rows").replay("SELECT MODE(age) FROM visits", pairs=4)
    assert (found.cases, found.refused) == (0, 2)
    with pytest.raises(VerificationError, match="nothing was compared: 2 questions were refused"):
        found.check()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"pairs": 0}, "whole number, 1 or greater"),
        ({"norms": ()}, "norms are 1 and 2"),
        ({"norms": (3,)}, "norms are 1 and 2"),
        ({"storage": {"vists": {}}}, "no such table or column; got vists"),
        ({"storage": {"visits": {"agee": "VARCHAR"}}}, "no such table or column; got visits.agee"),
    ],
)
def test_a_parameter_that_would_compare_less_is_refused(options: dict[str, object], words: str) -> None:
    schema = scene("add-remove person", "rows").schema
    with pytest.raises(ParameterError, match=words):
        replay(schema, "SELECT COUNT(*) AS n FROM visits", **options)  # type: ignore[arg-type]


def test_results_of_different_lengths_are_not_stretched() -> None:
    """NumPy would compare one number with each of three."""
    one, three = (
        Result(keys=[()] * size, measures=(np.zeros(size, dtype=np.int64),), selection=None) for size in (1, 3)
    )
    schema = scene("add-remove person", "rows").schema
    query = accepted("SELECT COUNT(*) AS n FROM visits", schema)
    assert query is not None
    with pytest.raises(VerificationError, match="different numbers of groups"):
        gaps(plan(query, schema, 1), one, three)


def test_a_world_without_votes_is_an_error() -> None:
    schema = scene("add-remove person", "rows + groups").schema
    query = accepted("SELECT note, COUNT(*) AS n FROM visits GROUP BY note", schema)
    assert query is not None
    program = plan(query, schema, 1)
    empty = tuple(np.zeros(0, dtype=np.int64) for _ in program.measures)
    nothing = Result(keys=[], measures=empty, selection=None)
    with pytest.raises(VerificationError, match="no votes"):
        gaps(program, nothing, nothing)


def test_reports_add_up() -> None:
    each = scene("replace person", "rows", VISITS)
    one = replay(each.schema, "SELECT COUNT(*) AS n FROM visits", pairs=3, giants=0, storage=each.storage)
    both = one + one
    assert (both.cases, both.cells[0].cases) == (2 * one.cases, 2 * one.cells[0].cases)
    assert both.cells[0].largest == one.cells[0].largest
    assert "12 cases, 0 questions refused, 0 violations" in str(both)
    assert EMPTY + one == one
