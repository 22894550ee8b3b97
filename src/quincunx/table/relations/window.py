"""Rows with columns that are computed from all rows of the same owner. See window.md."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal

from quincunx.errors import QueryError
from quincunx.table import canonical
from quincunx.table.canonical import Json
from quincunx.table.expression import Column, Expression, Slot
from quincunx.table.relations.fold import Fold
from quincunx.table.relations.relation import Owner, Relation, check_columns, shifted
from quincunx.table.schema import ColumnSchema, Limits
from quincunx.table.typing.windowed import FUNCTIONS


@dataclass(frozen=True, slots=True, kw_only=True)
class Sorting:
    """One expression by which rows are ordered."""

    tag: ClassVar[str] = "Sorting"

    expression: Expression
    descending: bool = False
    nulls_first: bool = False

    def canonical(self) -> Json:
        """What names it in a ledger."""
        expression = self.expression.canonical()
        return canonical.node(self.tag, expression=expression, descending=self.descending, nulls_first=self.nulls_first)


@dataclass(frozen=True, slots=True, kw_only=True)
class End:
    """One end of a frame: the current row, or so many before or after it; None: all of them."""

    side: Literal["current", "preceding", "following"]
    offset: int | None = None

    def canonical(self) -> Json:
        """What names it in a ledger."""
        return [self.side, self.offset]


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """The rows that a function looks at, counted in rows, in rows that the order leaves alike, or by their values."""

    tag: ClassVar[str] = "Frame"

    kind: Literal["rows", "range", "groups"]
    start: End
    end: End

    def canonical(self) -> Json:
        """What names it in a ledger."""
        return canonical.node(self.tag, kind=self.kind, start=self.start.canonical(), end=self.end.canonical())


@dataclass(frozen=True, slots=True, kw_only=True)
class Windowed:
    """A function of a row and of the rows of its window: one of `typing/windowed.py`, or a fold of the frame's rows."""

    tag: ClassVar[str] = "Windowed"

    function: str = "fold"
    arguments: tuple[Expression, ...] = ()
    fold: Fold | None = None
    partition: tuple[Expression, ...] = ()
    order: tuple[Sorting, ...] = ()
    frame: Frame | None = None

    @property
    def facts(self) -> dict[str, Any]:
        """What is proved of the result, as keyword arguments of an expression."""
        if self.fold is None:
            return FUNCTIONS[self.function].facts(self.arguments).named()
        # A frame may hold no row.
        return self.fold.facts | {"nullable": self.fold.kind not in ("count", "distinct")}

    @property
    def total(self) -> bool:
        """Whether rows that the order leaves alike are told apart."""
        apart = self.fold is None and FUNCTIONS[self.function].total
        return apart or (self.frame is not None and self.frame.kind == "rows")

    @property
    def framed(self) -> bool:
        """Whether its frame is one that it may have."""
        kind = "" if self.frame is None else self.frame.kind
        return self.fold is not None or kind in FUNCTIONS[self.function].frames

    @property
    def counts(self) -> bool:
        """Whether it is a number of rows, or a place among them."""
        if self.fold is not None:
            return self.fold.kind in ("count", "distinct")
        return self.function in ("row_number", "rank", "dense_rank")

    @property
    def picked(self) -> Expression | None:
        """What its results are values of, where they are values of some row, or NULL."""
        if self.fold is not None:
            return self.fold.argument if self.fold.kind in ("least", "greatest") else None
        return self.arguments[0] if FUNCTIONS[self.function].picks and len(self.arguments) < 3 else None

    @property
    def expressions(self) -> Iterator[Expression]:
        """Everything that it is computed from."""
        yield from (*self.arguments, *self.partition, *(each.expression for each in self.order))
        yield from () if self.fold is None else self.fold.expressions

    def rewrite(self, change: Callable[[Expression], Expression]) -> Windowed:
        """The same of changed expressions."""
        return replace(
            self,
            arguments=tuple(change(each) for each in self.arguments),
            fold=None if self.fold is None else self.fold.rewrite(change),
            partition=tuple(change(each) for each in self.partition),
            order=tuple(replace(each, expression=change(each.expression)) for each in self.order),
        )

    def canonical(self) -> Json:
        """What names it in a ledger."""
        return canonical.node(
            self.tag,
            function=self.function,
            arguments=[each.canonical() for each in self.arguments],
            fold=canonical.part(self.fold),
            partition=[each.canonical() for each in self.partition],
            order=[each.canonical() for each in self.order],
            frame=canonical.part(self.frame),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Window(Relation):
    """Each row of `source` with further columns, each computed from the rows of the same owner and partition.

    functions: the new columns. ties: by these the order is made total, where a function tells rows apart; whatever is
    visible of a row follows from them, so that rows which they leave alike may change places.
    """

    tag: ClassVar[str] = "Window"

    source: Relation
    functions: tuple[tuple[Column, Windowed], ...]
    ties: tuple[Column, ...]

    def __post_init__(self) -> None:
        check_columns(self.expressions, self.source)
        for _, each in self.functions:
            if not each.framed:
                raise QueryError("a window function has another frame than it may have", where="plan")

    @classmethod
    def over(cls, source: Relation, windowed: Windowed) -> Window:
        """A relation with a window function as its last column; one that is a window already gets a column more."""
        below = source if isinstance(source, Window) and not source.uses(windowed) else None
        made: tuple[tuple[Column, Windowed], ...] = ()
        level = source.level + 1
        if below is not None:
            made, level, source = below.functions, below.level, below.source
        column = Column(name=f"w{len(made)}", scan=min(source.tables), level=level, **windowed.facts)
        return cls(source=source, functions=(*made, (column, windowed)), ties=source.columns)

    def uses(self, windowed: Windowed) -> bool:
        """Whether a function uses one of the new columns."""
        made = {column.slot for column, _ in self.functions}
        return any(column.slot in made for each in windowed.expressions for column in each.columns())

    @property
    def inputs(self) -> tuple[Relation, ...]:
        return (self.source,)

    @property
    def columns(self) -> tuple[Column, ...]:
        return (*self.source.columns, *(column for column, _ in self.functions))

    @property
    def owner(self) -> Owner | None:
        return self.source.owner

    @property
    def limits(self) -> Limits:
        return self.source.limits

    def limits_by(self, keys: Sequence[Expression]) -> Limits:
        return self.source.limits_by(keys)

    @property
    def expressions(self) -> tuple[Expression, ...]:
        ties = self.ties if any(each.total for _, each in self.functions) else ()
        return (*(part for _, each in self.functions for part in each.expressions), *ties)

    @property
    def level(self) -> int:
        return max(self.source.level, *(column.level for column, _ in self.functions))

    @property
    def made(self) -> Mapping[Slot, tuple[Expression, ...]]:
        return {column.slot: _compared(each) for column, each in self.functions}

    @property
    def counted(self) -> Mapping[Slot, int]:
        most = self.source.limits.rows
        own = {} if most is None else {column.slot: most for column, each in self.functions if each.counts}
        return {**self.source.counted, **own}

    def declared(self, column: Column) -> ColumnSchema | None:
        """A value of another row is one that its column has, or NULL; of what is counted the bounds are known."""
        for made, each in self.functions:
            if made.slot != column.slot:
                continue
            if each.picked is not None:
                found = self.source.declared(each.picked) if isinstance(each.picked, Column) else None
                return None if found is None else found.or_missing()
            bounds = None if made.low is None or made.high is None else (made.low, made.high)
            return ColumnSchema(name=made.name, type=made.type, bounds=bounds, nullable=made.nullable)
        return self.source.declared(column)

    def narrowed(self, used: frozenset[Slot]) -> Relation:
        kept = tuple((column, each) for column, each in self.functions if column.slot in used)
        if not kept:
            return self.source.narrowed(used)
        found = replace(self, functions=kept)
        below = used | {column.slot for each in found.expressions for column in each.columns()}
        return replace(found, source=self.source.narrowed(below))

    def fused(self) -> Relation:
        """Over the columns below: a tie of what a projection computed is broken by what it was computed from."""
        below = dict.fromkeys(column for each in self.ties for column in self.source.base(each).columns())
        made = tuple((column, each.rewrite(self.source.base)) for column, each in self.functions)
        return Window(source=self.source.fused(), functions=made, ties=tuple(below))

    def shifted(self, by: int) -> Relation:
        def moved(expression: Expression) -> Expression:
            return shifted(expression, by)

        made = tuple((replace(column, scan=column.scan + by), each.rewrite(moved)) for column, each in self.functions)
        ties = tuple(replace(each, scan=each.scan + by) for each in self.ties)
        return Window(source=self.source.shifted(by), functions=made, ties=ties)

    def canonical(self) -> Json:
        made = [[column.name, each.canonical()] for column, each in self.functions]
        ties: Json = [each.canonical() for each in self.ties] if any(each.total for _, each in self.functions) else []
        return canonical.node(self.tag, source=self.source.canonical(), columns=made, ties=ties)


def _compared(windowed: Windowed) -> tuple[Expression, ...]:
    """What its results are values of, or computed from."""
    return windowed.arguments if windowed.fold is None else windowed.fold.expressions[:1]
