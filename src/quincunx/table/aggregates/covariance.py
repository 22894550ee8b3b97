"""COVAR_POP and COVAR_SAMP: products, two centred sums and a count, of the same rows. See covariance.md."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Final, Self

import numpy as np
from numpy.typing import NDArray
from sqlglot import exp

from quincunx.numbers import float_above
from quincunx.table import canonical
from quincunx.table.aggregates import centred
from quincunx.table.aggregates.call import Call, Form
from quincunx.table.aggregates.estimate import Estimate, Floats, Numbers, Part
from quincunx.table.aggregates.linear import law
from quincunx.table.aggregates.pair import SHARE, Pair, Sums, both, published
from quincunx.table.aggregates.profile import SLACK, end
from quincunx.table.aggregates.term import Lattice, Term
from quincunx.table.canonical import Json
from quincunx.table.interval import Bounds

# Node → name, and whether it is divided by N − 1.
_FUNCTIONS: Final[Mapping[type[exp.Expr], tuple[str, bool]]] = {
    exp.CovarPop: ("COVAR_POP", False),
    exp.CovarSamp: ("COVAR_SAMP", True),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Covariance(Pair):
    """The covariance of two arguments. sample: N/(N − 1) times as much."""

    kind: ClassVar[str] = "covariance"
    noun: ClassVar[str] = "covariance"
    nodes: ClassVar[Mapping[type[exp.Expr], frozenset[str]]] = dict.fromkeys(
        _FUNCTIONS, frozenset({"this", "expression"})
    )
    names: ClassVar[tuple[str, ...]] = ("COVAR_POP", "COVAR_SAMP")
    forms: ClassVar[tuple[Form, ...]] = (Form(name="COVAR_POP", written="COVAR_POP({0}, -({0}))", needs="bounded"),)
    roles: ClassVar[tuple[str, ...]] = ("products", "sum of y", "sum of x", "count")

    sample: bool

    @classmethod
    def read(cls, call: Call) -> Self | None:
        name, sample = _FUNCTIONS[type(call.node)]
        y, x = both(call, name)
        return cls(argument=y, other=x, where=call.where, sample=sample)

    def terms(self) -> tuple[Term, ...]:
        called = "COVAR_SAMP" if self.sample else "COVAR_POP"
        self.check(called)
        y, x, where = self.argument, self.other, self.where
        of_y, of_x = centred.lattice(y, called), centred.lattice(x, called)
        return (
            centred.products(y, of_y, x, of_x, where),
            centred.total(y, of_y, where, beside=x),
            centred.total(x, of_x, where, beside=y),
            centred.together(y, x, where),
        )

    def labels(self) -> tuple[str, ...]:
        return "products", "AVG", "AVG", "COUNT(x)"

    def bounds(self, lattices: Sequence[Lattice]) -> Bounds:
        limit = self._limit(lattices)
        return -limit, limit

    def _limit(self, lattices: Sequence[Lattice]) -> Fraction:
        """|Cov|² ≤ Var·Var, and each variance is at most the square of half a range."""
        return centred.half(lattices[1]) * centred.half(lattices[2]) * (2 if self.sample else 1)

    def estimate(self, numbers: Sequence[Numbers], parts: Sequence[Part], risk: Fraction) -> Estimate:
        limit = float_above(self._limit([part.lattice for part in parts]))
        noise = law(parts, risk * (1 - 2 * SHARE))
        less = 1.0 if self.sample else 0.0
        with np.errstate(all="ignore"):
            sums = Sums.of(numbers, parts, risk)
            x, y, count = sums.x.near, sums.y.near, sums.count
            enough = noise.reach(3) * (1 + SLACK) + 2 * less
            settled = sums.settled & (count > enough)
            plain = sums.covariance
            more = np.maximum(count, 2.0) / (np.maximum(count, 2.0) - 1) if self.sample else np.ones(count.shape)
            value = np.clip(plain * more, -limit, limit)
            by_count = more * (x * y - plain) / count - (plain / (count - 1) ** 2 if self.sample else 0)
            slopes = [more / count, -x * more / count, -y * more / count, by_count]
            found = sums.pieces()
            (least, most), (edge_x, edge_y), size = found.products, found.edges, found.size
            counts = [one * two for one, two in found.corners]
            divisor = count - less

            def possible(v: Floats) -> NDArray[np.bool_]:
                away = np.maximum(least - v * divisor, v * divisor - most)
                by_count = np.maximum.reduce([np.abs(each - v) for each in counts])
                slack = 8 * SLACK * (size + np.abs(v * divisor))
                return noise.possible(np.maximum(away - slack, 0.0), 1.0, edge_x, edge_y, by_count)

            side = np.full(least.shape, limit)
            low = end(possible, np.maximum(least / divisor, -side), -side).min(axis=0)
            high = end(possible, np.minimum(most / divisor, side), side).max(axis=0)
        return published(value, low, high, slopes, settled, limit)

    def canonical(self) -> Json:
        """What names it in a ledger."""
        argument, other, where = (canonical.part(each) for each in (self.argument, self.other, self.where))
        return canonical.node(self.tag, kind=self.kind, argument=argument, other=other, where=where, sample=self.sample)
