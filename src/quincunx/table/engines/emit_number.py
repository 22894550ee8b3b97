"""Arithmetic without errors: exact where the proved bounds fit an integer type, NULL on overflow elsewhere."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from sqlglot import exp

from quincunx.table.engines.dialect import Dialect
from quincunx.table.engines.typed_sql import INTEGERS, Piece, binary, call, cast, choose, integer_type, text, whole
from quincunx.table.expression import Call, Expression, Literal

# Bounds within a quarter of the type's range: a bound of a cast decimal may be missed by a rounding error.
_BIGINT: Final = 2**61
_HUGEINT: Final = 2**124


def within(expression: Expression, limit: int) -> bool:
    """Whether both bounds are proved to lie in ±limit."""
    low, high = expression.low, expression.high
    return low is not None and high is not None and -limit <= low and high <= limit


def is_integer(pieces: list[Piece]) -> bool:
    """Whether all are integers."""
    return all(piece.type in INTEGERS for piece in pieces)


def _arithmetic(kind: type[exp.Binary]) -> Callable[[Dialect, Call, list[Piece]], Piece]:
    def emit(d: Dialect, node: Call, pieces: list[Piece]) -> Piece:
        if not is_integer(pieces):
            return _decimal(node, d.arithmetic(kind, *(piece.to("DOUBLE").sql for piece in pieces)))
        return _whole(d, node, pieces, lambda *sides: binary(kind, *(side.sql for side in sides)))

    return emit


def _whole(d: Dialect, node: Call, pieces: list[Piece], build: Callable[..., exp.Expression]) -> Piece:
    """An integer operation in the smallest type that is proved to hold operands and result, or guarded."""
    if all(piece.type == "BIGINT" for piece in pieces) and all(
        within(part, _BIGINT) for part in (node, *node.arguments)
    ):
        return Piece(sql=build(*pieces), type="BIGINT")
    wide = build(*(piece.to("HUGEINT") for piece in pieces))
    safe = all(within(part, _HUGEINT) for part in (node, *node.arguments))
    return Piece(sql=wide if safe else d.guarded(wide), type="HUGEINT")


def no_nan(sql: exp.Expression) -> exp.Expression:
    """NULL for NaN, which engines take as equal to itself."""
    return call("NULLIF", sql, cast(text("nan"), "DOUBLE"))


def _decimal(node: Call, sql: exp.Expression) -> Piece:
    # Finite operands with a finite result cannot give NaN; everything else is guarded.
    finite = all(part.bounded for part in (node, *node.arguments))
    return Piece(sql=sql if finite else no_nan(sql), type="DOUBLE")


def _divide(d: Dialect, node: Call, pieces: list[Piece]) -> Piece:
    left, right = (piece.to("DOUBLE").sql for piece in pieces)
    return _decimal(node, d.arithmetic(exp.Div, left, right))


def _not_zero(piece: Piece, zero: exp.Expression) -> Piece:
    return Piece(sql=call("NULLIF", piece.sql, zero), type=piece.type)


def _whole_divide(d: Dialect, node: Call, pieces: list[Piece]) -> Piece:
    return _whole(d, node, pieces, lambda x, y: d.quotient(x, _not_zero(y, whole(0))))


def _remainder(d: Dialect, node: Call, pieces: list[Piece]) -> Piece:
    if is_integer(pieces):
        return _whole(d, node, pieces, lambda x, y: binary(exp.Mod, x.sql, _not_zero(y, whole(0)).sql))
    left, right = (piece.to("DOUBLE") for piece in pieces)
    by = _not_zero(right, cast(text("0"), "DOUBLE")).sql
    return Piece(sql=no_nan(binary(exp.Mod, left.sql, by)), type="DOUBLE")


def _negate(d: Dialect, node: Call, pieces: list[Piece]) -> Piece:
    if is_integer(pieces):
        return _whole(d, node, pieces, lambda x: binary(exp.Sub, whole(0), x.sql))
    return Piece(sql=exp.Paren(this=exp.Neg(this=pieces[0].to("DOUBLE").sql)), type="DOUBLE")


def _abs(d: Dialect, node: Call, pieces: list[Piece]) -> Piece:
    if is_integer(pieces):
        return _whole(d, node, pieces, lambda x: call("ABS", x.sql))
    return Piece(sql=call("ABS", pieces[0].to("DOUBLE").sql), type="DOUBLE")


def _rounding(d: Dialect, node: Call, pieces: list[Piece]) -> Piece:
    if is_integer(pieces[:1]):
        return pieces[0]
    places = [
        each.value if isinstance(each, Literal) and isinstance(each.value, int) else 0 for each in node.arguments[1:]
    ]
    return Piece(sql=no_nan(d.rounding(node.operator, pieces[0].to("DOUBLE").sql, places)), type="DOUBLE")


def _clamp(_d: Dialect, node: Call, pieces: list[Piece]) -> Piece:
    x = pieces[0]
    if x.type in INTEGERS:
        # The result's own bounds are the whole numbers inside the limits.
        low, high = int(node.low or 0), int(node.high or 0)
        return clipped(x.sql, whole(low), whole(high), integer_type(low, high))
    return clipped(x.to("DOUBLE").sql, pieces[1].to("DOUBLE").sql, pieces[2].to("DOUBLE").sql, "DOUBLE")


def clipped(x: exp.Expression, low: exp.Expression, high: exp.Expression, kind: str) -> Piece:
    """x moved into [low, high], as a type that holds both ends; NULL stays NULL, which LEAST would leave out."""
    inside = cast(call("LEAST", call("GREATEST", x.copy(), low), high), kind)
    return Piece(sql=choose([(exp.Is(this=x, expression=exp.null()), exp.null())], inside), type=kind)


EMISSIONS: Final = {
    "add": _arithmetic(exp.Add),
    "subtract": _arithmetic(exp.Sub),
    "multiply": _arithmetic(exp.Mul),
    "divide": _divide,
    "whole_divide": _whole_divide,
    "remainder": _remainder,
    "negate": _negate,
    "abs": _abs,
    "floor": _rounding,
    "ceil": _rounding,
    "round": _rounding,
    "clamp": _clamp,
}
