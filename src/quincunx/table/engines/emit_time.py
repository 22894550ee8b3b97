"""Dates and moments, which stay inside the years 1 to 9999 so that every one has a name in Python."""

from __future__ import annotations

from datetime import date, datetime
from typing import Final

from sqlglot import exp

from quincunx.table.engines.dialect import Dialect
from quincunx.table.engines.typed_sql import Piece, choose, constant
from quincunx.table.expression import Call

_ENDS: Final = {
    "DATE": (date(1, 1, 1), date(9999, 12, 31)),
    "TIMESTAMP": (datetime(1, 1, 1), datetime(9999, 12, 31, 23, 59, 59, 999999)),
}


def calendar(sql: exp.Expression, kind: str) -> Piece:
    """NULL for what lies outside the years 1 to 9999, infinity included."""
    low, high = (constant(end).sql for end in _ENDS[kind])
    inside = exp.Between(this=sql.copy(), low=low, high=high)
    return Piece(sql=choose([(inside, sql)], exp.null()), type=kind)


def _part(d: Dialect, _node: Call, pieces: list[Piece]) -> Piece:
    return Piece(sql=d.part(pieces[0].sql, pieces[1].sql), type="BIGINT")


def _truncate(d: Dialect, _node: Call, pieces: list[Piece]) -> Piece:
    return Piece(sql=d.trunc(pieces[0].sql, pieces[1].to("TIMESTAMP").sql), type="TIMESTAMP")


EMISSIONS: Final = {"date_part": _part, "date_trunc": _truncate}
