"""How far two worlds are apart before noise, against what the plan declares."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from quincunx.audit.gap import Gap
from quincunx.errors import VerificationError
from quincunx.table import Grid, Ladder, Measure, Program, Result, Selection


def gaps(program: Program, before: Result, after: Result, where: str = "") -> list[Gap]:
    """Every comparison that the program's declarations promise for this pair; where: said of measures."""
    found = [
        _gap(f"measure {i}{where}", measure, *_shared(before, after, i)) for i, measure in enumerate(program.measures)
    ]
    if program.selection is not None:
        found.extend(_votes(program.selection, before, after))
    return found


def choice(program: Program, before: Result, after: Result) -> Gap:
    """Of the choice of limits: by how much the numbers of people above any two rungs move apart.

    Its own sum over the bins; whoever lies beyond the last rung lies above all of them.
    """
    ((a,), (b,)) = (result.measures[0] for result in (before, after))
    (measure,) = program.measures
    rungs, weight = measure.high - measure.low, 0 if measure.grid is None else measure.grid.weight
    first, second = a.dense(), b.dense()
    ends = [second.get(place, 0) - first.get(place, 0) for place in range(rungs + 1)]
    above = [sum(ends[rung + 1 :]) for rung in range(rungs)]
    apart = max(above) - min(above)
    return Gap(part="choice", distance2=Fraction(apart) ** 2, allowed2=Fraction(weight) ** 2)


def _gap(part: str, measure: Measure, a: NDArray[Any], b: NDArray[Any]) -> Gap:
    if measure.ladder is not None:
        return max(_ladder_gaps(part, measure, measure.ladder, a, b), key=lambda gap: gap.ratio)
    if measure.grid is not None and measure.grid.branching:
        moved = _counted(measure, a) - _counted(measure, b)
    elif measure.grid is not None:
        return max(_rank_gaps(part, measure, measure.grid, a, b), key=lambda gap: gap.ratio)
    else:
        moved = a - b
    return Gap(part=part, distance2=norm2(measure.vector.norm, moved), allowed2=measure.sensitivity2)


def _rank_gaps(part: str, measure: Measure, grid: Grid, a: NDArray[Any], b: NDArray[Any]) -> Iterator[Gap]:
    """Of quantiles: what is declared of the histogram, and what ranks are priced by, which is declared apart from it.

    Whoever comes or goes weighs at most `weight`, and whoever is replaced, twice that; without `apart` there is one
    group.
    """
    distance2 = norm2(measure.vector.norm, _moved(a, b))
    yield Gap(part=part, distance2=distance2, allowed2=measure.sensitivity2)
    yield Gap(part=part, distance2=distance2, allowed2=Fraction(grid.weight) ** 2 * (4 if grid.moves else 1))
    if not grid.apart:
        yield Gap(part=part, distance2=Fraction(max(len(a) - 1, 0)), allowed2=Fraction(0))


def _ladder_gaps(part: str, measure: Measure, ladder: Ladder, a: NDArray[Any], b: NDArray[Any]) -> Iterator[Gap]:
    """The choice: by how much the weights above any two rungs move apart, over all groups. Then the sum at each."""
    rungs = len(ladder.rungs)
    ends = (b[:, :rungs].astype(object) - a[:, :rungs].astype(object)).sum(axis=0).tolist()
    above = [sum(ends[rung + 1 :]) for rung in range(rungs)]
    yield Gap(part=part, distance2=Fraction(max(above) - min(above)) ** 2, allowed2=Fraction(ladder.weight) ** 2)
    for rung, each in enumerate(measure.sums):
        yield _gap(part, each, a[:, rungs + rung], b[:, rungs + rung])


def _counted(measure: Measure, histograms: NDArray[Any]) -> NDArray[np.int64]:
    """All counts of a tree, group by group: its own sum over each stretch of bins, and not the mechanism's."""
    bins = measure.high - measure.low + 1
    branching, found = (0 if measure.grid is None else measure.grid.branching), []
    for each in histograms:
        size, held = 1, each.dense()
        while True:
            for start in range(0, bins, size):
                found.append(sum(held.get(place, 0) for place in range(start, min(start + size, bins))))
            if -(-bins // size) <= branching:
                break
            size *= branching
    return np.array(found, dtype=np.int64)


def _moved(a: NDArray[Any], b: NDArray[Any]) -> NDArray[np.int64]:
    """For each group how far two histograms are apart, over all values."""
    return np.array([mine.distance(theirs) for mine, theirs in zip(a, b, strict=True)], dtype=np.int64)


def norm2(norm: int, difference: NDArray[np.int64]) -> Fraction:
    """The square of the ℓ1 or ℓ2 norm, exactly."""
    moved = [abs(int(each)) for each in difference[difference != 0]]
    return Fraction(sum(moved) ** 2 if norm == 1 else sum(each * each for each in moved))


def _shared(before: Result, after: Result, index: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """The numbers of the keys that both worlds have.

    An unknown key with votes in one world alone is shown with probability at most δ, whatever its numbers are; what
    may be shown otherwise is the keys with votes in both.
    """
    a, b = before.measures[index], after.measures[index]
    if before.selection is None:
        if a.shape != b.shape:
            # NumPy would stretch the shorter one and compare what does not belong together.
            raise VerificationError("two worlds gave different numbers of groups", where="replay")
        return a, b
    place = {key: i for i, key in enumerate(after.keys)}
    both = [(i, place[key]) for i, key in enumerate(before.keys) if key in place]
    return a[[i for i, _ in both]], b[[j for _, j in both]]


def _votes(selection: Selection, before: Result, after: Result) -> Iterator[Gap]:
    if before.selection is None or after.selection is None:
        raise VerificationError("a world gave no votes for its unknown keys", where="replay")
    first = dict(zip(before.keys, before.selection.tolist(), strict=True))
    second = dict(zip(after.keys, after.selection.tolist(), strict=True))
    moved = np.array([first.get(key, 0) - second.get(key, 0) for key in {**first, **second}], dtype=np.int64)
    scale = 4**selection.bits
    yield Gap(part="votes", distance2=norm2(selection.norm, moved), allowed2=selection.sensitivity2 * scale)
    for mine, theirs in ((first, second), (second, first)):
        new = np.array([votes for key, votes in mine.items() if key not in theirs], dtype=np.int64)
        # Keys that exist in one world alone belong to the changed people: δ is proved for so many votes and keys.
        most = Fraction(selection.people**2)
        yield Gap(part="votes of new keys", distance2=norm2(selection.norm, new), allowed2=most * scale)
        allowed = Fraction(selection.people * selection.groups) ** 2
        yield Gap(part="new keys", distance2=Fraction(len(new)) ** 2, allowed2=allowed)
