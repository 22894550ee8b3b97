"""Filters, the odometer and batches as objects: exact arithmetic, refusals, threads. Their claims: tests/laws."""

import copy
import math
import os
import pickle
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import FrozenInstanceError
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quincunx.errors import BudgetError, DataError, MisuseError, ParameterError, PrivacyError
from quincunx.loss import GaussianLaw, LaplaceLaw, LatticeLaw, Loss, StatedLaw
from quincunx.loss.filter import Admission, Batch, Filter, Odometer
from quincunx.loss.spend import cost
from quincunx.mechanisms import Gaussian, Laplace, RandomizedResponse
from quincunx.numbers import Log, float_below, float_near, precision
from quincunx.spec.standard import KL, TV, ZCDP, Additive, Approximate, Divergence, GaussianDP, Pure, Renyi, Tradeoff

QUARTER = Laplace(scale=4).loss
COIN = RandomizedResponse(probability="3/4").loss
BELL = Gaussian(sigma=2).loss
STANDARDS: list[Additive] = [
    Pure(),
    Approximate("0"),
    Approximate("1e-6"),
    ZCDP(),
    GaussianDP(),
    Renyi(2),
    Renyi("9/2"),
]


def pure(epsilon: object) -> Loss:
    return Loss.of(LaplaceLaw(epsilon=Fraction(str(epsilon))))


# Admission.


def test_a_loss_that_exactly_exhausts_the_budget_is_admitted() -> None:
    account = Filter(Pure(), 1)
    for used in range(1, 5):
        assert account.admit(QUARTER).spent == Fraction(used, 4)
    assert account.account.remaining == 0
    with pytest.raises(BudgetError):
        account.admit(pure("1e-12"))


def test_decimals_mean_what_was_typed() -> None:
    # In binary floats ten tenths are less than 1, and three are more than 0.3.
    tenths = Filter(Pure(), 0.3)
    for _ in range(3):
        tenths.admit(pure(0.1))
    assert tenths.account.remaining == 0
    assert Filter(Pure(), 0.3).budget == Filter(Pure(), "3/10").budget == Filter(Pure(), Fraction(3, 10)).budget


def test_a_receipt_is_a_frozen_value() -> None:
    account = Filter(Approximate("1e-5"), 1)
    before = account.account
    receipt = account.admit(QUARTER)
    assert receipt == account.account
    assert receipt == Admission(
        cost=Fraction(1, 4),
        delta=Fraction(0),
        spent=Fraction(1, 4),
        spent_delta=Fraction(0),
        remaining=Fraction(3, 4),
        remaining_delta=Fraction(1, 100_000),
    )
    assert before.spent == 0
    with pytest.raises(FrozenInstanceError):
        receipt.spent = Fraction(0)  # type: ignore[misc]
    assert pickle.loads(pickle.dumps(receipt)) == receipt


def test_a_refusal_changes_nothing_and_a_smaller_loss_still_fits() -> None:
    account = Filter(Pure(), 1)
    account.admit(pure("0.7"))
    before = account.account
    for _ in range(3):
        with pytest.raises(BudgetError):
            account.admit(pure("0.31"))
    assert account.account is before
    assert account.admit(pure("0.3")).remaining == 0


def test_a_refusal_says_what_was_asked_spent_left_and_affordable() -> None:
    account = Filter(Pure(), 1)
    account.admit(pure("3/4"))
    with pytest.raises(BudgetError) as caught:
        account.admit(pure("1/2"))
    error = caught.value
    assert (error.symbol, error.requested, error.spent) == ("ε", Fraction(1, 2), Fraction(3, 4))
    assert error.remaining == error.affordable == Fraction(1, 4)
    assert str(error) == (
        "Filter: the budget does not cover this loss; nothing was spent; "
        "got ε = 0.5, with 0.75 spent and 0.25 remaining. The largest affordable is ε = 0.25."
    )
    assert error.exit_code == 3
    assert isinstance(error, PrivacyError)
    again = pickle.loads(pickle.dumps(error))
    assert (type(again), str(again), vars(again)) == (BudgetError, str(error), vars(error))
    account.admit(pure(error.affordable))


