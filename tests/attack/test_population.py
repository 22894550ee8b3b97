"""Generated blocks and the tables about them."""

from __future__ import annotations

import numpy as np
import pytest

from quincunx.attack.population import PEOPLE, blocks, state_shares, tables, words


def test_there_are_644_kinds_of_people() -> None:
    assert len(PEOPLE) == 23 * 2 * 7 * 2 == 644
    assert len({words(kind) for kind in range(644)}) == 644
    assert words(0) == "male, under 5, White, Hispanic"
    assert words(643) == "female, 85 and over, two or more races, not Hispanic"


def test_the_shares_are_shares() -> None:
    shares = state_shares()
    assert shares.shape == (644,)
    assert shares.min() > 0
    assert shares.sum() == pytest.approx(1)
    # White people who are not Hispanic: 0.76·0.91.
    white = sum(share for share, person in zip(shares, PEOPLE, strict=True) if person[2:] == (0, 1))
    assert white == pytest.approx(0.76 * 0.91)


@pytest.mark.parametrize("series", [0, 1, 99])
def test_blocks_have_from_seven_to_thirty_people(series: int) -> None:
    made = blocks(50, series=series)
    assert len(made) == 50
    assert all(7 <= block.sum() <= 30 and block.min() >= 0 and block.shape == (644,) for block in made)
    assert len({int(block.sum()) for block in made}) > 10


def test_blocks_are_the_same_for_the_same_number() -> None:
    assert all((a == b).all() for a, b in zip(blocks(5, series=3), blocks(5, series=3), strict=True))
    assert any((a != b).any() for a, b in zip(blocks(5, series=3), blocks(5, series=4), strict=True))


def test_neighbours_are_alike() -> None:
    # The largest group of race and origin is a larger part of a block than of the state, on average.
    largest = [block.reshape(46, 14).sum(axis=0).max() / block.sum() for block in blocks(100, series=1)]
    assert np.mean(largest) > 0.76 * 0.91


def test_no_table_counts_a_person_twice() -> None:
    for table in tables():
        assert set(np.unique(table.rows)) == {0, 1}
        assert table.rows.sum(axis=0).max() == 1
        assert table.rows.sum(axis=1).min() >= 1


def test_the_tables_are_those_that_were_published() -> None:
    sizes = {table.name: (len(table.rows), int(table.rows.sum())) for table in tables()}
    assert sizes == {
        "sex by age": (46, 644),
        "race by origin": (14, 644),
        "race by origin of adults": (14, 19 * 28),
        "sex by age by race": (322, 644),
        "sex by age of Hispanic people, and of White people who are not": (92, 46 * 7 + 46),
    }


def test_replacing_a_person_moves_all_tables_by_at_most_root_ten() -> None:
    stacked = np.vstack([table.rows for table in tables()])
    source = np.random.default_rng(1)
    pairs = source.integers(0, 644, (3_000, 2))
    squares = ((stacked[:, pairs[:, 0]] - stacked[:, pairs[:, 1]]) ** 2).sum(axis=0)
    assert squares.max() == 10
