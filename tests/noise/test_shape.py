"""What `size` means, for every sampler alike."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from quincunx import noise
from quincunx.errors import ParameterError
from quincunx.noise.testing import KeyedBits, key_of, keyed

SAMPLERS: dict[str, Callable[..., Any]] = {
    "geometric": lambda size: noise.geometric(2, size),
    "discrete_laplace": lambda size: noise.discrete_laplace(2, size),
    "rounded_laplace": lambda size: noise.rounded_laplace(2, size),
    "discrete_gaussian": lambda size: noise.discrete_gaussian(2, size),
    "rounded_gaussian": lambda size: noise.rounded_gaussian(2, size),
    "bernoulli": lambda size: noise.bernoulli("1/3", size),
    "bernoulli_exp": lambda size: noise.bernoulli_exp(1, size),
    "choice": lambda size: noise.choice([0, 1, 2], size),
    "uniform_integers": lambda size: noise.uniform_integers(6, size),
}


@pytest.fixture(params=SAMPLERS, ids=list(SAMPLERS))
def sampler(request: pytest.FixtureRequest) -> tuple[str, Callable[..., Any]]:
    return request.param, SAMPLERS[request.param]


SHAPES = [
    (0, (0,)),
    (1, (1,)),
    (7, (7,)),
    (np.int64(7), (7,)),
    (np.uint8(7), (7,)),
    ((), ()),
    ((3,), (3,)),
    ((2, 3), (2, 3)),
    ((2, 0, 3), (2, 0, 3)),
    ((np.int32(2), 3), (2, 3)),
    (16_385, (16_385,)),
]


@pytest.mark.parametrize(("size", "shape"), SHAPES, ids=str)
def test_shapes_and_dtypes(sampler: tuple[str, Callable[..., Any]], size: Any, shape: tuple[int, ...]) -> None:
    name, draw = sampler
    values = draw(size)
    assert isinstance(values, np.ndarray)
    assert values.shape == shape
    assert values.dtype == (np.bool_ if name.startswith("bernoulli") else np.int64)


def test_none_is_one_python_value(sampler: tuple[str, Callable[..., Any]]) -> None:
    name, draw = sampler
    assert type(draw(None)) is (bool if name.startswith("bernoulli") else int)


def test_a_shape_is_filled_in_order(sampler: tuple[str, Callable[..., Any]]) -> None:
    _, draw = sampler
    with keyed(key_of("order")):
        flat = draw(24)
    with keyed(key_of("order")):
        shaped = draw((2, 3, 4))
    assert np.array_equal(flat.reshape(2, 3, 4), shaped)


BAD = [True, False, np.True_, -1, np.int64(-1), 2.0, np.float64(2), "3", [3], (2, -1), (2, True), (2, 3.0), ((2,),)]
BAD += [(None,), np.array(3), np.array([3]), {3}, 1j, b"3", 2**63, 2**70, (2**40, 2**40)]


@pytest.mark.parametrize("size", BAD, ids=repr)
def test_other_sizes_are_refused_and_nothing_is_drawn(sampler: tuple[str, Callable[..., Any]], size: Any) -> None:
    _, draw = sampler
    with keyed(key_of("untouched")) as stream:
        with pytest.raises(ParameterError) as refusal:
            draw(size)
        assert refusal.value.where == "size"
        assert refusal.value.got
        assert refusal.value.hint
        assert stream.words(1)[0] == KeyedBits(key_of("untouched")).words(1)[0]
