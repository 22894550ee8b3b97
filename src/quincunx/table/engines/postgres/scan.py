"""Columns of PostgreSQL in their declared types: converted without errors, whatever a row holds. See dialect.md."""

from __future__ import annotations

from fractions import Fraction
from typing import Final

from sqlglot import exp

from quincunx.data import decimal_parts
from quincunx.table.engines import grammar
from quincunx.table.engines.dialect import Dialect
from quincunx.table.engines.emit_number import no_nan, rounded
from quincunx.table.engines.emit_time import calendar
from quincunx.table.engines.typed_sql import (
    DEFAULTS,
    Piece,
    binary,
    both,
    call,
    cast,
    choose,
    column,
    constant,
    text,
    whole,
)
from quincunx.table.interval import LARGEST
from quincunx.table.schema import ColumnSchema

# A number without a declared width, of which only whole numbers are read as they are.
UNLIMITED: Final = "NUMERIC"
_SMALL: Final = ("SMALLINT", "INTEGER", "BIGINT")
_WIDEST: Final = 38
_ZONED: Final = "TIMESTAMP WITH TIME ZONE"


def value(d: Dialect, declared: ColumnSchema, storage: str) -> Piece:
    """One column in its declared type; `storage` is the type in which it arrives. No row can raise."""
    found, kind = _arrived(column(declared.name), storage), DEFAULTS[declared.type]
    if declared.type == "text":
        shown = found if found.type == "VARCHAR" else Piece(sql=d.shown(found), type="VARCHAR")
        fits = exp.LTE(this=call("OCTET_LENGTH", shown.sql), expression=whole(declared.length))
        return Piece(sql=choose([(fits, shown.sql.copy())], exp.null()), type="VARCHAR")
    if found.type == "VARCHAR":
        return grammar.stored(d, found, kind)
    if found.type == kind or (declared.type == "integer" and found.type == "BIGINT"):
        return found
    exact = decimal_parts(found.type)
    if declared.type == "integer" and (exact is not None or found.type == "DOUBLE"):
        whole_number = exact is not None and not exact[1]
        return Piece(sql=cast(found.sql, kind), type=kind) if whole_number else rounded(d, found, kind)
    if declared.type == "decimal":
        return found if exact is not None else found.to(kind) if found.type == "BIGINT" else _attempted(d, found, kind)
    if kind in ("DATE", "TIMESTAMP"):
        return calendar(d.attempt(found, kind), kind)
    return _attempted(d, found, kind)


def _attempted(d: Dialect, found: Piece, kind: str) -> Piece:
    return Piece(sql=d.attempt(found, kind), type=kind)


def _arrived(source: exp.Expression, storage: str) -> Piece:
    """A column in one of the eight types of statements, NULL where what it holds is no value of it."""
    if storage in _SMALL:
        return Piece(sql=cast(source, "BIGINT"), type="BIGINT")
    if storage in ("FLOAT", "DOUBLE"):
        return Piece(sql=no_nan(cast(source, "DOUBLE")), type="DOUBLE")
    if storage == UNLIMITED:
        return Piece(sql=_whole(source), type="HUGEINT")
    parts = decimal_parts(storage)
    if parts is not None:
        return Piece(sql=_exact(source, *parts), type=storage)
    if storage in ("DATE", "TIMESTAMP"):
        return calendar(source, storage)
    if storage == _ZONED:
        # A moment without a zone, whatever the session's is.
        return calendar(exp.AtTimeZone(this=source, zone=text("UTC")), "TIMESTAMP")
    if storage == "BOOLEAN":
        return Piece(sql=source, type="BOOLEAN")
    # CHAR(n) loses the blanks that fill it, an enumeration becomes its label.
    return Piece(sql=cast(source, "VARCHAR"), type="VARCHAR")


def _whole(source: exp.Expression) -> exp.Expression:
    """⌊x + 1/2⌋ of a number of any size; NaN, which is the greatest, and the infinities are NULL.

    What is too large for an integer stays as it is, since the sum may have no room: bounds or their absence decide it.
    """
    ends = [exp.Cast(this=text(each), to=exp.DataType.build("NUMERIC")) for each in ("-Infinity", "Infinity")]
    finite = both([exp.GT(this=source, expression=ends[0]), exp.LT(this=source.copy(), expression=ends[1])])
    inside = exp.Between(this=source.copy(), low=whole(-2 * LARGEST), high=whole(2 * LARGEST))
    nearest = call("FLOOR", binary(exp.Add, source.copy(), cast(text("0.5"), "DECIMAL(2,1)")))
    return choose([(inside, nearest), (finite, source.copy())], exp.null())


def _exact(source: exp.Expression, width: int, scale: int) -> exp.Expression:
    """A number with decimals; NaN, the infinities and what has too many digits are NULL."""
    kind = f"DECIMAL({width},{scale})"
    most = constant(Fraction(10**width - 1, 10**scale)).to(kind).sql
    # NaN is greater than every number.
    inside = exp.Between(this=source, low=exp.Paren(this=exp.Neg(this=most)), high=most.copy())
    # A column without a declared width may hold more decimal places than its step has. Only what is inside is rounded:
    # the longest number has no room for the next one.
    held = call("ROUND", source.copy(), exp.Literal.number(scale)) if width == _WIDEST else source.copy()
    return choose([(inside, cast(held, kind))], exp.null())
