"""The sparse vector technique: its law by enumeration, its limit, and the well-known wrong variants."""

import copy
import itertools
import math
import multiprocessing
import pickle
import threading
from collections import Counter
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import quincunx as qx
from quincunx.mechanisms import SparseVector, SparseVectorSession
from quincunx.mechanisms.goal import goal
from quincunx.noise.testing import KeyedBits
from quincunx.numbers import ball, float_above, float_below, float_near, precision
from quincunx.spec.standard import ZCDP, Approximate, Pure, Standard
from tests.statistical.goodness import FALSE_ALARM, binomial

from .grid import one_digit_less

Values = tuple[int, ...]


def vector(**changes: object) -> SparseVector:
    return SparseVector(**{"threshold": 0, "threshold_scale": 2, "query_scale": 3, **changes})  # type: ignore[arg-type]


def pure(mechanism: SparseVector, x: Values, y: Values) -> tuple[float, float]:
    world = mechanism.finite([x, y])
    with precision(512):
        found = Pure().least(world.law(x), world.law(y))
        return float_below(found.lower), float_above(found.upper)


def test_epsilon_counts_the_threshold_once_and_each_above_twice() -> None:
    assert vector().loss.total_pure() == Fraction(1, 2) + Fraction(2, 3)
    assert vector(aboves=4).loss.total_pure() == Fraction(1, 2) + Fraction(8, 3)
    assert vector(aboves=4, monotone=True).loss.total_pure() == Fraction(1, 2) + Fraction(4, 3)
    assert vector(sensitivity=2).loss.total_pure() == 1 + Fraction(4, 3)
    loss = vector().loss
    assert loss.zcdp() == pytest.approx(loss.pure() * math.tanh(loss.pure() / 2), rel=1e-15)


@pytest.mark.parametrize("aboves", [1, 2])
@pytest.mark.parametrize("monotone", [False, True])
def test_every_neighbour_on_a_small_world(aboves: int, monotone: bool) -> None:
    """All pairs of three values over −1 … 1: never more than ε."""
    mechanism = vector(aboves=aboves, monotone=monotone, threshold_scale=1, query_scale="3/2")
    values = list(itertools.product((-1, 0, 1), repeat=3))
    world = mechanism.finite(values)
    checked = 0
    for x, y in itertools.combinations(values, 2):
        moves = [b - a for a, b in zip(x, y, strict=True)]
        if max(map(abs, moves)) > 1 or (monotone and min(moves) < 0 < max(moves)):
            continue
        with precision(512):
            assert float_below(Pure().least(world.law(x), world.law(y)).lower) <= mechanism.loss.pure() * (1 + 1e-12)
        checked += 1
    assert checked > 90


@pytest.mark.parametrize(("aboves", "share"), [(1, 0.999), (2, 0.95)])
@pytest.mark.parametrize("monotone", [False, True])
def test_epsilon_is_nearly_attained(aboves: int, share: float, monotone: bool) -> None:
    mechanism = vector(aboves=aboves, monotone=monotone)
    x = (6,) * (6 - aboves) + (-8,) * aboves
    y = (5,) * (6 - aboves) + (-8 if monotone else -7,) * aboves
    low, high = pure(mechanism, x, y)
    assert low <= mechanism.loss.pure() * (1 + 1e-12)
    assert high >= share * mechanism.loss.pure()


def test_a_larger_sensitivity_and_other_standards_hold() -> None:
    mechanism = vector(sensitivity=2, aboves=2)
    for x, y in (((0, 0, 0), (2, -2, 1)), ((3, -1, -1), (1, 1, 1))):
        world = mechanism.finite([x, y])
        with precision(512):
            laws = world.law(x), world.law(y)
            assert float_below(Pure().least(*laws).lower) <= mechanism.loss.pure()
            assert float_below(ZCDP().least(*laws).lower) <= mechanism.loss.zcdp()
            assert float_below(Approximate("0.01").least(*laws).lower) <= mechanism.loss.epsilon("0.01")


