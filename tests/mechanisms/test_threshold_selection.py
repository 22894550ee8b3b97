"""Threshold selection: the threshold against exact sums, the guarantee by enumeration, sampling, bad input."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from quincunx.errors import DataError, ParameterError, PrivacyError
from quincunx.mechanisms import DiscreteGaussian, DiscreteLaplace, Laplace, ThresholdSelection
from quincunx.noise.testing import KeyedBits
from quincunx.numbers import Ball, ball, float_above, precision
from quincunx.spec.standard import ZCDP, Approximate
from tests.statistical.goodness import FALSE_ALARM, binomial


def laplace(scale: object, *, bits: int = 0, people: int = 1) -> DiscreteLaplace:
    return DiscreteLaplace(scale=Fraction(str(scale)) * 2**bits, sensitivity=people * 2**bits)


def gaussian(sigma2: object, *, bits: int = 0, people: int = 1) -> DiscreteGaussian:
    return DiscreteGaussian(sigma2=Fraction(str(sigma2)) * 4**bits, sensitivity2=(people * 2**bits) ** 2)


def tail(noise: DiscreteLaplace | DiscreteGaussian, k: int) -> Ball:
    """P(K ≥ k) by a sum over the law's own weights, written without the mechanism's tail."""
    reach = 4000
    if isinstance(noise, DiscreteLaplace):
        weight = lambda j: (-ball(Fraction(abs(j)) / noise.scale)).exp()  # noqa: E731
    else:
        weight = lambda j: (-ball(Fraction(j * j) / (2 * noise.sigma2))).exp()  # noqa: E731
    mass = [weight(j) for j in range(reach)]
    whole = mass[0] + 2 * sum(mass[1:], Ball(0))
    return (sum(mass[max(k, 1) :], Ball(0)) if k > 0 else whole - sum(mass[1 - k :], Ball(0))) / whole


def alone(noise: DiscreteLaplace | DiscreteGaussian, tau: int, keys: int, bits: int) -> Ball:
    """The probability that a person alone in `keys` keys shows at least one of them."""
    each = 2**bits // keys if noise.norm == 1 else math.isqrt(4**bits // keys)
    return 1 - (1 - tail(noise, tau - each)) ** keys


CASES = [
    (laplace(2), 1, 0, "1e-6"),
    (laplace(5, bits=3), 4, 3, "1e-4"),
    (laplace("3/2", bits=4), 7, 4, "1e-9"),
    (gaussian(4), 1, 0, "1e-6"),
    (gaussian(3, bits=3), 5, 3, "1e-5"),
    (gaussian("1/2", bits=4), 9, 4, "1e-9"),
    (gaussian(20, bits=2), 3, 2, "0.3"),
]


@pytest.mark.parametrize(("noise", "groups", "bits", "delta"), CASES)
def test_nobody_alone_is_shown_with_more_than_delta(
    noise: DiscreteLaplace | DiscreteGaussian, groups: int, bits: int, delta: str
) -> None:
    mechanism = ThresholdSelection(noise=noise, groups=groups, bits=bits, delta=delta)
    with precision(256):
        allowed = ball(Fraction(delta))
        risks = [alone(noise, mechanism.threshold, keys, bits) for keys in range(1, groups + 1)]
        assert all(bool(risk <= allowed * (1 + ball(Fraction(1, 10**40)))) for risk in risks)
        # The smallest such threshold: one step lower, somebody is shown too often.
        lower = [alone(noise, mechanism.threshold - 1, keys, bits) for keys in range(1, groups + 1)]
        assert any(bool(risk > allowed) for risk in lower)


@pytest.mark.parametrize("people", [2, 3])
@pytest.mark.parametrize("make", [laplace, gaussian])
def test_several_people_together_stay_below_delta(make: object, people: int) -> None:
    """Every way in which `people` can share out their votes over common and separate keys, enumerated."""
    groups, bits, delta = 3, 3, Fraction(1, 1000)
    noise = make(4, bits=bits, people=people)  # type: ignore[operator]
    mechanism = ThresholdSelection(noise=noise, groups=groups, people=people, bits=bits, delta=delta)
    subsets = [keys for size in (1, 2, 3) for keys in itertools.combinations(range(5), size)]
    largest = Ball(0)
    with precision(192):
        chance = {n: tail(noise, mechanism.threshold - n) for n in range(people * 2**bits + 1)}
        for choice in itertools.combinations_with_replacement(subsets, people):
            votes = [0] * 5
            for keys in choice:
                for key in keys:
                    votes[key] += mechanism.votes(len(keys))
            missed = Ball(1)
            for count in votes:
                missed *= 1 - chance[count] if count else 1
            largest = largest.max(1 - missed)
        assert bool(largest <= ball(delta))
        # Not absurdly careful either.
        assert bool(largest >= ball(delta / 20))


def law(mechanism: ThresholdSelection, votes: list[int]) -> list[Ball]:
    """The law of the set of keys shown; keys without votes are no candidates."""
    chances = [tail(mechanism.noise, mechanism.threshold - n) if n else Ball(0) for n in votes]
    masses = []
    for shown in itertools.product((True, False), repeat=len(votes)):
        mass = Ball(1)
        for is_shown, chance in zip(shown, chances, strict=True):
            mass *= chance if is_shown else 1 - chance
        masses.append(mass)
    return masses


@pytest.mark.parametrize("noise", [laplace(2, bits=2), gaussian(2, bits=2)])
def test_a_new_person_changes_the_shown_keys_by_at_most_the_loss(noise: DiscreteLaplace | DiscreteGaussian) -> None:
    """Two shared keys and two of the new person's own, for every number of keys kept."""
    mechanism = ThresholdSelection(noise=noise, groups=4, bits=2, delta="0.02")
    standard = Approximate("0.02") if noise.norm == 1 else ZCDP(delta="0.02")
    claimed = mechanism.loss.spend(standard)
    assert claimed == (Fraction(1, 2) if noise.norm == 1 else Fraction(1, 4))
    with precision(192):
        for shared, own in itertools.product(((4, 8), (12, 1), (30, 40)), range(1, 3)):
            for also in range(3):
                each = mechanism.votes(own + also)
                before = [*shared, 0, 0]
                after = [n + each * (i < also) for i, n in enumerate(shared)] + [each * (i < own) for i in range(2)]
                found = standard.least(law(mechanism, after), law(mechanism, before))
                assert float_above(found.lower) <= float(claimed) * (1 + 1e-9)


