"""Losses known by parameters, and the largest of several."""

import math
from fractions import Fraction

import pytest

from quincunx.errors import DataError, ParameterError, PrivacyError
from quincunx.loss import GaussianLaw, LaplaceLaw, Largest, Loss, StatedLaw
from quincunx.spec.unit import AddRemove, Replace

LAPLACE = Loss.of(LaplaceLaw(epsilon=Fraction(1, 2)))
GAUSS = Loss.of(GaussianLaw(mu2=Fraction(1)))


def test_stated_parameters_add_and_group() -> None:
    stated = Loss.of(StatedLaw(epsilon=Fraction(1), rho=Fraction(1, 4)))
    assert (3 * stated).pure() == 3.0
    assert (3 * stated).zcdp() == 0.75
    assert stated.group(2).pure() == 2.0
    assert stated.group(2).zcdp() == 1.0
    low, high = stated.delta_bounds(0)
    assert low == 0.0
    # The smaller of randomized response's δ and the conversion from ρ.
    assert high < (math.e - 1) / (math.e + 1)
    strong = Loss.of(StatedLaw(epsilon=Fraction(1), rho=Fraction(100)))
    assert strong.delta(0) == pytest.approx((math.e - 1) / (math.e + 1))


def test_a_stated_rho_without_epsilon() -> None:
    stated = Loss.of(StatedLaw(epsilon=None, rho=Fraction(1, 2)))
    assert stated.pure() == math.inf
    assert stated.group(3).zcdp() == 4.5
    assert stated.epsilon(delta=1e-6) > GAUSS.epsilon(delta=1e-6)


def test_add_remove_takes_the_largest_part() -> None:
    quarter = Loss.of(LaplaceLaw(epsilon=Fraction(1, 4)))
    assert Loss.parallel([LAPLACE, quarter, LAPLACE], unit=AddRemove()) == LAPLACE
    both = Loss.parallel([LAPLACE, GAUSS], unit=AddRemove())
    assert both.delta("0.2") == max(LAPLACE.delta("0.2"), GAUSS.delta("0.2"))
    assert both.pure() == math.inf
    assert both.zcdp() == 0.5


def test_replace_lets_a_person_move_between_parts() -> None:
    assert Loss.parallel([LAPLACE, LAPLACE], unit=Replace()) == LAPLACE.group(2)
    assert Loss.parallel([LAPLACE], unit=Replace()).pure() == 1.0
    # A part whose replace loss is known to be small does not help a person who leaves it.
    known = Loss.parallel([(LAPLACE, LAPLACE), (LAPLACE, LAPLACE)], unit=Replace())
    assert known.pure() == 1.0
    alone = Loss.parallel([(LAPLACE, LAPLACE)], unit=Replace())
    assert alone == LAPLACE


def test_replace_composes_two_different_parts() -> None:
    pair = Loss.parallel([(LAPLACE, LAPLACE), (GAUSS, GAUSS)], unit=Replace())
    for epsilon in ("0.1", "1", "2"):
        low, high = pair.delta_bounds(epsilon)
        assert low <= high
        assert high >= (LAPLACE + GAUSS).delta_bounds(epsilon)[0]
        assert high >= max(LAPLACE.delta(epsilon), GAUSS.delta(epsilon))


def test_a_composed_choice_uses_parameters_only() -> None:
    both = Loss.parallel([LAPLACE, GAUSS], unit=AddRemove())
    twice = 2 * both
    # Not the larger of two compositions: the alternative may change after the first answer.
    assert twice.delta("0.5") >= max((2 * LAPLACE).delta("0.5"), (2 * GAUSS).delta("0.5"), (LAPLACE + GAUSS).delta("1"))
    assert twice.zcdp() == 1.0
    assert both.group(3).zcdp() == 4.5
    assert isinstance(both.terms[0][0], Largest)


def test_no_parts_leak_nothing() -> None:
    assert Loss.parallel([], unit=AddRemove()) == Loss()
    assert Loss.parallel([Loss(), LAPLACE], unit=AddRemove()) == LAPLACE


def test_more_uses_of_the_same_law_cover_fewer() -> None:
    assert (2 * GAUSS + LAPLACE).covers(GAUSS)
    assert (2 * GAUSS + LAPLACE).covers(GAUSS + LAPLACE)
    assert not (2 * GAUSS + LAPLACE).covers(2 * LAPLACE)
    assert Loss.parallel([LAPLACE, 2 * LAPLACE], unit=AddRemove()) == 2 * LAPLACE


def test_bad_parts_and_groups_are_refused() -> None:
    with pytest.raises(DataError, match="a part is a Loss"):
        Loss.parallel([0.5], unit=AddRemove())  # type: ignore[list-item]
    with pytest.raises(DataError, match="a part is a Loss"):
        Loss.parallel([(LAPLACE, LAPLACE, LAPLACE)], unit=AddRemove())  # type: ignore[list-item]
    with pytest.raises(ParameterError, match="one person"):
        Loss.parallel([LAPLACE], unit=AddRemove(group=2))


def test_a_group_of_an_approximate_law_at_epsilon_zero_and_far_beyond() -> None:
    # At ε = 0 the factors e^{iε} are 1: k people have kδ.
    nothing = StatedLaw(epsilon=Fraction(0), rho=Fraction(0), delta=Fraction(1, 8))
    grown = nothing.group(3)
    assert grown.epsilon == 0
    assert Fraction(3, 8) <= grown.delta <= Fraction(3, 8) * (1 + Fraction(1, 10**15))
    with pytest.raises(PrivacyError, match="nothing is left"):
        nothing.group(8)
    with pytest.raises(PrivacyError, match="nothing is left"):
        StatedLaw(epsilon=Fraction(1), rho=Fraction(1, 2), delta=Fraction(1, 10**6)).group(10**6)


def test_parts_without_a_group_map_are_parallel_where_nobody_moves() -> None:
    part = Loss.of(StatedLaw(epsilon=None, rho=Fraction(1, 8), delta=Fraction(1, 10**6)))
    both = Loss.parallel([part, part], unit=AddRemove())
    assert both.stated_delta() == Fraction(1, 10**6)
    with pytest.raises(PrivacyError, match="no group map"):
        Loss.parallel([part, part], unit=Replace())
