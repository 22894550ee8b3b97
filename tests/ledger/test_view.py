"""One state of a ledger: a replay from it is what reserve and reveal would give, for whom they would charge nothing."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from pathlib import Path

import pytest

import quincunx as qx
from quincunx.errors import BudgetError, DataError, HaltedError, PrivacyError, QuincunxError, RegistrationError
from quincunx.ledger import Ledger, Question, Reservation, Standing
from tests.ledger.worlds import empty, question, specification, ticking

pytestmark = pytest.mark.usefixtures("each_store")

TENTH = Fraction(1, 10)
ASKERS = (None, "alice", "bob", "curator", "Alice", "eve", " ")
ASKED = {
    "unknown": question("unknown"),
    "open": question("open"),
    "answered": question("answered"),
    "other unit": question("answered", specification=specification(unit=qx.unit.Replace(key="person_id"))),
    "other data": question("answered", dataset="schools"),
}


def filled(ledger: Ledger, *, limits: bool) -> Ledger:
    budgets = {"plan": "1/2", "analysts": {"alice": "3/10", "bob": "2/10"}} if limits else None
    ledger.register(dataset="visits", specification=specification(), budgets=budgets)
    ledger.reserve(question("open"), analyst="alice")
    ledger.store(ledger.reserve(question("answered"), analyst="alice"), b"noisy")
    return ledger


def outcome(ledger: Ledger, asked: Question, analyst: str | None) -> object:
    """What reserve and reveal give where they charge nobody; None where they charge, or nothing is stored."""
    try:
        paid = ledger.reserve(asked, analyst=analyst)
    except QuincunxError as error:
        return type(error), str(error)
    if paid.charged or paid.charged_analyst or not paid.stored:
        return None
    return paid, ledger.reveal(paid)


def looked(ledger: Ledger, asked: Question, analyst: str | None) -> object:
    try:
        with ledger.look() as view:
            return view.replay(asked, analyst=analyst)
    except QuincunxError as error:
        return type(error), str(error)


@pytest.mark.parametrize("limits", [True, False])
@pytest.mark.parametrize(("name", "analyst"), list(product(ASKED, ASKERS)))
def test_a_replay_is_what_reserving_and_revealing_give(name: str, analyst: str | None, limits: bool) -> None:
    with empty(clock=ticking()) as ledger:
        filled(ledger, limits=limits)
        before = ledger.head
        found = looked(ledger, ASKED[name], analyst)
        assert ledger.head == before
        expected = outcome(ledger, ASKED[name], analyst)
        # A refusal by a budget is none of a replay's: nothing would be charged.
        assert found == expected or (found is None and isinstance(expected, tuple) and expected[0] is BudgetError)


def test_a_replay_while_the_dataset_is_halted() -> None:
    with empty() as ledger:
        filled(ledger, limits=False)
        with pytest.raises(HaltedError):
            ledger.store(ledger.reserve(question("failing"), analyst="alice"), None)
        with ledger.look() as view:
            found = view.replay(question("answered"), analyst="alice")
            assert found is not None
            assert found[1].content == b"noisy"
            assert len(found[1].standing.halts) == 1
            assert view.replay(question("open"), analyst="alice") is None


def test_a_file_replays_nothing_under_an_injected_key(tmp_path: Path) -> None:
    with Ledger.open(tmp_path / "ledger.db") as ledger:
        filled(ledger, limits=False)
        with ledger.look() as view, pytest.raises(PrivacyError, match="injected key"):
            view.replay(question("answered"), injected=True)


def test_a_view_tells_what_an_account_tells() -> None:
    with empty() as ledger:
        filled(ledger, limits=True)
        account, head = ledger.account("visits"), ledger.head
        with ledger.look() as view:
            assert view.registration("visits") == account.registration
            assert view.registration("schools") is None
            assert view.standing("visits") == Standing(total=account.total, delta=account.delta, halts=account.halts)
            assert view.head == head
            for analyst in (None, "alice", "bob", "curator", "eve"):
                assert view.affordable("visits", analyst=analyst) == account.affordable(analyst=analyst)
            assert view.affordable("visits", plan="other") == account.affordable(plan="other")
            assert (view.paid(question("open")), view.answered(question("open"))) == (True, False)
            assert not view.paid(question("open"), analyst="bob")
            with pytest.raises(RegistrationError):
                view.standing("schools")
            with pytest.raises(DataError, match="expected a Question"):
                view.paid("SELECT 1")  # type: ignore[arg-type]
    assert Standing.untouched(account.registration).remaining == 1


def test_a_reservation_knows_where_the_dataset_stands_after_it() -> None:
    with empty() as ledger:
        filled(ledger, limits=False)
        first = ledger.reserve(question("x"))
        later = ledger.reserve(question("y"))
        assert (first.standing.remaining, later.standing.remaining) == (7 * TENTH, 6 * TENTH)
        assert isinstance(first, Reservation)
        # What is stored now carries what its reservation knew; somebody else's answer carries what is true now.
        assert ledger.store(first, b"one").standing == first.standing
        assert ledger.store(first, b"two").standing == later.standing == ledger.reveal(first).standing
