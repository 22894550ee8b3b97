"""Doubles where nothing raises, and casts that are NULL where PostgreSQL would raise: see dialect.md."""

from __future__ import annotations

from fractions import Fraction
from typing import Final

from sqlglot import exp

from quincunx.table.engines.typed_sql import INTEGERS, Piece, binary, call, cast, choose, double, text, whole

_SMALLEST: Final = Fraction(1, 2**500)
_LARGEST: Final = Fraction(2**500)
_SPLIT: Final = 2**63
_REACH: Final = 2**126
_DIGITS: Final = r"[0-9]{1,37}"
_INTEGER: Final = rf" *[+-]?{_DIGITS} *"
_DECIMAL: Final = rf" *[+-]?({_DIGITS}(\.[0-9]{{0,37}})?|\.{_DIGITS})([eE][+-]?[0-9]{{1,2}})? *"
_DATE: Final = r"[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])"


def finite(x: exp.Expression) -> exp.Expression:
    """Whether a double is neither infinite nor NaN, which is the greatest; NULL of NULL."""
    above = exp.GT(this=x, expression=cast(text("-Infinity"), "DOUBLE"))
    return exp.Paren(this=exp.And(this=above, expression=exp.LT(this=x.copy(), expression=_infinite())))


def _infinite() -> exp.Expression:
    return cast(text("Infinity"), "DOUBLE")


def in_range(x: exp.Expression) -> exp.Expression:
    """0, or 2^−500 ≤ |x| ≤ 2^500, or infinite: of such numbers no product and no quotient leaves the doubles."""
    small = exp.LT(this=call("ABS", x), expression=double(_SMALLEST))
    above = exp.GT(this=x.copy(), expression=double(_LARGEST))
    below = exp.LT(this=x.copy(), expression=double(-_LARGEST))
    return choose(
        [
            (small, double(Fraction(0))),
            (above, _infinite()),
            (below, cast(text("-Infinity"), "DOUBLE")),
        ],
        x.copy(),
    )


def divided(x: exp.Expression, y: exp.Expression) -> exp.Expression:
    """x / y of doubles: infinite at a division by zero, NULL of 0 / 0."""
    quotient = exp.Div(this=x.copy(), expression=call("NULLIF", y.copy(), double(Fraction(0))), typed=True, safe=False)
    zero = exp.EQ(this=y, expression=double(Fraction(0)))
    signed = exp.Mul(this=call("SIGN", call("NULLIF", x, double(Fraction(0)))), expression=_infinite())
    return choose([(zero, exp.Paren(this=signed))], exp.Paren(this=quotient))


def rounded(x: exp.Expression, places: int) -> exp.Expression:
    """A double to so many decimal places, halves away from zero; PostgreSQL's own takes them to the even side."""
    scale = double(Fraction(10**places))
    moved = binary(exp.Mul, x, scale) if places else x
    cut = call("TRUNC", moved)
    far = exp.GTE(this=call("ABS", binary(exp.Sub, moved.copy(), cut.copy())), expression=double(Fraction(1, 2)))
    nearest = choose([(far, binary(exp.Add, cut.copy(), call("SIGN", x.copy())))], cut)
    return exp.Paren(this=exp.Div(this=nearest, expression=scale.copy(), typed=True, safe=False)) if places else nearest


def attempted(x: Piece, kind: str) -> exp.Expression:
    """x as a value of another type, NULL where it is none. No value raises."""
    if x.type == kind or x.type == "NULL":
        return cast(x.sql, kind)
    if x.type == "VARCHAR":
        return _parsed(x.sql, kind)
    if kind == "BOOLEAN":
        return binary(exp.NEQ, x.sql, exp.Literal.number(0)) if x.type not in ("DATE", "TIMESTAMP") else _null(kind)
    if kind in ("DATE", "TIMESTAMP"):
        return cast(x.sql, kind) if x.type in ("DATE", "TIMESTAMP") else _null(kind)
    if x.type in ("DATE", "TIMESTAMP"):
        return _null(kind)
    if x.type == "BOOLEAN":
        no = exp.Not(this=x.sql.copy())
        return choose([(x.sql, cast(text("1"), kind)), (no, cast(text("0"), kind))], cast(exp.null(), kind))
    if kind == "DOUBLE":
        return cast(x.sql, kind)
    if x.type == "DOUBLE":
        return _whole(x.sql, kind)
    number = x.sql if x.type in INTEGERS else call("FLOOR", binary(exp.Add, x.sql, _half()))
    return _narrowed(number, kind)


