"""The discrete Laplace mechanism."""

import math
from fractions import Fraction

import pytest

import quincunx as qx
from quincunx.loss import LatticeLaw, Loss
from quincunx.mechanisms import DiscreteLaplace, RandomizedResponse
from quincunx.numbers import ball, precision


def test_loss_counts_steps() -> None:
    assert DiscreteLaplace(scale=5, sensitivity=3).loss == Loss.of(LatticeLaw(unit=Fraction(1, 5), steps=3))
    assert DiscreteLaplace(scale="0.5", sensitivity="0.2", step="0.1").loss.pure() == 0.4


def test_one_step_is_randomized_response() -> None:
    """The answer's side of the midpoint tells the truth with p = 1/(1 + e^{−1/t}): all losses agree."""
    scale = Fraction(7, 3)
    with precision(256):
        truth = 1 / (1 + (-ball(1 / scale)).exp())
    near = RandomizedResponse(probability=Fraction(float(truth.mid())))
    one = DiscreteLaplace(scale=scale)
    assert one.loss.pure() == pytest.approx(near.loss.pure(), rel=1e-12)
    assert one.loss.zcdp() == pytest.approx(near.loss.zcdp(), rel=1e-12)
    for epsilon in ("0", "0.1", "0.3", "0.42"):
        for count in (1, 10):
            pair = [(count * loss).delta(epsilon) for loss in (one.loss, near.loss)]
            assert pair[0] == pytest.approx(pair[1], rel=1e-9, abs=1e-15)
    # The finite model, cut at the two inputs, is the table of randomized response itself.
    world = one.finite([0, 1], reach=0)
    with precision(256):
        assert world.probability(0, 0).overlaps(truth)
        assert world.probability(1, 1).overlaps(truth)


def test_variance() -> None:
    q = math.exp(-1 / 20)
    assert DiscreteLaplace(scale=20).variance == pytest.approx(2 * q / (1 - q) ** 2, rel=1e-12)


def test_sensitivity_is_whole_steps() -> None:
    with pytest.raises(qx.errors.ParameterError, match="whole number of steps"):
        DiscreteLaplace(scale=1, sensitivity="1/2")
    with pytest.raises(qx.errors.ParameterError, match="whole number of steps"):
        DiscreteLaplace(scale=1, sensitivity=1, step=2)


@pytest.mark.parametrize("value", [0, -1, "nan", float("inf"), None, True])
def test_bad_parameters(value: object) -> None:
    with pytest.raises(qx.errors.ParameterError):
        DiscreteLaplace(scale=value)
