"""False alarms against misses: bounds against every event of small worlds, and the tests that reach them."""

import itertools
import math
import random
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from quincunx.errors import ParameterError, PrivacyError
from quincunx.loss import GaussianLaw, LatticeLaw, Loss
from quincunx.meaning import best_attack
from quincunx.meaning.testing import Attack, error_curve
from quincunx.mechanisms import DiscreteGaussian, DiscreteLaplace, Gaussian, Laplace, RandomizedResponse
from quincunx.numbers import Log
from quincunx.spec import Specification, standard
from quincunx.spec.order import rounded_up
from tests.meaning import guarantees

from ..spec.small_worlds import blended, random_mechanism

Law = tuple[Fraction, ...]
LEVELS = [Fraction(0), Fraction(1, 100), Fraction(1, 20), Fraction(1, 4), Fraction(1, 2), Fraction(9, 10), Fraction(1)]


def spec(**blocks: Any) -> Specification:
    return guarantees.spec(**{"intensity": Log(3), **blocks})


def every_test(p: Law, q: Law) -> list[tuple[Fraction, Fraction]]:
    """(false alarms, misses) of every test that decides by an event, in both directions."""
    outputs = range(len(p))
    found = []
    for size in range(len(p) + 1):
        for event in itertools.combinations(outputs, size):
            for null, other in ((p, q), (q, p)):
                alarms = sum((null[i] for i in event), Fraction(0))
                found.append((alarms, 1 - sum((other[i] for i in event), Fraction(0))))
    return found


def least_misses(points: list[tuple[Fraction, Fraction]], level: Fraction) -> Fraction:
    """The smallest misses at `level` of any mixture of two of the tests: the lower hull, as Neyman and Pearson say."""
    best = Fraction(1)
    for (a, b), (c, d) in itertools.product(points, points):
        if a <= level <= c:
            best = min(best, b if a == c else b + (d - b) * (level - a) / (c - a), b)
    return best


# Formulas.


@pytest.mark.parametrize("level", LEVELS)
def test_pure_guarantees_have_one_corner(level: Fraction) -> None:
    found = best_attack(spec(), false_alarms=level)
    exact = max(Fraction(0), 1 - 3 * level, (1 - level) / 3)
    assert found.misses == pytest.approx(float(exact), abs=1e-15)
    assert Fraction(found.misses) <= exact
    assert Fraction(found.power) >= 1 - exact
    assert (found.advantage, found.errors) == pytest.approx((0.5, 0.5), rel=1e-15)
    assert Fraction(found.advantage) >= Fraction(1, 2)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("delta", [Fraction(1, 1000), Fraction(1, 5)])
def test_approximate_guarantees(level: Fraction, delta: Fraction) -> None:
    found = best_attack(spec(standard=standard.Approximate(delta)), false_alarms=level)
    exact = max(Fraction(0), 1 - delta - 3 * level, (1 - delta - level) / 3)
    assert Fraction(found.misses) <= exact
    assert found.misses == pytest.approx(float(exact), abs=1e-8)
    assert found.advantage == pytest.approx(float((2 + 2 * delta) / 4), rel=1e-12)


@pytest.mark.parametrize("level", LEVELS[1:-1])
@pytest.mark.parametrize("mu", ["1/4", "1", "3"])
def test_gaussian_guarantees_and_losses(level: Fraction, mu: str) -> None:
    from scipy.stats import norm

    exact = norm.cdf(norm.ppf(1 - float(level)) - float(Fraction(mu)))
    loss = Loss.of(GaussianLaw(mu2=Fraction(mu) ** 2))
    for found in (
        best_attack(spec(standard=standard.GaussianDP(), intensity=mu), false_alarms=level),
        best_attack(loss, unit="replace", false_alarms=level),
    ):
        assert found.misses == pytest.approx(exact, rel=1e-6)
        assert found.misses <= exact * (1 + 1e-12)
        assert found.advantage == pytest.approx(2 * norm.cdf(float(Fraction(mu)) / 2) - 1, rel=1e-12)


LOSSES = [
    Laplace(scale=1).loss,
    RandomizedResponse(probability="3/4").loss,
    10 * RandomizedResponse(probability="3/5", options=4).loss,
    5 * DiscreteGaussian(sigma=5).loss,
    Laplace(scale=2).loss + Gaussian(sigma=2).loss,
    Loss.of(LatticeLaw(unit=Log(3), steps=4)),
]


@pytest.mark.parametrize("loss", LOSSES, ids=str)
@pytest.mark.parametrize("level", [Fraction(1, 100), Fraction(1, 20), Fraction(1, 2)])
def test_losses_agree_with_their_own_tradeoff(loss: Loss, level: Fraction) -> None:
    low, high = loss.tradeoff_bounds(level)
    found = best_attack(loss, unit="replace", false_alarms=level)
    assert low - 1e-6 <= found.misses <= high + 1e-12
    assert found.advantage == loss.tv()
    assert found.power == pytest.approx(1 - found.misses)