def test_the_finite_model_is_the_double_sum() -> None:
    """One value: P(value + ν ≥ T + ρ) from the two laws, summed in floats."""
    mechanism = vector(threshold=1)
    q1, q2 = math.exp(-1 / 2), math.exp(-1 / 3)
    above = 0.0
    for z in range(-120, 121):
        for n in range(-160, 161):
            if 2 + n >= 1 + z:
                above += (1 - q1) / (1 + q1) * q1 ** abs(z) * (1 - q2) / (1 + q2) * q2 ** abs(n)
    law = mechanism.finite([(2,)])
    assert float_near(ball(law.probability((2,), (True,)))) == pytest.approx(above, rel=1e-9)
    # The model stops with the last allowed "above".
    assert set(mechanism.finite([(0, 0, 0)]).outputs) == {
        (True,), (False, True), (False, False, True), (False, False, False),
    }  # fmt: skip


@settings(max_examples=40)
@given(
    pairs=st.lists(st.tuples(st.integers(-6, 6), st.integers(-2, 2)), min_size=1, max_size=4),
    aboves=st.integers(1, 3),
    scales=st.tuples(st.sampled_from(["1/2", "1", "3"]), st.sampled_from(["1/2", "2", "5"])),
    monotone=st.booleans(),
)
def test_any_values_and_neighbours(
    pairs: list[tuple[int, int]], aboves: int, scales: tuple[str, str], monotone: bool
) -> None:
    mechanism = vector(
        threshold_scale=scales[0], query_scale=scales[1], aboves=aboves, sensitivity=2, monotone=monotone
    )
    x = tuple(value for value, _ in pairs)
    y = tuple(value + (abs(move) if monotone else move) for value, move in pairs)
    for first, second in ((x, y), (y, x)):
        assert pure(mechanism, first, second)[0] <= mechanism.loss.pure() * (1 + 1e-12)


# The variants of Lyu, Su and Li 2017 that are not private at their claimed ε.


def ratio(p: float, q: float) -> float:
    return math.inf if q == 0 < p else abs(math.log(p / q))


def mass(scale: float, z: int) -> float:
    q = math.exp(-1 / scale)
    return (1 - q) / (1 + q) * q ** abs(z)


def at_least(scale: float, m: int) -> float:
    q = math.exp(-1 / scale)
    return q**m / (1 + q) if m > 0 else 1 - q ** (1 - m) / (1 + q)


def test_without_noise_on_the_values_nothing_is_private() -> None:
    def answers(values: Values) -> Counter[tuple[bool, ...]]:
        found: Counter[tuple[bool, ...]] = Counter()
        for z in range(-200, 201):
            found[tuple(value >= z for value in values)] += mass(2, z)  # type: ignore[assignment]
        return found

    wrong = (False, True)
    assert ratio(answers((0, 1))[wrong], answers((1, 0))[wrong]) == math.inf


def test_without_noise_on_the_threshold_answers_below_are_not_free() -> None:
    claimed = 2 / 3  # 2·c/query_scale with c = 1
    below = [(1 - at_least(3, -value)) ** 10 for value in (0, 1)]
    assert ratio(*below) > 2 * claimed


def test_noise_that_forgets_the_number_of_aboves_is_too_small() -> None:
    """Three answers "above" with the noise of one: more than the ε of one."""
    three, one = vector(aboves=3), vector(aboves=1)
    x, y = (6, 6, -8, -8, -8), (5, 5, -7, -7, -7)
    assert pure(three, x, y)[0] > 1.3 * one.loss.pure()
    assert pure(three, x, y)[0] <= three.loss.pure()


def test_without_a_limit_on_aboves_the_loss_grows() -> None:
    free = vector(aboves=6)
    losses = [pure(free, (6,) * n + (-8,) * n, (5,) * n + (-7,) * n)[0] for n in (1, 2, 4)]
    assert losses[0] < losses[1] < losses[2]
    assert losses[2] > 1.5 * vector(aboves=1).loss.pure()


