"""Mixtures of any laws: the truth lies between the bounds, and the bounds lie within a thousandth of ε."""

import itertools
import math
import random
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from quincunx.loss import (
    DiscreteGaussianLaw,
    GaussianLaw,
    LaplaceLaw,
    LatticeLaw,
    Loss,
    ResponseLaw,
    SubsampledLaw,
)
from quincunx.loss.curve import Curve
from quincunx.loss.law import Law
from quincunx.numbers import Ball, Log, ball, float_above, float_below, normal_tail, precision

WIDTH = 1e-3
DELTAS = ("1e-3", "1e-6", "1e-9")
Atoms = list[tuple[Ball, Ball]]


def atoms(law: Law, count: int) -> Atoms:
    """Loss and probability of every outcome of `count` uses, in balls, from the definition of each law."""
    if isinstance(law, LatticeLaw):
        unit, n = ball(law.unit), law.steps
        x = (-unit).exp()
        inside = [(1 - x) / (1 + x) * x**j for j in range(1, n)]
        one = [(unit * (n - 2 * j), p) for j, p in enumerate([1 / (1 + x), *inside, x**n / (1 + x)])]
        gap = unit * 2
    elif isinstance(law, ResponseLaw):
        gap = ball(law.high / law.low).log()
        one = [(gap, ball(law.high)), (Ball(0), ball(1 - law.high - law.low)), (-gap, ball(law.low))]
    else:
        raise TypeError(type(law))
    # Equally spaced, so that uses are a convolution.
    mass = [p for _, p in one]
    total = [Ball(1)]
    for _ in range(count):
        longer = [Ball(0)] * (len(total) + len(mass) - 1)
        for (i, a), (j, b) in itertools.product(enumerate(total), enumerate(mass)):
            longer[i + j] += a * b
        total = longer
    return [(one[0][0] * count - gap * j, p) for j, p in enumerate(total)]


def joint(terms: list[tuple[Law, int]]) -> Atoms:
    """Every outcome of the composition."""
    found: Atoms = [(Ball(0), Ball(1))]
    for law, count in terms:
        found = [(x + y, p * q) for (x, p), (y, q) in itertools.product(found, atoms(law, count))]
    return found


def hockey_stick(outcomes: Atoms, epsilon: Ball) -> Ball:
    return sum((p * (1 - (epsilon - loss).exp()).max(Ball(0)) for loss, p in outcomes), Ball(0))


ATOMIC: dict[str, list[tuple[Law, int]]] = {
    "three lattices": [
        (LatticeLaw(unit=Fraction(1, 2), steps=1), 3),
        (LatticeLaw(unit=Fraction(10, 37), steps=1), 5),
        (LatticeLaw(unit=Log(3), steps=1), 1),
    ],
    "with three options": [
        (LatticeLaw(unit=Fraction(1, 2), steps=3), 3),
        (LatticeLaw(unit=Fraction(10, 37), steps=2), 5),
        (ResponseLaw(high=Fraction(3, 5), low=Fraction(1, 5)), 4),
    ],
    "many uses": [
        (LatticeLaw(unit=Fraction(1, 20), steps=1), 60),
        (LatticeLaw(unit=Log(Fraction(6, 5)), steps=1), 40),
    ],
}


@pytest.mark.parametrize("name", ATOMIC)
@pytest.mark.parametrize("delta", ["0.2", "1e-3", "1e-6", "1e-9", "1e-12"])
def test_different_lattices_enclose_their_enumeration(name: str, delta: str) -> None:
    """The truth is the sum over all outcomes in balls, down to δ = 1e-12."""
    terms = ATOMIC[name]
    low, high = Loss(tuple(terms)).epsilon_bounds(delta)
    with precision(256):
        outcomes = joint(terms)
        assert hockey_stick(outcomes, Ball(high)) <= ball(Fraction(delta)) * (1 + Ball(2) ** -200)
        if low:
            assert hockey_stick(outcomes, Ball(low)) >= ball(Fraction(delta)) * (1 - Ball(2) ** -200)
    assert high - low <= WIDTH * high


