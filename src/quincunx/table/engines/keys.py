"""Keys in SQL and in Python."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from decimal import Decimal
from fractions import Fraction
from typing import Any

from sqlglot import exp

from quincunx.data import decimal_parts
from quincunx.table.engines.dialect import Dialect
from quincunx.table.engines.typed_sql import INTEGERS, Piece, binary, choose, decimal_text, double, iso, nearest
from quincunx.table.expression import Value


def normal(d: Dialect, piece: Piece) -> Piece:
    """A key of which equal values are one value: no −0.0, nothing infinite."""
    if piece.type != "DOUBLE":
        return piece
    finite = d.finite(piece.sql.copy())
    return Piece(sql=choose([(finite, zeroless(piece).sql)], exp.null()), type="DOUBLE")


def zeroless(piece: Piece) -> Piece:
    """The same value without −0.0: whatever equals it is the same."""
    if piece.type != "DOUBLE":
        return piece
    return Piece(sql=binary(exp.Add, piece.sql, double(Fraction(0))), type="DOUBLE")


def public_key(values: Sequence[Value], kind: str) -> tuple[list[Any], list[int], bool]:
    """The values as parameters of an SQL type, the place of each, and whether NULL is among them.

    A value that the type cannot hold belongs to no row and is left out. Two values that are one in the type would put
    a row into two groups, so only the first is kept.
    """
    found: dict[Any, int] = {}
    for place, value in enumerate(values):
        held, parameter = _parameter(value, kind)
        if held:
            found.setdefault(parameter, place)
    return list(found), list(found.values()), None in found


def _parameter(value: Value, kind: str) -> tuple[bool, Any]:
    if value is None:
        return True, None
    if isinstance(value, bool):
        return kind == "BOOLEAN", value
    if isinstance(value, int | Fraction):
        return _number(Fraction(value), kind)
    if isinstance(value, str):
        return kind == "VARCHAR", value
    moment = value if isinstance(value, datetime) else datetime(value.year, value.month, value.day)
    if kind == "DATE":
        return moment == datetime(moment.year, moment.month, moment.day), iso(moment.date())
    return kind == "TIMESTAMP", iso(moment)


def _number(value: Fraction, kind: str) -> tuple[bool, Any]:
    if kind == "DOUBLE":
        return True, nearest(value) + 0.0
    if kind in INTEGERS:
        limit = 2**63 if kind == "BIGINT" else 2**127
        return value.denominator == 1 and -limit <= value < limit, int(value)
    parts = decimal_parts(kind)
    if parts is None:
        return False, None
    width, scale = parts
    fits = (value * 10**scale).denominator == 1 and abs(value) < 10 ** (width - scale)
    return fits, decimal_text(value)


def python_value(value: Any) -> Value:
    """What the engine returned, as a value of a key: decimals exact, doubles as the decimal that they print."""
    if isinstance(value, float):
        return Fraction(repr(value))
    if isinstance(value, Decimal):
        return Fraction(value)
    found: Value = value
    return found
