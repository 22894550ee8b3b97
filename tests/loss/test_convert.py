"""Bounds that hold for every mechanism with the stated parameters."""

import math
from fractions import Fraction

import pytest

from quincunx.loss import GaussianLaw, LatticeLaw, Loss
from quincunx.loss.convert import delta_from_pure, delta_from_zcdp, gaussian_epsilon
from quincunx.numbers import Ball, Log, ball, precision


@pytest.mark.parametrize("epsilon", [0, "1/2", 1, "1.09"])
def test_pure_conversion_is_randomized_response(epsilon: object) -> None:
    with precision(128):
        response = Loss.of(LatticeLaw(unit=Log(3), steps=1))
        exact = response.curve().delta(ball(Fraction(epsilon)))[1]
        assert abs(delta_from_pure(ball(Log(3)), ball(Fraction(epsilon))) - exact) < Ball(2) ** -100


def test_pure_conversion_ends_at_the_bound() -> None:
    with precision(128):
        assert delta_from_pure(Ball(1), Ball(1)) == 0
        assert delta_from_pure(Ball(1), Ball(2)) == 0
        assert delta_from_pure(Ball.pos_inf(), Ball(2)) == 1


@pytest.mark.parametrize("mu2", ["1/100", 1, 9])
@pytest.mark.parametrize("epsilon", ["1/10", 1, 5, 20])
def test_zcdp_conversion_covers_the_gaussian_that_attains_rho(mu2: object, epsilon: object) -> None:
    with precision(256):
        exact = Loss.of(GaussianLaw(mu2=Fraction(mu2))).curve().delta(ball(Fraction(epsilon)))[1]
        bound = delta_from_zcdp(ball(Fraction(mu2) / 2), ball(Fraction(epsilon)))
        assert exact <= bound <= 1


@pytest.mark.parametrize("rho", [0.001, 0.1, 2.0])
@pytest.mark.parametrize("epsilon", [0.5, 3.0, 12.0])
def test_the_searched_order_is_the_best_one(rho: float, epsilon: float) -> None:
    with precision(128):
        found = float(delta_from_zcdp(Ball(rho), Ball(epsilon)).mid())
    grid = min(
        math.exp(min(700, (a - 1) * (a * rho - epsilon) - math.log(a - 1) + a * math.log1p(-1 / a)))
        for a in (1 + 10 ** (k / 200) for k in range(-800, 1000))
    )
    assert found <= min(1.0, grid) * (1 + 1e-6)


@pytest.mark.parametrize("mu", [1e-3, 0.5, 1.0, 5.0, 60.0])
@pytest.mark.parametrize("delta", ["1e-3", "1e-6", "1e-12"])
def test_the_first_guess_is_near_the_gaussian(mu: float, delta: str) -> None:
    truth = Loss.of(GaussianLaw(mu2=Fraction(mu) ** 2)).epsilon(delta)
    assert gaussian_epsilon(mu * mu, float(delta)) == pytest.approx(truth, rel=1e-3)


@pytest.mark.parametrize(("mu2", "delta"), [(math.inf, 0.1), (0.0, 0.1), (1.0, 0.0), (1.0, 1.0)])
def test_without_a_gaussian_the_guess_is_one(mu2: float, delta: float) -> None:
    assert gaussian_epsilon(mu2, delta) == 1.0
