"""Aggregates become terms: a mean is a centred sum and a count, which share the weight of every row."""

from __future__ import annotations

from dataclasses import replace

from quincunx.table.expression import Expression
from quincunx.table.plan import Aggregate
from quincunx.table.rules.draft import Draft, Term


def split(draft: Draft) -> Draft:
    """Terms for every aggregate, in order, and which of them each aggregate is read from."""
    terms: list[Term] = []
    ratios: list[tuple[int, int | None]] = []
    for aggregate in draft.query.aggregates:
        parts = _terms(aggregate)
        first = len(terms)
        ratios.append((first, first + 1 if len(parts) == 2 else None))
        terms.extend(parts)
    return replace(draft, terms=tuple(terms), ratios=tuple(ratios))


def _terms(aggregate: Aggregate) -> tuple[Term, ...]:
    argument, where = aggregate.argument, aggregate.where
    match aggregate.kind:
        case "people":
            return (Term(kind="people", where=where),)
        case "count":
            return (_count(argument, where),)
        case "sum":
            return (Term(kind="sum", argument=argument, where=where),)
        case "mean":
            return Term(kind="sum", argument=argument, where=where, centred=True), _count(argument, where)


def _count(argument: Expression | None, where: Expression | None) -> Term:
    # COUNT(x) of something that cannot be NULL is COUNT(*), and can be shared with it.
    counted = argument if argument is not None and argument.nullable else None
    return Term(kind="count", argument=counted, where=where)
