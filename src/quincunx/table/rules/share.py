"""Equal terms are measured once: AVG(x) and SUM(x) do not share, AVG(x) and COUNT(x) do."""

from __future__ import annotations

from dataclasses import replace

from quincunx.table.aggregates import Term
from quincunx.table.rules.draft import Draft


def share(draft: Draft) -> Draft:
    """Every term once, in the order of first use."""
    index: dict[Term, int] = {}
    for term in draft.terms:
        index.setdefault(term, len(index))
    place = [index[term] for term in draft.terms]
    parts = tuple(tuple(place[each] for each in part) for part in draft.parts)
    return replace(draft, terms=tuple(index), parts=parts)
