"""What every operator means, said once more in plain Python: no SQL, no engine."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from datetime import date, datetime, timedelta
from fractions import Fraction
from string import ascii_lowercase, ascii_uppercase
from typing import Any

from quincunx.table.expression import Call, Column, Expression, Literal

_YEARS = r"\d{4}-\d\d-\d\d"
_CLOCK = r"[ T]\d\d:\d\d(:\d\d(\.\d{1,6})?)?"


def stored(value: Any) -> Any:
    """A value as a column gives it."""
    if isinstance(value, float):
        return ranged(value)
    return value


def ranged(x: float) -> float | None:
    """A decimal number of the language; None for what is none."""
    if math.isnan(x):
        return None
    if abs(x) < 2.0**-500:
        return 0.0
    return math.copysign(math.inf, x) if abs(x) > 2.0**500 else x


def limited(x: int) -> int | None:
    """An integer of the language."""
    return x if abs(x) <= 2**126 else None


def value(expression: Expression, row: dict[str, Any]) -> Any:
    """The value of an expression in a row."""
    if isinstance(expression, Column):
        return stored(row[expression.name])
    if isinstance(expression, Literal):
        return expression.value
    assert isinstance(expression, Call)
    given = [value(each, row) for each in expression.arguments]
    found = _CHOICES[expression.operator](given) if expression.operator in _CHOICES else _strict(expression, given)
    if expression.type == "decimal" and found is not None:
        return float(found)
    return found


def _strict(call: Call, given: list[Any]) -> Any:
    if None in given:
        return None
    if call.operator == "cast":
        return _cast(given[0], call.arguments[0].type, call.type)
    if call.type == "decimal" and call.operator in _DOUBLES:
        return _DOUBLES[call.operator](*(float(each) for each in given))
    return _OTHERS[call.operator](*given)


def _divided(x: float, y: float) -> float | None:
    if y == 0:
        return None if x == 0 else math.copysign(math.inf, x)
    return ranged(x / y)


def _left(x: float, y: float) -> float | None:
    if y == 0:
        return None
    quotient = x / y
    times = quotient if math.isinf(quotient) or math.isnan(quotient) else float(math.trunc(quotient))
    return ranged(x - y * times)


def _rounded(x: float, places: float) -> float | None:
    if math.isinf(x):
        return x
    t = x * 10.0**places
    down = math.floor(abs(t))
    nearest = float(down + (Fraction(abs(t)) - down >= Fraction(1, 2)))
    return ranged(math.copysign(nearest, t) / 10.0**places)


def _whole(x: float, floor: Any) -> float:
    return x if math.isinf(x) else float(floor(x))


_DOUBLES = {
    "add": lambda x, y: ranged(x + y),
    "subtract": lambda x, y: ranged(x - y),
    "multiply": lambda x, y: ranged(x * y),
    "divide": _divided,
    "remainder": _left,
    "negate": lambda x: -x,
    "abs": abs,
    "floor": lambda x: _whole(x, math.floor),
    "ceil": lambda x: _whole(x, math.ceil),
    "round": _rounded,
}


def _cut(x: int, y: int) -> int | None:
    """The quotient toward zero."""
    if y == 0:
        return None
    size = abs(x) // abs(y)
    return limited(size if (x >= 0) == (y >= 0) else -size)


def _rest(x: int, y: int) -> int | None:
    times = _cut(x, y)
    return None if times is None else x - y * times


def _compared(x: Any, y: Any) -> int:
    """−1, 0 or 1; a double is compared as a double, and a date as the moment at which it begins."""
    if isinstance(x, float) or isinstance(y, float):
        x, y = float(x), float(y)
    if isinstance(x, datetime) or isinstance(y, datetime):
        x, y = _moment(x), _moment(y)
    return (x > y) - (x < y)


def _moment(x: Any) -> datetime:
    return x if isinstance(x, datetime) else datetime(x.year, x.month, x.day)


def _like(x: str, pattern: str) -> bool:
    parts = {"%": ".*", "_": "."}
    written = "".join(parts.get(each, re.escape(each)) for each in pattern)
    return re.fullmatch(written, x, re.DOTALL) is not None


_SMALL = str.maketrans(ascii_uppercase, ascii_lowercase)
_CAPITAL = str.maketrans(ascii_lowercase, ascii_uppercase)

_PARTS = {
    "year": lambda x: x.year,
    "quarter": lambda x: (x.month + 2) // 3,
    "month": lambda x: x.month,
    "week": lambda x: x.isocalendar()[1],
    "day": lambda x: x.day,
    "dow": lambda x: x.isoweekday() % 7,
    "isodow": lambda x: x.isoweekday(),
    "doy": lambda x: x.timetuple().tm_yday,
    "hour": lambda x: x.hour,
    "minute": lambda x: x.minute,
    "second": lambda x: x.second,
}


def _began(period: str, x: Any) -> datetime:
    moment = _moment(x)
    if period == "week":
        return datetime(moment.year, moment.month, moment.day) - timedelta(days=moment.weekday())
    month = {"year": 1, "quarter": (moment.month - 1) // 3 * 3 + 1}.get(period, moment.month)
    if period in ("year", "quarter", "month"):
        return datetime(moment.year, month, 1)
    kept = {"day": 0, "hour": 1, "minute": 2, "second": 3}[period]
    clock = (moment.hour, moment.minute, moment.second)[:kept]
    return datetime(moment.year, moment.month, moment.day, *clock)


_OTHERS = {
    "add": lambda x, y: limited(x + y),
    "subtract": lambda x, y: limited(x - y),
    "multiply": lambda x, y: limited(x * y),
    "whole_divide": _cut,
    "remainder": _rest,
    "negate": lambda x: limited(-x),
    "abs": lambda x: limited(abs(x)),
    "floor": lambda x: x,
    "ceil": lambda x: x,
    "round": lambda x, _places: x,
    "clamp": lambda x, low, high: min(max(x, type(x)(low)), type(x)(high)),
    "equal": lambda x, y: _compared(x, y) == 0,
    "not_equal": lambda x, y: _compared(x, y) != 0,
    "less": lambda x, y: _compared(x, y) < 0,
    "less_equal": lambda x, y: _compared(x, y) <= 0,
    "greater": lambda x, y: _compared(x, y) > 0,
    "greater_equal": lambda x, y: _compared(x, y) >= 0,
    "not": lambda x: not x,
    "date_part": lambda name, x: _PARTS[name](x),
    "date_trunc": _began,
    "upper": lambda x: x.translate(_CAPITAL),
    "lower": lambda x: x.translate(_SMALL),
    "length": len,
    "trim": lambda x: x.strip(" "),
    "ltrim": lambda x: x.lstrip(" "),
    "rtrim": lambda x: x.rstrip(" "),
    "left": lambda x, n: x[:n],
    "right": lambda x, n: x[len(x) - n :] if n < len(x) else x,
    "substring": lambda x, start, n=10**9: x[start - 1 : start - 1 + n],
    "join": lambda *texts: "".join(texts),
    "replace": lambda x, old, new: x.replace(old, new),
    "starts_with": lambda x, y: x.startswith(y),
    "ends_with": lambda x, y: x.endswith(y),
    "contains": lambda x, y: y in x,
    "like": _like,
    "ilike": lambda x, pattern: _like(x.translate(_SMALL), pattern.translate(_SMALL)),
}


def _and(given: Sequence[Any]) -> bool | None:
    return False if False in given else None if None in given else True


def _or(given: Sequence[Any]) -> bool | None:
    found = _and([None if each is None else not each for each in given])
    return None if found is None else not found


def _between(given: Sequence[Any]) -> bool | None:
    x, low, high = given
    return _and([_three(x, low, lambda sign: sign >= 0), _three(x, high, lambda sign: sign <= 0)])


def _three(x: Any, y: Any, holds: Any) -> bool | None:
    return None if x is None or y is None else bool(holds(_compared(x, y)))


def _case(given: Sequence[Any]) -> Any:
    pairs = zip(given[0:-1:2], given[1::2], strict=True)
    return next((chosen for condition, chosen in pairs if condition), given[-1])


def _extreme(given: Sequence[Any], sign: int) -> Any:
    known = [each for each in given if each is not None]
    found = known[0] if known else None
    for each in known[1:]:
        found = each if _compared(each, found) * sign > 0 else found
    return found


def _same(given: Sequence[Any]) -> bool:
    x, y = given
    return x is None and y is None if x is None or y is None else _compared(x, y) == 0


_CHOICES = {
    "is_null": lambda given: given[0] is None,
    "and": _and,
    "or": _or,
    "case": _case,
    "coalesce": lambda given: next((each for each in given if each is not None), None),
    "nullif": lambda given: None if _three(*given, lambda sign: sign == 0) else given[0],
    "least": lambda given: _extreme(given, -1),
    "greatest": lambda given: _extreme(given, 1),
    "between": _between,
    "in": lambda given: _or([_three(given[0], each, lambda sign: sign == 0) for each in given[1:]]),
    "distinct": lambda given: not _same(given),
    "not_distinct": _same,
    "concat": lambda given: "".join(each for each in given if each is not None),
}


def _cast(x: Any, kind: str, to: str) -> Any:
    if kind == "text":
        return _READ[to](x.strip(" "))
    if to == "text":
        if isinstance(x, datetime):
            return x.isoformat(sep=" ").rstrip("0").rstrip(".") if x.microsecond else x.isoformat(sep=" ")
        return str(x).lower() if isinstance(x, bool) else str(x)
    if to == "integer":
        if kind == "boolean":
            return int(x)
        return limited(math.floor(Fraction(x) + Fraction(1, 2))) if abs(x) <= 2**126 else None
    if to == "boolean":
        return x != 0
    if to == "timestamp":
        return _moment(x)
    return x.date() if to == "date" else float(x)


def _number(x: str) -> float | None:
    exponent = r"([eE][+-]?(\d{1,2}|0\d\d|1[0-4]\d|150))?"
    shape = rf"[+-]?(\d{{1,100}}(\.\d{{0,100}})?|\.\d{{1,100}}){exponent}"
    return ranged(float(x)) if re.fullmatch(shape, x, re.ASCII) else None


def _dated(x: str, shape: str) -> datetime | None:
    try:
        return datetime.fromisoformat(x) if re.fullmatch(shape, x, re.ASCII) else None
    except ValueError:
        return None


def _day(x: str) -> date | None:
    found = _dated(x, _YEARS)
    return None if found is None else found.date()


_READ = {
    "integer": lambda x: int(x) if re.fullmatch(r"[+-]?\d{1,37}", x, re.ASCII) else None,
    "decimal": _number,
    "date": _day,
    "timestamp": lambda x: None if " 24:" in x or "T24:" in x else _dated(x, f"{_YEARS}({_CLOCK})?"),
    "boolean": lambda x: {"true": True, "t": True, "1": True, "false": False, "f": False, "0": False}.get(
        x.translate(_SMALL)
    ),
}
