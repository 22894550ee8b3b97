"""Columns of Spark in their declared types: converted without errors, whatever a row holds. See dialect.md."""

from __future__ import annotations

from typing import Final

from sqlglot import exp

from quincunx.data import decimal_parts
from quincunx.table.engines import grammar
from quincunx.table.engines.dialect import Dialect
from quincunx.table.engines.emit_number import no_nan, rounded
from quincunx.table.engines.emit_time import calendar
from quincunx.table.engines.typed_sql import DEFAULTS, Piece, call, cast, choose, column, whole
from quincunx.table.schema import ColumnSchema

_SMALL: Final = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT")
_ZONED: Final = "TIMESTAMP WITH TIME ZONE"


def value(d: Dialect, declared: ColumnSchema, storage: str) -> Piece:
    """One column in its declared type; `storage` is the type in which it arrives. No row can raise."""
    found, kind = _arrived(column(declared.name), storage), DEFAULTS[declared.type]
    if declared.type == "text":
        shown = found if found.type == "VARCHAR" else Piece(sql=d.shown(found), type="VARCHAR")
        fits = exp.LTE(this=call("OCTET_LENGTH", shown.sql), expression=whole(declared.length))
        return Piece(sql=choose([(fits, shown.sql.copy())], exp.null()), type="VARCHAR")
    if found.type == "VARCHAR":
        return grammar.stored(d, found, kind)
    if found.type == kind or (declared.type == "integer" and found.type == "BIGINT"):
        return found
    exact = decimal_parts(found.type)
    if declared.type == "integer" and (exact is not None or found.type == "DOUBLE"):
        whole_number = exact is not None and not exact[1]
        return Piece(sql=cast(found.sql, kind), type=kind) if whole_number else rounded(d, found, kind)
    if declared.type == "decimal" and (exact is not None or found.type == "BIGINT"):
        return found if exact is not None else found.to(kind)
    if kind in ("DATE", "TIMESTAMP"):
        return calendar(d.attempt(found, kind), kind)
    return Piece(sql=d.attempt(found, kind), type=kind)


def _arrived(source: exp.Expression, storage: str) -> Piece:
    """A column in one of the eight types of statements, NULL where what it holds is no value of it."""
    if storage in _SMALL:
        return Piece(sql=cast(source, "BIGINT"), type="BIGINT")
    if storage in ("FLOAT", "DOUBLE"):
        return Piece(sql=no_nan(cast(source, "DOUBLE")), type="DOUBLE")
    if decimal_parts(storage) is not None:
        return Piece(sql=source, type=storage)
    if storage in ("DATE", "TIMESTAMP"):
        return calendar(source, storage)
    if storage == _ZONED:
        # A moment without a zone: the session's is UTC.
        return calendar(cast(source, "TIMESTAMP"), "TIMESTAMP")
    if storage == "BOOLEAN":
        return Piece(sql=source, type="BOOLEAN")
    # Spark's texts are bytes that nobody has looked at.
    return Piece(sql=call("TRY_VALIDATE_UTF8", source), type="VARCHAR")
