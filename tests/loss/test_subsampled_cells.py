"""Cells of the sampled Gaussian: every mass and every difference within its stated error, against balls."""

import math

import pytest

from quincunx.loss.grid import Cells, reversed_cells
from quincunx.loss.law import View
from quincunx.loss.subsampled_cells import Line, cells, grid
from quincunx.numbers import Ball, normal_tail, precision

CUT = 1e-18
CASES = [
    (1.0, 0.01, 2.0**-9, False),
    (1.0, 0.01, 2.0**-13, False),
    (0.1, 0.3, 2.0**-11, False),
    (5.0, 0.5, 2.0**-5, False),
    (2.0, 1e-4, 2.0**-14, False),
    (1.0, 1e-5, 2.0**-21, False),
    (1.0, 0.01, 2.0**-10, True),
    (3.0, 0.9, 2.0**-6, True),
]


def edge(line: Line, loss: Ball) -> Ball | None:
    """The base loss l with ln(1 − r + r·e^l) = loss; None where there is none."""
    inside = loss.exp() - (1 - Ball(line.rate))
    return (inside / Ball(line.rate)).log() if inside > 0 else None


def truth(line: Line, found: Cells, place: int, *, first_at_zero: bool) -> dict[str, Ball]:
    """p, q, more and lack of one cell; the first one holds all that is below."""
    low = Ball(found.mesh) * (found.first + place)
    high = low + Ball(found.mesh)
    mu, rate = Ball(line.mu), Ball(line.rate)
    a = None if place == 0 and not first_at_zero else edge(line, low)
    b = edge(line, high)

    def below(at: Ball | None, mean: Ball) -> Ball:
        return Ball(0) if at is None else normal_tail(-(at / mu - mean))

    base = below(b, mu / 2) - below(a, mu / 2)
    q = below(b, -mu / 2) - below(a, -mu / 2)
    p = (1 - rate) * q + rate * base
    return {"p": p, "q": q, "more": p - low.exp() * q, "lack": high.exp() * q - p}


@pytest.mark.parametrize(("mu", "rate", "mesh", "replacing"), CASES)
def test_cells_are_within_their_errors(mu: float, rate: float, mesh: float, replacing: bool) -> None:
    line = Line(mu, rate)
    found = cells(line, replacing, mesh, CUT)
    size = len(found.p)
    places = sorted(
        {0, 1, 2, 3, *(int(size * k / 40) for k in range(40)), *range(max(0, size - 3), size)} & set(range(size))
    )
    with precision(300):
        for place in places:
            for name, value in truth(line, found, place, first_at_zero=replacing).items():
                error = getattr(found, f"{name}_error")[place]
                assert abs(value - Ball(float(getattr(found, name)[place]))) <= Ball(float(error)) + Ball(1e-300), (
                    f"{name} of cell {place} of {size}"
                )


@pytest.mark.parametrize(("mu", "rate", "mesh", "replacing"), CASES)
def test_errors_are_small(mu: float, rate: float, mesh: float, replacing: bool) -> None:
    """What rounding adds to the dominating law, in all: far less than the grid costs."""
    found = cells(Line(mu, rate), replacing, mesh, CUT)
    assert float(found.p_error.sum()) < 1e-11
    assert float(found.more_error.sum() + found.lack_error.sum()) / mesh < 1e-6


@pytest.mark.parametrize(("mu", "rate", "mesh", "replacing"), CASES)
@pytest.mark.parametrize("backwards", [False, True])
def test_dominating_grids_have_all_the_mass_and_dominated_ones_no_more(
    mu: float, rate: float, mesh: float, replacing: bool, backwards: bool
) -> None:
    above, below = (grid(Line(mu, rate), replacing, View(backwards, side, mesh, CUT)) for side in (False, True))
    assert above.mass.sum() + above.infinite >= 1 - 1e-15
    assert above.mass.sum() + above.infinite <= 1 + 1e-6
    assert 1 - 1e-6 <= below.mass.sum() <= 1
    assert below.infinite == 0
    assert above.infinite <= 2 * CUT


@pytest.mark.parametrize(("mu", "rate"), [(1.0, 0.01), (0.01, 0.5), (10.0, 0.1)])
def test_the_ends_leave_no_more_than_the_cut(mu: float, rate: float) -> None:
    line = Line(mu, rate)
    assert line.lowest <= line.least(CUT) <= line.highest(CUT)
    p, q = line.tails(line.highest(CUT))
    assert max(p, q) <= CUT
    with precision(200):
        low = edge(line, Ball(line.least(CUT)))
        for mean in (Ball(mu) / 2, -Ball(mu) / 2):
            # Without an edge there is nothing below.
            assert low is None or normal_tail(-(low / Ball(mu) - mean)) <= Ball(CUT)


def test_reversed_cells_exchange_more_and_lack() -> None:
    """For Q against P: q − e^{−hi}·p and e^{−lo}·p − q, in reverse order."""
    found = cells(Line(1.0, 0.1), False, 2.0**-6, CUT)
    back = reversed_cells(found)
    for j in (5, 20, 60):
        low = (found.first + j) * found.mesh
        i = len(found.p) - 1 - j
        assert back.p[i] == found.q[j]
        assert back.more[i] == pytest.approx(found.lack[j] * math.exp(-low - found.mesh), rel=1e-14)
        assert back.lack[i] == pytest.approx(found.more[j] * math.exp(-low), rel=1e-14)
