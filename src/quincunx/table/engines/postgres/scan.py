"""Columns of PostgreSQL in their declared types, and doubles that stay where nothing raises: see dialect.md."""

from __future__ import annotations

from fractions import Fraction
from typing import Final

from sqlglot import exp

from quincunx.data import decimal_parts
from quincunx.table.engines.emit_number import no_nan
from quincunx.table.engines.emit_time import calendar
from quincunx.table.engines.postgres.casting import attempted, in_range
from quincunx.table.engines.typed_sql import Piece, call, cast, choose, column, constant, text, whole
from quincunx.table.schema import ColumnSchema

_SMALL: Final = ("SMALLINT", "INTEGER", "BIGINT")
_WIDEST: Final = 38
_ZONED: Final = "TIMESTAMP WITH TIME ZONE"


def value(declared: ColumnSchema, storage: str) -> Piece:
    """One column in its declared type; `storage` is the type in which it arrives. No row can raise."""
    found = _arrived(column(declared.name), storage)
    if declared.type == "text":
        shown = found if found.type == "VARCHAR" else Piece(sql=cast(found.sql, "VARCHAR"), type="VARCHAR")
        fits = exp.LTE(this=call("OCTET_LENGTH", shown.sql), expression=whole(declared.length))
        return Piece(sql=choose([(fits, shown.sql.copy())], exp.null()), type="VARCHAR")
    if declared.type == "integer":
        return found if found.type == "BIGINT" else Piece(sql=attempted(found, "HUGEINT"), type="HUGEINT")
    if declared.type == "decimal":
        if decimal_parts(found.type) is not None:
            return found
        number = found.sql if found.type == "DOUBLE" else attempted(found, "DOUBLE")
        return Piece(sql=in_range(no_nan(number)), type="DOUBLE")
    kind = {"date": "DATE", "timestamp": "TIMESTAMP", "boolean": "BOOLEAN"}[declared.type]
    if found.type == kind:
        return found
    given = attempted(found, kind)
    return Piece(sql=given, type=kind) if kind == "BOOLEAN" else calendar(given, kind)


def _arrived(source: exp.Expression, storage: str) -> Piece:
    """A column in one of the eight types of statements, NULL where what it holds is no value of it."""
    if storage in _SMALL:
        return Piece(sql=cast(source, "BIGINT"), type="BIGINT")
    if storage in ("FLOAT", "DOUBLE"):
        return Piece(sql=cast(source, "DOUBLE"), type="DOUBLE")
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


def _exact(source: exp.Expression, width: int, scale: int) -> exp.Expression:
    """A number with decimals; NaN, the infinities and what has too many digits are NULL."""
    most = constant(Fraction(10**width - 1, 10**scale)).to(f"DECIMAL({width},{scale})").sql
    # A column without a declared width may hold more decimal places than its step has.
    held = call("ROUND", source, exp.Literal.number(scale)) if width == _WIDEST else source
    # NaN is greater than every number.
    inside = exp.Between(this=held, low=exp.Paren(this=exp.Neg(this=most)), high=most.copy())
    return choose([(inside, cast(held.copy(), f"DECIMAL({width},{scale})"))], exp.null())
