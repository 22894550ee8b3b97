"""Arithmetic without errors: integers are exact, and NULL beyond ±2^126; decimal numbers stay in their range.

What is not proved to stay there is looked at once more. See ../meaning.py for the range, and ../operators.md.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Final

from sqlglot import exp

from quincunx.data import decimal_parts
from quincunx.table import interval, meaning
from quincunx.table.engines.dialect import Dialect
from quincunx.table.engines.typed_sql import (
    INTEGERS,
    Piece,
    binary,
    call,
    cast,
    choose,
    double,
    integer_type,
    text,
    whole,
)
from quincunx.table.expression import Call, Expression, Literal

# Bounds within a quarter of the type's range: a bound of a cast decimal may be missed by a rounding error.
_BIGINT: Final = 2**61
_HUGEINT: Final = 2**124
# The largest integer is 2^126.
_BITS: Final = 126


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
        sizes = [piece.size for piece in pieces]
        bits = sum(sizes) if kind is exp.Mul else max(sizes) + 1
        return _whole(d, node, pieces, lambda *sides: binary(kind, *(side.sql for side in sides)), bits)

    return emit


def _whole(
    d: Dialect, node: Call, pieces: list[Piece], build: Callable[..., exp.Expression], bits: int | None = None
) -> Piece:
    """An integer operation in the smallest type that is proved to hold operands and result, or guarded.

    bits: |result| ≤ 2^bits, by the sizes of the operands; the largest of them where nothing is said.
    """
    bits = max(piece.size for piece in pieces) if bits is None else bits
    if all(piece.type == "BIGINT" for piece in pieces) and all(
        within(part, _BIGINT) for part in (node, *node.arguments)
    ):
        return Piece(sql=build(*pieces), type="BIGINT")
    wide = build(*(piece.to("HUGEINT") for piece in pieces))
    if bits <= _BITS:
        return Piece(sql=wide, type="HUGEINT", bits=bits)
    safe = all(within(part, _HUGEINT) for part in (node, *node.arguments))
    return Piece(sql=wide if safe else whole_range(d.guarded(wide)), type="HUGEINT")


def whole_range(sql: exp.Expression) -> exp.Expression:
    """NULL for a whole number beyond ±2^126."""
    inside = exp.Between(this=sql, low=whole(-interval.LARGEST), high=whole(interval.LARGEST))
    return choose([(inside, sql.copy())], exp.null())


def no_nan(sql: exp.Expression) -> exp.Expression:
    """NULL for NaN, which engines take as equal to itself."""
    return call("NULLIF", sql, cast(text("nan"), "DOUBLE"))


def _decimal(node: Call, sql: exp.Expression) -> Piece:
    # Finite operands with a finite result cannot give NaN; everything else is guarded.
    finite = all(part.bounded for part in (node, *node.arguments))
    value = sql if finite else no_nan(sql)
    return ranged(value, small=not meaning.kept_small(node), large=not meaning.kept_large(node))


def ranged(sql: exp.Expression, *, small: bool = True, large: bool = True) -> Piece:
    """A double that is no NaN, in the range of decimal numbers: 0 where it is too small, infinite where too large."""
    cases: list[tuple[exp.Expression, exp.Expression]] = []
    if small:
        tiny = exp.LT(this=call("ABS", sql.copy()), expression=double(meaning.SMALLEST))
        cases.append((tiny, double(Fraction(0))))
    if large:
        above = exp.GT(this=sql.copy(), expression=double(meaning.LARGEST))
        below = exp.LT(this=sql.copy(), expression=double(-meaning.LARGEST))
        cases += [(above, infinite()), (below, infinite(-1))]
    return Piece(sql=choose(cases, sql) if cases else sql, type="DOUBLE")


def infinite(sign: int = 1) -> exp.Expression:
    """An infinite number as a constant."""
    return cast(text("inf" if sign > 0 else "-inf"), "DOUBLE")


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
    # x − y·⌊x / y⌋ cut toward zero, in doubles: the one remainder that every engine can compute.
    x, y = (piece.to("DOUBLE") for piece in pieces)
    by = _not_zero(y, double(Fraction(0))).sql
    times = d.rounding("trunc", d.arithmetic(exp.Div, x.sql.copy(), by), ())
    taken = d.arithmetic(exp.Mul, y.sql.copy(), times)
    return ranged(no_nan(d.arithmetic(exp.Sub, x.sql, taken)))


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
    rounded = d.rounding(node.operator, pieces[0].to("DOUBLE").sql, places)
    # Whole multiples of 10^−15 are not too small; ⌊x⌋ and ⌈x⌉ are no larger than 2^500, which is whole.
    return ranged(rounded, small=False, large=node.operator == "round" and not meaning.kept_large(node))


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


def rounded(d: Dialect, x: Piece, kind: str) -> Piece:
    """⌊x + 1/2⌋ of a decimal number, exactly, as an integer of a type; NULL where x is infinite or beyond ±2^126.

    A double x is ⌊x⌋, and one more where x − ⌊x⌋, which is exact from 1/2 on, is at least 1/2.
    """
    parts = decimal_parts(x.type)
    if parts is not None and sum(parts) <= 38:
        return _rounded_decimal(d, x, parts[1], kind)
    y = x.to("DOUBLE").sql
    down = d.rounding("floor", y.copy(), ())
    above = exp.GTE(this=binary(exp.Sub, y.copy(), down), expression=double(Fraction(1, 2)))
    limit = Fraction(2**62 if kind == "BIGINT" else interval.LARGEST)
    known = exp.Between(this=y, low=double(-limit), high=double(limit))
    nearest = choose([(above, d.arithmetic(exp.Add, down.copy(), double(Fraction(1))))], down.copy())
    return Piece(sql=choose([(known, d.attempt(Piece(sql=nearest, type="DOUBLE"), kind))], exp.null()), type=kind)


def _rounded_decimal(d: Dialect, x: Piece, scale: int, kind: str) -> Piece:
    """The same of DECIMAL(w,s), w + s ≤ 38: with u = x·10^s it is ⌊(2u + 10^s) / (2·10^s)⌋, a quotient of integers."""
    if not scale:
        return Piece(sql=whole_range(cast(x.sql, "HUGEINT")), type="HUGEINT").to(kind)
    unit, wide = 10**scale, cast(x.sql, f"DECIMAL(38,{scale})")
    unscaled = cast(binary(exp.Mul, wide, cast(text(str(unit)), f"DECIMAL({scale + 1},0)")), "HUGEINT")
    # The quotient is cut toward zero, so the numerator is first made positive.
    shift = 10 ** (38 - 2 * scale)
    moved = binary(exp.Mul, unscaled, cast(text("2"), "HUGEINT"))
    moved = binary(exp.Add, moved, cast(text(str(unit + 2 * unit * shift)), "HUGEINT"))
    by = Piece(sql=cast(text(str(2 * unit)), "HUGEINT"), type="HUGEINT")
    steps = d.quotient(Piece(sql=moved, type="HUGEINT"), by)
    return Piece(sql=binary(exp.Sub, steps, cast(text(str(shift)), "HUGEINT")), type="HUGEINT").to(kind)


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
