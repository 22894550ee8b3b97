"""Conversions between the standards of budgets: certified in both directions, and nearly the best that is known."""

from __future__ import annotations

import itertools
from fractions import Fraction
from math import log, tanh

import pytest

from quincunx.errors import ParameterError
from quincunx.spec import ZCDP, Approximate, GaussianDP, Pure, Renyi, Standard, at_most, convert

STANDARDS: tuple[Standard, ...] = (Pure(), Approximate("1e-6"), ZCDP(), Renyi(4), GaussianDP())
INTENSITIES = tuple(Fraction(each) for each in ("1/1000", "1/10", "1", "7"))


@pytest.mark.parametrize(("one", "two"), list(itertools.permutations(STANDARDS, 2)), ids=repr)
def test_both_numbers_are_certified_and_nearly_the_best(one: Standard, two: Standard) -> None:
    for intensity in INTENSITIES:
        found = convert(one, intensity, two)
        if found.follows is not None:
            implied = one.implied(intensity, two)
            assert implied is not None
            assert at_most(implied, found.follows)
        if found.enough is not None:
            back = two.implied(found.enough, one)
            assert back is not None
            assert at_most(back, intensity)
            beyond = two.implied(found.enough * (1 + Fraction(1, 10**4)), one)
            assert beyond is None or not at_most(beyond, intensity)
        assert len(found.lines) == 2


def test_known_values() -> None:
    assert float(convert(Pure(), Fraction(1), ZCDP()).follows or 0) == pytest.approx(tanh(0.5), abs=1e-11)
    assert convert(ZCDP(), Fraction(1, 2), Renyi(4)).follows == 2
    assert convert(Renyi(4), Fraction(1), ZCDP()).enough == Fraction(1, 4)
    assert convert(GaussianDP(), Fraction(1), ZCDP()).follows == Fraction(1, 2)
    # Bun and Steinke 2016: ρ + 2√(ρ·ln(1/δ)) is an upper bound on ε, so ρ is at least its solution.
    rho = convert(Approximate("1e-6"), Fraction(1), ZCDP()).enough
    assert rho is not None
    assert float(rho) > ((log(1e6) + 1) ** 0.5 - log(1e6) ** 0.5) ** 2


def test_nothing_is_made_up_where_nothing_follows() -> None:
    found = convert(Approximate("1e-6"), Fraction(1), ZCDP())
    assert found.follows is None
    assert (
        found.lines[0] == "From ε = 1, δ = 1e-6 nothing is known to follow in zero-concentrated differential privacy."
    )
    assert convert(Pure(), Fraction(1), GaussianDP()).enough is None


def test_the_intensity_is_checked() -> None:
    with pytest.raises(ParameterError):
        convert(Pure(), Fraction(-1), ZCDP())


@pytest.mark.parametrize("standard", [Renyi(2), Renyi("5/4"), Renyi(64), ZCDP()], ids=repr)
def test_the_noise_that_a_spend_buys_is_within_it(standard: Standard) -> None:
    """Gaussian noise of ρ = of_noise(spend) is ρ-zero-concentrated, which implies the spend and nothing less."""
    for spend in INTENSITIES:
        rho = standard.of_noise(spend)
        assert ZCDP().implied(rho, standard) == spend
        assert convert(standard, spend, ZCDP()).enough in (rho, None) or standard == ZCDP()


def test_a_bell_curve_of_that_noise_has_that_distance() -> None:
    """μ-Gaussian privacy spends μ², and the bell curve of ρ = μ²/2 is the one whose centre moves by μ deviations."""
    for mu in INTENSITIES:
        rho = GaussianDP().of_noise(mu**2)
        assert GaussianDP().implied(mu, ZCDP()) == rho
        assert GaussianDP().rounded
        assert not ZCDP().rounded


@pytest.mark.parametrize("standard", [Pure(), Approximate("1e-9")], ids=repr)
def test_laplace_noise_spends_its_own_epsilon(standard: Standard) -> None:
    assert [standard.of_noise(spend) for spend in INTENSITIES] == [*INTENSITIES]
    assert standard.norm == 1
