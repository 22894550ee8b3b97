"""The floating-point filter may be unsure, never wrong.

Two halves. The library's functions stay inside the errors that staircase.md and gaussian.md allow them: 8 ulp for the
logarithm and the exponential, 2^-49 for the cosine. And the vectorised path, the scalar path and the exact path give
the same integer for the same bits, also where the answer is about to change.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator
from fractions import Fraction

import numpy as np
import pytest
from flint import arb
from numpy.typing import NDArray

from quincunx.noise.gaussian import DiscreteGaussianLaw, RoundedGaussianLaw
from quincunx.noise.laplace import discrete_laplace_staircase, geometric_staircase, rounded_laplace_staircase
from quincunx.noise.staircase import INT64_MAX, Staircase
from quincunx.noise.testing import KeyedBits, key_of
from quincunx.numbers import Ball, ball, exact_fraction, float_above, precision
from tests.noise.scripted import CONTINUATIONS, HIGH, LOW, Scripted, word_of

# --- the library's functions


def midpoints(prefixes: NDArray[np.uint64], bits: int) -> NDArray[np.float64]:
    return (prefixes.astype(np.float64) + 0.5) * 2.0**-bits


def edge_loaded_uniforms(name: str) -> NDArray[np.float64]:
    """More than 200,000 values that the filter can see: near 0, near 1, around powers of two, random, all widths."""
    stream = KeyedBits(key_of(name))
    few = np.arange(20_000, dtype=np.uint64)
    powers = np.concatenate([np.uint64(1 << k) + np.arange(64, dtype=np.uint64) for k in range(7, 52)])
    below = np.concatenate([np.uint64(1 << k) - np.arange(1, 65, dtype=np.uint64) for k in range(7, 52)])
    uniform = stream.words(120_000) >> np.uint64(12)
    # Magnitudes spread evenly over the 52 binades.
    spread = np.maximum(uniform[:30_000] >> (stream.words(30_000) % np.uint64(52)), np.uint64(0))
    parts = [midpoints(part, 52) for part in (few, np.uint64(2**52 - 1) - few, powers, below, uniform, spread)]
    parts += [midpoints(np.arange(2**bits, dtype=np.uint64), bits) for bits in (1, 2, 4, 8, 12)]
    return np.concatenate(parts)


def split(values: list[Ball]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Head and tail of each reference: head + tail is the reference within 2^-100 of it."""
    head = [float(value) for value in values]
    tail = [float(value - first) for value, first in zip(values, head, strict=True)]
    return np.array(head), np.array(tail)


def worst(
    computed: NDArray[np.float64],
    head: NDArray[np.float64],
    tail: NDArray[np.float64],
    unit: NDArray[np.float64] | float,
) -> float:
    """The largest error of `computed` in `unit`. computed − head is exact: the two are close."""
    return float(np.max(np.abs((computed - head) - tail) / unit))


def in_pieces(
    function: Callable[..., NDArray[np.float64]], values: NDArray[np.float64]
) -> Iterator[tuple[str, NDArray[np.float64]]]:
    """A vector loop has a body and a remainder, with different code: whole, in chunks of the samplers, in odd ones."""
    yield "whole", function(values)
    for size in (1 << 14, 7):
        yield f"in {size}", np.concatenate([function(values[i : i + size]) for i in range(0, len(values), size)])
    in_place = values.copy()
    function(in_place, out=in_place)
    yield "in place", in_place


def test_the_logarithm_is_within_8_ulp() -> None:
    values = edge_loaded_uniforms("log")
    assert len(values) >= 200_000
    with precision(160):
        head, tail = split([arb(value).log() for value in values.tolist()])
    unit = np.spacing(np.abs(head))
    errors = {name: worst(result, head, tail, unit) for name, result in in_pieces(np.log, values)}
    errors["math"] = worst(np.array([math.log(value) for value in values.tolist()]), head, tail, unit)
    print(f"log, worst error in ulp over {len(values)}: {errors}")
    assert max(errors.values()) <= 8
    # The relative form that the bound uses: 8 ulp are at most 2^-49 of the value.
    assert np.all(8 * unit <= 2.0**-49 * np.abs(head))


