"""All populations that agree with published counts: how many there are, and what they have in common.

The populations are the whole numbers x ≥ 0 with rows·x = counts. They are counted one cell after the other, by the
counts that are left over: two ways to begin that leave the same are continued in the same ways. Exact whole numbers
throughout; proof: block.md.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from quincunx.errors import DataError

Ints: TypeAlias = NDArray[np.int64]
Floats: TypeAlias = NDArray[np.float64]
# Left-overs that are kept for one cell at most: beyond, the tables leave too much open to be counted here.
MOST_STATES: Final = 400_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Reconstruction:
    """What published counts say about the people behind them.

    solutions: how many populations agree with every count, exactly. least, most: for each cell, the smallest and the
    largest count in any of them. guess: counts that name the most people correctly on average; where one population
    alone agrees, that population.
    """

    solutions: int
    guess: tuple[int, ...]
    least: tuple[int, ...]
    most: tuple[int, ...]

    @property
    def certain(self) -> int:
        """How many people are in every population that agrees: nobody can doubt them."""
        return sum(self.least)

    @property
    def unique(self) -> bool:
        """Whether one population alone agrees, so that the tables are the people."""
        return self.solutions == 1


class _Step(NamedTuple):
    """One cell: its place, its digits among the left-overs as (unit, radix), which of them it must use up, its code."""

    cell: int
    digits: tuple[tuple[int, int], ...]
    last: tuple[tuple[int, int], ...]
    code: int


class _Rest(NamedTuple):
    """What can follow a left-over: in how many ways, exactly, and the logarithm of how probable they are together."""

    ways: int
    weight: float


def consistent(rows: Ints, counts: Ints, shares: Floats) -> Reconstruction | None:
    """Every x ≥ 0 with rows·x = counts, summed up; None where there is none.

    rows: zeros and ones, every cell in at least one row. shares: how common each cell is beforehand, in any unit; a
    population has probability ∝ Π share^x/x!, that of independent people. The guess alone depends on it.
    """
    begun = _steps(rows, counts)
    if begun is None:
        return None
    steps, start = begun
    layers = _forward(steps, start, shares)
    if layers is None:
        return None
    rest: dict[int, _Rest] = {0: _Rest(1, 0.0)}
    # For each cell that may hold people: how many → the logarithm of how probable, up to a constant.
    chances: dict[int, dict[int, float]] = {}
    for step, layer in zip(reversed(steps), reversed(layers), strict=True):
        rest, chances[step.cell] = _before(step, layer, rest, float(shares[step.cell]))
    if start not in rest:
        return None
    cells = range(rows.shape[1])
    return Reconstruction(
        solutions=rest[start].ways,
        guess=best_guess({cell: tail(found) for cell, found in chances.items()}, rows.shape[1]),
        least=tuple(min(chances.get(cell, (0,))) for cell in cells),
        most=tuple(max(chances.get(cell, (0,))) for cell in cells),
    )


def tail(chances: Mapping[int, float]) -> list[float]:
    """P(count ≥ k) for k = 1, 2, … from logarithms of weights of 0, 1, 2, …"""
    largest = max(chances.values())
    weights = {count: math.exp(each - largest) for count, each in chances.items()}
    whole = sum(weights.values())
    return [sum(each for count, each in weights.items() if count >= k) / whole for k in range(1, max(chances) + 1)]


def best_guess(tails: Mapping[int, Sequence[float]], cells: int) -> tuple[int, ...]:
    """The counts of the expected size whose expected overlap with the truth is largest.

    The overlap Σ min(guess_c, X_c) has mean Σ_c Σ_{k ≤ guess_c} P(X_c ≥ k), and these fall in k: the largest are taken.
    """
    every = sorted(((-chance, cell) for cell, found in tails.items() for chance in found))
    size = round(-sum(chance for chance, _ in every))
    guess = [0] * cells
    for _, cell in every[:size]:
        guess[cell] += 1
    return tuple(guess)


def _steps(rows: Ints, counts: Ints) -> tuple[list[_Step], int] | None:
    """The cells that may hold people, in order, and the left-over at the start as one number with a digit for each row.

    The digit of row r counts from 0 to counts_r, so subtracting a cell's code takes one person from each of its rows.
    """
    pairs = zip(rows, counts.tolist(), strict=True)
    sets = [(sum(1 << cell for cell in np.flatnonzero(row).tolist()), count) for row, count in pairs]
    reduced = _reduced(sets)
    if reduced is None:
        return None
    units, unit = [], 1
    for cells, count in reduced.items():
        units.append((cells, unit, count + 1))
        unit *= count + 1
    steps = []
    # A cell in no row that is left was emptied by a count of 0.
    for cell in range(rows.shape[1]):
        own = [(cells, each, radix) for cells, each, radix in units if cells >> cell & 1]
        if not own:
            continue
        digits = tuple((each, radix) for _, each, radix in own)
        last = tuple((each, radix) for cells, each, radix in own if not cells >> cell + 1)
        steps.append(_Step(cell=cell, digits=digits, last=last, code=sum(each for each, _ in digits)))
    return steps, sum(each * (radix - 1) for _, each, radix in units)


def _reduced(sets: list[tuple[int, int]]) -> dict[int, int] | None:
    """The same counts about smaller sets of cells, written as bits; None where they contradict each other.

    A count of a set within another gives the count of the rest, and a count of 0 empties its cells everywhere: the
    solutions stay the same, and rows end earlier.
    """
    found: dict[int, int] = {}
    if any(found.setdefault(cells, count) != count for cells, count in sets):
        return None
    while True:
        empty = 0
        for cells, count in found.items():
            empty |= cells if count == 0 else 0
        smaller = {empty: 0} if empty else {}
        for cells, count in sorted(found.items(), key=lambda each: each[0].bit_count()):
            rest, left = cells & ~empty, count
            for inner, inside in smaller.items():
                if inner & rest == inner:
                    rest, left = rest ^ inner, left - inside
            if left < 0 or (rest == 0 and left):
                return None
            if rest:
                smaller[rest] = left
        if smaller == found:
            return {cells: count for cells, count in found.items() if count}
        found = smaller


def _taking(step: _Step, left: int) -> range:
    """How many people the cell may take from a left-over."""
    highest = min(left // unit % radix for unit, radix in step.digits)
    # Whoever is left in a row that ends here must be taken here.
    lowest = max((left // unit % radix for unit, radix in step.last), default=0)
    return range(lowest, highest + 1)


def _forward(steps: list[_Step], start: int, shares: Floats) -> list[dict[int, float]] | None:
    """For each cell, every left-over that can be reached before it, with the logarithm of the weight of its ways."""
    layers: list[dict[int, float]] = []
    layer = {start: 0.0}
    for step in steps:
        layers.append(layer)
        reached, log_share = dict[int, float](), math.log(shares[step.cell])
        for left, weight in layer.items():
            for taken in _taking(step, left):
                after = left - taken * step.code
                more = weight + taken * log_share - math.lgamma(taken + 1)
                reached[after] = _added(reached[after], more) if after in reached else more
        layer = reached
        if not layer:
            return None
        if len(layer) > MOST_STATES:
            hint = "Publish more tables about fewer people: these leave too much open to count it."
            raise DataError(f"more than {MOST_STATES:,} left-overs at one cell", where="reconstruct_block", hint=hint)
    return layers


def _before(
    step: _Step, layer: dict[int, float], after: dict[int, _Rest], share: float
) -> tuple[dict[int, _Rest], dict[int, float]]:
    """What can follow each left-over before the cell, and how probable each number of people in the cell is."""
    found, chances, log_share = dict[int, _Rest](), dict[int, float](), math.log(share)
    for left, before in layer.items():
        ways, weight = 0, -math.inf
        for taken in _taking(step, left):
            follows = after.get(left - taken * step.code)
            if follows is None:
                continue
            here = follows.weight + taken * log_share - math.lgamma(taken + 1)
            chances[taken] = _added(chances.get(taken, -math.inf), before + here)
            ways, weight = ways + follows.ways, _added(weight, here)
        if ways:
            found[left] = _Rest(ways, weight)
    return found, chances


def _added(a: float, b: float) -> float:
    """ln(e^a + e^b), b finite."""
    high, low = (a, b) if a > b else (b, a)
    return high + math.log1p(math.exp(low - high))
