"""A subquery inside an expression, beside the rows around it: what ties the two, and what is about it alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final, TypeAlias

from sqlglot import exp

from quincunx.table.expression import Call, Expression
from quincunx.table.operators import apply
from quincunx.table.relations import Component, Filter, Relation
from quincunx.table.sql.licence import moved, spelled
from quincunx.table.sql.names import Rows
from quincunx.table.sql.relation import Reading
from quincunx.table.sql.relations.select import finished, from_

# An expression over the rows around a subquery, and one over its own rows, that are compared for equality.
Pair: TypeAlias = tuple[Expression, Expression]

# The parts of a SELECT that is FROM and WHERE, and names what it selects.
_PLAIN: Final = ("kind", "expressions", "from_", "where", "joins", "with_")


@dataclass(frozen=True, slots=True, kw_only=True)
class Inner:
    """The rows of a subquery, after all conditions on them alone.

    select: where it is FROM and WHERE alone, what it selects is still to be read. licensed: the components of the owner
    that its WHERE equates with those of the rows around. pairs: its other equalities of both sides. keys: its own side
    of the equalities that tie it, with the owner where it has one, with any column where it is public. rest: other
    conditions over both.
    """

    rows: Rows
    select: exp.Select | None = None
    licensed: frozenset[int] = frozenset()
    pairs: tuple[Pair, ...] = ()
    keys: tuple[Expression, ...] = ()
    rest: tuple[Expression, ...] = ()


def inner(reading: Reading, query: exp.Expr, around: Rows) -> Inner:
    """The rows of a subquery, and what ties them to the rows around it: conjuncts of its WHERE, each by itself."""
    while isinstance(query, exp.Subquery | exp.Paren) and not query.args.get("alias"):
        query = query.this
    if not isinstance(query, exp.Select):
        return Inner(rows=reading.subquery(query, around.known))
    # One step outward and no more: what is around the rows around is no row here.
    rows = from_(reading, query, around.known, replace(around, outer=None))
    where = query.args.get("where")
    own: list[Expression] = []
    ties: list[Expression] = []
    for node in _conjuncts(where.this) if where is not None else ():
        rows = reading.extended(node, rows)
        condition = reading.test(node, rows, where="WHERE")
        (own if _within(condition, rows.relation) else ties).append(condition)
    if own:
        kept = Filter(source=rows.relation, condition=conjunction(own))
        rows = replace(rows, relation=reading.shallow(query, kept))
    pairs = [pair for each in ties if (pair := _pair(each, rows.relation)) is not None]
    rest = tuple(each for each in ties if _pair(each, rows.relation) is None)
    owners, loose = split(around.relation, rows.relation, pairs)
    keys = tuple(inside for outside, inside in pairs if rows.relation.owner is None or (outside, inside) not in loose)
    if not any(value for name, value in query.args.items() if name not in _PLAIN):
        return Inner(rows=rows, select=query, licensed=owners, pairs=loose, keys=keys, rest=rest)
    if loose or rest:
        # What is grouped has other columns, so that only owners, which are hidden, can still be compared.
        hint = "Compare only the key with the rows around, or put the grouped part into FROM."
        raise reading.text.refusal(query, "this subquery compares rows before they are grouped", hint=hint)
    return Inner(rows=finished(reading, query, replace(rows, outer=None)), licensed=owners)


def split(around: Relation, within: Relation, pairs: Sequence[Pair]) -> tuple[frozenset[int], tuple[Pair, ...]]:
    """Which components of the owner equalities equate on both sides, and the other equalities."""
    count = 0 if within.owner is None or around.owner is None else len(within.owner.components)
    owners: set[int] = set()
    loose: list[Pair] = []
    for outside, inside in pairs:
        found = {place for place in range(count) if around.licenses(place, outside) and within.licenses(place, inside)}
        owners |= found
        loose += [] if found else [(outside, inside)]
    return frozenset(owners), tuple(loose)


def check(reading: Reading, node: exp.Expr, around: Rows, within: Inner, licensed: frozenset[int]) -> None:
    """Refuse a subquery about people that is not about the person of the row."""
    owner = within.rows.relation.owner
    if owner is None:
        return
    if around.relation.owner is None:
        hint = "Turn it around: ask about the private table, and look the public one up."
        raise reading.text.refusal(node, "public rows would show whether somebody is among the private ones", hint=hint)
    keyed(reading, node, around)
    missing = [each for place, each in enumerate(owner.components) if place not in licensed]
    if missing:
        beside = [each for place, each in enumerate(around.relation.owner.components) if place not in licensed]
        why = moved([*missing, *beside])
        if why is not None:
            raise reading.text.refusal(node, why[0], hint=why[1])
        what = "this subquery asks about everybody and would change other people's rows"
        raise reading.text.refusal(node, what, hint=_correlated(within.rows, around, missing))


def keyed(reading: Reading, node: exp.Expr, rows: Rows) -> None:
    """Refuse what looks at several rows where each row is a person of its own."""
    if rows.relation.owner is not None and not rows.relation.owner.components:
        hint = "Declare a key in the unit, or ask about each row by itself."
        raise reading.text.refusal(node, "each row is one person here, so that no rows belong together", hint=hint)


def conjunction(conditions: Sequence[Expression]) -> Expression:
    """All of them."""
    return conditions[0] if len(conditions) == 1 else apply("and", *conditions)


def _correlated(within: Rows, around: Rows, missing: Sequence[Component]) -> str:
    """How to tie a subquery to the rows around it, in the question's own names."""
    inside, outside = (next((name for name, _ in each.tables if name), "") for each in (within, around))
    named = inside.lower() != outside.lower()
    called = inside if named else "s"
    equal = " AND ".join(f"{spelled(each, called)} = {spelled(each, outside)}" for each in missing)
    return f"Correlate it: AND {equal}." if named else f"Call its table s, and correlate it: WHERE {equal}."


def _conjuncts(node: exp.Expr) -> Iterator[exp.Expr]:
    """The parts of AND, in their order; brackets around an AND are looked into."""
    pending = [node]
    while pending:
        each = pending.pop()
        bare = each
        while isinstance(bare, exp.Paren):
            bare = bare.this
        if isinstance(bare, exp.And):
            pending += [bare.expression, bare.this]
        else:
            yield each


def _within(expression: Expression, relation: Relation) -> bool:
    """Whether it uses columns of these rows only, and not of those around."""
    known = {column.slot for column in relation.columns}
    return all(column.slot in known for column in expression.columns())


def _pair(condition: Expression, relation: Relation) -> Pair | None:
    """The two sides of an equality, the one around first; None where it is no equality of one with the other."""
    if not (isinstance(condition, Call) and condition.operator == "equal"):
        return None
    known = {column.slot for column in relation.columns}
    sides = [{column.slot in known for column in each.columns()} for each in condition.arguments]
    first, second = condition.arguments
    if sides == [{False}, {True}]:
        return first, second
    return (second, first) if sides == [{True}, {False}] else None
