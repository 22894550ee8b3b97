"""The public face of the two Gaussians, their acceptance by enumeration, and Box–Muller against its formula."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from flint import arb

from quincunx import noise
from quincunx.errors import ParameterError
from quincunx.noise.gaussian import DiscreteGaussianLaw, RoundedGaussianLaw, variance_parameter
from quincunx.noise.testing import KeyedBits, key_of, keyed
from quincunx.numbers import Ball, ball, precision
from tests.noise.scripted import CONTINUATIONS, Scripted, Watched, prefixes_below, word_of

SAMPLERS = [noise.discrete_gaussian, noise.rounded_gaussian]
INT64_MAX = 2**63 - 1


@pytest.fixture(params=SAMPLERS, ids=lambda s: s.__name__)
def sampler(request: pytest.FixtureRequest) -> Callable[..., Any]:
    return request.param


BAD = [0, -1, 0.0, "-1/3", float("nan"), float("inf"), float("-inf"), "abc", "", True, [1], 1j, "1/0", b"1"]


@pytest.mark.parametrize("size", [None, 3])
@pytest.mark.parametrize("name", ["sigma", "sigma2"])
@pytest.mark.parametrize("value", BAD, ids=repr)
def test_bad_deviations_are_refused_and_nothing_is_drawn(
    sampler: Callable[..., Any], name: str, value: object, size: Any
) -> None:
    with keyed(key_of("untouched")) as stream:
        with pytest.raises(ParameterError) as refusal:
            sampler(**{name: value}, size=size)
        assert refusal.value.where == name
        assert stream.integer(64) == KeyedBits(key_of("untouched")).integer(64)


@pytest.mark.parametrize(("given", "got"), [({}, "neither"), ({"sigma": 1, "sigma2": 1}, "both")])
def test_exactly_one_of_sigma_and_sigma2(sampler: Callable[..., Any], given: dict[str, Any], got: str) -> None:
    with keyed(key_of("untouched")) as stream:
        with pytest.raises(ParameterError, match="exactly one") as refusal:
            sampler(**given, size=3)
        assert refusal.value.got == got
        assert refusal.value.hint
        assert stream.integer(64) == KeyedBits(key_of("untouched")).integer(64)


def test_the_variance_is_exact() -> None:
    assert variance_parameter(0.1, None) == Fraction(1, 100)
    assert variance_parameter(None, 0.1) == Fraction(1, 10)
    assert variance_parameter(None, 2) == 2


@pytest.mark.parametrize("sigma", [2.5, "2.5", "5/2", Decimal("2.5"), Fraction(5, 2), np.float32(2.5)], ids=repr)
def test_one_number_typed_in_many_ways_is_one_law(sampler: Callable[..., Any], sigma: object) -> None:
    with keyed(key_of("ways")):
        expected = sampler(sigma2="6.25", size=100)
    with keyed(key_of("ways")):
        assert np.array_equal(sampler(sigma, size=100), expected)


@pytest.mark.parametrize("sigma", [10**20, 1e25, 1e100, 1e160, 1e300, 1.7e308, "1e400"], ids=str)
def test_huge_deviations_are_clamped_and_never_wrapped(sampler: Callable[..., Any], sigma: object) -> None:
    with keyed(key_of("huge")):
        many = sampler(sigma, size=60)
        ones = [sampler(sigma) for _ in range(20)]
    assert many.dtype == np.int64
    # At 10^20 a draw stays inside int64 with probability 0.074; all 60 of one sign do with probability below 1e-13.
    assert INT64_MAX in many
    assert -INT64_MAX in many
    assert many.min() == -INT64_MAX
    assert INT64_MAX in ones
    assert all(type(one) is int and -INT64_MAX <= one <= INT64_MAX for one in ones)


@pytest.mark.parametrize("sigma", ["1e-2", "1e-16", "1e-160", "1e-300", "1e-320", "1e-1000"])
def test_tiny_deviations_are_zero(sampler: Callable[..., Any], sigma: str) -> None:
    # P(≠ 0) ≤ 2·e^{−1/8σ²} = 2·e^−1250 at σ = 1/100.
    assert not sampler(sigma, size=50).any()
    assert sampler(sigma) == 0


def test_no_numpy_state_changes_or_breaks_a_draw(sampler: Callable[..., Any]) -> None:
    for sigma in ("1e-300", "1/3", "1e5", "1e18", "1e40", "1e300"):
        with keyed(key_of("state")):
            expected = sampler(sigma, size=50)
        with keyed(key_of("state")), np.errstate(all="raise"):
            assert np.array_equal(sampler(sigma, size=50), expected)


# --- discrete Gaussian


@pytest.mark.parametrize("bits", [1, 4, 10])
@pytest.mark.parametrize("sigma", ["1/100", "1/3", "1", "2.5", "20", "1e6"])
def test_acceptance_probabilities_by_enumeration(sigma: str, bits: int) -> None:
    """Of all 2^b prefixes, those with V < e^−γ accept, whatever bits follow."""
    variance = Fraction(sigma) ** 2
    law = DiscreteGaussianLaw(variance)
    t = math.floor(Fraction(sigma)) + 1
    words = [word_of(prefix, bits) for prefix in range(2**bits)]
    for y in (0, 1, -1, 2, -3, t, -2 * t, 5 * t):
        gamma = (abs(y) - variance / t) ** 2 / (2 * variance)
        proposals = np.full(len(words), y)
        for continuation in CONTINUATIONS:
            stream = Scripted(words, continuation=continuation, prefix_bits=bits)
            accepted = int(law._accept(proposals, {}, stream).sum())
            with precision(256):
                assert accepted == prefixes_below((-ball(gamma)).exp(), bits, continuation)


@pytest.mark.parametrize("sigma", ["1/100", "1/3", "0.999", "1", "1.5", "2.5", "20"])
def test_proposal_times_acceptance_is_the_law(sigma: str) -> None:
    """P(Y = y)·e^{−γ(y)} is proportional to e^{−y²/2σ²}, for the proposal and γ that the sampler holds."""
    variance = Fraction(sigma) ** 2
    law = DiscreteGaussianLaw(variance)
    with precision(200):
        ratios = []
        for y in range(8):
            proposal = (-ball(y) / ball(law._proposal.scale)).exp()
            gamma = (y - law._centre) ** 2 / (2 * variance)
            ratios.append(proposal * (-ball(gamma)).exp() / (-ball(Fraction(y**2) / (2 * variance))).exp())
        for ratio in ratios:
            assert abs(ratio / ratios[0] - 1) < Ball(2) ** -150


@pytest.mark.parametrize("sigma2", ["1e-6", "0.99", "1", "3.99", "4", "8.99", "9", "1e12", "1e30"])
def test_the_proposal_has_scale_floor_sigma_plus_one(sigma2: str) -> None:
    law = DiscreteGaussianLaw(Fraction(sigma2))
    t = int(law._proposal.scale)
    assert (t - 1) ** 2 <= Fraction(sigma2) < t**2


@pytest.mark.parametrize("sigma", ["1/100", "0.3", "0.999", "1", "2.5", "1000"])
def test_the_acceptance_rate_is_as_stated(sigma: str) -> None:
    # P(accept) = Σ_y P(Y = y)·e^−γ = e^{−σ²/2t²}·(1 − q)/(1 + q)·Σ_y e^{−y²/2σ²}, q = e^{−1/t}, between 0.4 and 0.8.
    deviation = float(Fraction(sigma))
    t = math.floor(deviation) + 1
    q = math.exp(-1 / t)
    total = sum(math.exp(-((y / deviation) ** 2) / 2) for y in range(-20_000, 20_001))
    assert 0.4 < math.exp(-(deviation**2) / (2 * t * t)) * (1 - q) / (1 + q) * total < 0.8


@pytest.mark.parametrize("count", [0, 1, 5, 20_000, 50_000])
def test_accepted_draws_keep_their_order_and_the_surplus_is_dropped(count: int) -> None:
    stream = Watched(key_of("order"))
    drawn = DiscreteGaussianLaw(Fraction(400)).draw(stream, count)
    assert drawn.shape == (count,)
    assert stream.fallbacks == 0
    # A batch of n proposals is n words for Y followed by n words for V: replay it with the parts of the law.
    law, given, expected = DiscreteGaussianLaw(Fraction(400)), stream.given, list[int]()
    while len(expected) < count:
        n = min(1 << 14, 16 + (count - len(expected)) * 3 // 2)
        proposals = law._proposal.draw(Scripted(given[:n]), n, signed=True)
        kept = proposals[law._accept(proposals, {}, Scripted(given[n : 2 * n]))]
        expected, given = (expected + kept.tolist())[:count], given[2 * n :]
    assert given == []
    assert drawn.tolist() == expected


# --- rounded Gaussian


@pytest.mark.parametrize("bits", [2, 5])
@pytest.mark.parametrize("sigma", ["1/100", "1/3", "1", "2.5", "20", "1e6"])
def test_all_pairs_of_prefixes_give_box_and_mullers_value(sigma: str, bits: int) -> None:
    law = RoundedGaussianLaw(Fraction(sigma) ** 2)
    pairs = [(u, v) for u in range(2**bits) for v in range(2**bits)]
    words = [word_of(u, bits) for u, _ in pairs] + [word_of(v, bits) for _, v in pairs]
    for continuation in CONTINUATIONS:
        drawn = law.draw(Scripted(words, continuation=continuation, prefix_bits=bits), len(pairs)).tolist()
        with precision(320):
            # U and V to 256 more bits, as the stream continues them; the truth differs by less than the ball below.
            more = sum(continuation << 64 * place for place in range(4))
            exact = [Ball(((u << 256) + more, -256 - bits)) for u in range(2**bits)]
            for (u, v), value in zip(pairs, drawn, strict=True):
                truth = ball(Fraction(sigma)) * (-2 * exact[u].log()).sqrt() * (2 * arb.pi() * exact[v]).cos()
                assert abs(truth - value) < Ball(0.5) + Ball(2) ** -200


def test_the_vector_path_reads_all_u_and_then_all_v() -> None:
    stream = Watched(key_of("pairs"))
    drawn = RoundedGaussianLaw(Fraction(100)).draw(stream, 10).tolist()
    assert len(stream.given) == 20
    law = RoundedGaussianLaw(Fraction(100))
    assert drawn == [law.draw_one(Scripted([stream.given[i], stream.given[10 + i]])) for i in range(10)]


def test_the_angle_uses_both_halves_of_the_turn() -> None:
    law = RoundedGaussianLaw(Fraction(10**6))
    chance = random.Random("halves")
    for _ in range(100):
        u, v = chance.getrandbits(52), chance.getrandbits(51)
        there = law.draw_one(Scripted([word_of(u, 52), word_of(v, 52)]))
        back = law.draw_one(Scripted([word_of(u, 52), word_of(v + 2**51, 52)]))
        # Half a turn changes the sign; rounding to nearest keeps the two within one of opposite.
        assert abs(there + back) <= 1
