"""Keys in SQL and in Python."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from fractions import Fraction
from typing import Any

from sqlglot import exp

from quincunx.data import decimal_parts
from quincunx.table.engines.dialect import Dialect
from quincunx.table.engines.typed_sql import (
    INTEGERS,
    Piece,
    binary,
    call,
    choose,
    decimal_text,
    double,
    iso,
    nearest,
    whole,
)
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """Public keys that are whole numbers one after another, and NULL after them where `nulls` says so."""

    first: int
    last: int
    nulls: bool


def run_of(values: Sequence[Value], kind: str) -> Run | None:
    """The run that keys of a type are, whose places follow by subtraction; None where they are to be looked up."""
    numbers = [each for each in values if type(each) is int]
    nulls = tuple(values[len(numbers) :])
    if kind != "BIGINT" or not numbers or nulls not in ((), (None,)):
        return None
    first, last = numbers[0], numbers[-1]
    if numbers != list(range(first, last + 1)) or max(abs(first), abs(last)) >= 2**62:
        return None
    return Run(first=first, last=last, nulls=bool(nulls))


def within_run(run: Run, k: exp.Expression) -> exp.Expression:
    """Whether a key is one of the run."""
    between: exp.Expression = exp.Between(this=k.copy(), low=whole(run.first), high=whole(run.last))
    if not run.nulls:
        return between
    return exp.Paren(this=exp.Or(this=between, expression=exp.Is(this=k.copy(), expression=exp.null())))


def place_in(run: Run, k: exp.Expression) -> exp.Expression:
    """Where a key of the run stands in it. Of any other key it is some number, and no error."""
    moved = call("LEAST", call("GREATEST", k.copy(), whole(run.first)), whole(run.last))
    place = binary(exp.Sub, moved, whole(run.first))
    missing = exp.Is(this=k.copy(), expression=exp.null())
    return choose([(missing, whole(run.last - run.first + 1))], place) if run.nulls else place
