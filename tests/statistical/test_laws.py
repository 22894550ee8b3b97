"""Every sampler against its law. Each test has a false-alarm rate of 1e-9; keys are derived from the test's name.

A case makes at most 8 tests and there are fewer than 150 cases, so a right library with fresh keys would fail this
file with probability below 1.2e-6; with the stated keys it passes always or never.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from quincunx import noise
from quincunx.noise.gaussian import DiscreteGaussianLaw
from quincunx.noise.laplace import discrete_laplace_staircase
from quincunx.noise.testing import KeyedBits, key_of, keyed
from quincunx.numbers import Ball, ball, float_near, precision
from tests.statistical import goodness
from tests.statistical.goodness import FALSE_ALARM, Law, binomial, chi_square, refusals, verdicts

DRAWS = 10_000_000
COIN_DRAWS = 2_000_000
FALLBACK_DRAWS = 100_000
SCALAR_DRAWS = 100_000
# What --full multiplies the number of draws by.
FULL = 10

LAWS: dict[str, tuple[Callable[..., Any], Callable[[float], Law]]] = {
    "geometric": (noise.geometric, goodness.geometric),
    "discrete_laplace": (noise.discrete_laplace, goodness.discrete_laplace),
    "rounded_laplace": (noise.rounded_laplace, goodness.rounded_laplace),
    "discrete_gaussian": (noise.discrete_gaussian, goodness.discrete_gaussian),
    "rounded_gaussian": (noise.rounded_gaussian, goodness.rounded_gaussian),
}
SCALES = ["1/100", "1/3", "1", "2.5", "20", "1e3", "1e6", "1e9"]


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("name", LAWS)
def test_the_sampler_fits_its_law(stream: KeyedBits, full: bool, name: str, scale: str) -> None:
    sampler, law_of = LAWS[name]
    values = sampler(scale, size=DRAWS * (FULL if full else 1))
    found = verdicts(values, law_of(float(Fraction(scale))))
    print(name, scale, f"fallbacks {stream.fallbacks}", {test: f"{p:.3g}" for test, p in found.items()})
    assert min(found.values()) >= FALSE_ALARM
    # At 10^9 about one draw in 10^5 is in doubt: the exact path took part in what was tested.
    assert stream.fallbacks > 0 or Fraction(scale) < 10**9


@pytest.mark.parametrize("scale", ["1/3", "2.5", "1e6"])
@pytest.mark.parametrize("name", LAWS)
def test_the_exact_path_fits_the_same_law(request: pytest.FixtureRequest, full: bool, name: str, scale: str) -> None:
    sampler, law_of = LAWS[name]
    with keyed(key_of(request.node.nodeid), prefix_bits=4) as stream:
        values = sampler(scale, size=FALLBACK_DRAWS * (FULL if full else 1))
    print(f"{name} {scale}: {stream.fallbacks} of {len(values)} draws took the exact path")
    assert stream.fallbacks > len(values) // 20
    assert refusals(values, law_of(float(Fraction(scale)))) == {}


@pytest.mark.parametrize("scale", ["1/3", "20", "1e9"])
@pytest.mark.parametrize("name", LAWS)
def test_one_draw_at_a_time_fits_the_same_law(stream: KeyedBits, full: bool, name: str, scale: str) -> None:
    sampler, law_of = LAWS[name]
    count = SCALAR_DRAWS * (FULL if full else 1)
    values = np.array([sampler(scale) for _ in range(count)])
    assert stream.fallbacks < count // 100
    assert refusals(values, law_of(float(Fraction(scale)))) == {}


# --- coins, choices and integers


@pytest.mark.parametrize("p", ["1/3", "0.5", "1e-3", "0.999999", "1e-7"])
def test_coins_fit(stream: KeyedBits, full: bool, p: str) -> None:
    drawn = noise.bernoulli(p, size=COIN_DRAWS * (FULL if full else 1))
    assert binomial(int(drawn.sum()), len(drawn), float(Fraction(p))) >= FALSE_ALARM
    assert neighbours(drawn.astype(np.int64), [1 - float(Fraction(p)), float(Fraction(p))]) >= FALSE_ALARM
    assert not stream.fallbacks


@pytest.mark.parametrize("gamma", ["1e-9", "0.01", "1/3", "1", "2.5", "12"])
def test_exponential_coins_fit(stream: KeyedBits, full: bool, gamma: str) -> None:
    drawn = noise.bernoulli_exp(gamma, size=COIN_DRAWS * (FULL if full else 1))
    miss = -math.expm1(-float(Fraction(gamma)))
    # Failures are counted, so that a chance near 1 keeps its digits.
    assert binomial(int(np.count_nonzero(~drawn)), len(drawn), miss) >= FALSE_ALARM
    assert neighbours(drawn.astype(np.int64), [miss, 1 - miss]) >= FALSE_ALARM
    assert not stream.fallbacks


WEIGHTS = [[0, 0, 0], [0, -1, "-2.5", -1, "1/3"], [-8, 0, "0.1", -3], [0, "-1/3", 0, "-1/3"]]


@pytest.mark.parametrize("prefix_bits", [4, 52])
@pytest.mark.parametrize("weights", WEIGHTS, ids=str)
def test_choices_fit(request: pytest.FixtureRequest, weights: list[object], prefix_bits: int) -> None:
    with keyed(key_of(request.node.nodeid), prefix_bits=prefix_bits) as stream:
        drawn = noise.choice(weights, size=COIN_DRAWS if prefix_bits == 52 else 50_000)
    with precision(128):
        masses = [ball(Fraction(str(weight))).exp() for weight in weights]
        total = sum(masses, Ball(0))
        chances = [float_near(mass / total) for mass in masses]
    for index, chance in enumerate(chances):
        # One exact test for each index: Bonferroni inside the case.
        assert binomial(int(np.count_nonzero(drawn == index)), len(drawn), chance) >= FALSE_ALARM / len(chances)
    assert neighbours(drawn, chances) >= FALSE_ALARM
    print(f"{weights}: {stream.fallbacks} of {len(drawn)} took the exact path")
    assert (stream.fallbacks > 0) == (prefix_bits == 4)


@pytest.mark.parametrize("prefix_bits", [4])
@pytest.mark.parametrize("p", ["1/3", "0.1", "1e-3"])
def test_coins_fit_on_the_exact_path(request: pytest.FixtureRequest, p: str, prefix_bits: int) -> None:
    with keyed(key_of(request.node.nodeid), prefix_bits=prefix_bits) as stream:
        rational = noise.bernoulli(p, size=FALLBACK_DRAWS)
        exponential = noise.bernoulli_exp(p, size=FALLBACK_DRAWS)
    print(f"{p}: {stream.fallbacks} of {2 * FALLBACK_DRAWS} took the exact path")
    # One prefix of 16 holds the threshold of each coin.
    assert stream.fallbacks > 2 * FALLBACK_DRAWS // 20
    chance = float(Fraction(p))
    assert binomial(int(rational.sum()), len(rational), chance) >= FALSE_ALARM
    assert binomial(int(np.count_nonzero(~exponential)), len(exponential), -math.expm1(-chance)) >= FALSE_ALARM


def test_scalar_coins_and_choices_fit(stream: KeyedBits) -> None:
    count = 5_000
    coins = sum(noise.bernoulli("1/3") for _ in range(count))
    exponential = sum(noise.bernoulli_exp(1) for _ in range(count))
    chosen = np.bincount([noise.choice([0, -1]) for _ in range(count)], minlength=2)
    assert binomial(coins, count, 1 / 3) >= FALSE_ALARM
    assert binomial(exponential, count, math.exp(-1)) >= FALSE_ALARM
    assert binomial(int(chosen[1]), count, 1 / (1 + math.e)) >= FALSE_ALARM
    assert not stream.fallbacks


@pytest.mark.parametrize("n", [2, 3, 10, 1000, 2**33 + 1, 2**62 + 1, 2**63])
def test_integers_fit(stream: KeyedBits, full: bool, n: int) -> None:
    drawn = noise.uniform_integers(n, size=COIN_DRAWS * (FULL if full else 1))
    cells = min(n, 1000)
    # Cell c holds ⌈c·n/cells⌉ ≤ x < ⌈(c + 1)·n/cells⌉.
    ends = [-(-c * n // cells) for c in range(cells + 1)]
    counts = np.bincount(np.searchsorted(np.array(ends[1:-1], dtype=np.int64), drawn, side="right"), minlength=cells)
    chances = np.array([(b - a) / n for a, b in itertools.pairwise(ends)])
    assert chi_square(counts, chances) >= FALSE_ALARM
    # The lowest bits, which a biased reduction would touch first.
    if n > 2**20:
        odd = (n // 2) / n
        assert binomial(int(np.count_nonzero(drawn & 1)), len(drawn), odd) >= FALSE_ALARM
    assert not stream.fallbacks


def neighbours(drawn: NDArray[np.int64], chances: list[float]) -> float:
    """The p-value of independence of (x_0, x_1), (x_2, x_3), …, where all pairs are frequent enough to say."""
    k, pairs = len(chances), len(drawn) // 2
    if min(chances) ** 2 * pairs < goodness.LEAST_EXPECTED:
        return 1.0
    counts = np.bincount(drawn[0 : 2 * pairs : 2] * k + drawn[1 : 2 * pairs : 2], minlength=k * k)
    return chi_square(counts, np.outer(chances, chances).ravel())


# --- the same tests must refuse wrong samplers


@pytest.mark.parametrize("name", LAWS)
def test_power_noise_that_is_one_percent_too_small_is_refused(stream: KeyedBits, name: str) -> None:
    sampler, law_of = LAWS[name]
    values = sampler("19.8", size=DRAWS)
    assert "cells" in refusals(values, law_of(20.0))
    assert not stream.fallbacks


@pytest.mark.parametrize("scale", ["1", "20"])
def test_power_a_doubled_zero_is_refused(stream: KeyedBits, scale: str) -> None:
    # A geometric magnitude and a sign without rejecting −0: zero comes with (1 − q) for (1 − q)/(1 + q).
    magnitude = noise.geometric(scale, size=DRAWS)
    values = np.where(noise.bernoulli("1/2", size=DRAWS), magnitude, -magnitude)
    assert "cells" in refusals(values, goodness.discrete_laplace(float(scale)))
    assert not stream.fallbacks


def redrawn_laplace(scale: Fraction, count: int, prefix_bits: int) -> NDArray[np.int64]:
    """The wrong sampler that throws a doubtful U away: only draws that a 4-bit filter decides are kept."""
    law = discrete_laplace_staircase(scale)
    kept: list[NDArray[np.int64]] = []
    while sum(map(len, kept)) < count:
        bits = KeyedBits(key_of(f"redrawn {len(kept)}"), prefix_bits=prefix_bits)
        words = bits.words(4 * count)
        prefix = (words >> np.uint64(64 - prefix_bits)).astype(np.float64)
        with np.errstate(divide="ignore"):
            product = -law._scale * np.log((prefix + 0.5) * 2.0**-prefix_bits)
            error = 0.50005 * law._scale / prefix + product * 2.0**-48 + 2.0**-50
        value = product + law._offset
        certain = (value - np.floor(value) >= error) & (value - np.floor(value) + error <= 1)
        sign = (words & np.uint64(1)).astype(np.int64) * 2 - 1
        kept.append((np.floor(value).astype(np.int64) * sign)[certain])
    return np.concatenate(kept)[:count]


def redrawn_gaussian(sigma2: Fraction, count: int, prefix_bits: int) -> NDArray[np.int64]:
    """The wrong sampler that proposes again when the acceptance is in doubt."""
    law = DiscreteGaussianLaw(sigma2)
    bits = KeyedBits(key_of("redrawn gaussian"))
    proposals = law._proposal.draw(bits, 4 * count, signed=True)
    prefix = (bits.words(4 * count) >> np.uint64(64 - prefix_bits)).astype(np.float64)
    margin = np.exp(-((np.abs(proposals) - law._centre_float) ** 2) * law._slope) - (prefix + 0.5) * 2.0**-prefix_bits
    certain = np.abs(margin) >= 2.0**-46 + 2.0 ** -(prefix_bits + 1)
    return proposals[certain & (margin > 0)][:count]


def test_power_redrawing_doubtful_draws_is_refused() -> None:
    count = FALLBACK_DRAWS
    laplace = redrawn_laplace(Fraction(1), count, prefix_bits=4)
    gaussian = redrawn_gaussian(Fraction(400), count, prefix_bits=4)
    assert len(laplace) == len(gaussian) == count
    assert "cells" in refusals(laplace, goodness.discrete_laplace(1.0))
    assert "cells" in refusals(gaussian, goodness.discrete_gaussian(20.0))


def test_power_a_repeated_stream_is_refused(stream: KeyedBits) -> None:
    values = np.repeat(noise.discrete_laplace(20, size=FALLBACK_DRAWS), 2)
    assert "neighbours" in refusals(values, goodness.discrete_laplace(20.0))
    assert not stream.fallbacks


def test_power_a_tail_cut_short_is_refused(stream: KeyedBits) -> None:
    values = noise.rounded_gaussian(20, size=DRAWS)
    cut = goodness.rounded_gaussian(20.0).least_with_tail_at_most(60 / DRAWS)
    found = refusals(np.clip(values, -cut, cut), goodness.rounded_gaussian(20.0))
    assert {"upper tail", "lower tail"} <= set(found)
    assert not stream.fallbacks


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("name", LAWS)
def test_the_reference_laws_are_laws(name: str, scale: str) -> None:
    """Cells add up to 1, expect enough, and agree with Arb where the law has a closed form."""
    _, law_of = LAWS[name]
    law, t = law_of(float(Fraction(scale))), Fraction(scale)
    partition = goodness.Partition(law, DRAWS)
    # Up to 200 differences of tails, each with a rounding of 2^-53 of a number below 1.
    assert abs(partition.chances.sum() - 1) < 200 * 2.0**-53
    assert len(partition.chances) == 1 or partition.chances.min() * DRAWS >= 0.999 * goodness.LEAST_EXPECTED
    assert len(partition.chances) < 256
    k = max(1, math.ceil(2 * t))
    with precision(256):
        q = (-1 / ball(t)).exp()
        closed = {
            "geometric": q**k,
            "discrete_laplace": q**k / (1 + q),
            "rounded_laplace": (-(ball(k) - Ball(0.5)) / ball(t)).exp() / 2,
            "rounded_gaussian": ((ball(k) - Ball(0.5)) / ball(t) / Ball(2).sqrt()).erfc() / 2,
        }
        if name in closed:
            assert law.tail(k) == pytest.approx(float_near(closed[name]), rel=1e-11, abs=0)
        elif t <= 20:
            terms = [(-ball(Fraction(j * j) / (2 * t * t))).exp() for j in range(1000)]
            exact = sum(terms[k:], Ball(0)) / (terms[0] + 2 * sum(terms[1:], Ball(0)))
            assert law.tail(k) == pytest.approx(float_near(exact), rel=1e-11, abs=0)


def test_both_sums_of_the_discrete_gaussian_agree() -> None:
    # At σ = 10^5 by Euler and Maclaurin; its own sum has 4 million terms, with roundings below 1e-10 together.
    sigma = 1e5
    law = goodness.discrete_gaussian(sigma)
    terms = np.exp(-((np.arange(4_000_001) / sigma) ** 2) / 2)
    total = math.fsum(terms) * 2 - 1
    for k in (1, 1000, 100_000, 300_000):
        assert law.tail(k) == pytest.approx(math.fsum(terms[k:]) / total, rel=1e-10)
