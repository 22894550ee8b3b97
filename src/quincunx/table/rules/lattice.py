"""The lattice of each sum: its step, and its bounds after values are moved onto it."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from math import floor
from typing import Final

from quincunx.errors import QueryError, RefusalError
from quincunx.table.expression import NUMBERS, Expression
from quincunx.table.rules.draft import Draft, Lattice, Term

# Without a declared step, the range of a decimal is divided into at least this many steps.
RESOLUTION: Final = 10**6
# Steps from zero to a bound; with it every value fits a BIGINT.
MAX_STEPS: Final = 2**62


def lattice(draft: Draft) -> Draft:
    """Every sum with its lattice; refused where the argument has no proved bounds."""
    return replace(draft, terms=tuple(_placed(term) for term in draft.terms))


def _placed(term: Term) -> Term:
    if term.kind != "sum" or term.argument is None:
        return term
    low, high, step = _bounds(term.argument, term.centred)
    # Bounds *after* the map x ↦ ⌊x/step + 1/2⌋: a bound off the lattice may move outward by half a step.
    lowest, highest = onto(low, step), onto(high, step)
    name = "AVG" if term.centred else "SUM"
    if max(abs(lowest), abs(highest)) >= MAX_STEPS:
        hint = f"Declare a coarser step, or bounds closer to 0; the step is {step}."
        raise QueryError(f"the argument of {name} has too many lattice steps to be summed exactly", hint=hint)
    centre = (lowest + highest) // 2 if term.centred else 0
    placed = Lattice(step=step, low=lowest, high=highest, centre=centre)
    if placed.size == 0:
        hint = f"Declare a finer step; the step is {step} and the bounds are {low} and {high}."
        raise QueryError(f"every value of the argument of {name} is the same on its lattice", hint=hint)
    return replace(term, lattice=placed)


def onto(value: Fraction, step: Fraction) -> int:
    """⌊value/step + 1/2⌋."""
    return floor(value / step + Fraction(1, 2))


def _bounds(argument: Expression, centred: bool) -> tuple[Fraction, Fraction, Fraction]:
    name = "AVG" if centred else "SUM"
    if argument.type not in NUMBERS:
        raise QueryError(f"{name} needs a number", got=argument.type, hint="Write CASE or CAST to make a number of it.")
    if argument.low is None or argument.high is None:
        hint = f"Write {name}(CLAMP(x, low, high)), or declare bounds for the columns that it is made of."
        raise RefusalError(f"{name} needs a bounded argument: one person could move it by any amount", hint=hint)
    return argument.low, argument.high, _step(argument, argument.low, argument.high)


def _step(argument: Expression, low: Fraction, high: Fraction) -> Fraction:
    if argument.step is not None:
        return argument.step
    if argument.type == "integer":
        return Fraction(1)
    extent = (high - low) or abs(high) or Fraction(1)
    return power_of_ten_below(extent / RESOLUTION)


def power_of_ten_below(value: Fraction) -> Fraction:
    """The largest power of ten that is at most `value` > 0."""
    power = len(str(value.numerator)) - len(str(value.denominator))
    while Fraction(10) ** power > value:
        power -= 1
    while Fraction(10) ** (power + 1) <= value:
        power += 1
    return Fraction(10) ** power
