"""A bound for people: rounded up, so that it stays one."""

from __future__ import annotations

from decimal import ROUND_CEILING, Decimal
from math import isfinite


def above(value: float, digits: int = 6) -> str:
    """`value` rounded up to some significant digits."""
    if value == 0 or not isfinite(value):
        return "0" if value == 0 else "∞"
    exact = Decimal(repr(value))
    rounded = exact.quantize(Decimal((0, (1,), exact.adjusted() - digits + 1)), rounding=ROUND_CEILING)
    return f"{rounded.normalize():f}" if 1e-4 <= value < 1e9 else f"{rounded.normalize()}"