@pytest.mark.parametrize("loss", LOSSES, ids=str)
def test_the_drawn_curve_lies_below_and_close(loss: Loss) -> None:
    levels = [i / 20 for i in range(21)]
    drawn = error_curve(loss, levels, unit="replace")
    assert drawn == sorted(drawn, reverse=True)
    for level, misses in zip(levels, drawn, strict=True):
        best = best_attack(loss, unit="replace", false_alarms=level).misses
        assert misses <= best + 1e-12
        assert misses >= best - 0.005


@pytest.mark.parametrize("loss", LOSSES, ids=str)
def test_the_advantage_is_the_largest_gap_to_blind_guessing(loss: Loss) -> None:
    levels = [Fraction(i, 200) for i in range(201)]
    gaps = [1 - float(a) - b for a, b in zip(levels, error_curve(loss, levels, unit="replace"), strict=True)]
    attack = best_attack(loss, unit="replace")
    assert max(gaps) == pytest.approx(attack.advantage, abs=0.01)
    assert attack.errors == pytest.approx(1 - attack.advantage)


# Small worlds: every event.


STANDARDS = [
    standard.Pure(),
    standard.Approximate("1/20"),
    standard.ZCDP(),
    standard.Renyi(2),
    standard.GaussianDP(),
    standard.KL(),
    standard.TV(),
]


@pytest.mark.parametrize("kind", STANDARDS, ids=str)
@pytest.mark.parametrize("seed", range(6))
def test_no_event_of_a_world_beats_the_bound(kind: standard.Standard, seed: int) -> None:
    source = random.Random(f"testing {seed}")
    world = blended(random_mechanism(source, [0, 1], 4), Fraction(1, source.choice((3, 10, 100))))
    p, q = (tuple(Fraction(each) for each in world.law(x)) for x in (0, 1))  # type: ignore[arg-type]
    least = kind.least(p, q)
    intensity = least.exact if least.exact is not None else rounded_up(least.upper)
    guarantee = spec(standard=kind, intensity=intensity)
    points = every_test(p, q)
    attack = best_attack(guarantee)
    assert max(1 - a - b for a, b in points) <= Fraction(attack.advantage)
    assert min(a + b for a, b in points) >= Fraction(attack.errors)
    levels = sorted({a for a, _ in points})
    for level, bound in zip(levels, error_curve(guarantee, levels), strict=True):
        assert Fraction(bound) <= least_misses(points, level)
    for level in source.sample(levels, 3):
        assert Fraction(best_attack(guarantee, false_alarms=level).misses) <= least_misses(points, level)


def test_total_variation_is_reached_by_an_event() -> None:
    p, q = (Fraction(1, 2), Fraction(1, 2), Fraction(0)), (Fraction(1, 4), Fraction(1, 2), Fraction(1, 4))
    attack = best_attack(spec(standard=standard.TV(), intensity="1/4"))
    assert max(1 - a - b for a, b in every_test(p, q)) == Fraction(attack.advantage) == Fraction(1, 4)


FINITE = {
    "randomized response": (RandomizedResponse(probability="3/4"), 1),
    "three answers": (RandomizedResponse(probability="2/3"), 3),
    "two answers among three": (RandomizedResponse(probability="1/2", options=3), 2),
}


@pytest.mark.parametrize("name", FINITE)
def test_the_best_event_reaches_the_bound_of_a_loss(name: str) -> None:
    mechanism, count = FINITE[name]
    world = mechanism.finite().power(count).map(lambda answers: tuple(sorted(answers)))
    p, q = (tuple(Fraction(each) for each in world.law(x)) for x in (0, 1))  # type: ignore[arg-type]
    points, loss = every_test(p, q), count * mechanism.loss
    for level in LEVELS:
        bound = best_attack(loss, unit="replace", false_alarms=level).misses
        exact = least_misses(points, level)
        assert Fraction(bound) <= exact
        assert bound == pytest.approx(float(exact), abs=1e-7)
    assert best_attack(loss, unit="replace").advantage == pytest.approx(float(max(1 - a - b for a, b in points)))


def test_noise_on_a_lattice_is_tested_by_a_threshold() -> None:
    mechanism = DiscreteLaplace(scale=2)
    world = mechanism.finite([0, 3], reach=40)
    p, q = ([float(each.mid()) for each in world.law(x)] for x in (0, 3))  # type: ignore[union-attr]
    order = sorted(range(len(p)), key=lambda i: -q[i] / p[i])
    alarms = misses = 0.0
    loss, detected = mechanism.loss.group(3), 0.0
    for i in order[:-1]:
        alarms, detected = alarms + p[i], detected + q[i]
        misses = 1 - detected
        if 1e-3 < alarms < 0.99:
            found = best_attack(loss, unit="replace", false_alarms=str(alarms)).misses
            assert found == pytest.approx(misses, abs=1e-6)


