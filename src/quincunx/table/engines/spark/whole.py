"""Whole numbers of up to 38 digits: quotients that Spark's own would round, wrap or refuse. See dialect.md."""

from __future__ import annotations

from typing import Final

from sqlglot import exp

from quincunx.table.engines.typed_sql import Piece, binary, call, cast, text

# A quotient of two DECIMAL(38,0) has six decimal places, and room for 32 digits before them.
_PLACES: Final = 6
# Whoever is at most so large has a quotient of at most 32 digits by any whole number.
_SHORT: Final = 106
# DIV gives a BIGINT, and wraps in silence.
_SMALL: Final = 62
_TRIED: Final[dict[type[exp.Expression], str]] = {exp.Add: "TRY_ADD", exp.Sub: "TRY_SUBTRACT", exp.Mul: "TRY_MULTIPLY"}


def quotient(x: Piece, y: Piece) -> exp.Expression:
    """x / y, cut toward zero and exact; y is never 0, or it is NULL."""
    if x.type == y.type == "BIGINT":
        return binary(exp.IntDiv, x.sql, y.sql)
    wide, by = x.to("HUGEINT").sql, y.to("HUGEINT").sql
    if x.size <= _SMALL:
        return cast(binary(exp.IntDiv, wide, by), "HUGEINT")
    return _exact(wide, by) if x.size <= _SHORT else _long(wide, by)


def _long(x: exp.Expression, y: exp.Expression) -> exp.Expression:
    """In two steps of a long division: x = h·B + l, h = y·q + r, and what is left, r·B + l, is at most x in size."""
    base = cast(text(str(10**_PLACES)), "HUGEINT")
    high = _exact(x, base)
    left = binary(exp.Add, binary(exp.Mul, _remainder(high, y), base.copy()), _remainder(x, base))
    return binary(exp.Add, binary(exp.Mul, _exact(high, y), base.copy()), _exact(left, y))


def _exact(x: exp.Expression, y: exp.Expression) -> exp.Expression:
    """The quotient where it has at most 32 digits: what is divided is a multiple of y, so that nothing is rounded."""
    multiple = binary(exp.Sub, x.copy(), _remainder(x, y))
    divided = exp.Paren(this=exp.Div(this=multiple, expression=y.copy(), typed=True, safe=False))
    return cast(divided, "HUGEINT")


def _remainder(x: exp.Expression, y: exp.Expression) -> exp.Expression:
    return binary(exp.Mod, x.copy(), y.copy())


def guarded(operation: exp.Expression) -> exp.Expression:
    """The operation, NULL where 38 digits do not hold it. Quotients, remainders and ABS never need more."""
    inner = operation.this if isinstance(operation, exp.Paren) else operation
    name = _TRIED.get(type(inner))
    return operation if name is None else call(name, inner.this, inner.expression)