def test_the_exponential_is_within_8_ulp() -> None:
    # γ from 0 to 745, where e^−γ leaves the floats; the filter reads absolute errors of a value ≤ 1.
    stream = KeyedBits(key_of("exp"))
    uniform = (stream.words(200_000) >> np.uint64(12)).astype(np.float64) * 2.0**-52
    doublings = np.concatenate([np.ldexp(1.0 + uniform[:200], -k) for k in range(60)])
    gamma = np.concatenate([uniform[:100_000], 40 * uniform[100_000:180_000], 745 * uniform[180_000:], doublings])
    gamma = np.concatenate([gamma, [0.0, 5e-324, 1e-300, 2.0**-53, math.log(2), 708.4, 745.0], np.arange(700.0)])
    assert len(gamma) >= 200_000
    with precision(160):
        head, tail = split([(-arb(value)).exp() for value in gamma.tolist()])
    # Below the normal floats an ulp is no longer relative; the filter only needs an absolute error there.
    unit = np.maximum(np.spacing(head), 2.0**-1022)
    errors = {name: worst(result, head, tail, unit) for name, result in in_pieces(np.exp, -gamma)}
    errors["math"] = worst(np.array([math.exp(-value) for value in gamma.tolist()]), head, tail, unit)
    print(f"exp, worst error in ulp over {len(gamma)}: {errors}")
    assert max(errors.values()) <= 8


def test_the_cosine_is_within_8_ulp_of_one_and_the_angle_inside_its_bound() -> None:
    # As the sampler computes it: the rounded product of the midpoint and 2π·2^-b, then the cosine.
    turns = edge_loaded_uniforms("cos")
    # A quarter, half and three quarters of a turn, where the cosine is 0 or flat, from both sides.
    corners = np.concatenate([np.uint64(k << 50) + np.arange(64, dtype=np.uint64) for k in (1, 2, 3)])
    turns = np.concatenate([turns, midpoints(corners, 52), midpoints(corners - np.uint64(64), 52)])
    angles = (turns * 2.0**52) * (2.0 * math.pi * 2.0**-52)
    with precision(160):
        head, tail = split([arb(value).cos() for value in angles.tolist()])
        head_turn, tail_turn = split([(2 * arb(value)).cos_pi() for value in turns.tolist()])
    library = {name: worst(result, head, tail, 2.0**-49) for name, result in in_pieces(np.cos, angles)}
    library["math"] = worst(np.array([math.cos(value) for value in angles.tolist()]), head, tail, 2.0**-49)
    print(f"cos, worst error in 2^-49 over {len(angles)}: {library}")
    assert max(library.values()) <= 1
    # Together with the rounded angle, 2^-49.7: gaussian.md.
    allowed = 2.0**-49 + 2.0**-49.7
    assert worst(np.cos(angles), head_turn, tail_turn, allowed) <= 1


@pytest.mark.parametrize("bits", [1, 4, 20, 51, 52])
def test_the_midpoint_is_exact(bits: int) -> None:
    stream = KeyedBits(key_of(f"midpoint {bits}"))
    prefixes = [0, 1, 2**bits - 1, 2 ** (bits - 1)] + [stream.integer(64) >> (64 - bits) for _ in range(2000)]
    vector = midpoints(np.array(prefixes, dtype=np.uint64), bits)
    for prefix, value in zip(prefixes, vector.tolist(), strict=True):
        assert Fraction(value) == Fraction(2 * prefix + 1, 2 ** (bits + 1))
        assert (prefix + 0.5) * 2.0**-bits == value


# --- three paths, one answer

SCALES = [Fraction(1, 100), Fraction(1, 3), Fraction(1), Fraction("2.5"), Fraction(20), Fraction(1000), Fraction(10**6)]
SCALES += [Fraction(10**9), Fraction(10**9) + Fraction(1, 3)]
WIDTHS = [4, 20, 52]
STAIRCASES = {
    "geometric": geometric_staircase,
    "discrete_laplace": discrete_laplace_staircase,
    "rounded_laplace": rounded_laplace_staircase,
}


def near(threshold: Ball, bits: int, reach: tuple[int, ...]) -> list[int]:
    """Prefixes around a threshold of U, kept inside the range."""
    middle = math.floor(exact_fraction((threshold * (1 << bits)).mid()))
    return [prefix for prefix in (middle + step for step in reach) if 0 <= prefix < 1 << bits]


