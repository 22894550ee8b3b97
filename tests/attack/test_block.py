"""The people of a block: exactly from exact tables, hardly from noisy ones; and on the counts of a real state."""

from __future__ import annotations

import csv
import os
from fractions import Fraction
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from quincunx.attack.block import DELTA, EPSILONS, level, named_by_state, named_from_noise, noise_for, overlap, power
from quincunx.attack.fitting import fit_block, reconstruct_block
from quincunx.attack.population import blocks, state_shares, tables
from quincunx.errors import DataError, ParameterError
from tests.attack.telling import told
from tests.chart.reading import check_readable, texts

DATA = Path(os.environ.get("QUINCUNX_DATA", Path(__file__).parents[2].parent / "shared" / "data"))
ISLAND = DATA / "census_blocks" / "rhode_island_2010.csv"
RACES = ("white", "black", "hisp", "aian", "asian", "nhpi", "other", "two")
ROWS = [[1, 1, 0, 0], [0, 0, 1, 1], [1, 0, 1, 0]]


def stacked(count: int) -> np.ndarray:
    return np.vstack([table.rows for table in tables()[:count]])


# Exact tables.


def test_all_tables_pin_nearly_everyone() -> None:
    made = blocks(40, series=11)
    found = level(made, (stacked(5),))
    assert found.numbers == 488
    assert found.certain >= 0.95
    assert found.guessed >= found.certain
    assert found.pinned >= 0.9


def test_more_tables_leave_fewer_populations_and_more_certainty() -> None:
    made = blocks(10, series=12)
    levels = [level(made, (stacked(k),)) for k in range(1, 6)]
    for fewer, more in pairwise(levels):
        assert all(a >= b for a, b in zip(fewer.populations, more.populations, strict=True))
        assert fewer.certain <= more.certain
        assert fewer.pinned <= more.pinned
    assert all(each >= 1 for each in levels[-1].populations)


def test_the_truth_is_always_among_what_agrees() -> None:
    rows = stacked(4)
    for block in blocks(15, series=13):
        found = reconstruct_block(rows, rows @ block, shares=state_shares())
        assert (np.array(found.least) <= block).all()
        assert (block <= np.array(found.most)).all()
        assert sum(found.guess) == block.sum()
        if found.unique:
            assert found.guess == tuple(block.tolist())


def test_large_counts_are_no_trouble() -> None:
    found = reconstruct_block(ROWS, [5_000, 3, 2], shares=[1e-9, 1, 1, 1e9])
    assert found.solutions == 3
    assert found.least == (0, 4_998, 0, 1)
    assert found.most == (2, 5_000, 2, 3)
    assert sum(found.guess) == 5_003


def test_one_solution_means_that_no_other_block_has_these_tables() -> None:
    rows, block = stacked(5), blocks(1, series=14)[0]
    assert reconstruct_block(rows, rows @ block).unique
    # Any other people, tried by replacing one by one kind after another, have other tables.
    someone = int(np.flatnonzero(block)[0])
    for kind in range(644):
        other = block.copy()
        other[someone] -= 1
        other[kind] += 1
        assert kind == someone or (rows @ other != rows @ block).any()


# Noisy tables.


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_the_noise_meets_the_total(epsilon: Fraction) -> None:
    noise = noise_for(epsilon)
    assert noise.sensitivity2 == 10
    assert noise.loss.delta(epsilon) <= float(DELTA)


@pytest.mark.usefixtures("stream")
def test_noisy_tables_name_hardly_more_than_no_tables() -> None:
    made, source = blocks(8, series=15), np.random.default_rng(1)
    people = sum(int(block.sum()) for block in made)
    closest, guessed = named_from_noise(made, Fraction(1), source)
    chance = named_by_state(made)
    # The guess is about `people` people: five deviations of as many trials at most.
    assert abs(guessed - chance) <= 5 * 0.5 / people**0.5
    assert closest <= chance
    assert guessed < 0.8


@pytest.mark.usefixtures("stream")
def test_a_large_total_gives_nearly_everyone_back() -> None:
    closest, guessed = named_from_noise(blocks(4, series=16), Fraction(500), np.random.default_rng(1))
    assert closest >= 0.95
    assert guessed >= 0.95


def test_the_closest_population_to_exact_tables_is_the_people() -> None:
    rows = stacked(5)
    for block in blocks(3, series=17):
        assert fit_block(rows, rows @ block, people=int(block.sum())) == tuple(block.tolist())


def test_the_closest_population_weighs_shares() -> None:
    # Two kinds in one row cannot be told apart by it: the common one is chosen.
    assert fit_block([[1, 1]], [3], people=3, shares=[0.1, 0.9]) == (0, 3)
    assert fit_block([[1, 1]], [3], people=3, shares=[0.9, 0.1]) == (3, 0)
    # A rare kind is chosen where the count is more telling than the share.
    assert fit_block([[1, 0], [0, 1]], [1, 0], people=1, shares=[0.1, 0.9], scale="0.1") == (1, 0)
    assert fit_block([[1, 0], [0, 1]], [1, 0], people=1, shares=[0.1, 0.9], scale=100) == (0, 1)


# Bad input.