def _null(kind: str) -> exp.Expression:
    return cast(exp.null(), kind)


def _half() -> exp.Expression:
    return cast(text("0.5"), "DECIMAL(2,1)")


def _narrowed(number: exp.Expression, kind: str) -> exp.Expression:
    """A whole number in a type that may be too small for it."""
    reach = _SPLIT - 1 if kind == "BIGINT" else _REACH
    inside = exp.Between(this=number, low=whole(-reach), high=whole(reach))
    return choose([(inside, cast(number.copy(), kind))], _null(kind))


def _whole(x: exp.Expression, kind: str) -> exp.Expression:
    """⌊x + 1/2⌋ of a double. A double would keep fifteen digits on its way to NUMERIC, and keeps all to BIGINT."""
    moved = call("FLOOR", binary(exp.Add, x, double(Fraction(1, 2))))
    small = exp.Between(this=moved, low=double(Fraction(-(2**62))), high=double(Fraction(2**62)))
    if kind == "BIGINT":
        return choose([(small, cast(moved.copy(), kind))], _null(kind))
    # Above 2^62 a double is whole, and so are both of its parts: what is left by 2^63, and the rest.
    unit, reach = double(Fraction(_SPLIT)), double(Fraction(_REACH))
    upper = call("FLOOR", exp.Div(this=x.copy(), expression=unit, typed=True, safe=False))
    rest = binary(exp.Sub, x.copy(), binary(exp.Mul, upper.copy(), unit.copy()))
    parts = [cast(cast(part, "BIGINT"), "HUGEINT") for part in (upper, rest)]
    joined = binary(exp.Add, binary(exp.Mul, parts[0], cast(text(str(_SPLIT)), "HUGEINT")), parts[1])
    inside = exp.Between(this=x.copy(), low=double(Fraction(-_REACH)), high=reach)
    return choose([(small, cast(cast(moved.copy(), "BIGINT"), "HUGEINT")), (inside, joined)], _null(kind))


def _parsed(x: exp.Expression, kind: str) -> exp.Expression:
    """A text of the one grammar as a value."""
    if kind in INTEGERS:
        number = cast(call("BTRIM", x.copy()), "HUGEINT")
        matched = choose([(like(x, _INTEGER), number)], _null("HUGEINT"))
        return matched if kind == "HUGEINT" else _narrowed(matched, kind)
    if kind == "DOUBLE":
        return choose([(like(x, _DECIMAL), cast(call("BTRIM", x.copy()), kind))], _null(kind))
    if kind == "BOOLEAN":
        small = call("LOWER", x)
        yes, no = (exp.In(this=small.copy(), expressions=[text(each) for each in words]) for words in _WORDS)
        return choose([(yes, exp.true()), (no, exp.false())], _null(kind))
    # The first of the month exists; the day is added, and is another month's where it is too large.
    first = cast(binary(exp.DPipe, call("LEFT", x.copy(), exp.Literal.number(8)), text("01")), "DATE")
    days = cast(call("RIGHT", x.copy(), exp.Literal.number(2)), "INTEGER")
    day = exp.Paren(this=exp.Sub(this=exp.Add(this=first, expression=days), expression=exp.Literal.number(1)))
    same = exp.EQ(this=call("TO_CHAR", day, text("YYYY-MM-DD")), expression=x.copy())
    checked = choose([(same, day.copy())], _null("DATE"))
    return cast(choose([(like(x, _DATE), checked)], _null("DATE")), kind)


_WORDS: Final = (("true", "t", "1"), ("false", "f", "0"))


def like(x: exp.Expression, pattern: str) -> exp.Expression:
    """Whether a whole text is of a pattern."""
    return exp.Paren(this=exp.RegexpLike(this=x, expression=text(f"^(?:{pattern})$")))
