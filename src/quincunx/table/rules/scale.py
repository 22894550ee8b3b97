"""Terms become measures: integer weights, the fineness of each result, and the proved distance of neighbours."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from math import isqrt
from typing import Final

from quincunx.errors import QueryError
from quincunx.mechanisms import levels_of
from quincunx.table.aggregates import Term
from quincunx.table.measure import Grid, Ladder, Measure, Rung, Vector
from quincunx.table.rules.bound import rows2
from quincunx.table.rules.draft import Draft
from quincunx.table.rules.ladder import at_rung

# Weights are whole multiples of 2^−20: a person over the limit loses less than a millionth of a row by rounding.
BITS: Final = 20
# The results are about this fine: C·B lattice steps of one unit become up to 2^32.
FINE: Final = 32
# k·C·B at most: with it 2^48 rows sum to less than 2^48 · 2^BITS · 2^56 = 2^124 in a HUGEINT.
MAX_CONTRIBUTION: Final = 2**56
# How many counts of a level are counted together in the next, by norm: what is best for counts up to any bin.
BRANCHING: Final[Mapping[int, int]] = {1: 16, 2: 4}


def scale(draft: Draft) -> Draft:
    """One measure for each term."""
    return replace(draft, measures=tuple(_measure(draft, term) for term in draft.terms))


def _measure(draft: Draft, term: Term) -> Measure:
    vector, lattice = _vector(draft, term), term.lattice
    if term.levels or term.bins:
        return _histogram(draft, term, vector)
    if term.rungs:
        return _laddered(draft, term)
    people = draft.schema.unit.group
    # ⌈C·B⌉, from C² rational: the ceiling of a root is one more than the root of one less.
    square = vector.bound2 * lattice.size**2
    contribution = isqrt(-(-square.numerator // square.denominator) - 1) + 1
    if people * contribution > MAX_CONTRIBUTION:
        hint = f"Declare a coarser step, narrower bounds or lower limits; the step is {lattice.step}."
        raise QueryError("one person could contribute too many lattice steps to be summed exactly", hint=hint)
    reach2 = draft.schema.unit.reach2(draft.norm, signed=lattice.signed, single=draft.public_groups == 1)
    fine = min(max(FINE - contribution.bit_length(), 0), vector.bits)
    fraction = vector.bits if term.counts else fine
    return Measure(
        vector=vector,
        argument=term.argument,
        factors=term.factors,
        where=term.where,
        counts=term.counts,
        step=lattice.step,
        low=lattice.low,
        high=lattice.high,
        centre=lattice.centre,
        fraction=fraction,
        sensitivity2=square * 4**fraction * reach2,
        of=term.of,
    )


def _histogram(draft: Draft, term: Term, vector: Vector) -> Measure:
    unit, square = draft.schema.unit, vector.bound2 * 4**vector.bits
    # Inside a group distances add up over values, so that somebody who moves counts twice, as for signed sums.
    reach2 = unit.reach2(draft.norm, signed=True)
    distance2, branching = square * reach2, 0
    if term.bins:
        distance2, branching = _tree(draft, term, square)
    whole = square * unit.group**2
    grid = Grid(
        levels=term.levels,
        interval=term.interval,
        # ⌈√square⌉, as above.
        weight=isqrt(-(-whole.numerator // whole.denominator) - 1) + 1,
        moves=reach2 > unit.group**2,
        apart=draft.public_groups != 1,
        branching=branching,
    )
    return Measure(
        vector=vector,
        argument=term.argument,
        where=term.where,
        counts=False,
        step=term.lattice.step,
        low=term.lattice.low,
        high=term.lattice.high,
        centre=term.lattice.centre,
        fraction=vector.bits,
        sensitivity2=distance2,
        grid=grid,
        of=term.of,
    )


def _laddered(draft: Draft, term: Term) -> Measure:
    """The sum at the highest rung, which must be possible too: a failure after the choice would tell of it."""
    at = [_measure(draft, replace(term, rungs=(), lattice=at_rung(term, rung))) for rung in term.rungs]
    # The sum's weights bound a person in each group; where they are in ℓ2, rows over all groups may weigh far more.
    bound2 = rows2(replace(draft, norm=1))
    vector = Vector(kind="rows", norm=1, bound2=bound2, bits=_row_bits(draft))
    rungs = tuple(
        Rung(low=m.low, high=m.high, centre=m.centre, fraction=m.fraction, sensitivity2=m.sensitivity2) for m in at
    )
    weight = draft.schema.unit.group * isqrt(int(bound2)) << vector.bits
    return replace(at[-1], ladder=Ladder(rungs=rungs, vector=vector, weight=weight))


def _row_bits(draft: Draft) -> int:
    """One row for each owner is a unit vector, whatever the limits are."""
    return BITS if draft.schema.unit.key is not None and not draft.query.rows.single else 0


def _tree(draft: Draft, term: Term, square: Fraction) -> tuple[Fraction, int]:
    """The square of the distance of all counts of a tree, and how many of a level are counted together in the next."""
    bins = term.lattice.high - term.lattice.low + 1
    branching = min(BRANCHING[draft.norm], bins) if term.bins == "tree" else bins
    # On every level a row is in one count, and no count is negative: each level is a vector like that of the groups.
    levels = len(levels_of(bins, branching))
    reach2 = draft.schema.unit.reach2(draft.norm, signed=False)
    return square * reach2 * (levels**2 if draft.norm == 1 else levels), branching


def _vector(draft: Draft, term: Term) -> Vector:
    kind, bound2 = term.vector, draft.bounds2[term.vector]
    if kind != "people":
        where = term.where if kind == "values" else None
        return Vector(kind=kind, norm=draft.norm, bound2=bound2, bits=_row_bits(draft), where=where)
    # A unit is in at most all the public groups; where C allows that, nobody is weighted.
    everywhere = draft.public_groups
    never = everywhere is not None and everywhere ** (2 if draft.norm == 1 else 1) <= bound2
    return Vector(kind=kind, norm=draft.norm, bound2=bound2, bits=0 if never else BITS, where=term.where)
