"""The discrete Gaussian mechanism."""

import math
from fractions import Fraction

import pytest
from scipy import stats

import quincunx as qx
from quincunx.loss import DiscreteGaussianLaw, Loss, StatedLaw
from quincunx.mechanisms import DiscreteGaussian
from quincunx.numbers import float_above, float_below, precision


def test_which_neighbours_have_their_own_sum() -> None:
    own = DiscreteGaussianLaw(sigma2=Fraction(9), shift=1)
    assert DiscreteGaussian(sigma=3).loss == Loss.of(own)
    # A vector shorter than √2 steps moves one coordinate.
    assert DiscreteGaussian(sigma=3, sensitivity2="1.99").loss == Loss.of(own)
    # From √2 on, several coordinates may move: only ρ is claimed.
    assert DiscreteGaussian(sigma=3, sensitivity2=2).loss == Loss.of(StatedLaw(epsilon=None, rho=Fraction(1, 9)))
    assert DiscreteGaussian(sigma=3, sensitivity=2, coordinates=1).loss == Loss.of(
        DiscreteGaussianLaw(sigma2=Fraction(9), shift=2)
    )


def test_steps_scale_everything() -> None:
    assert DiscreteGaussian(sigma=30, sensitivity=10, step=10).loss == DiscreteGaussian(sigma=3).loss
    assert DiscreteGaussian(sigma=30, step=10, sensitivity=10).variance == pytest.approx(
        100 * DiscreteGaussian(sigma=3).variance
    )


@pytest.mark.parametrize("sigma", [0.05, 0.5, 1.0, 7.9, 8.0, 30.0])
def test_variance_is_the_sum_over_the_integers(sigma: float) -> None:
    weights = {k: math.exp(-k * k / (2 * sigma**2)) for k in range(-500, 501)}
    expected = math.fsum(k * k * w for k, w in weights.items()) / math.fsum(weights.values())
    assert DiscreteGaussian(sigma=sigma).variance == pytest.approx(expected, rel=1e-11)


def test_wide_tails_are_bounded_within_a_step() -> None:
    wide = DiscreteGaussian(sigma=5000)
    with precision(128):
        for m in (0, 100, 5000, 20_000):
            assert float_below(wide._tail(m)) <= 0.0
            assert float_above(wide._tail(m)) >= 2 * stats.norm.sf((m + 1) / 5000)
    assert wide.error(beta="0.05") == pytest.approx(5000 * stats.norm.isf(0.025), abs=2)


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"sigma": 1, "sigma2": 1},
        {"sigma": 0},
        {"sigma": "nan"},
        {"sigma": 1, "sensitivity": "1/2"},
        {"sigma": 1, "step": 2},
        {"sigma": 1, "coordinates": 2},
        {"sigma": 1, "coordinates": 0},
        {"sigma": 1, "coordinates": True},
        {"sigma": 1, "coordinates": 1.0},
    ],
)
def test_bad_parameters(arguments: dict[str, object]) -> None:
    with pytest.raises(qx.errors.ParameterError):
        DiscreteGaussian(**arguments)  # type: ignore[arg-type]
