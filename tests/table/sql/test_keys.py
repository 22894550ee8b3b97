"""Which keys are public, and what they are: from declarations and the question alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

import duckdb
import pytest

from quincunx.errors import RefusalError
from quincunx.spec.unit import AddRemove
from quincunx.table.expression import Expression, Slot, Value
from quincunx.table.schema import ColumnSchema, Schema, TableSchema
from quincunx.table.sql import keys, read
from tests.table.sql.shown import shown
from tests.table.sql.visits import SCHEMA

CALLS: dict[str, str] = {
    "upper(region)": "upper(region)",
    "join(region, '-', cast[text](rating))": "region || '-' || rating::VARCHAR",
    "whole_divide(rating, 2)": "rating // 2",
}


def evaluate(expressions: Sequence[Expression], columns: Mapping[Slot, Sequence[Value]]) -> list[list[Value]]:
    """Computes what the tests below need with plain DuckDB, independently of the product's engine."""
    connection = duckdb.connect()
    rows = list(zip(*columns.values(), strict=True))
    found = []
    for expression in expressions:
        values: list[Value] = []
        for row in rows:
            names = ", ".join(f"? AS {slot.name}" for slot in columns)
            sql = f"SELECT {CALLS[shown(expression)]} FROM (SELECT {names})"
            values.append(connection.execute(sql, list(row)).fetchall()[0][0])
        found.append(values)
    return found


def values_of(key: str) -> tuple[Value, ...] | None:
    return read(f"SELECT COUNT(*) FROM visits GROUP BY {key}", SCHEMA, evaluate).keys[0].values


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        ("region", ("north", "south")),
        ("rating", (1, 2, 3, 4, 5)),
        ("smoker", (True, False, None)),
        ("smoker IS NULL", (True, False)),
        ("age > 3", (True, False, None)),
        ("CASE WHEN age < 18 THEN 'child' WHEN age < 65 THEN 'adult' ELSE 'old' END", ("child", "adult", "old")),
        ("CASE WHEN age < 18 THEN 'child' END", ("child", None)),
        ("CASE WHEN smoker THEN region ELSE 'other' END", ("north", "south", "other")),
        ("CASE WHEN smoker THEN 1 ELSE 2.5 END", (Fraction(1), Fraction(5, 2))),
        ("COALESCE(region, 'none')", ("north", "south", "none")),
        ("NULLIF(region, 'north')", ("north", "south", None)),
        ("UPPER(region)", ("NORTH", "SOUTH")),
        ("rating // 2", (0, 1, 2)),
        (
            "region || '-' || CAST(rating AS VARCHAR)",
            tuple(f"{region}-{rating}" for rating in range(1, 6) for region in ("north", "south")),
        ),
        ("note", None),
        ("UPPER(note)", None),
        ("CASE WHEN smoker THEN note ELSE 'x' END", None),
        ("COALESCE(note, 'x')", None),
        ("rating / 2", None),
    ],
)
def test_the_values_of_a_key(key: str, expected: tuple[Value, ...] | None) -> None:
    found = values_of(key)
    assert found is None if expected is None else found is not None and set(found) == set(expected)
    if expected is not None and found is not None and len(expected) < 6:
        assert found == expected


def test_without_evaluation_an_expression_is_unknown() -> None:
    assert read("SELECT COUNT(*) FROM visits GROUP BY UPPER(region)", SCHEMA).keys[0].values is None


def test_keys_are_known_through_subqueries() -> None:
    sql = "SELECT COUNT(*) FROM (SELECT UPPER(r) AS big FROM (SELECT region AS r FROM visits) AS s) AS t GROUP BY big"
    assert read(sql, SCHEMA, evaluate).keys[0].values == ("NORTH", "SOUTH")


def test_a_redefined_column_has_lost_its_keys() -> None:
    sql = "SELECT COUNT(*) FROM (SELECT note AS region FROM visits) AS s GROUP BY region"
    assert read(sql, SCHEMA, evaluate).keys[0].values is None


def test_one_unknown_key_makes_the_combination_unknown() -> None:
    assert read("SELECT COUNT(*) FROM visits GROUP BY region", SCHEMA).known_keys
    assert read("SELECT COUNT(*) FROM visits", SCHEMA).known_keys
    assert not read("SELECT COUNT(*) FROM visits GROUP BY region, note", SCHEMA).known_keys


def large(count: int) -> Schema:
    columns = tuple(ColumnSchema(name=name, type="integer", keys=tuple(range(count))) for name in ("a", "b", "c"))
    return Schema(tables={"t": TableSchema(name="t", columns=columns)}, unit=AddRemove())


def test_too_many_groups_are_refused() -> None:
    read("SELECT COUNT(*) FROM t GROUP BY a, b, c", large(100))
    with pytest.raises(RefusalError, match="more than 1,048,576 groups"):
        read("SELECT COUNT(*) FROM t GROUP BY a, b, c", large(102))


def test_too_many_combinations_are_not_evaluated() -> None:
    def never(*_args: object) -> list[list[Value]]:
        raise AssertionError("evaluated")

    assert read("SELECT COUNT(*) FROM t GROUP BY a + b", large(400), never).keys[0].values is None
    assert keys.COMBINATIONS == 100_000


def test_values_of_booleans_and_numbers_are_kept_apart() -> None:
    found = values_of("CASE WHEN smoker THEN 1 ELSE 0 END")
    assert found == (1, 0)
    assert [type(value) for value in found or ()] == [int, int]