def test_budget_errors_without_numbers_are_ordinary_errors() -> None:
    error = BudgetError("what", where="where", got="got", hint="hint")
    assert str(error) == "where: what; got got. hint"
    assert error.requested is None
    assert vars(pickle.loads(pickle.dumps(error))) == vars(error)


def test_refusals_name_the_parameter_and_read_as_decimals() -> None:
    with pytest.raises(BudgetError, match=r"got μ² = 0.25, with 0 spent and 0.16 remaining"):
        Filter(GaussianDP(), "0.4").admit(BELL)
    with pytest.raises(BudgetError, match=r"got ρ = 0.125, .* affordable is ρ = 0.1"):
        Filter(ZCDP(), "0.1").admit(BELL)
    with pytest.raises(BudgetError, match=r"got ε = 1\.098612288669, "):
        Filter(Pure(), 1).admit(COIN)
    with pytest.raises(BudgetError, match=r"got δ = 2e-5, with 0 spent and 1e-5 remaining") as caught:
        Filter(Approximate("1e-5"), 10).admit(BELL, delta="2e-5")
    assert (caught.value.symbol, caught.value.affordable) == ("δ", Fraction(1, 100_000))


def test_no_loss_costs_nothing_even_without_a_budget() -> None:
    for standard in STANDARDS:
        account = Filter(standard, 0)
        assert account.admit(Loss()).cost == 0
        assert account.account.spent == 0
        with pytest.raises((BudgetError, PrivacyError)):
            account.admit(COIN)


def test_the_budget_of_a_gaussian_filter_is_the_square() -> None:
    account = Filter(GaussianDP(), 1)
    for _ in range(4):
        account.admit(BELL)
    assert account.account.remaining == 0
    with pytest.raises(BudgetError):
        account.admit(Gaussian(sigma=10**6).loss)
    assert Filter(GaussianDP(), "3/2").budget == Fraction(9, 4)
    assert Filter(GaussianDP(), Log(3)).budget == Fraction("1.206948960812")


def test_zcdp_and_renyi_filters_add_their_own_parameter() -> None:
    zcdp, renyi = Filter(ZCDP(), "1/2"), Filter(Renyi(8), 4)
    for _ in range(4):
        assert zcdp.admit(BELL).cost == Fraction(1, 8)
        # D_α = α·ρ for Gaussian noise.
        assert renyi.admit(BELL).cost == 1
    assert zcdp.account.remaining == renyi.account.remaining == 0


def test_irrational_budgets_round_down_and_irrational_costs_round_up() -> None:
    account = Filter(Pure(), Log(3))
    assert account.intensity == Log(3)
    assert account.budget == Fraction("1.098612288668")
    assert cost(Pure(), COIN) == Fraction("1.098612288669")
    with pytest.raises(BudgetError):
        account.admit(COIN)
    assert Filter(Pure(), "1.098612288669").admit(COIN).remaining == 0
    assert Filter(Pure(), "ln(3)").budget == account.budget


def test_a_share_of_delta_buys_epsilon() -> None:
    account = Filter(Approximate("1e-5"), 5)
    receipt = account.admit(BELL, delta="1e-6")
    assert receipt.delta == Fraction(1, 10**6)
    assert BELL.epsilon_bounds("1e-6")[0] <= float_near(receipt.cost) <= BELL.epsilon("1e-6") + 2e-12
    assert receipt.remaining_delta == Fraction(9, 10**6)
    # A pure loss with no share pays its ε and no δ.
    assert account.admit(QUARTER).delta == 0
    with pytest.raises(PrivacyError, match=r"cannot meet this standard; got ε = ∞\. Give it a share of δ"):
        account.admit(BELL)
    assert account.account.spent == receipt.spent + Fraction(1, 4)


