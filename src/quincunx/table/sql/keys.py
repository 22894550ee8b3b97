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

from quincunx.table.expression import Call, Column, Expression, Literal, Slot, Value
from quincunx.table.schema import ColumnSchema

# Expressions over columns of public values → the values of each expression, row by row.
Evaluate: TypeAlias = Callable[[Sequence[Expression], Mapping[Slot, Sequence[Value]]], Sequence[Sequence[Value]]]
# What is declared of a scanned column.
Declared: TypeAlias = Callable[[Column], ColumnSchema | None]

COMBINATIONS: Final = 100_000
GROUPS: Final = 2**20


def values(base: Expression, declared: Declared, evaluate: Evaluate | None) -> tuple[Value, ...] | None:
    """The public values of an expression over scanned columns, or None where they are unknown."""
    found = _outcomes(base, declared)
    if found is None and evaluate is not None:
        found = _evaluated(base, declared, evaluate)
    return None if found is None else _different(_typed(value, base.type) for value in found)


def _outcomes(expression: Expression, declared: Declared) -> list[Value] | None:
    if isinstance(expression, Literal):
        return [expression.value]
    if isinstance(expression, Column):
        column = declared(expression)
        if column is not None and column.keys is not None:
            return list(column.keys)
    if isinstance(expression, Call) and expression.operator in _CHOICES:
        chosen = _CHOICES[expression.operator](expression, declared)
        if chosen is not None:
            return chosen
    if expression.type == "boolean":
        return [True, False, None] if expression.nullable else [True, False]
    return None


def _case(expression: Call, declared: Declared) -> list[Value] | None:
    last = len(expression.arguments) - 1
    return _union([expression.arguments[i] for i in (*range(1, last, 2), last)], declared)


def _coalesce(expression: Call, declared: Declared) -> list[Value] | None:
    found = _union(expression.arguments, declared)
    return None if found is None else [value for value in found if value is not None or expression.nullable]


def _nullif(expression: Call, declared: Declared) -> list[Value] | None:
    found = _outcomes(expression.arguments[0], declared)
    return None if found is None else [*found, None]


_CHOICES: Final[Mapping[str, Callable[[Call, Declared], list[Value] | None]]] = {
    "case": _case,
    "coalesce": _coalesce,
    "nullif": _nullif,
}


def _union(parts: Iterable[Expression], declared: Declared) -> list[Value] | None:
    found: list[Value] = []
    for part in parts:
        outcomes = _outcomes(part, declared)
        if outcomes is None:
            return None
        found += outcomes
    return found


def _evaluated(base: Expression, declared: Declared, evaluate: Evaluate) -> list[Value] | None:
    columns = {column.slot: declared(column) for column in base.columns()}
    slots = sorted(columns)
    lists: list[tuple[Value, ...]] = []
    for slot in slots:
        column = columns[slot]
        if column is None or column.keys is None:
            return None
        lists.append(column.keys)
    # Decimal results come from floating-point arithmetic and are no exact keys.
    if not slots or base.type == "decimal" or math.prod(map(len, lists)) > COMBINATIONS:
        return None
    rows = list(itertools.product(*lists))
    return list(evaluate([base], {slot: [row[i] for row in rows] for i, slot in enumerate(slots)})[0])


def _typed(value: Value, kind: str) -> Value:
    return Fraction(value) if kind == "decimal" and isinstance(value, int) else value


def _different(found: Iterable[Value]) -> tuple[Value, ...]:
    return tuple(dict.fromkeys(found))
