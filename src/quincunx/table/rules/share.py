"""Equal terms are measured once: AVG(x) and SUM(x) do not share, AVG(x) and COUNT(x) do."""

from __future__ import annotations

from dataclasses import replace

from quincunx.table.rules.draft import Draft, Term


def share(draft: Draft) -> Draft:
    """Every term once, in the order of first use."""
    index: dict[Term, int] = {}
    for term in draft.terms:
        index.setdefault(term, len(index))
    place = [index[term] for term in draft.terms]
    ratios = tuple((place[top], None if bottom is None else place[bottom]) for top, bottom in draft.ratios)
    return replace(draft, terms=tuple(index), ratios=ratios)
