"""Generated pairs are neighbours under the unit itself, and hold everything that has broken a library before."""

from __future__ import annotations

import random
from collections import Counter
from datetime import datetime

import pytest

from quincunx.audit.tables.neighbours import GIANT, Maker
from quincunx.audit.tables.values import STORAGE, extremes, listed, pool
from quincunx.audit.tables.world import Pair, Piece, Row
from quincunx.spec.unit import AddRemove, Replace
from quincunx.table.schema import TableSchema
from tests.audit.tables.scenes import SALES, UNITS, VISITS, column, scene


def maker(unit: str, limits: str = "rows + groups", series: str = "pairs") -> Maker:
    each = scene(unit, limits)
    kinds = {c.name.lower(): STORAGE[c.type] for c in each.table.columns}
    return Maker(table=each.table, unit=each.schema.unit, storage=kinds, source=random.Random(series))


def view(rows: tuple[Row, ...], unit: AddRemove | Replace) -> Counter[object]:
    """Pieces as the unit defines them, found from the rows alone; rows of nobody are nobody's pieces."""
    names = [each.name for each in VISITS.columns]
    if unit.key is None:
        return Counter(rows)
    owned: dict[object, Counter[Row]] = {}
    for row in rows:
        person, moment = row[names.index(unit.key)], None if unit.per is None else row[names.index(unit.per.column)]
        if person is None or (unit.per is not None and moment is None):
            continue
        period = None if unit.per is None or moment is None else unit.per.of(datetime.fromisoformat(moment))
        owned.setdefault((person, period), Counter())[row] += 1
    return Counter((owner, frozenset(held.items())) for owner, held in owned.items())


@pytest.mark.parametrize("unit", UNITS)
def test_pairs_are_neighbours(unit: str) -> None:
    made = maker(unit)
    changed = 0
    for pair in made.pairs(150):
        first, second = (view(world, made.unit) for world in pair.worlds)
        distance = made.unit.changes(first, second)
        assert distance <= made.unit.group, pair.kind
        changed = max(changed, int(distance))
    # The whole group changes in some pair.
    assert changed == made.unit.group


@pytest.mark.parametrize("unit", ["add-remove person", "replace person"])
def test_worlds_hold_what_breaks_things(unit: str) -> None:
    pairs = maker(unit).pairs(200, giants=1)
    names = [each.name for each in VISITS.columns]
    rows = [row for pair in pairs[1:] for world in pair.worlds for row in world]
    seen = {name: {row[i] for row in rows} for i, name in enumerate(names)}
    assert {"nan", "inf", "-inf", "-0.0", "1e300", None, "50.05", "-57.77"} <= seen["cost"]
    assert {"9007199254740993", "111", "-1", None} <= seen["age"]
    assert {"a", "süd", "東京", None, "o'brien"} <= seen["region"]
    assert {"1969-12-31", "0001-01-01", "infinity"} <= seen["day"]
    assert None in seen["person"]
    assert any(not pair.common for pair in pairs)
    assert any(not world for pair in pairs for world in pair.worlds) == (unit == "add-remove person")
    assert any(len(piece.rows) == GIANT for piece in (*pairs[0].before, *pairs[0].after))
    # A replaced person who moves to another group, and one who stays the same person.
    if unit == "replace person":
        assert any(pair.before[0].owner == pair.after[0].owner for pair in pairs)
        assert any(pair.before[0].owner != pair.after[0].owner for pair in pairs)
        assert any(
            {row[1] for row in pair.before[0].rows}.isdisjoint(row[1] for row in pair.after[0].rows) for pair in pairs
        )


def test_pools_follow_the_declaration() -> None:
    age, cost = VISITS.column("age"), SALES.column("cost")
    assert age is not None
    assert cost is not None
    assert extremes(age) == ("0", "110")
    assert extremes(cost) == ("0.0005", "99.9995")
    assert extremes(column("note", "text")) is None
    assert {"-1", "111", "55"} <= set(pool(age, "BIGINT"))
    assert str(2**100) in pool(age, "HUGEINT")
    assert str(2**100) not in pool(age, "BIGINT")
    assert "süd" in pool(age, "VARCHAR")
    assert listed(VISITS.columns[1]) == ("a", "süd", "東京", None)
    assert listed(VISITS.columns[7]) == ("true", "false")
    assert pool(VISITS.columns[2], "BIGINT")[0] is None


def test_a_pair_knows_its_worlds() -> None:
    piece = Piece(owner=("1",), rows=(("1",), ("1",)))
    pair = Pair(kind="x", common=(piece,), before=(), after=(Piece(owner=("2",), rows=(("2",),)),))
    assert pair.worlds == ((("1",), ("1",)), (("1",), ("1",), ("2",)))
    assert pair.size == 5


@pytest.mark.parametrize("unit", [AddRemove(), Replace()], ids=lambda unit: unit.kind)
def test_no_world_is_paired_with_itself(unit: AddRemove | Replace) -> None:
    """One column of two values draws the same row twice as often as not."""
    table = TableSchema(name="t", columns=(column("flag", "boolean", keys=(True, False)),))
    for pair in Maker(table=table, unit=unit, storage={"flag": "BOOLEAN"}, source=random.Random(3)).pairs(100):
        first, second = pair.worlds
        assert Counter(first) != Counter(second)
