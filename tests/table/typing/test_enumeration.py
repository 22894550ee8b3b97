"""Typing rules against enumeration: every small column, every row, an independent meaning of each operator."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import pytest

from quincunx.table.operators import apply, cast, literal
from tests.table.typing.worlds import RANGES, Number, column, contradiction, possible, tight, worlds


def strict(function: Callable[..., Number]) -> Callable[..., Number]:
    """NULL where an argument is."""
    return lambda *row: None if None in row else function(*row)


def chosen(pick: Callable[[list[int]], int]) -> Callable[..., Number]:
    """NULL arguments left out."""

    def result(*row: int | None) -> Number:
        there = [value for value in row if value is not None]
        return pick(there) if there else None

    return result


def first(*row: Number) -> Number:
    return next((value for value in row if value is not None), None)


def cut(x: int, y: int) -> Number:
    return None if y == 0 else math.trunc(Fraction(x, y))


def rest(x: int, y: int) -> Number:
    return None if y == 0 else x - y * math.trunc(Fraction(x, y))


# operator → its meaning, and whether the rule is exact on these worlds.
BINARY: dict[str, tuple[Callable[..., Number], bool]] = {
    "add": (strict(lambda x, y: x + y), True),
    "subtract": (strict(lambda x, y: x - y), True),
    "multiply": (strict(lambda x, y: x * y), True),
    "divide": (strict(lambda x, y: None if y == 0 else Fraction(x, y)), False),
    "whole_divide": (strict(cut), False),
    "remainder": (strict(rest), False),
    "least": (chosen(min), False),
    "greatest": (chosen(max), False),
    "coalesce": (first, True),
    "nullif": (lambda x, y: None if x is None or x == y else x, False),
}


@pytest.mark.parametrize("name", BINARY)
def test_two_arguments(name: str) -> None:
    meaning, exact = BINARY[name]
    for columns, rows in worlds(2):
        expression = apply(name, *columns)
        results = [meaning(*row) for row in rows]
        assert contradiction(expression, results) == "", columns
        if exact and not (name == "coalesce" and any(each.nullable and each.low == each.high for each in columns)):
            assert tight(expression, results), columns


@pytest.mark.parametrize("name", ["least", "greatest", "coalesce"])
def test_three_arguments(name: str) -> None:
    meaning = BINARY[name][0]
    for columns, rows in worlds(3):
        assert contradiction(apply(name, *columns), [meaning(*row) for row in rows]) == "", columns


UNARY: dict[str, Callable[[int], Number]] = {"negate": lambda x: -x, "abs": abs, "floor": math.floor, "ceil": math.ceil}


@pytest.mark.parametrize("name", UNARY)
def test_one_argument(name: str) -> None:
    for columns, rows in worlds(1):
        assert tight(apply(name, *columns), [strict(UNARY[name])(*row) for row in rows]), columns


@pytest.mark.parametrize("low", [-3, -1, 0, Fraction(1, 2), 2])
@pytest.mark.parametrize("width", [0, Fraction(1, 2), 1, 4])
@pytest.mark.parametrize("kind", ["integer", "decimal"])
def test_clamp(low: Fraction, width: Fraction, kind: str) -> None:
    low, high = Fraction(low), Fraction(low) + width
    if kind == "integer":
        low, high = Fraction(math.ceil(low)), Fraction(math.floor(high))
        if low > high:
            return
    for ends in RANGES:
        expression = apply("clamp", column(*ends, kind=kind), literal(low), literal(high))
        results = [None if value is None else min(max(Fraction(value), low), high) for value in possible(*ends)]
        assert tight(expression, results), ends
        assert contradiction(expression, results) == ""


def test_case() -> None:
    for columns, rows in worlds(2):
        for smoker in (True, False):
            condition = column(None, None, smoker, kind="boolean")
            expression = apply("case", condition, *columns)
            assert tight(expression, [value for row in rows for value in row])
            alone = apply("case", condition, columns[0], literal(None))
            assert tight(alone, [*(row[0] for row in rows), None])


@pytest.mark.parametrize("digits", [0, 1, 2])
def test_rounding(digits: int) -> None:
    unit = Fraction(1, 10**digits)
    for low in (Fraction(-27, 16), Fraction(0), Fraction(1, 3)):
        for high in (low, low + Fraction(5, 7), low + 3):
            x = column(None, None, False, kind="decimal")
            x = type(x)(name="x", type="decimal", nullable=False, low=low, high=high)
            expression = apply("round", x, literal(digits))
            values = [low + (high - low) * Fraction(i, 24) for i in range(25)]
            for half in (math.floor, math.ceil):
                results: list[Number] = [half(value / unit) * unit for value in values]
                assert contradiction(expression, results) == ""
            assert expression.step == unit


def test_casts_between_numbers() -> None:
    for ends in RANGES:
        x = column(*ends)
        assert tight(cast(x, "decimal"), possible(*ends))
        half = type(x)(
            name="x", type="decimal", nullable=ends[2], low=Fraction(ends[0]) - Fraction(1, 2), high=Fraction(ends[1])
        )
        results = [None if value is None else value - 1 for value in possible(*ends)] + possible(*ends)
        assert contradiction(cast(half, "integer"), results) == ""


def test_a_truth_as_a_number() -> None:
    for nullable in (True, False):
        assert tight(cast(column(None, None, nullable, kind="boolean"), "integer"), [0, 1, *([None] * nullable)])


def test_the_checks_themselves_can_fail() -> None:
    x = column(0, 4, False)
    assert [contradiction(x, [value]) for value in (None, -1, 5, Fraction(1, 2), 3)] == [
        "NULL",
        "below",
        "above",
        "off the lattice",
        "",
    ]
    assert not tight(x, [0, 3])
    assert tight(x, [0, 4])