def test_loss_and_votes() -> None:
    mechanism = ThresholdSelection(noise=gaussian(50, bits=10), groups=20, bits=10, delta="1e-10")
    assert mechanism.loss.spend(ZCDP(delta="1e-10")) == Fraction(1, 100)
    assert mechanism.loss.stated_delta() == Fraction(1, 10**10)
    assert [mechanism.votes(t) for t in (1, 2, 4, 20)] == [1024, 724, 512, 228]
    assert all(t * mechanism.votes(t) ** 2 <= 4**10 for t in range(1, 21))
    lap = ThresholdSelection(noise=laplace(10, bits=10), groups=20, bits=10, delta="1e-10")
    assert [lap.votes(t) for t in (1, 3, 20)] == [1024, 341, 51]
    assert lap.loss.epsilon("1e-10") == pytest.approx(0.1)


def test_more_of_anything_raises_the_threshold() -> None:
    def tau(**change: object) -> int:
        given = {"noise": gaussian(5, bits=4), "groups": 4, "bits": 4, "delta": "1e-6", **change}
        return ThresholdSelection(**given).threshold  # type: ignore[arg-type]

    assert tau() <= tau(groups=8) <= tau(groups=64)
    assert tau() < tau(delta="1e-9") < tau(delta="1e-12")
    assert tau() < tau(noise=gaussian(20, bits=4))
    assert tau() < tau(noise=gaussian(5, bits=4, people=3), people=3)


def test_sample_keeps_what_reaches_the_threshold(stream: KeyedBits) -> None:
    mechanism = ThresholdSelection(noise=gaussian(4), groups=1, delta="1e-3")
    count, size = mechanism.threshold - 1, 40_000
    kept = int(mechanism.sample(np.full(size, count)).sum())
    chance = mechanism.chance(count)
    # Exactly P(K ≥ 1): "greater than" would lose a sixth of it.
    assert chance == pytest.approx(0.4003, abs=1e-3)
    assert binomial(kept, size, chance) > FALSE_ALARM
    assert type(mechanism.sample(10**9)) is bool
    assert mechanism.sample(10**9) is True
    assert mechanism.sample(np.array([[0, 10**6]])).shape == (1, 2)
    assert stream.injected


def test_finite_is_the_law() -> None:
    mechanism = ThresholdSelection(noise=laplace(2), groups=1, delta="0.01")
    world = mechanism.finite([0, 1, 2, 9])
    with precision(256):
        for n in (0, 1, 2, 9):
            difference = ball(world.probability(n, True)) - tail(mechanism.noise, mechanism.threshold - n)
            assert bool(abs(difference) < 1e-60)


