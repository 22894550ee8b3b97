"""One standard in the words of another: what follows from a guarantee, and what would be enough for it.

Both are certified: what follows is rounded up, what is enough is rounded down, and every number is checked once more by
the implication that it stands on (`implication.md`).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from quincunx.numbers import Exact, stated
from quincunx.spec.order import at_most, rounded_up
from quincunx.spec.standard import Standard

# Digits of what is enough, and how far it is looked for.
_DIGITS: Final = 6
_FARTHEST: Final = 2**40


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversion:
    """follows: the least intensity of `to` that is known to hold wherever `standard` holds at `intensity`; enough: the
    largest intensity of `to`, to six digits, from which that guarantee is known to follow. None: none is known.
    """

    standard: Standard
    intensity: Exact
    to: Standard
    follows: Exact | None
    enough: Fraction | None

    @property
    def lines(self) -> tuple[str, str]:
        """Both directions as sentences."""
        given, name = _stated(self.standard, self.intensity), _NAMES.get(self.to.kind, self.to.kind)
        if self.follows is None:
            implied = f"From {given} nothing is known to follow in {name}."
        else:
            implied = f"{given} implies {name} with {_stated(self.to, self.follows)}."
        if self.enough is None:
            return implied, f"No intensity of {name} is known to imply {given}."
        return implied, f"{given} follows from {name} with {_stated(self.to, self.enough)}."


def convert(standard: Standard, intensity: Exact, to: Standard) -> Conversion:
    """What `standard` at `intensity` is in terms of `to`, in both directions."""
    standard.check(intensity)
    implied = standard.implied(intensity, to)

    def certain(x: Fraction) -> bool:
        found = to.implied(x, standard)
        return found is not None and at_most(found, intensity) is True

    return Conversion(
        standard=standard,
        intensity=intensity,
        to=to,
        follows=None if implied is None else rounded_up(implied),
        enough=_largest(certain),
    )


def _largest(certain: Callable[[Fraction], bool]) -> Fraction | None:
    """The largest x to six digits, rounded down, at which something certain for small x is certain."""
    x = Fraction(1)
    while certain(x):
        x *= 2
        if x > _FARTHEST:
            return None
    while not certain(x / 2):
        x /= 2
        if x < Fraction(1, _FARTHEST):
            return None
    unit = Fraction(10) ** (math.floor(math.log10(x / 2)) + 1 - _DIGITS)
    low, high = math.ceil(x / 2 / unit), math.ceil(x / unit)
    if not certain(low * unit):
        # The first of the multiples is beyond: its half is certain and short.
        return x / 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if certain(middle * unit) else (low, middle)
    return low * unit


def _stated(standard: Standard, intensity: Exact) -> str:
    return stated(standard.symbol, intensity) + standard.parameter_text


_NAMES: Final = {
    "pure": "pure differential privacy",
    "approximate": "(ε, δ)-differential privacy",
    "zcdp": "zero-concentrated differential privacy",
    "renyi": "Rényi differential privacy",
    "gaussian": "Gaussian differential privacy",
}
