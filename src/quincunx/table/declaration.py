"""What is typed about columns and limits, read and checked. Numbers mean the decimal that was typed."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from fractions import Fraction
from math import ceil, floor
from typing import Final

from quincunx.data import distinct_names, is_unicode
from quincunx.errors import DataError, InputError, kind_of, under
from quincunx.numbers import positive, positive_integer, rational
from quincunx.table.expression import NUMBERS, Value
from quincunx.table.schema import MAX_LENGTH, Auto, Limits, Link

TYPES: Final = ("integer", "decimal", "text", "date", "timestamp", "boolean")
FIELDS: Final = ("type", "bounds", "step", "keys", "length", "null")
LIMITS: Final = ("rows", "groups", "per_group", "joined")
LINK: Final = ("via", "on")
AUTO: Final = ("from", "to", "negative")
# How far above 1, or above its beginning, a ladder ends where that is not said.
_HIGH: Final = 10**9
# The lattice of a ladder has at most so many steps up to its end; what one person may add up is checked with limits.
_STEPS: Final = 2**56
_AUTO_HINT: Final = 'Write "auto", or {"auto": {"from": 1, "to": "1e9", "negative": false}}, each part optional.'
# Up to how many rows of one person a question chooses how many count, where that is not said, and at most.
_ROWS: Final = 10_000
_MOST_ROWS: Final = 2**20
_LIMITS_HINT: Final = 'Write {"rows": 20}, "auto", or {"rows": {"auto": {"to": 1000}}}.'
_NAMED: Final = {"via": "table", "on": "column"}
# More public keys than this in one column are not meant.
MAX_KEYS: Final = 1_000_000
# How a bound begins that is a date.
_DATED: Final = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)
_DAY: Final = len("2024-02-29")
_DATES: Final = ("date", "timestamp")


@dataclass(frozen=True, slots=True, kw_only=True)
class Declaration:
    """One column's entry: each part is None where it was left out. keys: values, or "table.column" of a public one.

    span: bounds that are dates, as they were typed. null: whether NULL is a value of the column. auto: how bounds are
    looked for, as far as it was typed.
    """

    type: str | None = None
    bounds: tuple[Fraction, Fraction] | None = None
    step: Fraction | None = None
    keys: tuple[object, ...] | str | None = None
    length: int | None = None
    span: tuple[object, object] | None = None
    null: bool = True
    auto: Mapping[str, object] | None = None


def read_limits(given: Mapping[str, object] | str) -> Limits:
    """Limits from {"rows": …, "groups": …, "per_group": …}; "auto" is {"rows": "auto"}."""
    if given == "auto":
        given = {"rows": "auto"}
    if not isinstance(given, Mapping):
        raise DataError("expected a mapping", where="limits", got=kind_of(given), hint=_LIMITS_HINT)
    with under("limits"):
        _known(given, LIMITS, "limits")
        auto = _climb(given.get("rows"), "limits.rows")
        for name, value in given.items():
            if name != "rows" and (value == "auto" or isinstance(value, Mapping)):
                hint = 'Write limits = "auto": each question then chooses what its noise depends on, also by groups.'
                raise DataError("a number is stated of it", where=f"limits.{name}", got=str(value)[:40], hint=hint)
        numbers = {name: value for name, value in given.items() if auto is None or name != "rows"}
        return Limits(auto=auto, **{name: positive_integer(value, f"limits.{name}") for name, value in numbers.items()})


def _climb(given: object, where: str) -> int | None:
    """Up to how many rows a question chooses, from "auto" or {"auto": {"to": …}}; None for a number."""
    if given == "auto":
        return _ROWS
    if not isinstance(given, Mapping):
        return None
    _known(given, ("auto",), where)
    parts = given.get("auto")
    if not isinstance(parts, Mapping):
        raise DataError("expected a mapping", where=f"{where}.auto", got=kind_of(parts), hint=_LIMITS_HINT)
    _known(parts, ("to",), f"{where}.auto")
    last = positive_integer(parts.get("to", _ROWS), f"{where}.auto.to")
    if not 2 <= last <= _MOST_ROWS:
        hint = f"End it between 2 and {_MOST_ROWS:,}."
        raise DataError("no ladder of rows ends there", where=f"{where}.auto.to", got=str(last)[:40], hint=hint)
    return last


def question_limits(given: Mapping[str, object] | str) -> Limits:
    """Limits of one question, from {"rows": …, "groups": …, "per_group": …}; "auto" is {"rows": "auto"}."""
    found = read_limits(given)
    if found.joined is not None or found == Limits():
        hint = "Write rows, groups or per_group; how many pairs are joined is declared of a table."
        got = ", ".join(map(str, given)) or "nothing"
        raise DataError("a question limits what it counts", where="limits", got=got, hint=hint)
    return found


def read_owner(given: object) -> Link:
    """The link from {"via": table, "on": column}."""
    hint = (
        'Write {"via": "encounters", "on": "encounter_id"}: a table that says whose its rows are, and a column of both.'
    )
    if not isinstance(given, Mapping):
        raise DataError("expected a mapping", where="owner", got=kind_of(given), hint=hint)
    with under("owner"):
        _known(given, LINK, "owner")
        for name in LINK:
            if not isinstance(given.get(name), str) or not given[name]:
                got = kind_of(given[name]) if name in given else "nothing"
                raise DataError(f"{name} is the name of a {_NAMED[name]}", where="owner", got=got, hint=hint)
        return Link(via=str(given["via"]), on=str(given["on"]))


def read_columns(given: object) -> dict[str, Declaration]:
    """Declarations by name; names that differ only in case are one name, and refused."""
    if not isinstance(given, Mapping):
        hint = 'Write {"age": {"bounds": (0, 110)}}.'
        raise DataError("expected a mapping", where="columns", got=kind_of(given), hint=hint)
    with under("columns"):
        names = distinct_names(list(given), "columns")
    found = {}
    for name in names:
        with under("columns", name):
            found[name] = _declaration(name, given[name])
    return found


def _declaration(name: str, given: object) -> Declaration:
    where = f"columns.{name}"
    if not isinstance(given, Mapping):
        hint = 'Write {"type": …, "bounds": …, "step": …, "keys": …, "length": …, "null": …}, each optional.'
        raise DataError("expected a mapping", where=where, got=kind_of(given), hint=hint)
    _known(given, FIELDS, where)
    kind = given.get("type")
    if kind is not None and kind not in TYPES:
        raise DataError("unknown type", where=f"{where}.type", got=repr(kind), hint=f"Choose among {', '.join(TYPES)}.")
    step, null = given.get("step"), given.get("null", True)
    if not isinstance(null, bool):
        hint = "Write false for a column in which a row without a value is no row, or leave it out."
        raise DataError("expected true or false", where=f"{where}.null", got=kind_of(null), hint=hint)
    bounds = given.get("bounds")
    auto = _auto(bounds, f"{where}.bounds")
    bounds = None if auto is not None else bounds
    dated = isinstance(bounds, Sequence) and any(_is_moment(end) for end in bounds)
    return Declaration(
        type=None if kind is None else str(kind),
        bounds=None if dated else _bounds(bounds, f"{where}.bounds"),
        span=_pair(bounds, f"{where}.bounds") if dated else None,
        null=null,
        auto=auto,
        step=None if step is None else positive(step, f"{where}.step"),
        keys=_listed(given.get("keys"), f"{where}.keys"),
        length=_length(given.get("length"), f"{where}.length"),
    )


def _length(given: object, where: str) -> int | None:
    if given is None:
        return None
    length = positive_integer(given, where)
    if length > MAX_LENGTH:
        hint = f"Declare at most {MAX_LENGTH:,}; a longer text is NULL."
        raise DataError("too long", where=where, got=f"{length:,} bytes", hint=hint)
    return length


def _bounds(given: object, where: str) -> tuple[Fraction, Fraction] | None:
    if given is None:
        return None
    low, high = (rational(end, where) for end in _pair(given, where))
    if low > high:
        raise DataError("the bounds are reversed", where=where, got=f"{low}, {high}", hint="Write the lower one first.")
    return low, high


def _auto(given: object, where: str) -> Mapping[str, object] | None:
    """The parts of "auto" or {"auto": {…}}; None for bounds that are given."""
    if isinstance(given, str):
        if given != "auto":
            raise DataError("expected two numbers", where=where, got=repr(given)[:40], hint=_AUTO_HINT)
        return {}
    if not isinstance(given, Mapping):
        return None
    _known(given, ("auto",), where)
    parts = given.get("auto")
    if not isinstance(parts, Mapping):
        raise DataError("expected a mapping", where=f"{where}.auto", got=kind_of(parts), hint=_AUTO_HINT)
    _known(parts, AUTO, f"{where}.auto")
    if not isinstance(parts.get("negative", False), bool):
        got = kind_of(parts["negative"])
        raise DataError("expected true or false", where=f"{where}.auto.negative", got=got, hint=_AUTO_HINT)
    for name in ("from", "to"):
        if name in parts:
            positive(parts[name], f"{where}.auto.{name}")
    return parts


def read_auto(declared: Declaration, kind: str, where: str) -> Auto | None:
    """The ladder of a column; what is not said of it follows from the column's step."""
    given, where = declared.auto, f"{where}.auto"
    if given is None:
        return None
    step = declared.step if declared.step is not None else Fraction(1) if kind == "integer" else None
    first = positive(given.get("from", step or 1), f"{where}.from")
    last = positive(given.get("to", _HIGH * max(first, Fraction(1))), f"{where}.to")
    if first >= last:
        raise DataError("the ladder has no rungs", where=where, got=f"{first}, {last}", hint="from is less than to.")
    if step is not None and first < step:
        hint = f"Begin at the step of the column, {step}, or declare a finer one."
        raise DataError("the first rung is below one step", where=f"{where}.from", got=str(first), hint=hint)
    if last > _STEPS * (step or first):
        hint = "Write a lower end, or a higher beginning with a step as high."
        raise DataError("the ladder is too long", where=where, got=f"{first}, {last}"[:60], hint=hint)
    return Auto(first=first, last=last, negative=given.get("negative") is True)


