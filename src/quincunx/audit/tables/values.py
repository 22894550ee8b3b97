"""Values that break things: ends of bounds, halves of steps, NULL, NaN, infinities, extremes, unlisted keys.

Values are texts, and depend on the declaration alone: nothing here reads data.
"""

from __future__ import annotations

from datetime import date, datetime, timedelta
from fractions import Fraction
from math import ceil, floor
from typing import Final

from quincunx.table import Auto, ColumnSchema, Value
from quincunx.table.engines.typed_sql import decimal_text, iso

# The type in the source of a column of each type, where none is given.
STORAGE: Final = {
    "integer": "BIGINT",
    "decimal": "DOUBLE",
    "text": "VARCHAR",
    "date": "DATE",
    "timestamp": "TIMESTAMP",
    "boolean": "BOOLEAN",
}
_WHOLE: Final = ("0", "1", "-1", "7", "9007199254740993", "9223372036854775807", "-9223372036854775808")
_WIDE: Final = (str(2**100), str(-(2**100)), "170141183460469231731687303715884105727")
_REAL: Final = ("0", "-0.0", "0.05", "0.15", "2.5", "-2.5", "1e300", "-1e300", "5e-324", "nan", "inf", "-inf")
_TEXTS: Final = (
    "",
    "a",
    "A",
    "süd",
    "東京",
    "o'brien",
    " padded ",
    "12",
    "-3",
    "1e5",
    "2024-02-29",
    "true",
    "50%_x",
    "nan",
)
_DATES: Final = ("1969-12-31", "1970-01-01", "2024-02-29", "2024-12-30", "0001-01-01", "9999-12-31", "infinity")
_TIMES: Final = ("1969-12-31 23:59:59.999999", "2024-02-29 12:34:56", "1970-01-01 00:00:00", "9999-12-31 23:59:59")


def pool(column: ColumnSchema, storage: str) -> tuple[str | None, ...]:
    """The values of a column that are worth trying, NULL first."""
    keys = [_text(key) for key in column.keys or () if key is not None]
    return tuple(dict.fromkeys((None, *keys, *_edges(column), *_awkward(column.type, storage))))


def listed(column: ColumnSchema) -> tuple[str | None, ...]:
    """The declared keys of a column, NULL where it is one of them; empty where none are declared."""
    return tuple(None if key is None else _text(key) for key in column.keys or ())


def extremes(column: ColumnSchema) -> tuple[str, str] | None:
    """The values that move a sum most, in both directions; None where a column has neither bounds nor a ladder."""
    ends = _ends(column)
    if ends is None:
        return None
    low, high = ends
    if column.type == "integer":
        return str(ceil(low)), str(floor(high))
    return _number(low), _number(high)


def numbered(column: ColumnSchema, number: int) -> str:
    """A value of its own for each number, as far as the declaration allows."""
    if column.type == "integer":
        low, high = (0, 2**62) if column.bounds is None else (ceil(column.bounds[0]), floor(column.bounds[1]))
        return str(low + number % (high - low + 1))
    if column.type == "decimal":
        least, most = column.bounds or (Fraction(0), Fraction(1000))
        return _number(least + (most - least) * Fraction(number % 1000, 1000))
    if column.type == "boolean":
        return ("true", "false")[number % 2]
    return f"value {number}" if column.type == "text" else iso(date(2024, 3, 1) + timedelta(days=number % 3000))


def _ends(column: ColumnSchema) -> tuple[Fraction, Fraction] | None:
    """Declared bounds, or those of the highest rung."""
    auto = column.auto
    if auto is None:
        return column.bounds
    return -auto.last if auto.negative else Fraction(0), auto.last


def _edges(column: ColumnSchema) -> list[str]:
    if column.span is not None:
        near = [end + timedelta(days=move) for end in column.span for move in (0, 1, -1)]
        return [iso(each) for each in near]
    if column.auto is not None:
        return _rungs(column, column.auto)
    if column.bounds is None:
        return []
    low, high = column.bounds
    middle = (low + high) / 2
    if column.type == "integer":
        ends = (ceil(low), floor(high), ceil(low) - 1, floor(high) + 1, floor(middle), floor(high) * 1000)
        return [str(end) for end in ends]
    step = column.step or (high - low) / 1000
    halves = (floor(low / step) * step + step / 2, floor(high / step) * step - step / 2, floor(middle / step) * step)
    return [_number(value) for value in (low, high, low - step, high + step, middle, *halves, high * 1000 + 1)]


def _rungs(column: ColumnSchema, auto: Auto) -> list[str]:
    """Values at each rung and beyond it, on both sides of 0."""
    sizes = [Fraction(end) for rung in auto.rungs for end in (ceil(rung), ceil(rung) + (column.step or 1))]
    return [_number(sign * size) for size in sizes for sign in (1, -1)]


def _awkward(kind: str, storage: str) -> tuple[str, ...]:
    found: dict[str, tuple[str, ...]] = {
        "integer": (*_WHOLE, *(_WIDE if storage == "HUGEINT" else ())),
        "decimal": _REAL,
        "text": _TEXTS,
        "date": _DATES,
        "timestamp": _TIMES,
        "boolean": ("true", "false"),
    }
    # A source of texts may hold anything at all under a declared type.
    return (*found[kind], *(_TEXTS if storage == "VARCHAR" and kind != "text" else ()))


def _number(value: Fraction) -> str:
    return decimal_text(value) or repr(float(value))


def _text(value: Value) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int | Fraction):
        return _number(Fraction(value))
    return iso(value) if isinstance(value, date | datetime) else str(value)
