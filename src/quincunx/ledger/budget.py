"""Budgets: who may spend how much, and the sentence that refuses more."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from quincunx.errors import BudgetError, ParameterError
from quincunx.numbers import amount, at_most, stated

# Python prints integers of up to 4,300 digits; a total must stay printable.
_MAX_BITS: Final = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Balance:
    """One account: `budget` (None: no limit of its own) and `spent`, exact, in one parameter (ε, ρ, μ² or δ)."""

    budget: Fraction | None
    spent: Fraction

    @property
    def remaining(self) -> Fraction | None:
        """max(0, budget − spent); None where there is no limit."""
        return None if self.budget is None else max(Fraction(0), self.budget - self.spent)


@dataclass(frozen=True, slots=True, kw_only=True)
class Demand:
    """`requested` of one balance. `budget`: "dataset", "plan" or "analyst"; `holder`: whose it is, in words."""

    budget: str
    holder: str
    symbol: str
    requested: Fraction
    balance: Balance

    @property
    def covered(self) -> bool:
        """Whether the balance covers it."""
        remaining = self.balance.remaining
        return self.requested == 0 or remaining is None or self.requested <= remaining


def admit(demands: Sequence[Demand]) -> None:
    """Raise BudgetError for the first demand that its balance does not cover."""
    for demand in demands:
        total = demand.balance.spent + demand.requested
        if max(total.numerator.bit_length(), total.denominator.bit_length()) > _MAX_BITS:
            hint = "Write the spend as a decimal, rounded up."
            raise ParameterError("the sum of these fractions is too long to be kept", where=demand.holder, hint=hint)
        if not demand.covered:
            raise _refusal(demand, demands)


def _refusal(demand: Demand, demands: Sequence[Demand]) -> BudgetError:
    # What could be asked instead has to pass every budget in the same parameter.
    rest = [each.balance.remaining for each in demands if each.symbol == demand.symbol]
    affordable = min(each for each in rest if each is not None)
    balance, symbol = demand.balance, demand.symbol
    remaining = balance.remaining
    got = (
        f"{stated(symbol, demand.requested)}, with {amount(balance.spent)} spent and "
        f"{amount(remaining or Fraction(0))} remaining of {amount(balance.budget or Fraction(0))}"
    )
    return BudgetError(
        f"the {demand.budget}'s budget does not cover this; nothing was spent",
        where=demand.holder,
        got=got,
        hint=f"The largest affordable spend is {symbol} = {at_most(affordable)}.",
        symbol=symbol,
        requested=demand.requested,
        spent=balance.spent,
        remaining=remaining,
        affordable=affordable,
        budget=demand.budget,
    )
