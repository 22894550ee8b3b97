"""Factors, lists and names in sentences, numbers in formulas, and rationals above a certified value."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Final

from quincunx.numbers import Ball, Exact, Log, above, amount, ball, precision
from quincunx.spec.divergence import as_rational

_DIGITS: Final = 30


def times(epsilon: Exact) -> str:
    """The factor e^ε in words: exactly `3` for ε = ln 3, otherwise `e^(0.5) ≈ 1.649`, rounded up."""
    if epsilon == Fraction(0):
        return "1"
    if isinstance(epsilon, Log) and not amount(epsilon.of).startswith("about"):
        return amount(epsilon.of)
    with precision(128):
        factor = decimal_above(ball(epsilon).exp(), digits=4)
    return f"e^({amount(epsilon)}) ≈ {above(factor, 4)}"


def latex_number(number: Exact) -> str:
    r"""`2`, `\tfrac{1}{2}` or `\ln 3`."""
    inside = number.of if isinstance(number, Log) else number
    over = rf"\tfrac{{{inside.numerator}}}{{{inside.denominator}}}"
    text = str(inside) if inside.denominator == 1 else over
    return rf"\ln {text}" if isinstance(number, Log) else text


def decimal_above(value: Ball, digits: int = _DIGITS) -> Fraction:
    """A rational with `digits` significant decimals that is certainly not below a positive finite `value`."""
    top = as_rational(value.upper())
    # 2^b is 10^0.30103b: the leading decimal place up to one digit, then exactly.
    place = (top.numerator.bit_length() - top.denominator.bit_length()) * 30_103 // 100_000 - digits
    unit = Fraction(10) ** (place - 2)
    while top >= unit * 10**digits:
        unit *= 10
    return -(-top // unit) * unit


def listed(items: Sequence[str]) -> str:
    """ "a", "a and b", "a, b and c"."""
    return items[0] if len(items) == 1 else f"{', '.join(items[:-1])} and {items[-1]}"


_ESCAPES = str.maketrans({
    "\\": r"\textbackslash{}", "_": r"\_", "%": r"\%", "&": r"\&", "#": r"\#", "$": r"\$", "{": r"\{", "}": r"\}",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
})  # fmt: skip


def tex(text: str) -> str:
    r"""The text inside \text{…}, with LaTeX's own characters escaped."""
    return rf"\text{{{text.translate(_ESCAPES)}}}"
