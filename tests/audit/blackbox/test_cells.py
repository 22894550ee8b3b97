"""Cells: every output in exactly one, the same one every time, and words that say which."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from quincunx.audit.blackbox.cells import Bins, Cells, Joint, Labels, bins, joint, labels
from quincunx.audit.blackbox.outputs import Batch
from quincunx.audit.blackbox.sampler import Raised

NAN = float("nan")


def batch(*values: float) -> Batch:
    return Batch(np.array(values, dtype=float).reshape(-1, 1))


def column(each: Batch) -> np.ndarray:
    return each.rows[:, 0]


def listed(*cuts: float) -> Bins:
    return Bins("output", column, np.array(cuts, dtype=float), True)


def test_a_cell_holds_what_is_above_the_last_cut_and_at_most_its_own() -> None:
    cells = listed(0, 1, 2)
    codes = cells.codes(batch(-5, 0, 0.5, 1, 2, 2.5, np.inf, -np.inf, NAN))
    assert codes.tolist() == [0, 0, 1, 1, 2, 3, 3, 0, 4]
    assert cells.size == 5
    assert cells.ordered
    assert cells.counts(batch(0, 0, NAN)).tolist() == [2, 0, 0, 0, 1]


@pytest.mark.parametrize(
    ("mask", "words", "between"),
    [
        ("10000", "output ≤ 0", "output ≤ 0"),
        ("11000", "output ≤ 1", "output ≤ 1"),
        ("00010", "output > 2", "output > 2"),
        ("00110", "output > 1", "output > 1"),
        ("01000", "output = 1", "0 < output ≤ 1"),
        ("01100", "1 ≤ output ≤ 2", "0 < output ≤ 2"),
        ("10010", "output ≤ 0 or output > 2", "output ≤ 0 or output > 2"),
        ("00001", "output is not a number", "output is not a number"),
        ("11110", "output is a number", "output is a number"),
        ("00000", "nothing", "nothing"),
    ],
)
def test_events_in_words(mask: str, words: str, between: str) -> None:
    chosen = np.array([each == "1" for each in mask])
    assert listed(0, 1, 2).words(chosen) == words
    assert Bins("output", column, np.array([0.0, 1, 2]), False).words(chosen) == between


@given(st.lists(st.booleans(), min_size=5, max_size=5), st.lists(st.floats(width=32), min_size=1, max_size=20))
def test_merged_cells_hold_the_same_outputs(chosen: list[bool], values: list[float]) -> None:
    cells, mask = listed(0, 1, 2), np.array(chosen)
    fewer, kept = cells.merged(mask)
    given_batch = batch(*values, 0.0, 1.0, 2.0, NAN)
    assert kept[fewer.codes(given_batch)].tolist() == mask[cells.codes(given_batch)].tolist()
    assert fewer.size == len(kept) <= cells.size


def test_a_threshold_is_one_cut() -> None:
    fewer, _ = listed(*range(400)).merged(np.arange(402) < 7)
    assert fewer.size == 3
    seen = pairs((0, 0), (0, 0))
    together = joint(two([0, 1], [0, 1]), seen)
    assert together is not None
    assert together.merged(np.array([True, False]))[0] is together


def test_long_unions_are_cut() -> None:
    cells = listed(*range(20))
    assert cells.words(np.arange(22) % 2 == 0) == "output ≤ 0 or output = 2 or output = 4 or 8 more"
    assert listed(-0.0, 1).words(np.array([False, True, True, False])) == "output > 0"


def test_few_values_are_all_cuts_and_many_are_quantiles() -> None:
    few = bins("output", column, np.array([3.0, 1, 1, NAN, 2]), 256)
    assert few.listed
    assert few.cuts.tolist() == [1, 2, 3]
    values = np.concatenate((np.linspace(0, 1, 5000), np.full(500, 0.25)))
    many = bins("output", column, values, 24)
    assert not many.listed
    assert 24 <= len(many.cuts) <= 60
    # The atom has a cell of its own.
    code = many.codes(batch(0.25, np.nextafter(0.25, 0), np.nextafter(0.25, 1)))
    assert len(set(code.tolist())) == 3
    counts = many.counts(Batch(values.reshape(-1, 1)))
    assert counts.max() <= 501
    assert bins("output", column, np.array([NAN, NAN]), 24).codes(batch(NAN, 1.0)).tolist() == [1, 0]


@given(st.lists(st.floats(allow_nan=True, width=32), min_size=1, max_size=30), st.integers(0, 2**32 - 1))
@settings(max_examples=50)
def test_codes_do_not_depend_on_the_batch(values: list[float], seed: int) -> None:
    learned = np.random.default_rng(seed).normal(size=2000)
    cells: Cells = bins("output", column, learned, 24)
    together = cells.codes(batch(*values)).tolist()
    assert together == [int(cells.codes(batch(value))[0]) for value in values]
    assert all(0 <= code < cells.size for code in together)


def pairs(*rows: tuple[float, float]) -> Batch:
    return Batch(np.array(rows, dtype=float))


def two(first: list[float], second: list[float]) -> tuple[Bins, Bins]:
    return (
        Bins("a", lambda each: each.rows[:, 0], np.array(first), True),
        Bins("b", lambda each: each.rows[:, 1], np.array(second), True),
    )


def test_combinations_that_were_seen_more_than_once_have_cells() -> None:
    seen = pairs((0, 0), (0, 0), (1, 1), (1, 1), (1, 1), (0, 1))
    cells = joint(two([0, 1], [0, 1]), seen)
    assert isinstance(cells, Joint)
    assert cells.size == 3
    assert not cells.ordered
    codes = cells.codes(pairs((1, 1), (0, 0), (0, 1), (1, 0), (5, 5), (NAN, 0)))
    assert codes.tolist() == [0, 1, 2, 2, 2, 2]
    assert cells.words(np.array([True, True, False])) == "(a, b) is (0, 0) or (1, 1)"
    assert "more" in cells.words(np.array([False, False, True]))
    assert "anything else" in Joint(*_rest(cells)).words(np.array([False, False, True]))


def _rest(cells: Joint) -> tuple[tuple[Bins, ...], np.ndarray, int]:
    # Only combinations with a value beyond the listed ones.
    table = np.zeros_like(cells.table)
    table[-1] = 2
    return cells.parts, table, cells.kept


def test_too_many_combinations_are_not_tried() -> None:
    wide = two(list(map(float, range(2000))), list(map(float, range(2000))))
    assert joint(wide, pairs((0, 0))) is None
    unlisted = Bins("a", column, np.array([0.0, 1.0]), False)
    assert joint((unlisted, unlisted), pairs((0, 0))) is None


def test_labels_that_were_seen_more_than_once_have_cells() -> None:
    rows = np.zeros((7, 0))
    seen = Batch(rows, ["a", "a", "b", None, None, "None", "None"])
    cells = labels(seen)
    assert isinstance(cells, Labels)
    assert cells.size == 4
    assert not cells.ordered
    assert cells.codes(seen).tolist() == [0, 0, 2, 3, 3, 1, 1]
    assert cells.codes(Batch(np.zeros((2, 0)))).tolist() == [3, 3]
    assert cells.words(np.array([True, True, False, False])) == "the output is 'a' or the output is None"
    numbers = "the output is a number (elsewhere: the output is 'a')"
    assert cells.words(np.array([False, False, True, True])) == f"the output is rare or {numbers}"
    assert cells.words(np.array([True, True, False, True])).endswith("the output is None or the output is a number")
    assert cells.words(np.zeros(4, dtype=bool)) == "nothing"
    raised = labels(Batch(np.zeros((2, 0)), [Raised("KeyError", "1"), Raised("KeyError", "2")]))
    assert raised.words(np.array([True, False, False])) == "raises KeyError"
    long = labels(Batch(np.zeros((2, 0)), ["x" * 200] * 2))
    assert len(long.words(np.array([True, False, False]))) == 80
