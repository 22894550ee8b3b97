"""Laws on grids: splitting dominates, merging and rounding down are dominated; one period carries everything."""

import math
from fractions import Fraction

import numpy as np
import pytest

from quincunx.loss import LaplaceLaw, LatticeLaw, Loss
from quincunx.loss.grid import Cells, Grid, atoms_in_cells, dominating, floored, reversed_cells
from quincunx.loss.grid_inversion import GridInversion
from quincunx.loss.law import Law, View
from quincunx.numbers import Log


def brute(grid: Grid, count: int, epsilon: float) -> float:
    """Σ mass·(1 − e^{ε−L})⁺ of the composed grid, by direct convolution."""
    law, offset = np.array([1.0]), 0
    for _ in range(count):
        law, offset = np.convolve(law, grid.mass), offset + grid.first
    losses = (offset + np.arange(len(law))) * grid.mesh
    return float(np.sum(law * np.maximum(0.0, -np.expm1(epsilon - losses))))


@pytest.mark.parametrize("count", [1, 2, 7, 40])
@pytest.mark.parametrize("epsilon", [0.0, 0.03, 0.0625, 0.5, 1.7])
def test_inversion_of_a_grid_is_its_convolution(count: int, epsilon: float) -> None:
    grid = Grid(0.0625, -3, np.array([0.1, 0.2, 0.05, 0.0, 0.25, 0.3, 0.1]))
    low, high = GridInversion([(grid, count)]).bounds(epsilon)
    truth = brute(grid, count, epsilon)
    assert low <= truth * (1 + 1e-12) + 1e-300
    assert truth <= high * (1 + 1e-12)
    assert high - low <= 1e-8 * high + 1e-200


def test_different_grids_compose() -> None:
    first, second = Grid(0.125, -1, np.array([0.3, 0.2, 0.5])), Grid(0.125, 0, np.array([0.6, 0.0, 0.4]))
    both = Grid(0.125, -1, np.convolve(first.mass, second.mass))
    low, high = GridInversion([(first, 1), (second, 1)]).bounds(0.2)
    assert low <= brute(both, 1, 0.2) * (1 + 1e-12)
    assert brute(both, 1, 0.2) <= high * (1 + 1e-12)


def test_infinite_mass_is_reported_once_for_each_use() -> None:
    grid = Grid(0.125, 0, np.array([0.5, 0.5]), 1e-9)
    assert GridInversion([(grid, 100)]).infinite == pytest.approx(1e-7)


@pytest.mark.parametrize("law", [LaplaceLaw(epsilon=Fraction(1, 3)), LatticeLaw(unit=Log(2), steps=3)], ids=repr)
@pytest.mark.parametrize("mesh", [2.0**-5, 2.0**-9])
def test_closed_laws_on_a_grid_enclose_themselves(law: Law, mesh: float) -> None:
    above, below = law.grid(View(mesh=mesh)), law.grid(View(below=True, mesh=mesh))
    assert above is not None
    assert below is not None
    for count in (1, 3, 20):
        loss = count * Loss.of(law)
        for epsilon in (0.0, 0.1, 0.3, 1.0):
            truth = loss.delta_bounds(Fraction(epsilon))
            assert GridInversion([(above, count)]).bounds(epsilon)[1] >= truth[0] * (1 - 1e-12)
            assert GridInversion([(below, count)]).bounds(epsilon)[0] <= truth[1] * (1 + 1e-12)


def test_splitting_keeps_both_probabilities() -> None:
    cells = atoms_in_cells(np.array([0.3]), np.array([0.7]), np.array([0.7 * math.exp(-0.3)]), 0.25)
    grid = dominating(cells)
    assert grid.first == 1
    assert grid.mass.sum() == pytest.approx(0.7, rel=1e-10)
    assert float(np.sum(grid.mass * np.exp(-grid.losses))) == pytest.approx(0.7 * math.exp(-0.3), rel=1e-10)
    assert floored(cells).losses[0] == 0.25


def test_reversing_twice_is_nothing() -> None:
    cells = Cells(0.5, -2, np.array([0.2, 0.8]), np.array([0.5, 0.5]), np.zeros(2), np.zeros(2))
    again = reversed_cells(reversed_cells(cells))
    assert again.first == -2
    assert np.array_equal(again.p, cells.p)
