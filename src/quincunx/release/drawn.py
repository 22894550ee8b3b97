"""How noise moves a published column, and draws of what the exact numbers may have been. See then.md.

Everything here follows from what is stored and published: the numbers and the law of their noise.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

import numpy as np

from quincunx.table import Floats, Noise

if TYPE_CHECKING:
    from numpy.typing import NDArray

DRAWS: Final = 2000


@dataclass(frozen=True, slots=True, kw_only=True)
class Motion:
    """The noise of one measure in a column. number: of the measure. noise: its law, in lattice units of `unit`.

    slopes: for each row, ∂value/∂noise, in the data's unit.
    """

    number: int
    noise: Noise
    unit: float
    slopes: tuple[float, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawn:
    """What noise does to a column.

    origin: names the stored answer, so that two columns of one answer are moved by the same noise. groups: which of
    the stored groups each row is. centres: the noisy value of each row before it was rounded. linear: the slopes hold
    for noise of any size, and not only for a little. low, high: the published interval of each row.
    """

    origin: str
    groups: tuple[int, ...]
    centres: tuple[float, ...]
    motions: tuple[Motion, ...]
    linear: bool
    low: tuple[float, ...]
    high: tuple[float, ...]

    def picked(self, rows: Sequence[int]) -> Drawn:
        """The same with these rows, in this order."""
        motions = tuple(replace(each, slopes=tuple(each.slopes[row] for row in rows)) for each in self.motions)
        groups = tuple(self.groups[row] for row in rows)
        centres, low, high = (tuple(part[row] for row in rows) for part in (self.centres, self.low, self.high))
        return replace(self, motions=motions, groups=groups, centres=centres, low=low, high=high)

    def values(self, count: int = DRAWS) -> Floats:
        """For each draw and row, what the exact number may have been: the noisy one less noise of the same law.

        Where it is not known how noise moves a row, anything in its interval, alike. The draws are a function of the
        stored answer.
        """
        groups = np.array(self.groups, dtype=np.intp)
        # Stored groups are numbered from 0, and noise is drawn for all up to the last one that is shown.
        width = int(groups.max()) + 1 if len(groups) else 0
        found = np.broadcast_to(np.array(self.centres, dtype=np.float64), (count, len(groups))).copy()
        for motion in self.motions:
            noise = _noise(motion.noise, self.origin, motion.number, count, width)[:, groups]
            found -= noise * motion.unit * np.array(motion.slopes, dtype=np.float64)
        for row in np.flatnonzero(~np.isfinite(found).all(axis=0)).tolist():
            chance = _chance(f"{self.origin}/{self.motions[0].number}/{self.groups[row]}/interval")
            found[:, row] = self.low[row] + (self.high[row] - self.low[row]) * chance.random(count)
        return found


def _noise(noise: Noise, origin: str, number: int, count: int, width: int) -> Floats:
    """Independent draws of the noise; group by group, so that those of a group are the same however many there are."""
    found = np.empty((count, width), dtype=np.float64)
    for group in range(width):
        found[:, group] = _law(noise, _chance(f"{origin}/{number}/{group}"), count)
    return found


def _chance(name: str) -> np.random.Generator:
    """Draws that are a function of a name. They add nothing to what is published, and anybody may know them."""
    seed = hashlib.sha256(name.encode()).digest()
    return np.random.Generator(np.random.Philox(int.from_bytes(seed[:16], "big")))


def _law(noise: Noise, chance: np.random.Generator, count: int) -> NDArray[np.float64]:
    spread = float(noise.spread)
    if noise.norm == 1:
        # The discrete Laplace law is that of a difference of two geometric numbers.
        one, two = chance.geometric(-np.expm1(-1 / spread), size=(2, count))
        return np.asarray(one - two, dtype=np.float64)
    # Rounded to the lattice: the difference to the discrete law is far below what so many draws can tell.
    return np.asarray(np.rint(chance.normal(scale=np.sqrt(spread), size=count)))
