"""The smaller misprints of the chapter, the slides on swapping and the course. `docs/errata.md` tells them in words."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from fractions import Fraction

import pytest

from quincunx.finite import Mechanism
from quincunx.mechanisms import DiscreteLaplace, Gaussian, RandomizedResponse
from quincunx.numbers import ball, normal_tail, precision
from quincunx.spec import Specification, domain, scope, standard, unit

# The chapter.


@pytest.mark.parametrize("people", [1, 2, 100])
def test_the_expected_yes_counts_people_who_have_the_property_not_who_claim_it(people: int) -> None:
    truth, lie = (RandomizedResponse(probability="3/4").finite().probability(x, 1) for x in (1, 0))
    assert (truth, lie) == (Fraction(3, 4), Fraction(1, 4))
    for have in range(people + 1):
        expected = have * truth + (people - have) * lie
        claimed = expected, people - expected
        assert Fraction(3, 4) * have + Fraction(1, 4) * (people - have) == expected
        # With the numbers of those who claim it, the printed identity holds where half of the people have it.
        assert (Fraction(3, 4) * claimed[0] + Fraction(1, 4) * claimed[1] == expected) == (2 * have == people)
    none = people * lie
    assert Fraction(3, 4) * none + Fraction(1, 4) * (people - none) == Fraction(3, 8) * people != none


def test_theorem_1_12_has_no_noise_at_delta_zero() -> None:
    epsilon = Fraction(1)
    for delta in (Fraction(1, 10**9), Fraction(1, 100), Fraction(1, 2), Fraction(1)):
        sigma2 = Fraction(2 * math.log(1.25 / float(delta)) * (1 + 1e-12))
        assert Gaussian(sigma2=sigma2).loss.delta(epsilon) <= delta
    # No Gaussian noise whatever has δ = 0, and the printed σ has no value there.
    for sigma in (1, 5, 20):
        assert Gaussian(sigma=sigma).loss.delta_bounds(epsilon)[0] > 0
    with pytest.raises(ZeroDivisionError):
        math.log(1.25 / 0)


def test_a_density_of_mean_zero_has_no_mu() -> None:
    # With μ = 1 and σ = 1 the printed density has only a sixth of its mass below 0, which is the median if the mean is.
    with precision(64):
        below = normal_tail(ball(1))
        assert ball(Fraction(158, 1000)) < below < ball(Fraction(159, 1000))
        assert normal_tail(ball(0)) == ball(Fraction(1, 2))


def test_what_illustrates_the_guarantee_is_figure_1_3() -> None:
    # Figure 1.2 shows a count of a dataset; a count has no ε at all. Figure 1.3 shows the Laplace mechanism, which has.
    world = domain.Finite(datasets=(0, 1))
    spec = Specification(
        domain=world,
        scope=scope.Everything(),
        unit=unit.Neighbours(pairs=[(0, 1)]),
        standard=standard.Pure(),
        intensity="0.500001",
    )
    exact = Mechanism({0: {0: 1}, 1: {1: 1}})
    assert spec.tightest(exact).bounds[1] == math.inf
    assert spec.holds(DiscreteLaplace(scale=2).finite([0, 1])).status == "holds"


# The slides on swapping.


def test_the_printed_hamming_distance_is_finite_between_datasets_of_different_sizes() -> None:
    none: tuple[str, ...] = ()
    pairs = domain.Finite.multisets(("a", "b"), (0, 1, 2))

    def printed(x: tuple[str, ...], y: tuple[str, ...]) -> float:
        # "if |x| = |x|", which is always so.
        return (
            sum(((Counter(x) - Counter(y)) + (Counter(y) - Counter(x))).values()) / 2 if len(x) == len(x) else math.inf
        )

    assert printed(none, ("a",)) == 1 / 2
    assert unit.Hamming().distance(none, ("a",), pairs) == math.inf
    for x, y in itertools.product(pairs.datasets, repeat=2):
        if len(x) == len(y):
            assert unit.Hamming().distance(x, y, pairs) == printed(x, y)


def test_the_two_printed_multiverses_differ_and_compare_the_same_datasets() -> None:
    world = [tuple(sorted(each)) for n in range(3) for each in itertools.combinations_with_replacement("ab", n)]
    levels = {frozenset(y for y in world if len(y) == len(x)) for x in world}
    subsets = {
        frozenset(chosen)
        for size in range(len(world) + 1)
        for chosen in itertools.combinations(world, size)
        if len({len(each) for each in chosen}) <= 1
    }
    assert (len(levels), len(subsets)) == (3, 12)
    assert levels < subsets
    compared = [{(x, y) for each in kind for x in each for y in each} for kind in (levels, subsets)]
    assert compared[0] == compared[1]


# The course.


def test_one_over_e_is_0_37_to_two_digits() -> None:
    with precision(64):
        tail = ball(-1).exp()
        assert ball(Fraction(3678, 10_000)) < tail < ball(Fraction(3679, 10_000))
    assert round(math.exp(-1), 2) == 0.37


def test_a_symmetric_difference_is_a_set_and_its_size_is_the_number() -> None:
    with pytest.raises(TypeError):
        {"a"} ^ {"a", "b"} <= 1  # type: ignore[operator]  # noqa: B015
    pairs = domain.Finite.multisets(("a", "b"), (0, 1, 2))
    assert len({"a"} ^ {"a", "b"}) == 1 == unit.SymmetricDifference().distance(("a",), ("a", "b"), pairs)
