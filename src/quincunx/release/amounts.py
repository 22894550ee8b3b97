"""How exact amounts of privacy are written: 0.05 as a decimal, 1/3 as a fraction."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import Final

from quincunx.numbers.exact import float_text
from quincunx.release.column import decimals

_DIGITS: Final = 15


def exact_text(amount: Fraction) -> str:
    """The exact amount: a decimal where one exists ("0.05", "1e-10"), else a fraction ("1/3")."""
    scale = decimals(amount)
    if scale is None:
        return str(amount)
    units = abs(amount.numerator) * 10**scale // amount.denominator
    number = Decimal((int(amount < 0), tuple(int(digit) for digit in str(units)), -scale))
    if amount and abs(amount) < Fraction(1, 10_000):
        return f"{number.normalize():e}".replace("e-0", "e-")
    return f"{number:f}"


def amount_text(amount: Fraction) -> str:
    """The amount for people: exact where it is short, otherwise "about 0.333333"."""
    text = exact_text(amount)
    return text if len(text) <= _DIGITS else f"about {float_text(amount)}"


def charge_text(symbol: str, amount: Fraction, delta: Fraction = Fraction(0)) -> str:
    """`ρ = 0.05`, or `ρ = 0.05, δ = 1e-10` where some δ is used."""
    return f"{symbol} = {amount_text(amount)}" + (f", δ = {amount_text(delta)}" if delta else "")


def percent(confidence: Fraction) -> str:
    """`95 %`."""
    return f"{amount_text(100 * confidence)} %"
