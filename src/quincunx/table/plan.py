"""The typed plan of a question.

**The soundness invariant.** Every relation below an aggregate is person-local: it is a disjoint union, over units u of
protection, of F(rows of u) with F fixed by the question. `Scan`, `Filter` and `Project` keep it because each treats a
row by itself; there is no other node, so a question that cannot be typed as these is refused. See plan.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from quincunx.table.expression import Expression, Value


@dataclass(frozen=True, slots=True, kw_only=True)
class Scan:
    """All rows of one private table that have an owner: rows whose unit key is NULL are dropped."""

    table: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Filter:
    """The rows of `source` for which `condition` is true; neither false nor NULL."""

    source: Relation
    condition: Expression


@dataclass(frozen=True, slots=True, kw_only=True)
class Project:
    """Each row of `source` with new columns, computed from that row alone. The owner of a row stays its owner."""

    source: Relation
    columns: tuple[tuple[str, Expression], ...]


Relation: TypeAlias = Scan | Filter | Project


@dataclass(frozen=True, slots=True, kw_only=True)
class Key:
    """One expression of GROUP BY.

    values: the public keys, different, in the order of publication (None stands for NULL); rows with any other key
    are dropped. None: the keys are unknown and must be selected privately.
    """

    name: str
    expression: Expression
    values: tuple[Value, ...] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Aggregate:
    """One statistic for each group, to be noised.

    kind: "count" counts rows (with an argument: rows in which it is not NULL); "sum" and "mean" are of the argument,
    NULL left out; "people" counts the different units of protection. where: the condition of FILTER.
    """

    kind: Literal["count", "sum", "mean", "people"]
    argument: Expression | None = None
    where: Expression | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Output:
    """A published column: an expression over `Measured` and `GroupKey` nodes."""

    name: str
    expression: Expression


@dataclass(frozen=True, slots=True, kw_only=True)
class Ordering:
    """One expression of ORDER BY, over published values."""

    expression: Expression
    descending: bool
    nulls_first: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """A question: rows below, aggregates in the middle, post-processing above.

    Every aggregate that occurs anywhere, also only in HAVING or ORDER BY, is in `aggregates`, is charged and is noised.
    """

    rows: Relation
    keys: tuple[Key, ...]
    aggregates: tuple[Aggregate, ...]
    outputs: tuple[Output, ...]
    having: Expression | None = None
    order: tuple[Ordering, ...] = ()
    limit: int | None = None
    offset: int = 0

    @property
    def known_keys(self) -> bool:
        """Whether the groups are public: every key has its values listed (so also without GROUP BY)."""
        return all(key.values is not None for key in self.keys)
