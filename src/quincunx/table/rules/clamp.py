"""Counts of a person's rows that are summed get the bound that `limits` state: executed, and said as a bias.

Only where a sum or a mean needs a bound: in conditions and keys a count stays what it is. See relations/rollup.md.
"""

from __future__ import annotations

from dataclasses import fields, replace

from quincunx.table.aggregates import Aggregate
from quincunx.table.expression import NUMBERS, Column, Expression
from quincunx.table.operators import apply, literal, rebuilt
from quincunx.table.rules.draft import Draft


def clamp(draft: Draft) -> Draft:
    """The same question with counts clamped in arguments that have no bounds without it."""
    counted = draft.query.rows.counted
    most: set[int] = set()

    def bounded(column: Column) -> Expression:
        if column.slot not in counted:
            return column
        most.add(counted[column.slot])
        return apply("clamp", column, literal(0), literal(counted[column.slot]))

    def changed(aggregate: Aggregate) -> Aggregate:
        names = [each.name for each in fields(aggregate) if each.name != "where"]
        given = {name: part for name in names if isinstance(part := getattr(aggregate, name), Expression)}
        loose = {name: part for name, part in given.items() if part.type in NUMBERS and not part.bounded}
        return replace(aggregate, **{name: rebuilt(part, bounded) for name, part in loose.items()})

    aggregates = tuple(each if each.counts else changed(each) for each in draft.query.aggregates)
    unit = draft.schema.unit
    who = "People" if unit.per is None else f"Person-{unit.per.period}s"
    biases = tuple(f"{who} with more than {rows} rows of {draft.names} count as {rows}." for rows in sorted(most))
    return replace(draft, query=replace(draft.query, aggregates=aggregates), biases=(*draft.biases, *biases))
