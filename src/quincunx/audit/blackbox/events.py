"""How a separating event is chosen: unions of cells in order of value or of estimated likelihood ratio.

The first samples say what the cells are and in which order they are taken; the next samples, which had no part in
that, say which event promises the best bound. Nothing here is trusted: the chosen event is tested on samples that
nobody has looked at.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from quincunx.audit.blackbox.cells import Cells, Mask
from quincunx.audit.blackbox.claim import Claim
from quincunx.audit.blackbox.outputs import Batch, Floats

Counts = NDArray[np.int64]
# Ways to cut that go on to the second look, for each direction.
_KEPT: Final = 6
# A plainer event is chosen over one that promises this little more.
_ALMOST: Final = 0.998
# Estimates are taken this many standard errors on the careful side before they are compared.
_CAREFUL: Final = 2.0
# Where nothing promises a bound with all care, less of it finds the most promising event all the same.
_CARES: Final = (1.0, 0.5, 0.25)


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """A set of outputs: the union of the cells of `mask`. swapped: whether the second input makes it likelier."""

    cells: Cells
    mask: Mask
    swapped: bool

    def count(self, batch: Batch) -> int:
        """How many outputs of the batch are in the event."""
        cells, mask = self.cells.merged(self.mask)
        return int(np.count_nonzero(mask[cells.codes(batch)]))

    def __str__(self) -> str:
        return self.cells.words(self.mask)


@dataclass(frozen=True, slots=True, kw_only=True)
class Effort:
    """How the test will be made: `tested` samples of each input and bounds at `z` standard errors.

    care: a factor for these, and for the standard errors by which estimates are moved to the careful side.
    """

    tested: int
    z: float
    care: float = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """A way to cut, the cells in order of estimated likelihood ratio, and the counts of a second look."""

    cells: Cells
    ratio_order: NDArray[np.intp]
    first: Counts
    second: Counts


def shortlist(ways: Sequence[Cells], first: Batch, second: Batch, claim: Claim, effort: Effort) -> list[Tally]:
    """The ways to cut that separate best in the first samples, with their order and no counts yet."""
    ranked: list[tuple[float, float, Tally]] = []
    for cells in ways:
        a, b = cells.counts(first), cells.counts(second)
        order = np.argsort(-np.log((a + 0.5) / (b + 0.5)), kind="stable")
        # Cells in which nothing was seen belong to no event.
        order = order[(a + b)[order] > 0]
        tally = Tally(cells=cells, ratio_order=order, first=a, second=b)
        here, there = (_best(tally, claim, effort, swapped)[0] for swapped in (False, True))
        ranked.append((here, there, tally))
    kept = [sorted(ranked, key=lambda each, side=side: -each[side])[:_KEPT] for side in (0, 1)]  # type: ignore[misc]
    chosen = {id(tally) for part in kept for _, _, tally in part}
    return [
        Tally(cells=each.cells, ratio_order=each.ratio_order, first=0 * each.first, second=0 * each.second)
        for _, _, each in ranked
        if id(each) in chosen
    ]


def counted(tallies: Sequence[Tally], first: Batch, second: Batch) -> list[Tally]:
    """The tallies with two more batches counted."""
    return [
        Tally(
            cells=each.cells,
            ratio_order=each.ratio_order,
            first=each.first + each.cells.counts(first),
            second=each.second + each.cells.counts(second),
        )
        for each in tallies
    ]


def choose(tallies: Sequence[Tally], claim: Claim, effort: Effort) -> list[Event]:
    """The most promising event in each direction."""
    events = []
    for swapped in (False, True):
        for care in _CARES:
            eased = replace(effort, care=care)
            found = [(*_best(tally, claim, eased, swapped), tally) for tally in tallies]
            most = max(score for score, _, _ in found)
            if most > -math.inf:
                break
        _, mask, tally = next(each for each in found if each[0] >= most * (_ALMOST if most > 0 else 1))
        events.append(Event(cells=tally.cells, mask=mask, swapped=swapped))
    return events


def _best(tally: Tally, claim: Claim, effort: Effort, swapped: bool) -> tuple[float, Mask]:
    """The best prefix of any order of the cells, and the score that it promises."""
    a, b = (tally.second, tally.first) if swapped else (tally.first, tally.second)
    best, chosen = -math.inf, np.zeros(len(a), dtype=bool)
    for order in _orders(tally, swapped):
        low = _careful(np.cumsum(a[order]), int(a.sum()), effort, -1)
        high = _careful(np.cumsum(b[order]), int(b.sum()), effort, 1)
        roof = _roof(low, high)
        if not roof:
            continue
        found = claim.scores(low[roof], high[roof])
        place = int(np.argmax(found))
        # Orders come with the plainest first; a later one must promise noticeably more.
        if found[place] > (best / _ALMOST if best > 0 else best):
            best, chosen = float(found[place]), np.zeros(len(a), dtype=bool)
            chosen[order[: roof[place] + 1]] = True
    return best, chosen


def _orders(tally: Tally, swapped: bool) -> Iterator[NDArray[np.intp]]:
    if tally.cells.ordered:
        # The last cell, what is not a number, has no place among values: last in both directions.
        upwards, last = np.arange(tally.cells.size - 1), [tally.cells.size - 1]
        yield np.append(upwards, last)
        yield np.append(upwards[::-1], last)
    yield tally.ratio_order[::-1] if swapped else tally.ratio_order


def _careful(count: Counts, total: int, effort: Effort, side: int) -> Floats:
    """The bound that a test would give, from a careful estimate of the probability: Wilson's, twice."""
    estimate = _wilson(count / total, total, _CAREFUL * effort.care, side)
    return np.clip(_wilson(estimate, effort.tested, effort.z * effort.care, side), 1e-300, 1 - 1e-16)


def _wilson(p: Floats, n: int, z: float, side: int) -> Floats:
    square = z * z / n
    half = z * np.sqrt(p * (1 - p) / n + square / (4 * n))
    return np.asarray(np.clip((p + square / 2 + side * half) / (1 + square), 0.0, 1.0))


def _roof(low: Floats, high: Floats) -> list[int]:
    """The places on the upper convex hull of the points (high, low) above the diagonal.

    Every standard is quasi-convex in pairs of laws, so its largest value is on the hull.
    """
    above = np.flatnonzero(low > high)
    ordered = above[np.lexsort((-low[above], high[above]))]
    hull: list[int] = []
    points = [(0.0, 0.0)]
    for i in ordered.tolist():
        x, y = float(high[i]), float(low[i])
        if y <= points[-1][1]:
            continue
        while len(points) > 1 and _right_of(points[-2], points[-1], (x, y)):
            points.pop()
            hull.pop()
        points.append((x, y))
        hull.append(i)
    return hull


def _right_of(a: tuple[float, float], b: tuple[float, float], c: tuple[float, float]) -> bool:
    """Whether b lies on or below the line from a to c."""
    return (b[1] - a[1]) * (c[0] - a[0]) <= (c[1] - a[1]) * (b[0] - a[0])
