"""Worlds of counts by key."""

from __future__ import annotations

import random
from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from quincunx.audit.spaces.space import Space
from quincunx.errors import ParameterError
from quincunx.numbers import Number, positive_integer
from quincunx.spec import AddRemove, Replace, domain, of_people

Counts: TypeAlias = tuple[int, ...]

# Around the numbers at which small counts are suppressed, rounded or cut into classes.
_EDGES: Final = (2, 3, 4, 5, 6, 9, 10, 11, 15, 19, 20, 25, 49, 50, 99)
_LARGE: Final[tuple[int, ...]] = (100, 2**15, 2**31 - 1, 2**31, 2**53, 10**12)


@dataclass(frozen=True, slots=True, kw_only=True, init=False, eq=False)
class Histograms(Space[Counts]):
    """Counts of people by cell, each person in one cell. A world, as the statistic sees it, is `form` of a dict.

    cells: their labels, or how many there are. unit: AddRemove or Replace without a key; a group of k moves k people.
    most: the largest count. sparse: cells without people are left out of the dict, as where keys are unknown.
    """

    cells: tuple[Hashable, ...]
    unit: AddRemove | Replace
    most: int
    sparse: bool
    form: Callable[[dict[Any, int]], Any]

    def __init__(
        self,
        cells: Iterable[Hashable] | int,
        *,
        unit: AddRemove | Replace,
        most: Number = 10**12,
        sparse: bool = False,
        form: Callable[[dict[Any, int]], Any] = dict,
    ) -> None:
        if not of_people(unit) or unit.key is not None:
            hint = "Each person is in one cell: give unit.AddRemove() or unit.Replace(), with a group for several."
            raise ParameterError("expected a unit of single records", where="Histograms", hint=hint)
        named = domain.Histogram(cells=cells)
        labels = tuple(range(named.cells)) if isinstance(named.cells, int) else named.cells
        if unit.keeps_number and len(labels) == 1:
            hint = "Replacing keeps the number of people: give two cells or more."
            raise ParameterError("no two histograms of one cell are neighbours", where="Histograms", hint=hint)
        fields = {"cells": labels, "unit": unit, "most": positive_integer(most, "Histograms(most)")}
        for name, value in {**fields, "sparse": sparse, "form": form}.items():
            object.__setattr__(self, name, value)

    def draw(self, source: random.Random) -> Counts:
        style = source.choice(("any", "few", "edge", "edge", "large", "one cell", "empty"))
        counts = [self._count(style, source) for _ in self.cells]
        if style == "one cell" or (self.unit.keeps_number and not any(counts)):
            counts[source.randrange(len(counts))] = source.choice((1, self.most))
        return tuple(counts)

    def _count(self, style: str, source: random.Random) -> int:
        small: dict[str, tuple[int, ...]] = {
            "any": (0, 0, 1, 2, source.randint(0, 50)),
            "few": (0, 1, 2),
            "edge": (*_EDGES, source.randint(0, 12)),
        }
        large = (*_LARGE, self.most) if style in ("any", "large") else ()
        return min(self.most, source.choice((*small.get(style, () if large else (0,)), *large)))

    def neighbour(self, world: Counts, source: random.Random) -> Counts:
        counts = list(world)
        changes = self.unit.group if source.random() < 0.7 else source.randint(1, self.unit.group)
        # A whole group at one cell moves a count most.
        start = source.randrange(len(counts))
        down = source.random() < 0.5
        for _ in range(changes):
            cell = start if source.random() < 0.7 else source.randrange(len(counts))
            if self.unit.keeps_number:
                self._move(counts, cell, source)
            else:
                self._step(counts, cell, down)
        return tuple(counts)

    def _move(self, counts: list[int], cell: int, source: random.Random) -> None:
        held = [i for i, count in enumerate(counts) if count]
        gone = cell if counts[cell] else source.choice(held)
        there = [i for i in range(len(counts)) if i != gone and counts[i] < self.most]
        if there:
            counts[gone] -= 1
            counts[source.choice(there)] += 1

    def _step(self, counts: list[int], cell: int, down: bool) -> None:
        change = -1 if (down and counts[cell]) or counts[cell] >= self.most else 1
        counts[cell] += change

    def smaller(self, before: Counts, after: Counts) -> Iterator[tuple[Counts, Counts]]:
        for cell, (first, second) in enumerate(zip(before, after, strict=True)):
            common = min(first, second)
            # Taking the same number from both keeps what differs.
            for less in dict.fromkeys((common, common // 2, 1)):
                if 0 < less <= common:
                    yield _taken(before, cell, less), _taken(after, cell, less)

    def given(self, world: Counts) -> Any:
        return self.form({cell: n for cell, n in zip(self.cells, world, strict=True) if n or not self.sparse})

    def same(self, before: Counts, after: Counts) -> bool:
        return before == after

    def kind(self, before: Counts, after: Counts) -> str:
        if not any(before) or not any(after):
            return "empty"
        if max(*before, *after) >= 100:
            return "large counts"
        new = any((first == 0) != (second == 0) for first, second in zip(before, after, strict=True))
        return "a cell comes or goes" if new else "ordinary"

    def words(self) -> str:
        group = f" x {self.unit.group}" if self.unit.group > 1 else ""
        return f"{self.unit.kind} one count of {len(self.cells)}{group}"


def _taken(counts: Counts, cell: int, less: int) -> Counts:
    return (*counts[:cell], counts[cell] - less, *counts[cell + 1 :])
