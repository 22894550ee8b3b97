"""Rounding against every whole table there is, and what happens where bounds cannot be kept."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from quincunx.invariant.topdown.rounding import Row, Solver, rounded

OPEN = np.ones(2, dtype=np.bool_)


@pytest.fixture(scope="module")
def solver() -> Solver:
    return Solver()


def row(child: int, cells: list[int], low: float, high: float, firm: bool = True) -> Row:
    return Row(child=child, cells=np.array(cells), low=low, high=high, firm=firm)


@pytest.mark.parametrize("seed", range(40))
def test_it_is_the_nearest_of_all_roundings(seed: int, solver: Solver) -> None:
    rng = np.random.default_rng(seed)
    children, cells = int(rng.integers(1, 4)), int(rng.integers(1, 4))
    totals = rng.poisson(2, cells)
    share = rng.random((children, cells)) ** 3
    tables = share / share.sum(axis=0) * totals
    found = rounded(solver, tables, totals, [], mask=np.ones(cells, dtype=np.bool_))
    assert found.fractional == 0
    assert not found.wide
    assert (found.tables.sum(axis=0) == totals).all()
    assert (np.abs(found.tables - tables) < 1).all()
    assert (np.abs(found.tables.sum(axis=1) - tables.sum(axis=1)) < 1 + 1e-6).all()

    def cost(made: np.ndarray) -> float:
        apart = np.abs(made.sum(axis=1) - tables.sum(axis=1))
        return float(np.abs(made - tables).sum() + 10 * apart.sum())

    base = np.floor(tables + 1e-7)
    options = [
        base + np.array(bits).reshape(children, cells) for bits in itertools.product((0, 1), repeat=children * cells)
    ]
    feasible = [made for made in options if (made.sum(axis=0) == totals).all()]
    near = [made for made in feasible if (np.abs(made.sum(axis=1) - tables.sum(axis=1)) < 1 + 1e-6).all()]
    assert cost(found.tables) == pytest.approx(min(map(cost, near)), abs=1e-6)


def test_firm_rows_are_kept_even_far_from_the_real_tables(solver: Solver) -> None:
    tables = np.array([[4.2, 0.3], [0.8, 4.7]])
    found = rounded(solver, tables, np.array([5, 5]), [row(0, [0, 1], 9, 9)], mask=OPEN)
    assert found.tables.tolist()[0] in ([4, 5], [5, 4])
    assert found.wide
    assert found.relaxed == 0


def test_a_curators_row_gives_way_by_the_least_amount(solver: Solver) -> None:
    tables = np.array([[4.2, 0.3], [0.8, 4.7]])
    rows = [row(0, [0], 4, 5, firm=False), row(1, [0], 3, 5, firm=False)]
    found = rounded(solver, tables, np.array([5, 5]), rows, mask=OPEN)
    assert found.relaxed == 2
    assert found.tables.sum(axis=0).tolist() == [5, 5]


def test_crossing_rows_end_in_whole_numbers(solver: Solver) -> None:
    """An odd cycle: three pairs of cells, each with a sum of 1, has the half-half-half vertex."""
    rows = [row(0, [0, 1], 1, 1), row(0, [1, 2], 1, 1), row(0, [0, 2], 0, 1), row(0, [0, 1, 2], 1, 2)]
    found = rounded(solver, np.array([[0.5, 0.5, 0.5]]), None, rows, mask=np.ones(3, dtype=np.bool_))
    assert found.tables.tolist() in ([[0, 1, 0]], [[1, 0, 1]])
    assert found.relaxed == 0


def test_structural_zeros_stay_empty_when_cells_must_move(solver: Solver) -> None:
    found = rounded(solver, np.array([[0.0, 2.2]]), None, [row(0, [0, 1], 5, 5)], mask=np.array([False, True]))
    assert found.tables.tolist() == [[0, 5]]


def test_invariants_that_no_table_keeps_are_seen(solver: Solver) -> None:
    assert rounded(solver, np.array([[1.0, 1.0]]), np.array([1, 1]), [row(0, [0, 1], 3, 3)], mask=OPEN) is None
