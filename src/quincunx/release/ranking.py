"""Whether the order of an answer stands: neighbours whose intervals overlap may change places. Post-processing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from typing import Final

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from quincunx.errors import QueryError
from quincunx.release.column import Column
from quincunx.release.derive import Tables, derived_columns
from quincunx.table import Measured, Output, Program, Query

# How many pairs are named.
_SHOWN: Final = 10
# The name, while it is looked at, of what a question is ordered by and does not show; no output can have it.
_HIDDEN: Final = "ordered by_se"


def contested(program: Program, publish: Callable[[Program], Sequence[Column]]) -> tuple[str, ...]:
    """What is to be said where a question orders by a noisy number and takes the first rows (top k).

    publish: the columns of a program; all of its rows are looked at, because the first that is left out counts too.
    """
    query = program.query
    if not query.limit or not query.order:
        return ()
    by = query.order[0].expression
    if not any(isinstance(node, Measured) for node in by.walk()):
        return ()
    shown = next((output.name for output in query.outputs if output.expression == by), None)
    name = shown or _HIDDEN
    outputs = query.outputs if shown else (Output(name=name, expression=by),)
    columns = publish(replace(program, query=replace(_whole(query), outputs=outputs)))
    return _said(columns, name, shown or "what it is ordered by", query.offset, query.limit)


def contested_above(tables: Tables, sql: str, confidence: Fraction) -> tuple[str, ...]:
    """The same for a statement over published tables."""
    tree = _parsed(sql)
    order, limit = (None, None) if tree is None else (tree.args.get("order"), tree.args.get("limit"))
    if tree is None or order is None or limit is None:
        return ()
    name = _ordered_by(order.expressions[0].this.unnest(), tree)
    first, most = _number(tree.args.get("offset")), _number(limit)
    if name is None or first is None or not most:
        return ()
    for part in ("limit", "offset"):
        tree.set(part, None)
    with suppress(QueryError, SqlglotError):
        columns = derived_columns(tables, tree.sql(dialect="duckdb"), confidence)
        found = next((each.name for each in columns if each.name.lower() == name.lower()), name)
        return _said(columns, found, found, first, most)
    return ()


def _parsed(sql: str) -> exp.Select | None:
    with suppress(SqlglotError, RecursionError):
        tree = sqlglot.parse_one(sql, dialect="duckdb")
        return tree if isinstance(tree, exp.Select) else None
    return None


def _ordered_by(node: exp.Expr, select: exp.Select) -> str | None:
    """The output that a statement is ordered by: its name, its number, or what stands there once more."""
    outputs = select.expressions
    if isinstance(node, exp.Literal) and node.name.isdigit() and 0 < int(node.name) <= len(outputs):
        return str(outputs[int(node.name) - 1].alias_or_name) or None
    names = [each.alias_or_name for each in outputs]
    if isinstance(node, exp.Column) and not node.table and node.name.lower() in [each.lower() for each in names]:
        return node.name
    repeated = (name for name, each in zip(names, outputs, strict=True) if each.unalias() == node and name)
    return next(repeated, node.name if isinstance(node, exp.Column) else None)


def _number(clause: exp.Expr | None) -> int | None:
    if clause is None:
        return 0
    written = clause.args.get("expression")
    return int(written.name) if isinstance(written, exp.Literal) and written.name.isdigit() else None


def _said(columns: Sequence[Column], name: str, called: str, first: int, most: int) -> tuple[str, ...]:
    named = {each.name: each for each in columns}
    if f"{name}_low" not in named:
        return ()
    low, high = (named[f"{name}_{end}"].values for end in ("low", "high"))
    last = min(first + most, len(low))
    over = [row for row in range(first, min(last, len(low) - 1)) if _overlap(low, high, row)]
    inside = [f"{row - first + 1} and {row - first + 2}" for row in over if row + 1 < last]
    said = []
    if inside:
        more = f" and {len(inside) - _SHOWN} more" if len(inside) > _SHOWN else ""
        said.append(f"Intervals of {called} overlap in rows {', '.join(inside[:_SHOWN])}{more}: order not certain.")
    if over and over[-1] == last - 1:
        said.append(f"The first row that is left out overlaps with the last that is shown, by {called}.")
    return tuple(said)


def _whole(query: Query) -> Query:
    return replace(query, limit=None, offset=0)


def _overlap(low: Sequence[float | None], high: Sequence[float | None], row: int) -> bool:
    ends = (low[row], low[row + 1], high[row], high[row + 1])
    known = [end for end in ends if end is not None]
    # Without an interval nothing is certain.
    return len(known) < len(ends) or (known[0] <= known[3] and known[1] <= known[2])