def test_publishing_the_compared_value_is_not_private() -> None:
    """A published noisy value y bounds the noisy threshold from above, so answers "below" are no longer free."""

    def published(value: int, times: int) -> float:
        # `times` answers below, then the noisy value 0, which says T + ρ ≤ 0.
        return sum(mass(2, z) * (1 - at_least(3, z - value)) ** times * mass(3, 0) for z in range(-200, 1))

    claimed = vector().loss.pure()
    losses = [ratio(published(0, times), published(1, times)) for times in (1, 10, 20)]
    assert losses[0] < losses[1] < losses[2]
    assert losses[2] > 2 * claimed


def test_a_fresh_threshold_after_each_above_costs_more() -> None:
    """c runs of one "above" each: the threshold is paid c times."""
    assert (3 * vector().loss).pure() > vector(aboves=3).loss.pure()


# Sampling.


@pytest.mark.usefixtures("stream")
def test_a_value_at_the_threshold_is_above() -> None:
    """≥, not >: with hardly any noise the comparison itself decides."""
    sharp = vector(threshold=3, threshold_scale="1/100", query_scale="1/100", aboves=2)
    assert sharp.sample([2, 3, 4, 9]).tolist() == [False, True, True]
    session = sharp.start()
    assert [session.ask(value) for value in (2, 3)] == [False, True]
    law = sharp.finite([(3,)])
    assert float_near(ball(law.probability((3,), (True,)))) > 0.999999


@pytest.mark.usefixtures("stream")
@pytest.mark.parametrize("interactive", [False, True])
def test_sampling_fits_the_finite_model(interactive: bool) -> None:
    """False-alarm rate 1e-9 for each sequence of answers."""
    mechanism, values, draws = vector(aboves=2, threshold=1), (0, 3, -1), 6_000
    found: Counter[tuple[bool, ...]] = Counter()
    for _ in range(draws):
        if interactive:
            session, answers = mechanism.start(), []
            for value in values:
                answers.append(session.ask(value))
                if session.remaining == 0:
                    break
        else:
            answers = mechanism.sample(values).tolist()
        found[tuple(answers)] += 1
    world = mechanism.finite([values])
    assert set(found) <= set(world.outputs)
    for answers in world.outputs:
        chance = float_near(ball(world.probability(values, answers)))
        assert binomial(found[answers], draws, chance) >= FALSE_ALARM  # type: ignore[index]


@pytest.mark.usefixtures("stream")
def test_a_session_ends_after_its_aboves() -> None:
    session = vector(threshold_scale="1/10", query_scale="1/10", aboves=2).start()
    assert isinstance(session, SparseVectorSession)
    assert session.mechanism.aboves == session.remaining == 2
    assert [session.ask(-100) for _ in range(50)] == [False] * 50
    assert session.ask(100)
    assert session.remaining == 1
    assert session.ask(np.int64(100))
    assert (session.asked, session.remaining) == (52, 0)
    for value in (100, -100):
        with pytest.raises(qx.errors.PrivacyError, match="is over"):
            session.ask(value)
    assert session.asked == 52
    assert repr(session) == "<SparseVectorSession: 52 asked, 0 above left>"


@pytest.mark.usefixtures("stream")
def test_the_batch_stops_with_the_last_above() -> None:
    sharp = vector(threshold_scale="1/10", query_scale="1/10", aboves=2)
    answers = sharp.sample([-50, 50, -50, 50, -50, 50])
    assert answers.tolist() == [False, True, False, True]
    assert answers.dtype == np.bool_
    assert sharp.sample([-50] * 5).tolist() == [False] * 5
    assert sharp.sample([2**80, -(2**80)]).tolist() == [True, False]
    stepped = SparseVector(threshold="0.5", threshold_scale="0.01", query_scale="0.01", sensitivity="0.1", step="0.1")
    assert stepped.sample([4, 5]).tolist() == [False, True]


def test_a_session_cannot_be_copied_or_stored() -> None:
    session = vector().start()
    for attempt in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(qx.errors.PrivacyError, match="cannot be copied"):
            attempt(session)