def test_delta_is_spent_to_the_last_part() -> None:
    account = Filter(Approximate("3e-6"), 100)
    for _ in range(3):
        account.admit(BELL, delta="1e-6")
    assert account.account.remaining_delta == 0
    with pytest.raises(BudgetError, match="got δ = "):
        account.admit(BELL, delta="1e-12")


LEAKY = Loss.of(StatedLaw(epsilon=Fraction(1, 2), rho=Fraction(1, 8), delta=Fraction(1, 1000)))


def test_stated_delta_is_charged() -> None:
    account = Filter(ZCDP("1/500"), 1)
    account.admit(LEAKY)
    assert account.admit(BELL).remaining_delta == Fraction(1, 1000)
    assert account.admit(LEAKY).remaining_delta == 0
    with pytest.raises(BudgetError, match="got δ = "):
        account.admit(LEAKY)
    assert account.account.spent == Fraction(3, 8)


@pytest.mark.parametrize("standard", [Pure(), ZCDP(), GaussianDP(), Renyi(2), Approximate(0), ZCDP("1/2000")], ids=str)
def test_stated_delta_needs_a_budget_of_delta(standard: Additive) -> None:
    with pytest.raises(BudgetError, match=r"got δ = 0\.001, ") as caught:
        Filter(standard, 100).admit(LEAKY)
    assert caught.value.affordable == (standard.delta if isinstance(standard, ZCDP | Approximate) else 0)


def test_stated_delta_in_an_approximate_filter() -> None:
    # Without a share the stated numbers are added; with one, the curve decides, and it must exceed what is stated.
    account = Filter(Approximate("1/100"), 2)
    receipt = account.admit(LEAKY)
    assert (receipt.cost, receipt.delta) == (Fraction(1, 2), Fraction(1, 1000))
    shared = account.admit(LEAKY, delta="2/1000")
    assert shared.cost <= Fraction(1, 2)
    assert shared.spent_delta == Fraction(3, 1000)
    with pytest.raises(PrivacyError, match="cannot meet"):
        account.admit(LEAKY, delta="1/2000")
    assert account.account == shared


def test_reprs_show_what_was_spent() -> None:
    account = Filter(Approximate("1e-5"), 1)
    account.admit(QUARTER)
    assert repr(account) == "<Filter: spent ε = 0.25 of 1, δ = 0 of 1e-5>"
    bell = Filter(GaussianDP(), "1/2")
    assert repr(bell) == "<Filter: spent μ² = 0 of 0.25>"
    assert (bell.standard, bell.intensity) == (GaussianDP(), Fraction(1, 2))


# What is refused.


