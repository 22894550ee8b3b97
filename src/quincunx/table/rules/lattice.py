"""The lattice of each sum: its step, and its bounds after values are moved onto it."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from quincunx.errors import RefusalError
from quincunx.table.aggregates import ONES, Term, grid_of, lattice_of
from quincunx.table.rules.draft import Draft

# Groups times values of quantiles, from declarations alone: how many are occupied would tell of people.
CELLS: Final = 2**20


def lattice(draft: Draft) -> Draft:
    """Every sum with its lattice; refused where the argument has no proved bounds."""
    return replace(draft, terms=tuple(_placed(draft, term) for term in draft.terms))


def _check_cells(draft: Draft, term: Term) -> None:
    bins = term.lattice.high - term.lattice.low + 1
    if bins * (draft.public_groups or 1) > CELLS:
        hint = "Group by fewer columns, or give fewer edges."
        raise RefusalError(f"there are too many groups for {term.called} in each", where="GROUP BY", hint=hint)


def _placed(draft: Draft, term: Term) -> Term:
    if term.bins:
        _check_cells(draft, term)
        return term
    if term.levels and term.argument is not None:
        most = CELLS // (draft.public_groups or 1)
        if most < 2:
            hint = "Group by fewer columns, or ask for AVG."
            raise RefusalError(f"there are too many groups for {term.called} in each", where="GROUP BY", hint=hint)
        return replace(term, lattice=grid_of(term.argument, most, term.called))
    if term.counts or term.argument is None or term.lattice is not ONES:
        return term
    return replace(term, lattice=lattice_of(term.argument, term.centred, term.called))
