"""A SELECT below the outermost one, and FROM and WHERE of any: rows, what clauses make of them, columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from sqlglot import exp

from quincunx.table.expression import Column, Expression
from quincunx.table.relations import Filter
from quincunx.table.sql.names import Rows
from quincunx.table.sql.relation import Reading, Tables
from quincunx.table.sql.relations.join import joined, licensed, settled

# Why a part of a subquery is refused for which no clause is entered.
_REFUSED: Final = {
    "limit": ("LIMIT below an aggregate chooses by comparing people", "Compare with a value in WHERE, as in age < 30."),
    "offset": ("OFFSET below an aggregate chooses by comparing people", "Compare with a value in WHERE."),
    "order": ("the order of rows changes nothing below an aggregate", "Leave ORDER BY out of the subquery."),
}


def read(reading: Reading, select: exp.Select, tables: Tables, outer: Rows | None) -> Rows:
    """The rows of a SELECT that is no question by itself."""
    clauses = reading.constructs.clauses
    for name, (what, hint) in _REFUSED.items():
        if select.args.get(name) and name not in clauses and not (name == "order" and first_only(select)):
            raise reading.text.refusal(select.args[name], what, hint=hint)
    return finished(reading, select, source(reading, select, tables, outer))


def first_only(select: exp.Select) -> bool:
    """Whether it is SELECT DISTINCT ON, for which an order says which row is the first."""
    distinct = select.args.get("distinct")
    return distinct is not None and distinct.args.get("on") is not None


def finished(reading: Reading, select: exp.Select, rows: Rows) -> Rows:
    """What the clauses after WHERE, and the columns that are selected, make of the rows."""
    for name, clause in reading.constructs.clauses.items():
        if select.args.get(name):
            rows = clause(reading, select, rows)
    rows = _columns(reading, select, rows)
    for name, finish in reading.constructs.finishes.items():
        if select.args.get(name) and not first_only(select):
            rows = finish(reading, select, rows)
    return rows


def _columns(reading: Reading, select: exp.Select, rows: Rows) -> Rows:
    """The rows with the columns of SELECT."""
    whole = len(select.expressions) == 1 and isinstance(select.expressions[0], exp.Star) and len(rows.tables) == 1
    # What a condition needed besides is no column of the table.
    if whole and rows.columns == rows.relation.columns:
        return rows
    for node in select.expressions:
        rows = reading.extended(node, rows)
    columns = [each for node in select.expressions for each in _chosen(reading, node, rows)]
    return reading.project(select, rows, columns)


def source(reading: Reading, select: exp.Select, tables: Tables, outer: Rows | None = None) -> Rows:
    """The rows of a SELECT after FROM and WHERE."""
    first, joins, where = *_named(reading, select, tables, outer), select.args.get("where")
    if not joins:
        return _kept(reading, where, first)
    rows, steps = joined(reading, joins, first)
    plain, further = _conditions(reading, where)
    tests = [reading.test(each, rows, where="WHERE") for each in plain]
    again = settled(reading, steps, first, tests)
    if again is not None:
        rows, steps = again
        tests = [reading.test(each, rows, where="WHERE") for each in plain]
    rows = licensed(reading, rows, steps, tests)
    for each in further:
        rows = _kept(reading, each, rows)
    return replace(rows, relation=reading.shallow(select, rows.relation))


def from_(reading: Reading, select: exp.Select, tables: Tables, outer: Rows | None = None) -> Rows:
    """The rows of a SELECT after FROM; its joins are licensed by ON and USING alone."""
    first, joins = _named(reading, select, tables, outer)
    return licensed(reading, *joined(reading, joins, first), ()) if joins else first


def _named(reading: Reading, select: exp.Select, tables: Tables, outer: Rows | None) -> tuple[Rows, Sequence[exp.Join]]:
    """The first rows of FROM, and what is joined to them."""
    tables = reading.with_(select, tables)
    clause = select.args.get("from_")
    if clause is None:
        hint = "Name a private table: SELECT COUNT(*) FROM …."
        raise reading.text.refusal(select, "a question needs FROM", hint=hint)
    given = [(each.alias.lower(), each.this) for each in select.expressions if isinstance(each, exp.Alias)]
    rows = replace(reading.item(clause.this, tables), given=tuple(given), known=tables, outer=outer)
    return rows, select.args.get("joins") or ()


def _kept(reading: Reading, where: exp.Expr | None, rows: Rows) -> Rows:
    """The rows for which a condition is true; None: all."""
    if where is None:
        return rows
    node = where.this if isinstance(where, exp.Where) else where
    rows = reading.extended(node, rows)
    kept = reading.test(node, rows, where="WHERE")
    return replace(rows, relation=reading.shallow(where, Filter(source=rows.relation, condition=kept)))


def _conditions(reading: Reading, where: exp.Where | None) -> tuple[list[exp.Expr], list[exp.Expr]]:
    """What WHERE asks of a row alone, and what of it needs more than the row."""
    pending: list[exp.Expr] = [] if where is None else [where.this]
    plain: list[exp.Expr] = []
    further: list[exp.Expr] = []
    while pending:
        node = pending.pop()
        if isinstance(node, exp.And):
            pending += [node.args["expression"], node.this]
        elif isinstance(node, exp.Paren):
            pending.append(node.this)
        else:
            deep = any(type(each) in reading.constructs.extensions for each in node.walk())
            (further if deep else plain).append(node)
    return plain, further


def _chosen(reading: Reading, node: exp.Expr, rows: Rows) -> list[tuple[str, Expression]]:
    if isinstance(node, exp.Star):
        return list(rows.star)
    if isinstance(node, exp.Column) and isinstance(node.this, exp.Star):
        if not rows.has(node.table):
            raise reading.text.mistake(node, "no table in FROM has this name", got=repr(node.table))
        return [(each.name, each) for each in rows.named(node.args["table"], reading.text)]
    named = node.this if isinstance(node, exp.Alias) else node
    expression = reading.row(named, rows, where="a subquery")
    merged = isinstance(named, exp.Column) and not named.table and named.name.lower() in rows.merged
    if not isinstance(node, exp.Alias) and not isinstance(expression, Column) and not merged:
        raise reading.text.mistake(node, "this column of the subquery has no name", hint="Write … AS name.")
    return [(node.alias if isinstance(node, exp.Alias) else node.name, expression)]
