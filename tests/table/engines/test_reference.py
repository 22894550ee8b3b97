"""The engine equals the definition, number by number, on tables full of awkward values."""

from __future__ import annotations

import random
from dataclasses import replace
from fractions import Fraction

import pytest

from quincunx.spec.unit import AddRemove, Replace
from quincunx.table.aggregates import Factor
from tests.table import reference, worlds

DAYS = AddRemove(key="person", per={"column": "day", "period": "week"})


@pytest.mark.parametrize("norm", [1, 2])
@pytest.mark.parametrize("limits", worlds.LIMITS, ids=str)
@pytest.mark.parametrize("seed", range(2))
def test_public_keys_equal_the_definition(norm: int, limits: dict[str, int], seed: int) -> None:
    source = random.Random(f"{limits} {seed}")
    data = worlds.rows(source, people=8, most=40)
    engine, declared = worlds.world(data, AddRemove(key="person"), limits)
    for question in worlds.QUESTIONS:
        program = worlds.planned(question, declared, norm)
        found = worlds.by_key(engine.run(program))
        wanted, _ = reference.run(program, declared, data)
        assert found == wanted, question


@pytest.mark.parametrize("norm", [1, 2])
@pytest.mark.parametrize("limits", [limits for limits in worlds.LIMITS if "groups" in limits], ids=str)
def test_unknown_keys_equal_the_definition(norm: int, limits: dict[str, int]) -> None:
    data = worlds.rows(random.Random(str(limits)), people=8, most=30)
    engine, declared = worlds.world(data, AddRemove(key="person"), limits)
    for question in worlds.UNKNOWN:
        program = worlds.planned(question, declared, norm)
        result = engine.run(program)
        wanted, votes = reference.run(program, declared, data)
        assert worlds.by_key(result) == wanted, question
        assert result.selection is not None
        assert dict(zip(result.keys, result.selection.tolist(), strict=True)) == votes, question


@pytest.mark.parametrize("unit", [AddRemove(), DAYS, Replace(key="person", group=3)], ids=repr)
@pytest.mark.parametrize("norm", [1, 2])
def test_other_units_equal_the_definition(unit: AddRemove | Replace, norm: int) -> None:
    data = worlds.rows(random.Random("units"), people=8, most=25)
    engine, declared = worlds.world(data, unit, {"rows": 2, "groups": 3})
    plain = [text for text in worlds.QUESTIONS if (unit.per is None and unit.key) or "DISTINCT person" not in text]
    for question in [*plain, worlds.UNKNOWN[0], *worlds.UNKNOWN[2:]]:
        program = worlds.planned(question, declared, norm)
        result = engine.run(program)
        wanted, votes = reference.run(program, declared, data)
        assert worlds.by_key(result) == wanted, question
        if votes is not None and result.selection is not None:
            assert dict(zip(result.keys, result.selection.tolist(), strict=True)) == votes


@pytest.mark.parametrize("norm", [1, 2])
@pytest.mark.parametrize(("one", "two"), [("age", "age"), ("age", "cost"), ("cost", "price")])
def test_products_equal_the_definition(norm: int, one: str, two: str) -> None:
    """Sums of products of two arguments, each on its own lattice, clipped and centred."""
    data = worlds.rows(random.Random(f"{one} {two}"), people=8, most=40)
    engine, declared = worlds.world(data, AddRemove(key="person"), {"rows": 3, "groups": 2})
    asked = f"SELECT region, AVG({one}) AS a, AVG({two}) FILTER (WHERE age > 20) AS b FROM t GROUP BY region"
    program = worlds.planned(asked, declared, norm)
    sums = [program.measures[part[0]] for part in program.parts]
    factors = tuple(Factor.of(each.argument, each.lattice) for each in sums if each.argument is not None)
    assert len(factors) == 2
    high = sums[0].lattice.size * sums[-1].lattice.size // 2
    product = replace(sums[0], argument=None, factors=factors, step=Fraction(1), low=-high, high=high, centre=high // 3)
    multiplied = replace(program, measures=(product, *program.measures))
    found = worlds.by_key(engine.run(multiplied))
    wanted, _ = reference.run(multiplied, declared, data)
    assert found == wanted
    assert any(numbers[0] for numbers in found.values())
    assert "factors" in str(product.canonical())
    assert "factors" not in str(sums[0].canonical())


def test_threads_change_nothing() -> None:
    data = worlds.rows(random.Random("threads"), people=200, most=60)
    limits = {"rows": 4, "groups": 2}
    single, declared = worlds.world(data, AddRemove(key="person"), limits, threads=1)
    several, _ = worlds.world(data, AddRemove(key="person"), limits, threads=4)
    for question in (*worlds.QUESTIONS, *worlds.UNKNOWN):
        program = worlds.planned(question, declared, 2)
        one, four = single.run(program), several.run(program)
        assert one.keys == four.keys
        assert all((a == b).all() for a, b in zip(one.measures, four.measures, strict=True))
        assert (one.selection is None) == (four.selection is None)
        assert one.selection is None or (one.selection == four.selection).all()


def test_an_empty_table_has_zeros_for_public_keys_and_no_unknown_ones() -> None:
    engine, declared = worlds.world([], AddRemove(key="person"), {"rows": 4, "groups": 2})
    for question in worlds.QUESTIONS:
        result = engine.run(worlds.planned(question, declared, 1))
        assert all(not measure.any() for measure in result.measures)
        assert len(result.keys) == len(result.measures[0]) > 0
    unknown = engine.run(worlds.planned(worlds.UNKNOWN[0], declared, 1))
    assert unknown.keys == []
    assert unknown.selection is not None
    assert len(unknown.selection) == 0
