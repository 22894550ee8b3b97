"""Every closed form against enumeration: mechanisms, composition, groups, on small worlds.

`Standard.least` enumerates two finite laws and returns the smallest intensity, certified. A claim of the `loss` room
must never be below it, and where the law is the mechanism's own it must equal it.
"""

from fractions import Fraction

import pytest

from quincunx.finite import Mechanism, sequential
from quincunx.loss import Loss
from quincunx.mechanisms import DiscreteGaussian, DiscreteLaplace, Gaussian, Laplace, RandomizedResponse
from quincunx.mechanisms.additive import Additive
from quincunx.numbers import Ball, ball, float_above, float_below, float_near, precision
from quincunx.spec.standard import KL, TV, ZCDP, Approximate, Pure

DELTAS = ["0", "1e-9", "1e-4", "0.05"]
# Balls of a finite model hold 512 bits; their differences at small masses still hold 100.
EQUAL = 1e-12


def least(standard: object, world: Mechanism, x: object = 0, y: object = 1) -> tuple[float, float]:
    with precision(512):
        found = standard.least(world.law(x), world.law(y))  # type: ignore[attr-defined]
        return float_below(found.lower), float_above(found.upper)


ROUNDED = [
    (Laplace(scale=2), 1),
    (Laplace(scale="0.4"), 1),
    (Laplace(scale=3, sensitivity=2), 2),
    (Laplace(scale="0.6", sensitivity="0.2", step="0.1"), 2),
    (Gaussian(sigma=1), 1),
    (Gaussian(sigma="0.4"), 1),
    (Gaussian(sigma=2, sensitivity=3), 3),
]
DISCRETE = [
    (DiscreteLaplace(scale=2), 1),
    (DiscreteLaplace(scale="0.4"), 1),
    (DiscreteLaplace(scale=3, sensitivity=2), 2),
    (DiscreteLaplace(scale=1, sensitivity=4), 4),
    (DiscreteGaussian(sigma=1), 1),
    (DiscreteGaussian(sigma="0.4"), 1),
    (DiscreteGaussian(sigma=2, sensitivity=3, coordinates=1), 3),
]


@pytest.mark.parametrize(("mechanism", "shift"), ROUNDED, ids=repr)
@pytest.mark.parametrize("delta", DELTAS)
def test_rounded_laws_never_exceed_their_continuous_closed_form(mechanism: Additive, shift: int, delta: str) -> None:
    world = mechanism.finite([0, shift], reach=30)
    standard = Approximate(delta)
    assert least(standard, world, 0, shift)[0] <= mechanism.loss.epsilon(delta) * (1 + EQUAL)
    low, _ = least(ZCDP(), world, 0, shift)
    assert low <= mechanism.loss.zcdp() * (1 + EQUAL)