def staircase_prefixes(law: Staircase, bits: int, chance: random.Random) -> list[int]:
    """Random prefixes, edges, and those where the answer is about to change: U = e^{−(k−κ)/t} ± a few."""
    edges = [0, 1, 2, 3, (1 << bits) - 1, (1 << bits) - 2, 1 << (bits - 1), (1 << (bits - 1)) - 1]
    found = edges + [chance.getrandbits(bits) for _ in range(60)]
    with precision(256):
        offset = law.offset()
        for _ in range(60):
            k = math.floor(-float(law.scale) * math.log(1 - chance.random()) + 0.5) + chance.randrange(2)
            found += near((-(ball(k) - offset) / ball(law.scale)).exp(), bits, (-64, -8, -1, 0, 1, 2, 16))
    return found


@pytest.mark.parametrize("bits", WIDTHS)
@pytest.mark.parametrize("scale", SCALES, ids=str)
@pytest.mark.parametrize("kind", STAIRCASES)
def test_staircase_paths_agree_bit_for_bit(kind: str, scale: Fraction, bits: int) -> None:
    law = STAIRCASES[kind](scale)
    chance = random.Random(f"{kind} {scale} {bits}")
    prefixes = staircase_prefixes(law, bits, chance)
    words = [word_of(prefix, bits, chance.getrandbits(1)) for prefix in prefixes]
    for continuation in CONTINUATIONS:
        exact = [law._exact(Scripted([], continuation=continuation, prefix_bits=bits), prefix) for prefix in prefixes]
        signed = [value if word & 1 else -value for value, word in zip(exact, words, strict=True)]
        stream = Scripted(words, continuation=continuation, prefix_bits=bits)
        assert law.draw(stream, len(words), signed=False).tolist() == exact
        stream = Scripted(words, continuation=continuation, prefix_bits=bits)
        assert law.draw(stream, len(words), signed=True).tolist() == signed
        for word, expected in zip(words, signed, strict=True):
            one = Scripted([word], continuation=continuation, prefix_bits=bits)
            assert law.draw_one(one, signed=True) == expected


@pytest.mark.parametrize("kind", STAIRCASES)
def test_the_whole_width_is_used(kind: str) -> None:
    """The filter is not idle: at 52 bits and scale 20 it decides random draws alone, at 4 bits it decides none."""
    law = STAIRCASES[kind](Fraction(20))
    wide, narrow = KeyedBits(key_of(kind)), KeyedBits(key_of(kind), prefix_bits=4)
    law.draw(wide, 100_000, signed=True)
    law.draw(narrow, 1_000, signed=True)
    # The doubt has probability about 20·2^-46 = 3e-13 a draw.
    assert wide.fallbacks == 0
    assert narrow.fallbacks == 1_000


@pytest.mark.parametrize("scale", ["1e-300", "1e-20", "1e20", "1e100", "1e300", "1.7e308", "1e400"])
@pytest.mark.parametrize("kind", STAIRCASES)
def test_extreme_scales_agree_too(kind: str, scale: str) -> None:
    law = STAIRCASES[kind](Fraction(scale))
    chance = random.Random(f"{kind} {scale}")
    prefixes = [0, 1, 2**52 - 1, 2**51] + [chance.getrandbits(52) for _ in range(20)]
    words = [word_of(prefix, 52) for prefix in prefixes]
    for continuation in (LOW, HIGH):
        exact = [law._exact(Scripted([], continuation=continuation), prefix) for prefix in prefixes]
        beyond: dict[int, int] = {}
        drawn = law.draw(Scripted(words, continuation=continuation), len(words), signed=True, beyond=beyond)
        assert drawn.tolist() == [min(value, INT64_MAX) for value in exact]
        assert beyond == {i: value for i, value in enumerate(exact) if value > INT64_MAX}
        one = [law.draw_one(Scripted([word], continuation=continuation), signed=True) for word in words]
        assert one == exact


