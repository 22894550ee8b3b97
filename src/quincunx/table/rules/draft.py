"""A program while it is being planned: what each rule takes and gives back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import prod
from typing import Literal

from quincunx.errors import QueryError
from quincunx.table.expression import Expression
from quincunx.table.measure import Measure, Program, Selection, Statistic
from quincunx.table.plan import Query, Relation, Scan
from quincunx.table.schema import Schema, TableSchema


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
    def table(self) -> TableSchema:
        """The private table of the question."""
        relation: Relation = self.query.rows
        while not isinstance(relation, Scan):
            relation = relation.source
        found = self.schema.table(relation.table)
        if found is None or found.public:
            hint = "Name a private table of the dataset."
            raise QueryError("the question has no private table", where="plan", got=relation.table, hint=hint)
        return found

    @property
    def public_groups(self) -> int | None:
        """How many groups are public; 1 without GROUP BY, None where a key is unknown."""
        return prod(len(key.values or ()) for key in self.query.keys) if self.query.known_keys else None

    @property
    def groups(self) -> int | None:
        """The largest number of groups that one unit may count in: the smallest of what limits it; None: nothing."""
        limits = self.table.limits
        known = [bound for bound in (limits.groups, limits.rows, self.public_groups) if bound is not None]
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