def _pair(given: object, where: str) -> tuple[object, object]:
    if not isinstance(given, Sequence) or isinstance(given, str) or len(given) != 2:
        raise DataError("expected two numbers", where=where, got=kind_of(given), hint="Write [low, high].")
    return given[0], given[1]


def _is_moment(end: object) -> bool:
    return isinstance(end, date) or (isinstance(end, str) and _DATED.match(end) is not None)


def read_span(declared: Declaration, kind: str, where: str) -> tuple[date, date] | None:
    """The first and the last date or moment of a column; a last day without a time of day is in it to its end."""
    if declared.span is None:
        return None
    first, last = (_end(end, kind, where) for end in declared.span)
    written = declared.span[1]
    whole = len(written) == _DAY if isinstance(written, str) else not isinstance(written, datetime)
    if isinstance(last, datetime) and whole:
        last += timedelta(days=1, microseconds=-1)
    if first > last:
        got = f"{first.isoformat()}, {last.isoformat()}"
        raise DataError("the bounds are reversed", where=where, got=got, hint="Write the earlier one first.")
    return first, last


def _end(end: object, kind: str, where: str) -> date:
    try:
        found = _READERS[kind](end, where)
    except (InputError, TypeError, ValueError):
        found = None
    if not isinstance(found, date):
        hint = f'Write two {kind}s, as in ["2024-01-01", "2024-12-31"].'
        raise DataError(f"a bound is no {kind}", where=where, got=repr(end)[:40], hint=hint)
    return found


