"""The inversion against every composition whose truth is known: closed Gaussians, exact sums, enumeration."""

import math
from fractions import Fraction

import numpy as np
import pytest
from flint import acb
from hypothesis import given
from hypothesis import strategies as st

from quincunx.loss import DiscreteGaussianLaw, GaussianLaw, LaplaceLaw, LatticeLaw, Loss, StatedLaw
from quincunx.loss.inversion import Inversion, supported
from quincunx.loss.law import Law, log_with_error
from quincunx.loss.saddle import SIGMAS
from quincunx.numbers import Ball, Log, ball, precision

KNOWN: list[tuple[Law, int]] = [
    (GaussianLaw(mu2=Fraction(1, 2500)), 10_000),
    (GaussianLaw(mu2=Fraction(4)), 1),
    (LaplaceLaw(epsilon=Fraction(1, 2)), 1),
    (LaplaceLaw(epsilon=Fraction(3)), 1),
    (LatticeLaw(unit=Fraction(1, 20), steps=1), 1000),
    (LatticeLaw(unit=Log(3), steps=1), 10),
    (LatticeLaw(unit=Fraction(1, 10), steps=4), 30),
    (DiscreteGaussianLaw(sigma2=Fraction(4), shift=1), 5),
    (DiscreteGaussianLaw(sigma2=Fraction(1, 4), shift=1), 2),
    (DiscreteGaussianLaw(sigma2=Fraction(9), shift=2), 3),
]


@pytest.mark.parametrize(("law", "count"), KNOWN, ids=repr)
@pytest.mark.parametrize("delta", ["0.3", "1e-3", "1e-6", "1e-9", "1e-12"])
def test_the_truth_lies_between_the_bounds(law: Law, count: int, delta: str) -> None:
    """Each law alone has a closed or exactly summed δ(ε): the inversion must enclose it, down to δ = 1e-12."""
    loss = count * Loss.of(law)
    epsilon = loss.epsilon(delta)
    truth_low, truth_high = loss.delta_bounds(Fraction(epsilon))
    low, high = Inversion(loss.terms).bounds(epsilon)
    assert low <= truth_high
    assert truth_low <= high
    # Gaussians fade fast; single atoms do not, and their line is cut: those have closed forms and are not inverted.
    if law.family() == "gaussian":
        assert high - low <= 1e-9 * high


def test_laplace_compositions_have_many_digits() -> None:
    low, high = (1000 * Loss.of(LaplaceLaw(epsilon=Fraction(1, 20)))).epsilon_bounds(delta=1e-6)
    assert 8.20444034 < low <= high < 8.20444035


def test_two_laplaces_against_quadrature() -> None:
    """E[δ_{ε₁}(s − L₂)] by direct quadrature over the second loss."""
    from scipy import integrate

    first, second, s = 0.7, 0.4, 0.3

    def profile(at: float) -> float:
        return 0.0 if at >= first else 1 - math.exp((at - first) / 2) if at > -first else 1 - math.exp(at)

    inner, _ = integrate.quad(
        lambda x: profile(s - x) * math.exp((x - second) / 2) / 4, -second, second, points=[s - first], epsabs=1e-13
    )
    truth = inner + 0.5 * profile(s - second) + 0.5 * math.exp(-second) * profile(s + second)
    pair = Loss.of(LaplaceLaw(epsilon=Fraction("0.7"))) + Loss.of(LaplaceLaw(epsilon=Fraction("0.4")))
    low, high = pair.delta_bounds("0.3")
    assert low - 1e-12 <= truth <= high + 1e-12
    assert high - low < 1e-3


def acb_moment(law: Law, s: complex) -> acb:
    """E[e^{sL}] with certified complex balls, from the definition of each law."""
    z = acb(s.real, s.imag)
    if isinstance(law, GaussianLaw):
        return (z * (z + 1) * acb(ball(law.mu2)) / 2).exp()
    if isinstance(law, LaplaceLaw):
        e = acb(ball(law.epsilon))
        inner = (((z + 0.5) * e).exp() - (-(z + 0.5) * e).exp()) * (-e / 2).exp() / (4 * (z + 0.5))
        return (z * e).exp() / 2 + (-e - z * e).exp() / 2 + inner
    if isinstance(law, LatticeLaw):
        u, n = ball(law.unit), law.steps
        x = (-u).exp()
        p = [1 / (1 + x), *((1 - x) / (1 + x) * x**j for j in range(1, n)), x**n / (1 + x)]
        return sum((acb(w) * (z * acb(u * (n - 2 * j))).exp() for j, w in enumerate(p)), acb(0))
    if isinstance(law, DiscreteGaussianLaw):
        reach = 60 * (1 + int(math.sqrt(law.sigma2))) + 60 * law.shift
        weights = [(-ball(Fraction(k * k) / (2 * law.sigma2))).exp() for k in range(-reach, reach + 1)]
        total = sum(weights, Ball(0))
        losses = [Fraction(law.shift**2 - 2 * law.shift * k) / (2 * law.sigma2) for k in range(-reach, reach + 1)]
        return sum(
            (acb(w / total) * (z * acb(ball(loss))).exp() for w, loss in zip(weights, losses, strict=True)), acb(0)
        )
    raise TypeError(type(law))


