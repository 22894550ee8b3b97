"""Aggregates become terms: what each of them is measured by."""

from __future__ import annotations

from dataclasses import replace

from quincunx.table.aggregates import Term
from quincunx.table.rules.draft import Draft


def split(draft: Draft) -> Draft:
    """Terms for every aggregate, in order, and which of them each aggregate is read from."""
    terms: list[Term] = []
    parts: list[tuple[int, ...]] = []
    for aggregate in draft.query.aggregates:
        first = len(terms)
        terms.extend(aggregate.terms())
        parts.append(tuple(range(first, len(terms))))
    return replace(draft, terms=tuple(terms), parts=tuple(parts))