@pytest.mark.parametrize("name", ATOMIC)
def test_delta_encloses_enumeration_at_every_epsilon(name: str) -> None:
    terms = ATOMIC[name]
    loss, most = Loss(tuple(terms)), Loss(tuple(terms)).pure()
    with precision(256):
        outcomes = joint(terms)
        truths = {k: hockey_stick(outcomes, ball(Fraction(most) * k / 13)) for k in range(15)}
    for k, truth in truths.items():
        low, high = loss.delta_bounds(Fraction(most) * k / 13)
        assert low <= float_above(truth)
        assert float_below(truth) <= high


def sampled_delta(law: SubsampledLaw, epsilon: Ball, *, removed: bool) -> Ball:
    """δ of one sampled use in one direction at any real ε, from E[(P − γQ)⁺] of the two normal laws."""
    mu, rate, growth = ball(law.base.mu2).sqrt(), ball(law.rate), epsilon.exp()

    def base(at: Ball) -> Ball:
        return normal_tail(at / mu - mu / 2) - at.exp() * normal_tail(at / mu + mu / 2)

    if removed:
        inside = 1 + (growth - 1) / rate
        return rate * base(inside.log()) if inside > 0 else 1 - growth
    rest = 1 - growth * (1 - rate)
    return rest * base((growth * rate / rest).log()) if rest > 0 else Ball(0)


@pytest.mark.parametrize("rate", ["1/2", "1/10", "1/1000"])
@pytest.mark.parametrize("delta", ["1e-2", "1e-4", "1e-6", "1e-9", "1e-12"])
def test_one_sampled_use_beside_atoms_encloses_the_truth(rate: str, delta: str) -> None:
    """δ(ε) = Σ p·δ_sampled(ε − l) over the atoms, the larger of both directions."""
    law = SubsampledLaw(base=GaussianLaw(mu2=Fraction(1)), rate=Fraction(rate), replacing=False)
    terms: list[tuple[Law, int]] = [
        (LatticeLaw(unit=Fraction(1, 3), steps=2), 2),
        (LatticeLaw(unit=Log(2), steps=1), 1),
    ]
    low, high = Loss((*terms, (law, 1))).epsilon_bounds(delta)
    with precision(256):
        outcomes = joint(terms)

        def truth(epsilon: float) -> Ball:
            both = (
                sum((p * sampled_delta(law, Ball(epsilon) - loss, removed=way) for loss, p in outcomes), Ball(0))
                for way in (True, False)
            )
            first, second = both
            return first.max(second)

        assert truth(high) <= ball(Fraction(delta))
        assert truth(low) >= ball(Fraction(delta))
    assert high - low <= WIDTH * high


def test_gaussians_beside_atoms_enclose_the_truth() -> None:
    """δ(ε) = Σ p·δ_Gauss(ε − l): both the fading line and the averages."""
    terms: list[tuple[Law, int]] = [
        (LatticeLaw(unit=Fraction(1, 2), steps=1), 3),
        (LatticeLaw(unit=Log(3), steps=1), 1),
    ]
    for mu2 in ("1", "1/100", "1/1000000"):
        law = GaussianLaw(mu2=Fraction(mu2))
        loss = Loss((*terms, (law, 1)))
        for delta in (*DELTAS, "1e-12"):
            low, high = loss.epsilon_bounds(delta)
            with precision(256):
                mu = ball(law.mu2).sqrt()

                def base(at: Ball, mu: Ball = mu) -> Ball:
                    return normal_tail(at / mu - mu / 2) - at.exp() * normal_tail(at / mu + mu / 2)

                for at, below in ((high, True), (low, False)):
                    truth = sum((p * base(Ball(at) - loss_) for loss_, p in joint(terms)), Ball(0))
                    assert truth <= ball(Fraction(delta)) if below else truth >= ball(Fraction(delta))
            assert high - low <= WIDTH * high


def law(draw: random.Random) -> Law:
    """A law of a random kind and scale."""
    kind = draw.randrange(6)
    if kind == 0:
        return GaussianLaw(mu2=Fraction(1, draw.choice([1, 4, 25, 100, 400, 2500])))
    if kind == 1:
        return LaplaceLaw(epsilon=Fraction(draw.randint(1, 40), draw.choice([10, 20, 37, 100])))
    if kind == 2:
        return LatticeLaw(unit=Fraction(10, draw.randint(5, 400)), steps=draw.choice([1, 1, 1, 2, 3, 7]))
    if kind == 3:
        return LatticeLaw(unit=Log(Fraction(draw.randint(11, 60), 10)), steps=1)
    if kind == 4:
        truth, others = Fraction(draw.randint(51, 90), 100), draw.randint(2, 20)
        return ResponseLaw(high=truth, low=(1 - truth) / others)
    return DiscreteGaussianLaw(sigma2=Fraction(draw.randint(1, 400), draw.choice([1, 4])), shift=draw.choice([1, 1, 2]))


