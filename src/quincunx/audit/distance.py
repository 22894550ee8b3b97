"""How far two worlds are apart before noise, against what the plan declares."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from quincunx.audit.worlds import Exact
from quincunx.table.measure import Measure, Program, Selection


@dataclass(frozen=True, slots=True, kw_only=True)
class Gap:
    """One comparison. part: "measure 0", "votes", "votes of new keys" or "new keys".

    distance2, allowed2: squares, in lattice units and the declared norm; for "new keys" squares of how many there are.
    """

    part: str
    distance2: Fraction
    allowed2: Fraction

    @property
    def holds(self) -> bool:
        """Whether the distance is within what is declared."""
        return self.distance2 <= self.allowed2

    @property
    def ratio(self) -> float:
        """The distance as a part of what is declared; for people, near 1 where the worlds are hard."""
        if not self.allowed2:
            return 0.0 if not self.distance2 else float("inf")
        return math.sqrt(self.distance2 / self.allowed2)


def gaps(program: Program, before: Exact, after: Exact) -> list[Gap]:
    """Every comparison that the program's declarations promise for this pair."""
    found = [_gap(f"measure {i}", measure, *_shared(before, after, i)) for i, measure in enumerate(program.measures)]
    if program.selection is not None:
        found.extend(_votes(program.selection, before, after))
    return found


def _gap(part: str, measure: Measure, a: NDArray[np.int64], b: NDArray[np.int64]) -> Gap:
    return Gap(part=part, distance2=norm2(measure.vector.norm, a - b), allowed2=measure.sensitivity2)


def norm2(norm: int, difference: NDArray[np.int64]) -> Fraction:
    """The square of the ℓ1 or ℓ2 norm, exactly."""
    moved = [abs(int(each)) for each in difference[difference != 0]]
    return Fraction(sum(moved) ** 2 if norm == 1 else sum(each * each for each in moved))


def _shared(before: Exact, after: Exact, index: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The numbers of the keys that both worlds have.

    An unknown key with votes in one world alone is shown with probability at most δ, whatever its numbers are; what
    may be shown otherwise is the keys with votes in both.
    """
    a, b = before.measures[index], after.measures[index]
    if before.votes is None:
        return a, b
    place = {key: i for i, key in enumerate(after.keys)}
    both = [(i, place[key]) for i, key in enumerate(before.keys) if key in place]
    return a[[i for i, _ in both]], b[[j for _, j in both]]


def _votes(selection: Selection, before: Exact, after: Exact) -> Iterator[Gap]:
    if before.votes is None or after.votes is None:
        return
    first = dict(zip(before.keys, before.votes.tolist(), strict=True))
    second = dict(zip(after.keys, after.votes.tolist(), strict=True))
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
