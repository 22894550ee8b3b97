"""Plans as short texts, for the tests."""

from __future__ import annotations

from quincunx.table.aggregates import Aggregate
from quincunx.table.expression import Call, Column, Expression, GroupKey, Literal, Measured
from quincunx.table.plan import Query
from quincunx.table.relations import Filter, Project, Relation, Scan


def shown(expression: Expression | None) -> str:
    """operator(argument, …), columns by name, constants by repr, published values #i and keys @i."""
    if expression is None:
        return ""
    if isinstance(expression, Column):
        return expression.name
    if isinstance(expression, Literal):
        value = expression.value
        return "NULL" if value is None else repr(value) if isinstance(value, str) else str(value)
    if isinstance(expression, Measured):
        return f"#{expression.index}"
    if isinstance(expression, GroupKey):
        return f"@{expression.index}"
    assert isinstance(expression, Call)
    name = f"cast[{expression.type}]" if expression.operator == "cast" else expression.operator
    return f"{name}({', '.join(shown(part) for part in expression.arguments)})"


def facts(expression: Expression) -> str:
    """type, ? where it can be NULL, [low, high] and /step where they are known."""
    found = expression.type + ("?" if expression.nullable else "")
    if expression.low is not None or expression.high is not None:
        found += f" [{_end(expression.low)}, {_end(expression.high)}]"
    return found if expression.step is None else f"{found} /{expression.step}"


def _end(end: object) -> str:
    return "…" if end is None else str(end)


def relation(rows: Relation) -> str:
    """From the table outwards."""
    if isinstance(rows, Scan):
        return rows.table.name
    if isinstance(rows, Filter):
        return f"{relation(rows.source)} | {shown(rows.condition)}"
    assert isinstance(rows, Project)
    return f"{relation(rows.source)} > " + ", ".join(f"{name}={shown(each)}" for name, each in rows.chosen)


def aggregate(each: Aggregate) -> str:
    found = f"{each.kind}({shown(each.argument)})"
    return found if each.where is None else f"{found} where {shown(each.where)}"


def query(found: Query) -> dict[str, object]:
    """What there is, by clause."""
    everything = {
        "rows": relation(found.rows),
        "keys": [f"{key.name}: {shown(key.expression)}" for key in found.keys],
        "aggregates": [aggregate(each) for each in found.aggregates],
        "outputs": [f"{output.name}: {shown(output.expression)}" for output in found.outputs],
        "having": shown(found.having),
        "order": [
            shown(each.expression) + (" desc" if each.descending else "") + (" nulls first" if each.nulls_first else "")
            for each in found.order
        ],
        "limit": found.limit,
        "offset": found.offset,
    }
    return {name: value for name, value in everything.items() if value}
