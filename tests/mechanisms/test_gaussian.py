"""The rounded Gaussian mechanism."""

import math
from fractions import Fraction

import pytest
from scipy import stats

import quincunx as qx
from quincunx.mechanisms import Gaussian


def test_squares_are_exact() -> None:
    m = Gaussian(sigma="0.1", sensitivity2=2)
    assert m.sigma2 == Fraction(1, 100)
    assert m.sensitivity2 == 2
    assert m.loss.zcdp() == 100.0


@pytest.mark.parametrize("sigma", ["1/20", "0.5", 1, 3, "7.9", 8, 50])
def test_variance_is_the_sum_over_the_lattice(sigma: object) -> None:
    s = float(Fraction(sigma))
    expected = math.fsum((2 * m + 1) * 2 * stats.norm.sf((m + 0.5) / s) for m in range(int(12 * s) + 10))
    assert Gaussian(sigma=sigma).variance == pytest.approx(expected, rel=1e-11)


def test_error_is_the_quantile() -> None:
    # P(|K| ≤ m) = P(|Z| < m + 1/2): the smallest m with 2Φ((m + ½)/σ) − 1 ≥ 0.95.
    m = Gaussian(sigma=12).error(beta="0.05")
    assert stats.norm.cdf((m + 0.5) / 12) * 2 - 1 >= 0.95
    assert stats.norm.cdf((m - 0.5) / 12) * 2 - 1 < 0.95


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"sigma": 1, "sigma2": 1},
        {"sigma": 1, "sensitivity": 1, "sensitivity2": 1},
        {"sigma": 0},
        {"sigma2": -1},
        {"sigma": "nan"},
        {"sigma": float("inf")},
        {"sigma": 1, "sensitivity": 0},
        {"sigma": 1, "step": 0},
        {"sigma": None},
        {"sigma": True},
    ],
)
def test_bad_parameters(arguments: dict[str, object]) -> None:
    with pytest.raises(qx.errors.ParameterError):
        Gaussian(**arguments)  # type: ignore[arg-type]
