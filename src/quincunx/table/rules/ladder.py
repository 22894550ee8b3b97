"""Sums of columns whose bounds are "auto" get a ladder: public rungs, one of which is chosen as their bound when asked.

Only inside the argument of a sum or a mean: in conditions and keys a value stays what it is. See ../measure.md.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Final

from quincunx.errors import QueryError
from quincunx.numbers import amount
from quincunx.table.aggregates import Lattice, Term
from quincunx.table.aggregates.term import onto, power_of_ten_below
from quincunx.table.expression import NUMBERS, Expression
from quincunx.table.rules.draft import Draft
from quincunx.table.schema import Auto

# Without a declared step, the first rung is divided into at least this many.
RESOLUTION: Final = 1000


def ladder(draft: Draft) -> Draft:
    """The same terms, with rungs for arguments that have no bounds but a ladder."""
    terms, biases = [], list(draft.biases)
    for term in draft.terms:
        argument = term.argument
        summed = argument is not None and not term.counts and not term.levels and not argument.bounded
        auto = ladder_of(draft, argument) if summed and argument is not None else None
        if auto is None or argument is None:
            terms.append(term)
            continue
        terms.append(_laddered(term, argument, auto))
        biases.append(_sentence(argument, auto))
    return replace(draft, terms=tuple(terms), biases=tuple(biases))


def at_rung(term: Term, rung: int) -> Lattice:
    """The lattice of a sum that is bounded by a rung."""
    low = -rung if term.lattice.low < 0 else 0
    return Lattice(step=term.lattice.step, low=low, high=rung, centre=(low + rung) // 2 if term.centred else 0)


def _laddered(term: Term, argument: Expression, auto: Auto) -> Term:
    step = argument.step or (Fraction(1) if argument.type == "integer" else power_of_ten_below(auto.first / RESOLUTION))
    rungs = tuple(dict.fromkeys(steps for each in auto.rungs if (steps := onto(each, step)) > 0))
    if not rungs:
        hint = f"End it at a higher number: {amount(auto.last)} is less than one step, {amount(step)}."
        raise QueryError(f"the ladder of the argument of {term.called} has no rungs", where="bounds", hint=hint)
    placed = Lattice(step=step, low=-rungs[-1] if auto.negative else 0, high=rungs[-1], centre=0)
    return replace(term, lattice=placed, rungs=rungs)


def _sentence(argument: Expression, auto: Auto) -> str:
    names = " and ".join(dict.fromkeys(column.name for column in argument.columns()))
    among = f"a bound that is chosen privately between {amount(auto.first)} and {amount(auto.last)}"
    if auto.negative:
        return f"Values of {names} farther from 0 than {among} are moved to it."
    return f"Values of {names} below 0 are moved to 0, and those above {among} to it."


def ladder_of(draft: Draft, argument: Expression) -> Auto | None:
    """The ladder of all columns of an argument that have no bounds; None where they have different ones, or none."""
    columns = [column for column in argument.columns() if column.type in NUMBERS and not column.bounded]
    declared = [draft.query.rows.declared(column) for column in columns]
    found = {None if each is None else each.auto for each in declared}
    return found.pop() if len(found) == 1 else None
