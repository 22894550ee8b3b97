"""Samplers: one output for each call, or many at a time."""

from __future__ import annotations

import numpy as np
import pytest

from quincunx.audit.blackbox.sampler import Raised, Sampler, shown
from quincunx.errors import DataError, ParameterError


def plus_one(x: int) -> int:
    return x + 1


def moody(x: int) -> int:
    if x < 0:
        raise ValueError(f"negative at {id(object())}")
    return x


def test_one_output_for_each_call() -> None:
    sampler = Sampler.read(plus_one)
    assert sampler.draw(1, 3) == [2, 2, 2]
    assert sampler.name == "plus_one"
    assert not sampler.vectorised
    assert Sampler.read(sampler) is sampler
    assert Sampler.one(plus_one, "my name").name == "my name"
    assert Sampler.one(np.sin).draw(0.0, 2) == [0.0, 0.0]


def test_many_at_a_time() -> None:
    sampler = Sampler.many(lambda x, size: np.full((size, 2), x), "twins")
    assert sampler.draw(3, 4).shape == (4, 2)  # type: ignore[attr-defined]
    assert sampler.vectorised
    assert sampler.name == "twins"
    assert Sampler.many(lambda x, size: [x] * size).draw("a", 2) == ["a", "a"]


def test_an_exception_is_an_output_with_its_type() -> None:
    outputs = Sampler.read(moody).draw(-1, 2)
    assert outputs[0] == outputs[1] == Raised("ValueError")
    assert hash(outputs[0]) == hash(outputs[1])
    assert outputs[0] != Raised("TypeError")
    assert outputs[0] != "ValueError"
    assert repr(outputs[0]) == "raises ValueError"
    assert outputs[0].message.startswith("negative at")


def test_an_interrupt_is_not_an_output() -> None:
    def stop(_: object) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Sampler.read(stop).draw(0, 1)


@pytest.mark.parametrize(
    ("function", "what", "got"),
    [
        (lambda _, size: np.zeros(size + 1), "a vectorised callable returns 5 outputs", "6 outputs"),
        (lambda *_: 1.0, "a vectorised callable returns 5 outputs", "float"),
        (lambda *_: {1, 2, 3, 4, 5}, "a vectorised callable returns 5 outputs", "5 outputs"),
        (lambda *_: 1 / 0, "the vectorised callable raised", "ZeroDivisionError: division by zero"),
        (lambda x: x, "the vectorised callable raised", None),
    ],
)
def test_a_vectorised_callable_keeps_its_word(function: object, what: str, got: str | None) -> None:
    with pytest.raises(DataError) as caught:
        Sampler.many(function, "mine").draw([1, 2], 5)  # type: ignore[arg-type]
    assert caught.value.what == what
    assert caught.value.where == "mine([1, 2], 5)"
    assert got is None or caught.value.got == got


@pytest.mark.parametrize("given", [None, 1, "text", [1]])
def test_what_is_not_callable_is_refused(given: object) -> None:
    with pytest.raises(ParameterError, match="expected a callable"):
        Sampler.read(given)


def test_inputs_are_shown_short() -> None:
    assert shown([1, 2]) == "[1, 2]"
    assert shown(np.zeros((2, 2))) == "array([[0., 0.], [0., 0.]])"
    assert len(shown(list(range(1000)))) == 80
