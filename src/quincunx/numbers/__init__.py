"""Exact rationals from what a person types, logarithms of rationals, and certified intervals (Arb balls)."""

from quincunx.numbers.ball import (
    Ball,
    ball,
    exact_fraction,
    float_above,
    float_below,
    float_near,
    normal_quantile,
    normal_tail,
    precision,
)
from quincunx.numbers.exact import (
    Exact,
    Log,
    Number,
    delta_parameter,
    non_negative,
    number,
    positive,
    positive_integer,
    probability,
    rational,
)
from quincunx.numbers.text import above, amount, at_least, at_most, below, exact_text, near, percent, stated

__all__ = [
    "Ball",
    "Exact",
    "Log",
    "Number",
    "ball",
    "delta_parameter",
    "exact_fraction",
    "float_above",
    "float_below",
    "float_near",
    "non_negative",
    "normal_quantile",
    "normal_tail",
    "positive",
    "positive_integer",
    "precision",
    "probability",
    "rational",
]
