"""Several choices at once, known by the squares of their ranges: against products of worst pairs, and mechanisms."""

import itertools
import math
from fractions import Fraction
from typing import Any

import pytest

from quincunx.loss import Loss, RangesLaw
from quincunx.mechanisms import QuantileChoice, QuantileCuts
from quincunx.numbers import Ball, float_above, float_below, precision
from quincunx.spec.standard import ZCDP, GaussianDP
from tests.loss.test_bounded_range import two_atoms

EQUAL = 1e-12


def law(square: object) -> Loss:
    return Loss.of(RangesLaw(square=Fraction(square)))


def test_known_values() -> None:
    assert (law(1).pure(), law(1).zcdp(), law(8).kl(), law(1).renyi(4)) == (math.inf, 0.125, 1.0, 0.5)
    assert law(8).gdp() == pytest.approx(math.sqrt(math.pi), rel=1e-15)
    assert law(8).gdp() ** 2 >= math.pi
    assert (3 * law(1)).zcdp() == 0.375
    assert law(1).group(3) == law(9)
    assert law(1).delta_bounds(1)[0] == 0.0
    assert 0 < law(1).delta(1) < 1


def parts(ranges: list[Fraction], places: list[Fraction]) -> tuple[list[Ball], list[Ball]]:
    """Independent pairs, each the worst of its range and place, together."""
    p, q = [Ball(1)], [Ball(1)]
    for eta, place in zip(ranges, places, strict=True):
        one, other = two_atoms(eta, eta * place)
        p = [a * b for a, b in itertools.product(p, one)]
        q = [a * b for a, b in itertools.product(q, other)]
    return p, q


@pytest.mark.parametrize("shares", [(1,), (1, 1), (3, 4), (1, 1, 1, 1), (1, 2, 2)], ids=str)
@pytest.mark.parametrize("square", ["1/4", "4"])
def test_products_of_the_worst_pairs_leak_no_more(shares: tuple[int, ...], square: str) -> None:
    total = math.sqrt(sum(each * each for each in shares))
    ranges = [Fraction(each / total * math.sqrt(float(Fraction(square))) * (1 - 1e-12)) for each in shares]
    assert sum(each * each for each in ranges) <= Fraction(square)
    nearest = 0.0
    with precision(256):
        for places in itertools.product([Fraction(1, 4), Fraction(1, 2), Fraction(4, 5)], repeat=len(shares)):
            p, q = parts(ranges, list(places))
            mu = float_below(GaussianDP().least(p, q).lower)
            assert mu <= law(square).gdp() * (1 + EQUAL)
            assert float_below(ZCDP().least(p, q).lower) <= law(square).zcdp() * (1 + EQUAL)
            nearest = max(nearest, mu)
    # Small ranges need nearly all of it: one choice all of √(π/8)·η, several, which mix, less.
    assert nearest > (0.75 if len(shares) > 1 else 0.9) * law(square).gdp()


CHOICES = [
    *(each for each in QuantileChoice.examples() if each.norm == 2),
    *(each for each in QuantileCuts.examples() if each.norm == 2 and each.bins is None),
]


@pytest.mark.parametrize("mechanism", CHOICES, ids=repr)
def test_mechanisms_leak_no_more_than_their_mu(mechanism: Any) -> None:
    """Every pair of the mechanism's own small world."""
    world, pairs = mechanism.world()
    most = mechanism.loss.gdp()
    assert most < math.inf
    found = 0.0
    for one, other in pairs:
        with precision(256):
            found = max(found, float_above(GaussianDP().least(world.law(one), world.law(other)).upper))
    assert 0 < found <= most * (1 + EQUAL)