def _listed(given: object, where: str) -> tuple[object, ...] | str | None:
    if given is None or isinstance(given, str):
        return given
    if not isinstance(given, Sequence | set | frozenset | range):
        hint = 'Write a list, or "table.column" of a public table.'
        raise DataError("expected a list of keys", where=where, got=kind_of(given), hint=hint)
    if isinstance(given, set | frozenset):
        hint = "Write a list: its order is the order of publication."
        raise DataError("a set has no order", where=where, got=kind_of(given), hint=hint)
    return tuple(given)


def _known(given: Mapping[str, object], names: Sequence[str], where: str) -> None:
    for name in given:
        if name not in names:
            close = difflib.get_close_matches(str(name), names, n=1)
            hint = f"Did you mean {close[0]!r}?" if close else f"Choose among {', '.join(names)}."
            raise DataError("unknown entry", where=where, got=repr(name), hint=hint)


def check_numbers(name: str, kind: str, declared: Declaration) -> None:
    """Bounds and steps belong to numbers; an integer needs a whole number between its bounds."""
    where = f"columns.{name}"
    got = f"a column of type {kind}"
    if declared.span is not None and kind not in _DATES:
        hint = "Write numbers, or declare a type: date or timestamp."
        raise DataError("only dates have dates as bounds", where=where, got=got, hint=hint)
    if kind in _DATES and declared.bounds is not None:
        hint = 'Write ["2024-01-01", "2024-12-31"].'
        raise DataError("the bounds of dates are dates", where=where, got="numbers", hint=hint)
    bounded = declared.bounds is not None or declared.auto is not None
    if kind not in NUMBERS and (bounded or declared.step is not None):
        part = "bounds" if bounded else "step"
        hint = f"Leave {part} out, or declare a type: integer or decimal."
        raise DataError(f"only numbers have {part}", where=where, got=got, hint=hint)
    if kind != "text" and declared.length is not None:
        hint = "Leave length out, or declare the type: text."
        raise DataError("only texts have a length", where=where, got=got, hint=hint)
    if kind == "integer" and declared.bounds is not None and ceil(declared.bounds[0]) > floor(declared.bounds[1]):
        raise DataError("no whole number lies between the bounds", where=f"{where}.bounds")


