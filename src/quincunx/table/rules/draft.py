"""A program while it is being planned: what each rule takes and gives back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import prod
from typing import Literal

from quincunx.table.aggregates import Term
from quincunx.table.measure import Measure, Program, Selection
from quincunx.table.plan import Query
from quincunx.table.schema import Limits, Schema, TableSchema


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
    def limits(self) -> Limits:
        """How much of one unit may count in the rows of the question."""
        return self.query.allowed

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
        rows = self.limits.rows
        if rows is not None and self.query.climbed == "length":
            # Whoever is in so many groups has a row in each: a length of at least their root.
            rows = rows**2
        known = [bound for bound in (self.limits.groups, rows, self.public_groups) if bound is not None]
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
