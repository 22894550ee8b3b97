"""The typed plan of a question: rows below (`relations/`), aggregates in the middle, post-processing above."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Final, Literal, TypeAlias

from quincunx.table import canonical
from quincunx.table.aggregates import Aggregate
from quincunx.table.canonical import Json
from quincunx.table.expression import Expression, Value
from quincunx.table.relations import Relation
from quincunx.table.schema import Limits


@dataclass(frozen=True, slots=True, kw_only=True)
class Key:
    """One expression of GROUP BY.

    values: the public keys, different, in the order of publication (None stands for NULL); rows with any other key
    are dropped. None: the keys are unknown and must be selected privately. complete: no row has any other key, because
    the values are all that the declared facts allow.
    """

    tag: ClassVar[str] = "Key"

    name: str
    expression: Expression
    values: tuple[Value, ...] | None
    complete: bool = False

    def canonical(self) -> Json:
        """What names it in a ledger, its public values included."""
        values = None if self.values is None else [canonical.value(each) for each in self.values]
        # An unknown decimal number was hashed by an engine's text, and is now a whole number of its steps.
        further: dict[str, Json] = {"meaning": 2} if self.stepped is not None else {}
        expression = self.expression.canonical()
        return canonical.node(self.tag, name=self.name, expression=expression, values=values, **further)

    @property
    def stepped(self) -> Fraction | None:
        """Of an unknown key that is a decimal number, the step of which it is a whole multiple."""
        return self.expression.step if self.values is None and self.expression.type == "decimal" else None

    @property
    def nameless(self) -> bool:
        """Whether it is an unknown decimal number of no step, which every engine would call something else."""
        return self.values is None and self.expression.type == "decimal" and self.expression.step is None


@dataclass(frozen=True, slots=True, kw_only=True)
class Output:
    """A published column: an expression over `Measured` and `GroupKey` nodes."""

    tag: ClassVar[str] = "Output"

    name: str
    expression: Expression

    def canonical(self) -> Json:
        """What names it in a ledger."""
        return canonical.node(self.tag, name=self.name, expression=self.expression.canonical())


@dataclass(frozen=True, slots=True, kw_only=True)
class Ordering:
    """One expression of ORDER BY, over published values."""

    tag: ClassVar[str] = "Ordering"

    expression: Expression
    descending: bool
    nulls_first: bool

    def canonical(self) -> Json:
        """What names it in a ledger."""
        expression = self.expression.canonical()
        return canonical.node(self.tag, expression=expression, descending=self.descending, nulls_first=self.nulls_first)


# What of one unit may be chosen: of v, its rows in each group, the sum, how many are not 0, or the length.
Chosen: TypeAlias = Literal["rows", "groups", "length"]
CHOSEN: Final[Mapping[Chosen, str]] = {
    "rows": "How many rows of one person may count",
    "groups": "In how many groups one person may count",
    "length": "How much of one person may count (the root of the sum of the squares of their rows in each group)",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """A question: rows below, aggregates in the middle, post-processing above.

    Every aggregate that occurs anywhere, also only in HAVING or ORDER BY, is in `aggregates`, is charged and is noised.
    limits: those that are stated for this question alone; they choose C, as all limits do, and prove nothing. climbed:
    what `limits.rows` is where it was not stated but chosen, on a ladder, as `CHOSEN` says.
    above: a statement over the published aggregates a0, a1, … and keys k0, k1, … of the table `answer`, which then says
    all that comes after the noise; empty where outputs, HAVING and ORDER BY say it.
    """

    tag: ClassVar[str] = "Query"

    rows: Relation
    keys: tuple[Key, ...]
    aggregates: tuple[Aggregate, ...]
    outputs: tuple[Output, ...]
    having: Expression | None = None
    order: tuple[Ordering, ...] = ()
    limit: int | None = None
    offset: int = 0
    above: str = ""
    limits: Limits | None = None
    climbed: Chosen | None = None

    @property
    def allowed(self) -> Limits:
        """How much of one unit may count: as follows from the rows, or as this question says instead."""
        found = self.rows.limits_by([key.expression for key in self.keys])
        return found if self.limits is None else found.instead(self.limits)

    def canonical(self) -> Json:
        """What names all of it in a ledger, what comes after the noise included."""
        return canonical.node(
            self.tag,
            rows=self.rows.canonical(),
            keys=[each.canonical() for each in self.keys],
            aggregates=[each.canonical() for each in self.aggregates],
            outputs=[each.canonical() for each in self.outputs],
            having=canonical.part(self.having),
            order=[each.canonical() for each in self.order],
            limit=self.limit,
            offset=self.offset,
        )

    @property
    def known_keys(self) -> bool:
        """Whether the groups are public: every key has its values listed (so also without GROUP BY)."""
        return all(key.values is not None for key in self.keys)
