"""Chains of Project and Filter become one Scan with one condition, by substitution.

What says nothing is left out, so that equal questions are one: a condition that is TRUE, and the argument of a count
that is never NULL because a row without it belongs to nobody.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from quincunx.errors import QueryError
from quincunx.spec.unit import AddRemove, Replace
from quincunx.table.aggregates import Aggregate
from quincunx.table.expression import Call, Column, Expression, Literal
from quincunx.table.plan import Filter, Project, Relation, Scan
from quincunx.table.rules.draft import Draft

# Columns that are built from columns can double in size at each level; a question this large is not meant.
MAX_NODES: Final = 20_000
# Deeper expressions could exhaust the stack of the engine that writes them.
MAX_DEPTH: Final = 80
# Operators of which an engine may write the argument twice.
DOUBLED: Final = ("clamp", "cast")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Rows:
    """A relation as a scan, a condition on its rows, and its columns as expressions of the scan's columns."""

    scan: Scan
    condition: Expression | None = None
    columns: Mapping[str, Expression] | None = None

    def inline(self, expression: Expression) -> Expression:
        """The expression over the scan's columns."""
        columns = self.columns or {}
        sizes = {name: _size(column, {}) for name, column in columns.items()}
        size, depth = _size(expression, sizes)
        # Measured before anything is built: building takes as long as the result is large.
        if size > MAX_NODES or depth > MAX_DEPTH:
            hint = "Nest fewer subqueries, CLAMPs and CASTs."
            raise QueryError("the question grows too large when its parts are merged", where="plan", hint=hint)
        if self.columns is None:
            return expression
        return expression.rewrite(lambda node: columns[node.name.lower()] if isinstance(node, Column) else node)


def _size(expression: Expression, sizes: Mapping[str, tuple[int, int]]) -> tuple[int, int]:
    """How many nodes the engine would write, and how deep, where columns stand for expressions of known sizes."""
    if isinstance(expression, Column):
        return sizes.get(expression.name.lower(), (1, 1))
    parts = [_size(part, sizes) for part in expression.parts]
    written, depth = 1 + sum(size for size, _ in parts), 1 + max((depth for _, depth in parts), default=0)
    twice = isinstance(expression, Call) and expression.operator in DOUBLED
    return (2 * written if twice else written), depth


def merge(draft: Draft) -> Draft:
    """The same question with `rows` a Scan, or one Filter of a Scan, and everything else over the scan's columns."""
    query = draft.query
    rows = _rows(query.rows)
    source: Relation = rows.scan
    if rows.condition is not None:
        source = Filter(source=source, condition=rows.condition)
    keys = tuple(replace(key, expression=rows.inline(key.expression)) for key in query.keys)
    aggregates = tuple(_inlined(each, rows, draft.schema.unit) for each in query.aggregates)
    return replace(draft, query=replace(query, rows=source, keys=keys, aggregates=aggregates))


def _inlined(aggregate: Aggregate, rows: _Rows, unit: AddRemove | Replace) -> Aggregate:
    found = aggregate.rewrite(rows.inline)
    if _true(found.where):
        found = replace(found, where=None)
    # A row in which a column of its owner is NULL is not read.
    owner = {name.lower() for name in unit.columns}
    if found.counts and isinstance(found.argument, Column) and found.argument.name.lower() in owner:
        found = replace(found, argument=None)
    return found


def _true(condition: Expression | None) -> bool:
    return isinstance(condition, Literal) and condition.value is True


def _rows(relation: Relation) -> _Rows:
    match relation:
        case Scan():
            return _Rows(scan=relation)
        case Filter():
            below = _rows(relation.source)
            condition = below.inline(relation.condition)
            return below if _true(condition) else replace(below, condition=_both(below.condition, condition))
        case Project():
            below = _rows(relation.source)
            columns = {name.lower(): below.inline(expression) for name, expression in relation.columns}
            return replace(below, columns=columns)


def _both(first: Expression | None, second: Expression) -> Expression:
    if first is None:
        return second
    nullable = first.nullable or second.nullable
    return Call(type="boolean", nullable=nullable, operator="and", arguments=(first, second))
