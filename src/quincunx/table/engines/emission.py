"""Expressions as SQL: total, typed, and the same on every row whatever the other rows are."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, TypeAlias

from quincunx.errors import QueryError
from quincunx.table import interval, meaning
from quincunx.table.engines import emit_choice, emit_number, emit_text, emit_time
from quincunx.table.engines.dialect import Dialect
from quincunx.table.engines.typed_sql import Piece, constant
from quincunx.table.expression import Call, Column, Expression, Literal, Slot

# From a dialect, a call and its emitted arguments to SQL.
Emit: TypeAlias = Callable[[Dialect, Call, list[Piece]], Piece]

_NONE: Final[Mapping[Expression, Piece]] = {}

EMISSIONS: Final[Mapping[str, Emit]] = {
    **emit_number.EMISSIONS,
    **emit_choice.EMISSIONS,
    **emit_text.EMISSIONS,
    **emit_time.EMISSIONS,
}


# Operators that look at what they give, unless it is proved to be in the range, and those that always do.
_RANGED: Final = ("add", "subtract", "multiply", "divide", "whole_divide", "negate", "abs")
_REPEATED: Final = ("clamp", "remainder", "round")


def repeats(expression: Expression) -> bool:
    """Whether an engine writes the arguments of a call more than once, to look at what it gives."""
    if not isinstance(expression, Call):
        return False
    if expression.operator == "cast":
        return expression.arguments[0].type == "text" or (expression.arguments[0].type, expression.type) in _TESTED
    if expression.operator in _RANGED:
        whole = expression.type == "integer"
        return not (interval.fits((expression.low, expression.high)) if whole else meaning.in_range(expression))
    return expression.operator in _REPEATED


_TESTED: Final = (("decimal", "integer"), ("date", "timestamp"), ("timestamp", "date"))


def emit(
    d: Dialect, expression: Expression, columns: Mapping[Slot, Piece], made: Mapping[Expression, Piece] = _NONE
) -> Piece:
    """The expression over columns, which are given by their slots. made: parts of it that are columns already."""
    if made and expression in made:
        return Piece(sql=made[expression].sql.copy(), type=made[expression].type)
    if isinstance(expression, Literal):
        return constant(expression.value)
    if isinstance(expression, Column):
        piece = columns.get(expression.slot)
        if piece is None:
            raise QueryError("the engine has no such column", where="engine", got=expression.name)
        return Piece(sql=piece.sql.copy(), type=piece.type, bits=piece.bits)
    if isinstance(expression, Call) and expression.operator in EMISSIONS:
        arguments = [emit(d, argument, columns, made) for argument in expression.arguments]
        return EMISSIONS[expression.operator](d, expression, arguments)
    raise QueryError("the engine cannot compute this expression", where="engine", got=type(expression).__name__)
