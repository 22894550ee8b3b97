"""Register, reserve, store, reveal; replay; budgets of dataset, plan and analyst; spends made elsewhere."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, timezone
from fractions import Fraction

import pytest

import quincunx as qx
from quincunx.errors import BudgetError, DataError, ParameterError, PrivacyError, RegistrationError
from quincunx.ledger import Ledger, Reservation
from tests.ledger.worlds import empty, question, specification, ticking

pytestmark = pytest.mark.usefixtures("each_store")

TENTH = Fraction(1, 10)


@pytest.fixture
def ledger() -> Iterator[Ledger]:
    """ρ = 1 and δ = 1e-6 for the dataset, 1/2 for each plan, 3/10 for alice, 1/10 for bob."""
    with empty(clock=ticking()) as opened:
        budgets = {"plan": "1/2", "analysts": {"alice": "3/10", "bob": "1/10"}}
        opened.register(dataset="visits", specification=specification(), budgets=budgets)
        yield opened


def spent(ledger: Ledger) -> Fraction:
    return ledger.account("visits").total.spent


def kinds(ledger: Ledger) -> list[str]:
    return [record.kind for record in ledger.records()]


class TestRegistration:
    def test_the_first_use_registers_and_the_same_again_changes_nothing(self) -> None:
        ledger = empty()
        first = ledger.register(dataset="visits", specification=specification())
        head = ledger.head
        assert ledger.register(dataset="visits", specification=specification("1.0"), budgets={}) == first
        assert ledger.head == head
        assert ledger.datasets == ("visits",)

    @pytest.mark.parametrize(
        ("other", "line"),
        [
            (specification(2), "intensity: registered ρ = 1, given ρ = 2"),
            (specification("1/2"), "intensity: registered ρ = 1, given ρ = 0.5"),
            (specification(unit=qx.unit.Replace(key="person_id")), "unit.kind: registered add-remove, given replace"),
            (specification(standard=qx.standard.Pure()), "standard.kind: registered zcdp, given pure"),
        ],
    )
    def test_a_later_use_that_differs_is_refused_and_shows_both(self, other: qx.Specification, line: str) -> None:
        ledger = empty()
        ledger.register(dataset="visits", specification=specification())
        with pytest.raises(RegistrationError) as caught:
            ledger.register(dataset="visits", specification=other)
        assert line in str(caught.value)
        assert caught.value.exit_code == 4
        assert kinds(ledger) == ["registration"]

    def test_other_budgets_are_a_difference_too(self, ledger: Ledger) -> None:
        with pytest.raises(RegistrationError, match=r"budgets\.plan: registered ρ = 0\.5, given nothing"):
            ledger.register(dataset="visits", specification=specification())

    def test_an_unregistered_dataset_cannot_be_used(self, ledger: Ledger) -> None:
        for act in (
            lambda: ledger.account("others"),
            lambda: ledger.add("others", cost=1, note="by hand"),
            lambda: ledger.amend("others", budgets={}, reason="why not"),
            lambda: ledger.reserve(question("x", dataset="others")),
        ):
            with pytest.raises(RegistrationError, match="dataset 'others': is not registered"):
                act()
        assert kinds(ledger) == ["registration"]

    def test_a_question_under_another_guarantee_is_refused(self, ledger: Ledger) -> None:
        other = specification(unit=qx.unit.Replace(key="person_id"))
        with pytest.raises(RegistrationError, match=r"unit\.kind: registered add-remove, given replace"):
            ledger.reserve(question("x", specification=other), analyst="curator")
        assert spent(ledger) == 0

    def test_the_budget_belongs_to_the_name_across_versions(self, ledger: Ledger) -> None:
        for version in range(5):
            ledger.reserve(question("x", version=str(version)), analyst="curator")
        with pytest.raises(BudgetError):
            ledger.reserve(question("x", version="5"), analyst="curator")
        assert spent(ledger) == Fraction(1, 2)


class TestThreeSteps:
    def test_reserve_store_reveal(self, ledger: Ledger) -> None:
        reservation = ledger.reserve(question("x", delta="1e-7"), analyst="alice", plan="monthly")
        assert (reservation.charged, reservation.charged_delta) == (TENTH, Fraction(1, 10**7))
        assert (reservation.charged_analyst, reservation.stored, reservation.seq) == (TENTH, False, 2)
        answer = ledger.store(reservation, b"n = 42")
        assert (answer.content, answer.seq, answer.question) == (b"n = 42", 3, question("x", delta="1e-7").key)
        assert answer.head == ledger.head
        assert ledger.reveal(reservation) == answer
        assert kinds(ledger) == ["registration", "reservation", "answer"]
        account = ledger.account("visits")
        assert (account.total.spent, account.delta.spent) == (TENTH, Fraction(1, 10**7))
        assert (account.questions, account.answers) == (1, 1)
        assert dict(account.plans)["monthly"].spent == dict(account.analysts)["alice"].spent == TENTH

    def test_nothing_unstored_is_revealed(self, ledger: Ledger) -> None:
        reservation = ledger.reserve(question("x"), analyst="curator")
        with pytest.raises(PrivacyError, match="no answer is stored, so nothing may be shown"):
            ledger.reveal(reservation)

    def test_a_retry_of_an_unstored_question_costs_nothing_more(self, ledger: Ledger) -> None:
        first = ledger.reserve(question("x"), analyst="alice")
        again = ledger.reserve(question("x"), analyst="alice")
        assert (again.seq, again.question, again.stored) == (first.seq, first.question, False)
        assert (again.charged, again.charged_delta, again.charged_analyst) == (0, 0, 0)
        assert kinds(ledger) == ["registration", "reservation"]
        assert ledger.store(again, b"42").content == b"42"

    def test_the_first_stored_answer_wins(self, ledger: Ledger) -> None:
        first, second = (
            ledger.reserve(question("x"), analyst="curator"),
            ledger.reserve(question("x"), analyst="curator"),
        )
        assert ledger.store(first, b"41").content == b"41"
        assert ledger.store(second, b"43").content == b"41"
        assert ledger.store(first, b"44").content == b"41"
        assert kinds(ledger) == ["registration", "reservation", "answer"]

    def test_a_replay_is_free(self, ledger: Ledger) -> None:
        ledger.store(ledger.reserve(question("x"), analyst="alice"), b"42")
        again = ledger.reserve(question("x"), analyst="alice", plan="another")
        assert again.stored
        assert (again.charged, again.charged_analyst) == (0, 0)
        assert ledger.reveal(again).content == b"42"
        assert spent(ledger) == TENTH

    def test_a_replay_is_free_when_the_budget_is_gone(self, ledger: Ledger) -> None:
        ledger.store(ledger.reserve(question("x"), analyst="curator"), b"42")
        ledger.add("visits", cost="9/10", note="the rest")
        assert ledger.reveal(ledger.reserve(question("x"), analyst="curator")).content == b"42"

    def test_another_analyst_pays_from_their_own_budget_only(self, ledger: Ledger) -> None:
        ledger.store(ledger.reserve(question("x"), analyst="alice"), b"42")
        joined = ledger.reserve(question("x"), analyst="bob")
        assert joined.stored
        assert (joined.charged, joined.charged_analyst) == (0, TENTH)
        assert ledger.reserve(question("x"), analyst="bob").charged_analyst == 0
        assert spent(ledger) == TENTH
        assert dict(ledger.account("visits").plans)["default"].spent == TENTH
        assert kinds(ledger) == ["registration", "reservation", "answer", "replay"]
        ledger.store(ledger.reserve(question("y"), analyst="alice"), b"43")
        with pytest.raises(BudgetError, match="analyst 'bob'") as caught:
            ledger.reserve(question("y"), analyst="bob")
        assert (caught.value.budget, caught.value.remaining) == ("analyst", 0)

    def test_an_analyst_who_joins_an_unstored_question_pays_too(self, ledger: Ledger) -> None:
        ledger.reserve(question("x"), analyst="alice")
        assert ledger.reserve(question("x"), analyst="bob").charged_analyst == TENTH
        assert spent(ledger) == TENTH

    def test_whether_a_question_is_paid_can_be_asked_for_nothing(self, ledger: Ledger) -> None:
        assert not ledger.paid(question("x"))
        ledger.reserve(question("x"), analyst="alice")
        head = ledger.head
        assert ledger.paid(question("x"))
        assert ledger.paid(question("x"), analyst="alice")
        assert not ledger.paid(question("x"), analyst="bob")
        assert not ledger.paid(question("x", version="2"))
        assert ledger.head == head

    def test_equal_questions_at_another_price_are_others(self, ledger: Ledger) -> None:
        ledger.store(ledger.reserve(question("x", "1/10"), analyst="curator"), b"42")
        other = ledger.reserve(question("x", "1/20"), analyst="curator")
        assert (other.stored, other.charged) == (False, Fraction(1, 20))

    def test_an_empty_answer_and_a_cost_of_zero_are_kept(self, ledger: Ledger) -> None:
        reservation = ledger.reserve(question("invariants", 0), analyst="curator")
        assert reservation.charged == 0
        assert ledger.store(reservation, b"").content == b""
        assert ledger.reserve(question("invariants", 0), analyst="curator").stored

    def test_a_reservation_of_another_ledger_is_refused(self, ledger: Ledger) -> None:
        other = empty()
        other.register(dataset="visits", specification=specification())
        foreign = other.reserve(question("x"))
        for act in (lambda: ledger.store(foreign, b"42"), lambda: ledger.reveal(foreign)):
            with pytest.raises(PrivacyError, match="holds no such reservation"):
                act()
        assert kinds(ledger) == ["registration"]

    def test_an_interrupted_draw_leaves_the_charge(self, ledger: Ledger) -> None:
        reservation = ledger.reserve(question("x"), analyst="curator")
        # The engine failed here: nothing is paid back.
        assert spent(ledger) == TENTH
        assert ledger.account("visits").answers == 0
        assert ledger.reserve(question("x"), analyst="curator").seq == reservation.seq


class TestBudgets:
    def test_each_of_the_three_budgets_refuses(self, ledger: Ledger) -> None:
        for cost, analyst, plan, budget, remaining in (
            ("2/5", "alice", "default", "analyst", "3/10"),
            ("3/5", "curator", "default", "plan", "1/2"),
            ("11/10", "curator", "default", "dataset", "1"),
        ):
            with pytest.raises(BudgetError) as caught:
                ledger.reserve(question("x", cost), analyst=analyst, plan=plan)
            error = caught.value
            assert (error.budget, error.remaining, error.spent) == (budget, Fraction(remaining), 0)
            assert (error.requested, error.symbol, error.exit_code) == (Fraction(cost), "ρ", 3)
        assert kinds(ledger) == ["registration"]

    def test_the_affordable_spend_passes_all_budgets(self, ledger: Ledger) -> None:
        with pytest.raises(BudgetError) as caught:
            ledger.reserve(question("x", 2), analyst="alice")
        assert caught.value.affordable == Fraction(3, 10) == ledger.account("visits").affordable(analyst="alice")
        ledger.reserve(question("x", caught.value.affordable), analyst="alice")
        assert ledger.account("visits").affordable() == Fraction(1, 5)
        assert ledger.account("visits").affordable(plan="another") == Fraction(1, 2)
        assert ledger.account("visits").affordable(analyst="carol") == 0

    def test_delta_is_a_budget_of_the_dataset(self, ledger: Ledger) -> None:
        ledger.reserve(question("x", delta="9e-7"), analyst="curator")
        with pytest.raises(BudgetError) as caught:
            ledger.reserve(question("y", delta="2e-7"), analyst="curator")
        assert (caught.value.symbol, caught.value.affordable) == ("δ", Fraction(1, 10**7))
        assert "δ = 1e-7" in str(caught.value)
        assert spent(ledger) == TENTH

    def test_pure_has_no_delta(self) -> None:
        ledger, pure = empty(), specification(standard=qx.standard.Pure())
        ledger.register(dataset="visits", specification=pure)
        with pytest.raises(BudgetError, match="δ"):
            ledger.reserve(question("x", specification=pure, delta="1e-9"))
        assert ledger.reserve(question("x", specification=pure)).charged == TENTH

    def test_plans_have_a_share_each(self, ledger: Ledger) -> None:
        ledger.reserve(question("x", "1/2"), plan="a", analyst="curator")
        ledger.reserve(question("y", "1/2"), plan="b", analyst="curator")
        with pytest.raises(BudgetError, match="the dataset's budget does not cover this"):
            ledger.reserve(question("z", "1/2"), plan="c", analyst="curator")

    def test_an_analyst_without_a_share_is_refused_where_others_have_one(self, ledger: Ledger) -> None:
        with pytest.raises(BudgetError, match="analyst 'carol'"):
            ledger.reserve(question("x"), analyst="carol")

    def test_rational_budgets_are_used_up_exactly(self) -> None:
        ledger = empty()
        ledger.register(dataset="visits", specification=specification())
        for i in range(10):
            ledger.reserve(question(i, 0.1))
        assert ledger.account("visits").total.remaining == 0
        with pytest.raises(BudgetError):
            ledger.reserve(question("more", "1e-12"))


class TestElsewhere:
    def test_spends_made_with_other_tools_are_charged(self, ledger: Ledger) -> None:
        account = ledger.add("visits", cost="1/4", delta="1e-7", note="a map, with another tool", when="2024-05-01")
        assert (account.total.spent, account.delta.spent) == (Fraction(1, 4), Fraction(1, 10**7))
        body = ledger.records()[-1].body
        assert body == {
            "dataset": "visits", "cost": "1/4", "delta": "1/10000000", "note": "a map, with another tool",
            "when": "2024-05-01",
        }  # fmt: skip

    def test_more_than_remains_needs_an_amendment_first(self, ledger: Ledger) -> None:
        with pytest.raises(BudgetError):
            ledger.add("visits", cost=2, note="too much")
        ledger.amend("visits", specification=specification(2), reason="it was published already")
        assert ledger.add("visits", cost=2, note="too much").total.remaining == 0

    @pytest.mark.parametrize(
        "bad",
        [
            {"cost": -1},
            {"delta": 1},
            {"note": ""},
            {"note": None},
            {"when": "yesterday"},
            {"when": 3},
            {"when": "2024"},
        ],
    )
    def test_bad_input_is_refused(self, ledger: Ledger, bad: dict[str, object]) -> None:
        with pytest.raises(ParameterError):
            ledger.add("visits", **{"cost": "1/10", "note": "by hand", **bad})  # type: ignore[arg-type]
        assert kinds(ledger) == ["registration"]


class TestRecords:
    def test_times_are_utc(self) -> None:
        noon = datetime(2026, 5, 1, 14, 0, 0, 5000, tzinfo=timezone(timedelta(hours=2)))
        ledger = empty(clock=lambda: noon)
        ledger.register(dataset="visits", specification=specification())
        assert ledger.records()[0].time == "2026-05-01T12:00:00.005Z"
        own = empty()
        own.register(dataset="visits", specification=specification())
        assert abs(datetime.fromisoformat(own.records()[0].time) - datetime.now(UTC)) < timedelta(minutes=5)

    def test_the_chain_and_the_head(self, ledger: Ledger) -> None:
        heads = [ledger.head]
        for i in range(3):
            heads.append(ledger.reserve(question(i), analyst="curator").head)
        records = ledger.records()
        assert [record.seq for record in records] == [1, 2, 3, 4]
        assert [f"{record.seq}:{record.hash[:32]}" for record in records] == heads
        assert [record.previous for record in records[1:]] == [record.hash for record in records[:-1]]
        assert ledger.records(last=2) == records[-2:]
        assert ledger.records(last=0) == ()
        assert ledger.records(last=99) == records

    def test_a_reservation_records_who_asked_what(self, ledger: Ledger) -> None:
        ledger.reserve(question("SELECT 1", delta="1e-9"), analyst="alice", plan="monthly")
        assert ledger.records()[-1].body == {
            "dataset": "visits", "version": "1", "question": question("SELECT 1", delta="1e-9").key,
            "asked": {"plan": "SELECT 1"}, "cost": "1/10", "delta": "1/1000000000", "analyst": "alice",
            "plan": "monthly",
        }  # fmt: skip

    def test_export_gives_every_record_and_no_answer(self, ledger: Ledger) -> None:
        ledger.store(ledger.reserve(question("x"), analyst="curator"), b"canary 31415")
        lines = list(ledger.export())
        assert [json.loads(line)["kind"] for line in lines] == kinds(ledger)
        assert [json.loads(line)["seq"] for line in lines] == [1, 2, 3]
        assert "canary" not in "".join(lines)


class TestBadInput:
    def test_wrong_types_are_refused(self, ledger: Ledger) -> None:
        reservation = ledger.reserve(question("x"), analyst="curator")
        for act in (
            lambda: ledger.reserve("SELECT 1"),  # type: ignore[arg-type]
            lambda: ledger.paid("SELECT 1"),  # type: ignore[arg-type]
            lambda: ledger.store(reservation, "42"),  # type: ignore[arg-type]
            lambda: ledger.store("x", b"42"),  # type: ignore[arg-type]
            lambda: ledger.reveal(None),  # type: ignore[arg-type]
        ):
            with pytest.raises(DataError):
                act()
        assert kinds(ledger) == ["registration", "reservation"]

    @pytest.mark.parametrize(
        "names", [{"analyst": ""}, {"plan": ""}, {"analyst": 3}, {"plan": None}, {"analyst": "a "}]
    )
    def test_bad_names_are_refused(self, ledger: Ledger, names: dict[str, object]) -> None:
        with pytest.raises(ParameterError):
            ledger.reserve(question("x"), **({"analyst": "curator"} | names))  # type: ignore[arg-type]

    def test_the_last_few_are_a_whole_number(self, ledger: Ledger) -> None:
        for last in (-1, "3", 1.5, True):
            with pytest.raises(ParameterError, match="last"):
                ledger.records(last=last)  # type: ignore[arg-type]

    def test_no_refusal_tells_an_answer(self, ledger: Ledger) -> None:
        reservation = ledger.reserve(question("x"), analyst="curator")
        ledger.store(reservation, b"canary 31415")
        forged = Reservation(
            dataset="visits", question=reservation.question, seq=99, charged=TENTH, charged_delta=Fraction(0),
            charged_analyst=Fraction(0), stored=True, head=reservation.head, standing=reservation.standing,
        )  # fmt: skip
        with pytest.raises(PrivacyError) as caught:
            ledger.store(forged, b"another")
        assert "canary" not in str(caught.value)
        assert repr(ledger) == f"<Ledger: {ledger.path}>"
