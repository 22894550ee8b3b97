"""Amendments: recorded with a reason; never below what is spent; the unit stays."""

from collections.abc import Iterator
from fractions import Fraction

import pytest

import quincunx as qx
from quincunx.errors import BudgetError, ParameterError, RegistrationError, SpecificationError
from quincunx.ledger import Ledger
from tests.ledger.worlds import empty, question, specification

pytestmark = pytest.mark.usefixtures("each_store")


@pytest.fixture
def ledger() -> Iterator[Ledger]:
    with empty() as opened:
        opened.register(dataset="visits", specification=specification(), budgets={"plan": "1/2"})
        yield opened


def test_the_total_can_rise_with_a_reason(ledger: Ledger) -> None:
    ledger.reserve(question("x", "1/2"))
    amended = ledger.amend("visits", specification=specification(2), reason="a second survey was approved")
    assert (amended.total, amended.plan) == (2, Fraction(1, 2))
    assert ledger.account("visits").total.remaining == Fraction(3, 2)
    record = ledger.records()[-1]
    assert (record.kind, record.body["reason"]) == ("amendment", "a second survey was approved")
    assert record.body["specification"]["intensity"] == "2"
    # What differs now is what was agreed before.
    with pytest.raises(RegistrationError):
        ledger.register(dataset="visits", specification=specification(), budgets={"plan": "1/2"})
    ledger.register(dataset="visits", specification=specification(2), budgets={"plan": "1/2"})
    ledger.verify()


def test_budgets_can_change_and_be_lifted(ledger: Ledger) -> None:
    ledger.reserve(question("x", "1/2"))
    with pytest.raises(BudgetError):
        ledger.reserve(question("y"))
    ledger.amend("visits", budgets={"analysts": {"alice": "1/10"}}, reason="one plan for all")
    assert ledger.account("visits").affordable() == Fraction(1, 2)
    # A share below what was used stops its holder; it makes nothing false.
    ledger.reserve(question("y"), analyst="alice")
    ledger.amend("visits", budgets={"analysts": {"alice": 0}}, reason="alice has left")
    with pytest.raises(BudgetError):
        ledger.reserve(question("z", "1/100"), analyst="alice")
    assert dict(ledger.account("visits").analysts)["alice"].remaining == 0
    ledger.verify()


def test_replay_stays_free_after_the_total_rose(ledger: Ledger) -> None:
    ledger.store(ledger.reserve(question("x")), b"42")
    ledger.amend("visits", specification=specification(2), reason="more")
    again = ledger.reserve(question("x", specification=specification(2)))
    assert (again.stored, again.charged) == (True, 0)


def test_the_total_never_falls_below_what_is_spent(ledger: Ledger) -> None:
    ledger.reserve(question("x", "1/2", delta="1e-7"))
    for smaller, symbol, least in (
        (specification("1/4"), "ρ", Fraction(1, 2)),
        (specification(standard=qx.standard.ZCDP("1e-8")), "δ", Fraction(1, 10**7)),
    ):
        with pytest.raises(BudgetError, match="cannot fall below what is spent") as caught:
            ledger.amend("visits", specification=smaller, reason="less")
        assert (caught.value.symbol, caught.value.spent, caught.value.budget) == (symbol, least, "dataset")
    ledger.amend("visits", specification=specification("1/2"), reason="no more from here on")
    with pytest.raises(BudgetError):
        ledger.reserve(question("y", "1e-9"))
    ledger.verify()


@pytest.mark.parametrize(
    ("other", "block"),
    [
        (specification(unit=qx.unit.Replace(key="person_id")), "unit"),
        (specification(unit=qx.unit.AddRemove(key="person_id", group=2)), "unit"),
        (specification(standard=qx.standard.Pure()), "standard"),
        (specification(standard=qx.standard.Approximate("1e-6")), "standard"),
        (
            qx.Specification(
                domain=specification().domain,
                scope=qx.scope.Invariants({"total": "COUNT(*)"}),
                unit=specification().unit,
                standard=specification().standard,
                intensity=1,
            ),
            "scope",
        ),
    ],
)
def test_scope_unit_and_standard_change_only_before_the_first_spend(other: qx.Specification, block: str) -> None:
    fresh = empty()
    fresh.register(dataset="visits", specification=specification())
    fresh.amend("visits", specification=other, reason="nothing was asked yet")
    fresh.verify()
    used = empty()
    used.register(dataset="visits", specification=specification())
    used.reserve(question("free", 0))
    with pytest.raises(RegistrationError, match=f"the {block} cannot change after the first spend"):
        used.amend("visits", specification=other, reason="too late")


def test_delta_and_domain_can_change(ledger: Ledger) -> None:
    ledger.reserve(question("x"))
    ledger.amend("visits", specification=specification(standard=qx.standard.ZCDP("1e-5")), reason="unknown keys")
    wider = qx.Specification(
        domain=qx.domain.Tables(columns={"person_id": "text", "age": "integer", "sex": "text"}),
        scope=qx.scope.Everything(),
        unit=qx.unit.AddRemove(key="person_id"),
        standard=qx.standard.ZCDP("1e-5"),
        intensity=1,
    )
    ledger.amend("visits", specification=wider, reason="a new column")
    with pytest.raises(RegistrationError):
        ledger.reserve(question("y"))
    ledger.reserve(question("y", specification=wider))
    ledger.verify()


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"reason": ""}, ParameterError),
        ({"reason": None}, ParameterError),
        ({"specification": None}, ParameterError),
        ({"specification": "ε = 1"}, SpecificationError),
        ({"budgets": {"total": 1}}, ParameterError),
    ],
)
def test_bad_input_is_refused(ledger: Ledger, changes: dict[str, object], error: type[Exception]) -> None:
    with pytest.raises(error):
        ledger.amend("visits", **{"specification": specification(2), "reason": "why", **changes})  # type: ignore[arg-type]
    assert len(ledger.records()) == 1
