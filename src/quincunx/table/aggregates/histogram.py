"""HISTOGRAM(x, edges): how many rows there are in each of several public bins, from one charge. See histogram.md."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sqlglot import exp

from quincunx.table.aggregates.bins import PARTS, Bins, Edged, bin_of
from quincunx.table.aggregates.estimate import Estimate, Expected, Floats, Numbers, Part
from quincunx.table.aggregates.term import Lattice
from quincunx.table.aggregates.tree import each_bin, fitted_counts, half_width, standard_error
from quincunx.table.expression import Expression
from quincunx.table.interval import Bounds
from quincunx.table.operators import literal
from quincunx.table.typing.facts import Facts


class HistogramCall(Edged):
    """HISTOGRAM as the parser's tree holds it."""

    _sql_names: ClassVar[list[str]] = ["HISTOGRAM"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Histogram(Bins):
    """The number of rows in one bin."""

    kind: ClassVar[str] = "histogram"
    noun: ClassVar[str] = "count"
    nodes: ClassVar[Mapping[type[exp.Expr], frozenset[str]]] = {HistogramCall: PARTS}
    names: ClassVar[tuple[str, ...]] = ("HISTOGRAM",)
    synonyms: ClassVar[Mapping[str, type[exp.Expr]]] = {"histogram": HistogramCall}
    edged: ClassVar[type[Edged]] = HistogramCall
    beyond: ClassVar[bool] = True
    bins: ClassVar[str] = "each"

    def result(self) -> Facts:
        return Facts(type="integer", nullable=False, step=Fraction(1))

    def bounds(self, lattices: Sequence[Lattice]) -> Bounds:
        del lattices
        return Fraction(0), None

    def estimate(self, numbers: Sequence[Numbers], parts: Sequence[Part], risk: Fraction) -> Estimate:
        (noisy,), (part,) = numbers, parts
        found = fitted_counts(noisy, part.noise)
        row = each_bin(part.noise.bins, part.noise.branching)[self.place]
        return counted(found.each[:, self.place], found.settled, part, row, risk)

    def expected(self, parts: Sequence[Part], risk: Fraction, rows: int) -> Expected:
        del rows
        (part,) = parts
        return expected(part, each_bin(part.noise.bins, part.noise.branching)[self.place], risk)


def in_bins(value: Expression, edges: Sequence[int]) -> Histogram:
    """Rows by the bins that end with these edges, and after the last."""
    return Histogram(argument=bin_of(value, tuple(literal(edge) for edge in edges)), where=None, place=0)


def counted(counts: NDArray[Any], settled: NDArray[np.bool_], part: Part, row: Floats, risk: Fraction) -> Estimate:
    """Counts that were read from a tree; row: what each of its noisy counts adds to them."""
    tree = part.noise
    unit = part.unit / tree.split
    exact = [each * unit for each in counts.tolist()]
    values = [math.floor(each + Fraction(1, 2)) for each in exact]
    near = np.array([float(value) for value in values], dtype=np.float64)
    half = half_width(row, tree.noise, risk) * float(unit) * (1 + 2.0**-50)
    centre = np.array([float(each) for each in exact], dtype=np.float64)
    slack = np.abs(centre) * 2.0**-50
    # A count at the end of the lattice is not the sum of its parts: clamped, it tells only that they were large.
    low, high = (
        np.where(settled, side, outside)
        for side, outside in ((centre - half - slack, -np.inf), (centre + half + slack, np.inf))
    )
    error = np.full(near.shape, standard_error(row, tree.noise) * float(unit))
    return Estimate(
        values=values,
        type="integer",
        near=near,
        low=np.minimum(low, near),
        high=np.maximum(high, near),
        slopes=(np.full(near.shape, np.nan),),
        se=np.where(settled, error, np.nan),
    )


def expected(part: Part, row: Floats, risk: Fraction) -> Expected:
    """How far off a count will be, in any group."""
    unit = float(part.unit / part.noise.split)
    return Expected(
        half_width=half_width(row, part.noise.noise, risk) * unit, se=standard_error(row, part.noise.noise) * unit
    )
