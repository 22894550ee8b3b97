"""A dataset's account in a ledger, as a session sees it."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from quincunx.errors import ParameterError
from quincunx.ledger import Balance, Registration, Standing
from quincunx.release.account import Account
from quincunx.release.guarantee import specification
from quincunx.spec.standard import ZCDP
from tests.release.test_guarantee import VISITS, schema
from tests.release.world import session

QUESTION = "SELECT region, COUNT(*) AS n, AVG(age) AS a FROM visits GROUP BY region"


def account(path: object, analyst: str | None = None, **budgets: Any) -> Account:
    given = specification(schema(VISITS), ZCDP(Fraction(1, 10**6)), 3)
    registration = Registration(dataset="visits", specification=given, budgets=budgets or None)
    return Account(path=path, registration=registration, analyst=analyst)


def seen(found: Account) -> tuple[Standing, Fraction, str, bool]:
    with found.looking() as look:
        return look.standing, look.affordable, look.head, look.known


def test_before_the_first_question_all_is_left(tmp_path: Path) -> None:
    path, given = tmp_path / "ledger.db", {"plan": 2, "analysts": {"alice": 1}}
    found = account(path, **given)
    everything = Standing(
        total=Balance(budget=Fraction(3), spent=Fraction(0)),
        delta=Balance(budget=Fraction(1, 10**6), spent=Fraction(0)),
        halts=(),
    )
    assert seen(found) == (everything, 2, "0:", False)
    assert everything.remaining == 3
    assert everything.remaining_delta == Fraction(1, 10**6)
    assert seen(account(path, "alice", **given))[1] == 1
    assert seen(account(path, "bob", **given))[1] == 0
    assert not path.exists()
    # Registering makes the ledger; the same is then read from it.
    found.register()
    standing, affordable, head, known = seen(found)
    assert (standing, affordable, known) == (everything, 2, True)
    assert head.startswith("1:")
    assert seen(account(path, "bob", **given))[1] == 0
    found.close()


def test_a_ledger_of_another_dataset_does_not_know_this_one(tmp_path: Path) -> None:
    with session(ledger=tmp_path / "l.db", dataset="others") as asked:
        asked.sql(QUESTION, spend=1)
    found = account(tmp_path / "l.db")
    standing, _, _, known = seen(found)
    assert not known
    assert standing.remaining == 3
    found.close()


def test_a_ledger_is_a_path() -> None:
    for wrong in (None, 3, b"x"[0]):
        with pytest.raises(ParameterError, match="a ledger is needed"):
            account(wrong)
    assert account(":memory:").memory
