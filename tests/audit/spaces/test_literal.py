"""What is written can be pasted: it evaluates to the same value again."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from quincunx.audit.spaces.literal import literal

plain = st.one_of(st.integers(), st.floats(), st.text(max_size=4), st.none(), st.booleans())
nested = st.recursive(
    plain,
    lambda inner: st.one_of(
        st.lists(inner, max_size=12), st.lists(inner, max_size=12).map(tuple), st.dictionaries(st.text(), inner)
    ),
    max_leaves=20,
)


def evaluated(text: str) -> Any:
    return eval(text, {"np": np, "float": float, "frozenset": frozenset, "set": set})


@given(nested)
def test_it_gives_the_value_again(value: object) -> None:
    assert literal(evaluated(literal(value))) == literal(value)
    assert type(evaluated(literal(value))) is type(value)


@given(st.lists(st.sampled_from([1, 2]), max_size=40))
def test_heaps_are_products_of_the_same_length(value: list[int]) -> None:
    assert evaluated(literal(value)) == value
    assert evaluated(literal(tuple(value))) == tuple(value)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (math.nan, 'float("nan")'),
        (-math.inf, 'float("-inf")'),
        (np.float64("nan"), 'np.float64("nan")'),
        (np.float32(0.5), "np.float32(0.5)"),
        (np.array([1, 2]), "np.array([1, 2], dtype='int64')"),
        ([7] * 1000, "[7] * 1000"),
        ([1, *[7] * 4, 2], "[1] + [7] * 4 + [2]"),
        ((), "()"),
        ((1,), "(1,)"),
        ({2, 1}, "{1, 2}"),
        (set(), "set()"),
        (frozenset({"a"}), "frozenset({'a'})"),
        (frozenset(), "frozenset()"),
    ],
    ids=str,
)
def test_forms(value: object, text: str) -> None:
    assert literal(value) == text
    assert repr(evaluated(text)) == repr(value)


def test_a_long_array_is_written_in_full() -> None:
    assert literal(np.zeros(5_000)) == "np.array([0.0] * 5000, dtype='float64')"
