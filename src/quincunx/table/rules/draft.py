"""A program while it is being planned: what each rule takes and gives back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import prod
from typing import Literal

from quincunx.errors import QueryError
from quincunx.table.aggregates import Term
from quincunx.table.measure import Measure, Program, Selection
from quincunx.table.plan import Query, Relation, Scan
from quincunx.table.schema import Schema, TableSchema


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """All that is known so far; rules fill it from the top down.

    parts: for each aggregate, the indices of its terms. bounds2: C² by kind of vector.
    """

    query: Query
    schema: Schema
    norm: Literal[1, 2]
    terms: tuple[Term, ...] = ()
    parts: tuple[tuple[int, ...], ...] = ()
    bounds2: Mapping[str, Fraction]
    measures: tuple[Measure, ...] = ()
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
            parts=self.parts,
            selection=self.selection,
            biases=self.biases,
        )
