"""Columns of DuckDB in their declared types: converted without errors, whatever a row holds."""

from __future__ import annotations

import re
from datetime import date
from fractions import Fraction
from typing import Final

from sqlglot import exp

from quincunx.data import (
    DAY_MILLISECONDS,
    MARK,
    MARKED_TEXT,
    MILLISECONDS,
    RAW_TEXT,
    SECONDS,
    decimal_parts,
    numerals,
)
from quincunx.table.engines.dialect import Dialect
from quincunx.table.engines.emit_number import no_nan, rounded
from quincunx.table.engines.emit_time import calendar
from quincunx.table.engines.typed_sql import (
    Piece,
    binary,
    call,
    cast,
    choose,
    column,
    constant,
    text,
    try_cast,
    whole,
)
from quincunx.table.expression import NUMBERS
from quincunx.table.schema import ColumnSchema

SMALL: Final = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER")
FLOATS: Final = ("FLOAT", "DOUBLE")
NUMERIC: Final = (*SMALL, "UBIGINT", "HUGEINT", "UHUGEINT", "FLOAT", "DOUBLE", "BOOLEAN")
# Steps of a second in which moments are counted, and the days of the calendar's ends since 1970.
_PER_SECOND: Final = {SECONDS: 1, MILLISECONDS: 1_000}
_FIRST: Final = (date(1, 1, 1) - date(1970, 1, 1)).days
_LAST: Final = (date(9999, 12, 31) - date(1970, 1, 1)).days
_DAY: Final = 86_400_000


def value(d: Dialect, declared: ColumnSchema, storage: str) -> Piece:
    """One column in its declared type; `storage` is the type in which it arrives."""
    marks = numerals(storage)
    storage = storage if marks is None else MARKED_TEXT
    source, kind = arrived(column(declared.name), storage)
    if marks is not None and declared.type in NUMBERS:
        source = _numeral(source, *marks)
    if declared.type == "integer":
        return _integer(d, source, kind)
    if declared.type == "decimal":
        return _decimal(source, kind)
    if declared.type == "text":
        # Of a text the bytes are counted as they arrive, so that a long one is not even looked at.
        bytewise = column(declared.name) if storage in (RAW_TEXT, MARKED_TEXT) else cast(source.copy(), "VARCHAR")
        return _text(source, kind, exp.LTE(this=call("STRLEN", bytewise), expression=whole(declared.length)))
    return _other(source, kind, declared.type)


def arrived(source: exp.Expression, storage: str) -> tuple[exp.Expression, str]:
    """A column in a type of the engine, NULL where what arrived is no value of it. No row can raise."""
    if storage == RAW_TEXT:
        # `encode` takes the bytes as they are; `decode` is the only function that looks at them before it is certain.
        return call("TRY", call("DECODE", call("ENCODE", source))), "VARCHAR"
    if storage == MARKED_TEXT:
        return choose([(call("CONTAINS", source, text(MARK)), exp.null())], source.copy()), "VARCHAR"
    if storage == DAY_MILLISECONDS:
        return _day(source), "DATE"
    if storage in _PER_SECOND:
        return _moment(source, _PER_SECOND[storage]), "TIMESTAMP"
    parts = decimal_parts(storage)
    if parts is None:
        return source, storage
    # A decimal in Arrow may hold more digits than its type admits, and arrives in one that admits them all.
    most = constant(Fraction(10 ** parts[0] - 1, 10 ** parts[1])).to(storage).sql
    within = exp.Between(this=source, low=exp.Paren(this=exp.Neg(this=most)), high=most.copy())
    return choose([(within, try_cast(source.copy(), storage))], exp.null()), storage


def _numeral(source: exp.Expression, decimal: str, thousands: str) -> exp.Expression:
    """A number with other marks as the engine writes it; NULL where its marks do not stand where they belong.

    Without that, 1.5 would be 15 where points stand between thousands.
    """
    groups = rf"\d{{1,3}}({re.escape(thousands)}\d{{3}})+|" if thousands else ""
    pattern = rf"\s*[+-]?({groups}\d+)?({re.escape(decimal)}\d*)?([eE][+-]?\d+)?\s*"
    plain = call("REPLACE", source.copy(), text(thousands), text("")) if thousands else source.copy()
    fits = call("REGEXP_FULL_MATCH", source.copy(), text(pattern))
    return choose([(fits, call("REPLACE", plain, text(decimal), text(".")))], exp.null())


def _moment(source: exp.Expression, per_second: int) -> exp.Expression:
    """A moment from a count of steps: clamped before it is multiplied, so that nothing overflows on any row."""
    day = 86_400 * per_second
    known, inside = _clamped(source, _FIRST * day, (_LAST + 1) * day - 1)
    return choose(
        [(known, call("MAKE_TIMESTAMP", binary(exp.Mul, inside, whole(1_000_000 // per_second))))], exp.null()
    )


def _day(source: exp.Expression) -> exp.Expression:
    """A day from milliseconds, cut toward 1970 as every other reader does."""
    known, inside = _clamped(source, _FIRST * _DAY, _LAST * _DAY)
    days = cast(binary(exp.IntDiv, inside, whole(_DAY)), "INTEGER")
    return choose([(known, binary(exp.Add, constant(date(1970, 1, 1)).sql, days))], exp.null())


def _clamped(source: exp.Expression, low: int, high: int) -> tuple[exp.Expression, exp.Expression]:
    """Whether a whole number lies between two, and the number moved between them."""
    known = exp.Between(this=source, low=whole(low), high=whole(high))
    return known, call("LEAST", call("GREATEST", source.copy(), whole(low)), whole(high))


def _plain(source: exp.Expression, storage: str) -> exp.Expression:
    """The column, or its text where its own type has no direct conversion to a number."""
    direct = storage in NUMERIC or decimal_parts(storage) is not None or storage == "VARCHAR"
    return source if direct else cast(source, "VARCHAR")


def _integer(d: Dialect, source: exp.Expression, storage: str) -> Piece:
    if storage in SMALL:
        return Piece(sql=cast(source, "BIGINT"), type="BIGINT")
    if storage in FLOATS:
        number = no_nan(source if storage == "DOUBLE" else cast(source, "DOUBLE"))
        return rounded(d, Piece(sql=number, type="DOUBLE"), "HUGEINT")
    if (decimal_parts(storage) or (0, 0))[1]:
        return rounded(d, Piece(sql=source, type=storage), "HUGEINT")
    return Piece(sql=try_cast(_plain(source, storage), "HUGEINT"), type="HUGEINT")


def _decimal(source: exp.Expression, storage: str) -> Piece:
    if decimal_parts(storage) is not None:
        return Piece(sql=source, type=storage)
    number = no_nan(source if storage == "DOUBLE" else try_cast(_plain(source, storage), "DOUBLE"))
    return Piece(sql=number, type="DOUBLE")


def _text(source: exp.Expression, storage: str, fits: exp.Expression) -> Piece:
    shown = source if storage == "VARCHAR" else cast(source, "VARCHAR")
    return Piece(sql=choose([(fits, shown)], exp.null()), type="VARCHAR")


def _other(source: exp.Expression, storage: str, wanted: str) -> Piece:
    if wanted == "boolean":
        known = source if storage == "BOOLEAN" else try_cast(_plain(source, storage), "BOOLEAN")
        return Piece(sql=known, type="BOOLEAN")
    kind = "DATE" if wanted == "date" else "TIMESTAMP"
    dated = storage == "DATE" or storage.startswith("TIMESTAMP")
    return calendar(try_cast(source if dated else cast(source, "VARCHAR"), kind), kind)
