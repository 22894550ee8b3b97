"""Sums of columns whose bounds are "auto" get a ladder: public rungs, one of which is chosen as their bound when asked.

Only inside the argument of a sum or a mean: in conditions and keys a value stays what it is. See ../measure.md.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, replace
from fractions import Fraction
from math import ceil
from typing import Final

from quincunx.errors import QueryError, RefusalError
from quincunx.numbers import amount
from quincunx.table.aggregates import Aggregate, Lattice, Term
from quincunx.table.aggregates.term import onto, power_of_ten_below
from quincunx.table.expression import NUMBERS, Expression, Value
from quincunx.table.operators import apply, literal
from quincunx.table.rules.draft import Draft
from quincunx.table.schema import Auto

# Without a declared step, the first rung is divided into at least this many.
RESOLUTION: Final = 1000


def climb(draft: Draft) -> Draft:
    """The same draft; refused where a bound would be chosen for what needs one that is declared."""
    for aggregate in draft.query.aggregates:
        if aggregate.climbs or all(form.needs != "bounded" for form in aggregate.forms):
            continue
        if any(_auto(draft, part) is not None for part in _loose(aggregate)):
            name = aggregate.forms[0].name
            hint = f"Ask for SUM or AVG, or write {name}(CLAMP(x, low, high))."
            raise RefusalError(f'{name} needs bounds that are declared, and not "auto"', where="bounds", hint=hint)
    return draft


def ladder(draft: Draft) -> Draft:
    """The same terms, with rungs for arguments that have no bounds but a ladder."""
    terms, biases = [], list(draft.biases)
    for term in draft.terms:
        argument = term.argument
        summed = argument is not None and not term.counts and not term.levels and not argument.bounded
        auto = _auto(draft, argument) if summed and argument is not None else None
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
    # Executed first, so that the argument has bounds as all others have. It changes no choice: rows above the highest
    # rung lie above all rungs alike.
    ends = [literal(_end(end * step, argument.type)) for end in (placed.low, placed.high)]
    return replace(term, argument=apply("clamp", argument, *ends), lattice=placed, rungs=rungs)


def _sentence(argument: Expression, auto: Auto) -> str:
    names = " and ".join(dict.fromkeys(column.name for column in argument.columns()))
    among = f"a bound that is chosen privately between {amount(auto.first)} and {amount(auto.last)}"
    if auto.negative:
        return f"Values of {names} farther from 0 than {among} are moved to it."
    return f"Values of {names} below 0 are moved to 0, and those above {among} to it."


def _auto(draft: Draft, argument: Expression) -> Auto | None:
    """The ladder of all columns of an argument that have no bounds; None where they have different ones, or none."""
    columns = [column for column in argument.columns() if column.type in NUMBERS and not column.bounded]
    declared = [draft.query.rows.declared(column) for column in columns]
    found = {None if each is None else each.auto for each in declared}
    return found.pop() if len(found) == 1 else None


def _loose(aggregate: Aggregate) -> Iterator[Expression]:
    """Arguments without proved bounds."""
    for each in fields(aggregate):
        part = getattr(aggregate, each.name)
        if each.name != "where" and isinstance(part, Expression) and part.type in NUMBERS and not part.bounded:
            yield part


def _end(value: Fraction, kind: str) -> Value:
    """An end of a clamp: of whole numbers a whole one, and not nearer."""
    return value if kind != "integer" else ceil(value) if value > 0 else -ceil(-value)
