"""People from counts, means and medians: the search of Garfinkel, Abowd and Martindale (2018) as an integer program.

Every statistic is linear in how many people there are of each kind: a mean bounds a sum, a median bounds how many are
below and how many are not above it. Where the number of people is even, the two in the middle are one of the pairs with
that mean, and a bit for each pair says which. What is found is checked in whole numbers; proof: block.md.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from statistics import median
from typing import Final

import numpy as np

from quincunx.attack.programs import Floats, minimise, whole_numbers
from quincunx.errors import DataError, VerificationError
from quincunx.numbers import rational

_ANY: Final = math.inf


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """A count of some kinds of people with the mean and the median of their values, as a table prints them.

    kinds: which kinds are counted, by their place. mean: rounded to `decimals` digits. median: exact.
    """

    kinds: tuple[int, ...]
    count: int
    mean: Fraction
    median: Fraction
    decimals: int = 1

    def __init__(self, *, kinds: Sequence[int], count: int, mean: object, median: object, decimals: int = 1) -> None:
        if count < 1 or not kinds or min(kinds) < 0:
            raise DataError("a summary is about at least one person of at least one kind", where="Summary")
        for name, value in (("kinds", tuple(kinds)), ("count", count), ("decimals", decimals)):
            object.__setattr__(self, name, value)
        object.__setattr__(self, "mean", rational(mean, "mean"))
        object.__setattr__(self, "median", rational(median, "median"))

    def agrees(self, values: Sequence[int]) -> bool:
        """Whether these are the values of so many people with this mean and this median."""
        if len(values) != self.count:
            return False
        near = abs(Fraction(sum(values), self.count) - self.mean) <= self.margin
        return near and Fraction(median(map(Fraction, values))) == self.median

    @property
    def margin(self) -> Fraction:
        """How far the printed mean may be from the mean."""
        return Fraction(1, 2 * 10**self.decimals)


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A population that agrees with every summary, as the kind of each person in order, and whether it is the only."""

    people: tuple[int, ...]
    unique: bool


class _Program:
    """An integer program that grows: columns for kinds of people first, then bits; rows with bounds."""

    def __init__(self, kinds: int, people: int) -> None:
        self.kinds, self.people, self.bits = kinds, people, 0
        self.rows: list[tuple[Floats, dict[int, int], float, float]] = []

    def row(self, people: Floats, low: float, high: float, bits: dict[int, int] | None = None) -> None:
        self.rows.append((people, bits or {}, low, high))

    def one_of(self, number: int) -> range:
        """So many new bits, of which at least one is set."""
        first, self.bits = self.bits, self.bits + number
        self.row(np.zeros(self.kinds), 1, _ANY, dict.fromkeys(range(first, self.bits), 1))
        return range(first, self.bits)

    def solve(self) -> tuple[int, ...] | None:
        """The counts of one population that satisfies every row, or None."""
        matrix = np.zeros((len(self.rows), self.kinds + self.bits))
        for place, (people, bits, _, _) in enumerate(self.rows):
            matrix[place, : self.kinds] = people
            for bit, coefficient in bits.items():
                matrix[place, self.kinds + bit] = coefficient
        width = self.kinds + self.bits
        found = minimise(
            cost=np.zeros(width),
            lower=np.zeros(width),
            upper=np.concatenate([np.full(self.kinds, float(self.people)), np.ones(self.bits)]),
            matrix=matrix,
            row_lower=np.array([low for _, _, low, _ in self.rows]),
            row_upper=np.array([high for _, _, _, high in self.rows]),
            whole=np.ones(width, dtype=np.bool_),
        )
        return None if found is None else tuple(whole_numbers(found.values[: self.kinds], self.people).tolist())


def reconstruct_people(values: Sequence[int], summaries: Sequence[Summary]) -> Found:
    """A population that agrees with every summary, and whether there is another one.

    values: the number that each kind of person has (an age), whole and ≥ 0. The first summary counts everyone.
    """
    if not summaries or any(max(each.kinds) >= len(values) for each in summaries):
        hint = "The first summary counts everyone; kinds are places in `values`, from 0."
        raise DataError("expected summaries of these kinds of people", where="reconstruct_people", hint=hint)
    everyone = summaries[0].count
    program = _Program(len(values), everyone)
    held = np.asarray(values, dtype=np.float64)
    for each in summaries:
        _state(program, each, held)
    first = program.solve()
    if first is None:
        raise DataError("no population agrees with these summaries", where="reconstruct_people")
    people = tuple(kind for kind, count in enumerate(first) for _ in range(count))
    if not all(each.agrees([values[kind] for kind in people if kind in each.kinds]) for each in summaries):
        raise VerificationError("the population found does not agree with the summaries", where="reconstruct_people")
    # Another population of as many people has fewer of some kind that is in this one.
    present = [kind for kind, count in enumerate(first) if count]
    for bit, kind in zip(program.one_of(len(present)), present, strict=True):
        program.row(np.eye(1, len(values), kind)[0], -_ANY, first[kind] - 1 + everyone, {bit: everyone})
    return Found(people=people, unique=program.solve() is None)


def _state(program: _Program, summary: Summary, values: Floats) -> None:
    """The summary as rows of the program."""
    counted = np.isin(np.arange(values.size), summary.kinds).astype(np.float64)
    n, half = summary.count, summary.count // 2
    program.row(counted, n, n)
    low, high = ((summary.mean + side * summary.margin) * n for side in (-1, 1))
    program.row(counted * values, math.ceil(low), math.floor(high))
    middle = float(summary.median)
    if n % 2:
        # The one in the middle has the median: at most half are below it, more than half are not above it.
        program.row(counted * (values < middle), -_ANY, half)
        program.row(counted * (values <= middle), half + 1, _ANY)
        return
    # Values are whole, so twice the median is.
    double = 2 * summary.median
    pairs = [(a, int(double) - a) for a in range(int(summary.median) + 1)] if double.denominator == 1 else []
    for bit, (a, b) in zip(program.one_of(len(pairs)), pairs, strict=True):
        # With the bit set: the half-th value is a and the next is b. Without it these rows say nothing.
        program.row(counted * (values < a), -_ANY, half - 1 + n, {bit: n})
        program.row(counted * (values <= a), 0, _ANY, {bit: -half})
        program.row(counted * (values < b), -_ANY, half + n, {bit: n})
        program.row(counted * (values <= b), 0, _ANY, {bit: -half - 1})