@pytest.mark.parametrize("bits", WIDTHS)
@pytest.mark.parametrize("sigma", SCALES, ids=str)
def test_acceptance_paths_agree_bit_for_bit(sigma: Fraction, bits: int) -> None:
    law = DiscreteGaussianLaw(sigma**2)
    chance = random.Random(f"accept {sigma} {bits}")
    proposals: list[int] = []
    prefixes: list[int] = []
    with precision(256):
        for _ in range(150):
            y = round(float(law._proposal.scale) * chance.expovariate(1)) * chance.choice((-1, 1))
            gamma = (abs(y) - law._centre) ** 2 / (2 * law.sigma2)
            # The doubt is 2^-46 wide: 64 units of a prefix of 52 bits.
            around = near((-ball(gamma)).exp(), bits, (-80, -64, -8, -1, 0, 1, 8, 64, 80))
            around += [0, (1 << bits) - 1, chance.getrandbits(bits)]
            proposals += [y] * len(around)
            prefixes += around
    for continuation in (LOW, HIGH):
        exact = [
            law._exact(Scripted([], continuation=continuation, prefix_bits=bits), y, prefix)
            for y, prefix in zip(proposals, prefixes, strict=True)
        ]
        stream = Scripted([word_of(p, bits) for p in prefixes], continuation=continuation, prefix_bits=bits)
        assert law._accept(np.array(proposals), {}, stream).tolist() == exact


@pytest.mark.parametrize("sigma", ["1e-200", "1e-160", "1e-155", "1e-100", "1e100", "1e153", "1e155", "1e160", "1e300"])
def test_acceptance_is_right_where_squares_leave_the_floats(sigma: str) -> None:
    # Small proposals at a huge σ have γ = σ²/2t² ≈ 1/2 and e^−γ ≈ 0.61, although D² may be infinite in float64.
    law = DiscreteGaussianLaw(Fraction(sigma) ** 2)
    proposals = [0, 1, -1, 5, 2**51] * 8
    prefixes = [prefix for prefix in range(2**49, 2**52, 2**49 - 7) for _ in range(5)][: len(proposals)]
    prefixes += [0] * (len(proposals) - len(prefixes))
    exact = [law._exact(Scripted([]), y, prefix) for y, prefix in zip(proposals, prefixes, strict=True)]
    stream = Scripted([word_of(prefix, 52) for prefix in prefixes])
    assert law._accept(np.array(proposals), {}, stream).tolist() == exact


def test_an_accepted_proposal_beyond_int64_is_judged_by_its_true_value() -> None:
    # At σ = 2^80 a proposal is clamped to 2^63 − 1 in the array; its acceptance must use the true 2^80.
    law = DiscreteGaussianLaw(Fraction(2) ** 160)
    clamped = np.array([INT64_MAX, INT64_MAX])
    true = {0: 2**80, 1: 40 * 2**80}
    # At V = 1/2: γ(2^80) ≈ 0 accepts, γ(40·2^80) ≈ 760 rejects.
    assert law._accept(clamped, true, Scripted([word_of(2**51, 52)] * 2)).tolist() == [True, False]


@pytest.mark.parametrize("bits", WIDTHS)
@pytest.mark.parametrize("sigma", SCALES, ids=str)
def test_discrete_gaussian_scalar_and_vector_paths_agree(sigma: Fraction, bits: int) -> None:
    law = DiscreteGaussianLaw(sigma**2)
    chance = random.Random(f"dg {sigma} {bits}")
    script = [(chance.getrandbits(64), chance.getrandbits(64)) for _ in range(300)]
    for continuation in (LOW, HIGH):
        accepted: list[int] = []
        for first, second in script:
            one = Scripted([], continuation=continuation, prefix_bits=bits)
            y = law._proposal._exact(one, first >> (64 - bits)) * (1 if first & 1 else -1)
            if law._exact(one, y, second >> (64 - bits)):
                accepted.append(y)
        # A scalar draw reads proposal and V in turn; the script holds pairs, so that every proposal meets its V.
        drawn = []
        for first, second in script:
            one = Scripted([first], continuation=continuation, prefix_bits=bits)
            y = law._proposal.draw_one(one, signed=True)
            if law._accept(np.array([y]), {}, Scripted([second], continuation=continuation, prefix_bits=bits))[0]:
                drawn.append(y)
        assert drawn == accepted
        # Without a doubt nothing is read between the pairs, and the scalar path can be fed the script as it is.
        if bits == 52 and sigma <= 1000:
            whole = Scripted([word for pair in script for word in pair], continuation=continuation)
            assert [law.draw_one(whole) for _ in accepted] == accepted


