"""CDF(x, edges): which share of the rows lies up to each of several public edges. See cdf.md."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import ClassVar, Final

import numpy as np
from numpy.typing import NDArray
from sqlglot import exp

from quincunx.mechanisms import CountTree
from quincunx.numbers import amount
from quincunx.table.aggregates.bins import PARTS, Bins, Edged
from quincunx.table.aggregates.estimate import Estimate, Expected, Floats, Noise, Numbers, Part
from quincunx.table.aggregates.profile import SLACK, end
from quincunx.table.aggregates.term import Lattice
from quincunx.table.aggregates.tree import fitted_counts, norm_of, standard_error, up_to
from quincunx.table.interval import Bounds
from quincunx.table.typing.facts import Facts

# Shares at which the error is worked out; between two of them it is below the straight line.
_SHARES: Final = tuple(Fraction(i, 4) for i in range(5))


class CdfCall(Edged):
    """CDF as the parser's tree holds it."""

    _sql_names: ClassVar[list[str]] = ["CDF"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Cdf(Bins):
    """The share of the rows up to an edge among all rows with a value."""

    kind: ClassVar[str] = "cdf"
    noun: ClassVar[str] = "share"
    nodes: ClassVar[Mapping[type[exp.Expr], frozenset[str]]] = {CdfCall: PARTS}
    names: ClassVar[tuple[str, ...]] = ("CDF",)
    synonyms: ClassVar[Mapping[str, type[exp.Expr]]] = {"cdf": CdfCall}
    edged: ClassVar[type[Edged]] = CdfCall
    beyond: ClassVar[bool] = False
    bins: ClassVar[str] = "tree"

    def result(self) -> Facts:
        return Facts(type="decimal", nullable=False)

    def bounds(self, lattices: Sequence[Lattice]) -> Bounds:
        del lattices
        return Fraction(0), Fraction(1)

    def estimate(self, numbers: Sequence[Numbers], parts: Sequence[Part], risk: Fraction) -> Estimate:
        (noisy,), (part,) = numbers, parts
        found = fitted_counts(noisy, part.noise)
        below, total = (
            np.array([float(each) for each in found.up_to[:, place]], dtype=np.float64) for place in (self.place, -1)
        )
        return self._shares(below, total, found.settled, part, risk)

    def expected(self, parts: Sequence[Part], risk: Fraction, rows: int) -> Expected:
        (part,) = parts
        share = Fraction(self.place + 1, self.count)
        total = np.array([rows / float(part.unit) * part.noise.split])
        found = self._shares(total * float(share), total, np.array([True]), part, risk)
        half = max(float(found.high[0] - found.near[0]), float(found.near[0] - found.low[0]))
        se = None if found.se is None or np.isnan(found.se[0]) else float(found.se[0])
        assumed = f"assumed: a group of {rows:,} rows, of which the share {amount(share)} lies there"
        return Expected(half_width=half, se=se, assumed=assumed)

    def _shares(self, below: Floats, total: Floats, inside: NDArray[np.bool_], part: Part, risk: Fraction) -> Estimate:
        """The hull of {r in [0, 1] : |below − r·total| ≤ q(r)}; all of [0, 1] where the total is within its error."""
        tree = part.noise
        reach = _reach(tree.bins, tree.branching, tree.noise, risk)
        settled = inside & (total > reach * (1 + SLACK))
        with np.errstate(divide="ignore", invalid="ignore"):
            near = np.clip(np.where(total > 0, below / total, 0.0), 0.0, 1.0)
        allowed = np.array(_allowed(tree.bins, tree.branching, self.place, tree.noise, risk))
        slack = SLACK * (np.abs(below) + np.abs(total))

        def possible(share: Floats) -> NDArray[np.bool_]:
            off = np.abs(below - share * total) - slack
            return np.asarray(off <= np.interp(share, [float(each) for each in _SHARES], allowed))

        low, high = (np.where(settled, end(possible, near, np.full(near.shape, side)), side) for side in (0.0, 1.0))
        with np.errstate(divide="ignore", invalid="ignore"):
            se = np.where(settled, self._errors(near, tree) / total, np.nan)
        return Estimate(
            values=near.tolist(),
            type="float",
            near=near,
            low=np.minimum(low, near),
            high=np.maximum(high, near),
            slopes=(np.full(near.shape, np.nan),),
            se=se,
        )

    def _errors(self, share: Floats, tree: CountTree) -> Floats:
        """The standard deviation of below − share·total."""
        # A quadratic in the share, from three of its values.
        zero, half, one = (
            standard_error(_mixed(tree.bins, tree.branching, self.place, each), tree.noise) ** 2
            for each in (Fraction(0), Fraction(1, 2), Fraction(1))
        )
        square = 2 * (zero + one - 2 * half)
        return np.sqrt(np.maximum(zero + share * (one - zero - square) + share**2 * square, 0.0))


def _mixed(bins: int, branching: int, place: int, share: Fraction) -> Floats:
    """The coefficients of what lies up to an edge, less a share of everything."""
    rows = up_to(bins, branching)
    return np.asarray(rows[place] - float(share) * rows[-1])


@lru_cache(maxsize=1024)
def _allowed(bins: int, branching: int, place: int, noise: Noise, risk: Fraction) -> tuple[float, ...]:
    """q at each of the shares."""
    return tuple(norm_of(_mixed(bins, branching, place, share), noise, risk) for share in _SHARES)


@lru_cache(maxsize=256)
def _reach(bins: int, branching: int, noise: Noise, risk: Fraction) -> float:
    """By how much q can grow, at most, for each unit of the share."""
    return norm_of(up_to(bins, branching)[-1], noise, risk)
