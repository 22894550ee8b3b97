"""The trade-off function: enclosed, and equal to the known curves."""

import math
from fractions import Fraction

import pytest
from scipy import stats

from quincunx.errors import ParameterError
from quincunx.loss import GaussianLaw, LaplaceLaw, LatticeLaw, Loss
from quincunx.numbers import Log

LEVELS = ["0", "0.001", "0.05", "0.25", "0.5", "0.9", "1"]


@pytest.mark.parametrize("alpha", LEVELS)
@pytest.mark.parametrize("mu", [Fraction(1, 2), Fraction(1), Fraction(3)])
def test_gaussian(alpha: str, mu: Fraction) -> None:
    low, high = Loss.of(GaussianLaw(mu2=mu**2)).tradeoff_bounds(alpha)
    truth = float(stats.norm.cdf(stats.norm.isf(float(alpha)) - float(mu)))
    assert low - 1e-12 <= truth <= high + 1e-12
    assert high - low < 2e-3


@pytest.mark.parametrize("alpha", LEVELS)
def test_laplace(alpha: str) -> None:
    low, high = Loss.of(LaplaceLaw(epsilon=Fraction(1))).tradeoff_bounds(alpha)
    a, e = float(alpha), math.e
    truth = 1 - e * a if a < 1 / (2 * e) else 1 / (4 * e * a) if a < 0.5 else (1 - a) / e
    assert low - 1e-12 <= truth <= high + 1e-12
    assert high - low < 2e-3


@pytest.mark.parametrize("alpha", LEVELS)
def test_randomized_response_is_two_lines(alpha: str) -> None:
    low, high = Loss.of(LatticeLaw(unit=Log(3), steps=1)).tradeoff_bounds(alpha)
    a = float(alpha)
    truth = max(0.0, 1 - 3 * a, (1 - a) / 3)
    assert low - 1e-9 <= truth <= high + 1e-9
    assert Loss.of(LatticeLaw(unit=Log(3), steps=1)).tradeoff(alpha) == low


@pytest.mark.parametrize("alpha", [-0.1, 1.1, "nan", None])
def test_levels_are_probabilities(alpha: object) -> None:
    with pytest.raises(ParameterError, match="alpha"):
        Loss.of(GaussianLaw(mu2=Fraction(1))).tradeoff(alpha)
