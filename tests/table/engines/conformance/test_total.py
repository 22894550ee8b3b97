"""Every operator over awkward values: no engine fails, and each gives what plain Python says that it means."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
from sqlglot import exp

from quincunx.table.engines.dialect import Dialect
from quincunx.table.engines.emission import emit
from quincunx.table.engines.rows import Rows, layered
from quincunx.table.engines.scan import read
from quincunx.table.expression import Call, Column, Expression, Slot
from quincunx.table.operators import OPERATORS, apply, cast, literal
from quincunx.table.schema import ColumnSchema
from tests.table.engines import test_emission as ordinary
from tests.table.engines.conformance import definition, worlds
from tests.table.engines.conformance.engines import Place

KINDS = {"BIGINT": "integer", "DOUBLE": "decimal", "VARCHAR": "text", "DATE": "date", "TIMESTAMP": "timestamp"}
D, E, S = ordinary.D, ordinary.E, ordinary.S


def nested(depth: int) -> Expression:
    """Products, sums and quotients inside of each other, each of which may leave the range."""
    found: Expression = D
    for _ in range(depth):
        found = apply("divide", apply("add", apply("multiply", found, D), E), apply("subtract", D, literal(1)))
    return found


# Columns without bounds, and everything that operators are nested in.
EXPRESSIONS = [
    expression
    for _, expression, _ in ordinary.CASES
    if not any(isinstance(node, Column) and node.bounded for node in expression.walk())
] + [
    apply("divide", literal(1), D),
    apply("divide", D, apply("negate", literal(Fraction(0)))),
    apply("multiply", D, literal(Fraction(1, 10))),
    apply("multiply", apply("multiply", D, D), apply("multiply", E, E)),
    apply("divide", apply("divide", D, E), apply("divide", E, D)),
    apply("remainder", D, E),
    apply("remainder", E, literal(7)),
    apply("round", D, literal(0)),
    apply("round", apply("multiply", D, E), literal(15)),
    apply("clamp", apply("clamp", apply("divide", D, E), literal(-5), literal(5)), literal(0), literal(3)),
    cast(apply("add", D, literal(Fraction(1, 2))), "integer"),
    cast(apply("trim", apply("join", literal(" "), S)), "decimal"),
    cast(cast(ordinary.WIDE, "text"), "decimal"),
    cast(apply("lower", S), "boolean"),
    nested(2),
    nested(6),
]  # fmt: skip


def selected(expressions: list[Expression]) -> Any:
    """A statement of all of them, with the number of the row."""

    def build(d: Dialect, relation: exp.Expression, storages: Mapping[str, str]) -> exp.Select:
        columns = {
            Slot(name): read(d, ColumnSchema(name=name, type=KINDS.get(kind, "boolean")), storages[name])
            for name, kind in {"n": "BIGINT", **worlds.NASTY}.items()
        }
        below, made = layered(d, Rows(relation=relation, columns=columns, owners={}, conditions=()), expressions, "l")
        chosen = [emit(d, each, below.columns, made).sql for each in expressions]
        aliased = [exp.alias_(each, f"e{i}") for i, each in enumerate(chosen)]
        return exp.select(below.columns[Slot("n")].sql, *aliased).from_(below.relation)

    return build


def test_every_operator_is_asked_of_every_engine() -> None:
    used = {node.operator for each in EXPRESSIONS for node in each.walk() if isinstance(node, Call)}
    assert used == set(OPERATORS)
    assert set(definition._DOUBLES) | set(definition._OTHERS) | set(definition._CHOICES) | {"cast"} == set(OPERATORS)


@pytest.mark.parametrize("start", range(0, len(EXPRESSIONS), 15))
def test_every_operator_means_what_it_is_said_to(place: Place, start: int) -> None:
    data = worlds.nasty()
    expressions = EXPRESSIONS[start : start + 15]
    found = sorted(place.fetched(data, selected(expressions)))
    assert len(found) == len(data.rows)
    for row, (number, *values) in zip(data.rows, found, strict=True):
        assert number == row["n"]
        for expression, given in zip(expressions, values, strict=True):
            wanted = definition.value(expression, row)
            assert _plain(given) == _plain(wanted), (_shown(expression), row)


def _plain(value: Any) -> Any:
    """Numbers as numbers; whether it is a condition, a date or a moment stays."""
    if isinstance(value, Decimal):
        return int(value)
    return (type(value), value) if isinstance(value, bool) else value


def _shown(expression: Expression) -> str:
    if isinstance(expression, Call):
        return f"{expression.operator}({', '.join(map(_shown, expression.arguments))}) {expression.type}"
    return str(getattr(expression, "name", getattr(expression, "value", "")))


def test_nested_arithmetic_does_not_grow(place: Place) -> None:
    """Written out, nine levels would be more than 4^9 times as long as one."""
    columns = {"d": "DOUBLE", "e": "DOUBLE", "n": "BIGINT", **worlds.NASTY}

    def length(depth: int) -> int:
        select = selected([nested(depth)])(place.dialect, exp.to_table("nasty"), columns)
        return len(place.dialect.written(select))

    assert length(9) < 5 * length(3)
