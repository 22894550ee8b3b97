"""Comparisons, logic, choices and casts, in exact common types."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from sqlglot import exp

from quincunx.data import decimal_parts
from quincunx.table.engines import grammar
from quincunx.table.engines.dialect import Dialect
from quincunx.table.engines.emit_number import ranged, rounded, within
from quincunx.table.engines.emit_time import calendar
from quincunx.table.engines.typed_sql import INTEGERS, Piece, alike, binary, both, call, choose
from quincunx.table.expression import Call


def _boolean(sql: exp.Expression) -> Piece:
    return Piece(sql=exp.Paren(this=sql), type="BOOLEAN")


def _comparison(kind: type[exp.Binary]) -> Callable[[Dialect, Call, list[Piece]], Piece]:
    def emit(_d: Dialect, _node: Call, pieces: list[Piece]) -> Piece:
        left, right = alike(pieces)
        return Piece(sql=binary(kind, left.sql, right.sql), type="BOOLEAN")

    return emit


def _between(_d: Dialect, _node: Call, pieces: list[Piece]) -> Piece:
    x, low, high = alike(pieces)
    return _boolean(exp.Between(this=x.sql, low=low.sql, high=high.sql))


def _in(_d: Dialect, _node: Call, pieces: list[Piece]) -> Piece:
    x, *listed = alike(pieces)
    return _boolean(exp.In(this=x.sql, expressions=[item.sql for item in listed]))


def _is_null(_d: Dialect, _node: Call, pieces: list[Piece]) -> Piece:
    return _boolean(exp.Is(this=pieces[0].sql, expression=exp.null()))


def _and(_d: Dialect, _node: Call, pieces: list[Piece]) -> Piece:
    return Piece(sql=both([piece.to("BOOLEAN").sql for piece in pieces]), type="BOOLEAN")


def _or(_d: Dialect, _node: Call, pieces: list[Piece]) -> Piece:
    joined = pieces[0].to("BOOLEAN").sql
    for piece in pieces[1:]:
        joined = exp.Or(this=joined, expression=piece.to("BOOLEAN").sql)
    return _boolean(joined)


def _not(_d: Dialect, _node: Call, pieces: list[Piece]) -> Piece:
    return _boolean(exp.Not(this=pieces[0].to("BOOLEAN").sql))


def _case(_d: Dialect, _node: Call, pieces: list[Piece]) -> Piece:
    conditions, values = pieces[0:-1:2], alike([*pieces[1::2], pieces[-1]])
    cases = [(condition.sql, value.sql) for condition, value in zip(conditions, values, strict=False)]
    return Piece(sql=choose(cases, values[-1].sql), type=values[-1].type)


def _function(name: str) -> Callable[[Dialect, Call, list[Piece]], Piece]:
    def emit(_d: Dialect, _node: Call, pieces: list[Piece]) -> Piece:
        same = alike(pieces)
        return Piece(sql=call(name, *(piece.sql for piece in same)), type=same[0].type)

    return emit


def _cast(d: Dialect, node: Call, pieces: list[Piece]) -> Piece:
    return _CASTS[node.type](d, node, pieces[0])


def _to_integer(d: Dialect, node: Call, x: Piece) -> Piece:
    if x.type in INTEGERS:
        return x
    if x.type == "VARCHAR":
        return grammar.value(d, x, "HUGEINT")
    if x.type == "BOOLEAN":
        return Piece(sql=d.attempt(x, "BIGINT"), type="BIGINT")
    return rounded(d, x, "BIGINT" if within(node, 2**61) else "HUGEINT")


def _to_decimal(d: Dialect, _node: Call, x: Piece) -> Piece:
    if x.type == "DOUBLE" or decimal_parts(x.type):
        return x
    if x.type == "VARCHAR":
        return ranged(grammar.value(d, x, "DOUBLE").sql)
    # An integer is at most 2^126.
    return x.to("DOUBLE")


def _to_date(kind: str) -> Callable[[Dialect, Call, Piece], Piece]:
    def emit(d: Dialect, _node: Call, x: Piece) -> Piece:
        if x.type == "VARCHAR":
            return grammar.value(d, x, kind)
        return calendar(d.attempt(x, kind), kind)

    return emit


def _to_text(d: Dialect, _node: Call, x: Piece) -> Piece:
    return Piece(sql=d.shown(x), type="VARCHAR")


def _to_boolean(d: Dialect, _node: Call, x: Piece) -> Piece:
    return grammar.value(d, x, "BOOLEAN") if x.type == "VARCHAR" else Piece(sql=d.attempt(x, "BOOLEAN"), type="BOOLEAN")


_CASTS: Final[dict[str, Callable[[Dialect, Call, Piece], Piece]]] = {
    "integer": _to_integer,
    "decimal": _to_decimal,
    "date": _to_date("DATE"),
    "timestamp": _to_date("TIMESTAMP"),
    "text": _to_text,
    "boolean": _to_boolean,
}

EMISSIONS: Final = {
    "equal": _comparison(exp.EQ),
    "not_equal": _comparison(exp.NEQ),
    "less": _comparison(exp.LT),
    "less_equal": _comparison(exp.LTE),
    "greater": _comparison(exp.GT),
    "greater_equal": _comparison(exp.GTE),
    "distinct": _comparison(exp.NullSafeNEQ),
    "not_distinct": _comparison(exp.NullSafeEQ),
    "between": _between,
    "in": _in,
    "is_null": _is_null,
    "and": _and,
    "or": _or,
    "not": _not,
    "case": _case,
    "coalesce": _function("COALESCE"),
    "nullif": _function("NULLIF"),
    "least": _function("LEAST"),
    "greatest": _function("GREATEST"),
    "cast": _cast,
}
