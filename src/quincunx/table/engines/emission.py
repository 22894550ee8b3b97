"""Expressions as SQL: total, typed, and the same on every row whatever the other rows are."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, TypeAlias

from quincunx.errors import QueryError
from quincunx.table.engines import emit_choice, emit_number, emit_text, emit_time
from quincunx.table.engines.dialect import Dialect
from quincunx.table.engines.typed_sql import Piece, constant
from quincunx.table.expression import Call, Column, Expression, Literal, Slot

# From a dialect, a call and its emitted arguments to SQL.
Emit: TypeAlias = Callable[[Dialect, Call, list[Piece]], Piece]

EMISSIONS: Final[Mapping[str, Emit]] = {
    **emit_number.EMISSIONS,
    **emit_choice.EMISSIONS,
    **emit_text.EMISSIONS,
    **emit_time.EMISSIONS,
}


def emit(d: Dialect, expression: Expression, columns: Mapping[Slot, Piece]) -> Piece:
    """The expression over columns, which are given by their slots."""
    if isinstance(expression, Literal):
        return constant(expression.value)
    if isinstance(expression, Column):
        piece = columns.get(expression.slot)
        if piece is None:
            raise QueryError("the engine has no such column", where="engine", got=expression.name)
        return Piece(sql=piece.sql.copy(), type=piece.type)
    if isinstance(expression, Call) and expression.operator in EMISSIONS:
        arguments = [emit(d, argument, columns) for argument in expression.arguments]
        return EMISSIONS[expression.operator](d, expression, arguments)
    raise QueryError("the engine cannot compute this expression", where="engine", got=type(expression).__name__)
