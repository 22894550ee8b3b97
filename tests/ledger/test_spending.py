"""One spend has a bounded denominator and a smallest size, so that nobody can make the sums too long for the others."""

import math
import shutil
import sqlite3
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quincunx.errors import BudgetError, ParameterError
from quincunx.ledger import Ledger
from quincunx.ledger.spending import exact, rounded
from tests.ledger.make_fixture import by_nobody
from tests.ledger.worlds import empty, question, specification

pytestmark = pytest.mark.usefixtures("each_store")

STORED = Path(__file__).parent.parent / "fixtures" / "ledger_v1.db"
FINE = Fraction(1, 10**30)
LONG = Fraction(1, 10**5) + Fraction(1, 3**200)


@pytest.fixture
def ledger() -> Ledger:
    opened = empty()
    opened.register(dataset="visits", specification=specification())
    return opened


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("1/64", True), ("1/63", True), ("1/7", True), ("1e-30", True), ("0.123456789", True), ("1/2979", True),
        ("64/59", True), ("1/1024", True), ("1/81", False), ("1/67", False), ("1e-32", True), ("1e-33", False),
    ],
)  # fmt: skip
def test_ordinary_amounts_are_exact(text: str, kept: bool) -> None:
    """2979 = 9 · 331, and this total has 331 in its denominator; lcm(1, …, 64) has 2^6, 3^3, 5^2 and 7^2."""
    assert exact(Fraction(text), Fraction(1, 331)) == kept


@given(st.fractions(0, 1), st.fractions(0, 2), st.fractions("1/1000", 1, max_denominator=10**6))
def test_rounding_is_up_by_less_than_its_unit_and_never_above_what_remains(
    base: Fraction, remaining: Fraction, total: Fraction
) -> None:
    amount = base + Fraction(1, 3**300)
    for left in (remaining, amount, amount + Fraction(1, 7**90)):
        found = rounded(amount, total, left)
        assert amount <= found < amount + FINE
        assert exact(found, total) or found == left
        assert found <= left or amount > left
    down = rounded(amount, total, remaining, down=True)
    assert amount - FINE < down <= amount
    assert exact(down, total)


@given(st.lists(st.fractions(0, 1).map(lambda amount: rounded(amount, Fraction(1, 331), Fraction(9))), max_size=30))
def test_sums_stay_short(amounts: list[Fraction]) -> None:
    assert exact(sum(amounts, Fraction(0)), Fraction(1, 331))
    assert sum(amounts, Fraction(0)).denominator.bit_length() <= 100 + math.lcm(*range(1, 65)).bit_length() + 9


def test_a_long_fraction_is_refused_before_it_is_reserved(ledger: Ledger) -> None:
    """Two analysts with next to nothing filled the sum of the dataset, and everyone else was refused."""
    head = ledger.head
    for cost, delta in ((LONG, 0), (Fraction(1, 10), Fraction(1, 3**100))):
        with pytest.raises(ParameterError, match="the fraction of this spend is too long") as caught:
            ledger.reserve(question("x", cost, delta=delta))
        hint = caught.value.hint
        assert hint.startswith("Rounded up it is ")
        assert len(hint) < 200
    assert ledger.head == head


def test_nobody_can_fill_the_sums_of_others() -> None:
    ledger = empty()
    ledger.register(
        dataset="visits", specification=specification(), budgets={"analysts": {"mallory": "1e-200", "alice": "1/2"}}
    )
    for number in (2**4000 + 1, 3**2500, 7**1400):
        with pytest.raises((ParameterError, BudgetError)):
            ledger.reserve(question("x", Fraction(1, number)), analyst="mallory")
    assert ledger.reserve(question("x"), analyst="alice").charged == Fraction(1, 10)


