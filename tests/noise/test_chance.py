"""Coins and choices: probabilities by enumeration, thresholds that no ball can recognise, bad input."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from quincunx import noise
from quincunx.errors import ParameterError
from quincunx.noise.chance import choose
from quincunx.noise.testing import KeyedBits, key_of, keyed
from quincunx.numbers import Ball, Exact, Log, ball, exact_fraction, precision, rational
from tests.noise.scripted import CONTINUATIONS, HIGH, LOW, Scripted, prefixes_below, word_of

WIDTHS = [1, 4, 10]


def drawn_by(
    monkeypatch: pytest.MonkeyPatch, bits: int, continuation: int, sampler: Any, *arguments: object
) -> list[int]:
    """What a sampler makes of every prefix of `bits` bits, followed by the continuation."""
    words = [word_of(prefix, bits) for prefix in range(2**bits)]
    stream = Scripted(words, continuation=continuation, prefix_bits=bits)
    monkeypatch.setattr("quincunx.noise.chance.source", lambda: stream)
    return [int(value) for value in sampler(*arguments, size=len(words))]


@pytest.mark.parametrize("bits", WIDTHS)
@pytest.mark.parametrize("p", ["0", "1", "1/3", "0.1", "1e-30", "0.9999999999999999999999", "2/7"])
def test_bernoulli_by_enumeration(monkeypatch: pytest.MonkeyPatch, p: str, bits: int) -> None:
    for continuation in CONTINUATIONS:
        successes = sum(drawn_by(monkeypatch, bits, continuation, noise.bernoulli, p))
        with precision(256):
            assert successes == prefixes_below(ball(Fraction(p)), bits, continuation)


@pytest.mark.parametrize("bits", WIDTHS)
@pytest.mark.parametrize("text", ["1/2", "3/4", "5/16", "1/1024", "1023/1024"])
def test_dyadic_coins_are_exact_counts(monkeypatch: pytest.MonkeyPatch, text: str, bits: int) -> None:
    p = Fraction(text)
    for continuation in CONTINUATIONS:
        successes = sum(drawn_by(monkeypatch, bits, continuation, noise.bernoulli, p))
        if (p * 2**bits).denominator == 1:
            assert successes == p * 2**bits
        else:
            assert math.floor(p * 2**bits) <= successes <= math.ceil(p * 2**bits)


@pytest.mark.parametrize("bits", WIDTHS)
@pytest.mark.parametrize("gamma", ["0", "1e-9", "1/3", "1", "5", "700", "10000"])
def test_bernoulli_exp_by_enumeration(monkeypatch: pytest.MonkeyPatch, gamma: str, bits: int) -> None:
    for continuation in CONTINUATIONS:
        successes = sum(drawn_by(monkeypatch, bits, continuation, noise.bernoulli_exp, gamma))
        with precision(256):
            assert successes == prefixes_below((-ball(Fraction(gamma))).exp(), bits, continuation)


WEIGHTS: list[list[object]] = [
    [0, 1],
    ["1/3", 0, -2],
    [Log(1), Log(2), Log(4), Log(3)],
    [Log("1e-30"), 0, Log("1e30")],
    [-1000, 0, -1000, 1],
    [0.1] * 7,
    ["1e6", "999999.5", "999999"],
    [5],
]


@pytest.mark.parametrize("bits", [4, 10])
@pytest.mark.parametrize("weights", WEIGHTS, ids=str)
def test_choice_by_enumeration(monkeypatch: pytest.MonkeyPatch, weights: list[object], bits: int) -> None:
    exact: Sequence[Exact] = [w if isinstance(w, Log) else rational(w, "w") for w in weights]
    for continuation in CONTINUATIONS:
        chosen = drawn_by(monkeypatch, bits, continuation, noise.choice, weights)
        assert chosen == sorted(chosen), "the choice is monotone in U"
        with precision(2000):
            masses = [ball(weight).exp() for weight in exact]
            total = sum(masses, Ball(0))
            for i in range(1, len(masses)):
                expected = prefixes_below(sum(masses[:i], Ball(0)) / total, bits, continuation)
                assert sum(value < i for value in chosen) == expected


@pytest.mark.parametrize("x", ["1/3", "1", "0.1", "17", "1000"])
@pytest.mark.parametrize("bits", [1, 4, 20, 52])
def test_a_dyadic_sum_that_no_ball_can_recognise_ends_and_is_right(
    monkeypatch: pytest.MonkeyPatch, x: str, bits: int
) -> None:
    # Weights 1, e^−x, 1, e^−x: the second cumulative sum is 1/2 exactly, but its ball always has a radius.
    weights = [0, f"-{x}", 0, f"-{x}"]
    half = 2 ** (bits - 1)
    for prefix, continuation, upper in ((half, LOW, True), (half - 1, HIGH, False), (half, HIGH, True)):
        stream = Scripted([word_of(prefix, bits)], continuation=continuation, prefix_bits=bits)
        monkeypatch.setattr("quincunx.noise.chance.source", lambda stream=stream: stream)
        assert (noise.choice(weights) >= 2) is upper
    monkeypatch.undo()
    with keyed(key_of(f"dyadic {x}"), prefix_bits=bits) as stream:
        counts = np.bincount(noise.choice(weights, size=2000), minlength=4)
        assert stream.fallbacks > 0 or bits > 4
    # 2,000 fair coins are 160 or more off their mean with probability at most 2·e^{−2·160²/2000} = 2e-11 (Hoeffding).
    assert abs(int(counts[0] + counts[1]) - 1000) < 160


@pytest.mark.parametrize("bits", [3, 20, 52])
def test_a_choice_is_right_to_the_last_of_64_more_bits(bits: int) -> None:
    with precision(512):
        third = ball(Fraction(1, 3)).exp() / (1 + ball(Fraction(1, 3)).exp())
        prefix, more = divmod(math.floor(exact_fraction((third * 2 ** (bits + 64)).mid())), 2**64)

    def cumulative() -> list[Ball]:
        return [ball(Fraction(1, 3)).exp() / (1 + ball(Fraction(1, 3)).exp())]

    for shift, expected in ((-1, 0), (1, 1)):
        stream = Scripted([word_of(prefix, bits)], continuation=more + shift, prefix_bits=bits)
        assert choose(stream, cumulative, 1).tolist() == [expected]
        assert stream.fallbacks == 1


def test_certain_coins_need_no_luck() -> None:
    assert noise.bernoulli(1, size=1000).all()
    assert not noise.bernoulli(0, size=1000).any()
    assert noise.bernoulli_exp(0, size=1000).all()
    assert noise.bernoulli(1) is True
    assert noise.bernoulli(0) is False
    with keyed(key_of("certain"), prefix_bits=1):
        assert noise.bernoulli(1, size=200).all()
        assert not noise.bernoulli(0, size=200).any()
        assert noise.bernoulli_exp(0, size=200).all()


@pytest.mark.parametrize("gamma", [10**4, 10**10, 10**30, 10**100, 10**300, "1e4000"], ids=lambda g: str(g)[:8])
def test_a_vanishing_coin_is_false_and_no_error(gamma: object) -> None:
    # e^−10000 is below 2^-14000.
    assert not noise.bernoulli_exp(gamma, size=50).any()
    assert noise.bernoulli_exp(gamma) is False


HUGE: list[tuple[list[object], set[int]]] = [
    ([10**300, 10**300], {0, 1}),
    ([3**200, 3**200], {0, 1}),
    ([3**200, 3**200 + 1], {0, 1}),
    (["1e400", "2e400"], {1}),
    (["2e400", "1e400"], {0}),
    (["-1e400", "-2e400"], {0}),
    ([0, 1e300], {1}),
    ([1e300, 0], {0}),
    ([0, -(10**40), 0], {0, 2}),
    ([Log("1e-4000"), Log("1e4000"), Log("1e4000")], {1, 2}),
    ([Log("1e4000"), 10**30, Log("1e4000")], {1}),
]


@pytest.mark.parametrize(("weights", "possible"), HUGE, ids=range(len(HUGE)))
def test_weights_of_any_size_choose_what_they_should(weights: list[object], possible: set[int]) -> None:
    with keyed(key_of("huge")):
        # Of two equal chances one is missed by 100 draws with probability 2^-99; e : 1 with (1/(1+e))… below 1e-13.
        assert set(noise.choice(weights, size=100).tolist()) == possible


def test_equal_weights_are_equal_exactly(monkeypatch: pytest.MonkeyPatch) -> None:
    for continuation in (LOW, HIGH):
        assert drawn_by(monkeypatch, 3, continuation, noise.choice, [0.1] * 4) == [0, 0, 1, 1, 2, 2, 3, 3]


def test_cumulative_sums_hardly_apart_are_decided(monkeypatch: pytest.MonkeyPatch) -> None:
    # Weights far below the table's precision sit between two equal ones: brackets of the table overlap.
    weights = [0, *([-400] * 50), 0]
    for continuation in CONTINUATIONS:
        chosen = drawn_by(monkeypatch, 6, continuation, noise.choice, weights)
        assert chosen == sorted(chosen)
        assert chosen[:31] == [0] * 31
        assert chosen[33:] == [51] * 31


def test_the_boundary_of_brackets_between_sums_is_decided_exactly() -> None:
    # F_1 and F_2 are 1/2 minus and plus less than the table's precision: neither bracket alone knows its side.
    tiny = Fraction(1, 2**300)

    def cumulative() -> list[Ball]:
        return [ball(Fraction(1, 2) - tiny), ball(Fraction(1, 2) + tiny)]

    for prefix, continuation, expected in ((7, HIGH, 0), (8, LOW, 2)):
        stream = Scripted([word_of(prefix, 4)], continuation=continuation, prefix_bits=4)
        assert choose(stream, cumulative, 1).tolist() == [expected]


BAD_P = [-1, 2, "1.0000000001", float("nan"), float("inf"), "abc", "", None, True, [1], "1/0"]
BAD_GAMMA = [-1, "-1e-300", float("nan"), float("inf"), "abc", "", None, True, [1], "1/0"]
BAD_WEIGHTS: list[object] = [[], (), [None], [True, 1], [float("nan")], [float("inf"), 0], [-float("inf"), 0], ["abc"]]
BAD_WEIGHTS += [[[1, 2]], [1, 2, "1/0"], None, 5, "12", {1: 2}, np.ones((2, 2))]


@pytest.mark.parametrize("size", [None, 3])
@pytest.mark.parametrize(
    ("sampler", "name", "value"),
    [(noise.bernoulli, "p", value) for value in BAD_P]
    + [(noise.bernoulli_exp, "gamma", value) for value in BAD_GAMMA]
    + [(noise.choice, "log_weights", value) for value in BAD_WEIGHTS],
    ids=lambda v: getattr(v, "__name__", None) or repr(v),
)
def test_bad_chances_are_refused_and_nothing_is_drawn(sampler: Any, name: str, value: object, size: Any) -> None:
    with keyed(key_of("untouched")) as stream:
        with pytest.raises(ParameterError) as refusal:
            sampler(value, size=size)
        assert refusal.value.where == name
        assert stream.integer(64) == KeyedBits(key_of("untouched")).integer(64)


def test_weights_may_be_an_array_or_a_tuple() -> None:
    with keyed(key_of("array")):
        expected = noise.choice([0.5, 1.0, 0.0], size=50)
    for weights in (np.array([0.5, 1.0, 0.0]), (0.5, 1, "0")):
        with keyed(key_of("array")):
            assert np.array_equal(noise.choice(weights, size=50), expected)


def test_many_weights() -> None:
    with keyed(key_of("many")):
        drawn = noise.choice([0] * 1000, size=20_000)
    assert drawn.min() >= 0
    assert drawn.max() < 1000
    # A given index is missed by 20,000 draws with probability e^−20; more than 10 of 1,000 missing has (2e-6)^11/11!.
    assert len(np.unique(drawn)) >= 990
