"""Typed scalar expressions: what a row, or a row of noisy aggregates, is computed from.

An expression is a total function of one row. Its type, whether it can be NULL, and bounds on its value are proved when
it is built and hold for every row that could exist, because a column with declared bounds is clipped where it is read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import date, datetime
from fractions import Fraction
from typing import Any, ClassVar, NamedTuple, TypeAlias

from quincunx.table import canonical, meaning
from quincunx.table.canonical import Json

# What a literal or a key may be; a number with decimals is a Fraction, never a float.
Value: TypeAlias = bool | int | Fraction | str | date | datetime | None

NUMBERS = ("integer", "decimal")


class Slot(NamedTuple):
    """Which column, whatever the question calls it.

    name: as the relation that made it spells it. scan: which reading of a table it comes from; two readings of one
    table have two. level: 0 where it was read, and one more for each relation between that made columns of its own.
    """

    name: str
    scan: int = 0
    level: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Expression:
    """A total function of a row.

    type: integer, decimal, text, date, timestamp or boolean. nullable: whether NULL can occur. low, high: bounds that
    every number other than NULL keeps; None where none is proved. step: every number is meant as a whole multiple of
    it, so that sums are taken on that lattice; None where nothing is known.
    """

    tag: ClassVar[str]

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

    def canonical(self) -> Json:
        """What names the expression in a ledger: its tag, what is proved of it, and its own parts."""
        facts: dict[str, Json] = {
            "type": self.type,
            "nullable": self.nullable,
            "low": canonical.number(self.low),
            "high": canonical.number(self.high),
            "step": canonical.number(self.step),
        }
        return canonical.node(self.tag, **facts, **self._own())

    def _own(self) -> dict[str, Json]:
        return {}

    @property
    def facts(self) -> dict[str, Any]:
        """What is proved of it, as keyword arguments of an expression of which the same is proved."""
        names = ("type", "nullable", "low", "high", "step")
        return {name: getattr(self, name) for name in names}

    def columns(self) -> Iterator[Column]:
        """Every column in it, as often as it occurs."""
        return (node for node in self.walk() if isinstance(node, Column))

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
    """A column of the relation below, by its slot. Names of a question end in `sql/names.py`."""

    tag: ClassVar[str] = "Column"

    name: str
    scan: int = 0
    level: int = 0

    @property
    def slot(self) -> Slot:
        """Which column it is."""
        return Slot(self.name, self.scan, self.level)

    def _own(self) -> dict[str, Json]:
        # Only a name where it says all: keys of questions about one table are older than slots.
        further: dict[str, Json] = {"scan": self.scan, "level": self.level}
        return {"name": self.name} | {part: number for part, number in further.items() if number}


@dataclass(frozen=True, slots=True, kw_only=True)
class Literal(Expression):
    """A constant that was written in the question."""

    tag: ClassVar[str] = "Literal"

    value: Value

    def _own(self) -> dict[str, Json]:
        return {"value": canonical.value(self.value)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Call(Expression):
    """An operator of `operators.py` applied to arguments. The operator's name is part of what names a question."""

    tag: ClassVar[str] = "Call"

    operator: str
    arguments: tuple[Expression, ...]

    def _own(self) -> dict[str, Json]:
        number = meaning.of(self)
        own: dict[str, Json] = {"operator": self.operator, "arguments": [each.canonical() for each in self.arguments]}
        # Only where the operator does not mean what it meant at first: all other questions keep their names.
        return own if number == 1 else own | {"meaning": number}

    @property
    def parts(self) -> tuple[Expression, ...]:
        return self.arguments

    def rewrite(self, change: Callable[[Expression], Expression]) -> Expression:
        return change(replace(self, arguments=tuple(part.rewrite(change) for part in self.arguments)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured(Expression):
    """The published value of the query's aggregate number `index`. Above the aggregation only."""

    tag: ClassVar[str] = "Measured"

    index: int

    def _own(self) -> dict[str, Json]:
        return {"index": self.index}


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupKey(Expression):
    """The value of the query's key number `index`. Above the aggregation only."""

    tag: ClassVar[str] = "GroupKey"

    index: int

    def _own(self) -> dict[str, Json]:
        return {"index": self.index}


@dataclass(frozen=True, slots=True, kw_only=True)
class Above(Expression):
    """What a statement works out above the aggregation from these published values and keys; no part of a ledger."""

    tag: ClassVar[str] = "Above"

    arguments: tuple[Expression, ...]

    @property
    def parts(self) -> tuple[Expression, ...]:
        return self.arguments
