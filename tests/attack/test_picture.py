"""The picture: what is expected, what is estimated, what is seen of one cell."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from quincunx.attack.picture import around, expected_yes, inked, posterior
from quincunx.attack.portrait import COLUMNS, ROWS, portrait
from quincunx.mechanisms import RandomizedResponse
from tests.attack.telling import told

P = [Fraction(3, 4), Fraction(3, 5), Fraction(9, 10), Fraction(1, 3)]


def test_the_portrait_is_always_the_same() -> None:
    drawn = portrait()
    assert drawn.shape == (ROWS, COLUMNS) == (80, 64)
    assert set(np.unique(drawn)) == {0, 1}
    assert np.array_equal(drawn, portrait())
    assert int(drawn.sum()) == 2602


def test_the_sitter_is_symmetric_and_wears_the_quincunx() -> None:
    drawn = portrait()
    # Face, hair and dress; the hills and the sun are not.
    assert np.array_equal(drawn[24:45, 14:50], drawn[24:45, 14:50][:, ::-1])
    brooch = drawn[62:77, 23:41]
    for down, right in ((7, 9), (2, 3), (2, 14), (11, 3), (11, 14)):
        assert brooch[down, right] == 0
    assert brooch[2, 9] == 1


@pytest.mark.parametrize("p", P)
@pytest.mark.parametrize("truth", [t for n in (1, 2, 3, 4) for t in product((0, 1), repeat=n)])
def test_expectation_and_estimate_by_enumeration(p: Fraction, truth: tuple[int, ...]) -> None:
    mechanism = RandomizedResponse(probability=p)
    table = mechanism.finite()
    mean, estimate = Fraction(0), Fraction(0)
    for answers in product((0, 1), repeat=len(truth)):
        chance = Fraction(1)
        for x, y in zip(truth, answers, strict=True):
            chance *= table.probability(x, y)  # type: ignore[assignment]
        mean += chance * sum(answers)
        estimate += chance * inked(mechanism, np.array(answers))
    yes, no = sum(truth), len(truth) - sum(truth)
    assert mean == expected_yes(mechanism, yes, no) == p * yes + (1 - p) * no
    assert estimate == yes


def test_the_chapters_formula() -> None:
    for yes, no in ((0, 0), (5, 3), (2602, 2518)):
        assert (
            expected_yes(RandomizedResponse(probability="3/4"), yes, no) == Fraction(3, 4) * yes + Fraction(1, 4) * no
        )


@pytest.mark.parametrize("p", P)
def test_the_posterior_of_one_cell_is_p(p: Fraction) -> None:
    assert posterior(RandomizedResponse(probability=p)) == p


@settings(max_examples=40)
@given(
    st.tuples(st.integers(1, 7), st.integers(1, 7)).flatmap(lambda s: arrays(np.int64, s, elements=st.integers(0, 1))),
    st.booleans(),
)
def test_neighbourhoods_by_hand(answers: np.ndarray, own: bool) -> None:
    mechanism = RandomizedResponse(probability="3/4")
    if answers.size == 1 and not own:
        return
    found = around(mechanism, answers, own=own)
    for row, column in np.ndindex(*answers.shape):
        near = [
            int(answers[r, c])
            for r, c in np.ndindex(*answers.shape)
            if abs(r - row) <= 2 and abs(c - column) <= 2 and (own or (r, c) != (row, column))
        ]
        assert found[row, column] == pytest.approx((sum(near) / len(near) - 0.25) / 0.5)


def test_own_answers_are_not_used_for_the_cells_around() -> None:
    mechanism = RandomizedResponse(probability="3/4")
    answers = portrait()
    changed = answers.copy()
    changed[40, 30] = 1 - changed[40, 30]
    before, after = (around(mechanism, each, own=False) for each in (answers, changed))
    assert before[40, 30] == after[40, 30]
    assert before[40, 31] != after[40, 31]


def test_the_run_agrees_with_the_expectation() -> None:
    figures = told("picture").figures
    assert (figures["cells"], figures["inked"], figures["expected yes"]) == (5120, 2602, "2581")
    assert figures["posterior of one cell"] == "3/4"
    # Hoeffding: 5,120 answers are within √(5120·ln(2e9)/2) = 235 of their mean but for a chance of 1e-9.
    assert abs(int(figures["observed yes"]) - 2581) <= 235
    assert abs(float(figures["estimated inked"]) - 2602) <= 2 * 235
    assert abs(float(figures["right by own answer"]) - 0.75) <= 235 / 5120
    assert float(figures["right by cells around"]) > 0.85


def test_more_privacy_shows_less() -> None:
    rows = told("picture").rows
    assert rows[0][:2] == ("the picture itself", "none")
    labels = ["each cell at ε = 0.1", "each cell at ε = 0.5", "each cell at ε = ln 3", "each cell at ε = 2"]
    assert [row[0] for row in rows[1:]] == labels
    lies = [float(row[1].split()[0]) for row in rows[1:]]
    assert lies == [47.5, 37.8, 25.0, 11.9]
    for column in (2, 3):
        right = [float(row[column].split()[0]) for row in rows[1:]]
        assert right == sorted(right)
    region = [float(row[5].split()[1]) for row in rows[1:]]
    assert region == sorted(region, reverse=True)
