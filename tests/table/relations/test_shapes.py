"""Every shape of shapes.toml: accepted ones are local and right on random worlds, refused ones would mix people."""

from __future__ import annotations

import tomllib
from contextlib import suppress
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from quincunx.errors import QuincunxError, RefusalError
from quincunx.table.engines import DuckDB, evaluate
from quincunx.table.engines.duckdb.dialect import DUCKDB
from quincunx.table.engines.statement import statement
from quincunx.table.rules import plan
from quincunx.table.sql import read
from tests.table.relations.locality import (
    LINKED,
    NUMBERS,
    PRIVATE,
    Numbers,
    Shape,
    World,
    declared,
    owners,
    question,
    rehearsed,
    worlds,
)

SHAPES: dict[str, list[dict[str, Any]]] = tomllib.loads(Path(__file__).with_name("shapes.toml").read_text("utf-8"))

# Nothing is linked to anybody.
NOBODY: World = {"E": [], **{name: [] for name in LINKED}}


def _named(kind: str) -> list[Any]:
    return [pytest.param(each, id=f"{each['name']}, {each.get('unit', 'person')}") for each in SHAPES.get(kind, [])]


def shape(given: dict[str, Any], numbers: Numbers = "whole") -> Shape:
    unit, right = given.get("unit", "person"), given.get("right", True)
    return Shape(sql=given["sql"], unit=unit, numbers=numbers, right=right)


def stored(given: dict[str, Any]) -> World:
    """The counterexample: rows by table, days as days of January 2024."""
    everything: dict[str, list[Any]] = {name: [] for name in (*PRIVATE, *LINKED)} | given["world"]
    return {
        name: [
            tuple(row)
            if name in LINKED
            else (row[0], date(2024, 1, row[1]), *(None if each == "NULL" else each for each in row[2:]))
            for row in rows
        ]
        for name, rows in everything.items()
    }


@pytest.mark.parametrize("numbers", NUMBERS)
@pytest.mark.parametrize("given", _named("accepted"))
def test_an_accepted_shape_is_local_and_right(given: dict[str, Any], numbers: Numbers, ci: bool, full: bool) -> None:
    if numbers not in given.get("numbers", NUMBERS):
        pytest.skip("about the other numbers")
    asked, rows = shape(given, numbers), 0
    for world in worlds(8 if ci else 2, numbers, given["name"]):
        found = asked.finding(world)
        assert not found, f"{found} on {world}"
        rows += sum(asked.relation(world).values())
    if full:
        # Two hundred more, all of them and everybody alone in them by one statement.
        assert asked.findings(list(worlds(200, numbers, f"{given['name']}, further"))) == []
    if ci:
        rehearsed(asked)
    # A relation without any row on all worlds would say nothing.
    assert rows


@pytest.mark.parametrize("given", _named("refused"))
def test_a_refused_shape_would_mix_people(given: dict[str, Any]) -> None:
    asked, world = shape(given), stored(given)
    assert len(owners(world, asked.unit)) > 1
    assert asked.mixes(world)
    _, known = declared(asked.unit, asked.numbers)
    with pytest.raises(RefusalError) as refused:
        plan(read(question(asked.sql), known, evaluate), known, 1)
    assert given["text"] in str(refused.value)


def test_lateral_is_local_and_refused_with_what_to_write() -> None:
    """The one shape of the design that is local and not built: QUALIFY says the same."""
    sql = "SELECT a.k,t.y FROM A a, LATERAL (SELECT b.y FROM B b WHERE b.k=a.k ORDER BY b.y,b.g,b.d LIMIT 1) t"
    _, known = declared("person", "whole")
    with pytest.raises(RefusalError, match=r"QUALIFY ROW_NUMBER\(\) OVER \(PARTITION BY …\) = 1"):
        read(question(sql), known, evaluate)


def test_the_kit_sees_what_mixes_people_and_what_depends_on_order(monkeypatch: pytest.MonkeyPatch) -> None:
    """Controls: a statement that compares people, one that depends on the order of rows, and one that is wrong."""
    sql = "SELECT k, x FROM A"
    whole = Shape(sql=sql, unit="person", numbers="whole")
    world: World = {"A": [(1, date(2024, 1, 1), 1, "a"), (2, date(2024, 1, 1), 2, "a")], "B": [], **NOBODY}
    assert not whole.finding(world)
    from tests.table.relations import locality

    written, tables = locality._written(whole)
    broken = {
        "not local": f"SELECT o0, k0, MAX(k1) OVER () AS k1 FROM ({written.sql})",
        "order": f"SELECT o0, k0, FIRST_VALUE(k1) OVER (PARTITION BY o0) AS k1 FROM ({written.sql})",
        "DuckDB": f"SELECT o0, k0, k1 + 1 AS k1 FROM ({written.sql})",
        "somebody else": f"SELECT 3 AS o0, k0, k1 FROM ({written.sql})",
    }
    twice: World = {"A": [(1, date(2024, 1, 1), 1, "a"), (1, date(2024, 1, 1), 2, "a")], "B": [], **NOBODY}
    for found, changed in broken.items():
        statement = replace(written, sql=changed)
        monkeypatch.setattr(locality, "_written", lambda _, now=statement: (now, tables))
        assert found in whole.finding(twice if found == "order" else world)


@pytest.mark.parametrize("snapshot", [False, True])
def test_what_was_found_of_sources_is_written_alike_again(snapshot: bool) -> None:
    """An engine keeps it for a program that was rehearsed: nothing that is written changes what it was written from."""
    tables, known = declared("person", "whole")
    given = [each for each in SHAPES["accepted"] if each.get("unit", "person") == "person"][::4]
    written = 0
    with DuckDB(tables, known, snapshot=snapshot) as engine:
        for each in given:
            # Some show columns without names, or decimals that are no keys.
            with suppress(QuincunxError):
                program = plan(read(question(each["sql"]), known, evaluate), known, 1)
                sources = engine._sources(program)
                texts = {statement(program, sources, DUCKDB).sql for _ in range(3)}
                assert texts == {engine.sql(program)}, each["name"]
                written += 1
    assert written > 15