@pytest.mark.parametrize("cost", ["9.99e-7", "1e-7", "1e-320", "1e-3000"])
def test_a_spend_below_the_smallest_is_refused(ledger: Ledger, cost: str) -> None:
    with pytest.raises(ParameterError, match=r"the spend is too small.*The smallest spend is ρ = 1e-6"):
        ledger.reserve(question("x", cost))
    assert ledger.account("visits").total.spent == 0
    assert ledger.reserve(question("x", "1e-6")).charged == Fraction(1, 10**6)
    assert ledger.reserve(question("free", 0)).charged == 0


def test_the_curator_registers_another_smallest_spend(ledger: Ledger) -> None:
    ledger.amend("visits", budgets={"smallest_spend": "1/100"}, reason="no tiny questions")
    with pytest.raises(ParameterError, match=r"smallest spend is ρ = 0.01"):
        ledger.reserve(question("x", "1/200"))
    changed = ledger.amend("visits", budgets={"smallest_spend": "1e-9"}, reason="tiny ones after all")
    assert (changed.smallest_spend, changed.smallest) == (Fraction(1, 10**9), Fraction(1, 10**9))
    assert ledger.reserve(question("x", "1e-9")).charged
    assert ledger.amend("visits", budgets={}, reason="as before").smallest == Fraction(1, 10**6)
    with pytest.raises(ParameterError, match="smallest_spend"):
        ledger.amend("visits", budgets={"smallest_spend": 0}, reason="none")
    assert ledger.verify() == ledger.head


def test_all_that_remains_may_be_spent_whatever_its_fraction() -> None:
    ledger = empty()
    ledger.register(dataset="visits", specification=specification(), budgets={"analysts": {"alice": "1/9973"}})
    with pytest.raises(ParameterError, match="too long"):
        ledger.reserve(question("x", "1/99730"), analyst="alice")
    assert ledger.reserve(question("x", "1/9973"), analyst="alice").charged == Fraction(1, 9973)
    assert ledger.account("visits").affordable(analyst="alice") == 0


def test_spends_made_elsewhere_are_rounded_up(ledger: Ledger) -> None:
    account = ledger.add("visits", cost=LONG, delta=Fraction(1, 3**40), note="a map")
    assert LONG < account.total.spent < LONG + FINE
    assert Fraction(1, 3**40) < account.delta.spent < Fraction(1, 3**40) + FINE
    with pytest.raises(BudgetError):
        ledger.add("visits", cost=1, note="too much")
    assert ledger.verify() == ledger.head


def test_ledgers_with_longer_fractions_go_on_working(ledger: Ledger) -> None:
    """As earlier versions wrote them."""
    tiny = question("tiny", Fraction(1, 3**400))
    by_nobody(ledger, tiny, "default")
    by_nobody(ledger, question("long", LONG), "default")
    assert ledger.store(ledger.reserve(tiny), b"1").content == b"1"
    assert ledger.reserve(question("long", LONG)).charged == 0
    assert ledger.reserve(question("x")).charged == Fraction(1, 10)
    rest = ledger.account("visits").total.remaining
    assert rest is not None
    assert not exact(rest, Fraction(1))
    assert ledger.reserve(question("the rest", rest)).charged == rest
    assert ledger.account("visits").total.spent == 1
    assert ledger.verify() == ledger.head


def test_a_smallest_spend_needs_format_2(tmp_path: Path) -> None:
    path = Path(shutil.copy(STORED, tmp_path / "ledger.db"))
    with Ledger.open(path) as ledger:
        old = ledger.account("visits").registration
        assert "smallest_spend" not in old.budgets
        ledger.amend("visits", budgets={**old.budgets, "smallest_spend": "1/1000"}, reason="no tiny questions")
        assert ledger.verify() == ledger.head
    connection = sqlite3.connect(path)
    assert connection.execute("PRAGMA user_version").fetchone() == (2,)
    connection.close()
    with Ledger.open(path) as ledger:
        assert ledger.account("visits").registration.smallest == Fraction(1, 1000)
