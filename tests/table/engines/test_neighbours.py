"""Neighbouring tables: the exact vectors move by at most what the program declares, in its norm."""

from __future__ import annotations

import random
from fractions import Fraction

import pytest

from quincunx.spec.unit import AddRemove, Replace
from quincunx.table.engines import Result
from quincunx.table.measure import Program
from tests.table import worlds
from tests.table.reference import Row

UNITS = (
    AddRemove(key="person"),
    Replace(key="person"),
    AddRemove(key="person", group=3),
    Replace(key="person", group=3),
    AddRemove(key="person", per={"column": "day", "period": "month"}),
    AddRemove(),
    Replace(),
)


def neighbour(source: random.Random, data: list[Row], unit: AddRemove | Replace) -> list[Row]:
    """The data after `unit.group` changes, with newcomers who have as many rows as they like."""
    people = sorted({row["person"] for row in data if row["person"] is not None})
    changed = list(data)
    for person in source.sample(people, unit.group):
        if unit.key is None:
            changed.pop(source.randrange(len(changed)))
            newcomer = [worlds.person_rows(source, 1_000 + person, 1)[0]]
        elif unit.per is not None:
            mine = [row["day"] for row in changed if row["person"] == person and row["day"] is not None]
            day = source.choice(mine) if mine else None
            changed = [row for row in changed if row["person"] != person or row["day"] != day or day is None]
            newcomer = []
        else:
            changed = [row for row in changed if row["person"] != person]
            newcomer = [{**row, "person": 1_000 + person} for row in worlds.person_rows(source, 0, 60)]
            newcomer = [row for row in newcomer if row["region"] is not None] if source.random() < 0.5 else newcomer
        if isinstance(unit, Replace):
            changed += newcomer
    return changed


def moved2(norm: int, before: dict[tuple[object, ...], int], after: dict[tuple[object, ...], int]) -> int:
    """The square of the distance between two vectors; a missing group is zero."""
    gaps = [abs(before.get(key, 0) - after.get(key, 0)) for key in {*before, *after}]
    return sum(gaps) ** 2 if norm == 1 else sum(gap**2 for gap in gaps)


def vector(result: Result, i: int) -> dict[tuple[object, ...], int]:
    return dict(zip(result.keys, result.measures[i].tolist(), strict=True))


def check(program: Program, before: Result, after: Result) -> list[Fraction]:
    """How much of each sensitivity was used; raises where it was exceeded."""
    used = []
    for i, measure in enumerate(program.measures):
        moved = moved2(measure.vector.norm, vector(before, i), vector(after, i))
        assert moved <= measure.sensitivity2, (program.query.aggregates, measure)
        used.append(moved / measure.sensitivity2)
    if program.selection is not None and before.selection is not None and after.selection is not None:
        votes = [dict(zip(each.keys, each.selection.tolist(), strict=True)) for each in (before, after)]  # type: ignore[union-attr]
        assert moved2(program.selection.norm, *votes) <= program.selection.sensitivity2 * 4**program.selection.bits
    return used


@pytest.mark.parametrize("unit", UNITS, ids=repr)
@pytest.mark.parametrize("norm", [1, 2])
def test_neighbours_are_as_close_as_declared(unit: AddRemove | Replace, norm: int) -> None:
    source, most = random.Random(f"{unit} {norm}"), Fraction(0)
    for limits in ({"rows": 3, "groups": 2}, {"per_group": 2, "groups": 3}, {"rows": 1, "groups": 1}):
        data = worlds.rows(source, people=6, most=30)
        before, declared = worlds.world(data, unit, limits)
        after, _ = worlds.world(neighbour(source, data, unit), unit, limits)
        for question in (*worlds.QUESTIONS[1:8], *worlds.UNKNOWN[:2]):
            if "DISTINCT" in question and (unit.key is None or unit.per is not None):
                continue
            program = worlds.planned(question, declared, norm)
            # Unknown keys: only groups that somebody votes for are in the result, so a group may come or go with all
            # of its people; the measures are compared on the groups that both results have.
            first, second = before.run(program), after.run(program)
            if program.selection is None:
                most = max(most, *check(program, first, second))
            else:
                shared = [key for key in first.keys if key in set(second.keys)]
                check(program, _only(first, shared), _only(second, shared))
    # Random worlds come at least a third of the way; the test below goes all of it.
    assert most > Fraction(1, 9)


