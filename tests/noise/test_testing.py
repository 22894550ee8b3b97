"""Injected keys: repeatable, nested, never by accident."""

from __future__ import annotations

import pytest

import quincunx
from quincunx import noise
from quincunx.errors import ParameterError
from quincunx.noise.bits import source
from quincunx.noise.testing import KeyedBits, key_of, keyed


def draw() -> list[int]:
    return [int(value) for value in noise.discrete_laplace(1000, size=20)]


def test_the_same_key_gives_the_same_draws_and_another_key_others() -> None:
    with keyed(key_of("one")):
        first = draw()
    with keyed(key_of("one")):
        again = draw()
    with keyed(key_of("two")):
        other = draw()
    assert first == again != other
    assert draw() != first


def test_a_block_goes_on_and_does_not_start_again() -> None:
    with keyed(key_of("one")):
        assert draw() != draw()


def test_blocks_nest_and_the_outer_stream_goes_on_where_it_was() -> None:
    with keyed(key_of("outer")):
        expected = [draw(), draw()]
    with keyed(key_of("outer")) as outer:
        first = draw()
        with keyed(key_of("inner")) as inner:
            assert source() is inner
            draw()
        assert source() is outer
        assert [first, draw()] == expected
    assert not noise.injected()


def test_an_exception_ends_the_block() -> None:
    with pytest.raises(KeyError), keyed(key_of("x")):
        raise KeyError
    assert not noise.injected()


@pytest.mark.parametrize(
    "key", [b"", b"short", bytes(31), bytes(33), "a" * 32, bytearray(32), None, 7], ids=lambda k: type(k).__name__
)
def test_a_key_is_32_bytes(key: object) -> None:
    with pytest.raises(ParameterError, match="32 bytes") as refusal, keyed(key):  # type: ignore[arg-type]
        pass
    assert refusal.value.where == "key"
    assert refusal.value.hint
    assert not noise.injected()


@pytest.mark.parametrize("prefix_bits", [0, -1, 53, 64, 1000])
def test_a_prefix_is_1_to_52_bits(prefix_bits: int) -> None:
    with pytest.raises(ParameterError) as refusal, keyed(key_of("x"), prefix_bits=prefix_bits):
        pass
    assert refusal.value.where == "prefix_bits"


@pytest.mark.parametrize("prefix_bits", [4.0, "4", True])
def test_a_prefix_is_a_whole_number(prefix_bits: object) -> None:
    with pytest.raises(ParameterError) as refusal, keyed(key_of("x"), prefix_bits=prefix_bits):  # type: ignore[arg-type]
        pass
    assert refusal.value.where == "prefix_bits"


@pytest.mark.parametrize("prefix_bits", range(1, 53))
def test_every_width_of_the_filter_works(prefix_bits: int) -> None:
    with keyed(key_of("widths"), prefix_bits=prefix_bits) as stream:
        assert stream.prefix_bits == prefix_bits
        for sampler in (noise.geometric, noise.discrete_laplace, noise.rounded_laplace):
            assert sampler(3, size=4).shape == (4,)
            assert isinstance(sampler(3), int)
        for sampler in (noise.discrete_gaussian, noise.rounded_gaussian):
            assert sampler(3, size=4).shape == (4,)
            assert isinstance(sampler(3), int)
        assert set(noise.choice([0, 1, 2], size=10)) <= {0, 1, 2}
        assert sorted(noise.permutation(5)) == [0, 1, 2, 3, 4]


def test_a_given_stream_keeps_its_own_width_or_the_conflict_is_refused() -> None:
    stream = KeyedBits(key_of("x"), prefix_bits=7)
    with keyed(stream) as used:
        assert used is stream
        assert used.prefix_bits == 7
    with pytest.raises(ParameterError), keyed(KeyedBits(key_of("x")), prefix_bits=4):
        pass


def test_substreams_are_named_repeatable_and_independent_of_use() -> None:
    parent = KeyedBits(key_of("parent"), prefix_bits=9)
    first = parent.substream("a").words(8).tolist()
    parent.words(100)
    assert parent.substream("a").words(8).tolist() == first
    assert parent.substream("a").prefix_bits == 9
    others = [parent.substream("b"), parent.substream("a").substream("a"), KeyedBits(key_of("a"))]
    assert len({tuple(other.words(8).tolist()) for other in others} | {tuple(first)}) == 4
    with keyed(parent.substream("a")) as stream:
        assert stream.injected


def test_keys_of_names() -> None:
    assert len(key_of("")) == 32
    assert key_of("a") != key_of("b") != key_of("a", b"parent")
    assert key_of("ä") == key_of("ä")
    assert key_of("b", key_of("a")) != key_of("a", key_of("b"))


def test_injection_is_not_exported_from_the_top() -> None:
    assert not hasattr(quincunx, "keyed")
    assert not hasattr(quincunx, "KeyedBits")
    assert not hasattr(noise, "keyed")


def test_fallbacks_are_counted() -> None:
    with keyed(key_of("count"), prefix_bits=4) as narrow:
        noise.discrete_laplace(100, size=200)
        assert narrow.fallbacks == 200
    with keyed(key_of("count")) as wide:
        noise.discrete_laplace(100, size=200)
        assert wide.fallbacks == 0
