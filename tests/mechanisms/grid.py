"""Mechanisms over edge-loaded parameters, as each gives them: what the conformance tests run over."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from quincunx.mechanisms import DiscreteGaussian, RandomizedResponse, kinds
from quincunx.mechanisms.additive import Additive
from quincunx.mechanisms.calibration import DIGITS

ALL: list[Any] = [mechanism for kind in kinds().values() for mechanism in kind.examples()]
ADDITIVE = [mechanism for mechanism in ALL if isinstance(mechanism, Additive)]
# One of each kind whose small world is small enough to be composed with itself, and two that have a law of their own.
ONE_EACH: list[Any] = [
    *(kind.examples()[0] for kind in kinds().values()),
    DiscreteGaussian(sigma=3, sensitivity2=2),
    RandomizedResponse(probability="3/4", options=3),
]


def one_digit_less(value: Fraction) -> Fraction:
    """The decimal of six digits before `value`."""
    last = Fraction(10) ** (math.floor(math.log10(value)) - DIGITS + 1)
    return value - last if value / last > 10 ** (DIGITS - 1) else value - last / 10
