"""A portrait of nobody, drawn by formulas: a sitter before hills, with a brooch of five points, the quincunx.

Cells are 1 where there is ink. Only sums, products and comparisons of numbers are used, so that every machine draws the
same picture.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

ROWS, COLUMNS = 80, 64
Field = NDArray[np.bool_]
_MIDDLE: Final = 32.0


def portrait() -> NDArray[np.int64]:
    """The picture: 80 rows of 64 cells, 1 for ink and 0 for paper."""
    y, x = np.mgrid[0:ROWS, 0:COLUMNS] + 0.5
    ink = _hills(x, y)
    for dark, shape in _sitter(x, y):
        ink = np.where(shape, dark, ink)
    return ink.astype(np.int64)


def _oval(x: NDArray[np.float64], y: NDArray[np.float64], at: tuple[float, float], reach: tuple[float, float]) -> Field:
    """The inside of the ellipse around `at` = (x, y) with half-axes `reach`."""
    return np.asarray(((x - at[0]) / reach[0]) ** 2 + ((y - at[1]) / reach[1]) ** 2 <= 1)


def _hills(x: NDArray[np.float64], y: NDArray[np.float64]) -> Field:
    """Two hills and a lake between them and the sitter, and a sun."""
    far = _oval(x, y, (3, 58), (15, 15)) | _oval(x, y, (62, 56), (16, 21))
    lake = (np.abs(y - 56.5) <= 1.2) | (np.abs(y - 61) <= 0.6)
    return (far & ~lake) | _oval(x, y, (8.5, 9.5), (4.8, 4.8))


def _sitter(x: NDArray[np.float64], y: NDArray[np.float64]) -> list[tuple[bool, Field]]:
    """What is painted over the hills, from the back to the front: whether it is ink, and where."""
    aside = np.abs(x - _MIDDLE)
    hair = _oval(x, y, (_MIDDLE, 22), (18, 19)) | ((aside <= 18 - (y - 22) ** 2 * 0.004) & (y > 22) & (y < 52))
    # A parting from which the hair falls to both sides.
    parted = (y < 5 + aside**2 * 0.22) & (aside < 13)
    face = _oval(x, y, (_MIDDLE, 25), (12.2, 16.8)) & ~((y < 13.5) & parted) & ~(y < 9 + aside * 0.55)
    neck = (aside <= 5.8 + np.maximum(0, y - 45) * 0.8) & (y > 38) & (y < 51)
    chest = _oval(x, y, (_MIDDLE, 49), (12.5, 8.5)) & (y >= 49)
    dress = _oval(x, y, (_MIDDLE, 80), (28, 33))
    brows = (np.abs(y - (18.2 + (aside - 5.5) ** 2 * 0.07)) <= 0.75) & (aside >= 2.6) & (aside <= 9)
    eyes = _oval(aside, y, (5.6, 23.2), (3.1, 1.7))
    nose = ((aside <= 0.6) & (y > 24) & (y < 30)) | ((np.abs(y - 30.5) <= 0.6) & (aside <= 2.6))
    # The smile is a parabola that rises to both sides.
    smile = (np.abs(y - (36.2 - aside**2 * 0.065)) <= 1.0) & (aside <= 6.2)
    points = ((0, 0), (-5.5, -4.5), (5.5, -4.5), (-5.5, 4.5), (5.5, 4.5))
    brooch = np.logical_or.reduce([_oval(x, y, (_MIDDLE + dx, 69 + dy), (2.1, 2.1)) for dx, dy in points])
    return [
        (False, _oval(x, y, (_MIDDLE, 22), (20, 21)) | ((aside <= 19.5) & (y > 22) & (y < 52))),
        (False, _oval(x, y, (_MIDDLE, 80), (30, 35))),
        (True, hair),
        (True, dress),
        (False, chest | neck),
        (False, face),
        (True, brows | eyes | nose | smile),
        (False, brooch),
    ]
