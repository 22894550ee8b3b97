"""What a question spends is decided before it is reserved: rounded, or refused, and said."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

from quincunx.errors import ParameterError
from quincunx.ledger import Registration
from quincunx.release import Session
from tests.release.world import PLAN, session, write_plan

COUNT = "SELECT COUNT(*) AS n FROM visits"
LONG = Fraction(1, 3**60)


@pytest.mark.parametrize("spend", ["1e-5", "1e-9", "1e-320", "1e-3000"])
def test_a_tiny_spend_is_a_clear_refusal_and_costs_nothing(spend: str) -> None:
    """1e-320 was charged and ended in OverflowError."""
    with session() as asked:
        for act in (asked.sql, asked.cost, asked.error, asked.explain):
            with pytest.raises(ParameterError, match="the spend is too small"):
                act(COUNT, spend=spend)
        assert asked.spent == 0


def test_noise_that_cannot_be_worked_out_is_a_clear_refusal_too() -> None:
    with session(intensity="1e-318") as asked:
        with pytest.raises(ParameterError, match="too small"):
            asked.sql(COUNT, spend="1e-320")
        assert asked.spent == 0


def test_the_smallest_spend_can_be_registered(tmp_path: Path) -> None:
    text = PLAN.replace('plan    = "50"\n', 'plan    = "50"\nsmallest_spend = "1/2"\n')
    with Session.open(write_plan(tmp_path, text)) as opened:
        with pytest.raises(ParameterError, match=r"smallest spend is ρ = 0\.5"):
            opened.sql(COUNT, spend="0.4")
        assert opened.sql(COUNT, spend="0.5").spent == Fraction(1, 2)


def test_a_long_fraction_is_rounded_up_and_said() -> None:
    with session() as asked:
        answer = asked.sql(COUNT, spend=1 + LONG)
        assert 1 + LONG < answer.spent < 1 + LONG + Fraction(1, 10**30)
        assert answer.spent == asked.spent
        (note,) = [each for each in answer.notes if "rounded up" in each]
        assert "to a multiple of 1e-30" in note
        assert asked.sql(COUNT, spend=1 + LONG).spent == 0
        assert not any("rounded" in each for each in asked.sql(COUNT, spend="1/3").notes)
        delta = Fraction(1, 10**7) + LONG
        towns = asked.sql("SELECT town, COUNT(*) AS n FROM visits GROUP BY town", spend=1, delta=delta)
        assert delta < towns.delta < delta + Fraction(1, 10**30)


def test_it_is_never_rounded_above_what_remains() -> None:
    with session(budgets={"analysts": {"alice": "1/997"}}, analyst="alice") as asked:
        answer = asked.sql(COUNT, spend="1/997")
        assert answer.spent == Fraction(1, 997)
        assert asked.remaining == 0
        assert asked.sql(COUNT, spend="1/997").spent == 0


def test_shares_of_a_plan_do_not_add_up_to_more_than_it(tmp_path: Path) -> None:
    more = '\n[[release]]\nname = "more"\nsql = "SELECT COUNT(age) AS n FROM visits"\nshare = 9971\n'
    with Session.open(write_plan(tmp_path, PLAN.replace("share = 1", "share = 2") + more)) as opened:
        check = opened.check()
        assert 50 - Fraction(2, 10**30) < check.charged < 50
        assert check.covered
        opened.release(tmp_path / "out")
        assert opened.spent == check.charged
        assert opened.check().charged == 0


def test_what_was_paid_before_amounts_were_rounded_is_replayed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As earlier versions asked, also below the smallest spend."""
    path = tmp_path / "ledger.db"
    with monkeypatch.context() as patch:
        for module in ("quincunx.ledger.ledger", "quincunx.release.quote"):
            patch.setattr(f"{module}.rounded", lambda amount, *_, **__: amount)
        patch.setattr(Registration, "check_size", lambda *_: None)
        patch.setattr(Registration, "check_spend", lambda *_: None)
        with session(ledger=path) as asked:
            old = {spend: asked.sql(COUNT, spend=spend) for spend in (1 + LONG, Fraction(1, 10**9))}
            assert asked.spent == 1 + LONG + Fraction(1, 10**9)
    with session(ledger=path) as asked:
        for spend, answer in old.items():
            again = asked.sql(COUNT, spend=spend)
            assert (again.rows, again.spent) == (answer.rows, 0)
        assert asked.sql(COUNT, spend="1/7").spent == Fraction(1, 7)
