"""Mondrian: every claim of its note on random tables, against a plain reference, and on real ones."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from quincunx.attack.mondrian import Classes, mondrian
from quincunx.errors import DataError, ParameterError

Columns = Mapping[str, Sequence[Any]]


@st.composite
def tables(draw: st.DrawFn) -> tuple[dict[str, list[Any]], int]:
    """Up to 40 rows of up to four attributes: few and many values, negative numbers, fractions, texts."""
    rows = draw(st.integers(1, 40))
    kinds = [
        st.integers(-3, 3),
        st.integers(-(10**6), 10**6),
        st.sampled_from(["b", "a", "zz", "Z"]),
        st.sampled_from([0.0, 0.5, 1e-9, -2.25, 1e6]),
        st.booleans(),
    ]
    columns = {
        f"c{i}": draw(st.lists(draw(st.sampled_from(kinds)), min_size=rows, max_size=rows))
        for i in range(draw(st.integers(1, 4)))
    }
    return columns, draw(st.integers(1, min(rows, 12)))


def check(columns: Columns, k: int, classes: Classes) -> None:
    """The three claims of the note."""
    arrays = [np.unique(np.asarray(values), return_inverse=True) for values in columns.values()]
    codes = np.stack([inverse for _, inverse in arrays], axis=1)
    rows, count = codes.shape[0], classes.sizes.size
    # 1: a partition of all rows into classes of at least k.
    assert classes.label.shape == (rows,)
    assert classes.sizes.sum() == rows
    assert classes.sizes.min() >= k
    assert classes.k == k
    low, high = (
        np.stack([np.searchsorted(arrays[i][0], ends[name]) for i, name in enumerate(columns)], axis=1)
        for ends in (classes.low, classes.high)
    )
    for number in range(count):
        inside = codes[classes.label == number]
        assert (inside.min(axis=0) == low[number]).all()
        assert (inside.max(axis=0) == high[number]).all()
        # 3: no allowable cut is left.
        for column in inside.T:
            upto = np.array([(column <= value).sum() for value in np.unique(column)])
            assert not ((upto >= k) & (column.size - upto >= k)).any()
    # 2: boxes are disjoint.
    for number in range(count):
        meets = ((low <= high[number]) & (high >= low[number])).all(axis=1)
        assert meets.sum() == 1


def reference(columns: Columns, k: int) -> set[frozenset[int]]:
    """The same algorithm, one box at a time, in plain Python."""
    names = list(columns)
    distinct = {name: sorted(set(columns[name])) for name in names}

    def place(name: str, value: Any) -> float:
        values = distinct[name]
        if isinstance(value, str):
            return values.index(value) / max(1, len(values) - 1)
        return (float(value) / 2 - float(values[0]) / 2) / ((float(values[-1]) / 2 - float(values[0]) / 2) or 1)

    def width(name: str, box: list[int]) -> float:
        inside = [columns[name][row] for row in box]
        low, high = min(inside), max(inside)
        return place(name, high) - place(name, low) if low < high else -1.0

    def cut(box: list[int]) -> list[list[int]]:
        for name in sorted(names, key=lambda name: -width(name, box)):
            inside = sorted(columns[name][row] for row in box)
            median = inside[(len(inside) - 1) // 2]
            sides = []
            for left in ([r for r in box if columns[name][r] <= median], [r for r in box if columns[name][r] < median]):
                right = [row for row in box if row not in set(left)]
                sides.append((min(len(left), len(right)), left, right))
            best = max(sides, key=lambda side: side[0])
            if best[0] >= k:
                return cut(best[1]) + cut(best[2])
        return [box]

    return {frozenset(box) for box in cut(list(range(len(columns[names[0]]))))}


def members(classes: Classes) -> set[frozenset[int]]:
    return {frozenset(np.flatnonzero(classes.label == number).tolist()) for number in range(classes.sizes.size)}


@settings(max_examples=120)
@given(tables())
def test_every_class_has_k_rows_boxes_are_disjoint_and_no_cut_is_left(table: tuple[dict[str, list[Any]], int]) -> None:
    columns, k = table
    check(columns, k, mondrian(columns, k))


@settings(max_examples=120)
@given(tables())
def test_it_is_the_plain_algorithm(table: tuple[dict[str, list[Any]], int]) -> None:
    columns, k = table
    assert members(mondrian(columns, k)) == reference(columns, k)


@pytest.mark.parametrize("k", [1, 2, 3])
def test_every_small_table(k: int) -> None:
    # All tables of up to six rows with one attribute of three values, and of four rows with two attributes of two or
    # three; the order of rows does not matter to the sizes, so sorted ones are enough.
    for rows in range(k, 7):
        for values in itertools.combinations_with_replacement(range(3), rows):
            columns = {"x": list(values)}
            check(columns, k, mondrian(columns, k))
            assert members(mondrian(columns, k)) == reference(columns, k)
    points = list(itertools.product(range(2), "abc"))
    for chosen in itertools.combinations_with_replacement(points, 4):
        columns = {"x": [x for x, _ in chosen], "y": [y for _, y in chosen]}
        check(columns, k, mondrian(columns, k))
        assert members(mondrian(columns, k)) == reference(columns, k)


def test_the_order_of_rows_does_not_matter() -> None:
    draw = np.random.default_rng(8)
    columns = {"x": draw.integers(0, 20, 200), "y": draw.choice(["a", "b", "c", "d"], 200)}
    order = draw.permutation(200)
    moved = mondrian({name: values[order] for name, values in columns.items()}, 5)
    back = {frozenset(order[list(rows)].tolist()) for rows in members(moved)}
    assert back == members(mondrian(columns, 5))


def test_the_attacker_finds_the_class_of_everybody() -> None:
    # Whoever knows the attributes of a row knows its class: no other box holds them.
    draw = np.random.default_rng(9)
    columns = {"age": draw.integers(18, 90, 400), "zip": draw.choice(["19", "30", "53"], 400)}
    classes = mondrian(columns, 4)
    for row in range(400):
        inside = np.logical_and.reduce(
            [(classes.low[n] <= columns[n][row]) & (columns[n][row] <= classes.high[n]) for n in columns]
        )
        assert np.flatnonzero(inside).tolist() == [classes.label[row]]


def test_three_attributes_by_hand() -> None:
    # All three are equally wide: age is first, its median 26 leaves three on each side, and three are not cut.
    age, sex = [25, 25, 26, 27, 27, 28], ["male", "female", "male", "male", "female", "male"]
    code = [53711, 53712, 53711, 53710, 53712, 53711]
    classes = mondrian({"age": age, "sex": sex, "zip code": code}, 2)
    assert members(classes) == {frozenset({0, 1, 2}), frozenset({3, 4, 5})}
    assert classes.low["zip code"].tolist() == [53711, 53710]
    assert classes.high["age"].tolist() == [26, 28]
    # Where sex is first, the four men are cut by their ages.
    classes = mondrian({"sex": sex, "age": age, "zip code": code}, 2)
    assert members(classes) == {frozenset({1, 4}), frozenset({0, 2}), frozenset({3, 5})}


def test_the_widest_attribute_is_cut_first() -> None:
    # Both spread over the whole of their range: the first is taken; then the second.
    square = {"x": [0, 0, 9, 9], "y": [0, 9, 0, 9]}
    classes = mondrian(square, 2)
    assert members(classes) == {frozenset({0, 1}), frozenset({2, 3})}
    assert classes.low["x"].tolist() == classes.high["x"].tolist() == [0, 9]
    assert members(mondrian({"y": square["y"], "x": square["x"]}, 2)) == {frozenset({0, 2}), frozenset({1, 3})}


def test_a_cut_before_the_median_is_found() -> None:
    # The median is the largest value: "≤ median" leaves nobody on the right.
    assert sorted(mondrian({"x": [0, 0, 5, 5, 5]}, 2).sizes.tolist()) == [2, 3]
    assert mondrian({"x": [0, 5, 5, 5, 5]}, 2).sizes.tolist() == [5]


def test_another_attribute_is_tried_where_the_widest_cannot_be_cut() -> None:
    columns = {"x": [0, 0, 0, 0, 0, 0, 0, 99], "y": [1, 1, 1, 1, 2, 2, 2, 2], "far": [0, 100, 0, 100, 0, 100, 0, 100]}
    check(columns, 3, mondrian(columns, 3))
    assert mondrian(columns, 3).sizes.tolist() == [4, 4]


@pytest.mark.parametrize("k", [1, 4, 8])
def test_equal_rows_are_one_class(k: int) -> None:
    classes = mondrian({"x": [7] * 8, "y": ["a"] * 8}, k)
    assert classes.sizes.tolist() == [8]
    assert classes.low["y"].tolist() == ["a"]


def test_k_of_one_separates_all_that_differ() -> None:
    values = [3, 1, 2, 1, 3, 3]
    assert members(mondrian({"x": values}, 1)) == {frozenset({0, 4, 5}), frozenset({1, 3}), frozenset({2})}


def test_numbers_dates_truths_and_texts_are_ordered() -> None:
    days = np.array(["2024-01-01", "2024-01-02", "2024-06-01", "2024-06-02"], dtype="datetime64[D]")
    classes = mondrian({"day": days}, 2)
    assert members(classes) == {frozenset({0, 1}), frozenset({2, 3})}
    assert classes.high["day"].dtype == days.dtype
    assert mondrian({"x": [2**62, -(2**62), 2**62, -(2**62)]}, 2).sizes.tolist() == [2, 2]
    assert mondrian({"x": np.array([1e308, -1e308, 1e308, -1e308])}, 2).sizes.tolist() == [2, 2]
    assert mondrian({"x": np.array(["b", "a", "b", "a"], dtype=object)}, 2).sizes.tolist() == [2, 2]
    assert mondrian({"x": [True, False, True, False]}, 2).sizes.tolist() == [2, 2]


@pytest.mark.parametrize(
    ("columns", "k", "words"),
    [
        ({}, 2, "columns of one length; got no column"),
        ({"x": [1, 2], "y": [1]}, 2, "columns of one length; got 2 different lengths"),
        ({"x": [1, 2]}, 3, "fewer than k = 3 rows"),
        ({"x": []}, 1, "fewer than k = 1 rows"),
        ({"x": [1.0, float("nan")]}, 1, "column 'x': has missing or infinite values"),
        ({"x": [1.0, float("inf")]}, 1, "column 'x': has missing or infinite values"),
        ({"x": np.array(["2024-01-01", "NaT"], dtype="datetime64[D]")}, 1, "missing or infinite"),
        ({"x": [1, None]}, 1, "column 'x': cannot be put in order"),
        ({"x": ["a", None]}, 1, "column 'x': cannot be put in order"),
        ({"x": [[1, 2], [3, 4]]}, 1, "2 dimensions"),
        ({"x": [1j, 2j]}, 1, "complex128"),
    ],
)
def test_bad_tables_are_refused(columns: dict[str, Any], k: int, words: str) -> None:
    with pytest.raises(DataError, match=r"^(mondrian|column)") as caught:
        mondrian(columns, k)
    assert words in str(caught.value)


@pytest.mark.parametrize("k", [0, -1, 1.5, "two", None, True])
def test_bad_k_is_refused(k: object) -> None:
    with pytest.raises(ParameterError, match="k"):
        mondrian({"x": [1, 2, 3]}, k)


def test_larger_tables_keep_the_claims() -> None:
    draw = np.random.default_rng(5)
    columns = {
        "age": draw.integers(0, 90, 3000),
        "sex": draw.choice(["f", "m"], 3000),
        "place": draw.geometric(0.1, 3000),
        "same": np.zeros(3000),
    }
    for k in (2, 5, 25):
        check(columns, k, mondrian(columns, k))
