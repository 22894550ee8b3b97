"""How parameters are read, and the quantiles and stated losses that several mechanisms share."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction

from quincunx.errors import DataError, ParameterError, kind_of
from quincunx.loss import Loss, StatedLaw
from quincunx.numbers import Number, ball, float_above, positive, precision, rational


def flag(value: object, name: str) -> bool:
    """True or False, and nothing that counts as one of them."""
    if type(value) is not bool:
        raise ParameterError("must be True or False", where=name, got=kind_of(value))
    return value


def square_of(name: str, root: Number | None, square: Number | None, default: int | None = None) -> Fraction:
    """The square from exactly one of `root` and `square`; `default` is the root where neither is given.

    Squares are what is stored, so that σ and ℓ2 distances such as √2 stay rational.
    """
    if root is None and square is None and default is not None:
        return Fraction(default**2)
    if (root is None) == (square is None):
        got = "neither" if root is None else "both"
        hint = f"{name}2 is the square of {name}."
        raise ParameterError(f"give exactly one of {name} and {name}2", where=name, got=got, hint=hint)
    return positive(square, f"{name}2") if root is None else positive(root, name) ** 2


def risk(beta: Number) -> Fraction:
    """0 < beta < 1: the probability with which an error may be exceeded."""
    number = rational(beta, "beta")
    if not 0 < number < 1:
        hint = "beta = 0.05 asks for 95 % confidence."
        raise ParameterError("must be between 0 and 1, both excluded", where="beta", got=str(number)[:40], hint=hint)
    return number


def first(enough: Callable[[int], bool], near: int = 0) -> int:
    """The smallest whole n ≥ 0 that is enough, where everything beyond one that is enough is enough too.

    near: about where it is; the better the guess, the fewer are tried, and nothing else depends on it.
    """
    # `low` is not enough, or −1; `high` is. Steps away from the guess double.
    low, high, step = near - 1, near, 1
    if enough(high):
        while low >= 0 and enough(low):
            low, high, step = max(-1, low - 2 * step), low, 2 * step
    else:
        low, high = high, high + 1
        while not enough(high):
            low, high, step = high, high + 2 * step, 2 * step
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
