"""Functions of text, none of which can fail or grow without bound."""

from __future__ import annotations

from collections.abc import Callable
from string import ascii_lowercase, ascii_uppercase
from typing import Final

from sqlglot import exp

from quincunx.table.engines.dialect import Dialect
from quincunx.table.engines.typed_sql import Piece, call, text
from quincunx.table.expression import Call, Literal


def _function(kind: str = "VARCHAR") -> Callable[[Dialect, Call, list[Piece]], Piece]:
    def emit(d: Dialect, node: Call, pieces: list[Piece]) -> Piece:
        given = (_argument(*pair) for pair in zip(node.arguments, pieces, strict=True))
        return Piece(sql=d.text(node.operator, *given), type=kind)

    return emit


def _folded(given: str, wanted: str) -> Callable[[Dialect, Call, list[Piece]], Piece]:
    """ASCII letters alone: what other letters are in capitals is told differently by every engine."""

    def emit(_d: Dialect, _node: Call, pieces: list[Piece]) -> Piece:
        return Piece(sql=call("TRANSLATE", pieces[0].sql, text(given), text(wanted)), type="VARCHAR")

    return emit


def _ilike(d: Dialect, node: Call, pieces: list[Piece]) -> Piece:
    """LIKE after both sides are in small letters."""
    small = _folded(ascii_uppercase, ascii_lowercase)(d, node, pieces).sql
    pattern = node.arguments[1]
    written = str(pattern.value) if isinstance(pattern, Literal) else ""
    lowered = written.translate(str.maketrans(ascii_uppercase, ascii_lowercase))
    return Piece(sql=d.text("like", small, text(lowered)), type="BOOLEAN")


def _argument(expression: object, piece: Piece) -> exp.Expression:
    # Positions are small constants; written bare they have the type that engines expect.
    if isinstance(expression, Literal) and isinstance(expression.value, int):
        return exp.Literal.number(expression.value)
    return piece.sql


def _join(_d: Dialect, _node: Call, pieces: list[Piece]) -> Piece:
    joined = pieces[0].sql
    for piece in pieces[1:]:
        joined = exp.DPipe(this=joined, expression=piece.sql)
    return Piece(sql=exp.Paren(this=joined), type="VARCHAR")


_BOOLEANS: Final = ("starts_with", "ends_with", "contains", "like")
_TEXTS: Final = ("trim", "ltrim", "rtrim", "left", "right", "substring", "concat", "replace")

EMISSIONS: Final = {
    **dict.fromkeys(_TEXTS, _function()),
    **dict.fromkeys(_BOOLEANS, _function("BOOLEAN")),
    "length": _function("BIGINT"),
    "join": _join,
    "upper": _folded(ascii_lowercase, ascii_uppercase),
    "lower": _folded(ascii_uppercase, ascii_lowercase),
    "ilike": _ilike,
}