@pytest.mark.parametrize("bits", WIDTHS)
@pytest.mark.parametrize("sigma", SCALES, ids=str)
def test_rounded_gaussian_paths_agree_bit_for_bit(sigma: Fraction, bits: int) -> None:
    law = RoundedGaussianLaw(sigma**2)
    chance = random.Random(f"rg {sigma} {bits}")
    top = (1 << bits) - 1
    edges = [0, 1, 2, top, top - 1, 1 << (bits - 1), 1 << (bits - 2), 3 << (bits - 2)]
    pairs = [(u, v) for u in edges for v in edges]
    pairs += [(chance.getrandbits(bits), chance.getrandbits(bits)) for _ in range(100)]
    with precision(256):
        for _ in range(60):
            # V where σ·R·cos 2πV + 1/2 crosses a whole number.
            u = max(1, chance.getrandbits(bits))
            span = float(sigma) * math.sqrt(-2 * math.log((u + 0.5) * 2.0**-bits))
            k = chance.randint(math.ceil(-span), math.floor(span) + 1)
            if abs(k - 0.5) < span:
                u_ball = Ball((2 * u + 1, -bits - 1))
                cosine = (ball(k) - Ball(0.5)) / (ball(sigma) * (-2 * u_ball.log()).sqrt())
                turn = cosine.acos() / (2 * arb.pi())
                pairs += [(u, v) for v in near(turn, bits, (-40, -4, -1, 0, 1, 4, 40))]
    words = [word_of(u, bits) for u, _ in pairs] + [word_of(v, bits) for _, v in pairs]
    for continuation in (LOW, HIGH):
        exact = [law._exact(Scripted([], continuation=continuation, prefix_bits=bits), u, v) for u, v in pairs]
        stream = Scripted(words, continuation=continuation, prefix_bits=bits)
        assert law.draw(stream, len(pairs)).tolist() == exact
        for (u, v), expected in zip(pairs, exact, strict=True):
            one = Scripted([word_of(u, bits), word_of(v, bits)], continuation=continuation, prefix_bits=bits)
            assert law.draw_one(one) == expected


@pytest.mark.parametrize("sigma", ["1e-300", "1e-20", "1e20", "1e100", "1e300", "1.7e308", "1e400"])
def test_rounded_gaussian_agrees_at_extreme_scales(sigma: str) -> None:
    law = RoundedGaussianLaw(Fraction(sigma) ** 2)
    chance = random.Random(f"rg {sigma}")
    pairs = [(0, 0), (2**52 - 1, 0), (1, 2**51)] + [(chance.getrandbits(52), chance.getrandbits(52)) for _ in range(20)]
    words = [word_of(u, 52) for u, _ in pairs] + [word_of(v, 52) for _, v in pairs]
    exact = [law._exact(Scripted([]), u, v) for u, v in pairs]
    assert law.draw(Scripted(words), len(pairs)).tolist() == exact
    assert [law.draw_one(Scripted([word_of(u, 52), word_of(v, 52)])) for u, v in pairs] == exact


# --- the bounds themselves


@pytest.mark.parametrize("kind", STAIRCASES)
@pytest.mark.parametrize("scale", SCALES, ids=str)
def test_the_stated_bound_of_the_staircase_covers_the_true_error(kind: str, scale: Fraction) -> None:
    """|x̂ − x| ≤ e at both ends of every prefix, with x̂ and e recomputed here from staircase.md."""
    law = STAIRCASES[kind](scale)
    chance = random.Random(f"bound {kind} {scale}")
    largest = 0.0
    with precision(200):
        offset = law.offset()
        for bits in (1, 2, 4, 20, 52):
            few = {1, 2, 3, (1 << bits) - 1, 1 << (bits - 1)} | {max(1, chance.getrandbits(bits)) for _ in range(150)}
            for prefix in sorted(p for p in few if p < 1 << bits):
                product = -law._scale * math.log((prefix + 0.5) * 2.0**-bits)
                bound = 0.50005 * law._scale / prefix + product * 2.0**-48 + 2.0**-50
                value = product + law._offset
                for end in (prefix, prefix + 1):
                    exact = offset - ball(scale) * Ball((end, -bits)).log()
                    largest = max(largest, float_above(abs(exact - ball(value))) / bound)
    # The half-width of U is nearly the whole bound where U is short, so the ratio comes close to 1, never above.
    assert largest < 1
