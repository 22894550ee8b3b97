"""Pieces of a statement with the SQL type that each has, so that nothing depends on implicit casts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from fractions import Fraction
from typing import Final

from sqlglot import exp

from quincunx.data import binary, both, call, cast, choose, column, decimal_parts, option, text, try_cast
from quincunx.table import meaning
from quincunx.table.expression import Value

__all__ = [
    "DEFAULTS",
    "INTEGERS",
    "Piece",
    "alike",
    "binary",
    "both",
    "call",
    "cast",
    "choose",
    "column",
    "common",
    "constant",
    "decimal_text",
    "double",
    "integer_type",
    "iso",
    "nearest",
    "option",
    "text",
    "try_cast",
    "whole",
]
INTEGERS: Final = ("BIGINT", "HUGEINT")
# The type in which an expression of each of our types is computed where nothing else is known.
DEFAULTS: Final = {
    "integer": "HUGEINT",
    "decimal": "DOUBLE",
    "text": "VARCHAR",
    "date": "DATE",
    "timestamp": "TIMESTAMP",
    "boolean": "BOOLEAN",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """SQL and its type: BIGINT, HUGEINT, DOUBLE, DECIMAL(w,s), VARCHAR, DATE, TIMESTAMP, BOOLEAN or NULL.

    value: the constant that it is, for decimal literals, whose type may still change without a loss. bits: of a whole
    number, |x| ≤ 2^bits; 0 where only its type tells.
    """

    sql: exp.Expression
    type: str
    value: Fraction | None = None
    bits: int = 0

    @property
    def size(self) -> int:
        """The least known b with |x| ≤ 2^b, for whole numbers: none is beyond ±2^126."""
        return self.bits or (63 if self.type == "BIGINT" else 126)

    def to(self, wanted: str) -> Piece:
        """The same in another type that holds it."""
        if wanted == self.type:
            return self
        if self.value is not None and wanted == "DOUBLE":
            return Piece(sql=double(self.value), type=wanted)
        wide = self.type == "HUGEINT" or (decimal_parts(self.type) or (0, 0))[0] > 15
        # By its digits, which every engine rounds to the nearest double; some round twice otherwise.
        held = cast(self.sql, "VARCHAR") if wide and wanted == "DOUBLE" else self.sql
        return Piece(sql=cast(held, wanted), type=wanted, bits=self.size if wanted == "HUGEINT" else 0)


def whole(value: int) -> exp.Expression:
    """A whole number as a constant of the smallest of BIGINT and HUGEINT that holds it."""
    return cast(exp.Literal.string(str(value)), integer_type(value, value))


def integer_type(low: int, high: int) -> str:
    """The smallest integer type of the engine that holds both."""
    return "BIGINT" if low >= -(2**63) and high < 2**63 else "HUGEINT"


def double(value: Fraction) -> exp.Expression:
    """The double nearest to a rational, as a constant; one too large is infinite."""
    return cast(exp.Literal.string(repr(nearest(value))), "DOUBLE")


def nearest(value: Fraction) -> float:
    """The double nearest to a rational, in the range of decimal numbers: 0 or infinite where it is outside."""
    if abs(value) > meaning.LARGEST:
        return float("inf") if value > 0 else float("-inf")
    return value.numerator / value.denominator if abs(value) >= meaning.SMALLEST else 0.0


def constant(value: Value) -> Piece:
    """A literal with its type."""
    if value is None:
        return Piece(sql=exp.null(), type="NULL")
    if isinstance(value, bool):
        return Piece(sql=exp.true() if value else exp.false(), type="BOOLEAN")
    if isinstance(value, int):
        return Piece(sql=whole(value), type=integer_type(value, value), bits=max(1, value.bit_length()))
    if isinstance(value, Fraction):
        return _decimal(value)
    if isinstance(value, str):
        return Piece(sql=text(value), type="VARCHAR")
    kind = "TIMESTAMP" if isinstance(value, datetime) else "DATE"
    return Piece(sql=cast(text(iso(value)), kind), type=kind)


def iso(value: date | datetime) -> str:
    """A date or a moment as engines read it, with four digits for the year."""
    return value.isoformat(sep=" ") if isinstance(value, datetime) else value.isoformat()


def _decimal(value: Fraction) -> Piece:
    digits = decimal_text(value)
    if digits is None:
        return Piece(sql=double(value), type="DOUBLE", value=value)
    before, _, after = digits.lstrip("-").partition(".")
    # Where all 38 digits are decimal places, the 0 before them is none.
    width = min(len(before) + len(after), 38)
    kind = f"DECIMAL({width},{len(after)})"
    return Piece(sql=cast(text(digits), kind), type=kind, value=value)


def decimal_text(value: Fraction) -> str | None:
    """The exact decimal of a rational, without exponent; None where it has none of at most 38 digits."""
    for places in range(39):
        scaled = value * 10**places
        if abs(scaled) >= 10**38:
            return None
        if scaled.denominator == 1:
            digits = str(abs(scaled.numerator)).rjust(places + 1, "0")
            sign = "-" if scaled < 0 else ""
            return sign + (f"{digits[:-places]}.{digits[-places:]}" if places else digits)
    return None


def common(kinds: Sequence[str]) -> str:
    """A type that holds every value of all types: exact where there is an exact one, otherwise DOUBLE."""
    found = "NULL"
    for kind in kinds:
        found = _pair(found, kind)
    return found


def _pair(first: str, second: str) -> str:
    if first == second or second == "NULL":
        return first
    if first == "NULL":
        return second
    if first in INTEGERS and second in INTEGERS:
        return "HUGEINT"
    one, two = _digits(first), _digits(second)
    if one is not None and two is not None:
        scale = max(one[1], two[1])
        width = max(one[0] - one[1], two[0] - two[1]) + scale
        if width <= 38:
            return f"DECIMAL({width},{scale})"
    if {first, second} == {"DATE", "TIMESTAMP"}:
        return "TIMESTAMP"
    return "DOUBLE"


def _digits(kind: str) -> tuple[int, int] | None:
    # A BIGINT has 19 digits; a HUGEINT has 39, more than any DECIMAL.
    return (19, 0) if kind == "BIGINT" else decimal_parts(kind)


def alike(pieces: Sequence[Piece]) -> list[Piece]:
    """The same pieces in their common type."""
    kind = common([piece.type for piece in pieces])
    return [piece if kind == "NULL" else piece.to(kind) for piece in pieces]
