"""What the rows of one owner are folded into: the aggregates that stand below the noise. See fold.md.

Each is a function of a multiset of rows, whatever their order: sums are sums of whole numbers, and nothing else here
adds. Means and variances are made of these (`sql/folds.py`), never by an engine's own arithmetic.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar, Final, Literal, TypeAlias

from quincunx.table import canonical
from quincunx.table.aggregates import Lattice
from quincunx.table.canonical import Json
from quincunx.table.expression import Expression
from quincunx.table.typing.facts import Facts

Folded: TypeAlias = Literal["count", "distinct", "sum", "squares", "least", "greatest", "all", "any", "between", "rank"]

# What an engine moves sums to, so that they fit 63 bits and can be summed again.
LARGEST: Final = 2**62 - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Fold:
    """One value for each group of one owner's rows; NULL arguments are left out, as are rows without `where`.

    kind: count (of rows, or of those in which the argument is not NULL); distinct: how many different values; sum;
    squares: the sum of squares; least, greatest; all, any (of conditions); between, rank: the quantile at `level`,
    between two values (QUANTILE_CONT) or one of them (QUANTILE_DISC). lattice: where it is given, the argument is
    counted in its steps, clip(⌊x/step + 1/2⌋, low, high) − centre, and so is the result.
    """

    tag: ClassVar[str] = "Fold"

    kind: Folded
    argument: Expression | None = None
    where: Expression | None = None
    lattice: Lattice | None = None
    level: Fraction | None = None

    @property
    def facts(self) -> dict[str, Any]:
        """What is proved of the result, as keyword arguments of an expression."""
        return self._result().named()

    def _result(self) -> Facts:
        argument, one = self.argument, Fraction(1)
        if argument is None or self.kind in ("count", "distinct"):
            return Facts(type="integer", nullable=False, low=Fraction(0), step=one)
        nullable = argument.nullable or self.where is not None or self.lattice is not None
        low, high, step = argument.low, argument.high, argument.step
        if self.lattice is not None:
            low, high = (Fraction(end - self.lattice.centre) for end in (self.lattice.low, self.lattice.high))
            step = one
        if self.kind in ("sum", "squares"):
            # A sum is as long as a person has rows: of its ends only the sign is known.
            least = Fraction(0) if self.kind == "squares" or (low is not None and low >= 0) else None
            most = Fraction(0) if self.kind == "sum" and high is not None and high <= 0 else None
            return Facts(type="integer", nullable=nullable, low=least, high=most, step=step)
        if self.kind == "between":
            return Facts(type="decimal", nullable=nullable, low=low, high=high)
        kind = "integer" if self.lattice is not None else argument.type
        return Facts(type=kind, nullable=nullable, low=low, high=high, step=step)

    @property
    def expressions(self) -> tuple[Expression, ...]:
        """Everything that is computed from a row."""
        return tuple(each for each in (self.argument, self.where) if each is not None)

    def rewrite(self, change: Callable[[Expression], Expression]) -> Fold:
        """The same fold with `change` applied to its expressions."""
        argument = None if self.argument is None else change(self.argument)
        where = None if self.where is None else change(self.where)
        return replace(self, argument=argument, where=where)

    def canonical(self) -> Json:
        """What names it in a ledger."""
        parts: dict[str, Json] = {"argument": canonical.part(self.argument), "where": canonical.part(self.where)}
        if self.lattice is not None:
            ends = [self.lattice.low, self.lattice.high, self.lattice.centre]
            parts["lattice"] = [canonical.number(self.lattice.step), *ends]
        if self.level is not None:
            parts["level"] = canonical.number(self.level)
        return canonical.node(self.tag, kind=self.kind, **parts)
