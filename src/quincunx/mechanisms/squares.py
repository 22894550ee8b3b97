"""Parameters that are stored as exact squares, so that σ and ℓ2 distances such as √2 stay rational."""

from __future__ import annotations

from fractions import Fraction

from quincunx.errors import ParameterError
from quincunx.numbers import positive


def square_of(name: str, root: object, square: object, default: int | None = None) -> Fraction:
    """The square from exactly one of `root` and `square`; `default` is the root where neither is given."""
    if root is None and square is None and default is not None:
        return Fraction(default**2)
    if (root is None) == (square is None):
        got = "neither" if root is None else "both"
        hint = f"{name}2 is the square of {name}."
        raise ParameterError(f"give exactly one of {name} and {name}2", where=name, got=got, hint=hint)
    return positive(square, f"{name}2") if root is None else positive(root, name) ** 2
