"""Outputs of any kind as columns and labels."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from quincunx.audit.blackbox.outputs import Batch, Layout
from quincunx.audit.blackbox.sampler import Raised
from quincunx.errors import DataError

NAN = float("nan")


def read(*outputs: object) -> tuple[tuple[str, ...], list[list[float]], list[object]]:
    layout = Layout.learn([(outputs, "here")])
    batch = layout.read(outputs, "here")
    return layout.names, batch.rows.tolist(), list(batch.labels)


def same(a: list[list[float]], b: list[list[float]]) -> bool:
    return np.array_equal(np.array(a, dtype=float), np.array(b, dtype=float), equal_nan=True)


@pytest.mark.parametrize("value", [2, 2.0, True, np.int64(2), np.float32(2), np.bool_(True), Fraction(2), Decimal(2)])
def test_numbers_are_one_column(value: object) -> None:
    names, rows, labels = read(value, value)
    assert names == ("output",)
    assert rows == [[float(value)]] * 2  # type: ignore[arg-type]
    assert labels == []


@pytest.mark.parametrize("make", [tuple, np.array])
def test_vectors_have_a_column_for_each_coordinate(make: Any) -> None:
    names, rows, labels = read(make([1, 2.5]), make([3, 4]))
    assert names == ("output[0]", "output[1]")
    assert rows == [[1.0, 2.5], [3.0, 4.0]]
    assert labels == []


def test_arrays_of_several_dimensions() -> None:
    names, rows, _ = read(np.arange(4).reshape(2, 2), np.arange(4).reshape(2, 2))
    assert names == ("output[0, 0]", "output[0, 1]", "output[1, 0]", "output[1, 1]")
    assert rows[0] == [0, 1, 2, 3]


@pytest.mark.parametrize("shape", [(7,), (7, 3), (7, 2, 2)])
def test_vectorised_outputs_read_as_the_same_columns(shape: tuple[int, ...]) -> None:
    array = np.arange(float(np.prod(shape))).reshape(shape)
    whole = Layout.learn([(array, "here")])
    parts: Sequence[Any] = array.tolist() if len(shape) == 1 else list(array)
    single = Layout.learn([(parts, "here")])
    assert whole == single
    assert same(whole.read(array, "here").rows.tolist(), single.read(parts, "here").rows.tolist())


def test_lists_may_vary_in_length() -> None:
    names, rows, labels = read([1, 2], [3], [])
    assert names == ("len(output)", "output[0]", "output[1]")
    assert same(rows, [[2, 1, 2], [1, 3, NAN], [0, NAN, NAN]])
    assert len(set(labels)) == 3


def test_mappings_have_a_column_and_a_presence_for_each_key() -> None:
    names, rows, labels = read({"a": 1, "b": "text"}, {"a": 2})
    assert names == ("len(output)", "'a' in output", "'b' in output", "output['a']")
    assert same(rows, [[2, 1, 1, 1], [1, 1, NAN, 2]])
    assert len(set(labels)) == 2
    _, _, other = read({"b": "text", "a": 1})
    assert other[0] == labels[0]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("a", "b"),
        (None, "none"),
        (Raised("A"), Raised("B")),
        ({1, 2}, {1, 3}),
        (("a", 1), ("a", 2)),
        (b"a", b"b"),
        (complex(1, 2), complex(1, 3)),
        (["a", ["b"]], ["a", ["c"]]),
        (10**400, 10**401),
        (np.array(["a"]), np.array(["b"])),
    ],
)
def test_other_values_have_labels(first: object, second: object) -> None:
    _, _, labels = read(first, second, first)
    assert labels[0] == labels[2] != labels[1]
    assert None not in labels
    assert len({*labels}) == 2


def test_numbers_beside_labels() -> None:
    names, rows, labels = read(1.5, None, Raised("ValueError"), "text")
    assert names == ("output", "len(output)")
    assert same(rows, [[1.5, NAN], [NAN, NAN], [NAN, NAN], [NAN, 4]])
    assert labels == [None, "None", Raised("ValueError"), "text"]


def test_not_a_number_and_infinite_are_numbers() -> None:
    _, rows, labels = read(NAN, float("inf"), -float("inf"))
    assert same(rows, [[NAN], [np.inf], [-np.inf]])
    assert labels == []


@pytest.mark.parametrize(
    ("outputs", "got"),
    [
        (((1, 2, 3), (1, 2, 3, 4)), "3 numbers, then 4 numbers"),
        ((1.0, (1.0,)), "a number, then 1 numbers"),
        ((np.zeros((2, 2)), np.zeros(2)), "an array of shape (2, 2), then 2 numbers"),
        ((np.zeros(3), np.zeros(4)), "3 numbers, then 4 numbers"),
    ],
)
def test_a_change_of_shape_is_an_error(outputs: tuple[object, ...], got: str) -> None:
    with pytest.raises(DataError) as caught:
        Layout.learn([(outputs, "mine(0)")])
    assert (caught.value.what, caught.value.where, caught.value.got) == (
        "the outputs change their shape",
        "mine(0)",
        got,
    )
    layout = Layout.learn([(outputs[:1], "mine(0)")])
    for later in (outputs[1:], outputs):
        with pytest.raises(DataError, match="the outputs change their shape"):
            layout.read(later, "mine(1)")


def test_a_change_of_shape_between_the_inputs_is_an_error_too() -> None:
    with pytest.raises(DataError) as caught:
        Layout.learn([(np.zeros((5, 3)), "mine(0)"), (np.zeros((5, 4)), "mine(1)")])
    assert caught.value.where == "mine(1)"


def test_what_was_never_seen_while_learning_can_still_be_read() -> None:
    layout = Layout.learn([([1.0, 2.0], "here")])
    batch = layout.read([1.0, "late", {"a": 1}], "here")
    assert same(batch.rows.tolist(), [[1.0], [NAN], [NAN]])
    assert [label is None for label in batch.labels] == [True, False, False]
    texts = Layout.learn([(["a", "b"], "here")])
    assert texts.shape is None
    late = texts.read([1.0, 2.0], "here")
    assert late.rows.shape == (2, 1)
    assert np.isnan(late.rows).all()
    assert late.labels == ()


def test_many_columns_are_cut() -> None:
    layout = Layout.learn([(np.zeros((3, 500)), "here")])
    assert len(layout.names) == 64
    assert layout.read(np.zeros((3, 500)), "here").rows.shape == (3, 64)
    keys = Layout.learn([([{i: i for i in range(500)}], "here")])
    assert len(keys.names) == 64
    assert len(Batch(np.zeros((3, 2)))) == 3
