"""The rounded Laplace mechanism."""

import math
from fractions import Fraction

import pytest

import quincunx as qx
from quincunx.loss import LaplaceLaw, Loss
from quincunx.mechanisms import Laplace


def test_contract() -> None:
    m = Laplace(scale=2)
    assert m.sample([3, 4]).shape == (2,)
    assert m.loss == Loss.of(LaplaceLaw(epsilon=Fraction(1, 2)))
    assert m.loss.pure() == 0.5
    assert m.error(beta=0.05, size=2) == 7.0


@pytest.mark.parametrize(("scale", "step"), [(2, 1), ("0.3", "0.1"), ("1/10", 1), (50, 7)])
def test_variance_is_the_sum_over_the_lattice(scale: object, step: object) -> None:
    b, h = float(Fraction(scale)), float(Fraction(step))
    # Σ (2m + 1)·P(|K| > m)·h², summed until nothing is left.
    expected = math.fsum((2 * m + 1) * math.exp(-(m + 0.5) * h / b) for m in range(int(60 * b / h) + 60)) * h * h
    assert Laplace(scale=scale, step=step).variance == pytest.approx(expected, rel=1e-12)


def test_the_chapters_average_age() -> None:
    """Theorem 1.10 on the chapter's example: n = 10,000 public, ages 0 to 100, ε = 1/2: about 0.06 years."""
    m = Laplace(scale="0.02", sensitivity="0.01", step="0.0001")
    assert m.loss.pure() == 0.5
    assert m.error(beta="0.05") == pytest.approx(0.02 * math.log(20), abs=0.0001)
    assert m.error(beta="0.05", size=5) <= 0.02 * math.log(5 / 0.05) + 0.0001


def test_exchange_adjacency_is_twice_the_shift_of_add_remove() -> None:
    assert Laplace(scale=2, sensitivity=2).loss == Laplace(scale=2).loss.group(2)


@pytest.mark.parametrize("name", ["scale", "sensitivity", "step"])
@pytest.mark.parametrize("value", [0, -1, "nan", float("inf"), float("-inf"), None, "x", True, [1]])
def test_bad_parameters(name: str, value: object) -> None:
    with pytest.raises(qx.errors.ParameterError) as caught:
        Laplace(**{"scale": 1, name: value})  # type: ignore[arg-type]
    assert caught.value.where == name


def test_parameters_have_names() -> None:
    with pytest.raises(TypeError):
        Laplace(2)  # type: ignore[misc]
