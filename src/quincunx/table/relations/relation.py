"""Rows below an aggregate: which columns they have, whose they are, and how much of one unit may count in them.

**The soundness invariant.** Every relation below an aggregate is person-local: it is a disjoint union, over units u of
protection, of F(rows of u) with F fixed by the question. Each node is one file with its proof; there is no other node,
so a question that cannot be typed as these is refused. See relation.md.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar

from quincunx.errors import QueryError
from quincunx.table.canonical import Json
from quincunx.table.expression import Column, Expression, Slot
from quincunx.table.relations.size import Size, check, size
from quincunx.table.schema import ColumnSchema, Limits, TableSchema


@dataclass(frozen=True, slots=True, kw_only=True)
class Component:
    """One hidden column of the owner. An engine reads it where the table is scanned, before bounds move any value.

    column: the declared column that it is read from; its visible values may be moved, so it need not equal the owner.
    period: where the component is a period of time, which one. licensed: the expressions over scanned columns that
    equal it on every row. They only license a relation that compares owners: what is compared is hidden.
    """

    column: Column
    licensed: frozenset[Expression]
    period: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Owner:
    """Whose the rows of a private relation are. No components: each row is an owner of its own."""

    components: tuple[Component, ...]


class Relation(ABC):
    """A node of the rows of a question. rowwise: every row of it is one row of one table, and no row is two of them."""

    __slots__ = ()

    tag: ClassVar[str]
    rowwise: ClassVar[bool] = False

    @property
    @abstractmethod
    def inputs(self) -> tuple[Relation, ...]:
        """The relations that it is made of."""

    @property
    @abstractmethod
    def columns(self) -> tuple[Column, ...]:
        """What stands above may use these, and nothing else."""

    @property
    @abstractmethod
    def owner(self) -> Owner | None:
        """Whose its rows are; None: nobody's, they are public. No column can replace or drop it."""

    @property
    @abstractmethod
    def limits(self) -> Limits:
        """How much of one unit may count in its rows. They choose C, and prove nothing."""

    def limits_by(self, keys: Sequence[Expression]) -> Limits:  # noqa: ARG002
        """The same where rows are grouped by these keys. They may be tighter, and prove as little."""
        return self.limits

    @property
    @abstractmethod
    def expressions(self) -> tuple[Expression, ...]:
        """The expressions of this node alone, over the columns of its inputs."""

    @abstractmethod
    def fused(self) -> Relation:
        """The same rows without what only renames and computes columns; expressions above it are then over `base`."""

    @abstractmethod
    def shifted(self, by: int) -> Relation:
        """The same rows as other readings of their tables: the numbers of all scans raised."""

    @abstractmethod
    def canonical(self) -> Json:
        """What names it in a ledger."""

    @property
    def single(self) -> bool:
        """Whether every owner has at most one row, by the way in which it is written and not by what is declared."""
        return False

    @property
    def counted(self) -> Mapping[Slot, int]:
        """Columns that count rows of their owner, each with how many of them the limits below let count."""
        return {slot: most for each in self.inputs for slot, most in each.counted.items()}

    def narrowed(self, used: frozenset[Slot]) -> Relation:
        """The same rows, without columns of its own making that neither `used` nor anything in it holds."""
        below = used | {column.slot for each in self.expressions for column in each.columns()}
        given: dict[str, Any] = {each.name: getattr(self, each.name) for each in fields(self) if each.init}  # type: ignore[arg-type]
        found = {name: each.narrowed(below) for name, each in given.items() if isinstance(each, Relation)}
        return replace(self, **found) if found else self  # type: ignore[type-var]

    def lacks(self, who: str) -> tuple[str, ...]:  # noqa: ARG002
        """Sentences on what its rows may lack, by its own doing; who: what the units of protection are called."""
        return ()

    @property
    def made(self) -> Mapping[Slot, tuple[Expression, ...]]:
        """Columns of its own that stand for no expression of one row below, and what their values come from."""
        return {}

    @property
    def tables(self) -> Mapping[int, TableSchema]:
        """The tables that are read, by the number of the scan."""
        return {number: table for each in self.inputs for number, table in each.tables.items()}

    @property
    def level(self) -> int:
        """The highest level of a slot in it."""
        return max(each.level for each in self.inputs)

    @property
    def height(self) -> int:
        """How many relations follow one another, scans not counted."""
        return 1 + max(each.height for each in self.inputs)

    def base(self, expression: Expression) -> Expression:
        """The expression over columns that are no mere names of others: the one place where columns are substituted.

        QueryError where the result would be too large, before it is built.
        """
        check(self.size(expression))
        return self._base(expression)

    def traced(self, expression: Expression) -> Expression:
        """An expression over columns further down that has every value which this one has; it may have more."""
        found = self.base(expression)
        for each in self.inputs:
            found = each.traced(found)
        return found

    def licenses(self, component: int, expression: Expression) -> bool:
        """Whether an expression equals this component of the owner on every row, as far as is known."""
        return self.owner is not None and self.base(expression) in self.owner.components[component].licensed

    def size(self, expression: Expression) -> Size:
        """The size of what `base` would give."""
        return size(expression, self.size_of)

    def size_of(self, slot: Slot) -> Size:
        """The size of what stands for a column."""
        return max(each.size_of(slot) for each in self.inputs)

    def declared(self, column: Column) -> ColumnSchema | None:
        """What is declared of a column that shows a scanned one; None for others."""
        table = self.tables.get(column.scan)
        if table is not None and not column.level:
            return table.column(column.name)
        return next((found for each in self.inputs if (found := each.declared(column)) is not None), None)

    def walk(self) -> Iterator[Relation]:
        """This relation and everything below it, outermost first."""
        yield self
        for each in self.inputs:
            yield from each.walk()

    def _base(self, expression: Expression) -> Expression:
        for each in self.inputs:
            expression = each._base(expression)
        return expression


def check_columns(expressions: tuple[Expression, ...], *inputs: Relation) -> None:
    """QueryError where an expression uses a column that the rows below do not have."""
    known = {column.slot for each in inputs for column in each.columns}
    for expression in expressions:
        for column in expression.columns():
            if column.slot not in known:
                what = "an expression uses a column that the rows below do not have"
                raise QueryError(what, where="plan", got=column.name)


def shifted(expression: Expression, by: int) -> Expression:
    """The same expression over other readings of its tables."""
    return expression.rewrite(lambda node: replace(node, scan=node.scan + by) if isinstance(node, Column) else node)
