"""Casts and quotients that raise for no value, where PostgreSQL's own would: see dialect.md."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Final

from sqlglot import exp

from quincunx.table.engines import doubles
from quincunx.table.engines.typed_sql import Piece, binary, call, cast, choose, double, text, whole

# Where a double is cut in two, so that both parts are whole numbers of 64 bits.
_SPLIT: Final = 2**63
_DATES: Final = ("DATE", "TIMESTAMP")


def divided(x: exp.Expression, y: exp.Expression) -> exp.Expression:
    """x / y of doubles: infinite with the sign of x where y is 0, NULL of 0 / 0."""
    # In a branch of its own the divisor is never 0; NULLIF keeps that true where both are constants.
    return doubles.divided(x, y, lambda x, y: doubles.quotient(x, call("NULLIF", y, double(Fraction(0)))))


def rounded(x: exp.Expression, places: int) -> exp.Expression:
    """A double to so many decimal places, halves away from zero; PostgreSQL's own takes them to the even side."""
    return doubles.rounded(x, places, lambda x: call("TRUNC", x))


def attempted(x: Piece, kind: str) -> exp.Expression:
    """x as a value of another type, NULL where it has none; a text is of the type's grammar, a double whole."""
    if kind == "BOOLEAN" and x.type not in ("VARCHAR", "BOOLEAN", "NULL"):
        return _null(kind) if x.type in _DATES else binary(exp.NEQ, x.sql, exp.Literal.number(0))
    if kind in _DATES and x.type not in (*_DATES, "VARCHAR", "NULL"):
        return _null(kind)
    if x.type in _DATES and kind not in (*_DATES, "VARCHAR"):
        return _null(kind)
    if x.type == "BOOLEAN" and kind != "BOOLEAN":
        no = exp.Not(this=x.sql.copy())
        return choose([(x.sql, cast(text("1"), kind)), (no, cast(text("0"), kind))], _null(kind))
    if x.type == "DOUBLE" and kind == "HUGEINT":
        return _wide(x.sql)
    if x.type == "HUGEINT" and kind == "BIGINT":
        inside = exp.Between(this=x.sql, low=whole(-(2**63)), high=whole(2**63 - 1))
        return choose([(inside, cast(x.sql.copy(), kind))], _null(kind))
    return cast(x.sql, kind)


def _null(kind: str) -> exp.Expression:
    return cast(exp.null(), kind)


def _wide(x: exp.Expression) -> exp.Expression:
    """A whole double within ±2^126. It would keep fifteen digits on its way to NUMERIC, and keeps all to BIGINT.

    x = u·2^63 + r with u = x / 2^63 cut toward zero, and |r| < 2^63 with the sign of x. Doubles hold both: a quotient
    by a power of two is exact, and r is made of the last bits of x. At the upper end itself u would be 2^63.
    """
    unit = double(Fraction(_SPLIT))
    upper = call("TRUNC", doubles.quotient(x.copy(), unit))
    rest = binary(exp.Sub, x, binary(exp.Mul, upper.copy(), unit.copy()))
    wide, low = (cast(cast(part, "BIGINT"), "HUGEINT") for part in (upper, rest))
    joined = binary(exp.Add, binary(exp.Mul, wide, cast(text(str(_SPLIT)), "HUGEINT")), low)
    return choose([(exp.EQ(this=x.copy(), expression=double(Fraction(_SPLIT**2))), whole(_SPLIT**2))], joined)


def like(x: exp.Expression, pattern: str) -> exp.Expression:
    """Whether a whole text is of a pattern."""
    return exp.Paren(this=exp.RegexpLike(this=x, expression=text(f"^(?:{pattern})$")))


def unnested(lists: Sequence[exp.Expression], names: Sequence[str], alias: str) -> exp.Expression:
    """Lists side by side as the columns of a relation.

    In FROM: a SELECT of them without FROM is not taken for safe beside parallel workers, nor what is joined with it.
    """
    quoted = [exp.to_identifier(name, quoted=True) for name in names]
    return exp.Unnest(
        expressions=list(lists), alias=exp.TableAlias(this=exp.to_identifier(alias, quoted=True), columns=quoted)
    )
