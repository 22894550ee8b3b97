"""EXISTS and IN beyond their shapes: how many pairs one person may make, moved keys, NULL, and what explains it."""

from __future__ import annotations

import random
from typing import Any

import pyarrow as pa
import pytest

from quincunx.errors import QueryError, RefusalError
from quincunx.spec import AddRemove
from quincunx.table import Table
from quincunx.table.engines import DuckDB, evaluate
from quincunx.table.rules import plan
from quincunx.table.sql import read
from quincunx.table.table import schema

UNIT = AddRemove(key="k")
LATER = "SELECT COUNT(*) AS n FROM a WHERE EXISTS (SELECT 1 FROM a AS b WHERE b.k = a.k AND b.x > a.x)"
ONE = 2**20


def table(keys: list[int], values: list[int | None], **given: Any) -> Table:
    frame = pa.table({"k": pa.array(keys, pa.int64()), "x": pa.array(values, pa.int64())})
    return Table(frame, limits={"rows": 10_000, **given.pop("limits", {})}, **given)


def measured(tables: dict[str, Table], sql: str) -> tuple[list[Any], tuple[str, ...]]:
    declared = schema(tables, UNIT)
    program = plan(read(sql, declared, evaluate), declared, 1)
    with DuckDB(tables, declared, threads=1) as engine:
        engine.rehearse(program)
        return [each.tolist() for each in engine.run(program).measures], program.biases


def test_who_would_make_too_many_pairs_has_none() -> None:
    """Three rows make nine pairs with themselves; two make four. NOT EXISTS is then true of all three."""
    given = table([1, 1, 1, 2, 2], [1, 2, 3, 1, 2], limits={"joined": 8})
    found, biases = measured({"a": given}, LATER)
    assert found == [[1 * ONE]]
    assert "People with more than 8 pairs of rows in EXISTS have none there." in biases
    found, _ = measured({"a": given}, LATER.replace("WHERE EXISTS", "WHERE NOT EXISTS"))
    assert found == [[4 * ONE]]
    found, _ = measured({"a": table([1, 1, 1, 2, 2], [1, 2, 3, 1, 2])}, LATER)
    assert found == [[3 * ONE]]


def test_one_person_with_thousands_of_rows_changes_nobody_else() -> None:
    """36 million pairs are not made: the question works with that person as without."""
    few = [1, 1, 2], [1, 2, 5]
    many = [3] * 6_000, list(range(6_000))
    assert measured({"a": table(*few)}, LATER)[0] == [[ONE]]
    assert measured({"a": table(few[0] + many[0], few[1] + many[1])}, LATER)[0] == [[ONE]]


def test_equalities_make_no_pairs() -> None:
    """They are looked up, so that nothing is bounded and nothing is lost."""
    sql = "SELECT COUNT(*) AS n FROM a WHERE EXISTS (SELECT 1 FROM a AS b WHERE b.k = a.k AND b.x = a.x)"
    found, biases = measured({"a": table([3] * 6_000, list(range(6_000)), limits={"joined": 1})}, sql)
    assert found == [[6_000 * ONE]]
    assert not any("pairs" in each for each in biases)


def test_the_number_of_pairs_is_part_of_the_question() -> None:
    names = set()
    for joined in (8, 9):
        declared = schema({"a": table([1], [1], limits={"joined": joined})}, UNIT)
        names.add(str(read(LATER, declared).rows.canonical()))
    assert len(names) == 2


def test_a_null_of_another_person_leaves_nothing_open() -> None:
    sql = "SELECT COUNT(*) AS n FROM a WHERE (k, x) NOT IN (SELECT k, x FROM b)"
    tables = {"a": table([1, 2], [1, 1]), "b": table([1, 2], [3, None])}
    # Of 1 it is known that 1 is not among its values, of 2 it is not.
    assert measured(tables, sql)[0] == [[ONE]]


def test_in_of_rows_is_three_valued_over_many_rows() -> None:
    """What the engine makes of it when rows fill several of its vectors, beside the definition, person by person."""
    chance = random.Random("many")
    mine = [(chance.randrange(300), chance.choice((None, 0, 1, 2, 3))) for _ in range(9_000)]
    theirs = [(chance.randrange(330), chance.choice((None, *range(12)))) for _ in range(3_000)]
    listed: dict[int, set[int | None]] = {}
    for who, y in theirs:
        listed.setdefault(who, set()).add(y)
    expected = {True: 0, False: 0, None: 0}
    for who, x in mine:
        among = listed.get(who, set())
        held = x in among and x is not None
        expected[True if held else None if among and (x is None or None in among) else False] += 1
    tables = {"a": table(*map(list, zip(*mine, strict=True))), "b": table(*map(list, zip(*theirs, strict=True)))}
    for value, where in ((True, "m"), (False, "NOT m"), (None, "m IS NULL")):
        sql = f"SELECT COUNT(*) AS n FROM (SELECT (k, x) IN (SELECT k, x FROM b) AS m FROM a) AS v WHERE {where}"
        assert expected[value] > 100
        assert measured(tables, sql)[0] == [[expected[value] * ONE]]


def test_keys_of_two_types_are_not_compared() -> None:
    frame = pa.table({"k": ["1", "01"], "x": [1, 2]})
    tables = {"a": table([1], [1]), "b": Table(frame, limits={"rows": 5})}
    with pytest.raises(QueryError, match="do not go together"):
        read("SELECT COUNT(*) AS n FROM a WHERE k IN (SELECT k FROM b)", schema(tables, UNIT))


def test_a_key_whose_values_are_moved_licenses_nothing() -> None:
    tables = {"a": table([1], [1]), "b": table([1], [1], columns={"k": {"bounds": (0, 1)}})}
    for sql in (
        "SELECT COUNT(*) AS n FROM a WHERE k IN (SELECT k FROM b)",
        "SELECT COUNT(*) AS n FROM a WHERE EXISTS (SELECT 1 FROM b WHERE a.k = b.k)",
    ):
        with pytest.raises(RefusalError, match="k has bounds, keys or decimals"):
            read(sql, schema(tables, UNIT))
