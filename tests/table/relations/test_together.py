"""What relations that look at several rows of one person know of themselves: slots, owners, limits, unused columns."""

from __future__ import annotations

import pytest

from quincunx.table.operators import apply
from quincunx.table.relations import Fold, Relation, SemiJoin, Window, Windowed
from tests.table.relations.test_relations import AGE, DAY, SCAN, TABLE, chain

OTHER = SCAN.shifted(1)


def windowed() -> Window:
    renamed = chain()[2]
    key, _ = renamed.columns
    first = Window.over(renamed, Windowed(function="row_number", partition=(key,)))
    return Window.over(first, Windowed(function="lag", arguments=(key,), partition=(key,)))


def relations() -> list[Relation]:
    age = chain()[2].columns[1]
    return [
        windowed(),
        SemiJoin.of(SCAN, OTHER, ((DAY, OTHER.columns[2]),), exists=False),
        SemiJoin.of(chain()[2], OTHER, (), condition=apply("less", age, OTHER.columns[1]), exists=True),
        SemiJoin.of(SCAN, OTHER, (), condition=apply("less", AGE, OTHER.columns[1]), exists=True),
    ]


@pytest.mark.parametrize("relation", relations(), ids=lambda each: each.tag)
def test_owner_and_limits_are_those_of_the_rows(relation: Relation) -> None:
    assert relation.owner == SCAN.owner
    assert relation.limits == TABLE.limits
    assert not relation.rowwise


@pytest.mark.parametrize("relation", relations(), ids=lambda each: each.tag)
def test_another_reading_shares_no_slot(relation: Relation) -> None:
    other = relation.shifted(2)
    assert list(other.tables) == [number + 2 for number in relation.tables]
    assert {column.slot for column in other.columns}.isdisjoint(column.slot for column in relation.columns)
    assert other.shifted(-2) == relation
    assert other.fused().shifted(-2) == relation.fused()


@pytest.mark.parametrize("relation", relations(), ids=lambda each: each.tag)
def test_a_column_that_nobody_uses_is_not_made(relation: Relation) -> None:
    made = relation.columns[-1]
    assert made.slot in relation.made
    assert relation.narrowed(frozenset({made.slot})).columns[-1] == made
    assert made not in relation.narrowed(frozenset()).columns


def test_windows_over_the_same_rows_are_one_relation() -> None:
    found = windowed()
    assert [each.function for _, each in found.functions] == ["row_number", "lag"]
    assert found.source == chain()[2]
    number = found.columns[-2]
    above = Window.over(found, Windowed(fold=Fold(kind="greatest", argument=number), partition=(found.columns[0],)))
    assert above.source == found
    assert len({column.slot for column in above.columns}) == len(above.columns)


def test_ties_of_what_was_computed_are_broken_by_what_it_was_computed_from() -> None:
    """−0.0 and 0.0 are alike in an order and differ in 1/x; scanned columns have one zero."""
    assert windowed().ties == chain()[2].columns
    fused = windowed().fused()
    assert isinstance(fused, Window)
    assert [each.name for each in fused.ties] == ["person", "age"]
    assert all(not each.level for each in fused.ties)
