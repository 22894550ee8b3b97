"""Whole numbers of up to 38 digits: sums and quotients that Spark's own would round, wrap or refuse. See dialect.md."""

from __future__ import annotations

from functools import reduce
from typing import Final

from sqlglot import exp

from quincunx.table.engines.typed_sql import Piece, binary, call, cast, text, whole

# A quotient of two DECIMAL(38,0) has six decimal places, and room for 32 digits before them.
_PLACES: Final = 6
# Whoever is at most so large has a quotient of at most 32 digits by any whole number.
_SHORT: Final = 106
# DIV gives a BIGINT, and wraps in silence.
_SMALL: Final = 62
# So many bits of numbers are added up by themselves: 2^46 rows stay within 62 bits.
_PART: Final = 16
_TRIED: Final[dict[type[exp.Expression], str]] = {exp.Add: "TRY_ADD", exp.Sub: "TRY_SUBTRACT", exp.Mul: "TRY_MULTIPLY"}


def total(x: Piece) -> exp.Expression:
    """The sum as a HUGEINT. One of BIGINT raises where it leaves 64 bits, so that it is of a few bits at a time."""
    if x.type != "BIGINT":
        return exp.Sum(this=cast(x.sql, "HUGEINT"))
    *lower, last = range(0, max(1, x.size), _PART)
    # x = Σ (⌊x / 2^place⌋ mod 2^16)·2^place over the lower places, and ⌊x / 2^last⌋·2^last, which has the sign.
    parts = [_from(exp.BitwiseAnd(this=_shifted(x, place), expression=whole(2**_PART - 1)), place) for place in lower]
    return reduce(lambda one, other: binary(exp.Add, one, other), [*parts, _from(_shifted(x, last), last)])


def _shifted(x: Piece, place: int) -> exp.Expression:
    return call("SHIFTRIGHT", x.sql.copy(), exp.Literal.number(place)) if place else x.sql.copy()


def _from(bits: exp.Expression, place: int) -> exp.Expression:
    """The sum of bits that stand at a place."""
    added = cast(exp.Sum(this=bits), "HUGEINT")
    return binary(exp.Mul, added, cast(text(str(1 << place)), "HUGEINT")) if place else added


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
