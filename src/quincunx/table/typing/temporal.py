"""Typing of date parts and truncation. A date without a calendar (infinity) has no part, so results may be NULL."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Final

from quincunx.errors import QueryError
from quincunx.table.expression import Expression
from quincunx.table.typing.facts import DATES, Facts, constant, require

# Part → its range; None: not bounded. Weeks and days of the week as DuckDB counts them (isodow: Monday is 1).
PARTS: Final[dict[str, tuple[int, int] | None]] = {
    "year": None,
    "quarter": (1, 4),
    "month": (1, 12),
    "week": (1, 53),
    "day": (1, 31),
    "dow": (0, 6),
    "isodow": (1, 7),
    "doy": (1, 366),
    "hour": (0, 23),
    "minute": (0, 59),
    "second": (0, 59),
}
PERIODS: Final = ("year", "quarter", "month", "week", "day", "hour", "minute", "second")
_TIMES: Final = ("hour", "minute", "second")


def part(arguments: Sequence[Expression]) -> Facts:
    """date_part(part, x): a whole number."""
    name = _named(arguments, tuple(PARTS))
    if name in _TIMES and arguments[1].type == "date":
        raise QueryError(f"a date has no {name}", hint="Use a timestamp.")
    ends = PARTS[name]
    if ends is None:
        return Facts(type="integer", nullable=True, step=Fraction(1))
    return Facts(type="integer", nullable=True, low=Fraction(ends[0]), high=Fraction(ends[1]), step=Fraction(1))


def truncate(arguments: Sequence[Expression]) -> Facts:
    """date_trunc(period, x): the period's first moment, a timestamp."""
    _named(arguments, PERIODS)
    return Facts(type="timestamp", nullable=True)


def _named(arguments: Sequence[Expression], names: Sequence[str]) -> str:
    name = constant(arguments[0], ("text",), "the name of a part").value
    if name not in names:
        raise QueryError("this part of a date is not known", hint=f"Choose among {', '.join(names)}.")
    require(arguments[1:], DATES, "a date or a timestamp")
    return str(name)
