"""A privacy loss on a grid of equally spaced values: one law that dominates, one that is dominated.

Cells of the true loss are split onto their two ends so that both probabilities are kept (a law that dominates: connect
the dots, Doroshenko et al. 2022), or parts of neighbouring cells are merged so that the merged loss is the grid point
between them (post-processing: a law that is dominated). Both err by the square of the spacing. Rounding is added to the
masses of the first and taken from those of the second.
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
    """Cells of the loss: cell j lies between the grid points lo = (first + j)·mesh and hi = lo + mesh.

    `p` and `q` are the masses of each cell under P and Q; `more` = p − e^lo·q and `lack` = e^hi·q − p say where between
    its ends its loss lies, and are given apart because the differences would lose their digits. Each is off by at most
    its error.
    """

    mesh: float
    first: int
    p: Floats
    q: Floats
    more: Floats
    lack: Floats
    p_error: Floats
    q_error: Floats
    more_error: Floats
    lack_error: Floats


def dominating(cells: Cells) -> Grid:
    """Every cell split onto its two ends, a + b = p and a·e^{−lo} + b·e^{−hi} = q.

    So a = lack/(e^h − 1) and b = more/(1 − e^{−h}).
    """
    lower = (np.maximum(cells.lack, 0.0) + cells.lack_error) / math.expm1(cells.mesh)
    upper = (np.maximum(cells.more, 0.0) + cells.more_error) / -math.expm1(-cells.mesh)
    mass = np.zeros(len(cells.p) + 1)
    mass[:-1] += lower
    mass[1:] += upper
    return Grid(cells.mesh, cells.first, mass * (1 + 8 * _UNIT))


def dominated(cells: Cells) -> Grid:
    """Part of every cell merged upwards with part of the next one, so that the merged loss is the point between them.

    A share `up` of cell j and a share `down` of cell j + 1 have the merged loss g, the point between them, where
    up·lack_j = down·more_{j+1}. Rounding is added to the first and taken from the second, so that the merged loss is
    not below g. What finds no partner is rounded down.
    """
    lacks = (np.maximum(cells.lack + cells.lack_error, 0.0) * (1 + 8 * _UNIT)).tolist()
    mores = ((cells.more - cells.more_error) * (1 - 8 * _UNIT)).tolist()
    ups, free = [], 1.0
    for want, give in zip(lacks[:-1], mores[1:], strict=True):
        # The share of cell j that is still free goes up as far as the next cell can balance it.
        up = 0.0 if give <= 0 else free if free * want <= give else give / want
        ups.append(up)
        free = 1.0 - min(1.0, up * want / give) if up > 0 else 1.0
    ups.append(0.0)
    certain = np.maximum(0.0, cells.p * (1 - 4 * _UNIT) - cells.p_error)
    # Shares are rounded too: a few ulp of each are dropped.
    share = np.array(ups)
    mass = np.zeros(len(cells.p) + 1)
    mass[:-1] = certain * np.maximum(0.0, 1 - share - 4 * _UNIT)
    mass[1:] += certain * share * (1 - 8 * _UNIT)
    return Grid(cells.mesh, cells.first, mass)


def reversed_cells(cells: Cells) -> Cells:
    """The same cells for Q against P: losses change sign, masses change places, and so do `more` and `lack`."""
    last = cells.first + len(cells.p)
    shrink = np.exp(-(cells.first + np.arange(len(cells.p) + 1)) * cells.mesh)
    # q − e^{−hi}·p = e^{−hi}·lack and e^{−lo}·p − q = e^{−lo}·more, with the rounding of the products.
    more, lack = shrink[1:] * cells.lack, shrink[:-1] * cells.more
    more_error = shrink[1:] * cells.lack_error * (1 + 8 * _UNIT) + 4 * _UNIT * np.abs(more)
    lack_error = shrink[:-1] * cells.more_error * (1 + 8 * _UNIT) + 4 * _UNIT * np.abs(lack)
    parts = (cells.q, cells.p, more, lack, cells.q_error, cells.p_error, more_error, lack_error)
    return Cells(cells.mesh, -last, *(each[::-1].copy() for each in parts))
