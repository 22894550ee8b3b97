"""Counting every population that agrees with published counts: against brute force, and by hand."""

from __future__ import annotations

from itertools import product
from math import comb, factorial, log, prod

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from quincunx.attack import consistent as module
from quincunx.attack.consistent import _reduced, best_guess, consistent, tail
from quincunx.errors import DataError


def brute(rows: NDArray[np.int64], counts: NDArray[np.int64]) -> list[tuple[int, ...]]:
    """Every population that agrees, by trying all."""
    most = [min(int(counts[r]) for r in range(len(rows)) if rows[r, c]) for c in range(rows.shape[1])]
    every = product(*(range(each + 1) for each in most))
    return [each for each in every if (rows @ np.array(each) == counts).all()]


@st.composite
def worlds(draw: st.DrawFn) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Rows that hold every cell, and counts: true ones, or true ones that were changed a little."""
    cells, height = draw(st.integers(1, 5)), draw(st.integers(1, 5))
    bits = st.lists(st.integers(0, 1), min_size=cells, max_size=cells)
    rows = np.array(draw(st.lists(bits, min_size=height, max_size=height)), dtype=np.int64)
    rows[0, rows.sum(axis=0) == 0] = 1
    people = np.array(draw(st.lists(st.integers(0, 3), min_size=cells, max_size=cells)))
    counts = rows @ people
    if draw(st.booleans()):
        changes = st.lists(st.integers(-1, 1), min_size=height, max_size=height)
        counts = np.maximum(0, counts + np.array(draw(changes)))
    return rows, counts.astype(np.int64)


@settings(max_examples=120)
@given(worlds())
def test_every_population_is_counted_once(world: tuple[NDArray[np.int64], NDArray[np.int64]]) -> None:
    rows, counts = world
    every, found = brute(rows, counts), consistent(rows, counts, np.ones(rows.shape[1]))
    if not every:
        assert found is None
        return
    assert found is not None
    assert found.solutions == len(every)
    assert found.least == tuple(map(min, zip(*every, strict=True)))
    assert found.most == tuple(map(max, zip(*every, strict=True)))
    assert found.certain == sum(found.least)
    assert found.unique == (len(every) == 1)
    if found.unique:
        assert found.guess == every[0]


@settings(max_examples=50)
@given(worlds(), st.lists(st.floats(0.1, 3.0), min_size=5, max_size=5))
def test_the_guess_overlaps_most_on_average(
    world: tuple[NDArray[np.int64], NDArray[np.int64]], given_shares: list[float]
) -> None:
    rows, counts = world
    cells = rows.shape[1]
    shares, every = np.array(given_shares[:cells]), brute(rows, counts)
    if not every:
        return
    weights = [prod(s**v / factorial(v) for s, v in zip(shares, each, strict=True)) for each in every]

    def mean_overlap(guess: tuple[int, ...]) -> float:
        overlaps = (sum(map(min, guess, each)) for each in every)
        return sum(w * o for w, o in zip(weights, overlaps, strict=True)) / sum(weights)

    found = consistent(rows, counts, shares)
    assert found is not None
    size = sum(found.guess)
    mean_size = sum(w * sum(each) for w, each in zip(weights, every, strict=True)) / sum(weights)
    assert abs(size - mean_size) <= 0.5 + 1e-9
    if size <= 5:
        guesses = (each for each in product(range(size + 1), repeat=cells) if sum(each) == size)
        assert mean_overlap(found.guess) >= max(map(mean_overlap, guesses)) - 1e-9


@settings(max_examples=40)
@given(worlds())
def test_smaller_rows_have_the_same_solutions(world: tuple[NDArray[np.int64], NDArray[np.int64]]) -> None:
    rows, counts = world
    sets = [
        (sum(1 << cell for cell in range(rows.shape[1]) if row[cell]), int(count))
        for row, count in zip(rows, counts, strict=True)
    ]
    found = _reduced(sets)
    every = brute(rows, counts)
    if found is None:
        assert every == []
        return
    assert all(count > 0 for count in found.values())
    # No set lies within another, and who is in no set is nowhere.
    assert not any(a != b and a & b == a for a in found for b in found)
    kept = np.array([[set_ >> cell & 1 for cell in range(rows.shape[1])] for set_ in found], dtype=np.int64)
    top = max((*counts.tolist(), 0))
    empty = [not any(set_ >> cell & 1 for set_ in found) for cell in range(rows.shape[1])]
    again = [
        each
        for each in product(*(range(1 if none else top + 1) for none in empty))
        if not len(kept) or (kept @ np.array(each) == np.array(list(found.values()))).all()
    ]
    assert sorted(again) == sorted(every)


def test_smaller_rows_by_hand() -> None:
    # Of 5 people in {0, 1, 2}, 2 are in {0}: 3 in {1, 2}. None in {1}: 3 in {2}.
    assert _reduced([(0b111, 5), (0b001, 2), (0b010, 0)]) == {0b001: 2, 0b100: 3}
    assert _reduced([(0b111, 0)]) == {}
    assert _reduced([(0b11, 1), (0b11, 2)]) is None
    assert _reduced([(0, 0), (0b1, 1)]) == {1: 1}
    assert _reduced([(0, 3)]) is None


def test_a_table_of_two_by_two_has_as_many_solutions_as_places_for_its_corner() -> None:
    rows = np.array([[1, 1, 0, 0], [0, 0, 1, 1], [1, 0, 1, 0], [0, 1, 0, 1]])
    found = consistent(rows, np.array([5, 7, 4, 8]), np.ones(4))
    assert found is not None
    assert found.solutions == 5
    assert found.least == (0, 1, 0, 3)
    assert found.most == (4, 5, 4, 7)


@pytest.mark.parametrize(("people", "kinds"), [(1, 1), (3, 2), (30, 14), (100, 30)])
def test_one_total_leaves_all_ways_to_share_it(people: int, kinds: int) -> None:
    found = consistent(np.ones((1, kinds), dtype=np.int64), np.array([people]), np.ones(kinds))
    assert found is not None
    assert found.solutions == comb(people + kinds - 1, kinds - 1)


def test_a_zero_empties_its_kinds_and_pins_the_others() -> None:
    rows = np.array([[1, 1, 1], [0, 1, 1]])
    found = consistent(rows, np.array([4, 0]), np.ones(3))
    assert found is not None
    assert found.unique
    assert found.guess == found.least == found.most == (4, 0, 0)


@pytest.mark.parametrize(
    ("rows", "counts"),
    [
        ([[1, 1], [1, 0]], [1, 2]),
        ([[1, 1], [1, 1]], [1, 2]),
        ([[1, 1], [1, 0], [0, 1]], [3, 1, 1]),
        ([[1, 0], [0, 1], [0, 0]], [1, 1, 1]),
        ([[1, 1, 0], [0, 1, 1], [1, 0, 1]], [1, 1, 1]),
    ],
)
def test_counts_that_contradict_each_other_have_none(rows: list[list[int]], counts: list[int]) -> None:
    assert consistent(np.array(rows), np.array(counts), np.ones(len(rows[0]))) is None


def test_too_many_left_overs_are_refused_with_a_way_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_STATES", 10)
    rows = np.vstack([np.kron(np.eye(5, dtype=np.int64), np.ones(5, np.int64)), np.tile(np.eye(5, dtype=np.int64), 5)])
    with pytest.raises(DataError, match="more than 10 left-overs") as caught:
        consistent(rows, np.full(10, 5), np.ones(25))
    assert "Publish more tables" in caught.value.hint


def test_tails_and_guesses_by_hand() -> None:
    assert tail({0: 0.0, 1: log(2), 2: 0.0}) == pytest.approx([0.75, 0.25])
    assert tail({0: 3.0}) == []
    # Logarithms keep what would overflow.
    assert tail({0: -5_000.0, 1: -5_000.0}) == [0.5]
    # Sizes add up to 2.05: two people; the surest is of kind 1, then the second of kind 1.
    assert best_guess({0: [0.3], 1: [0.9, 0.55, 0.3]}, 3) == (0, 2, 0)
    assert best_guess({}, 2) == (0, 0)
