"""Randomized response with several options: its law against enumeration, its ρ against a grid of orders."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from quincunx.finite import Mechanism, sequential
from quincunx.loss import LatticeLaw, Loss, ResponseLaw
from quincunx.mechanisms import DiscreteLaplace, RandomizedResponse
from quincunx.numbers import Log, ball, float_above, float_below, float_near, precision
from quincunx.spec.standard import KL, TV, ZCDP, Approximate, Pure, Renyi

EQUAL = 1e-12
CASES = [("1/2", 3), ("0.9", 3), ("0.1", 3), ("0.3", 5), ("0.01", 10), ("99/100", 40)]
DELTAS = ["0", "1e-9", "1e-4", "0.05"]


def response(p: object, k: int) -> ResponseLaw:
    truth, other = Fraction(p), (1 - Fraction(p)) / (k - 1)
    return ResponseLaw(high=max(truth, other), low=min(truth, other))


def least(standard: object, world: Mechanism, x: object = 0, y: object = 1) -> tuple[float, float]:
    with precision(512):
        found = standard.least(world.law(x), world.law(y))  # type: ignore[attr-defined]
        return float_below(found.lower), float_above(found.upper)


@pytest.mark.parametrize(("p", "k"), CASES)
def test_one_use_equals_enumeration_for_every_pair_of_answers(p: str, k: int) -> None:
    mechanism = RandomizedResponse(probability=p, options=k)
    world, loss = mechanism.finite(), mechanism.loss
    assert loss == Loss.of(response(p, k))
    for x, y in ((0, 1), (k - 1, 0), (1, k - 1)):
        assert least(Pure(), world, x, y)[1] == pytest.approx(loss.pure(), rel=EQUAL)
        assert least(TV(), world, x, y)[1] == pytest.approx(loss.tv(), rel=EQUAL)
        assert least(KL(), world, x, y)[1] == pytest.approx(loss.kl(), rel=EQUAL)
        assert least(Renyi("5/2"), world, x, y)[1] == pytest.approx(loss.renyi("5/2"), rel=EQUAL)
        for delta in DELTAS:
            found = least(Approximate(delta), world, x, y)[1]
            assert found == pytest.approx(loss.epsilon(delta), rel=1e-9, abs=1e-12)
        low, high = loss.zcdp_bounds()
        found_low, found_high = least(ZCDP(), world, x, y)
        assert found_low <= high * (1 + EQUAL)
        assert low <= found_high * (1 + EQUAL)
        assert found_low == pytest.approx(high, rel=1e-3)


@pytest.mark.parametrize(("p", "k"), CASES[:5])
@pytest.mark.parametrize("uses", [2, 3])
def test_repeated_uses_equal_enumeration(p: str, k: int, uses: int) -> None:
    mechanism = RandomizedResponse(probability=p, options=k)
    # Which other answer it was says nothing of 0 against 1.
    world = mechanism.finite().map(lambda answer: min(answer, 2)).on(lambda x: x, (0, 1)).power(uses)  # type: ignore[type-var]
    loss = uses * mechanism.loss
    for delta in DELTAS:
        found = least(Approximate(delta), world)[1]
        assert found == pytest.approx(loss.epsilon(delta), rel=1e-9, abs=1e-12)
    assert least(TV(), world)[1] == pytest.approx(loss.tv(), rel=1e-9)


def test_the_supremum_need_not_be_at_order_one() -> None:
    """Many options, nearly fair: D_1 is far below the largest D_α/α."""
    law = response("0.0011", 1000)
    low, high = Loss.of(law).zcdp_bounds()
    assert low < 1e-5
    assert 3e-4 < high < 4e-4
    orders = [Fraction(100 + 2 * k) for k in range(50)]
    largest = max(Loss.of(law).renyi(order) / float(order) for order in orders)
    assert high * 0.999 < largest <= high * (1 + EQUAL)


@pytest.mark.parametrize(("p", "k"), [*CASES, ("0.5", 100), ("0.01", 10**5), ("0.999999", 4), ("1e-9", 3)])
def test_rho_is_never_below_any_order(p: str, k: int) -> None:
    loss = Loss.of(response(p, k))
    high = loss.zcdp()
    orders = [1 + Fraction(10) ** k / 8 for k in range(-6, 6)] + [1 + Fraction(2) ** k for k in range(-3, 10)]
    for order in orders:
        assert loss.renyi(order) / float(order) <= high * (1 + EQUAL)
    assert high <= loss.pure() * math.tanh(loss.pure() / 2) * (1 + EQUAL)


def test_extreme_ratios_stay_bounded() -> None:
    nearly_fair = ResponseLaw(high=Fraction(10**30 + 1, 10**32), low=Fraction(10**30, 10**32))
    low, high = Loss.of(nearly_fair).zcdp_bounds()
    assert 0 <= low <= high <= 1e-59
    certain = ResponseLaw(high=1 - Fraction(2, 10**300), low=Fraction(1, 10**300))
    low, high = Loss.of(certain).zcdp_bounds()
    assert low <= high <= Loss.of(certain).pure()


@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("delta", DELTAS)
def test_groups_are_covered(k: int, delta: str) -> None:
    """k people each change their answer: the product of k tables, against the group's law."""
    mechanism = RandomizedResponse(probability="1/2", options=4)
    world = mechanism.finite().on(lambda x: x, (0, 1)).power(k)
    assert least(Approximate(delta), world)[0] <= mechanism.loss.group(k).epsilon(delta) * (1 + EQUAL)
    assert mechanism.loss.group(k) == Loss.of(LatticeLaw(unit=Log(3), steps=k))


