"""CDF_COUNT(x, edges): how many rows there are up to each of several public edges. See cdf_count.md."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from sqlglot import exp

from quincunx.table.aggregates.bins import PARTS, Bins, Edged
from quincunx.table.aggregates.estimate import Estimate, Expected, Numbers, Part
from quincunx.table.aggregates.histogram import counted, expected
from quincunx.table.aggregates.term import Lattice
from quincunx.table.aggregates.tree import fitted_counts, up_to
from quincunx.table.interval import Bounds
from quincunx.table.typing.facts import Facts


class CdfCountCall(Edged):
    """CDF_COUNT as the parser's tree holds it."""

    _sql_names: ClassVar[list[str]] = ["CDF_COUNT"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CdfCount(Bins):
    """The number of rows up to an edge."""

    kind: ClassVar[str] = "cdf count"
    noun: ClassVar[str] = "count"
    nodes: ClassVar[Mapping[type[exp.Expr], frozenset[str]]] = {CdfCountCall: PARTS}
    names: ClassVar[tuple[str, ...]] = ("CDF_COUNT",)
    synonyms: ClassVar[Mapping[str, type[exp.Expr]]] = {"cdf_count": CdfCountCall}
    edged: ClassVar[type[Edged]] = CdfCountCall
    beyond: ClassVar[bool] = False
    bins: ClassVar[str] = "tree"

    def result(self) -> Facts:
        return Facts(type="integer", nullable=False, step=Fraction(1))

    def bounds(self, lattices: Sequence[Lattice]) -> Bounds:
        del lattices
        return Fraction(0), None

    def estimate(self, numbers: Sequence[Numbers], parts: Sequence[Part], risk: Fraction) -> Estimate:
        (noisy,), (part,) = numbers, parts
        found = fitted_counts(noisy, part.noise)
        row = up_to(part.noise.bins, part.noise.branching)[self.place]
        return counted(found.up_to[:, self.place], found.settled, part, row, risk)

    def expected(self, parts: Sequence[Part], risk: Fraction, rows: int) -> Expected:
        del rows
        (part,) = parts
        return expected(part, up_to(part.noise.bins, part.noise.branching)[self.place], risk)
