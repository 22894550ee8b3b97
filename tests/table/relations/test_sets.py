"""UNION, INTERSECT and EXCEPT: what is proved of their columns, whose they are, and what is refused."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pyarrow as pa
import pytest

from quincunx.errors import QueryError, RefusalError
from quincunx.spec import AddRemove
from quincunx.table import Table
from quincunx.table.engines import evaluate
from quincunx.table.relations import Scan, Sets, Way
from quincunx.table.relations import relation as room
from quincunx.table.schema import ColumnSchema, Limits, TableSchema
from quincunx.table.sql import read
from quincunx.table.table import schema

PERSON = AddRemove(key="person")


def table(name: str, high: int, limits: Limits) -> TableSchema:
    columns = (
        ColumnSchema(name="person", type="integer"),
        ColumnSchema(name="age", type="integer", bounds=(Fraction(0), Fraction(high))),
        ColumnSchema(name="region", type="text", keys=("north", "south")),
    )
    return TableSchema(name=name, columns=columns, limits=limits)


FIRST = Scan(table=table("a", 110, Limits(rows=7, groups=3)), unit=PERSON)
SECOND = Scan(table=table("b", 50, Limits(rows=2, groups=4, per_group=1)), unit=PERSON, number=1)


def sets(way: Way, left: tuple[int, ...] = (0, 1, 2), right: tuple[int, ...] = (0, 1, 2)) -> Sets:
    one, two = tuple(FIRST.columns[i] for i in left), tuple(SECOND.columns[i] for i in right)
    return Sets(way=way, first=FIRST, second=SECOND, left=one, right=two)


def test_owners_limits_and_facts() -> None:
    union, other = sets("union_all"), sets("except")
    assert union.limits == Limits(rows=9, groups=7)
    assert other.limits == FIRST.limits
    assert [(each.low, each.high) for each in union.columns] == [(None, None), (0, 110), (None, None)]
    assert union.licenses(0, union.columns[0])
    assert not union.licenses(0, union.columns[1])
    assert union.owner is not None
    assert union.owner.components[0].column == union.columns[0]
    # Declared alike on both sides, and not.
    assert union.declared(union.columns[2]) == FIRST.table.column("region")
    assert union.declared(union.columns[1]) is None
    moved = union.shifted(3)
    assert moved.shifted(-3) == union
    assert list(moved.columns) == [room.shifted(each, 3) for each in union.columns]


def test_what_compares_rows_shows_whose_they_are() -> None:
    ways: tuple[Way, ...] = ("intersect", "intersect_all", "except", "except_all")
    for way in ways:
        with pytest.raises(QueryError, match="without whose they are"):
            sets(way, (1,), (1,))
    loose = sets("union_all", (1,), (1,))
    assert not loose.licenses(0, loose.columns[0])
    assert loose.owner is not None
    assert not loose.owner.components[0].licensed


def test_sides_that_are_not_alike_are_no_relation() -> None:
    with pytest.raises(QueryError, match="different types"):
        sets("union_all", (0, 1), (0, 2))
    public = Scan(table=replace(SECOND.table, public=True), unit=PERSON, number=1)
    with pytest.raises(QueryError, match="both sides are rows of people"):
        Sets(way="union_all", first=FIRST, second=public, left=FIRST.columns[:1], right=public.columns[:1])


def test_a_key_of_two_types_is_nobody() -> None:
    tables = {
        "a": Table(pa.table({"k": [1], "x": [1]}), limits={"rows": 1}),
        "b": Table(pa.table({"k": ["01"], "x": [1]}), limits={"rows": 1}),
    }
    declared = schema(tables, AddRemove(key="k"))
    with pytest.raises(RefusalError, match="would become one person"):
        read("SELECT COUNT(*) AS n FROM (SELECT x FROM a UNION ALL SELECT x FROM b)", declared, evaluate)