def test_one_step_of_the_lattice_dominates() -> None:
    law, lattice = Loss.of(response("0.4", 6)), Loss.of(LatticeLaw(unit=Log("10/3"), steps=1))
    assert law.pure() == lattice.pure()
    for epsilon in ("0", "0.1", "0.5", "1.2"):
        assert law.delta(epsilon) < lattice.delta(epsilon)
    assert law.zcdp() < lattice.zcdp()


@settings(max_examples=60)
@given(p=st.fractions("1/1000", "999/1000"), k=st.integers(3, 30), epsilon=st.fractions(0, 8))
def test_any_response_is_its_formula_and_below_the_lattice(p: Fraction, k: int, epsilon: Fraction) -> None:
    loss = RandomizedResponse(probability=p, options=k).loss
    other = (1 - p) / (k - 1)
    low, high = loss.delta_bounds(epsilon)
    if p == other:
        assert loss == Loss()
        return
    with precision(256):
        exact = ball(max(p, other)) - ball(epsilon).exp() * ball(min(p, other))
        expected = max(0.0, float_near(exact))
    assert low == pytest.approx(expected, rel=1e-12, abs=1e-60)
    assert expected * (1 - 1e-15) <= high
    dominating = Loss.of(LatticeLaw(unit=Log(max(p, other) / min(p, other)), steps=1))
    assert loss.kl() <= loss.zcdp() <= dominating.zcdp() * (1 + EQUAL)
    assert high <= dominating.delta(epsilon) * (1 + EQUAL)


def test_covers_compares_the_same_ratio() -> None:
    loud, quiet = (
        ResponseLaw(high=Fraction(3, 5), low=Fraction(1, 5)),
        ResponseLaw(high=Fraction(3, 10), low=Fraction(1, 10)),
    )
    assert Loss.of(loud).covers(Loss.of(quiet))
    assert not Loss.of(quiet).covers(Loss.of(loud))
    assert (3 * Loss.of(loud)).covers(2 * Loss.of(quiet))
    assert not Loss.of(loud).covers(2 * Loss.of(quiet))
    assert not Loss.of(loud).covers(Loss.of(ResponseLaw(high=Fraction(1, 2), low=Fraction(1, 5))))
    for epsilon in ("0", "0.5", "1"):
        assert Loss.of(quiet).delta(epsilon) <= Loss.of(loud).delta(epsilon)
    both = Loss.of(loud) + Loss.of(quiet)
    assert both.delta("0.5") >= Loss.of(loud).delta("0.5")


@pytest.mark.parametrize(("p", "k"), CASES)
def test_moments_are_within_their_stated_error(p: str, k: int) -> None:
    law = response(p, k)
    s = np.array([complex(a, b) for a in (0.01, 0.5, 3, 40) for b in (0, 0.3, 7, 200)])
    values, errors = law.log_moment(s)
    with precision(256):
        unit = law.pure()
        for at, value, error in zip(s, values, errors, strict=True):
            a, b = ball(float(at.real)), ball(float(at.imag))
            # E[e^{sL}]·e^{−su} by real and imaginary part.
            parts = [(law.high, 0), (1 - law.high - law.low, 1), (law.low, 2)]
            sizes = [(ball(mass) * (-a * unit * j).exp(), -b * unit * j) for mass, j in parts]
            real, imaginary = (
                sum((size * f(turn) for size, turn in sizes), ball(0)) for f in (lambda t: t.cos(), lambda t: t.sin())
            )
            exact = float_near((real**2 + imaginary**2).log() / 2 + a * unit)
            assert abs(exact - value.real) <= error + 1e-15 * abs(exact)
            assert error < 1e-10


@pytest.mark.parametrize("delta", DELTAS)
def test_different_laws_compose_within_the_bounds(delta: str) -> None:
    first, second = RandomizedResponse(probability="1/2", options=4), DiscreteLaplace(scale=2)
    world = sequential(first.finite().on(lambda x: x, (0, 1)), second.finite([0, 1], reach=6))
    low, high = (first.loss + second.loss).epsilon_bounds(delta)
    found = least(Approximate(delta), world)
    assert found[0] <= high * (1 + EQUAL)
    # One step is a sufficient statistic, so clamping loses nothing and the inversion must find the same, to its width.
    assert high == pytest.approx(found[1], rel=1e-3, abs=1e-9)
    assert low <= found[1] * (1 + EQUAL)


def test_more_uses_than_can_be_summed_still_have_bounds() -> None:
    low, high = (10**6 * Loss.of(response("0.1001", 10))).epsilon_bounds("1e-6")
    assert 0 <= low <= high < 10
