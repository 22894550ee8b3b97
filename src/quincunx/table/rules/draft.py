"""A program while it is being planned: what each rule takes and gives back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import prod
from typing import Literal

from quincunx.table.expression import Expression
from quincunx.table.measure import Measure, Program, Selection, Statistic
from quincunx.table.plan import Query
from quincunx.table.schema import Limits, Schema, TableSchema


@dataclass(frozen=True, slots=True, kw_only=True)
class Lattice:
    """Where the values of an argument lie: whole multiples of `step`, from `low` to `high` steps, minus `centre`."""

    step: Fraction
    low: int
    high: int
    centre: int

    @property
    def size(self) -> int:
        """The largest distance of a value from the centre, in steps; NULL counts as 0."""
        return max(abs(self.low - self.centre), abs(self.high - self.centre))

    @property
    def signed(self) -> bool:
        """Whether values on both sides of the centre can occur."""
        return self.low < self.centre < self.high


# A count counts ones.
ONES = Lattice(step=Fraction(1), low=1, high=1, centre=0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Term:
    """One measure before its scale is fixed. centred: the argument's middle is subtracted (for means)."""

    kind: Literal["count", "sum", "people"]
    argument: Expression | None = None
    where: Expression | None = None
    centred: bool = False
    lattice: Lattice = ONES


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """All that is known so far; rules fill it from the top down.

    ratios: for each aggregate, the indices of its term and, for means, of the term that counts. vectors: by kind.
    """

    query: Query
    schema: Schema
    norm: Literal[1, 2]
    terms: tuple[Term, ...] = ()
    ratios: tuple[tuple[int, int | None], ...] = ()
    bounds2: Mapping[str, Fraction]
    measures: tuple[Measure, ...] = ()
    statistics: tuple[Statistic, ...] = ()
    selection: Selection | None = None
    biases: tuple[str, ...] = ()

    @property
    def limits(self) -> Limits:
        """How much of one unit may count in the rows of the question."""
        return self.query.rows.limits

    @property
    def tables(self) -> tuple[TableSchema, ...]:
        """The tables that the question reads."""
        return tuple(self.query.rows.tables.values())

    @property
    def names(self) -> str:
        """Those tables, for a sentence."""
        return " and ".join(repr(table.name) for table in dict.fromkeys(self.tables) if not table.public)

    @property
    def public_groups(self) -> int | None:
        """How many groups are public; 1 without GROUP BY, None where a key is unknown."""
        return prod(len(key.values or ()) for key in self.query.keys) if self.query.known_keys else None

    @property
    def groups(self) -> int | None:
        """The largest number of groups that one unit may count in: the smallest of what limits it; None: nothing."""
        known = [bound for bound in (self.limits.groups, self.limits.rows, self.public_groups) if bound is not None]
        return min(known) if known else None

    def program(self) -> Program:
        """What the engine and the release need."""
        return Program(
            query=self.query,
            measures=self.measures,
            statistics=self.statistics,
            selection=self.selection,
            biases=self.biases,
        )
