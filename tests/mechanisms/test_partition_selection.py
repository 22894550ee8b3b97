"""Partition selection: the closed form against the recursion, (ε, δ) by enumeration, optimality, sampling."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

import quincunx as qx
from quincunx.finite import sequential
from quincunx.loss import Loss, StatedLaw
from quincunx.mechanisms import PartitionSelection, calibration
from quincunx.mechanisms.goal import goal
from quincunx.noise.testing import KeyedBits, key_of, keyed
from quincunx.numbers import Ball, ball, float_above, float_below, float_near, precision
from quincunx.spec.standard import ZCDP, Approximate
from quincunx.spec.unit import AddRemove, Replace
from tests.statistical.goodness import FALSE_ALARM, binomial

from .grid import one_digit_less

CASES = [("1", "1e-5"), ("1/10", "1e-3"), ("3", "1e-9"), ("1/100", "0.01"), ("1", "0.5"), ("5", "0.9"), ("20", "1e-6")]


def recursion(epsilon: str, delta: str, last: int) -> list[Ball]:
    """π(0), …, π(last) by the definition."""
    growth, small = ball(Fraction(epsilon)).exp(), ball(Fraction(delta))
    found = [Ball(0)]
    for _ in range(last):
        before = found[-1]
        found.append((growth * before + small).min(1 - (1 - before - small) / growth).min(Ball(1)))
    return found


@pytest.mark.parametrize(("epsilon", "delta"), CASES)
def test_the_closed_form_is_the_recursion(epsilon: str, delta: str) -> None:
    mechanism = PartitionSelection(epsilon=epsilon, delta=delta)
    with precision(1024):
        expected = recursion(epsilon, delta, 400)
        for n, chance in enumerate(expected):
            assert abs(mechanism._chance(n) - chance) < 1e-60
    assert mechanism.chance(0) == 0.0
    assert mechanism.chance(1) == pytest.approx(float(Fraction(delta)))
    assert mechanism.chance(10**9) == 1.0
    chances = [mechanism.chance(n) for n in range(60)]
    assert chances == sorted(chances)


@pytest.mark.parametrize(("epsilon", "delta"), CASES)
def test_neighbours_are_epsilon_delta_and_no_better(epsilon: str, delta: str) -> None:
    mechanism = PartitionSelection(epsilon=epsilon, delta=delta)
    world = mechanism.finite(list(range(40)))
    tight = 0
    with precision(512):
        growth, small = ball(Fraction(epsilon)).exp(), ball(Fraction(delta))
        for n in range(1, 40):
            a, b = (ball(world.probability(m, True)) for m in (n, n - 1))
            excesses = [a - growth * b, b - growth * a, (1 - a) - growth * (1 - b), (1 - b) - growth * (1 - a)]
            assert all(not excess > small + ball(Fraction(1, 10**100)) for excess in excesses)
            # Optimal: until π reaches 1 one of the four inequalities is an equality.
            if float_near(a) < 1:
                assert min(abs(float_near(excess - small)) for excess in excesses) < 1e-90
                tight += 1
    assert tight >= 1


def test_no_rule_keeps_more() -> None:
    """Raising π(n) at any n by a little breaks an inequality, with π(n − 1) at its largest."""
    mechanism = PartitionSelection(epsilon=1, delta="0.01")
    with precision(256):
        growth, small, little = Ball(1).exp(), ball(Fraction(1, 100)), ball(Fraction(1, 10**6))
        for n in range(1, 12):
            before, now = mechanism._chance(n - 1), mechanism._chance(n) + little
            if now > 1:
                continue
            assert now > growth * before + small or 1 - before > growth * (1 - now) + small


def test_loss_is_stated_outside_delta() -> None:
    loss = PartitionSelection(epsilon=1, delta="1e-5").loss
    ((law, _),) = loss.terms
    assert isinstance(law, StatedLaw)
    assert (law.epsilon, law.delta) == (1, Fraction(1, 10**5))
    assert float(law.rho) == pytest.approx(math.tanh(0.5))
    assert law.rho >= Fraction(math.tanh(0.5))
    assert loss.epsilon("1e-5") == 1.0
    assert loss.epsilon("1e-6") == math.inf
    assert loss.pure() == loss.zcdp() == math.inf


def least(standard: object, p: object, q: object) -> tuple[float, float]:
    with precision(512):
        found = standard.least(p, q)  # type: ignore[attr-defined]
        return float_below(found.lower), float_above(found.upper)


@pytest.mark.parametrize(("a", "b"), [(1, 0), (2, 1), (5, 3), (9, 9)])
def test_under_replace_two_keys_change(a: int, b: int) -> None:
    """A person moves from one key to another: (a, b) becomes (a − 1, b + 1), covered by twice the loss, not by once."""
    mechanism = PartitionSelection(epsilon="1/2", delta="0.01")
    one = mechanism.finite(list(range(12)))
    worlds = [
        sequential(one.on(lambda _, n=x: n, ("w",)), one.on(lambda _, n=y: n, ("w",)))
        for x, y in ((a, b), (a - 1, b + 1))
    ]
    laws = worlds[0].law("w"), worlds[1].law("w")
    twice = 2 * mechanism.loss
    assert least(Approximate("0.02"), *laws)[0] <= twice.epsilon("0.02") * (1 + 1e-12)
    # The same from parallel composition, where staying changes nothing.
    parts = [(mechanism.loss, Loss())] * 2
    assert Loss.parallel(parts, unit=Replace()) == twice
    assert Loss.parallel(parts, unit=AddRemove()) == mechanism.loss


def test_once_is_not_enough_under_replace() -> None:
    mechanism = PartitionSelection(epsilon="1/2", delta="0.01")
    one = mechanism.finite(list(range(12)))
    excess = 0.0
    with precision(512):
        growth = ball(Fraction(1, 2)).exp()
        for a, b in itertools.product(range(1, 11), range(11)):
            p, q = ([(ball(one.probability(n, True))) for n in pair] for pair in ((a, b), (a - 1, b + 1)))
            total = Ball(0)
            for first, second in itertools.product((0, 1), repeat=2):
                masses = [(x if first else 1 - x) * (y if second else 1 - y) for x, y in (p, q)]
                total = total + (masses[0] - growth * masses[1]).max(Ball(0))
            excess = max(excess, float_near(total))
    assert excess > 0.0101


@pytest.mark.usefixtures("stream")
@pytest.mark.parametrize("count", [0, 1, 5, 9, 11, 14, 40])
def test_sampling_fits_the_law(count: int) -> None:
    """False-alarm rate 1e-9."""
    mechanism, draws = PartitionSelection(epsilon=1, delta="1e-4"), 200_000
    kept = mechanism.sample(np.full(draws, count))
    assert kept.dtype == np.bool_
    chance = mechanism.chance(count)
    if chance in (0.0, 1.0):
        assert np.all(kept == bool(chance))
    else:
        assert binomial(int(kept.sum()), draws, chance) >= FALSE_ALARM


def test_the_exact_path_fits_the_same_law(request: pytest.FixtureRequest) -> None:
    """False-alarm rate 1e-9, with four bits read first: one draw in sixteen is decided exactly."""
    mechanism = PartitionSelection(epsilon="1/2", delta="0.01")
    with keyed(key_of(request.node.nodeid), prefix_bits=4) as stream:
        kept = mechanism.sample([7] * 20_000)
    assert stream.fallbacks > 500
    assert binomial(int(kept.sum()), 20_000, mechanism.chance(7)) >= FALSE_ALARM


@pytest.mark.usefixtures("stream")
def test_shapes_and_order_come_back() -> None:
    mechanism = PartitionSelection(epsilon=1, delta="1e-5")
    assert mechanism.sample(0) is False
    assert mechanism.sample(10**6) is True
    assert mechanism.sample([[0, 10**6], [10**9, -5]]).tolist() == [[False, True], [True, False]]
    assert mechanism.sample([-1, 2**80, -(2**80)]).tolist() == [False, True, False]


@pytest.mark.parametrize(("beta", "size"), [("0.05", 1), ("0.5", 1), ("0.05", 1000), ("1e-9", 10)])
def test_error_is_the_smallest_count_that_is_kept(beta: str, size: int) -> None:
    mechanism = PartitionSelection(epsilon="1/2", delta="1e-6")
    n = mechanism.error(beta, size)
    assert isinstance(n, int)
    assert mechanism.chance(n) ** size >= 1 - float(beta) - 1e-12
    assert mechanism.chance(n - 1) ** size < 1 - float(beta)


def test_huge_and_tiny_parameters() -> None:
    gentle = PartitionSelection(epsilon="1e-9", delta="1e-12")
    assert 0 < gentle.chance(10) < gentle.chance(10**9) < 1 == gentle.chance(10**15)
    assert PartitionSelection(epsilon=1000, delta="1e-300").chance(1) == pytest.approx(1e-300)
    assert PartitionSelection(epsilon=1000, delta="1e-300").chance(2) == 1.0
    assert PartitionSelection(epsilon=1, delta="0.999").chance(2) == 1.0
    endless = PartitionSelection(epsilon="1e300", delta="1e-4000")
    assert (endless.chance(1), endless.chance(2)) == (0.0, 1.0)
    assert PartitionSelection(epsilon="1e-4000", delta="1e-3").chance(500) == pytest.approx(0.5)


@pytest.mark.parametrize(
    ("changes", "where"),
    [
        ({"epsilon": 0}, "epsilon"),
        ({"epsilon": -1}, "epsilon"),
        ({"epsilon": "nan"}, "epsilon"),
        ({"epsilon": True}, "epsilon"),
        ({"delta": 0}, "delta"),
        ({"delta": 1}, "delta"),
        ({"delta": -1}, "delta"),
        ({"delta": None}, "delta"),
    ],
    ids=str,
)
def test_bad_parameters(changes: dict[str, object], where: str) -> None:
    with pytest.raises(qx.errors.ParameterError) as caught:
        PartitionSelection(**{"epsilon": 1, "delta": "1e-5", **changes})  # type: ignore[arg-type]
    assert caught.value.where == where


@pytest.mark.parametrize("counts", [1.5, "3", None, [1, 2.0], [], [True], [[1], [2, 3]], np.array([1.0]), {1: 2}])
def test_bad_counts_are_refused_and_nothing_is_drawn(counts: object, stream: KeyedBits) -> None:
    with pytest.raises(qx.errors.DataError) as caught:
        PartitionSelection(epsilon=1, delta="1e-5").sample(counts)
    assert caught.value.where == "PartitionSelection"
    assert int(stream.words(1)[0]) == int(type(stream)(stream._key).words(1)[0])


@pytest.mark.parametrize("count", [-1, 1.5, None, "x", True])
def test_bad_questions(count: object) -> None:
    mechanism = PartitionSelection(epsilon=1, delta="1e-5")
    with pytest.raises(qx.errors.ParameterError):
        mechanism.chance(count)
    with pytest.raises(qx.errors.ParameterError):
        mechanism.error(beta="0.05", size=count)
    with pytest.raises(qx.errors.ParameterError):
        mechanism.error(beta=count if count != 1.5 else 2)


@pytest.mark.parametrize("inputs", [[], [0.5], [True], ["0"]])
def test_finite_needs_integers(inputs: list[int]) -> None:
    with pytest.raises(qx.errors.DataError):
        PartitionSelection(epsilon=1, delta="1e-5").finite(inputs)


# Calibration.


@pytest.mark.parametrize(("epsilon", "delta"), CASES)
def test_epsilon_and_delta_are_met_with_equality(epsilon: str, delta: str) -> None:
    found = PartitionSelection.calibrate(epsilon=epsilon, delta=delta)
    assert found == PartitionSelection(epsilon=epsilon, delta=delta)
    assert goal(epsilon=epsilon, delta=delta).met(found.loss)
    assert not goal(epsilon=Fraction(epsilon) * Fraction(999, 1000), delta=delta).met(found.loss)


@pytest.mark.parametrize("rho", ["1e-6", "1/8", "1", "30"])
@pytest.mark.parametrize("delta", ["1e-9", "1/10"])
def test_the_largest_epsilon_of_six_digits_within_rho(rho: str, delta: str) -> None:
    found = PartitionSelection.calibrate(rho=rho, delta=delta)
    assert found.delta == Fraction(delta)
    assert found.loss.stated_delta() == Fraction(delta)
    assert found.loss.total_zcdp()[1] <= Fraction(rho)
    last = found.epsilon - one_digit_less(found.epsilon)
    assert PartitionSelection(epsilon=found.epsilon + last, delta=delta).loss.total_zcdp()[1] > Fraction(rho)


def test_a_known_epsilon_for_rho() -> None:
    # ε·tanh(ε/2) = 1/8 at ε = 0.5052685…
    assert PartitionSelection.calibrate(rho="1/8", delta="1e-5").epsilon == Fraction("0.505268")


@pytest.mark.parametrize("rho", ["1/8", "2"])
def test_what_was_calibrated_for_rho_holds_on_a_small_world(rho: str) -> None:
    """δ-approximate ρ-zCDP, enclosed by enumeration, is certainly within ρ between every two neighbours."""
    found = PartitionSelection.calibrate(rho=rho, delta="1/100")
    world = found.finite(list(range(30)))
    for n in range(29):
        with precision(512):
            least = ZCDP("1/100").least(world.law(n), world.law(n + 1))
            assert float_below(least.lower) <= float(Fraction(rho)) * (1 + 1e-9)


@pytest.mark.parametrize(("error", "delta"), [(2, "1e-5"), (14, "1e-5"), (100, "1e-9"), (30, "1e-12"), (5, "0.1")])
@pytest.mark.parametrize(("beta", "size"), [("0.05", 1), ("0.05", 100), ("1e-9", 3)])
def test_the_smallest_epsilon_that_keeps_enough(error: int, delta: str, beta: str, size: int) -> None:
    found = PartitionSelection.for_error(error=error, beta=beta, size=size, delta=delta)
    assert found.delta == Fraction(delta)
    assert found.error(beta, size) <= error
    less = PartitionSelection(epsilon=one_digit_less(found.epsilon), delta=delta)
    assert less.error(beta, size) > error


@pytest.mark.parametrize("delta", [0, "0", 1, -1, "nan", None, "x"])
def test_a_delta_is_needed(delta: object) -> None:
    for asked in ({"epsilon": 1}, {"rho": 1}):
        with pytest.raises(qx.errors.ParameterError) as caught:
            PartitionSelection.calibrate(delta=delta, **asked)
        assert caught.value.where == "delta"
    with pytest.raises(qx.errors.ParameterError) as caught:
        PartitionSelection.for_error(error=10, beta="0.05", delta=delta)
    assert caught.value.where == "delta"


def test_exactly_one_of_epsilon_and_rho() -> None:
    for asked in ({}, {"epsilon": 1, "rho": 1}):
        with pytest.raises(qx.errors.ParameterError, match="state one guarantee"):
            PartitionSelection.calibrate(delta="1e-5", **asked)
    for name in ("epsilon", "rho"):
        for value in (0, -1, "nan", "x", True):
            with pytest.raises(qx.errors.ParameterError) as caught:
                PartitionSelection.calibrate(delta="1e-5", **{name: value})
            assert caught.value.where == name
    with pytest.raises(TypeError):
        PartitionSelection.calibrate(delta="1e-5", mu=1)  # type: ignore[call-arg]


@pytest.mark.parametrize(
    ("changes", "where"),
    [
        ({"error": 1}, "error"),
        ({"error": 0}, "error"),
        ({"error": 2.5}, "error"),
        ({"beta": 0}, "beta"),
        ({"beta": 1}, "beta"),
        ({"size": 0}, "size"),
    ],
    ids=str,
)
def test_bad_accuracies(changes: dict[str, object], where: str) -> None:
    with pytest.raises(qx.errors.ParameterError) as caught:
        PartitionSelection.for_error(**{"error": 10, "beta": "0.05", "delta": "1e-5", **changes})  # type: ignore[arg-type]
    assert caught.value.where == where


def test_a_search_that_goes_wrong_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    right = calibration._edge
    monkeypatch.setattr(calibration, "_edge", lambda *given_: right(*given_) - given_[3])
    with pytest.raises(qx.errors.VerificationError):
        PartitionSelection.calibrate(rho="1/3", delta="1e-5")
    with pytest.raises(qx.errors.VerificationError):
        PartitionSelection.for_error(error=14, beta="0.05", delta="1e-5")
