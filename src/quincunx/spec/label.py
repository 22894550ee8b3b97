"""Names of datasets and records: one canonical order for them, and their form in JSON.

A label is any hashable value in memory. In JSON it is a text, a whole number, true, false, null, a list (a tuple)
or an object with one key: {"rational": "1/3"}, {"date": "2024-02-29"}, {"timestamp": "2024-02-29T10:00:00"}.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction
from numbers import Real
from typing import Final

from quincunx.errors import ParameterError, SpecificationError, kind_of
from quincunx.numbers import rational

# type → (rank among types, key inside the type); the first type that fits decides, so datetime stands before date
_ORDER: Final[tuple[tuple[type, int, Callable[..., object]], ...]] = (
    (Real, 0, lambda value: value),
    (Decimal, 0, Fraction),
    (str, 1, lambda value: value),
    (tuple, 2, lambda value: tuple(order(part) for part in value)),
    (frozenset, 3, lambda value: tuple(sorted(order(part) for part in value))),
    (datetime, 4, lambda value: value.isoformat()),
    (date, 5, lambda value: value.isoformat()),
)

_PLAIN: Final = (str, int, bool, type(None))

_TO_JSON: Final[tuple[tuple[type, Callable[..., object]], ...]] = (
    (Fraction, lambda value: {"rational": str(value)}),
    (datetime, lambda value: {"timestamp": value.isoformat()}),
    (date, lambda value: {"date": value.isoformat()}),
    (tuple, lambda value: [to_json(part) for part in value]),
)


def order(label: Hashable) -> tuple[object, ...]:
    """A sorting key that orders labels of mixed types, the same for equal labels."""
    for kind, rank, key in _ORDER:
        if isinstance(label, kind):
            return (rank, key(label))
    return (9, type(label).__qualname__, repr(label))


def check(label: object, where: str) -> Hashable:
    """The label itself if it can name something: hashable, and equal to itself (NaN is not)."""
    try:
        hash(label)
    except TypeError:
        hint = "Write records as tuples, and datasets as tuples of records."
        raise SpecificationError("a label must be hashable", where=where, got=kind_of(label), hint=hint) from None
    for part in label if isinstance(label, tuple) else (label,):
        if isinstance(part, tuple):
            check(part, where)
        # NaN is the one value that differs from itself.
        elif part != part:
            raise SpecificationError("NaN is not equal to itself and cannot name anything", where=where)
    return label


def to_json(label: Hashable) -> object:
    """The label in JSON; types without an exact form there are refused."""
    if type(label) in _PLAIN:
        return label
    for kind, encode in _TO_JSON:
        if isinstance(label, kind):
            return encode(label)
    hint = "Use texts, whole numbers, Fraction, dates or tuples of these."
    raise SpecificationError("this label has no exact form in JSON", where="to_json", got=kind_of(label), hint=hint)


def from_json(data: object, where: str) -> Hashable:
    """The label that `to_json` wrote."""
    if isinstance(data, list):
        return tuple(from_json(part, where) for part in data)
    if type(data) in _PLAIN:
        return data
    if isinstance(data, dict) and len(data) == 1:
        [(kind, text)] = data.items()
        try:
            if kind == "rational" and isinstance(text, str):
                return rational(text, where)
            if kind == "date" and isinstance(text, str):
                return date.fromisoformat(text)
            if kind == "timestamp" and isinstance(text, str):
                return datetime.fromisoformat(text)
        except (ParameterError, ValueError):
            raise SpecificationError(f"a {kind} cannot be read", where=where, got=repr(text)[:60]) from None
    hint = 'Write a text, a whole number, a list, or {"rational": …}, {"date": …}, {"timestamp": …}.'
    raise SpecificationError("a label cannot be read", where=where, got=kind_of(data), hint=hint)
