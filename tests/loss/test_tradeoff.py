"""The trade-off function: enclosed, and equal to the known curves."""

import math
from fractions import Fraction

import pytest
from scipy import stats

from quincunx.errors import ParameterError
from quincunx.loss import GaussianLaw, LaplaceLaw, LatticeLaw, Loss, StatedLaw
from quincunx.numbers import Log

EPSILONS = [i / 50 for i in range(101)]
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


@pytest.mark.parametrize("alpha", LEVELS)
@pytest.mark.parametrize("delta", ["0", "0.01"])
def test_what_is_stated_has_its_own_two_lines(alpha: str, delta: str) -> None:
    # Only an upper bound on δ is known of a stated law, so the best line is found without one from below.
    stated = Loss.of(StatedLaw(epsilon=Fraction(1), rho=Fraction(1, 2), delta=Fraction(delta)))
    low, high = stated.tradeoff_bounds(alpha)
    a, inside = float(alpha), 1 - float(delta)
    truth = max(0.0, inside - math.e * a, (inside - a) / math.e)
    assert truth - 1e-12 <= low <= truth + 1e-12
    assert high >= truth


@pytest.mark.parametrize("alpha", ["0.001", "0.05", "0.25", "0.5"])
def test_two_stated_uses_are_searched_between_the_corners(alpha: str) -> None:
    both = 2 * Loss.of(StatedLaw(epsilon=Fraction(1), rho=Fraction(1, 2)))
    a = float(alpha)
    lines = [(1 - both.delta(e) - math.exp(e) * a, (1 - both.delta(e) - a) * math.exp(-e)) for e in EPSILONS]
    best = max(0.0, *(height for pair in lines for height in pair))
    assert both.tradeoff(alpha) >= best - 1e-9
