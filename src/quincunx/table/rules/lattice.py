"""The lattice of each sum: its step, and its bounds after values are moved onto it."""

from __future__ import annotations

from dataclasses import replace

from quincunx.table.aggregates import ONES, Term, lattice_of
from quincunx.table.rules.draft import Draft


def lattice(draft: Draft) -> Draft:
    """Every sum with its lattice; refused where the argument has no proved bounds."""
    return replace(draft, terms=tuple(_placed(term) for term in draft.terms))


def _placed(term: Term) -> Term:
    if term.counts or term.argument is None or term.lattice is not ONES:
        return term
    return replace(term, lattice=lattice_of(term.argument, term.centred, term.called))