@pytest.mark.parametrize(("mechanism", "shift"), DISCRETE, ids=repr)
@pytest.mark.parametrize("delta", DELTAS[1:])
def test_discrete_laws_equal_their_own_sum(mechanism: Additive, shift: int, delta: str) -> None:
    world = mechanism.finite([0, shift], reach=30)
    low, high = least(Approximate(delta), world, 0, shift)
    claimed_low, claimed_high = mechanism.loss.epsilon_bounds(delta)
    assert low <= claimed_high * (1 + EQUAL)
    assert claimed_low <= high * (1 + EQUAL) + EQUAL
    assert claimed_high == pytest.approx(high, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize(("mechanism", "shift"), DISCRETE[:4], ids=repr)
def test_discrete_laplace_reaches_its_pure_epsilon_and_its_kl(mechanism: Additive, shift: int) -> None:
    world = mechanism.finite([0, shift], reach=30)
    low, high = least(Pure(), world, 0, shift)
    assert low <= mechanism.loss.pure() * (1 + EQUAL)
    assert high == pytest.approx(mechanism.loss.pure(), rel=EQUAL)
    kl_low, kl_high = least(KL(), world, 0, shift)
    rho_low, rho_high = mechanism.loss.zcdp_bounds()
    assert rho_low <= kl_high * (1 + EQUAL)
    assert kl_low <= rho_high * (1 + EQUAL)
    zcdp_low, _ = least(ZCDP(), world, 0, shift)
    assert zcdp_low <= rho_high * (1 + EQUAL)


@pytest.mark.parametrize(("mechanism", "shift"), DISCRETE[4:], ids=repr)
def test_discrete_gaussian_zcdp_is_its_kl(mechanism: Additive, shift: int) -> None:
    world = mechanism.finite([0, shift], reach=40)
    low, high = least(ZCDP(), world, 0, shift)
    assert low <= mechanism.loss.zcdp() * (1 + EQUAL)
    # Enclosed to about 1e-6 by branch and bound; clamping 40 steps out loses nothing that shows.
    assert high == pytest.approx(mechanism.loss.zcdp(), rel=1e-4)


@pytest.mark.parametrize("p", ["3/4", "0.6", "0.1", "99/100"])
@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_repeated_randomized_response(p: str, n: int) -> None:
    mechanism = RandomizedResponse(probability=p)
    world = mechanism.finite().power(n)
    loss = n * mechanism.loss
    assert least(Pure(), world)[1] == pytest.approx(loss.pure(), rel=EQUAL)
    assert least(TV(), world)[1] == pytest.approx(loss.delta(0), rel=EQUAL)
    low, high = least(ZCDP(), world)
    assert low <= loss.zcdp() * (1 + EQUAL)
    assert high == pytest.approx(loss.zcdp(), rel=1e-4)
    for delta in DELTAS:
        assert least(Approximate(delta), world)[1] == pytest.approx(loss.epsilon(delta), rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("delta", DELTAS)
def test_different_mechanisms_compose_within_the_bounds(delta: str) -> None:
    parts: list[tuple[Loss, Mechanism]] = [
        (RandomizedResponse(probability="3/4").loss, RandomizedResponse(probability="3/4").finite()),
        (DiscreteLaplace(scale=1).loss, DiscreteLaplace(scale=1).finite([0, 1], reach=4)),
        (Gaussian(sigma=2).loss, Gaussian(sigma=2).finite([0, 1], reach=4)),
        (Laplace(scale=3).loss, Laplace(scale=3).finite([0, 1], reach=3)),
    ]
    for i, (loss_a, world_a) in enumerate(parts):
        for loss_b, world_b in parts[i:]:
            low, _ = least(Approximate(delta), sequential(world_a, world_b))
            assert low <= (loss_a + loss_b).epsilon(delta) * (1 + EQUAL)


@pytest.mark.parametrize("k", [1, 2, 3, 5])
@pytest.mark.parametrize("delta", DELTAS[1:])
def test_groups_of_respondents_are_covered(k: int, delta: str) -> None:
    """k people each flip their own bit: the product of k tables, against the group's law."""
    mechanism = RandomizedResponse(probability="2/3")
    world = mechanism.finite().power(k)
    low, _ = least(Approximate(delta), world)
    assert low <= mechanism.loss.group(k).epsilon(delta) * (1 + EQUAL)


@pytest.mark.parametrize("k", [2, 3, 4])
@pytest.mark.parametrize("mechanism", [DiscreteLaplace(scale=2), DiscreteGaussian(sigma=2)], ids=repr)
@pytest.mark.parametrize("delta", DELTAS[1:])
def test_groups_of_additive_mechanisms_are_longer_shifts(mechanism: Additive, k: int, delta: str) -> None:
    world = mechanism.finite([0, k], reach=35)
    assert least(Approximate(delta), world, 0, k)[1] == pytest.approx(
        mechanism.loss.group(k).epsilon(delta), rel=1e-9, abs=1e-12
    )


@pytest.mark.parametrize("vector", [(1, 1), (2, 1), (1, 1, 1)])
@pytest.mark.parametrize("mechanism", [DiscreteLaplace(scale="3/2"), Laplace(scale="3/2")], ids=repr)
@pytest.mark.parametrize("delta", DELTAS)
def test_vectors_are_covered_by_their_l1_length(mechanism: Additive, vector: tuple[int, ...], delta: str) -> None:
    """One coordinate that moves the whole ℓ1 distance dominates any vector of that length."""
    parts = [mechanism.finite([0, v], reach=2).on(lambda x, v=v: x * v, (0, 1)) for v in vector]
    world = sequential(*parts)
    length = Fraction(sum(vector))
    one = type(mechanism)(scale=mechanism.scale, sensitivity=length)  # type: ignore[call-arg,attr-defined]
    low, _ = least(Approximate(delta), world)
    assert low <= one.loss.epsilon(delta) * (1 + EQUAL)


@pytest.mark.parametrize("vector", [(1, 1), (2, 1), (1, 1, 1)])
@pytest.mark.parametrize("delta", DELTAS[1:])
def test_vectors_of_discrete_gaussians_are_covered_by_rho(vector: tuple[int, ...], delta: str) -> None:
    one = DiscreteGaussian(sigma="3/2")
    world = sequential(*(one.finite([0, v], reach=3).on(lambda x, v=v: x * v, (0, 1)) for v in vector))
    squared = sum(v * v for v in vector)
    claimed = DiscreteGaussian(sigma="3/2", sensitivity2=squared).loss
    low, _ = least(Approximate(delta), world)
    assert low <= claimed.epsilon(delta) * (1 + EQUAL)
    assert least(ZCDP(), world)[0] <= claimed.zcdp() * (1 + EQUAL)


def test_the_continuous_formula_would_be_wrong_for_the_discrete_law() -> None:
    """The enumeration itself refutes 1/σ-GDP for the discrete Gaussian: σ = 1, ε = 5.33."""
    world = DiscreteGaussian(sigma=1).finite([0, 1], reach=40)
    with precision(512):
        growth = ball(Fraction("5.33")).exp()
        excess = sum(((p - growth * q).max(Ball(0)) for p, q in zip(world.law(0), world.law(1), strict=True)), Ball(0))
        true_delta = float_near(excess)
    assert true_delta == pytest.approx(2.14 * Gaussian(sigma=1).loss.delta("5.33"), rel=0.005)
    assert DiscreteGaussian(sigma=1).loss.delta("5.33") >= true_delta * (1 - 1e-12)
    assert Gaussian(sigma=1).loss.delta("5.33") < true_delta