@pytest.mark.parametrize(
    ("rows", "counts", "message"),
    [
        (ROWS, [1, 2], "one count for each row"),
        (ROWS, [1, 2, -1], "whole numbers that are not negative"),
        (ROWS, [1, 2, 0.5], "whole numbers that are not negative"),
        (ROWS, [1, 1, 3], "no population agrees"),
        (ROWS, [float("nan"), 1, 1], "not finite"),
        (ROWS, "abc", "expected"),
        (ROWS, None, "expected"),
        ([[1, 2]], [1], "zeros and ones"),
        ([[1, 0]], [1], "every kind of person must be in a row"),
        ([], [], "in 2 dimensions"),
        (np.zeros((0, 2)), [], "zeros and ones"),
        ([[1], [1, 0]], [1, 1], "expected numbers"),
    ],
)
def test_bad_tables_are_refused(rows: object, counts: object, message: str) -> None:
    with pytest.raises(DataError, match=message):
        reconstruct_block(rows, counts)


@pytest.mark.parametrize("shares", [[1, 1], [1, 1, 0, 1], [1, 1, -1, 1], [1, 1, float("inf"), 1], "ab"])
def test_bad_shares_are_refused(shares: object) -> None:
    with pytest.raises(DataError):
        reconstruct_block(ROWS, [1, 1, 1], shares=shares)
    with pytest.raises(DataError):
        fit_block(ROWS, [1, 1, 1], people=2, shares=shares)


@pytest.mark.parametrize("changes", [{"people": 0}, {"people": 1.5}, {"scale": 0}, {"scale": "x"}, {"people": None}])
def test_bad_sizes_are_refused(changes: dict[str, object]) -> None:
    with pytest.raises(ParameterError):
        fit_block(ROWS, [1, 1, 1], **({"people": 2} | changes))


def test_a_fit_needs_a_count_for_each_row() -> None:
    with pytest.raises(DataError, match="one count for each row"):
        fit_block(ROWS, [1], people=2)


def test_an_error_does_not_show_a_count() -> None:
    for counts in ([4321, 1, 4323], [4321.5, 1, 1]):
        with pytest.raises(DataError) as caught:
            reconstruct_block(ROWS, counts)
        assert "4321" not in str(caught.value)


# The story.


def test_the_story_shows_what_it_says() -> None:
    story = told("block")
    figures = story.figures
    assert float(figures["certain, 5 tables"]) >= 0.95
    assert float(figures["certain, 1 tables"]) == 0
    assert float(figures["guessed, ε = 50"]) >= 0.8
    people = int(figures["people"])
    assert people >= 200
    near = abs(float(figures["guessed, ε = 0.5"]) - float(figures["named by the state's shares"]))
    assert near <= 0.2
    assert figures["the seven of the literature"] == "8FBS 18MWS 24FWS 30MWM 36FBM 66FBM 84MBM"
    assert figures["they are the only ones"] == "True"
    assert len(story.rows) == 1 + 5 + len(EPSILONS)
    assert all(len(row) == len(story.columns) for row in story.rows)
    for part in (story.published, story.known, story.recovered, story.lesson):
        assert part.endswith(".")


def test_the_pictures_can_be_read() -> None:
    charts = told("block").charts
    assert set(charts) == {"block_tables", "block_populations", "block_noise"}
    for chart in charts.values():
        check_readable(chart)
        assert not any("…" in text for text in texts(chart))
        assert "20 generated blocks" in chart.svg
    assert "The first 10 of the 20" in charts["block_noise"].svg


def test_numbers_of_populations_in_words() -> None:
    assert [power(n) for n in (1, 9_999, 10_000, 3.2e19)] == ["1", "9,999", "about 10^4", "about 10^20"]


def test_overlap_counts_people_in_both() -> None:
    assert overlap((2, 0, 1), np.array([1, 1, 1])) == 2


# A real state: the counts of 2010, which the census had swapped already.


@pytest.mark.skipif(not ISLAND.is_file(), reason=f"real data missing: {ISLAND.name} (set QUINCUNX_DATA to its folder)")
def test_margins_alone_pin_the_small_blocks_of_a_real_state() -> None:
    """Race by voting age, from the people of each race and the number of adults alone: 16 kinds, 9 counts."""
    margins = np.vstack([np.kron(np.eye(8, dtype=np.int64), np.ones(2, np.int64)), np.tile([0, 1], 8)])
    tried = pinned = 0
    with ISLAND.open(encoding="utf-8", newline="") as lines:
        for record in csv.DictReader(lines):
            if not 1 <= int(record["pop"]) <= 30 or int(record["GEOID"]) % 10:
                continue
            adults = [int(record[f"vap_{race}"]) for race in RACES]
            block = np.array(
                [[int(record[f"pop_{race}"]) - n, n] for race, n in zip(RACES, adults, strict=True)]
            ).ravel()
            found = reconstruct_block(margins, margins @ block)
            # Unique exactly where everyone is of one race, or all or none are adults.
            races = int((margins[:8] @ block > 0).sum())
            assert found.unique == (races == 1 or sum(adults) in (0, int(block.sum())))
            assert (np.array(found.least) <= block).all()
            assert not found.unique or found.guess == tuple(block.tolist())
            tried, pinned = tried + 1, pinned + found.unique
    assert tried > 500
    # The published margins of more than half of the small blocks are their people, by race and voting age.
    assert pinned / tried > 0.5
