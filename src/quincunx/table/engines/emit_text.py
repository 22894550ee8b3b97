"""Functions of text, none of which can fail or grow without bound."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from sqlglot import exp

from quincunx.table.engines.piece import Piece, binary, call
from quincunx.table.expression import Call, Literal


def _function(name: str, kind: str = "VARCHAR") -> Callable[[Call, list[Piece]], Piece]:
    def emit(node: Call, pieces: list[Piece]) -> Piece:
        return Piece(
            sql=call(name, *(_argument(*pair) for pair in zip(node.arguments, pieces, strict=True))), type=kind
        )

    return emit


def _argument(expression: object, piece: Piece) -> exp.Expression:
    # Positions are small constants; written bare they have the type that DuckDB expects.
    if isinstance(expression, Literal) and isinstance(expression.value, int):
        return exp.Literal.number(expression.value)
    return piece.sql


def _join(_node: Call, pieces: list[Piece]) -> Piece:
    joined = pieces[0].sql
    for piece in pieces[1:]:
        joined = exp.DPipe(this=joined, expression=piece.sql)
    return Piece(sql=exp.Paren(this=joined), type="VARCHAR")


def _matching(kind: type[exp.Binary]) -> Callable[[Call, list[Piece]], Piece]:
    def emit(_node: Call, pieces: list[Piece]) -> Piece:
        return Piece(sql=binary(kind, pieces[0].sql, pieces[1].sql), type="BOOLEAN")

    return emit


EMISSIONS: Final = {
    "upper": _function("UPPER"),
    "lower": _function("LOWER"),
    "length": _function("LENGTH", "BIGINT"),
    "trim": _function("TRIM"),
    "ltrim": _function("LTRIM"),
    "rtrim": _function("RTRIM"),
    "left": _function("LEFT"),
    "right": _function("RIGHT"),
    "substring": _function("SUBSTRING"),
    "join": _join,
    "concat": _function("CONCAT"),
    "replace": _function("REPLACE"),
    "starts_with": _function("STARTS_WITH", "BOOLEAN"),
    "ends_with": _function("ENDS_WITH", "BOOLEAN"),
    "contains": _function("CONTAINS", "BOOLEAN"),
    "like": _matching(exp.Like),
    "ilike": _matching(exp.ILike),
}
