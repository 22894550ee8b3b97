"""The public face of the geometric, discrete Laplace and rounded Laplace samplers."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from quincunx import noise
from quincunx.errors import ParameterError
from quincunx.noise.testing import KeyedBits, key_of, keyed

SAMPLERS = [noise.geometric, noise.discrete_laplace, noise.rounded_laplace]
INT64_MAX = 2**63 - 1


@pytest.fixture(params=SAMPLERS, ids=lambda s: s.__name__)
def sampler(request: pytest.FixtureRequest) -> Callable[..., Any]:
    return request.param


BAD = [0, -1, 0.0, -0.0, "-1/3", float("nan"), float("inf"), float("-inf"), "abc", "", None, True, [1], 1j, "1/0", b"1"]


@pytest.mark.parametrize("size", [None, 3])
@pytest.mark.parametrize("scale", BAD, ids=repr)
def test_bad_scales_are_refused_and_nothing_is_drawn(sampler: Callable[..., Any], scale: object, size: Any) -> None:
    with keyed(key_of("untouched")) as stream:
        with pytest.raises(ParameterError) as refusal:
            sampler(scale, size=size)
        assert refusal.value.where == "scale"
        assert stream.integer(64) == KeyedBits(key_of("untouched")).integer(64)


@pytest.mark.parametrize("scale", [2.5, "2.5", "5/2", Decimal("2.5"), Fraction(5, 2), np.float32(2.5)], ids=repr)
def test_one_number_typed_in_many_ways_is_one_law(sampler: Callable[..., Any], scale: object) -> None:
    with keyed(key_of("ways")):
        expected = sampler(2.5, size=100)
    with keyed(key_of("ways")):
        assert np.array_equal(sampler(scale, size=100), expected)


@pytest.mark.parametrize("scale", [10**19, 1e25, 1e100, 1e300, 1e306, 1.7e308, "1e400", "1e1000"], ids=str)
def test_huge_scales_are_clamped_and_never_wrapped(sampler: Callable[..., Any], scale: object) -> None:
    with keyed(key_of("huge")):
        many = sampler(scale, size=60)
        ones = [sampler(scale) for _ in range(20)]
    signed = sampler is not noise.geometric
    assert many.dtype == np.int64
    # At 10^19 the chance of staying below 2^63 is 1 − e^−0.92 = 0.6 a draw; all 60 do with probability below 1e-13.
    assert INT64_MAX in many
    assert (-INT64_MAX in many) == signed
    assert many.min() >= (-INT64_MAX if signed else 0)
    assert INT64_MAX in ones
    assert all(type(one) is int and -INT64_MAX <= one <= INT64_MAX for one in ones)


@pytest.mark.parametrize("scale", ["1e-3", "1e-16", "1e-300", "1e-320", "1e-1000"])
def test_tiny_scales_are_zero(sampler: Callable[..., Any], scale: str) -> None:
    # P(≠ 0) ≤ 2·e^{−1/2t} = 2·e^−500 at t = 1/1000.
    assert not sampler(scale, size=50).any()
    assert sampler(scale) == 0


def test_geometric_is_never_negative() -> None:
    with keyed(key_of("geometric")):
        assert noise.geometric(3, size=10_000).min() == 0


@pytest.mark.parametrize("scale", ["1/100", "1/3", 1, 20, "1e9"])
def test_scalar_and_vector_draws_are_the_same_from_the_same_words(sampler: Callable[..., Any], scale: object) -> None:
    with keyed(key_of("both")) as stream:
        many = sampler(scale, size=200)
        assert stream.fallbacks == 0
    with keyed(key_of("both")):
        assert [sampler(scale) for _ in range(200)] == many.tolist()


def test_results_are_writable_and_own_their_memory(sampler: Callable[..., Any]) -> None:
    values = sampler(2, size=(3, 4))
    values += 1
    assert values.flags.writeable
