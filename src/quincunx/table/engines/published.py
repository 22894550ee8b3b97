"""Expressions over public or published values, on a connection that holds nothing else."""

from __future__ import annotations

import functools
import os
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, Final

import duckdb
from sqlglot import exp

from quincunx.data import connect
from quincunx.errors import QueryError
from quincunx.table.engines.duckdb.dialect import DUCKDB
from quincunx.table.engines.emission import emit
from quincunx.table.engines.interruption import noticing
from quincunx.table.engines.keys import normal, python_value
from quincunx.table.engines.rows import Rows, layered
from quincunx.table.engines.typed_sql import DEFAULTS, Piece, call, cast, column, iso, nearest
from quincunx.table.expression import Expression, Slot, Value
from quincunx.table.interval import LARGEST

# The number of a row, by which the results are put in order.
PLACE: Final = Slot("place", level=-2)


def evaluate(expressions: Sequence[Expression], columns: Mapping[Slot, Sequence[Value]]) -> tuple[list[Value], ...]:
    """One list of values for each expression, over rows that are given as columns of equal length.

    Numbers with decimals are Fractions on both sides and doubles in between. What is not finite is None.
    """
    lengths = {len(values) for values in columns.values()}
    if len(lengths) > 1:
        raise QueryError("columns must have the same length", where="evaluate", got=str(sorted(lengths)))
    rows = lengths.pop() if lengths else 1
    kinds = _kinds(expressions)
    listed = [exp.alias_(call("UNNEST", cast(exp.Placeholder(this="place"), "BIGINT[]")), "place")]
    parameters: dict[str, Any] = {"place": list(range(rows))}
    pieces: dict[Slot, Piece] = {}
    for i, (slot, kind) in enumerate(kinds.items()):
        if slot not in columns:
            raise QueryError("no such column", where="evaluate", got=slot.name)
        parameters[f"c{i}"] = [_parameter(value) for value in columns[slot]]
        listed.append(exp.alias_(call("UNNEST", cast(exp.Placeholder(this=f"c{i}"), f"{kind}[]")), f"c{i}"))
        pieces[slot] = Piece(sql=column(f"c{i}"), type=kind)
    pieces[PLACE] = Piece(sql=column("place"), type="BIGINT")
    given = Rows(relation=exp.select(*listed).subquery("given"), columns=pieces, owners={}, conditions=())
    below, made = layered(DUCKDB, given, expressions, "l")
    emitted = [_published(emit(DUCKDB, each, below.columns, made)) for each in expressions]
    chosen = [exp.alias_(each, f"e{i}") for i, each in enumerate(emitted)]
    select = exp.select(*chosen).from_(below.relation).order_by(below.columns[PLACE].sql)
    with noticing() as pressed:
        cursor = _scratch(os.getpid()).cursor()
        try:
            found = cursor.execute(DUCKDB.written(select), parameters).fetchall()
        except Exception:
            if pressed():
                raise KeyboardInterrupt from None
            raise
        finally:
            cursor.close()
    return tuple([python_value(row[i]) for row in found] for i in range(len(expressions)))


@functools.lru_cache(maxsize=1)
def _scratch(_process: int) -> duckdb.DuckDBPyConnection:
    """One connection for each process: opening one takes longer than most evaluations, and none survives a fork."""
    return connect()


def _kinds(expressions: Sequence[Expression]) -> dict[Slot, str]:
    return {column.slot: DEFAULTS[column.type] for expression in expressions for column in expression.columns()}


def _published(piece: Piece) -> exp.Expression:
    return normal(DUCKDB, piece).sql


def _parameter(value: Value) -> Any:
    if isinstance(value, Fraction):
        return nearest(value)
    if isinstance(value, int) and abs(value) > LARGEST:
        return None
    if value is None or isinstance(value, bool | int | str):
        return value
    return iso(value)
