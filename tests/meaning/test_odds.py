"""Likelihood ratios, odds and relative risks, against exact ratios of small worlds."""

import itertools
import math
import random
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quincunx.errors import ParameterError, PrivacyError
from quincunx.loss import GaussianLaw, Loss
from quincunx.meaning import odds, posterior_bounds
from quincunx.meaning.belief import Odds, relative_risk
from quincunx.meaning.belief.odds import times
from quincunx.mechanisms import Laplace, RandomizedResponse
from quincunx.numbers import Log
from quincunx.spec import Specification, domain
from tests.meaning import guarantees

from ..spec.small_worlds import just_within, random_mechanism

PRIORS = [Fraction(0), Fraction(1, 1000), Fraction(1, 10), Fraction(1, 2), Fraction(99, 100), Fraction(1)]


def spec(**blocks: Any) -> Specification:
    return guarantees.spec(**{"intensity": Log(3), **blocks})


@pytest.mark.parametrize("prior", PRIORS)
def test_at_ln_3(prior: Fraction) -> None:
    found = odds(prior, spec())
    assert found.likelihood_ratio == pytest.approx((1 / 3, 3))
    assert found.factor == found.likelihood_ratio[1] == 3
    if prior < 1:
        before = float(prior / (1 - prior))
        assert found.before == pytest.approx(before)
        assert found.after == pytest.approx((before / 3, before * 3))
    else:
        assert (found.before, found.after) == (math.inf, (math.inf, math.inf))
    expected = [float(relative_risk(prior, ratio)) for ratio in (Fraction(1, 3), 3)]
    assert found.relative_risk == pytest.approx(tuple(expected))


@given(st.fractions("1/1000", "999/1000", max_denominator=1000), st.fractions("1/100", 20, max_denominator=100))
def test_the_three_forms_are_one(prior: Fraction, epsilon: Fraction) -> None:
    guarantee = spec(intensity=epsilon)
    found, bounds = odds(prior, guarantee), posterior_bounds(prior, guarantee)
    for after, belief, risk in zip(found.after, (bounds.low, bounds.high), found.relative_risk, strict=True):
        assert after / (1 + after) == pytest.approx(belief, rel=1e-9)
        assert risk * float(prior) == pytest.approx(belief, rel=1e-9)
    assert found.outside == bounds.outside == 0


def test_a_loss_with_something_outside() -> None:
    loss = Loss.of(GaussianLaw(mu2=Fraction(1, 4)))
    found = odds("0.1", loss, unit="replace", outside="0.001")
    assert found.outside == Fraction(1, 1000)
    assert found.factor > 1
    with pytest.raises(PrivacyError, match="no bounds hold always"):
        odds("0.1", loss, unit="replace")
    assert odds("0.1", Laplace(scale=1).loss, unit="add-remove").factor == pytest.approx(math.e**2)
    assert odds("0.1", Laplace(scale=1).loss, unit="replace", people=3).factor == pytest.approx(math.e**3)
    assert odds("0.1", Laplace(scale=1).loss, unit="add-remove", about="presence").factor == pytest.approx(math.e)


# The slides' relative risk.


@pytest.mark.parametrize("ratio", [Fraction(0), Fraction(1, 3), Fraction(1), Fraction(3), Fraction(1000)])
@pytest.mark.parametrize("theta", PRIORS[:-1])
def test_relative_risk_is_posterior_over_prior(theta: Fraction, ratio: Fraction) -> None:
    found = relative_risk(theta, ratio)
    assert min(Fraction(1), ratio) <= found <= max(Fraction(1), ratio)
    if theta:
        assert found == theta * ratio / (theta * ratio + 1 - theta) / theta
    else:
        assert found == ratio


def test_relative_risk_of_randomized_response() -> None:
    """Output 1 under probability 3/4 of the truth: LR = 3, and a prior of 1/2 is multiplied by 3/2."""
    table = RandomizedResponse(probability="3/4").finite()
    ratio = Fraction(table.probability(1, 1)) / Fraction(table.probability(0, 1))  # type: ignore[arg-type]
    assert ratio == 3
    assert relative_risk("1/2", ratio) == Fraction(3, 2)
    assert relative_risk(0, ratio) == 3
    assert relative_risk(1, ratio) == 1


def test_relative_risk_falls_with_the_prior_where_the_ratio_is_above_one() -> None:
    grid = [Fraction(i, 20) for i in range(21)]
    assert all(relative_risk(a, 3) > relative_risk(b, 3) for a, b in itertools.pairwise(grid))
    assert all(relative_risk(a, "1/3") < relative_risk(b, "1/3") for a, b in itertools.pairwise(grid))


@pytest.mark.parametrize("seed", range(20))
def test_worlds_stay_within(seed: int) -> None:
    source = random.Random(f"odds {seed}")
    world_domain = domain.Finite.vectors([0, 1], 1)
    guarantee = spec(domain=world_domain, intensity=source.choice((Log(2), Log(5), "1/3")))
    world = just_within(guarantee, random_mechanism(source, world_domain.datasets, 4))
    p, q = (tuple(Fraction(each) for each in world.law((x,))) for x in (1, 0))  # type: ignore[arg-type]
    for prior in (Fraction(1, 50), Fraction(1, 2), Fraction(9, 10)):
        found = odds(prior, guarantee)
        for a, b in zip(p, q, strict=True):
            if b:
                ratio = a / b
                assert Fraction(found.likelihood_ratio[0]) <= ratio <= Fraction(found.likelihood_ratio[1])
                assert Fraction(found.after[0]) <= prior / (1 - prior) * ratio <= Fraction(found.after[1])
                risk = relative_risk(prior, ratio)
                assert Fraction(found.relative_risk[0]) <= risk <= Fraction(found.relative_risk[1])


# Printing, and what cannot be read.


@pytest.mark.parametrize(
    ("factor", "text"),
    [(1.0, "1"), (2.718281828, "2.72"), (9.999, "10"), (50.11, "50.2"), (148.41, "149"), (17998.0, "17,998"),
     (1e6, "10^7"), (3.8e36, "10^37"), (math.inf, "∞"), (1.1, "1.11"), (1.5, "1.50")],
)  # fmt: skip
def test_factors_are_printed_rounded_up(factor: float, text: str) -> None:
    assert times(factor) == text


@given(st.floats(1, 1e6, exclude_max=True))
def test_printed_factors_are_never_below(factor: float) -> None:
    shown = times(factor).replace(",", "")
    assert shown.startswith("10^") or Fraction(shown) >= Fraction(factor)


@pytest.mark.parametrize(("prior", "ratio"), [(2, 1), (-1, 1), ("x", 1), (0.5, -1), (0.5, "x"), (0.5, None), (1, 0)])
def test_bad_relative_risks(prior: object, ratio: object) -> None:
    with pytest.raises(ParameterError) as caught:
        relative_risk(prior, ratio)
    assert caught.value.where in ("prior", "likelihood_ratio")


@pytest.mark.parametrize("prior", [-1, 2, "x", None])
def test_bad_priors(prior: object) -> None:
    with pytest.raises(ParameterError):
        odds(prior, spec())


def test_the_value_is_frozen_and_repeats_itself() -> None:
    found = odds("0.1", spec())
    assert eval(repr(found), {"Odds": Odds, "Fraction": Fraction}) == found
    with pytest.raises(AttributeError):
        found.before = 0.0  # type: ignore[misc]
