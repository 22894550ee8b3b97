"""Public keys: the values that a GROUP BY expression can take, from declarations and the question alone.

Known are: columns with declared keys; conditions; CASE, COALESCE and NULLIF of known outcomes; and any other expression
of columns with declared keys, evaluated on all their combinations. Everything else is unknown, unless its values follow
from what is declared (derived.py).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Final, TypeAlias

from quincunx.table.expression import Call, Column, Expression, Literal, Value
from quincunx.table.schema import TableSchema

# Expressions over named columns of public values → the values of each expression, row by row.
Evaluate: TypeAlias = Callable[[Sequence[Expression], Mapping[str, Sequence[Value]]], Sequence[Sequence[Value]]]

COMBINATIONS: Final = 100_000
GROUPS: Final = 2**20


def values(base: Expression, table: TableSchema, evaluate: Evaluate | None) -> tuple[Value, ...] | None:
    """The public values of an expression over the table's columns, or None where they are unknown."""
    found = _outcomes(base, table)
    if found is None and evaluate is not None:
        found = _evaluated(base, table, evaluate)
    return None if found is None else _different(_typed(value, base.type) for value in found)


def _outcomes(expression: Expression, table: TableSchema) -> list[Value] | None:
    if isinstance(expression, Literal):
        return [expression.value]
    if isinstance(expression, Column):
        declared = table.column(expression.name)
        if declared is not None and declared.keys is not None:
            return list(declared.keys)
    if isinstance(expression, Call) and expression.operator in _CHOICES:
        chosen = _CHOICES[expression.operator](expression, table)
        if chosen is not None:
            return chosen
    if expression.type == "boolean":
        return [True, False, None] if expression.nullable else [True, False]
    return None


def _case(expression: Call, table: TableSchema) -> list[Value] | None:
    last = len(expression.arguments) - 1
    return _union([expression.arguments[i] for i in (*range(1, last, 2), last)], table)


def _coalesce(expression: Call, table: TableSchema) -> list[Value] | None:
    found = _union(expression.arguments, table)
    return None if found is None else [value for value in found if value is not None or expression.nullable]


def _nullif(expression: Call, table: TableSchema) -> list[Value] | None:
    found = _outcomes(expression.arguments[0], table)
    return None if found is None else [*found, None]


_CHOICES: Final[Mapping[str, Callable[[Call, TableSchema], list[Value] | None]]] = {
    "case": _case,
    "coalesce": _coalesce,
    "nullif": _nullif,
}


def _union(parts: Iterable[Expression], table: TableSchema) -> list[Value] | None:
    found: list[Value] = []
    for part in parts:
        outcomes = _outcomes(part, table)
        if outcomes is None:
            return None
        found += outcomes
    return found


def _evaluated(base: Expression, table: TableSchema, evaluate: Evaluate) -> list[Value] | None:
    names = sorted({part.name for part in base.walk() if isinstance(part, Column)})
    lists: list[tuple[Value, ...]] = []
    for name in names:
        declared = table.column(name)
        if declared is None or declared.keys is None:
            return None
        lists.append(declared.keys)
    # Decimal results come from floating-point arithmetic and are no exact keys.
    if not names or base.type == "decimal" or math.prod(map(len, lists)) > COMBINATIONS:
        return None
    rows = list(itertools.product(*lists))
    columns = {name: [row[i] for row in rows] for i, name in enumerate(names)}
    return list(evaluate([base], columns)[0])


def _typed(value: Value, kind: str) -> Value:
    return Fraction(value) if kind == "decimal" and isinstance(value, int) else value


def _different(found: Iterable[Value]) -> tuple[Value, ...]:
    return tuple(dict.fromkeys(found))
