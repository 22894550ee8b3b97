"""Losses on a lattice: randomized response and the discrete Laplace law, against brute force in exact rationals."""

import itertools
import math
from fractions import Fraction

import pytest

from quincunx.loss import LaplaceLaw, LatticeLaw, Loss
from quincunx.numbers import Ball, Log, ball, precision


def response(odds: object) -> Loss:
    return Loss.of(LatticeLaw(unit=Log(odds), steps=1))


def steps(unit: object, count: int) -> Loss:
    return Loss.of(LatticeLaw(unit=Fraction(unit), steps=count))


def table(x: Fraction, n: int) -> list[tuple[Fraction, Fraction]]:
    """(P, Q) over the sufficient cells k ≤ 0, 1, …, n−1, ≥ n of P(k) ∝ x^|k| against its shift by n."""
    inside = (1 - x) / (1 + x)
    p = [1 / (1 + x), *(inside * x**k for k in range(1, n)), x**n / (1 + x)]
    return list(zip(p, reversed(p), strict=True))


def brute_delta(worlds: list[list[tuple[Fraction, Fraction]]], growth: Fraction) -> Fraction:
    """Σ (P − e^ε Q)⁺ over all outcomes of the product of independent worlds, exactly."""
    total = Fraction(0)
    for cells in itertools.product(*worlds):
        p = math.prod((cell[0] for cell in cells), start=Fraction(1))
        q = math.prod((cell[1] for cell in cells), start=Fraction(1))
        total += max(Fraction(0), p - growth * q)
    return total


@pytest.mark.parametrize("odds", [Fraction(3), Fraction(11, 10), Fraction(1000)])
@pytest.mark.parametrize("count", [1, 2, 3, 6])
@pytest.mark.parametrize("growth", [Fraction(1), Fraction(2), Fraction(9), Fraction(27, 10)])
def test_randomized_response_is_summed_exactly(odds: Fraction, count: int, growth: Fraction) -> None:
    expected = brute_delta([table(1 / odds, 1)] * count, growth)
    with precision(256):
        low, high = (count * response(odds)).curve().delta(ball(Log(growth)))
        assert low.lower() <= ball(expected) <= high.upper()
        assert high - low < Ball(2) ** -200


@pytest.mark.parametrize("parts", [[1, 1, 2], [3], [2, 2], [4, 1], [5]])
@pytest.mark.parametrize("growth", [Fraction(1), Fraction(3, 2), Fraction(5)])
def test_mixed_steps_of_one_unit_compose_exactly(parts: list[int], growth: Fraction) -> None:
    odds = Fraction(5, 2)
    expected = brute_delta([table(1 / odds, n) for n in parts], growth)
    total = sum((Loss.of(LatticeLaw(unit=Log(odds), steps=n)) for n in parts), Loss())
    with precision(256):
        low, high = total.curve().delta(ball(Log(growth)))
        assert low.lower() <= ball(expected) <= high.upper()
        assert high - low < Ball(2) ** -200


def test_a_thousand_discrete_laplace_answers_cost_more_than_the_continuous_formula() -> None:
    low, high = (1000 * steps("1/20", 1)).epsilon_bounds(delta=1e-6)
    # Figure 8.2836 to four decimals; the continuous law's is 8.2044.
    assert 8.283 <= low <= high <= 8.2836 + 5e-5
    assert high - low < 1e-11


def test_the_profile_touches_the_continuous_one_on_its_lattice_and_exceeds_it_between() -> None:
    unit, n = Fraction(1, 4), 3
    continuous = Loss.of(LaplaceLaw(epsilon=n * unit))
    for j in range(n):
        at = (n - 2 * j) * unit
        if at >= 0:
            assert steps(unit, n).delta(at) == pytest.approx(continuous.delta(at), rel=1e-12, abs=1e-15)
    between = (n - 1) * unit
    assert steps(unit, n).delta_bounds(between)[0] > continuous.delta(between) * 1.0001


def renyi(p: list[Ball], q: list[Ball], order: Ball) -> Ball:
    return sum((a**order * b ** (1 - order) for a, b in zip(p, q, strict=True)), Ball(0)).log() / (order - 1)


@pytest.mark.parametrize("unit", ["1/100", "1/2", 2, 20])
@pytest.mark.parametrize("n", [1, 2, 5])
def test_zcdp_bounds_enclose_the_supremum_over_a_grid_of_orders(unit: object, n: int) -> None:
    with precision(512):
        x = (-ball(Fraction(unit))).exp()
        inside = (1 - x) / (1 + x)
        p = [1 / (1 + x), *(inside * x**k for k in range(1, n)), x**n / (1 + x)]
        q = list(reversed(p))
        low, high = LatticeLaw(unit=Fraction(unit), steps=n).zcdp()
        orders = [ball(1 + Fraction(k, 1000) ** 2 * 100) for k in range(1, 400, 7)]
        assert all(renyi(p, q, order) / order <= high for order in orders)
        # The lower bound is the limit at order 1, approached from below by orders close to it.
        assert renyi(p, q, ball(1 + Fraction(1, 10**20))) > low - ball(Fraction(1, 10**15))


def test_one_step_has_the_tight_zcdp() -> None:
    low, high = response(3).zcdp_bounds()
    assert low <= math.log(3) * 0.5 <= high
    assert high - low < 1e-15


def test_group_of_two_respondents_is_two_steps() -> None:
    assert response(3).group(2) == Loss.of(LatticeLaw(unit=Log(3), steps=2))
    assert response(3).group(2).covers(2 * response(3))
    assert response(3).group(2).pure() == pytest.approx(math.log(9))


@pytest.mark.parametrize("odds", [Fraction(2), Fraction(7)])
@pytest.mark.parametrize(("m", "n"), [(1, 1), (2, 1), (3, 2), (2, 2), (4, 1)])
def test_one_coordinate_dominates_two_exactly(odds: Fraction, m: int, n: int) -> None:
    """The lemma of lattice.md in exact rationals, at and between the lattice points, both directions of s."""
    for growth in [Fraction(1, 50), Fraction(1, 2), Fraction(1), odds, Fraction(3, 2), odds**2, odds**3 / 2]:
        two = brute_delta([table(1 / odds, m), table(1 / odds, n)], growth)
        one = brute_delta([table(1 / odds, m + n)], growth)
        assert two <= one


def test_pure_is_exact_and_never_below() -> None:
    assert (3 * steps("1/10", 2)).pure() >= 0.6
    assert (3 * steps("1/10", 2)).pure() <= math.nextafter(0.6, 1)
    assert response(3).pure_bounds()[0] <= math.log(3) <= response(3).pure()


def test_far_more_uses_than_can_be_summed_still_have_bounds() -> None:
    low, high = (10**6 * steps("1/1000", 1)).epsilon_bounds(delta=1e-6)
    assert 0 <= low <= high < 10
