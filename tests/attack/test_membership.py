"""Membership: the attack on exact means, and the bound that every test of noisy ones keeps."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from quincunx.attack.membership import DELTA, Trials, gaussian, laplace, limit, trials
from quincunx.loss import Loss
from quincunx.mechanisms import DiscreteLaplace, Gaussian
from quincunx.noise.testing import KeyedBits
from tests.attack.telling import told
from tests.chart.reading import check_readable

# All limits of one test together fail with a chance of at most this.
RISK = 1e-9


def upper(count: int, total: int, risk: float) -> float:
    """The exact upper confidence limit of Clopper and Pearson."""
    return 1.0 if count == total else float(stats.beta.isf(risk, count + 1, total - count))


def lower(count: int, total: int, risk: float) -> float:
    return 0.0 if count == 0 else float(stats.beta.ppf(risk, count, total - count + 1))


def breaches(found: Trials, loss: Loss, thresholds: np.ndarray) -> list[float]:
    """Thresholds at which the attack is certainly better than the trade-off function allows."""
    risk = RISK / (2 * thresholds.size)
    outside = []
    for threshold in thresholds.tolist():
        alarms = upper(int((found.others > threshold).sum()), found.others.size, risk)
        misses = upper(int((found.members <= threshold).sum()), found.members.size, risk)
        if misses < loss.tradeoff(min(alarms, 1.0)):
            outside.append(threshold)
    return outside


def independent(seed: int, traits: int, group: int, count: int, noise: object) -> Trials:
    """One member and one outsider of every group, so that trials are independent; other groups set the thresholds."""
    every = trials(np.random.default_rng(seed), traits=traits, group=group, groups=count, releases=[noise])[0]
    return Trials(members=every.members[::group], others=every.others[::group])


def test_the_statistic_by_hand() -> None:
    # One group of one person: the mean is the person, and a member's statistic is ‖x − p‖².
    found = trials(np.random.default_rng(1), traits=50, group=1, groups=1, releases=[None, lambda sums: sums * 0])
    again = np.random.default_rng(1)
    frequency = again.uniform(0.05, 0.95, 50)
    member, other = again.random((2, 50)) < frequency
    assert found[0].members == pytest.approx([((member - frequency) ** 2).sum()])
    assert found[0].others == pytest.approx([((other - frequency) * (member - frequency)).sum()])
    assert found[1].members == pytest.approx([-((member - frequency) * frequency).sum()])


def test_power_counts_members_above_the_allowed_alarms() -> None:
    found = Trials(members=np.array([1.0, 5.0, 9.0, 11.0]), others=np.arange(10.0))
    # No false alarm: above 9. One in ten: above 8. All: everybody.
    assert found.power(0) == 1 / 4
    assert found.power(0.1) == 2 / 4
    assert found.power(0.5) == 3 / 4
    assert found.power(1) == 1


def test_exact_means_betray_members_as_the_normal_law_says() -> None:
    # Members' statistics are higher by Σ p(1 − p)·(1/n), deviations are √(Σ (p(1 − p))²/n): about √(d/n) apart.
    traits, group = 400, 50
    found = trials(np.random.default_rng(7), traits=traits, group=group, groups=200, releases=[None])[0]
    apart = (found.members.mean() - found.others.mean()) / found.others.std()
    assert apart == pytest.approx(math.sqrt(traits / group), rel=0.1)
    assert found.power(0.05) > 0.8


@pytest.mark.parametrize("epsilon", ["0.1", "1", "10"])
def test_noise_is_calibrated_to_one_person_replaced(epsilon: str) -> None:
    exact = Fraction(epsilon)
    normal, double = gaussian(144, exact), laplace(144, exact)
    assert isinstance(normal, Gaussian)
    assert normal.sensitivity2 == 144
    assert normal.loss.delta(exact) <= DELTA
    assert isinstance(double, DiscreteLaplace)
    assert double.sensitivity == 144
    assert double.loss.pure() <= float(exact)
    # What one person can move, enumerated: all d traits by one.
    move = np.ones(144)
    assert np.abs(move).sum() <= double.sensitivity
    assert (move**2).sum() <= normal.sensitivity2


@pytest.mark.parametrize("family", [gaussian, laplace])
@pytest.mark.parametrize("epsilon", ["0.1", "1", "10"])
def test_the_attacks_curve_lies_inside_what_is_allowed(stream: KeyedBits, family: object, epsilon: str) -> None:
    traits, group, count = 60, 6, 3_000
    mechanism = family(traits, Fraction(epsilon))  # type: ignore[operator]
    first = independent(11, traits, group, 400, mechanism.sample)
    thresholds = np.quantile(np.concatenate([first.members, first.others]), [0.02, 0.1, 0.3, 0.5, 0.7, 0.9, 0.98])
    found = independent(12, traits, group, count, mechanism.sample)
    assert breaches(found, mechanism.loss, thresholds) == []
    assert stream.injected


@pytest.mark.parametrize("epsilon", ["1/4", "1", "3"])
@pytest.mark.parametrize("traits", [1, 2])
def test_enumerated_the_curve_lies_inside(epsilon: str, traits: int) -> None:
    # Groups of two, traits with known frequencies, discrete Laplace noise clamped (post-processing): the law of the
    # statistic for a member and for an outsider, summed over everybody, and every threshold.
    frequencies = (Fraction(1, 4), Fraction(2, 3))[:traits]
    mechanism = laplace(traits, Fraction(epsilon))
    law = mechanism.finite([0, 1, 2], reach=3)
    chance = {(x, y): float(law.probability(x, y)) for x in (0, 1, 2) for y in law.outputs}
    people = list(itertools.product((0, 1), repeat=traits))

    def weight(person: tuple[int, ...]) -> float:
        return math.prod(float(p if trait else 1 - p) for trait, p in zip(person, frequencies, strict=True))

    laws: dict[bool, dict[float, float]] = {True: {}, False: {}}
    for asked, first, second in itertools.product(people, repeat=3):
        for inside, group in ((True, (asked, second)), (False, (first, second))):
            sums = [a + b for a, b in zip(*group, strict=True)]
            for released in itertools.product(law.outputs, repeat=traits):
                terms = zip(asked, frequencies, released, strict=True)
                statistic = round(sum((x - float(p)) * (y / 2 - float(p)) for x, p, y in terms), 9)
                joint = weight(asked) * weight(first) * weight(second)
                joint *= math.prod(chance[total, y] for total, y in zip(sums, released, strict=True))
                laws[inside][statistic] = laws[inside].get(statistic, 0.0) + joint
    assert all(sum(each.values()) == pytest.approx(1) for each in laws.values())
    best = 0.0
    for threshold in sorted({*laws[True], *laws[False]}):
        alarms = sum(share for at, share in laws[False].items() if at > threshold)
        misses = sum(share for at, share in laws[True].items() if at <= threshold)
        assert misses >= mechanism.loss.tradeoff(min(1.0, alarms)) - 1e-6
        best = max(best, 1 - alarms - misses)
    # The attack is better than chance: the check is not empty.
    assert best > 0.01


def test_exact_means_break_the_curve_of_any_such_loss() -> None:
    # The same check notices an attack that is too good: exact means against the curve of ε = 1.
    found = independent(13, 60, 6, 3_000, None)
    assert breaches(found, gaussian(60, Fraction(1)).loss, np.quantile(found.others, [0.9, 0.95]))


def test_too_little_noise_breaks_the_curve(stream: KeyedBits) -> None:
    # Noise for one trait on sixty: the sensitivity forgot the other fifty-nine.
    careless = gaussian(1, Fraction(1))
    found = independent(14, 60, 6, 3_000, careless.sample)
    assert breaches(found, gaussian(60, Fraction(1)).loss, np.quantile(found.others, [0.8, 0.9, 0.95]))
    assert stream.injected


def test_the_strongest_attacker_reaches_the_bound(stream: KeyedBits) -> None:
    # Knowing all others and two people who differ in every trait, the sums differ by ±1 everywhere: the projection on
    # that direction is the best test, and its law is the normal one at μ = √d/σ, but for the rounding.
    traits, count = 100, 20_000
    mechanism = gaussian(traits, Fraction(2))
    direction = np.where(np.arange(traits) % 2 == 0, 1, -1)
    base = np.full((count, traits), 50, dtype=np.int64)
    inside = mechanism.sample(base + (direction > 0)) @ direction
    outside = mechanism.sample(base + (direction < 0)) @ direction
    for level in (0.05, 0.2, 0.5):
        threshold = float(np.quantile(outside[: count // 2], 1 - level))
        alarms, hits = outside[count // 2 :] > threshold, inside[count // 2 :] > threshold
        risk = RISK / 6
        most = limit(mechanism.loss, upper(int(alarms.sum()), alarms.size, risk))
        least = limit(mechanism.loss, lower(int(alarms.sum()), alarms.size, risk))
        # Inside the bound, and no further from it than the confidence limits and the rounding.
        assert lower(int(hits.sum()), hits.size, risk) <= most
        assert upper(int(hits.sum()), hits.size, risk) >= least - 0.01
    assert stream.injected


def test_the_limit_is_the_trade_off_curve_from_above() -> None:
    loss = gaussian(10, Fraction(1)).loss
    assert limit(loss, 0.0) >= 0
    assert limit(loss, 1.0) == 1
    assert limit(loss, 0.05) >= 1 - loss.tradeoff_bounds("0.05")[0]
    assert limit(loss, 0.05) == pytest.approx(stats.norm.cdf(stats.norm.ppf(0.05) + loss.gdp()), abs=1e-5)
    assert [limit(loss, a) for a in (0.01, 0.1, 0.5)] == sorted(limit(loss, a) for a in (0.01, 0.1, 0.5))


def test_the_story() -> None:
    story = told("membership")
    figures = story.figures
    exact = [float(figures[f"found at 5 %, exact, {traits} traits"]) for traits in (10, 100, 1000)]
    assert exact == sorted(exact)
    assert exact[-1] > 0.85
    for epsilon in ("0.1", "1", "10"):
        for alarms in (1, 5):
            found = float(figures[f"found at {alarms} %, ε = {epsilon}, 1000 traits"])
            # 20,000 members, hardly dependent: half a point is beyond six deviations at 5 %.
            assert found <= float(figures[f"limit at {alarms} %, ε = {epsilon}"]) + 0.011
    assert float(figures["found at 5 %, ε = 1, 1000 traits"]) < 0.1
    assert set(story.charts) == {"membership", "membership_traits"}
    for chart in story.charts.values():
        check_readable(chart)
    assert all(len(row) == len(story.columns) for row in story.rows)
