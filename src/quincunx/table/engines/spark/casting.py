"""Casts, quotients and roundings that raise for no value, where Spark's own would: see dialect.md."""

from __future__ import annotations

from fractions import Fraction
from typing import Final

from sqlglot import exp

from quincunx.table.engines import doubles
from quincunx.table.engines.typed_sql import Piece, binary, call, cast, choose, double, text, whole

# Where a double is cut in two, so that both parts are whole numbers of 64 bits.
_SPLIT: Final = 2**63
# From here on every double is whole.
_WHOLE: Final = 2**52
_DATES: Final = ("DATE", "TIMESTAMP")


def attempt(x: exp.Expression, kind: str) -> exp.Expression:
    """TRY_CAST: NULL where the value does not fit. sqlglot writes CAST unless it is told that this one is safe."""
    return exp.TryCast(this=x, to=exp.DataType.build(kind, dialect="duckdb"), safe=True)


def divided(x: exp.Expression, y: exp.Expression) -> exp.Expression:
    """x / y of doubles: infinite with the sign of x where y is 0, NULL of 0 / 0."""
    # TRY_DIVIDE is NULL where y is 0, whether or not the CASE keeps it from being worked out.
    return doubles.divided(x, y, lambda x, y: call("TRY_DIVIDE", x, y))


def rounded(operator: str, x: exp.Expression, places: int) -> exp.Expression:
    """floor, ceil, trunc or round of a double, as a double. Spark's are a BIGINT, and raise where it does not hold."""
    if operator != "round":
        return _whole(operator, x)
    return doubles.rounded(x, places, lambda x: _whole("trunc", x))


def _whole(operator: str, x: exp.Expression) -> exp.Expression:
    end = double(Fraction(_WHOLE))
    # Moved inside, the value is one that the BIGINT holds, even where the CASE does not take it.
    inside = within(x, double(Fraction(-_WHOLE)), end)
    cut = cast(inside, "BIGINT") if operator == "trunc" else call(operator.upper(), inside)
    small = exp.LT(this=call("ABS", x.copy()), expression=end.copy())
    return choose([(small, cast(cut, "DOUBLE"))], x.copy())


def within(x: exp.Expression, low: exp.Expression, high: exp.Expression) -> exp.Expression:
    """x moved between two ends."""
    return call("LEAST", call("GREATEST", x.copy(), low), high)


def attempted(x: Piece, kind: str) -> exp.Expression:
    """x as a value of another type, NULL where it has none; a text is of the type's grammar, a double whole."""
    if x.type in _DATES and kind not in (*_DATES, "VARCHAR"):
        return cast(exp.null(), kind)
    if x.type == "DOUBLE" and kind == "HUGEINT":
        return _wide(x.sql)
    return attempt(x.sql, kind)


def _wide(x: exp.Expression) -> exp.Expression:
    """A whole double within ±2^126. On its way to DECIMAL it would keep the digits that it prints, and keeps all to
    BIGINT.

    x = u·2^63 + r with u = x / 2^63 cut toward zero, and |r| < 2^63 with the sign of x. Doubles hold both: a quotient
    by a power of two is exact, and r is made of the last bits of x. At the upper end itself u would be 2^63.
    """
    unit = double(Fraction(_SPLIT))
    upper = attempt(doubles.quotient(x.copy(), unit), "BIGINT")
    rest = binary(exp.Sub, x, binary(exp.Mul, cast(upper.copy(), "DOUBLE"), unit.copy()))
    high, low = cast(upper, "HUGEINT"), cast(attempt(rest, "BIGINT"), "HUGEINT")
    joined = binary(exp.Add, binary(exp.Mul, high, cast(text(str(_SPLIT)), "HUGEINT")), low)
    return choose([(exp.EQ(this=x.copy(), expression=double(Fraction(_SPLIT**2))), whole(_SPLIT**2))], joined)