@pytest.mark.parametrize("law", [law for law, _ in KNOWN], ids=repr)
def test_moments_are_within_their_stated_error(law: Law) -> None:
    nodes = [0.01, 0.5, 2.0, 30.0, 0.3 + 1j, 1 + 10j, 0.7 - 3.3j, 2 + 60j, 5 + 200j]
    value, error = law.log_moment(np.array(nodes, dtype=np.complex128))
    with precision(600):
        for s, found, off in zip(nodes, value, error, strict=True):
            truth = acb_moment(law, complex(s))
            ratio = (acb(found.real, found.imag)).exp() / truth - 1
            # |e^w − 1| for |w| ≤ off; the error allowed for an unknown argument is 1.2 and covers a factor of 3.
            assert float(ratio.abs_upper()) <= math.expm1(off) * (1 + 1e-6) + 1e-18


@pytest.mark.parametrize("law", [law for law, _ in KNOWN], ids=repr)
@pytest.mark.parametrize("sigma", [0.1, 1.0, 8.0])
@pytest.mark.parametrize("omega", [1.0, 20.0, 300.0])
def test_decay_bounds_what_comes_after(law: Law, sigma: float, omega: float) -> None:
    line = np.concatenate(([sigma + 0j], sigma + 1j * omega * np.linspace(1, 40, 997)))
    value, error = law.log_moment(line)
    largest = float(np.max(value.real[1:] - error[1:])) - float(value[0].real + error[0])
    assert largest <= law.log_decay(sigma, omega) + 1e-9


def test_a_value_that_may_be_zero_is_covered_by_its_error() -> None:
    inside, off = np.array([0j, 1e-20 + 0j, 0.5 + 0j]), np.array([1e-18, 1e-18, 1e-18])
    value, error = log_with_error(np.zeros(3, dtype=np.complex128), inside, off, np.zeros(3))
    # Any number of size at most 2e-18 is within the covered disc of the first two.
    for k in (0, 1):
        assert abs(np.exp(value[k])) * math.exp(error[k]) >= 2e-18
    assert error[2] < 1e-14


def test_what_has_no_moments_is_not_inverted() -> None:
    assert not supported(((StatedLaw(epsilon=None, rho=Fraction(1)), 1),))
    assert supported(((GaussianLaw(mu2=Fraction(1)), 1),))


def test_rounding_dominates_where_counts_are_huge() -> None:
    """A case in which the floats' own error is most of the width: it is in the bound, and the truth stays inside.

    The truth is the same trapezoidal sum in certified complex balls; its aliases and its cut are below 1e-10 of it.
    """
    law, count, epsilon = LaplaceLaw(epsilon=Fraction(1, 10**4)), 10**9, 30.0
    inversion = Inversion(((law, count),))
    low, high = inversion.bounds(epsilon)
    index, period, nodes = inversion._line(epsilon)
    with precision(256):
        sigma = acb(float(SIGMAS[index]))
        total = acb(0)
        for k in range(nodes):
            s = sigma + acb(0, 2) * acb.pi() * k / acb(period)
            e = acb(ball(law.epsilon))
            w = (-(2 * s + 1) * e).exp()
            inside = (1 + w) / 2 + (1 - w) / (2 * (2 * s + 1))
            part = (acb(count) * (s * e + inside.log()) - s * acb(epsilon)).exp() / (s * (s + 1))
            total += part / 2 if k == 0 else part
        truth = float((2 * total / acb(period)).real.mid())
    assert low <= truth * (1 + 1e-10)
    assert truth <= high * (1 + 1e-10)
    assert 1e-8 < (high - low) / high < 0.05


laws = st.sampled_from([law for law, _ in KNOWN])


@given(st.lists(st.tuples(laws, st.integers(1, 5)), min_size=2, max_size=3), st.fractions(0, 5, max_denominator=7))
def test_any_mixture_has_ordered_bounds_above_each_part(terms: list[tuple[Law, int]], epsilon: Fraction) -> None:
    loss = Loss(tuple(terms))
    low, high = loss.delta_bounds(epsilon)
    assert 0 <= low <= high <= 1
    for law, _ in loss.terms:
        assert Loss.of(law).delta_bounds(epsilon)[0] <= high
