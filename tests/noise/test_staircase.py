"""⌊−t·ln U + κ⌋: probabilities by enumeration of all prefixes, thresholds to the last bit, clamping."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest

from quincunx.noise.laplace import discrete_laplace_staircase, geometric_staircase, rounded_laplace_staircase
from quincunx.noise.staircase import CHUNK, INT64_MAX, Staircase, clamped
from quincunx.noise.testing import KeyedBits, key_of
from quincunx.numbers import Ball, ball, exact_fraction, precision
from tests.noise.scripted import CONTINUATIONS, Scripted, Watched, prefixes_below, word_of


def geometric_tail(t: Fraction, k: int) -> Ball:
    return (-ball(k) / ball(t)).exp()


def discrete_laplace_tail(t: Fraction, k: int) -> Ball:
    # P(|X| ≥ k) = 2q^k/(1 + q) for k ≥ 1, from the law and not from κ.
    return 2 * (-ball(k) / ball(t)).exp() / (1 + (-1 / ball(t)).exp())


def rounded_laplace_tail(t: Fraction, k: int) -> Ball:
    return (-(ball(k) - Ball(0.5)) / ball(t)).exp()


Tail = Callable[[Fraction, int], Ball]
LAWS: dict[str, tuple[Callable[[Fraction], Staircase], Tail]] = {
    "geometric": (geometric_staircase, geometric_tail),
    "discrete_laplace": (discrete_laplace_staircase, discrete_laplace_tail),
    "rounded_laplace": (rounded_laplace_staircase, rounded_laplace_tail),
}
SCALES = [Fraction(1, 100), Fraction(1, 3), Fraction(1), Fraction("2.5"), Fraction(20), Fraction(1000)]


@pytest.mark.parametrize("bits", [1, 2, 5, 10])
@pytest.mark.parametrize("scale", SCALES, ids=str)
@pytest.mark.parametrize("kind", LAWS)
def test_probabilities_by_enumeration_of_all_prefixes(kind: str, scale: Fraction, bits: int) -> None:
    """Of all 2^b prefixes, those with U ≤ P(≥ k) give at least k, whatever bits follow."""
    make, tail = LAWS[kind]
    law, everything = make(scale), range(2**bits)
    words = [word_of(prefix, bits) for prefix in everything]
    for continuation in CONTINUATIONS:
        drawn = law.draw(Scripted(words, continuation=continuation, prefix_bits=bits), len(words), signed=False)
        assert np.all(np.diff(drawn) <= 0), "the inverse of a distribution function is monotone"
        top = int(drawn.max()) + 2
        with precision(256):
            for k in range(1, top, max(1, top // 200)):
                assert int(np.sum(drawn >= k)) == prefixes_below(tail(scale, k), bits, continuation)


@pytest.mark.parametrize("bits", [3, 20, 52])
@pytest.mark.parametrize("scale", [*SCALES, Fraction(10**6), Fraction(10**9)], ids=str)
@pytest.mark.parametrize("kind", LAWS)
def test_the_threshold_is_right_to_the_last_of_64_more_bits(kind: str, scale: Fraction, bits: int) -> None:
    make, tail = LAWS[kind]
    law = make(scale)
    for k in {1, 2, 3, math.ceil(scale), math.ceil(5 * scale)}:
        with precision(512):
            scaled = exact_fraction((tail(scale, k) * 2 ** (bits + 64)).mid())
        prefix, more = divmod(math.floor(scaled), 2**64)
        if prefix >= 2**bits or not 2 <= more <= 2**64 - 3:
            continue
        for shift, reached in ((-2, True), (-1, True), (1, False), (2, False)):
            word = word_of(prefix, bits)
            one = Scripted([word], continuation=more + shift, prefix_bits=bits)
            assert (law.draw_one(one, signed=True) >= k) is reached
            many = Scripted([word], continuation=more + shift, prefix_bits=bits)
            assert (law.draw(many, 1, signed=False)[0] >= k) == reached


@pytest.mark.parametrize("scale", ["1e-300", "1/100", "1/3", "1", "20", "1e6", "1e15", "1e300"])
def test_the_offset_is_between_0_and_one_half_and_its_float_is_near(scale: str) -> None:
    for make, _ in LAWS.values():
        law = make(Fraction(scale))
        with precision(256):
            offset = law.offset()
            assert offset >= 0 or offset.contains(0)
            # κ < 1/2 strictly, by (t/24)^-1 at large t, where a ball may touch 1/2.
            assert not offset > Ball(0.5)
            assert abs(offset - ball(law._offset)) <= Ball(2) ** -54


def test_zero_has_one_sign() -> None:
    # P(0) = (1 − q)/(1 + q), not twice as much: with t = 1 the prefix that is certainly 0 gives 0 under both signs.
    law = discrete_laplace_staircase(Fraction(1))
    for sign in (0, 1):
        assert law.draw_one(Scripted([word_of(2**52 - 1, 52, sign)]), signed=True) == 0


def test_the_sign_is_the_lowest_bit_and_nothing_else() -> None:
    law = discrete_laplace_staircase(Fraction(1000))
    words = KeyedBits(key_of("sign")).words(1000)
    magnitudes = law.draw(Scripted(words.tolist()), 1000, signed=False)
    signed = law.draw(Scripted(words.tolist()), 1000, signed=True)
    flipped = law.draw(Scripted((words ^ np.uint64(1)).tolist()), 1000, signed=True)
    assert np.array_equal(np.abs(signed), magnitudes)
    assert np.array_equal(signed, -flipped)
    # The bits between prefix and sign have no owner: changing them changes nothing.
    idle = words ^ np.uint64(0b1111_1111_1110)
    assert np.array_equal(law.draw(Scripted(idle.tolist()), 1000, signed=True), signed)


@pytest.mark.parametrize("count", [0, 1, CHUNK - 1, CHUNK, CHUNK + 1, 3 * CHUNK + 5])
def test_one_word_a_draw_across_chunks(count: int) -> None:
    stream = Watched(key_of("chunks"))
    law = rounded_laplace_staircase(Fraction(5))
    whole = law.draw(stream, count, signed=True)
    assert len(stream.given) == count
    assert whole.tolist() == law.draw(Scripted(stream.given), count, signed=True).tolist()


def test_beyond_counts_positions_across_chunks() -> None:
    law = rounded_laplace_staircase(Fraction(1))
    count = CHUNK + 10
    huge = rounded_laplace_staircase(Fraction(2) ** 70)
    beyond: dict[int, int] = {}
    drawn = huge.draw(KeyedBits(key_of("beyond")), count, signed=True, beyond=beyond)
    assert sorted(beyond) == np.flatnonzero(np.abs(drawn) == INT64_MAX).tolist()
    assert min(beyond.values()) > INT64_MAX
    assert max(beyond) >= CHUNK
    nothing: dict[int, int] = {}
    law.draw(KeyedBits(key_of("beyond")), 1000, signed=True, beyond=nothing)
    assert nothing == {}


def test_clamping_is_symmetric() -> None:
    assert clamped(2**63) == INT64_MAX
    assert clamped(-(2**63)) == -INT64_MAX
    assert clamped(-(2**63) + 1) == -INT64_MAX
    assert [clamped(value) for value in (0, 5, -5)] == [0, 5, -5]


@pytest.mark.parametrize("kind", LAWS)
def test_prefix_zero_is_decided_by_more_bits(kind: str) -> None:
    make, _ = LAWS[kind]
    for bits in (1, 4, 52):
        stream = Scripted([word_of(0, bits)], prefix_bits=bits)
        value = make(Fraction(1)).draw_one(stream, signed=True)
        assert stream.refinements >= 1
        # U = 0.{bits zeros}1001…: −ln U is between bits·ln 2 and (bits + 1)·ln 2, and κ ≤ 1/2.
        assert math.floor(bits * math.log(2)) <= value <= math.floor((bits + 1) * math.log(2) + 0.5)


@pytest.mark.parametrize("scale", ["1e-300", "1/3", "1e5", "1e18", "1e40", "1e300"])
def test_no_numpy_state_changes_or_breaks_a_draw(scale: str) -> None:
    # Whether an underflow happens depends on the secret draw; it must not become an error.
    expected = rounded_laplace_staircase(Fraction(scale)).draw(KeyedBits(key_of("state")), 50, signed=True)
    with np.errstate(all="raise"):
        again = rounded_laplace_staircase(Fraction(scale)).draw(KeyedBits(key_of("state")), 50, signed=True)
    assert np.array_equal(expected, again)
