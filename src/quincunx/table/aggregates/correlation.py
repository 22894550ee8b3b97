"""CORR(y, x) and REGR_R2(y, x): a covariance over two deviations, and its square. See correlation.md."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Final, Self

import numpy as np
from sqlglot import exp

from quincunx.table import canonical
from quincunx.table.aggregates import centred
from quincunx.table.aggregates.call import Call, Form
from quincunx.table.aggregates.covariance import Covariance
from quincunx.table.aggregates.estimate import Estimate, Floats, Numbers, Part
from quincunx.table.aggregates.pair import Pair, both
from quincunx.table.aggregates.profile import SLACK
from quincunx.table.aggregates.term import Lattice, Term
from quincunx.table.aggregates.variance import Variance
from quincunx.table.canonical import Json
from quincunx.table.interval import Bounds

# Node → name, and whether it is squared.
_FUNCTIONS: Final[Mapping[type[exp.Expr], tuple[str, bool]]] = {
    exp.Corr: ("CORR", False),
    exp.RegrR2: ("REGR_R2", True),
}
# Of the risk, each variance has a fifth and the covariance the rest.
_SHARE: Final = Fraction(1, 5)


@dataclass(frozen=True, slots=True, kw_only=True)
class Correlation(Pair):
    """The correlation of two arguments. squared: its square, the share of y that a line explains."""

    kind: ClassVar[str] = "correlation"
    noun: ClassVar[str] = "correlation"
    nodes: ClassVar[Mapping[type[exp.Expr], frozenset[str]]] = dict.fromkeys(
        _FUNCTIONS, frozenset({"this", "expression"})
    )
    names: ClassVar[tuple[str, ...]] = ("CORR", "REGR_R2")
    forms: ClassVar[tuple[Form, ...]] = (Form(name="CORR", written="CORR({0}, -({0}))", needs="bounded"),)
    roles: ClassVar[tuple[str, ...]] = ("products", "squares of y", "squares of x", "sum of y", "sum of x", "count")

    squared: bool

    @classmethod
    def read(cls, call: Call) -> Self | None:
        name, squared = _FUNCTIONS[type(call.node)]
        y, x = both(call, name)
        return cls(argument=y, other=x, where=call.where, squared=squared)

    def terms(self) -> tuple[Term, ...]:
        called = "REGR_R2" if self.squared else "CORR"
        self.check(called)
        y, x, where = self.argument, self.other, self.where
        of_y, of_x = centred.lattice(y, called), centred.lattice(x, called)
        return (
            centred.products(y, of_y, x, of_x, where),
            centred.squares(y, of_y, where, beside=x),
            centred.squares(x, of_x, where, beside=y),
            centred.total(y, of_y, where, beside=x),
            centred.total(x, of_x, where, beside=y),
            centred.together(y, x, where),
        )

    def labels(self) -> tuple[str, ...]:
        return "products", "squares", "squares", "AVG", "AVG", "COUNT(x)"

    def bounds(self, lattices: Sequence[Lattice]) -> Bounds:  # noqa: ARG002 - whatever the lattices are
        return Fraction(0 if self.squared else -1), Fraction(1)

    def estimate(self, numbers: Sequence[Numbers], parts: Sequence[Part], risk: Fraction) -> Estimate:
        of_y, of_x = (
            Variance(argument=each, root=False, sample=False).estimate(
                [numbers[i] for i in at], [parts[i] for i in at], risk * _SHARE
            )
            for each, at in ((self.argument, (1, 3, 5)), (self.other, (2, 4, 5)))
        )
        at = (0, 3, 4, 5)
        joint = Covariance(argument=self.argument, other=self.other, sample=False).estimate(
            [numbers[i] for i in at], [parts[i] for i in at], risk * (1 - 2 * _SHARE)
        )
        with np.errstate(all="ignore"):
            scale = np.sqrt(of_y.near * of_x.near)
            value = np.where(scale > 0, np.clip(joint.near / scale, -1.0, 1.0), 0.0)
            narrow = np.sqrt(of_y.low * of_x.low) * (1 - 8 * SLACK)
            wide = np.sqrt(of_y.high * of_x.high) * (1 + 8 * SLACK)
            low, high = -_share(-joint.low, narrow, wide), _share(joint.high, narrow, wide)
            by_y, by_x = (value / (2 * each.near) for each in (of_y, of_x))
            slopes: list[Floats] = [
                joint.slopes[0] / scale,
                -by_y * of_y.slopes[0],
                -by_x * of_x.slopes[0],
                joint.slopes[1] / scale - by_y * of_y.slopes[1],
                joint.slopes[2] / scale - by_x * of_x.slopes[1],
                joint.slopes[3] / scale - by_y * of_y.slopes[2] - by_x * of_x.slopes[2],
            ]
        low, high = np.minimum(low, value), np.maximum(high, value)
        if self.squared:
            slopes = [2 * value * np.where(np.isfinite(each), each, np.nan) for each in slopes]
            ends = low**2, high**2
            low = np.where((low < 0) & (high > 0), 0.0, np.minimum(*ends)) * (1 - SLACK)
            high = np.minimum(np.maximum(*ends) * (1 + SLACK), 1.0)
            value = value**2
        known = tuple(np.where(np.isfinite(slope), slope, np.nan) for slope in slopes)
        return Estimate(values=value.tolist(), type="float", near=value, low=low, high=high, slopes=known)

    def canonical(self) -> Json:
        """What names it in a ledger."""
        argument, other, where = (canonical.part(each) for each in (self.argument, self.other, self.where))
        return canonical.node(
            self.tag, kind=self.kind, argument=argument, other=other, where=where, squared=self.squared
        )


def _share(joint: Floats, narrow: Floats, wide: Floats) -> Floats:
    """The largest covariance over deviations between two ends, at most 1."""
    # Below 0 the largest is over the largest deviations; above, over the least, which may be 0.
    above = np.where(narrow > 0, joint / narrow, 1.0)
    return np.clip(np.where(joint < 0, joint / wide, above), -1.0, 1.0)
