"""Bounded range: closed forms against a search over the place of the interval, and against exponential mechanisms."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from quincunx.finite import Mechanism, adaptive, sequential
from quincunx.loss import BoundedRangeLaw, LaplaceLaw, Loss
from quincunx.mechanisms import Exponential
from quincunx.numbers import Ball, ball, float_above, float_below, float_near, precision
from quincunx.spec.standard import KL, TV, ZCDP, Approximate, GaussianDP, Pure, Renyi

ETAS = ["1/100", "1/2", "1", "3", "12"]
EQUAL = 1e-12


def law(eta: object) -> Loss:
    return Loss.of(BoundedRangeLaw(eta=Fraction(eta)))


def two_atoms(eta: Fraction, t: Fraction) -> tuple[list[Ball], list[Ball]]:
    """The worst pair with losses t and t − η: its probabilities under P and under Q."""
    high = -(ball(t - eta)).expm1() / -(-ball(eta)).expm1()
    return [high, 1 - high], [high * (-ball(t)).exp(), (1 - high) * ball(eta - t).exp()]


@pytest.mark.parametrize("eta", ETAS)
@pytest.mark.parametrize("share", ["0", "0.1", "0.5", "0.9", "0.999", "1", "2"])
def test_delta_is_the_largest_over_places(eta: str, share: str) -> None:
    length, epsilon = Fraction(eta), Fraction(eta) * Fraction(share)
    low, high = law(eta).delta_bounds(epsilon)
    with precision(256):
        found = []
        for k in range(1, 400):
            p, q = two_atoms(length, length * k / 400)
            assert abs(sum(q, Ball(0)) - 1) < 1e-60
            growth = ball(epsilon).exp()
            excess = sum(((a - growth * b).max(Ball(0)) for a, b in zip(p, q, strict=True)), Ball(0))
            found.append(float_near(excess))
    assert max(found) <= high * (1 + EQUAL)
    # 400 places, of which one is within η/800 of the best, where the curve is flat; at 0.999·η the curve is narrower.
    if share != "0.999":
        assert max(found) == pytest.approx(low, rel=1e-3, abs=1e-60)
    if Fraction(share) >= 1:
        assert low <= high < 1e-60


@pytest.mark.parametrize("eta", ETAS)
@pytest.mark.parametrize("alpha", ["1.01", "2", "7"])
def test_renyi_and_kl_are_the_largest_over_places(eta: str, alpha: str) -> None:
    length, order = Fraction(eta), Fraction(alpha)
    with precision(512):
        divergences, informations = [], []
        for k in range(1, 400):
            t = length * k / 400
            p, q = two_atoms(length, t)
            losses = [ball(t), ball(t - length)]
            moment = sum((b * (ball(order) * loss).exp() for b, loss in zip(q, losses, strict=True)), Ball(0))
            divergences.append(float_near(moment.log() / ball(order - 1)))
            informations.append(float_near(sum((a * loss for a, loss in zip(p, losses, strict=True)), Ball(0))))
    assert max(divergences) <= law(eta).renyi(alpha) * (1 + EQUAL)
    assert max(divergences) == pytest.approx(law(eta).renyi_bounds(alpha)[0], rel=1e-3)
    assert max(informations) <= law(eta).kl() * (1 + EQUAL)
    assert max(informations) == pytest.approx(law(eta).kl_bounds()[0], rel=1e-3)


@pytest.mark.parametrize("eta", [*ETAS, "7.9", "8.1", "100"])
def test_rho_encloses_the_supremum_over_orders(eta: str) -> None:
    low, high = law(eta).zcdp_bounds()
    exact = min(Fraction(eta) ** 2 / 8, Fraction(eta))
    assert BoundedRangeLaw(eta=Fraction(eta)).zcdp()[1] == exact
    orders = [1 + Fraction(k * k, 100) for k in range(1, 60, 3)] + [1 + Fraction(1, 10**6)]
    largest = max(law(eta).renyi(order) / float(order) for order in orders)
    assert largest <= high * (1 + EQUAL)
    assert largest >= low * (1 - 1e-4)
    assert low == law(eta).kl_bounds()[0]


@pytest.mark.parametrize("eta", ["1/100", "1/2", "1", "3", "12", "40"])
def test_the_bell_curve_is_the_farthest_over_places(eta: str) -> None:
    """The μ that each place needs, by enumeration of its two atoms; the middle one needs all of it."""
    length, mu = Fraction(eta), law(eta).gdp()
    found = []
    with precision(256):
        for k in range(1, 100):
            p, q = two_atoms(length, length * k / 100)
            found.append(float_above(GaussianDP().least(p, q).upper))
    assert max(found) <= mu * (1 + EQUAL)
    assert max(found) == found[49] == pytest.approx(mu, rel=1e-9)
    # In proportion to η it is at most √(π/8), and less than what an η-private pair may need.
    assert mu <= math.sqrt(math.pi / 8) * float(length)
    assert mu < Loss.of(LaplaceLaw(epsilon=length)).gdp()


def test_known_values() -> None:
    assert law(2).pure() == 2.0
    assert law(1).zcdp() == 0.125
    assert law(1).tv() == pytest.approx(math.tanh(0.25))
    assert law("1/10").delta("1/10") < 1e-60
    assert law("1/10").delta("0.1001") == 0.0
    # Randomized response at the same ε, which dominates every ε-DP pair, leaks more.
    assert law(1).delta("1/2") < (math.e - math.exp(0.5)) / (1 + math.e)


def test_extreme_ranges_stay_certified() -> None:
    for eta in ("1e300", "1e-300", "1e20"):
        low, high = law(eta).kl_bounds()
        assert 0 <= low <= high <= float(Fraction(eta)) + 1e-70
        low, high = law(eta).renyi_bounds(3)
        assert 0 <= low <= high <= float(Fraction(eta)) + 1e-70
        assert law(eta).zcdp_bounds()[0] <= law(eta).zcdp()
        assert 0 <= law(eta).delta_bounds(0)[0] <= law(eta).delta(0) <= 1 + 1e-15


def least(standard: object, world: Mechanism, x: object, y: object) -> tuple[float, float]:
    with precision(512):
        found = standard.least(world.law(x), world.law(y))  # type: ignore[attr-defined]
        return float_below(found.lower), float_above(found.upper)


MOVES = [Exponential(scale=2), Exponential(scale=1, sensitivity=2), Exponential(scale="0.7", monotone=True)]


@pytest.mark.parametrize("mechanism", MOVES, ids=repr)
def test_random_scores_never_leak_more(mechanism: Exponential) -> None:
    """Enumeration over random score vectors and their neighbours, every standard."""
    generator = np.random.default_rng(7)
    width, checked = int(mechanism.sensitivity), 0
    for _ in range(60):
        size = int(generator.integers(2, 6))
        scores = tuple(generator.integers(-4, 5, size).tolist())
        low = 0 if mechanism.monotone else -width
        other = tuple((np.array(scores) + generator.integers(low, width + 1, size)).tolist())
        world = mechanism.finite([scores, other])
        for delta in ("0", "1e-6", "0.01", "0.1"):
            assert least(Approximate(delta), world, scores, other)[0] <= mechanism.loss.epsilon(delta) * (1 + EQUAL)
            checked += 1
        assert least(TV(), world, scores, other)[0] <= mechanism.loss.tv() * (1 + EQUAL)
        assert least(KL(), world, scores, other)[0] <= mechanism.loss.kl() * (1 + EQUAL)
        assert least(GaussianDP(), world, scores, other)[0] <= mechanism.loss.gdp() * (1 + EQUAL)
        assert least(Renyi("3"), world, scores, other)[0] <= mechanism.loss.renyi(3) * (1 + EQUAL)
    assert checked == 240


@pytest.mark.parametrize("scores", [(0, 0), (0, 3), (2, 1, 0)])
def test_rho_holds_for_small_worlds(scores: tuple[int, ...]) -> None:
    mechanism = Exponential(scale=1)
    for moves in itertools.product((-1, 0, 1), repeat=len(scores)):
        other = tuple(score + move for score, move in zip(scores, moves, strict=True))
        world = mechanism.finite([scores, other])
        assert least(ZCDP(), world, scores, other)[0] <= mechanism.loss.zcdp() * (1 + EQUAL)


@pytest.mark.parametrize("epsilon", ["0", "0.3", "0.9"])
def test_exponential_mechanisms_come_arbitrarily_close(epsilon: str) -> None:
    """Two groups of candidates that move apart: their sizes place t, and with it δ(ε), as closely as wanted."""
    mechanism = Exponential(scale=2)
    best = 0.0
    for up in range(1, 40):
        scores = (0,) * 40
        other = (1,) * up + (-1,) * (40 - up)
        world = mechanism.finite([scores, other])
        with precision(512):
            growth = ball(Fraction(epsilon)).exp()
            pairs = zip(world.law(other), world.law(scores), strict=True)
            best = max(best, float_near(sum(((a - growth * b).max(Ball(0)) for a, b in pairs), Ball(0))))
    claimed = mechanism.loss.delta(epsilon)
    assert best <= claimed * (1 + EQUAL)
    # Forty candidates place t to within one in forty; near ε = η that is coarse.
    assert best >= claimed * (0.97 if epsilon == "0.9" else 0.998)


def test_pure_epsilon_is_approached() -> None:
    """One candidate rises and all others, outweighing it by far, fall: the ratio nears e^{2Δ/scale}."""
    mechanism = Exponential(scale=2)
    world = mechanism.finite([(0, 40), (1, 39)])
    low, high = least(Pure(), world, (0, 40), (1, 39))
    assert 0.999999 <= low <= high <= 1.0 + 1e-12


def test_groups_add_ranges() -> None:
    assert law("1/2").group(3) == law("3/2")
    mechanism = Exponential(scale=4)
    for scores, other in (((0, 0, 1), (3, -3, 1)), ((2, 0), (-1, 3))):
        world = mechanism.finite([scores, other])
        for delta in ("0", "0.01", "0.1"):
            claimed = mechanism.loss.group(3).epsilon(delta)
            assert least(Approximate(delta), world, scores, other)[0] <= claimed * (1 + EQUAL)


def test_repeated_uses_are_bounded_through_epsilon_and_rho() -> None:
    mechanism = Exponential(scale=1)
    one = mechanism.finite([(0, 0, 0), (1, -1, 0)])
    for uses in (2, 3):
        world = one.power(uses)
        for delta in ("0", "1e-6", "0.05"):
            claimed = (uses * mechanism.loss).epsilon(delta)
            assert least(Approximate(delta), world, (0, 0, 0), (1, -1, 0))[0] <= claimed * (1 + EQUAL)
    assert (1000 * law("1/10")).zcdp() == pytest.approx(1.25)
    assert (1000 * law("1/10")).epsilon("1e-6") < 10 < (1000 * law("1/10")).pure()
    mixed = law(1) + Loss.of(LaplaceLaw(epsilon=Fraction(1, 2)))
    assert mixed.pure() == 1.5
    assert mixed.delta_bounds("0.25")[0] == pytest.approx(law(1).delta("0.25"))


def test_adaptive_choices_have_a_longer_range_than_the_sum() -> None:
    """Why `covers` compares single laws only: the second place depends on the first answer."""
    with precision(256):
        near, far = Fraction(1, 100), Fraction(99, 100)

        def pair(t: Fraction) -> Mechanism:
            p, q = two_atoms(Fraction(1), t)
            return Mechanism({0: dict(enumerate(p)), 1: dict(enumerate(q))})

        both = adaptive(pair(Fraction(1, 2)), {0: pair(far), 1: pair(near)})
        ratios = [float_near((ball(a) / ball(b)).log()) for a, b in zip(both.law(0), both.law(1), strict=True)]
        assert max(ratios) - min(ratios) == pytest.approx(2.98)
        fixed = sequential(pair(far), pair(near))
        ratios = [float_near((ball(a) / ball(b)).log()) for a, b in zip(fixed.law(0), fixed.law(1), strict=True)]
        assert max(ratios) - min(ratios) == pytest.approx(2.0)
    assert not law(2).covers(2 * law(1))
    assert law(2).covers(law(1))
    assert not law(1).covers(law(2))
    assert (2 * law(1)).covers(law(1))
    # Its ε and ρ hold all the same, as the enumeration says.
    for delta in ("0", "0.01", "0.2"):
        assert least(Approximate(delta), both, 0, 1)[0] <= (2 * law(1)).epsilon(delta) * (1 + EQUAL)
    assert least(ZCDP(), both, 0, 1)[0] <= (2 * law(1)).zcdp() * (1 + EQUAL)
