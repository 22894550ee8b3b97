"""Equal integers: every question gives on every engine what is written down, which the definition in Python checks."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from typing import Any

import pytest

from quincunx.table.engines import evaluate
from quincunx.table.engines.emission import EMISSIONS
from quincunx.table.expression import Call
from quincunx.table.sql import read
from tests.table import reference
from tests.table.engines.conformance import golden, worlds
from tests.table.engines.conformance.engines import InDuckDB, Place
from tests.table.engines.conformance.questions import CONDITIONS, questions

GOLDEN = json.loads(golden.PATH.read_text(encoding="utf-8"))
ALL = [(text, norm) for text in questions() for norm in golden.NORMS]
# Of which the definition in Python knows every operator.
DEFINED = (
    "SELECT COUNT(*) FROM visits",
    "SELECT region, COUNT(DISTINCT person), COUNT(DISTINCT person) FILTER (WHERE flag) FROM visits GROUP BY 1",
    "SELECT SUM(age), SUM(cost), SUM(price), SUM(big) FROM visits",
    "SELECT COUNT(*) AS n FROM visits WHERE raw > 0",
    "SELECT COUNT(*) AS n FROM visits WHERE wide = 3",
)


def asked(*, ci: bool, full: bool) -> list[tuple[str, int]]:
    """All questions in both norms; in CI each in one; a few of all kinds by default."""
    if full:
        return ALL
    return [each for i, each in enumerate(ALL[::2] if ci else ALL[:: len(ALL) // 24]) for each in [_turn(i, each)]]


def _turn(i: int, each: tuple[str, int]) -> tuple[str, int]:
    return each[0], golden.NORMS[i % 2]


def test_there_are_enough_questions_and_every_operator_is_among_them() -> None:
    assert len(questions()) >= 300
    assert list(GOLDEN) == [f"{norm} {text}" for text, norm in ALL]
    assert not any(":" in each for each in GOLDEN.values()), "none is refused"
    with InDuckDB().opened(worlds.empty()) as (_, declared):
        used = set()
        for each in CONDITIONS:
            query = read(f"SELECT COUNT(*) AS n FROM visits WHERE {each}", declared, evaluate)
            parts = [part for relation in query.rows.walk() for part in relation.expressions]
            used |= {node.operator for part in parts for node in part.walk() if isinstance(node, Call)}
    assert used == set(EMISSIONS)


def test_the_integers_are_those_that_are_written_down(place: Place, ci: bool, full: bool) -> None:
    chosen = asked(ci=ci, full=full)[:: 1 if full else place.every]
    assert len(chosen) >= 20
    found = golden.answered(place, worlds.tables(), chosen)
    assert len(found) == len(chosen)
    assert {name: each for name, each in found.items() if GOLDEN[name] != each} == {}


@pytest.mark.parametrize("norm", golden.NORMS)
def test_they_are_those_of_the_definition(place: Place, norm: int) -> None:
    data = worlds.tables()
    rows = [{name: _read(name, value) for name, value in row.items()} for row in data["visits"].rows]
    with place.opened(data) as (engine, declared):
        for text in DEFINED:
            program = golden.planned(text, declared, norm)
            result = engine.run(program)
            found = {key: [int(each[i]) for each in result.measures] for i, key in enumerate(result.keys)}
            wanted, _ = reference.run(program, declared, rows)
            assert found == wanted, text


def _read(name: str, value: Any) -> Any:
    """A double as the language reads it; one with bounds is moved into them even where it is too large."""
    if isinstance(value, float) and (abs(value) < 2.0**-500 or name == "raw"):
        return 0.0 if abs(value) < 2.0**-500 else value
    return int(value) if name == "big" and value is not None else value


def test_the_order_of_rows_changes_nothing(place: Place) -> None:
    data = worlds.tables()
    shuffled = {
        name: replace(each, rows=random.Random(name).sample(each.rows, len(each.rows))) for name, each in data.items()
    }
    chosen = ALL[7 :: len(ALL) // 10]
    with place.opened(shuffled) as (engine, declared):
        found = golden.digests(engine, declared, chosen)
    assert found == {name: GOLDEN[name] for name in found}


def test_tables_without_rows_are_answered(place: Place) -> None:
    with place.opened(worlds.empty()) as (engine, declared):
        for text, norm in ALL[:: len(ALL) // 20]:
            result = engine.run(golden.planned(text, declared, norm))
            assert all(not any(flat) for flat in golden.exact(result)[2:]), text
            for measures in golden.exact(result)[1]:
                assert not any(measures if isinstance(measures, list) else [measures]), text