def read_keys(keys: Sequence[object], kind: str, where: str) -> tuple[Value, ...]:
    """Public keys as values of the column's type, all different."""
    if len(keys) > MAX_KEYS:
        raise DataError("too many keys", where=where, got=f"{len(keys):,}", hint=f"At most {MAX_KEYS:,}.")
    found: dict[Value, None] = {}
    for key in keys:
        value = None if key is None else _key(key, kind, where)
        if value in found:
            raise DataError("a key is listed twice", where=where, got=repr(key), hint="List each key once.")
        found[value] = None
    if not found:
        raise DataError("the list of keys is empty", where=where, hint="List the values that may be published.")
    return tuple(found)


def _key(key: object, kind: str, where: str) -> Value:
    try:
        return _READERS[kind](key, where)
    except (InputError, TypeError, ValueError):
        hint = f"Write values of type {kind}."
        raise DataError("a key has the wrong type", where=where, got=repr(key), hint=hint) from None


def _integer(key: object, where: str) -> Value:
    number = rational(key, where)
    if number.denominator != 1 or isinstance(key, str):
        raise ValueError
    return int(number)


def _text(key: object, _where: str) -> Value:
    if not isinstance(key, str):
        raise TypeError
    if not is_unicode(key):
        raise ValueError
    return key


def _boolean(key: object, _where: str) -> Value:
    if not isinstance(key, bool):
        raise TypeError
    return key


def _date(key: object, where: str) -> Value:
    moment = _timestamp(key, where)
    if not isinstance(moment, datetime) or moment != datetime(moment.year, moment.month, moment.day):
        raise ValueError
    return moment.date()


def _timestamp(key: object, _where: str) -> Value:
    moment = datetime.fromisoformat(key) if isinstance(key, str) else key
    if isinstance(moment, datetime):
        if moment.tzinfo is not None:
            raise ValueError
        return moment
    if isinstance(moment, date):
        return datetime(moment.year, moment.month, moment.day)
    raise TypeError


_READERS: Final[Mapping[str, Callable[[object, str], Value]]] = {
    "integer": _integer,
    "decimal": rational,
    "text": _text,
    "boolean": _boolean,
    "date": _date,
    "timestamp": _timestamp,
}