@pytest.mark.parametrize(
    ("standard", "reason"),
    [
        (KL(), "bounds no single event"),
        (TV(), "one person's data"),
        (Tradeoff(((0, 1), (1, 0))), "stopping on a composed curve"),
        (Divergence("chi-squared"), "no number that adds up"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_standards_without_a_filter_are_type_errors(standard: object, reason: str) -> None:
    with pytest.raises(MisuseError, match=reason) as caught:
        Filter(standard, 1)  # type: ignore[arg-type]
    assert isinstance(caught.value, TypeError)
    assert isinstance(caught.value, PrivacyError)
    assert caught.value.exit_code == 4
    assert "Use Pure()" in caught.value.hint


@pytest.mark.parametrize(
    "curve", [COIN, COIN.curve(), COIN.delta, Batch([COIN]), Pure, "pure", 1, None], ids=lambda v: type(v).__name__
)
def test_a_filter_cannot_be_built_on_a_curve(curve: object) -> None:
    with pytest.raises(MisuseError, match="not on a loss or a curve"):
        Filter(curve, 1)  # type: ignore[arg-type]


@pytest.mark.parametrize("intensity", [-1, "-1/2", "nan", float("inf"), None, True, "much", {"all": 1}, Log("1/2")])
@pytest.mark.parametrize("standard", STANDARDS[:1] + STANDARDS[3:6], ids=str)
def test_bad_budgets_are_refused(standard: Additive, intensity: object) -> None:
    with pytest.raises(ParameterError):
        Filter(standard, intensity)


@pytest.mark.parametrize(
    "loss", [0.5, 1, None, Laplace(scale=1), Batch([COIN]), "1/4", [COIN], LaplaceLaw(epsilon=Fraction(1))]
)
def test_only_losses_are_charged(loss: object) -> None:
    account, meter = Filter(Pure(), 10), Odometer()
    for charge in (account.admit, meter.record, lambda entry: Batch([entry])):
        with pytest.raises(DataError, match="expected a Loss"):
            charge(loss)  # type: ignore[operator]
    assert account.account.spent == meter.total == 0


@pytest.mark.parametrize("delta", [-1, 1, "nan", None, True, "2"])
def test_bad_shares_are_refused(delta: object) -> None:
    with pytest.raises(ParameterError, match="delta"):
        Filter(Approximate("1/2"), 10).admit(COIN, delta=delta)


@pytest.mark.parametrize("standard", [Pure(), ZCDP("1/2"), GaussianDP(), Renyi(2)], ids=str)
def test_only_an_approximate_filter_shares_out_delta(standard: Additive) -> None:
    account = Filter(standard, 10)
    with pytest.raises(ParameterError, match="only an Approximate filter shares out"):
        account.admit(COIN, delta="1e-6")
    assert account.account.spent == 0


@pytest.mark.parametrize("account", [Filter(Pure(), 1), Odometer()], ids=["filter", "odometer"])
@pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy, pickle.dumps])
def test_accounts_cannot_be_copied(account: object, duplicate: Callable[[object], object]) -> None:
    with pytest.raises(PrivacyError, match="cannot be copied"):
        duplicate(account)


def test_a_forked_child_may_not_spend(monkeypatch: pytest.MonkeyPatch) -> None:
    account, meter = Filter(Pure(), 1), Odometer()
    monkeypatch.setattr(os, "getpid", lambda: -1)
    with pytest.raises(PrivacyError, match="Filter: belongs to the process that made it"):
        account.admit(QUARTER)
    with pytest.raises(PrivacyError, match="Odometer: belongs to the process that made it"):
        meter.record(QUARTER)
    assert account.account.spent == meter.total == 0


# What a loss costs.

laws = st.sampled_from(
    [
        LaplaceLaw(epsilon=Fraction(1, 5)),
        LaplaceLaw(epsilon=Fraction(2)),
        LatticeLaw(unit=Log(3), steps=1),
        LatticeLaw(unit=Fraction(1, 4), steps=3),
        GaussianLaw(mu2=Fraction(1, 9)),
        StatedLaw(epsilon=Fraction(1, 2), rho=Fraction(1, 10)),
    ]
)
losses = st.lists(st.tuples(laws, st.integers(1, 4)), max_size=3).map(lambda terms: Loss(tuple(terms)))
pure_losses = losses.filter(lambda loss: math.isfinite(loss.pure()))


@given(pure_losses)
def test_costs_are_exact_or_rounded_up_to_twelve_decimals(loss: Loss) -> None:
    with precision(256):
        for price, exact in ((cost(Pure(), loss), loss.total_pure()), (cost(ZCDP(), loss), loss.total_zcdp()[1])):
            if isinstance(exact, Fraction):
                assert price == exact
            else:
                assert 10**12 % price.denominator == 0
                assert 0 <= price - Fraction(float_below(exact)) < Fraction(2, 10**12)


@given(losses, losses, st.sampled_from(STANDARDS[3:]))
def test_costs_add_up_within_their_rounding(a: Loss, b: Loss, standard: Additive) -> None:
    together = cost(standard, a + b)
    assert together <= cost(standard, a) + cost(standard, b)
    assert cost(standard, a) <= together + Fraction(1, 10**12)


@given(pure_losses)
def test_renyi_costs_lie_below_pure_ones_and_rise_with_the_order(loss: Loss) -> None:
    prices = [cost(Renyi(alpha), loss) for alpha in ("1.1", 2, 8, 1000)]
    assert prices == sorted(prices)
    assert prices[-1] <= cost(Pure(), loss) + Fraction(1, 10**12)


@pytest.mark.parametrize("p", ["0.51", "3/4", "0.99"])
def test_the_gaussian_cost_of_randomized_response_is_its_own_mu(p: str) -> None:
    mechanism = RandomizedResponse(probability=p)
    world = mechanism.finite()
    found = GaussianDP().least(world.law(0), world.law(1))
    price = float_near(cost(GaussianDP(), mechanism.loss))
    assert price == pytest.approx(float(found.upper) ** 2, rel=1e-9, abs=2e-12)
    assert price >= float_below(found.lower) ** 2 * (1 - 1e-15)


@pytest.mark.parametrize("standard", [Pure(), Approximate(0)], ids=str)
def test_what_a_standard_cannot_state_is_refused(standard: Additive) -> None:
    with pytest.raises(PrivacyError, match="cannot meet this standard"):
        cost(standard, BELL + COIN)
    with pytest.raises(PrivacyError, match=r"got μ² = ∞"):
        cost(GaussianDP(), Loss.of(StatedLaw(epsilon=None, rho=Fraction(1, 2))))


# Any sequence.

amounts = st.lists(st.fractions(0, 1, max_denominator=50), max_size=12)


@given(amounts, st.fractions(0, 3, max_denominator=50))
def test_a_filter_admits_exactly_while_the_sum_fits(asked: list[Fraction], budget: Fraction) -> None:
    account, spent = Filter(Pure(), budget), Fraction(0)
    for amount in asked:
        loss = pure(amount) if amount else Loss()
        if spent + amount <= budget:
            spent += amount
            assert account.admit(loss).spent == spent
        else:
            with pytest.raises(BudgetError) as caught:
                account.admit(loss)
            assert caught.value.affordable == budget - spent
    assert account.account.spent == spent
    assert account.account.remaining == budget - spent >= 0


@given(amounts, st.randoms(use_true_random=False))
def test_the_order_does_not_matter_where_all_fits(asked: list[Fraction], chance: st.DrawFn) -> None:
    shuffled = list(asked)
    chance.shuffle(shuffled)  # type: ignore[attr-defined]
    meters = Odometer(), Odometer()
    for meter, order in zip(meters, (asked, shuffled), strict=True):
        for amount in order:
            meter.record(pure(amount) if amount else Loss())
    assert meters[0].total == meters[1].total == sum(asked)


# The odometer and the batch.


def test_the_odometer_adds_exactly() -> None:
    meter = Odometer()
    assert meter.total == 0
    assert meter.record(QUARTER) == Fraction(1, 4)
    assert meter.record(2 * QUARTER) == meter.total == Fraction(3, 4)
    assert repr(meter) == "<Odometer: ε = 0.75>"
    assert not hasattr(meter, "admit")


def test_the_odometer_refuses_what_is_not_pure() -> None:
    meter = Odometer()
    meter.record(COIN)
    for loss in (BELL, BELL + COIN, Loss.of(StatedLaw(epsilon=None, rho=Fraction(1, 2)))):
        with pytest.raises(PrivacyError, match="cannot meet this standard"):
            meter.record(loss)
    assert meter.total == Fraction("1.098612288669")


def test_the_odometer_refuses_a_stated_delta() -> None:
    meter = Odometer()
    with pytest.raises(PrivacyError, match=r"the loss is private only up to δ; got δ = 0\.001"):
        meter.record(LEAKY)
    assert meter.total == 0


def test_a_batch_answers_for_its_composition() -> None:
    batch = Batch(Laplace(scale=20).loss for _ in range(100))
    whole = 100 * Laplace(scale=20).loss
    assert batch.loss == whole
    assert batch.epsilon("1e-6") == whole.epsilon("1e-6")
    assert batch.epsilon_bounds("1e-6") == whole.epsilon_bounds("1e-6")
    assert batch.delta("1/2") == whole.delta("1/2")
    assert batch.delta_bounds("1/2") == whole.delta_bounds("1/2")
    # The reason to fix losses in advance: a filter would have charged ε = 5.
    assert batch.epsilon("1e-6") < 5


def test_an_empty_batch_leaks_nothing() -> None:
    assert Batch([]).loss == Loss()
    assert Batch([]).epsilon("1e-6") == 0.0


def test_a_batch_is_a_value_that_cannot_grow() -> None:
    source = [COIN]
    batch = Batch(source)
    source.append(BELL)
    assert batch.losses == (COIN,)
    assert batch == Batch((COIN,))
    assert hash(batch) == hash(Batch((COIN,)))
    assert repr(batch) == f"Batch(losses={(COIN,)!r})"
    for name in ("admit", "record", "append", "add", "extend"):
        assert not hasattr(batch, name)
    with pytest.raises(TypeError):
        batch + batch  # type: ignore[operator]
    with pytest.raises(FrozenInstanceError):
        batch.losses = ()  # type: ignore[misc]


def test_a_batch_of_one_is_still_a_list() -> None:
    with pytest.raises(DataError, match=r"expected several losses; got Loss\. Write Batch\(\[loss\]\)"):
        Batch(COIN)  # type: ignore[arg-type]


# Threads.


def storm(account: Filter, loss: Loss, threads: int, each: int) -> list[Admission]:
    """Every thread asks `each` times at once; the receipts of what was admitted."""
    start = threading.Barrier(threads)

    def ask() -> list[Admission]:
        start.wait()
        receipts = []
        for _ in range(each):
            try:
                receipts.append(account.admit(loss))
            except BudgetError:
                continue
        return receipts

    with ThreadPoolExecutor(threads) as pool:
        return [receipt for done in [pool.submit(ask) for _ in range(threads)] for receipt in done.result()]


def test_a_storm_of_threads_never_overspends() -> None:
    account = Filter(Pure(), 1)
    receipts = storm(account, pure("0.002"), threads=16, each=50)
    # 800 requests of 1/500: exactly 500 fit, and each of the 500 totals is given out once.
    assert sorted(receipt.spent for receipt in receipts) == [Fraction(k, 500) for k in range(1, 501)]
    assert account.account.remaining == 0


class Paused(Filter):
    """A filter that waits between its decision and its record, as a slow machine might, under a lock of choice."""

    def __init__(self, lock: AbstractContextManager[object] | None, patience: float) -> None:
        super().__init__(Pure(), 1)
        self._lock = lock or self._lock
        self.meeting, self.patience = threading.Barrier(2), patience

    def _decide(self, price: Fraction, share: Fraction) -> Admission:
        admission = super()._decide(price, share)
        # Both threads meet here if nothing keeps them apart; otherwise the first one gives up waiting.
        with suppress(threading.BrokenBarrierError):
            self.meeting.wait(self.patience)
        return admission


def test_the_lock_is_what_keeps_two_threads_apart() -> None:
    loss = pure("0.6")
    safe = storm(Paused(None, patience=0.2), loss, threads=2, each=1)
    assert sum(receipt.cost for receipt in safe) == Fraction(3, 5)
    # The same filter without its lock admits both: the test above is able to fail.
    unsafe = storm(Paused(nullcontext(), patience=60), loss, threads=2, each=1)
    assert sum(receipt.cost for receipt in unsafe) == Fraction(6, 5) > 1


def test_threads_share_an_odometer() -> None:
    meter = Odometer()
    with ThreadPoolExecutor(8) as pool:
        totals = list(pool.map(lambda _: meter.record(pure("0.01")), range(400)))
    assert sorted(totals) == [Fraction(k, 100) for k in range(1, 401)]
    assert meter.total == 4
