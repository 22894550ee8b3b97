"""What a loss costs: the number that adds up when mechanisms are chosen along the way, as an exact rational."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any, Final

from quincunx.errors import PrivacyError
from quincunx.loss.law import Composition, Real, renyi_of, total_of
from quincunx.numbers import exact_fraction, precision
from quincunx.spec import Additive

_DECIMALS: Final = 10**12


def cost(standard: Additive, loss: Composition) -> Fraction:
    """What `loss` costs in the standard's additive parameter: exact where rational, else rounded up to 12 decimals.

    ε for Pure and Approximate, ρ for ZCDP, μ² for GaussianDP, D_α for Renyi; outside the δ that the loss states itself.
    """
    with precision(256):
        return rounded_up(_PARAMETERS[standard.kind](standard, loss), standard)


_PARAMETERS: Final[Mapping[str, Callable[[Any, Composition], Real]]] = {
    "pure": lambda _, loss: loss.total_pure(),
    "approximate": lambda _, loss: loss.total_pure(),
    "zcdp": lambda _, loss: loss.total_zcdp()[1],
    "renyi": lambda standard, loss: total_of(loss.terms, lambda law: renyi_of(law, standard.alpha))[1],
    "gaussian": lambda _, loss: loss.total_gdp(),
}


def rounded_up(value: Real, standard: Additive) -> Fraction:
    """`value` if it is exact, else the next twelve-decimal number above it; refused where it is infinite."""
    if isinstance(value, Fraction):
        return value
    if not value.is_finite():
        share = "Give it a share of δ: admit(loss, delta=…)." if standard.shares_delta else ""
        got, hint = f"{standard.additive} = ∞", share or "Choose a standard that the mechanism can meet."
        raise PrivacyError("the loss cannot meet this standard", where=type(standard).__name__, got=got, hint=hint)
    return Fraction(-(-exact_fraction(value.upper()) * _DECIMALS // 1), _DECIMALS)
