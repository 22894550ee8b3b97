"""Rows without projections, one Filter at most after another, and every expression over the scanned columns.

What says nothing is left out, so that equal questions are one: a condition that is TRUE, and the argument of a count
that is never NULL because a row without it belongs to nobody.
"""

from __future__ import annotations

from dataclasses import replace

from quincunx.errors import QueryError, RefusalError
from quincunx.table.aggregates import Aggregate
from quincunx.table.expression import Column
from quincunx.table.relations import Owner, Relation, is_true
from quincunx.table.rules.draft import Draft


def merge(draft: Draft) -> Draft:
    """The same question with its rows fused, and everything else in terms of them."""
    query = draft.query
    rows, owner = query.rows, query.rows.owner
    if owner is None:
        hint = "Name a private table of the dataset."
        names = ", ".join(table.name for table in rows.tables.values())
        raise QueryError("the question has no private table", where="plan", got=names, hint=hint)
    if any(draft.schema.table(table.name) != table for table in rows.tables.values()):
        # Limits and bounds would be those of one and the numbers those of the other.
        raise QueryError("the question was read with other declarations than it is planned with", where="plan")
    if not owner.components and any(not each.rowwise for each in rows.walk()):
        # Rows that are people of their own count once each, which holds only as long as nothing repeats them.
        hint = "Name the column that identifies a person in the unit of protection."
        what = "rows are combined, and no column says whose they are"
        raise RefusalError(what, where="plan", hint=hint)
    keys = tuple(replace(key, expression=rows.base(key.expression)) for key in query.keys)
    aggregates = tuple(_based(each, rows, owner) for each in query.aggregates)
    parts = [*(key.expression for key in keys), *(part for each in aggregates for part in each.expressions)]
    used = frozenset(column.slot for part in parts for column in part.columns())
    return replace(draft, query=replace(query, rows=rows.fused().narrowed(used), keys=keys, aggregates=aggregates))


def _based(aggregate: Aggregate, rows: Relation, owner: Owner) -> Aggregate:
    found = aggregate.rewrite(rows.base)
    if is_true(found.where):
        found = replace(found, where=None)
    # A row in which a column of its owner is NULL is not read.
    owners = {component.column.slot for component in owner.components}
    if found.counts and isinstance(found.argument, Column) and found.argument.slot in owners:
        found = replace(found, argument=None)
    return found
