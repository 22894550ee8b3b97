"""Window functions in SQL: partitions are the hidden owner's, and ties are broken where a function needs it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final, TypeAlias

from sqlglot import exp

from quincunx.table.engines.dialect import Dialect
from quincunx.table.engines.emission import emit
from quincunx.table.engines.keys import zeroless
from quincunx.table.engines.relations.rollup import folded, settled
from quincunx.table.engines.rows import Rows, Sources, derived, layered, table_name, widened
from quincunx.table.engines.typed_sql import Piece, alike, call, column
from quincunx.table.expression import Expression, Slot
from quincunx.table.relations import End, Frame, Window, Windowed

# Where a row stands among those of its owner.
_PLACE: Final = "place"
# Parts of expressions that are columns already, and the rows that have them.
Made: TypeAlias = Mapping[Expression, Piece]
Layers: TypeAlias = tuple[Rows, Made]


def written(d: Dialect, relation: Window, sources: Sources) -> Rows:
    """The rows below with one more column for each function."""
    below, name = derived(d, relation.source, sources, kept=False), table_name(relation)
    asked = [each for _, function in relation.functions for each in function.expressions]
    below, made = layered(d, below, [*asked, *relation.ties], f"l{name}")
    apart = sum(each.total for _, each in relation.functions)
    below = _placed(d, relation, (below, made)) if apart > 1 else below
    more: dict[str, exp.Expression] = {}
    columns: dict[Slot, Piece] = {}
    for i, (shown, each) in enumerate(relation.functions):
        found = _called(d, each, below.columns, made)
        more[f"w{i}"] = _over(d, relation, each, (below, made), found.sql)
        piece = Piece(sql=column(f"w{i}", name), type=found.type)
        columns[shown.slot] = piece if each.fold is None else settled(each.fold, piece)
    found_rows = widened(below, relation, more)
    return replace(found_rows, columns={**found_rows.columns, **columns})


def _placed(d: Dialect, relation: Window, layers: Layers) -> Rows:
    """The rows with a place among those of their owner, by which several functions break ties alike."""
    below, made = layers
    order = exp.Order(expressions=[d.ordered(_value(d, each, below.columns, made).sql) for each in relation.ties])
    owners = [piece.sql.copy() for piece in below.owners.values()]
    place = exp.Window(this=call("ROW_NUMBER"), partition_by=owners, order=order if relation.ties else None)
    found = exp.select("*", exp.alias_(place, _PLACE)).from_(below.relation)
    return replace(below, relation=found.subquery(below.relation.alias_or_name))


def _over(d: Dialect, relation: Window, windowed: Windowed, layers: Layers, called: exp.Expression) -> exp.Window:
    """The function over its window. Whatever the question partitions by, the hidden owner is compared."""
    below, made = layers
    components = () if relation.owner is None else relation.owner.components
    further = [
        each
        for each in windowed.partition
        if not any(relation.source.licenses(place, each) for place in range(len(components)))
    ]
    partition = [piece.sql for piece in below.owners.values()]
    partition += [_value(d, each, below.columns, made).sql for each in further]
    order: list[exp.Expression] = []
    for each in windowed.order:
        key = _value(d, each.expression, below.columns, made).sql
        order.append(exp.Ordered(this=key, desc=each.descending, nulls_first=each.nulls_first))
    if windowed.total and sum(each.total for _, each in relation.functions) > 1:
        order.append(d.ordered(column(_PLACE, below.relation.alias_or_name)))
    elif windowed.total:
        sorted_by = [each.expression for each in windowed.order]
        ties = [each for each in relation.ties if each not in sorted_by]
        order += [d.ordered(_value(d, each, below.columns, made).sql) for each in ties]

    return exp.Window(
        this=called,
        partition_by=partition,
        order=exp.Order(expressions=order) if order else None,
        spec=None if windowed.frame is None else _frame(windowed.frame),
    )


def _value(d: Dialect, expression: Expression, columns: Mapping[Slot, Piece], made: Made) -> Piece:
    """An expression by which rows are compared or that is carried to another row: equal values are one value."""
    return zeroless(emit(d, expression, columns, made))


def _frame(frame: Frame) -> exp.WindowSpec:
    start, end = _end(frame.start), _end(frame.end)
    return exp.WindowSpec(kind=frame.kind.upper(), start=start[0], start_side=start[1], end=end[0], end_side=end[1])


def _end(end: End) -> tuple[exp.Expression | str, str | None]:
    if end.side == "current":
        return "CURRENT ROW", None
    return ("UNBOUNDED" if end.offset is None else exp.Literal.number(end.offset)), end.side.upper()


def _called(d: Dialect, windowed: Windowed, columns: Mapping[Slot, Piece], made: Made) -> Piece:
    """What stands before OVER, with its type."""
    if windowed.fold is not None:
        return folded(d, windowed.fold, {each: emit(d, each, columns, made) for each in windowed.fold.expressions})
    arguments = [_value(d, each, columns, made) for each in windowed.arguments]
    kind = _TYPES.get(windowed.function)
    if kind is None:
        # A value of another row, in its own type, or in that of its default.
        x, *default = alike([arguments[0], *arguments[2:]])
        kind, arguments = x.type, [x, *arguments[1:2], *default]
    return Piece(sql=call(windowed.function.upper(), *(each.sql for each in arguments)), type=kind)


_TYPES: Final[Mapping[str, str]] = {
    **dict.fromkeys(("row_number", "rank", "dense_rank", "ntile"), "BIGINT"),
    **dict.fromkeys(("percent_rank", "cume_dist"), "DOUBLE"),
}
