"""Texts stay small: how long everything that a question makes of one row can become is proved before a row is read.

A text is at most as long as declared where it is scanned, and every function of texts grows it by a known factor. All
texts that are made of one row are together at most ROW bytes, so that the 2,048 rows that an engine's thread works on
at a time hold at most a gibibyte. See growth.md.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from quincunx.errors import QueryError
from quincunx.table.expression import Call, Column, Expression, Literal, Slot
from quincunx.table.rules.draft import Draft

ROW: Final = 2**19
# The longest text of a value of another type: a wide integer, a double, a moment.
_OTHERS: Final = 64
# The bytes of one character, at most; and how much longer capital and small letters can be, as a fraction.
_CHARACTER: Final = 4
_LETTERS: Final = (3, 2)


def growth(draft: Draft) -> Draft:
    """The same draft; QueryError where the texts of a row could become too long."""
    lengths = {
        Slot(column.name, number): column.length
        for number, table in draft.query.rows.tables.items()
        for column in table.columns
    }
    # From the innermost out: what a relation makes is as long as the longest that it comes from.
    for relation in reversed(list(draft.query.rows.walk())):
        for slot, parts in relation.made.items():
            lengths[slot] = max((longest(part, lengths) for part in parts), default=_OTHERS)
    total = sum(
        longest(node, lengths)
        for expression in _expressions(draft)
        for node in expression.walk()
        if node.type == "text" and isinstance(node, Call)
    )
    # Unknown keys are written out once more, to be put in order.
    total += sum(longest(key.expression, lengths) for key in draft.query.keys if key.expression.type == "text")
    if total > ROW:
        hint = "Declare a smaller length for the columns of texts, or use fewer functions of texts."
        got = f"{total:,} bytes, of {ROW:,}"
        raise QueryError("the texts that are made of one row could become too long", where="plan", got=got, hint=hint)
    return draft


def longest(expression: Expression, lengths: Mapping[Slot, int]) -> int:
    """The most bytes of UTF-8 that a text can have; lengths: what is declared of scanned columns."""
    if expression.type != "text":
        return _OTHERS
    if isinstance(expression, Literal):
        return len(str(expression.value).encode("utf-8"))
    if isinstance(expression, Column):
        return lengths[expression.slot]
    if not isinstance(expression, Call):
        return 0
    parts = [longest(part, lengths) for part in expression.arguments]
    match expression.operator:
        case "upper" | "lower":
            return -(-parts[0] * _LETTERS[0] // _LETTERS[1])
        case "left" | "right" | "substring":
            return min(parts[0], _CHARACTER * _characters(expression))
        case "join" | "concat":
            return sum(parts)
        case "replace":
            return max(parts[0], -(-parts[0] * parts[2] // max(1, parts[1])))
        case _:
            # Choices and cuts give one of their arguments, or a piece of it.
            return max(parts)


def _characters(call: Call) -> int:
    """How many characters LEFT, RIGHT or SUBSTRING keeps, where that is written."""
    written = call.arguments[-1]
    counted = call.operator != "substring" or len(call.arguments) == 3
    return written.value if counted and isinstance(written, Literal) and isinstance(written.value, int) else 2**62


def _expressions(draft: Draft) -> Iterator[Expression]:
    query = draft.query
    for relation in query.rows.walk():
        yield from relation.expressions
    yield from (key.expression for key in query.keys)
    for aggregate in query.aggregates:
        yield from aggregate.expressions
