"""Columns as questions see them: converted to the declared type without errors, clipped to the declared bounds."""

from __future__ import annotations

from fractions import Fraction
from math import ceil, floor
from typing import Final

from sqlglot import exp

from quincunx.table.engines.emit_number import clipped, no_nan
from quincunx.table.engines.emit_time import calendar
from quincunx.table.engines.piece import (
    Piece,
    binary,
    cast,
    column,
    constant,
    decimal_parts,
    double,
    integer_type,
    try_cast,
    whole,
)
from quincunx.table.schema import ColumnSchema

SMALL: Final = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER")
NUMERIC: Final = (*SMALL, "UBIGINT", "HUGEINT", "UHUGEINT", "FLOAT", "DOUBLE", "BOOLEAN")


def read(declared: ColumnSchema, storage: str, *, clip: bool = True) -> Piece:
    """One column, with the type and bounds that are declared; `storage` is its type in the source."""
    bounds = declared.bounds if clip else None
    source = column(declared.name)
    if declared.type == "integer":
        return _integer(source, storage, bounds)
    if declared.type == "decimal":
        return _decimal(source, storage, bounds)
    return _other(source, storage, declared.type)


def _plain(source: exp.Expression, storage: str) -> exp.Expression:
    """The column, or its text where its own type has no direct conversion to a number."""
    direct = storage in NUMERIC or decimal_parts(storage) is not None or storage == "VARCHAR"
    return source if direct else cast(source, "VARCHAR")


def _integer(source: exp.Expression, storage: str, bounds: tuple[Fraction, Fraction] | None) -> Piece:
    if storage in SMALL:
        piece = Piece(sql=cast(source, "BIGINT"), type="BIGINT")
    else:
        piece = Piece(sql=try_cast(_plain(source, storage), "HUGEINT"), type="HUGEINT")
    if bounds is None:
        return piece
    low, high = ceil(bounds[0]), floor(bounds[1])
    return clipped(piece.sql, whole(low), whole(high), integer_type(low, high))


def _decimal(source: exp.Expression, storage: str, bounds: tuple[Fraction, Fraction] | None) -> Piece:
    parts = decimal_parts(storage)
    if parts is not None:
        return _exact(source, storage, parts, bounds)
    number = no_nan(source if storage == "DOUBLE" else try_cast(_plain(source, storage), "DOUBLE"))
    # Adding zero turns −0.0 into 0.0.
    number = binary(exp.Add, number, double(Fraction(0)))
    if bounds is None:
        return Piece(sql=number, type="DOUBLE")
    return clipped(number, double(bounds[0]), double(bounds[1]), "DOUBLE")


def _exact(
    source: exp.Expression, storage: str, parts: tuple[int, int], bounds: tuple[Fraction, Fraction] | None
) -> Piece:
    if bounds is None:
        return Piece(sql=source, type=storage)
    low, high = inside(bounds, parts)
    return clipped(source, constant(low).to(storage).sql, constant(high).to(storage).sql, storage)


def inside(bounds: tuple[Fraction, Fraction], parts: tuple[int, int]) -> tuple[Fraction, Fraction]:
    """The least and the greatest value of DECIMAL(width,scale) within the bounds."""
    width, scale = parts
    unit, largest = 10**scale, 10**width - 1
    low, high = ceil(bounds[0] * unit), floor(bounds[1] * unit)
    return Fraction(min(max(low, -largest), largest), unit), Fraction(min(max(high, -largest), largest), unit)


def _other(source: exp.Expression, storage: str, wanted: str) -> Piece:
    if wanted == "text":
        return Piece(sql=source if storage == "VARCHAR" else cast(source, "VARCHAR"), type="VARCHAR")
    if wanted == "boolean":
        known = source if storage == "BOOLEAN" else try_cast(_plain(source, storage), "BOOLEAN")
        return Piece(sql=known, type="BOOLEAN")
    kind = "DATE" if wanted == "date" else "TIMESTAMP"
    dated = storage == "DATE" or storage.startswith("TIMESTAMP")
    return calendar(try_cast(source if dated else cast(source, "VARCHAR"), kind), kind)
