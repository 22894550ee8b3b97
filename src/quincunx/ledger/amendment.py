"""What may be amended after the first spend: total, δ, budgets and domain; not scope, unit or standard."""

from __future__ import annotations

import json
from fractions import Fraction

from quincunx.errors import BudgetError, RegistrationError
from quincunx.ledger.registration import Registration
from quincunx.numbers import amount, at_least, stated
from quincunx.spec import Specification


def check_amendment(old: Registration, new: Registration, spent: Fraction, used: Fraction, asked: bool) -> None:
    """Raise unless `new` is true of what was `spent` (ε, ρ or μ²) and `used` (δ); `asked`: whether anything was."""
    if spent or used or asked:
        _check_blocks(old.specification, new.specification)
    for gone, total, symbol in ((spent, new.total, new.symbol), (used, new.delta, "δ")):
        if gone > total:
            raise BudgetError(
                "the total cannot fall below what is spent; nothing was changed",
                where=f"dataset {old.dataset!r}",
                got=f"{stated(symbol, total)}, with {amount(gone)} spent",
                hint=f"The smallest possible total is {symbol} = {at_least(gone)}.",
                symbol=symbol,
                requested=total,
                spent=gone,
                remaining=Fraction(0),
                affordable=gone,
                budget="dataset",
            )


def _check_blocks(old: Specification, new: Specification) -> None:
    before, after = ({**each.to_dict(), "standard": _without_delta(each)} for each in (old, new))
    for block in ("scope", "unit", "standard"):
        if before[block] != after[block]:
            # What was spent under one unit or standard says nothing about another.
            hint = "Register another name, and add to it what was spent here, in its own parameter."
            what = f"the {block} cannot change after the first spend"
            raise RegistrationError(what, where="amend", got=json.dumps(after[block], ensure_ascii=False), hint=hint)


def _without_delta(specification: Specification) -> dict[str, object]:
    return {key: value for key, value in specification.standard.to_json().items() if key != "delta"}
