"""Terms become measures: integer weights, the fineness of each result, and the proved distance of neighbours."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from math import isqrt
from typing import Final, Literal

from quincunx.errors import QueryError
from quincunx.table.measure import Measure, Statistic, Vector
from quincunx.table.rules.draft import Draft, Term

# Weights are whole multiples of 2^−20: a person over the limit loses less than a millionth of a row by rounding.
BITS: Final = 20
# The results are about this fine: C·B lattice steps of one unit become up to 2^32.
FINE: Final = 32
# k·C·B at most: with it 2^48 rows sum to less than 2^48 · 2^BITS · 2^56 = 2^124 in a HUGEINT.
MAX_CONTRIBUTION: Final = 2**56


def scale(draft: Draft) -> Draft:
    """One measure for each term, and how the aggregates are read off them."""
    measures = tuple(_measure(draft, term) for term in draft.terms)
    statistics = tuple(_statistic(measures, top, bottom) for top, bottom in draft.ratios)
    return replace(draft, measures=measures, statistics=statistics)


def _measure(draft: Draft, term: Term) -> Measure:
    vector, lattice = _vector(draft, term), term.lattice
    people = draft.schema.unit.group
    # ⌈C·B⌉, from C² rational: the ceiling of a root is one more than the root of one less.
    square = vector.bound2 * lattice.size**2
    contribution = isqrt(-(-square.numerator // square.denominator) - 1) + 1
    if people * contribution > MAX_CONTRIBUTION:
        hint = f"Declare a coarser step, narrower bounds or lower limits; the step is {lattice.step}."
        raise QueryError("one person could contribute too many lattice steps to be summed exactly", hint=hint)
    counts = term.kind != "sum"
    reach2 = draft.schema.unit.reach2(draft.norm, signed=lattice.signed, single=draft.public_groups == 1)
    fine = min(max(FINE - contribution.bit_length(), 0), vector.bits)
    fraction = vector.bits if counts else fine
    return Measure(
        vector=vector,
        argument=term.argument,
        where=term.where,
        counts=counts,
        step=lattice.step,
        low=lattice.low,
        high=lattice.high,
        centre=lattice.centre,
        fraction=fraction,
        sensitivity2=square * 4**fraction * reach2,
    )


def _vector(draft: Draft, term: Term) -> Vector:
    kind: Literal["rows", "people"] = "people" if term.kind == "people" else "rows"
    bound2 = draft.bounds2[kind]
    if kind == "rows":
        bits = BITS if draft.schema.unit.key is not None else 0
        return Vector(kind=kind, norm=draft.norm, bound2=bound2, bits=bits)
    # A unit is in at most all the public groups; where C allows that, nobody is weighted.
    everywhere = draft.public_groups
    never = everywhere is not None and everywhere ** (2 if draft.norm == 1 else 1) <= bound2
    return Vector(kind=kind, norm=draft.norm, bound2=bound2, bits=0 if never else BITS, where=term.where)


def _statistic(measures: tuple[Measure, ...], top: int, bottom: int | None) -> Statistic:
    measure = measures[top]
    if bottom is None:
        return Statistic(
            numerator=top, denominator=None, centre=Fraction(0), resolution=measure.step, low=None, high=None
        )
    return Statistic(
        numerator=top,
        denominator=bottom,
        centre=measure.centre * measure.step,
        resolution=Fraction(0),
        low=measure.low * measure.step,
        high=measure.high * measure.step,
    )
