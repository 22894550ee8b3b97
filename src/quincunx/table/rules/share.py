"""Equal terms are measured once: AVG(x) and SUM(x) do not share, AVG(x) and COUNT(x) do.

Quantiles of one argument are terms of one kind, whatever their levels: all are drawn from one histogram.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from quincunx.table.aggregates import Term
from quincunx.table.rules.draft import Draft


def share(draft: Draft) -> Draft:
    """Every term once, in the order of first use."""
    index: dict[Term, int] = {}
    alike = [replace(term, levels=()) if term.levels else term for term in draft.terms]
    levels: dict[Term, set[Fraction]] = {}
    for term, given in zip(alike, draft.terms, strict=True):
        index.setdefault(term, len(index))
        levels.setdefault(term, set()).update(given.levels)
    place = [index[term] for term in alike]
    parts = tuple(tuple(place[each] for each in part) for part in draft.parts)
    terms = tuple(replace(term, levels=tuple(sorted(levels[term]))) for term in index)
    return replace(draft, terms=terms, parts=parts)
