"""The discrete Gaussian's own loss, against brute force, and how it differs from the continuous law's."""

import itertools
import math
from fractions import Fraction

import pytest

from quincunx.loss import DiscreteGaussianLaw, GaussianLaw, Loss


def discrete(sigma: object, shift: int = 1) -> Loss:
    return Loss.of(DiscreteGaussianLaw(sigma2=Fraction(sigma) ** 2, shift=shift))


def continuous(sigma: object, shift: int = 1) -> Loss:
    return Loss.of(GaussianLaw(mu2=Fraction(shift) ** 2 / Fraction(sigma) ** 2))


def brute(sigma: float, shift: int, epsilon: float, uses: int = 1) -> float:
    """Σ (P − e^ε Q)⁺ in floats, by direct summation and convolution."""
    reach = int(12 * sigma) + shift + 3
    weights = [math.exp(-k * k / (2 * sigma * sigma)) for k in range(-reach, reach + 1)]
    total = math.fsum(weights)
    one = [w / total for w in weights]
    law = [1.0]
    for _ in range(uses):
        law = [
            math.fsum(law[i] * one[j - i] for i in range(max(0, j - len(one) + 1), min(j, len(law) - 1) + 1))
            for j in range(len(law) + len(one) - 1)
        ]
    offset = uses * reach
    return math.fsum(
        p * max(0.0, 1 - math.exp(epsilon - (uses * shift**2 - 2 * shift * (s - offset)) / (2 * sigma * sigma)))
        for s, p in enumerate(law)
    )


@pytest.mark.parametrize("sigma", ["1/2", 1, "2.5", 7])
@pytest.mark.parametrize("shift", [1, 2, 3])
@pytest.mark.parametrize("epsilon", ["0", "0.3", "1", "2.5"])
def test_delta_is_its_own_sum(sigma: object, shift: int, epsilon: str) -> None:
    low, high = discrete(sigma, shift).delta_bounds(epsilon)
    assert low <= high
    # Float summation of about 100 terms below 1: error below 1e-13.
    assert high == pytest.approx(brute(float(Fraction(sigma)), shift, float(epsilon)), rel=1e-9, abs=1e-13)


@pytest.mark.parametrize("uses", [2, 3])
@pytest.mark.parametrize("epsilon", ["0.1", "1", "3"])
def test_repeated_uses_are_convolved(uses: int, epsilon: str) -> None:
    low, high = (uses * discrete("1.5", 2)).delta_bounds(epsilon)
    assert low <= high
    assert high == pytest.approx(brute(1.5, 2, float(epsilon), uses), rel=1e-9, abs=1e-13)


def test_at_sigma_one_its_delta_is_more_than_twice_the_continuous_formula() -> None:
    ratio = discrete(1).delta("5.33") / continuous(1).delta("5.33")
    assert ratio == pytest.approx(2.14, abs=0.005)
    assert discrete(1).delta("5.33") >= brute(1.0, 1, 5.33) * (1 - 1e-9)


def test_the_analytic_sigma_is_not_enough_for_the_discrete_law() -> None:
    low, high = discrete("4.22468").delta_bounds(1)
    assert 1.015e-6 < low <= high < 1.025e-6


def test_its_delta_is_not_monotone_in_sigma() -> None:
    """Known and stated: a larger σ can have a larger δ at the same ε."""
    values = [discrete(Fraction(k, 100)).delta(5) for k in range(90, 130)]
    assert any(later > earlier for earlier, later in itertools.pairwise(values))


def test_longer_shifts_dominate_shorter_ones() -> None:
    for epsilon in ["0", "0.5", "1", "2", "4"]:
        deltas = [discrete(2, shift).delta(epsilon) for shift in (1, 2, 3, 4)]
        assert deltas == sorted(deltas)


def test_zcdp_is_tight_in_any_shift() -> None:
    low, high = discrete(2, 3).zcdp_bounds()
    assert low == high == 1.125


def test_group_is_a_longer_shift() -> None:
    assert discrete(5, 2).group(3) == discrete(5, 6)


@pytest.mark.parametrize("sigma", [5000, 10**6])
def test_wide_noise_is_inverted_where_the_sum_is_too_long(sigma: int) -> None:
    low, high = discrete(sigma).epsilon_bounds(delta=1e-9)
    # From thousands of steps on the two laws agree to six digits; the inversion's line is cut where atoms do not fade.
    exact = continuous(sigma).epsilon(delta=1e-9)
    assert low <= exact * (1 + 1e-6)
    assert exact <= high * (1 + 1e-6)
    assert high < 1.2 * exact


def test_it_is_never_pure() -> None:
    assert discrete(100).pure() == math.inf
