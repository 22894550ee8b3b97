"""Small worlds: columns whose possible values can all be listed, NULL among them where they are nullable."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from fractions import Fraction

from quincunx.table.expression import Column, Expression

Number = int | Fraction | None

# (low, high, nullable) of every small column.
RANGES = [
    (low, high, nullable)
    for low, high in [(-2, -1), (-2, 1), (0, 0), (0, 2), (1, 3), (-1, 0)]
    for nullable in (False, True)
]


def column(low: int | None, high: int | None, nullable: bool, kind: str = "integer") -> Column:
    ends = (None if low is None else Fraction(low), None if high is None else Fraction(high))
    return Column(name="x", type=kind, nullable=nullable, low=ends[0], high=ends[1], step=Fraction(1))


def possible(low: int, high: int, nullable: bool) -> list[Number]:
    return [*range(low, high + 1), *([None] if nullable else [])]


def worlds(count: int) -> Iterator[tuple[list[Column], list[tuple[Number, ...]]]]:
    """Every choice of `count` small columns, with all rows that they allow."""
    for chosen in itertools.product(RANGES, repeat=count):
        rows = list(itertools.product(*(possible(*each) for each in chosen)))
        yield [column(*each) for each in chosen], rows


def contradiction(expression: Expression, results: list[Number]) -> str:
    """What listed results contradict; "loose" is no contradiction and is told apart."""
    if None in results and not expression.nullable:
        return "NULL"
    numbers = [result for result in results if result is not None]
    if any(expression.low is not None and number < expression.low for number in numbers):
        return "below"
    if any(expression.high is not None and number > expression.high for number in numbers):
        return "above"
    if any(expression.step is not None and (number / expression.step) % 1 for number in numbers):
        return "off the lattice"
    return ""


def tight(expression: Expression, results: list[Number]) -> bool:
    """Whether bounds and NULL are exactly those of the results."""
    numbers = [result for result in results if result is not None]
    ends = (min(numbers), max(numbers)) if numbers else (expression.low, expression.high)
    return (expression.low, expression.high) == ends and expression.nullable == (None in results)
