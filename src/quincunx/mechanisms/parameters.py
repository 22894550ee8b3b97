"""Parameters, quantiles and stated losses that selecting mechanisms share."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction

from quincunx.errors import DataError, ParameterError, kind_of
from quincunx.loss import Loss, StatedLaw
from quincunx.numbers import Number, ball, float_above, precision, rational


def flag(value: object, name: str) -> bool:
    """True or False, and nothing that counts as one of them."""
    if type(value) is not bool:
        raise ParameterError("must be True or False", where=name, got=kind_of(value))
    return value


def risk(beta: Number) -> Fraction:
    """0 < beta < 1: the probability with which an error may be exceeded."""
    number = rational(beta, "beta")
    if not 0 < number < 1:
        hint = "beta = 0.05 asks for 95 % confidence."
        raise ParameterError("must be between 0 and 1, both excluded", where="beta", got=str(number)[:40], hint=hint)
    return number


def first(enough: Callable[[int], bool]) -> int:
    """The smallest whole n ≥ 0 that is enough, where everything beyond one that is enough is enough too."""
    high = 0 if enough(0) else 1
    while high and not enough(high):
        high *= 2
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def tuples(inputs: Sequence[Sequence[int]]) -> list[tuple[int, ...]]:
    """The inputs of a small world: tuples of integers, none of them empty."""
    rows = [tuple(row) for row in inputs]
    if not rows or not all(rows) or not all(type(value) is int for row in rows for value in row):
        got = ", ".join(sorted({type(value).__name__ for row in rows for value in row})) or "an empty list"
        raise DataError("needs at least one tuple, all of integers", where="finite", got=got)
    return rows


def stated(epsilon: Fraction, delta: Fraction = Fraction(0)) -> Loss:
    """What is known of any (ε, δ)-DP mechanism: ρ = ε·tanh(ε/2) outside δ, as the next float above."""
    with precision(128):
        rho = float_above(ball(epsilon) * (ball(epsilon) / 2).tanh())
    # tanh is at most 1, and beyond the largest float nothing else is left to say.
    exact = epsilon if math.isinf(rho) else Fraction(rho)
    return Loss.of(StatedLaw(epsilon=epsilon, rho=exact, delta=delta))
