"""Equal terms are measured once: AVG(x) and SUM(x) do not share, AVG(x) and COUNT(x) do.

Quantiles of one argument are terms of one kind, whatever their levels: all are drawn from one histogram. Counts of bins
are read from a tree, where one is told, at no cost.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from quincunx.table.aggregates import Term
from quincunx.table.rules.draft import Draft


def share(draft: Draft) -> Draft:
    """Every term once, in the order of first use."""
    index: dict[Term, int] = {}
    alike = [_alike(term) for term in draft.terms]
    levels: dict[Term, set[Fraction]] = {}
    trees = {term for term, given in zip(alike, draft.terms, strict=True) if given.bins == "tree"}
    for term, given in zip(alike, draft.terms, strict=True):
        index.setdefault(term, len(index))
        levels.setdefault(term, set()).update(given.levels)
    place = [index[term] for term in alike]
    parts = tuple(tuple(place[each] for each in part) for part in draft.parts)
    terms = tuple(
        replace(term, levels=tuple(sorted(levels[term])), bins="tree" if term in trees else term.bins) for term in index
    )
    return replace(draft, terms=terms, parts=parts)


def _alike(term: Term) -> Term:
    """What quantiles of one argument, and counts of the same bins, have in common."""
    if term.bins:
        return replace(term, bins="each")
    return replace(term, levels=()) if term.levels else term
