"""A privacy loss on a grid of equally spaced values: one law that dominates, one that is dominated.

Cells of the true loss are split onto their two ends so that both probabilities are kept (a law that dominates: connect
the dots, Doroshenko et al. 2022), or merged to one point that lies on the grid (post-processing: a law that is
dominated). Both err by the square of the spacing. Rounding is added to the masses of the first and taken from those of
the second.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
_UNIT: Final = 2.0**-53


@dataclass(frozen=True, slots=True, eq=False)
class Grid:
    """P(L = (first + j)·mesh) = mass[j]; `infinite` is the mass where the loss is unbounded."""

    mesh: float
    first: int
    mass: Floats
    infinite: float = 0.0

    @property
    def losses(self) -> Floats:
        """The points of the grid."""
        return np.asarray((self.first + np.arange(len(self.mass))) * self.mesh, dtype=np.float64)


@dataclass(frozen=True, slots=True, eq=False)
class Cells:
    """Cells of the loss: cell j lies between the grid points (first + j)·mesh and (first + j + 1)·mesh.

    `p` and `q` are the masses of each cell under P and Q, off by at most `p_error` and `q_error`.
    """

    mesh: float
    first: int
    p: Floats
    q: Floats
    p_error: Floats
    q_error: Floats


def dominating(cells: Cells) -> Grid:
    """Every cell split onto its two ends: a + b = p and a·e^{−lo} + b·e^{−hi} = q."""
    low = (cells.first + np.arange(len(cells.p))) * cells.mesh
    gap = -math.expm1(-cells.mesh)
    scaled = cells.q * np.exp(low)
    # The difference cancels: its rounding is added to both ends.
    slack = (cells.p_error + cells.q_error * np.exp(low) + 16 * _UNIT * (cells.p + scaled)) / gap
    upper = np.clip((cells.p - scaled) / gap, 0.0, cells.p) + slack
    lower = np.clip(cells.p - (cells.p - scaled) / gap, 0.0, cells.p) + slack
    mass = np.zeros(len(cells.p) + 1)
    mass[:-1] += lower
    mass[1:] += upper
    return Grid(cells.mesh, cells.first, mass)


def floored(cells: Cells) -> Grid:
    """Every loss rounded down to its cell's lower end: a law whose δ is below, if by as much as the spacing."""
    return Grid(cells.mesh, cells.first, np.maximum(0.0, cells.p * (1 - 1e-14) - cells.p_error))


def atoms_in_cells(losses: Floats, p: Floats, q: Floats, mesh: float) -> Cells:
    """Atoms at `losses`, with masses `p` and `q`, put into the cells that contain them."""
    places = np.floor(losses / mesh).astype(np.int64)
    first = int(places.min())
    size = int(places.max()) - first + 1
    above, below = np.zeros(size), np.zeros(size)
    np.add.at(above, places - first, p)
    np.add.at(below, places - first, q)
    return Cells(mesh, first, above, below, 1e-14 * above, 1e-14 * below)


def reversed_cells(cells: Cells) -> Cells:
    """The same cells for Q against P: losses change sign, masses change places."""
    last = cells.first + len(cells.p)
    swapped = (each[::-1].copy() for each in (cells.q, cells.p, cells.q_error, cells.p_error))
    return Cells(cells.mesh, -last, *swapped)
