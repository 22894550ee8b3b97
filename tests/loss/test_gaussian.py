"""The loss of Gaussian noise: closed forms against SciPy, known figures, tightness."""

import math
from fractions import Fraction

import pytest
from scipy import integrate, stats

from quincunx.loss import GaussianLaw, Loss


def loss(sigma: object, sensitivity: int = 1) -> Loss:
    return Loss.of(GaussianLaw(mu2=Fraction(sensitivity) ** 2 / Fraction(sigma) ** 2))


@pytest.mark.parametrize(("sigma", "epsilon"), [("1/2", 1), (1, 0), (1, "5.33"), (3, "0.2"), (50, "0.001")])
def test_delta_is_the_integral_of_the_positive_part(sigma: object, epsilon: object) -> None:
    mu, e = 1 / float(Fraction(sigma)), float(Fraction(epsilon))
    # δ = ∫ (p − e^ε q)⁺ with p ~ N(μ, 1), q ~ N(0, 1): positive above x = ε/μ + μ/2.
    cut = e / mu + mu / 2
    expected, _ = integrate.quad(
        lambda x: stats.norm.pdf(x - mu) - math.exp(e) * stats.norm.pdf(x), cut, cut + 60, epsabs=1e-15, epsrel=1e-10
    )
    low, high = loss(sigma).delta_bounds(epsilon)
    assert low <= high
    # quad's own error is below 1e-13; the certified width below 1e-15 of δ.
    assert high == pytest.approx(expected, rel=1e-9, abs=2e-13)
    assert high - low <= 1e-12 * high


@pytest.mark.parametrize(
    ("count", "sigma", "figure"), [(10_000, 50, 10.99715121422065), (10_000, 500, 0.83411754862405)]
)
def test_ten_thousand_gaussians_enclose_the_known_epsilon(count: int, sigma: int, figure: float) -> None:
    low, high = (count * loss(sigma)).epsilon_bounds(delta=1e-6)
    # The figure is given to 14 decimals: half a unit of its last place.
    assert low - 5e-15 <= figure <= high + 5e-15
    assert high - low < 1e-11 * high


def test_analytic_sigma_for_epsilon_one_and_delta_one_in_a_million() -> None:
    assert loss("4.22468").delta(1) <= 1e-6
    assert loss("4.22467").delta_bounds(1)[0] > 1e-6


def test_n_uses_are_one_use_with_a_smaller_sigma() -> None:
    assert (16 * loss(8)).delta_bounds(1) == loss(2).delta_bounds(1)
    assert (7 * loss(3)).zcdp() == pytest.approx(7 / 18)


def test_a_group_of_k_is_k_times_the_sensitivity() -> None:
    assert loss(6).group(3) == loss(6, sensitivity=3)


def test_gaussian_noise_is_never_pure() -> None:
    assert loss(1000).pure() == math.inf
    assert loss(1000).epsilon(delta=0) == math.inf
    assert loss(1000).epsilon_bounds(delta=0) == (math.inf, math.inf)


def test_delta_keeps_its_digits_far_out() -> None:
    # ε = 200 at σ = 1: δ is about 1e-8730, below every float, and must not become 0 or negative.
    low, high = loss(1).delta_bounds(200)
    assert 0.0 <= low <= high == 5e-324
    low, high = loss(1).delta_bounds(30)
    assert 0 < low <= high
    assert high - low < 1e-10 * high


def test_mu_decides_which_gaussian_covers() -> None:
    assert loss(1).covers(loss(2))
    assert loss(1).covers(3 * loss(2))
    assert not loss(1).covers(5 * loss(2))