def mixture(seed: int, *, sampled: bool) -> Loss:
    """Two to six random laws with random counts; with `sampled`, also some uses of a Poisson-sampled Gaussian."""
    draw = random.Random(seed)
    terms = [(law(draw), draw.choice([1, 1, 2, 3, 5, 10, 30, 100])) for _ in range(draw.choice([2, 2, 3, 4, 6]))]
    if sampled:
        base = GaussianLaw(mu2=Fraction(1, draw.choice([1, 1, 4, 9])))
        rate = Fraction(1, draw.choice([3, 10, 30, 100]))
        terms.append((SubsampledLaw(base=base, rate=rate, replacing=False), draw.choice([1, 3, 10, 100, 1000])))
    return Loss(tuple(terms))


@settings(max_examples=12, deadline=None)
@given(st.integers(0, 10**6), st.booleans())
def test_every_mixture_is_known_to_a_thousandth(seed: int, sampled: bool) -> None:
    loss = mixture(seed, sampled=sampled)
    for delta in DELTAS:
        low, high = loss.epsilon_bounds(delta)
        assert low <= high
        assert high - low <= WIDTH * high


@pytest.mark.parametrize("seed", [31, 32, 2024])
def test_mixtures_that_were_once_wide(seed: int) -> None:
    """A direction chosen by a poor estimate, and rare large losses beside bounded ones."""
    draw = random.Random(seed)
    few = SubsampledLaw(base=GaussianLaw(mu2=Fraction(1)), rate=Fraction(1, draw.choice([10, 1000])), replacing=False)
    closed: list[tuple[Law, int]] = [
        (LaplaceLaw(epsilon=Fraction(10, 37)), 3),
        (LatticeLaw(unit=Log(Fraction(6, 5)), steps=1), draw.choice([1, 30])),
    ]
    loss = Loss((*closed, (few, draw.choice([3, 10]))))
    for delta in DELTAS:
        low, high = loss.epsilon_bounds(delta)
        assert high - low <= WIDTH * high


def test_enormous_losses_are_answered_in_seconds_or_by_parameters() -> None:
    """ε in the thousands on a grid; beyond a loss of 600 in one use only D_α is known, and the bounds stay bounds."""
    wide = SubsampledLaw(base=GaussianLaw(mu2=Fraction(25)), rate=Fraction(3, 10), replacing=False)
    low, high = Loss(((wide, 1000),)).epsilon_bounds("1e-6")
    assert 4000 < low <= high < 4100
    assert high - low <= WIDTH * high
    wider = SubsampledLaw(base=GaussianLaw(mu2=Fraction(1600)), rate=Fraction(1, 10), replacing=False)
    low, high = Loss(((wider, 10),)).epsilon_bounds("1e-6")
    assert Loss.of(wider).epsilon_bounds("1e-6")[0] <= low * (1 + 1e-9)
    # Less than the base's, whose ε is closed: by the divergences of the sampled law.
    assert low <= high < 0.97 * (10 * Loss.of(wider.base)).epsilon("1e-6")


def test_beyond_the_pure_epsilon_nothing_is_left() -> None:
    curve = Curve(tuple(ATOMIC["three lattices"]))
    with precision(256):
        assert curve.delta(Ball(100)) == (Ball(0), Ball(0))


def test_the_lower_bound_takes_the_larger_direction() -> None:
    """Thirty coins and three sampled uses: the saddle point prefers the direction whose δ is smaller."""
    sampled = SubsampledLaw(base=GaussianLaw(mu2=Fraction(1)), rate=Fraction(1, 10), replacing=False)
    coins = LatticeLaw(unit=Log(Fraction(9, 5)), steps=1)
    loss = Loss(((coins, 30), (LaplaceLaw(epsilon=Fraction(3, 20)), 1), (sampled, 3)))
    low, high = loss.epsilon_bounds("1e-6")
    assert math.isclose(low, high, rel_tol=WIDTH)