def _ask(session: SparseVectorSession, queue: "multiprocessing.SimpleQueue[str]") -> None:
    try:
        session.ask(0)
    except qx.errors.PrivacyError as error:
        queue.put(error.what)
    else:
        queue.put("answered")


def test_a_session_belongs_to_its_process() -> None:
    context = multiprocessing.get_context("fork")
    queue = context.SimpleQueue()
    child = context.Process(target=_ask, args=(vector().start(), queue))
    child.start()
    child.join(30)
    assert queue.get() == "belongs to the process that started it"


def test_threads_share_one_limit() -> None:
    session = vector(threshold_scale="1/10", query_scale="1/10", aboves=20).start()
    answers: list[bool] = []

    def work() -> None:
        for _ in range(10):
            try:
                answers.append(session.ask(1000))
            except qx.errors.PrivacyError:
                return

    threads = [threading.Thread(target=work) for _ in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers == [True] * 20


def test_the_noisy_threshold_is_not_shown() -> None:
    session = vector(threshold=123456789).start()
    assert "1234" not in repr(session)
    assert not hasattr(session, "__dict__")


# Error.


@pytest.mark.parametrize("beta", ["0.5", "0.05"])
@pytest.mark.parametrize("queries", [1, 3])
def test_error_covers_by_enumeration(beta: str, queries: int) -> None:
    """The answers of values just beyond threshold ± error are wrong with probability at most beta."""
    mechanism = vector(aboves=3)
    error = int(mechanism.error(beta, queries))
    for far in (error + 1, -error - 1):
        values = (far,) * queries
        world = mechanism.finite([values])
        right = tuple([far > 0] * queries)
        assert float_near(ball(world.probability(values, right))) >= 1 - float(beta)


def test_error_grows_with_queries_and_confidence() -> None:
    mechanism = vector()
    assert mechanism.error("0.05", 1) < mechanism.error("0.05", 10**6) < mechanism.error("1e-9", 10**6)
    half = vector(threshold_scale="0.2", query_scale="0.3", sensitivity="0.1", step="0.1")
    assert half.error("0.05", 10) == pytest.approx(mechanism.error("0.05", 10) / 10)


# Bad input.


@pytest.mark.parametrize(
    ("changes", "where"),
    [
        ({"threshold": "1/2"}, "threshold"),
        ({"threshold": "nan"}, "threshold"),
        ({"threshold": None}, "threshold"),
        ({"threshold_scale": 0}, "threshold_scale"),
        ({"query_scale": -1}, "query_scale"),
        ({"query_scale": float("inf")}, "query_scale"),
        ({"aboves": 0}, "aboves"),
        ({"aboves": 1.5}, "aboves"),
        ({"aboves": True}, "aboves"),
        ({"sensitivity": "1/2"}, "sensitivity"),
        ({"sensitivity": 0}, "sensitivity"),
        ({"monotone": 1}, "monotone"),
        ({"monotone": None}, "monotone"),
        ({"step": 0}, "step"),
    ],
    ids=str,
)
def test_bad_parameters(changes: dict[str, object], where: str) -> None:
    with pytest.raises(qx.errors.ParameterError) as caught:
        vector(**changes)
    assert caught.value.where == where


@pytest.mark.parametrize("values", [1.5, "3", None, [1, 2.0], [], [True], [[1], [2]], np.array([1.0]), 3])
def test_bad_values_are_refused_and_nothing_is_drawn(values: object, stream: KeyedBits) -> None:
    with pytest.raises(qx.errors.DataError) as caught:
        vector().sample(values)
    assert caught.value.where == "SparseVector"
    assert int(stream.words(1)[0]) == int(type(stream)(stream._key).words(1)[0])


@pytest.mark.parametrize("value", [1.5, "3", None, [1], [], True, np.array([1]), np.float64(1)])
def test_bad_questions_are_refused_and_not_counted(value: object) -> None:
    session = vector().start()
    with pytest.raises(qx.errors.DataError, match="SparseVectorSession"):
        session.ask(value)
    assert session.asked == 0


@pytest.mark.parametrize("inputs", [[], [()], [(0.5,)], [(True,)], [("1",)]])
def test_finite_needs_tuples_of_integers(inputs: list[Values]) -> None:
    with pytest.raises(qx.errors.DataError):
        vector().finite(inputs)


def test_finite_refuses_large_worlds() -> None:
    with pytest.raises(qx.errors.MatrixError, match="too many"):
        vector(threshold_scale=10**6).finite([(0,) * 10])


@pytest.mark.parametrize(("beta", "queries"), [(0, 1), (1, 1), ("nan", 1), ("0.05", 0), ("0.05", None), (None, 1)])
def test_bad_error_questions(beta: object, queries: object) -> None:
    with pytest.raises(qx.errors.ParameterError):
        vector().error(beta, queries)


# Calibration.

GOALS: list[dict[str, str]] = [
    {"epsilon": "1", "delta": "1e-6"},
    {"epsilon": "0", "delta": "0.1"},
    {"rho": "1/3"},
    {"rho": "1e-6"},
    {"mu": "1"},
    {"alpha": "2", "epsilon": "0.5"},
]


@pytest.mark.parametrize("epsilon", ["1e-6", "1/3", "1", "50"])
@pytest.mark.parametrize("aboves", [1, 4, 50])
@pytest.mark.parametrize("monotone", [False, True])
@pytest.mark.parametrize("ratio", [None, "1", "7/3"])
def test_a_pure_goal_is_met_with_equality(epsilon: str, aboves: int, monotone: bool, ratio: str | None) -> None:
    found = SparseVector.calibrate(
        threshold=6, aboves=aboves, sensitivity=4, monotone=monotone, step=2, ratio=ratio, epsilon=epsilon
    )
    assert found.loss.total_pure() == Fraction(epsilon)
    kept = (found.threshold, found.aboves, found.sensitivity, found.monotone, found.step)
    assert kept == (6, aboves, 4, monotone, 2)
    if ratio is not None:
        assert found.query_scale == Fraction(ratio) * found.threshold_scale


@pytest.mark.parametrize("wanted", GOALS, ids=str)
@pytest.mark.parametrize("aboves", [1, 4])
def test_the_smallest_threshold_scale_of_six_digits(aboves: int, wanted: dict[str, str]) -> None:
    aim, found = goal(**wanted), SparseVector.calibrate(threshold=0, aboves=aboves, **wanted)
    assert aim.met(found.loss)
    less = one_digit_less(found.threshold_scale)
    ratio = found.query_scale / found.threshold_scale
    assert not aim.met(vector(aboves=aboves, threshold_scale=less, query_scale=ratio * less).loss)


@pytest.mark.parametrize("aboves", [1, 2, 4, 13, 1000])
@pytest.mark.parametrize("monotone", [False, True])
def test_the_ratio_left_out_is_the_best(aboves: int, monotone: bool) -> None:
    """b₁² + b₂² at the same ε: no other ratio of a fine grid does better by more than rounding to thousandths."""

    def spread(ratio: Fraction | None) -> Fraction:
        found = SparseVector.calibrate(threshold=0, aboves=aboves, monotone=monotone, ratio=ratio, epsilon=1)
        return found.threshold_scale**2 + found.query_scale**2

    best = spread(None)
    assert all(best <= spread(Fraction(k, 20)) * (1 + Fraction(1, 10**6)) for k in range(1, 300, 3))
    found = SparseVector.calibrate(threshold=0, aboves=aboves, monotone=monotone, epsilon=1)
    ratio, paid = found.query_scale / found.threshold_scale, aboves if monotone else 2 * aboves
    assert ratio**3 <= paid < (ratio + Fraction(1, 1000)) ** 3


@pytest.mark.parametrize(
    ("wanted", "standard", "limit"),
    [
        ({"epsilon": "1"}, Pure(), 1.0),
        ({"epsilon": "1/2", "delta": "1/50"}, Approximate("1/50"), 0.5),
        ({"rho": "1/5"}, ZCDP(), 0.2),
    ],
    ids=str,
)
@pytest.mark.parametrize("aboves", [1, 2])
@pytest.mark.parametrize("monotone", [False, True])
def test_what_was_calibrated_meets_the_goal_on_a_small_world(
    wanted: dict[str, str], standard: Standard, limit: float, aboves: int, monotone: bool
) -> None:
    found = SparseVector.calibrate(threshold=1, aboves=aboves, monotone=monotone, **wanted)
    values = (1, 0, 2)
    moved = [
        tuple(value + move for value, move in zip(values, moves, strict=True))
        for moves in itertools.product((-1, 1), repeat=3)
        if not (monotone and min(moves) < 0 < max(moves))
    ]
    world = found.finite([values, *moved])
    for other in moved:
        with precision(512):
            least = standard.least(world.law(values), world.law(other))
            assert float_below(least.lower) <= limit * (1 + 1e-9)


@pytest.mark.parametrize(("error", "step"), [("40", "1"), ("0.7", "0.1"), ("3.7", "1")])
@pytest.mark.parametrize(("beta", "queries"), [("0.05", 1), ("0.05", 1000), ("1e-6", 10)])
def test_the_largest_scales_that_are_accurate_enough(error: str, step: str, beta: str, queries: int) -> None:
    found = SparseVector.for_error(error=error, beta=beta, queries=queries, threshold=0, step=step, sensitivity=step)
    assert found.error(beta, queries) <= float(Fraction(error)) * (1 + 1e-12)
    ratio = found.query_scale / found.threshold_scale
    more = found.threshold_scale + (found.threshold_scale - one_digit_less(found.threshold_scale))
    wider = vector(threshold_scale=more, query_scale=ratio * more, step=step, sensitivity=step)
    # Errors are floats above whole steps: half a step tells them apart.
    assert wider.error(beta, queries) > float(Fraction(error) // Fraction(step) * Fraction(step)) + float(step) / 2


@pytest.mark.parametrize(
    ("changes", "where"),
    [
        ({"ratio": 0}, "ratio"),
        ({"ratio": "nan"}, "ratio"),
        ({"aboves": 0}, "aboves"),
        ({"aboves": 1.5}, "aboves"),
        ({"threshold": "1/2"}, "threshold"),
        ({"threshold": None}, "threshold"),
        ({"sensitivity": "1/2"}, "sensitivity"),
        ({"monotone": 1}, "monotone"),
        ({"step": 0}, "step"),
    ],
    ids=str,
)
def test_bad_parameters_of_calibration(changes: dict[str, Any], where: str) -> None:
    for make, asked in (
        (SparseVector.calibrate, {"epsilon": 1}),
        (SparseVector.for_error, {"error": 50, "beta": "0.05", "queries": 3}),
    ):
        with pytest.raises(qx.errors.ParameterError) as caught:
            make(**{"threshold": 0, **asked, **changes})  # type: ignore[operator]
        assert caught.value.where == where


@pytest.mark.parametrize(
    ("changes", "where"),
    [({"error": 0}, "error"), ({"beta": 1}, "beta"), ({"queries": 0}, "queries"), ({"queries": "x"}, "queries")],
    ids=str,
)
def test_bad_accuracies(changes: dict[str, Any], where: str) -> None:
    with pytest.raises(qx.errors.ParameterError) as caught:
        SparseVector.for_error(**{"threshold": 0, "error": 50, "beta": "0.05", "queries": 3, **changes})
    assert caught.value.where == where


def test_one_guarantee_is_stated() -> None:
    for wanted in ({}, {"delta": "1e-6"}, {"rho": 1, "mu": 1}, {"rho": 1, "delta": "1e-6"}):
        with pytest.raises(qx.errors.ParameterError, match="state one guarantee"):
            SparseVector.calibrate(threshold=0, **wanted)