def _only(result: Result, keys: list[tuple[object, ...]]) -> Result:
    places = [result.keys.index(key) for key in keys]  # type: ignore[arg-type]
    votes = None if result.selection is None else result.selection[places]
    return Result(keys=keys, measures=tuple(each[places] for each in result.measures), selection=votes)  # type: ignore[arg-type]


def full(person: int, region: str, age: int, count: int = 6) -> list[Row]:
    """A person at twice the limit, so that no weight is rounded, with all rows in one group."""
    base: Row = dict.fromkeys(worlds.TYPES)
    return [{**base, "person": person, "region": region, "age": age, "flag": True} for _ in range(count)]


@pytest.mark.parametrize("group", [1, 3])
@pytest.mark.parametrize("norm", [1, 2])
@pytest.mark.parametrize("kind", [AddRemove, Replace])
def test_the_bounds_are_reached(kind: type[AddRemove] | type[Replace], norm: int, group: int) -> None:
    """Sensitivities are not only kept: the worst neighbours are exactly that far apart, so none could be smaller."""
    unit = kind(key="person", group=group)
    common = full(100, "süd", 30, 2)
    leaving = [row for person in range(group) for row in full(person, "north", 110)]
    coming = [row for person in range(group) for row in full(50 + person, "süd", 110)]
    opposite = [row for person in range(group) for row in full(50 + person, "north", 0)]
    limits = {"rows": 3, "groups": 3}
    first, declared = worlds.world(common + leaving, unit, limits)
    moved, _ = worlds.world(common + (coming if kind is Replace else []), unit, limits)
    turned, _ = worlds.world(common + (opposite if kind is Replace else []), unit, limits)
    for question, other in (
        ("SELECT region, COUNT(*) AS n FROM t GROUP BY region", moved),
        ("SELECT region, SUM(age) AS s FROM t GROUP BY region", moved),
        # A centred sum changes its sign, so that it moves by twice a contribution in one group.
        ("SELECT region, AVG(age) AS m FROM t GROUP BY region", turned),
    ):
        program = worlds.planned(question, declared, norm)
        assert check(program, first.run(program), other.run(program))[0] == 1, question
    alone = worlds.planned("SELECT COUNT(*) AS n FROM t", declared, norm)
    nobody, _ = worlds.world(common + [{**row, "person": row["person"] + 50} for row in leaving[::6]], unit, limits)
    used = check(alone, first.run(alone), nobody.run(alone))[0]
    # Without groups a replaced person is worth the difference of two counts: 3 against 1 here, 3 against 0 at most.
    assert used == Fraction(4, 9)


@pytest.mark.parametrize("norm", [1, 2])
@pytest.mark.parametrize("groups", [2, 3])
def test_votes_reach_their_bound(norm: int, groups: int) -> None:
    """One person in more groups than are counted has votes of norm one, but for rounding down."""
    rows = [row for age in range(20, 30) for row in full(1, "north", age, 2)]
    engine, declared = worlds.world(rows, AddRemove(key="person"), {"rows": 3, "groups": groups})
    program = worlds.planned("SELECT age, COUNT(*) AS n FROM t GROUP BY age", declared, norm)
    votes = engine.run(program).selection
    assert votes is not None
    assert len(votes) == groups
    total = sum(votes.tolist()) ** 2 if norm == 1 else sum(vote**2 for vote in votes.tolist())
    assert (2**20 - 3) ** 2 < total <= 4**20
