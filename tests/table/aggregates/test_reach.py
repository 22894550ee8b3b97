"""How far differences of noisy counts reach: against the closed form of two noises, and against simulation."""

import math
from fractions import Fraction

import numpy as np
import pytest

from quincunx.mechanisms import DiscreteGaussian, DiscreteLaplace
from quincunx.table.aggregates.reach import _reach, reaches


def two(t: float, wide: float, narrow: float) -> float:
    """P(aX + bY > t) for standard Laplace X and Y."""
    return (wide**2 * math.exp(-t / wide) - narrow**2 * math.exp(-t / narrow)) / (2 * (wide**2 - narrow**2))


@pytest.mark.parametrize("risk", [0.025, 0.005, 1e-6])
@pytest.mark.parametrize("level", [0.1, 0.3, 0.45])
def test_two_noises(level: float, risk: float) -> None:
    found = _reach(((1 - level, 1), (level, 1)), risk)
    assert two(found, 1 - level, level) <= risk
    assert two(found * 0.998, 1 - level, level) > risk


@pytest.mark.parametrize(("level", "below", "above"), [(0.5, 2, 2), (0.1, 5, 23), (0.9, 14, 14), (0.02, 1, 3)])
def test_many_noises_against_simulation(level: float, below: int, above: int) -> None:
    """200,000 draws: the tail is within five standard errors of the risk."""
    source = np.random.default_rng(5)
    noise = (1 - level) * source.laplace(size=(200_000, below)).sum(1) - level * source.laplace(
        size=(200_000, above)
    ).sum(1)
    for risk in (0.025, 0.005):
        seen = (noise >= _reach(((1 - level, below), (level, above)), risk)).mean()
        assert seen <= risk + 5 * math.sqrt(risk / 200_000)
        assert seen >= 0.97 * risk - 5 * math.sqrt(risk / 200_000)


def test_reaches_grow_with_the_noise_and_with_confidence() -> None:
    half = Fraction(1, 2)
    for quiet, loud in (
        (DiscreteLaplace(scale=100), DiscreteLaplace(scale=400)),
        (DiscreteGaussian(sigma=100), DiscreteGaussian(sigma=400)),
    ):
        few, many = (reaches(each, half, 3, Fraction(1, 20)) for each in (quiet, loud))
        assert len(few) == 3
        assert (3.8 * few < many).all()
        assert (many < 4.1 * few).all()
        assert (reaches(quiet, half, 3, Fraction(1, 200)) > few).all()
    tiny = reaches(DiscreteGaussian(sigma2="1/4"), half, 3, Fraction(1, 20))
    assert (tiny >= 2).all()
