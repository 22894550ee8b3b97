"""Balances and the sentence that refuses."""

import pickle
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quincunx.errors import BudgetError, ParameterError
from quincunx.ledger import Balance
from quincunx.ledger.budget import Demand, admit

AMOUNTS = st.fractions(0, 2)


def demand(requested: Fraction, budget: Fraction | None, spent: Fraction, kind: str = "dataset") -> Demand:
    balance = Balance(budget=budget, spent=spent)
    return Demand(budget=kind, holder=f"{kind} 'x'", symbol="ρ", requested=requested, balance=balance)


def refusal(demands: list[Demand]) -> BudgetError | None:
    try:
        admit(demands)
    except BudgetError as error:
        return error
    return None


@given(AMOUNTS, st.none() | AMOUNTS, AMOUNTS)
def test_what_is_admitted_stays_within_the_budget(
    requested: Fraction, budget: Fraction | None, spent: Fraction
) -> None:
    error = refusal([demand(requested, budget, spent)])
    if budget is None or requested == 0 or spent + requested <= budget:
        assert error is None
    else:
        assert error is not None
        assert (error.requested, error.spent, error.remaining) == (requested, spent, max(Fraction(0), budget - spent))


@given(st.lists(st.tuples(st.none() | AMOUNTS, AMOUNTS), min_size=1, max_size=3), AMOUNTS)
def test_the_largest_affordable_spend_is_admitted_and_no_larger_one(
    accounts: list[tuple[Fraction | None, Fraction]], requested: Fraction
) -> None:
    error = refusal([demand(requested, budget, spent) for budget, spent in accounts])
    if error is not None:
        assert error.affordable is not None
        above = error.affordable + Fraction(1, 10**9)
        assert refusal([demand(error.affordable, budget, spent) for budget, spent in accounts]) is None
        assert refusal([demand(above, budget, spent) for budget, spent in accounts]) is not None


def test_the_message_shows_spent_cost_remaining_and_affordable() -> None:
    plan = demand(Fraction(1, 5), Fraction(1, 2), Fraction(2, 5), "plan")
    with pytest.raises(BudgetError) as caught:
        admit([demand(Fraction(1, 5), Fraction(1), Fraction(0)), plan, demand(Fraction(1, 5), None, Fraction(9))])
    assert str(caught.value) == (
        "plan 'x': the plan's budget does not cover this; nothing was spent; got ρ = 0.2, with 0.4 spent and 0.1 "
        "remaining of 0.5. The largest affordable spend is ρ = 0.1."
    )
    again = pickle.loads(pickle.dumps(caught.value))
    assert (again.budget, again.affordable, again.symbol) == ("plan", Fraction(1, 10), "ρ")


def test_equal_budgets_are_used_up_exactly() -> None:
    spent = sum((Fraction("0.1") for _ in range(9)), Fraction(0))
    admit([demand(Fraction("0.1"), Fraction(1), spent)])
    assert Balance(budget=Fraction(1), spent=spent + Fraction("0.1")).remaining == 0


def test_a_sum_that_could_not_be_printed_is_refused() -> None:
    with pytest.raises(ParameterError, match="too long to be kept"):
        admit([demand(Fraction(1, 3**4000), None, Fraction(1, 2**9000))])