def test_round_trip() -> None:
    mechanism = ThresholdSelection(noise=laplace(2), groups=3, people=1, bits=0, delta="0.01")
    names = {"DiscreteLaplace": DiscreteLaplace, "Fraction": Fraction, "ThresholdSelection": ThresholdSelection}
    assert eval(repr(mechanism), names) == mechanism
    assert len({mechanism, ThresholdSelection(noise=laplace(2), groups=3, delta="0.01")}) == 1


@pytest.mark.parametrize(
    ("change", "where"),
    [
        ({"noise": Laplace(scale=2)}, "noise"),
        ({"noise": 3}, "noise"),
        ({"noise": DiscreteLaplace(scale=2, step="1/2", sensitivity=1)}, "noise"),
        ({"noise": DiscreteLaplace(scale=2), "bits": 1}, "sensitivity"),
        ({"noise": DiscreteGaussian(sigma=2), "people": 2}, "sensitivity"),
        ({"groups": 0}, "groups"),
        ({"groups": "two"}, "groups"),
        ({"people": 0}, "people"),
        ({"bits": -1}, "bits"),
        ({"bits": 31}, "bits"),
        ({"bits": 1.0}, "bits"),
        ({"delta": 0}, "delta"),
        ({"delta": 1}, "delta"),
        ({"delta": "none"}, "delta"),
    ],
)
def test_bad_parameters(change: dict[str, object], where: str) -> None:
    given = {"noise": laplace(2), "groups": 3, "delta": "1e-6", **change}
    with pytest.raises(ParameterError) as error:
        ThresholdSelection(**given)  # type: ignore[arg-type]
    assert error.value.where == where


def test_bad_calls() -> None:
    mechanism = ThresholdSelection(noise=laplace(2), groups=3, delta="1e-6")
    with pytest.raises(ParameterError, match="at most 3"):
        mechanism.votes(4)
    with pytest.raises(ParameterError, match="whole number"):
        mechanism.chance(1.5)
    with pytest.raises(DataError, match="integers"):
        mechanism.sample(1.5)
    with pytest.raises(DataError, match="at least one input"):
        mechanism.finite([])
    with pytest.raises(DataError, match="at least one input"):
        mechanism.finite(["a"])  # type: ignore[list-item]


@pytest.mark.parametrize("people", [1, 3])
def test_calibrate_meets_what_it_is_asked_for(people: int) -> None:
    by_epsilon = ThresholdSelection.calibrate(groups=4, delta="1e-6", epsilon="1/2", people=people, bits=3)
    assert by_epsilon.loss.epsilon("1e-6") == 0.5
    assert by_epsilon.noise == DiscreteLaplace(scale=2 * people * 8, sensitivity=people * 8)
    by_rho = ThresholdSelection.calibrate(groups=4, delta="1e-6", rho="1/8", people=people, bits=3)
    assert by_rho.loss.spend(ZCDP(delta="1e-6")) == Fraction(1, 8)
    with pytest.raises(ParameterError, match="one guarantee"):
        ThresholdSelection.calibrate(groups=4, delta="1e-6")
    with pytest.raises(ParameterError, match="one guarantee"):
        ThresholdSelection.calibrate(groups=4, delta="1e-6", epsilon=1, rho=1)


def test_error_is_where_keys_are_kept() -> None:
    mechanism = ThresholdSelection.calibrate(groups=3, delta="1e-6", epsilon=1, bits=2)
    enough = mechanism.error("0.05")
    assert mechanism.chance(enough) >= 0.95 > mechanism.chance(enough - 1)
    assert mechanism.error("0.05", size=100) > enough
    reached = ThresholdSelection.for_error(error=enough, beta="0.05", groups=3, delta="1e-6", bits=2)
    assert reached.error("0.05") <= enough
    assert float(reached.noise.sensitivity / reached.noise.scale) <= 1 + 1e-5  # type: ignore[union-attr]
    with pytest.raises(ParameterError, match="votes of one unit"):
        ThresholdSelection.for_error(error=4, beta="0.05", groups=3, delta="1e-6", bits=2)


def test_two_people_are_not_twice_one() -> None:
    """Two people alone behind one key show it with more than 2δ: δ must grow with ε, as the stated law's does."""
    mechanism = ThresholdSelection.calibrate(groups=1, delta="0.001", epsilon=2)
    with precision(192):
        shown = tail(mechanism.noise, mechanism.threshold - 2)
        assert bool(shown > ball(Fraction(2, 1000)))
        assert bool(shown <= ball(mechanism.loss.group(2).stated_delta()))
    with pytest.raises(PrivacyError, match="no group map"):
        ThresholdSelection.calibrate(groups=1, delta="0.001", rho=1).loss.group(2)
