"""How large expressions become when every subquery is written out, and how large they may be: the one place of both.

A column that is built from columns can double at each level, so sizes are added up as numbers before anything is built.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

from quincunx.errors import QueryError
from quincunx.table.expression import Call, Column, Expression, Literal, Slot

# Of all expressions of a question together: operators and constants, times the growth of texts.
WEIGHT: Final = 20_000
# Of one expression: nesting, beyond which the stack of an engine could be exhausted, and nodes that an engine writes.
DEPTH: Final = 60
WRITTEN: Final = 20_000
# Of relations that follow one another.
LEVELS: Final = 40
# Of tables, with every name of WITH written out: a name that is used twice doubles what it stands for.
READINGS: Final = 64
# Operators of which an engine may write the argument twice.
DOUBLED: Final = ("clamp", "cast")


class Size(NamedTuple):
    """weight: operators and constants, times the growth of texts. written: nodes that an engine writes. depth: nesting.

    All with columns written out as what they stand for.
    """

    weight: int
    written: int
    depth: int


ONE: Final = Size(1, 1, 1)


def size(expression: Expression, of: Callable[[Slot], Size]) -> Size:
    """The size of an expression over columns whose sizes are known."""
    if isinstance(expression, Column):
        return of(expression.slot)
    if isinstance(expression, Literal):
        text = expression.value if isinstance(expression.value, str) else ""
        return Size(1 + len(text) // 16, 1, 1)
    parts = [size(part, of) for part in expression.parts]
    weight, written = 1 + sum(part.weight for part in parts), 1 + sum(part.written for part in parts)
    if isinstance(expression, Call) and expression.operator == "replace":
        found, new = (len(str(each.value)) for each in expression.arguments[1:] if isinstance(each, Literal))
        weight *= max(1, -(-new // max(1, found)))
    if isinstance(expression, Call) and expression.operator in DOUBLED:
        written *= 2
    return Size(weight, written, 1 + max((part.depth for part in parts), default=0))


def check(found: Size) -> None:
    """QueryError where an expression would be too large to be built."""
    if found.written > WRITTEN or found.depth > DEPTH:
        hint = "Nest fewer subqueries, CLAMPs and CASTs."
        raise QueryError("the question grows too large when its parts are merged", where="plan", hint=hint)
