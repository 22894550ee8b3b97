"""Columns as questions see them: of the declared type, and moved into the declared bounds."""

from __future__ import annotations

from fractions import Fraction
from math import ceil, floor

from sqlglot import exp

from quincunx.data import decimal_parts
from quincunx.table import interval
from quincunx.table.engines.dialect import Dialect
from quincunx.table.engines.emit_number import clipped, ranged, whole_range
from quincunx.table.engines.typed_sql import Piece, call, choose, constant, double, integer_type, whole
from quincunx.table.meaning import LARGEST, SMALLEST
from quincunx.table.schema import ColumnSchema


def read(d: Dialect, declared: ColumnSchema, storage: str, *, clip: bool = True) -> Piece:
    """One column, with the type and bounds that are declared; `storage` is the type in which it arrives."""
    value = d.value(declared, storage)
    if value.type == "DOUBLE":
        return _double(value, declared.bounds if clip else None)
    if clip and declared.span is not None and declared.type in ("date", "timestamp"):
        first, last = (constant(end).to(value.type).sql for end in declared.span)
        return clipped(value.sql, first, last, value.type)
    if not clip or declared.bounds is None or declared.type not in ("integer", "decimal"):
        # What is too large for an integer is moved into the bounds, or is none.
        return Piece(sql=whole_range(value.sql), type=value.type) if value.type == "HUGEINT" else value
    return _bounded(value, declared.bounds, declared.type)


def _bounded(value: Piece, bounds: tuple[Fraction, Fraction], kind: str) -> Piece:
    if kind == "integer":
        low, high = max(ceil(bounds[0]), -interval.LARGEST), min(floor(bounds[1]), interval.LARGEST)
        return clipped(value.sql, whole(low), whole(high), integer_type(low, high))
    parts = decimal_parts(value.type)
    if parts is None:
        raise TypeError(value.type)
    least, greatest = inside(bounds, parts)
    return clipped(value.sql, constant(least).to(value.type).sql, constant(greatest).to(value.type).sql, value.type)


def _double(value: Piece, bounds: tuple[Fraction, Fraction] | None) -> Piece:
    """A double in the range of decimal numbers, and within the bounds; zero has no sign.

    What is too large is moved into the bounds in any case.
    """
    if bounds is None:
        return ranged(value.sql)
    low, high = max(bounds[0], -LARGEST), min(bounds[1], LARGEST)
    cases: list[tuple[exp.Expression, exp.Expression]] = [(exp.Is(this=value.sql, expression=exp.null()), exp.null())]
    if low < SMALLEST and high > -SMALLEST:
        tiny = exp.LT(this=call("ABS", value.sql.copy()), expression=double(SMALLEST))
        cases.append((tiny, double(min(max(Fraction(0), low), high))))
    inside_ = call("LEAST", call("GREATEST", value.sql.copy(), double(low)), double(high))
    return Piece(sql=choose(cases, inside_), type="DOUBLE")


def inside(bounds: tuple[Fraction, Fraction], parts: tuple[int, int]) -> tuple[Fraction, Fraction]:
    """The least and the greatest value of DECIMAL(width,scale) within the bounds."""
    width, scale = parts
    unit, largest = 10**scale, 10**width - 1
    low, high = ceil(bounds[0] * unit), floor(bounds[1] * unit)
    return Fraction(min(max(low, -largest), largest), unit), Fraction(min(max(high, -largest), largest), unit)
