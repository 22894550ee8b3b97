"""Laws on grids: splitting dominates, merging and rounding down are dominated; one period carries everything."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from quincunx.loss.grid import Cells, Grid, dominated, dominating, reversed_cells
from quincunx.loss.grid_inversion import GridInversion
from quincunx.loss.grid_moments import real_moment, real_moments, total_moments, transform
from quincunx.loss.saddle import SIGMAS
from quincunx.numbers import Ball, precision


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


def cells(mesh: float, first: int, p: list[float], loss: list[float]) -> Cells:
    """Cells with masses `p` whose loss lies `loss` of the way, from 0 to 1, between their ends."""
    mass, place = np.array(p), (first + np.arange(len(p)) + np.array(loss)) * mesh
    q, low = mass * np.exp(-place), (first + np.arange(len(p))) * mesh
    more, lack, none = mass - np.exp(low) * q, np.exp(low + mesh) * q - mass, np.zeros(len(p))
    return Cells(mesh, first, mass, q, more, lack, none, none, 1e-15 * mass, 1e-15 * mass)


def hockey_stick(losses: np.ndarray, mass: np.ndarray, epsilon: float) -> float:
    return float(np.sum(mass * np.maximum(0.0, -np.expm1(epsilon - losses))))


SHARES = st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=1, max_size=12)


@given(SHARES, st.integers(-6, 3), st.sampled_from([0.03125, 0.25]))
def test_grids_enclose_the_cells_they_are_made_of(parts: list[tuple[float, float]], first: int, mesh: float) -> None:
    """Each cell as one atom: the split grid's δ is at least its δ at every ε, the merged grid's at most, both ways."""
    forward = cells(mesh, first, [p for p, _ in parts], [place for _, place in parts])
    for each in (forward, reversed_cells(forward)):
        with np.errstate(divide="ignore", invalid="ignore"):
            losses = np.where(each.p > 0, np.log(each.p / each.q), 0.0)
        above, below = dominating(each), dominated(each)
        for epsilon in np.linspace(-2, 4, 61) * mesh * 3:
            truth = hockey_stick(losses, each.p, float(epsilon))
            assert hockey_stick(above.losses, above.mass, float(epsilon)) >= truth * (1 - 1e-12) - 1e-15
            assert hockey_stick(below.losses, below.mass, float(epsilon)) <= truth * (1 + 1e-12) + 1e-14


def test_splitting_keeps_both_probabilities() -> None:
    grid = dominating(cells(0.25, 1, [0.7], [0.2]))
    assert grid.first == 1
    assert grid.mass.sum() == pytest.approx(0.7, rel=1e-10)
    assert float(np.sum(grid.mass * np.exp(-grid.losses))) == pytest.approx(0.7 * math.exp(-0.3), rel=1e-10)


def test_merging_neighbours_keeps_almost_all_mass_and_errs_by_the_square() -> None:
    """A smooth law: the loss in K(σ) falls by four when the spacing is halved, instead of by two."""
    apart = []
    for mesh in (0.0625, 0.03125):
        size = round(4 / mesh)
        law = cells(
            mesh, -size, list(np.exp(-(((np.arange(2 * size) + 0.5) * mesh - 4) ** 2)) * mesh), [0.5] * 2 * size
        )
        apart.append(real_moment(dominating(law), 2.0) - real_moment(dominated(law), 2.0))
        assert dominated(law).mass.sum() == pytest.approx(law.p.sum(), rel=1e-12)
    assert 3.5 < apart[0] / apart[1] < 4.5


def test_a_single_cell_is_rounded_down() -> None:
    assert dominated(cells(0.25, 1, [0.7], [0.2])).mass.tolist() == pytest.approx([0.7, 0.0])


def test_reversing_twice_is_nothing() -> None:
    law = cells(0.5, -2, [0.2, 0.8], [0.3, 0.9])
    again = reversed_cells(reversed_cells(law))
    assert again.first == -2
    for name in ("p", "q", "more", "lack"):
        assert np.allclose(getattr(again, name), getattr(law, name), rtol=1e-14, atol=0)


GRID = Grid(0.0625, -3, np.array([0.1, 0.2, 0.05, 0.0, 0.25, 0.3, 1e-30]))


def test_real_moments_are_above_the_truth_and_close() -> None:
    """Against balls, at every abscissa."""
    found = real_moments(GRID)
    with precision(256):
        for sigma, value in zip(SIGMAS[::7], found[::7], strict=True):
            parts = (
                Ball(m) * (Ball(float(sigma)) * Ball(x)).exp() for m, x in zip(GRID.mass, GRID.losses, strict=True)
            )
            truth = sum(parts, Ball(0)).log()
            assert Ball(float(value)) >= truth
            assert float(value) <= float(truth.mid()) + 1e-10 * (1 + abs(float(value)))


@pytest.mark.parametrize("nodes", [4, 16])
def test_transforms_are_within_their_error(nodes: int) -> None:
    """Against direct sums, also where the grid is longer than the period and beyond one period."""
    one = transform(GRID, 0.7, nodes)
    k = np.arange(3 * nodes)
    value, error = total_moments([(one, 3)], k)
    s = 0.7 + 2j * math.pi / (nodes * GRID.mesh) * k
    truth = (GRID.mass * np.exp(s[:, None] * GRID.losses)).sum(axis=1) ** 3
    assert np.all(np.abs(np.exp(value) - truth) <= np.abs(truth) * np.expm1(error) + 1e-13)
    assert np.all(one.sizes() + one.top >= np.log(np.abs(truth[: nodes // 2 + 1])) / 3 - 1e-12)


def test_a_grid_without_mass_has_next_to_no_moment() -> None:
    assert np.all(real_moments(Grid(0.5, 0, np.zeros(3)))[:8] < -200)
