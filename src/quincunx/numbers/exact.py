"""A number that a person types means the decimal they typed: `0.1` is 1/10.

`int`, `Fraction`, `Decimal` and decimal or fraction strings are exact as they are. A float is read through its
shortest decimal form, the one Python prints. `Log(r)` is the exact number ln r, so that ε = ln 3 can be stated,
compared and stored without rounding.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any, Final, TypeAlias

import numpy as np

from quincunx.errors import ParameterError, kind_of
from quincunx.numbers.decimals import shown

# A string of a few characters must not make an integer of a million digits, and Python reads and prints integers of
# up to 4,300 digits: what is accepted can be shown.
_MAX_EXPONENT: Final = 4_000
_MAX_CHARACTERS: Final = 4_200
_MAX_BITS: Final = 14_000
_ENDLESS: Final = ("inf", "infinity", "infinite", "nan")
_EXPONENT: Final = re.compile(r"[eE]([+-]?[\d_]+)\s*$")
_LOG: Final = re.compile(r"ln\(([^()]*)\)")


# What a person types for a number. A float means the decimal that Python prints for it.
Number: TypeAlias = int | float | str | Fraction | Decimal | np.integer[Any] | np.floating[Any]


@dataclass(frozen=True, slots=True)
class Log:
    """The natural logarithm of a positive rational, exactly: `Log(3)` is ln 3."""

    of: Fraction

    def __init__(self, of: Number) -> None:
        object.__setattr__(self, "of", positive(of, "Log"))

    def __repr__(self) -> str:
        return f"Log({str(self.of)!r})"

    def __str__(self) -> str:
        return f"ln({self.of})"


Exact: TypeAlias = Fraction | Log


def rational(value: object, name: str) -> Fraction:
    """The exact rational that `value` denotes. `name` is the parameter's name, for the message."""
    if isinstance(value, bool | np.bool_):
        raise ParameterError("expected a number", where=name, got=kind_of(value), hint="Write 0 or 1.")
    if isinstance(value, Fraction):
        return _printable(value, name)
    if isinstance(value, int | np.integer):
        return _printable(Fraction(int(value)), name)
    if isinstance(value, float | np.floating | Decimal):
        return _from_text(str(value), name)
    if isinstance(value, str):
        return _from_text(value, name)
    raise ParameterError(
        "expected a number", where=name, got=kind_of(value), hint='Write 2, 0.5, "1/3" or Fraction(1, 3).'
    )


def _printable(number: Fraction, name: str) -> Fraction:
    bits = max(number.numerator.bit_length(), number.denominator.bit_length())
    if bits > _MAX_BITS:
        raise ParameterError("the number is too long to be meant", where=name, got=f"a number of {bits} bits")
    return number


def _from_text(text: str, name: str) -> Fraction:
    brief = text if len(text) <= 40 else text[:37] + "..."
    exponent = _EXPONENT.search(text)
    too_long = len(text) > _MAX_CHARACTERS
    digits = exponent[1].replace("_", "") if exponent else "0"
    if too_long or len(digits) > 6 or (digits.strip("+-") and abs(int(digits)) > _MAX_EXPONENT):
        raise ParameterError("the number is too long to be meant", where=name, got=brief)
    try:
        return _printable(Fraction(text), name)
    except ZeroDivisionError:
        raise ParameterError("a fraction has the denominator 0", where=name, got=brief) from None
    except ValueError:
        endless = text.strip().lstrip("+-").lower() in _ENDLESS
        hint = "Infinite and undefined parameters give no guarantee. " if endless else ""
        hint += 'Write a decimal or a fraction: 0.5 or "1/3".'
        raise ParameterError("expected a finite number", where=name, got=repr(brief), hint=hint) from None


def positive(value: object, name: str) -> Fraction:
    """An exact rational > 0."""
    number = rational(value, name)
    if number <= 0:
        raise ParameterError("must be greater than 0", where=name, got=shown(number))
    return number


def non_negative(value: object, name: str) -> Fraction:
    """An exact rational ≥ 0."""
    number = rational(value, name)
    if number < 0:
        raise ParameterError("must be 0 or greater", where=name, got=shown(number))
    return number


def probability(value: object, name: str) -> Fraction:
    """An exact rational in [0, 1]."""
    number = rational(value, name)
    if not 0 <= number <= 1:
        raise ParameterError("must be a probability, from 0 to 1", where=name, got=shown(number))
    return number


def delta_parameter(value: object, name: str = "delta") -> Fraction:
    """An exact rational in [0, 1): with δ = 1 every release would satisfy every guarantee."""
    number = rational(value, name)
    if not 0 <= number < 1:
        raise ParameterError("must be at least 0 and below 1", where=name, got=shown(number))
    return number


def positive_integer(value: object, name: str) -> int:
    """A whole number ≥ 1."""
    number = rational(value, name)
    if number.denominator != 1 or number < 1:
        raise ParameterError("must be a whole number, 1 or greater", where=name, got=shown(number))
    return int(number)


def number(value: object, where: str = "intensity") -> Exact:
    """An exact number from what a person types: a decimal, a fraction, a Log, or the text of one, "ln(3)"."""
    if isinstance(value, Log):
        return value
    if isinstance(value, str) and (match := _LOG.fullmatch(value.strip())):
        return Log(match[1])
    return rational(value, where)
