"""Typed scalar expressions: what a row, or a row of noisy aggregates, is computed from.

An expression is a total function of one row. Its type, whether it can be NULL, and bounds on its value are proved when
it is built and hold for every row that could exist, because a column with declared bounds is clipped where it is read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import date, datetime
from fractions import Fraction
from typing import TypeAlias

# What a literal or a key may be; a number with decimals is a Fraction, never a float.
Value: TypeAlias = bool | int | Fraction | str | date | datetime | None

NUMBERS = ("integer", "decimal")


@dataclass(frozen=True, slots=True, kw_only=True)
class Expression:
    """A total function of a row.

    type: integer, decimal, text, date, timestamp or boolean. nullable: whether NULL can occur. low, high: bounds that
    every number other than NULL keeps; None where none is proved. step: every number is meant as a whole multiple of
    it, so that sums are taken on that lattice; None where nothing is known.
    """

    type: str
    nullable: bool = True
    low: Fraction | None = None
    high: Fraction | None = None
    step: Fraction | None = None

    @property
    def parts(self) -> tuple[Expression, ...]:
        """The expressions that this one is made of."""
        return ()

    @property
    def bounded(self) -> bool:
        """Whether both bounds are proved."""
        return self.low is not None and self.high is not None

    def walk(self) -> Iterator[Expression]:
        """This expression and everything in it, outermost first."""
        yield self
        for part in self.parts:
            yield from part.walk()

    def rewrite(self, change: Callable[[Expression], Expression]) -> Expression:
        """The same expression with `change` applied to every node, innermost first."""
        return change(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class Column(Expression):
    """A column of the relation below."""

    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Literal(Expression):
    """A constant that was written in the question."""

    value: Value


@dataclass(frozen=True, slots=True, kw_only=True)
class Call(Expression):
    """An operator of `operators.py` applied to arguments."""

    operator: str
    arguments: tuple[Expression, ...]

    @property
    def parts(self) -> tuple[Expression, ...]:
        return self.arguments

    def rewrite(self, change: Callable[[Expression], Expression]) -> Expression:
        return change(replace(self, arguments=tuple(part.rewrite(change) for part in self.arguments)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured(Expression):
    """The published value of the query's aggregate number `index`. Above the aggregation only."""

    index: int


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupKey(Expression):
    """The value of the query's key number `index`. Above the aggregation only."""

    index: int