def test_averages_of_datasets_are_no_easier_to_tell_apart() -> None:
    """Three options: whoever mixes two of them as one hypothesis is bound by the same curve."""
    mechanism = RandomizedResponse(probability="1/2", options=3)
    rows = [tuple(Fraction(each) for each in mechanism.finite().law(x)) for x in range(3)]  # type: ignore[arg-type]
    for share in (Fraction(1, 10), Fraction(1, 2)):
        mixed = tuple(share * a + (1 - share) * b for a, b in zip(rows[0], rows[1], strict=True))
        for alarms, misses in every_test(mixed, rows[2]):
            bound = best_attack(mechanism.loss, unit="replace", false_alarms=alarms).misses
            assert Fraction(bound) <= misses


# The survey's second equivalence is an implication.


def test_the_sum_of_errors_does_not_imply_pure_privacy() -> None:
    """Section 7.1 prints ε-DP ⟺ P_FA + P_MD ≥ 2/(1 + e^ε). Publishing with probability 1/10 meets the sum for e^ε = 3
    and every event, but no ε."""
    p, q = (Fraction(1, 10), Fraction(9, 10)), (Fraction(0), Fraction(1))
    assert min(a + b for a, b in every_test(p, q)) == Fraction(9, 10) >= Fraction(2, 1 + 3)
    assert not standard.Pure().least(p, q).lower.is_finite()


@pytest.mark.parametrize("seed", range(10))
def test_pure_privacy_implies_the_sum_of_errors(seed: int) -> None:
    source = random.Random(f"sum {seed}")
    world = blended(random_mechanism(source, [0, 1], 4), Fraction(1, 10))
    p, q = (tuple(Fraction(each) for each in world.law(x)) for x in (0, 1))  # type: ignore[arg-type]
    growth = max(max(a / b, b / a) for a, b in zip(p, q, strict=True))
    points = every_test(p, q)
    assert min(a + b for a, b in points) >= 2 / (1 + growth)
    # The first equivalence is one: both weighted sums for all events give back the smallest ε.
    assert all(a + growth * b >= 1 and growth * a + b >= 1 for a, b in points)
    less = growth - Fraction(1, 10**6)
    assert growth == 1 or any(a + less * b < 1 or less * a + b < 1 for a, b in points)


# Groups, units, words.


def test_people_and_units() -> None:
    loss = Laplace(scale=1).loss
    one = best_attack(loss, unit="replace")
    assert best_attack(loss, unit="add-remove", about="presence") == one
    assert best_attack(loss, unit="add-remove") == best_attack(loss, unit="replace", people=2)
    assert best_attack(loss, unit="replace", people=2).power > one.power
    assert one.power == pytest.approx(0.05 * math.e, rel=1e-9)


def test_words() -> None:
    said = best_attack(Laplace(scale=1).loss, unit="replace").words()
    assert said == (
        "Whoever may raise a false alarm with probability 5 % detects the difference with probability at most 13.6 %; "
        "blind guessing detects it with probability 5 %. No test has false alarms and misses that add up to less than "
        "60.6 %. Where both datasets were equally likely, the best guess is right with probability at most 69.7 %."
    )


@settings(max_examples=40, deadline=None)
@given(st.fractions(0, 1, max_denominator=100), st.fractions(0, 8, max_denominator=10))
def test_bounds_are_probabilities_and_no_test_is_worse_than_blind(level: Fraction, epsilon: Fraction) -> None:
    found = best_attack(spec(intensity=epsilon), false_alarms=level)
    assert 0 <= found.misses <= 1 - float(level) + 1e-12
    assert found.power >= float(level) - 1e-12
    assert 0 <= found.errors <= 1
    assert found.power - float(level) <= found.advantage + 1e-12


@pytest.mark.parametrize("level", [-1, 2, "x", None, True])
def test_bad_levels(level: object) -> None:
    with pytest.raises(ParameterError) as caught:
        best_attack(spec(), false_alarms=level)
    assert caught.value.where == "false_alarms"
    with pytest.raises(ParameterError) as caught:
        error_curve(spec(), [level])
    assert caught.value.where == "levels"


def test_what_has_no_curve_is_refused() -> None:
    with pytest.raises(PrivacyError, match="no error probabilities are derived from Divergence"):
        best_attack(spec(standard=standard.Divergence("chi-squared"), intensity="1/10"))
    with pytest.raises(ParameterError, match="says nothing about its unit"):
        best_attack(Laplace(scale=1).loss)


def test_the_value_is_frozen_and_repeats_itself() -> None:
    found = best_attack(spec())
    assert eval(repr(found), {"Attack": Attack, "Fraction": Fraction}) == found
    with pytest.raises(AttributeError):
        found.power = 0.0  # type: ignore[misc]
