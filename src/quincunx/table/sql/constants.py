"""Constants as they are written: numbers mean the decimal that was typed."""

from __future__ import annotations

import re
from datetime import datetime
from fractions import Fraction
from typing import Final

from sqlglot import exp

from quincunx.errors import QueryError
from quincunx.table.expression import Literal
from quincunx.table.interval import LARGEST
from quincunx.table.operators import literal
from quincunx.table.typing.conditional import read_date

_NUMBER: Final = re.compile(r"(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d{1,3})?")
_DIGITS: Final = 60
# Steps finer than this are lost in the engine's floating-point numbers.
_SMALLEST: Final = Fraction(1, 10**30)


def number(written: str) -> int | Fraction:
    """A number; whole without a point or an exponent."""
    if len(written) > _DIGITS or not _NUMBER.fullmatch(written):
        raise QueryError("this number cannot be read", hint="Write it in decimals, with at most 60 digits.")
    if written.isdigit():
        return _in_range(int(written))
    exact = Fraction(written)
    if exact and Fraction(1, exact.denominator) < _SMALLEST:
        raise QueryError("this number has too many decimals", hint="Write at most 30 decimals.")
    return _in_range(exact)


def _in_range(value: int | Fraction) -> int | Fraction:
    if Fraction(value) > LARGEST:
        raise QueryError("this number is too large", hint="Numbers go up to 2^126.")
    return value


def constant(node: exp.Literal) -> Literal:
    """A number or a text."""
    return literal(node.name) if node.args.get("is_string") else literal(number(node.name))


def whole(node: exp.Expr, of: str) -> int:
    """The number of LIMIT and OFFSET."""
    if isinstance(node, exp.Literal) and not node.args.get("is_string") and node.name.isdigit() and len(node.name) < 19:
        return int(node.name)
    raise QueryError(f"{of} takes a whole number", hint=f"Write {of} 10.")


def dated(written: str, to: str) -> Literal:
    """DATE '…' and TIMESTAMP '…'."""
    value = read_date(written, to)
    if to == "date" and isinstance(value, datetime):
        raise QueryError("a date has no time of day", hint="Write TIMESTAMP '…'.")
    return literal(value)
