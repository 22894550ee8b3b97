"""EXISTS and IN with a subquery: whether the person of a row has a partner for it."""

from __future__ import annotations

from sqlglot import exp

from quincunx.errors import QueryError
from quincunx.table.expression import Column, Expression
from quincunx.table.operators import apply
from quincunx.table.relations import Relation, SemiJoin
from quincunx.table.sql.names import Rows
from quincunx.table.sql.relation import Reading
from quincunx.table.sql.relations.subquery import Pair, check, conjunction, inner, split


def exists(reading: Reading, node: exp.Exists, rows: Rows) -> tuple[Relation, Column]:
    """The rows with a column that says whether the subquery has a row for them."""
    within = inner(reading, node.this, rows)
    for each in within.select.expressions if within.select is not None else ():
        # What it selects says nothing, but COUNT(*) would be there also where no row is.
        if not isinstance(each, exp.Star):
            reading.row(each.unalias(), within.rows, where="EXISTS")
    check(reading, node, rows, within, within.licensed)
    condition = conjunction(within.rest) if within.rest else None
    found = SemiJoin.of(rows.relation, within.rows.relation, within.pairs, condition=condition, exists=True)
    return found, found.column


def among(reading: Reading, node: exp.In, rows: Rows) -> tuple[Relation, Column] | None:
    """The rows with a column that says whether values are among those of the subquery; None for a list of values."""
    query = node.args.get("query")
    if query is None:
        return None
    tested = node.this.expressions if isinstance(node.this, exp.Tuple) else [node.this]
    for each in tested:
        rows = reading.extended(each, rows)
    within = inner(reading, query, rows)
    if within.pairs or within.rest:
        hint = "Write EXISTS (SELECT 1 FROM … WHERE …) with all comparisons."
        raise reading.text.refusal(
            node, "IN compares what it lists, and rows by their key, and nothing else", hint=hint
        )
    listed: list[Expression] = list(within.rows.columns)
    if within.select is not None:
        listed = [reading.row(each.unalias(), within.rows, where="IN") for each in within.select.expressions]
    if len(listed) != len(tested):
        got = f"{len(tested)} and {len(listed)}"
        raise reading.text.mistake(node, "IN compares as many columns as there are on both sides", got=got)
    pairs: list[Pair] = []
    for each, other in zip(tested, listed, strict=True):
        try:
            first, second = apply("equal", reading.row(each, rows, where="IN"), other).parts
        except QueryError as error:
            raise error if error.sql else error.at(reading.text.sql, *reading.text.span(each)) from None
        pairs.append((first, second))
    licensed, loose = split(rows.relation, within.rows.relation, pairs)
    check(reading, node, rows, within, licensed | within.licensed)
    # A key is never NULL, so that whether it is among others is never open.
    found = SemiJoin.of(rows.relation, within.rows.relation, loose, exists=not loose)
    return found, found.column
