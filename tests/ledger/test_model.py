"""A state machine against a model of twenty lines: whatever is done, in whatever order, both agree."""

from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from quincunx.errors import BudgetError, PrivacyError
from quincunx.ledger import Ledger, Reservation
from tests.ledger.worlds import made, question, specification, swift_folder, ticking
from tests.postgres import Server

DELTA = Fraction(1, 10**6)
SHARES = {"plan": Fraction(2, 3), "alice": Fraction(1, 2), "bob": Fraction(1, 5)}
COSTS = st.sampled_from([Fraction(0), Fraction(1, 10), Fraction(1, 7), Fraction(1, 3), Fraction(2)])
DELTAS = st.sampled_from([Fraction(0), DELTA / 3, DELTA])
ASKED = st.sampled_from("pqrs")
ANALYSTS = st.sampled_from([None, "alice", "bob", "carol", "curator", "Alice", "\u0430lice"])
PLANS = st.sampled_from(["default", "other"])


class Machine(RuleBasedStateMachine):
    """The model: who spent what, which question was reserved, who paid for it, what was stored first."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = swift_folder()
        self.path = self.place()
        self.ledger = Ledger.open(self.path, clock=ticking())
        self.total = Fraction(1)
        self.spent: dict[tuple[str, str], Fraction] = {}
        self.delta = Fraction(0)
        self.paid: dict[str, set[str]] = {}
        self.stored: dict[str, bytes] = {}
        self.reservations: list[Reservation] = []
        self.heads: list[str] = []
        self.expected = 1

    def place(self) -> str:
        return str(Path(self.folder.name) / "ledger.db")

    @initialize()
    def register(self) -> None:
        analysts = {name: SHARES[name] for name in ("alice", "bob")}
        budgets = {"plan": SHARES["plan"], "analysts": analysts}
        self.ledger.register(dataset="visits", specification=specification(), budgets=budgets)

    def covers(self, holder: tuple[str, str], cost: Fraction) -> bool:
        if holder == ("analyst", "curator"):
            return True
        limit = self.total if holder[0] == "dataset" else SHARES.get(holder[1] if holder[0] == "analyst" else "plan", 0)
        return cost == 0 or self.spent.get(holder, Fraction(0)) + cost <= limit

    @rule(asked=ASKED, cost=COSTS, delta=DELTAS, analyst=ANALYSTS, plan=PLANS)
    def reserve(self, asked: str, cost: Fraction, delta: Fraction, analyst: str | None, plan: str) -> None:
        asking = question(asked, cost, delta=delta, specification=specification(self.total))
        if analyst is None or analyst.isascii() is False or not analyst.islower():
            # Nobody, and those who look like alice.
            with pytest.raises(PrivacyError, match=r"who asks|looks like"):
                self.ledger.reserve(asking, analyst=analyst, plan=plan)
            return
        first = asking.key not in self.paid
        holders = [("dataset", ""), ("plan", plan)] if first else []
        joins = analyst is not None and (first or analyst not in self.paid[asking.key])
        holders += [("analyst", str(analyst))] if joins else []
        fits = all(self.covers(holder, cost) for holder in holders)
        fits = fits and (not first or delta == 0 or self.delta + delta <= DELTA)
        try:
            reservation = self.ledger.reserve(asking, analyst=analyst, plan=plan)
        except BudgetError:
            assert not fits
            return
        assert fits
        for holder in holders:
            self.spent[holder] = self.spent.get(holder, Fraction(0)) + cost
        self.delta += delta if first else 0
        self.expected += bool(first or joins)
        self.paid.setdefault(asking.key, set()).update([analyst] if analyst is not None else [])
        assert (reservation.charged, reservation.charged_delta) == ((cost, delta) if first else (0, 0))
        assert reservation.charged_analyst == (cost if joins else 0)
        assert reservation.stored == (asking.key in self.stored)
        self.reservations.append(reservation)

    @precondition(lambda self: self.reservations)
    @rule(data=st.data(), content=st.binary(max_size=8))
    def store(self, data: st.DataObject, content: bytes) -> None:
        reservation = data.draw(st.sampled_from(self.reservations))
        self.expected += reservation.question not in self.stored
        kept = self.stored.setdefault(reservation.question, content)
        assert self.ledger.store(reservation, content).content == kept

    @precondition(lambda self: self.reservations)
    @rule(data=st.data())
    def reveal(self, data: st.DataObject) -> None:
        reservation = data.draw(st.sampled_from(self.reservations))
        try:
            assert self.ledger.reveal(reservation).content == self.stored.get(reservation.question)
        except PrivacyError:
            assert reservation.question not in self.stored

    @rule(cost=COSTS)
    def add(self, cost: Fraction) -> None:
        fits = self.covers(("dataset", ""), cost)
        try:
            self.ledger.add("visits", cost=cost, note="elsewhere")
        except BudgetError:
            assert not fits
            return
        assert fits
        self.expected += 1
        self.spent[("dataset", "")] = self.spent.get(("dataset", ""), Fraction(0)) + cost

    @rule(total=st.sampled_from([Fraction(1, 2), Fraction(1), Fraction(5, 4)]))
    def amend(self, total: Fraction) -> None:
        if total == self.total:
            return
        fits = self.spent.get(("dataset", ""), Fraction(0)) <= total
        try:
            self.ledger.amend("visits", specification=specification(total), reason="another total")
        except BudgetError:
            assert not fits
            return
        assert fits
        self.expected += 1
        self.total = total

    @rule()
    def reopen(self) -> None:
        self.ledger.close()
        self.ledger = Ledger.open(self.path, create=False, clock=ticking())

    @rule()
    def verify(self) -> None:
        self.heads.append(self.ledger.verify(self.heads[-1] if self.heads else None))

    @invariant()
    def agrees(self) -> None:
        if not self.ledger.datasets:
            return
        account = self.ledger.account("visits")
        assert account.total.spent == self.spent.get(("dataset", ""), Fraction(0)) <= self.total
        assert account.delta.spent == self.delta <= DELTA
        for kind, found in (("plan", account.plans), ("analyst", account.analysts)):
            assert all(balance.spent == self.spent.get((kind, name), Fraction(0)) for name, balance in found)
            assert {name for each, name in self.spent if each == kind} <= dict(found).keys()
        assert (account.questions, account.answers) == (len(self.paid), len(self.stored))
        assert self.ledger.head.split(":")[0] == str(self.expected)

    def teardown(self) -> None:
        self.ledger.verify()
        self.ledger.close()
        self.folder.cleanup()


TestModel = Machine.TestCase
TestModel.settings = settings(max_examples=60, stateful_step_count=25)


@pytest.mark.ci
def test_the_model_holds_in_a_database(durable: Server) -> None:
    class Shared(Machine):
        def place(self) -> str:
            return made(durable)

    run_state_machine_as_test(Shared, settings=settings(max_examples=15, stateful_step_count=25))
