"""What is measured: vectors of exact integers, one number for each group, with a proved distance between neighbours.

For each unit u of protection and each vector, v_g ≥ 0 says how much of u falls into group g, and W_u is the largest
integer weight ≤ 2^bits with W_u·‖v‖ ≤ C·2^bits. A measure adds up W_u times what each row contributes. See measure.md.
Rows are those that remain after WHERE and that have a public key where keys are public.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import ClassVar, Literal

from quincunx.table import canonical
from quincunx.table.aggregates import Factor, Lattice
from quincunx.table.canonical import Json
from quincunx.table.expression import Expression, Slot
from quincunx.table.plan import Chosen, Query


@dataclass(frozen=True, slots=True, kw_only=True)
class Vector:
    """How the contribution of one unit is bounded.

    kind: "rows": v_g is the number of u's rows in group g; "people": v_g = 1 if u has a row in g (for which `where`
    is true), else 0; "values": v_g is the number of different values that the measure's argument has in u's rows in g
    (for which `where` is true), NULL and the infinite left out. norm: 1 or 2. bound2: C², so that C itself may be a
    square root. bits: weights are integers up to 2^bits; 0 where every weight is proved to be one (v is a unit vector
    by the unit of protection itself).
    """

    tag: ClassVar[str] = "Vector"

    kind: Literal["rows", "people", "values"]
    norm: Literal[1, 2]
    bound2: Fraction
    bits: int
    where: Expression | None = None

    def canonical(self) -> Json:
        """What names it in a ledger."""
        bound2, where = canonical.number(self.bound2), canonical.part(self.where)
        return canonical.node(self.tag, kind=self.kind, norm=self.norm, bound2=bound2, bits=self.bits, where=where)


@dataclass(frozen=True, slots=True, kw_only=True)
class Grid:
    """Which quantiles, or counts, are asked of a measure that is a histogram, and what may move it.

    interval: whether they get intervals. weight: the most that the rows of those who may change weigh, in lattice
    units: people·C. moves: whether they may be replaced, and not only come or go. apart: whether there are several
    groups. branching: of the tree of counts that is told instead of quantiles, then there are no levels; 0: none is.
    """

    tag: ClassVar[str] = "Grid"

    levels: tuple[Fraction, ...]
    interval: bool
    weight: int
    moves: bool
    apart: bool
    branching: int = 0

    def canonical(self) -> Json:
        """What names it in a ledger."""
        levels = [canonical.number(each) for each in self.levels]
        # What is no tree is named as it was before there were any.
        tree = {"branching": self.branching} if self.branching else {}
        return canonical.node(
            self.tag,
            **tree,
            levels=levels,
            interval=self.interval,
            weight=self.weight,
            moves=self.moves,
            apart=self.apart,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Rung:
    """A sum as it is measured where this rung is chosen: as `Measure` has these."""

    tag: ClassVar[str] = "Rung"

    low: int
    high: int
    centre: int
    fraction: int
    sensitivity2: Fraction

    def canonical(self) -> Json:
        """What names it in a ledger."""
        moved, fraction = canonical.number(self.sensitivity2), self.fraction
        return canonical.node(
            self.tag, low=self.low, high=self.high, centre=self.centre, fraction=fraction, sensitivity2=moved
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Ladder:
    """Rungs, from the lowest, one of which becomes the bound of a sum: it is chosen by how many rows lie above each.

    vector: what of a unit counts there, all its rows that have a value as one group in norm 1, whatever the sum's own
    vector is. weight: the most that the rows of those who may change weigh, in lattice units: people·C₁·2^bits.
    """

    tag: ClassVar[str] = "Ladder"

    rungs: tuple[Rung, ...]
    vector: Vector
    weight: int

    def canonical(self) -> Json:
        """What names it in a ledger."""
        rungs = [each.canonical() for each in self.rungs]
        return canonical.node(self.tag, rungs=rungs, vector=self.vector.canonical(), weight=self.weight)


@dataclass(frozen=True, slots=True, kw_only=True)
class Measure:
    """One integer for each group: Σ over rows of trunc(W·x / 2^(bits − fraction)), for measures of rows.

    x is 1 for counts (of rows in which the argument, if there is one, is neither NULL nor infinite); for sums the row's
    argument on its lattice, clip(⌊argument/step + 1/2⌋, low, high) − centre, 0 where it is NULL or infinite; with
    factors clip(their product, low, high) − centre, 0 where one of them is NULL or infinite. x is 0
    where `where` is not true; such a row still counts in v. low, high: in steps, after the map. A measure of people
    adds W once for each unit present in the group. A measure of values adds up, over the values present in the group,
    what the weights of the units that have it come to, at most 2^bits. One lattice unit of the result stands for
    step / 2^fraction in the data's unit. sensitivity2: the square of the largest distance, in the vector's norm and in
    lattice units, between the results of neighbouring datasets under the unit of protection. grid: instead of a sum,
    the weights of the rows at each value from low to high, by the number of steps above low; rows without a value have
    none. Inside a group their distance is the sum over values; where there is a tree, it is that of its counts. ladder:
    the sum is bounded by a rung that is chosen privately; low, high, centre, fraction and sensitivity2 are those of the
    highest. Measured are, for each group, the weights of the rows that end at each rung (W by the ladder's vector),
    then the sum at each. chosen: it is a sum at the rung that was chosen. of: what is added up, in a word.
    """

    tag: ClassVar[str] = "Measure"

    vector: Vector
    argument: Expression | None
    where: Expression | None
    counts: bool
    factors: tuple[Factor, ...] = ()
    step: Fraction
    low: int
    high: int
    centre: int
    fraction: int
    sensitivity2: Fraction
    grid: Grid | None = None
    ladder: Ladder | None = None
    chosen: bool = field(default=False, compare=False)
    of: str = field(default="values", compare=False)

    def canonical(self) -> Json:
        """What names it in a ledger."""
        # What has no factors is named as it was before there were any.
        factors = {"factors": [each.canonical() for each in self.factors]} if self.factors else {}
        grid = {} if self.grid is None else {"grid": self.grid.canonical()}
        ladder = {} if self.ladder is None else {"ladder": self.ladder.canonical()}
        return canonical.node(
            self.tag,
            **factors,
            **grid,
            **ladder,
            vector=self.vector.canonical(),
            argument=canonical.part(self.argument),
            where=canonical.part(self.where),
            counts=self.counts,
            step=canonical.number(self.step),
            low=self.low,
            high=self.high,
            centre=self.centre,
            fraction=self.fraction,
            sensitivity2=canonical.number(self.sensitivity2),
        )

    @property
    def lattice(self) -> Lattice:
        """Where the values that are added up lie."""
        return Lattice(step=self.step, low=self.low, high=self.high, centre=self.centre)

    @property
    def unit(self) -> Fraction:
        """What one lattice unit of the result stands for, in the data's unit; of a histogram, in rows."""
        return (Fraction(1) if self.grid is not None else self.step) / (1 << self.fraction)

    @property
    def sums(self) -> tuple[Measure, ...]:
        """The sum at each rung of its ladder; none without one."""
        rungs = () if self.ladder is None else self.ladder.rungs
        return tuple(
            replace(
                self,
                ladder=None,
                chosen=True,
                low=rung.low,
                high=rung.high,
                centre=rung.centre,
                fraction=rung.fraction,
                sensitivity2=rung.sensitivity2,
            )
            for rung in rungs
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """Unknown keys: each unit's different keys, at most `groups` of them by smallest hash, vote for themselves.

    With t keys kept each counts ⌊2^bits / t⌋ (norm 1) or ⌊2^bits / √t⌋ (norm 2); one lattice unit stands for 2^−bits.
    groups = 1: whole votes, bits = 0. people: how many units may change at once (the unit's group). sensitivity2: the
    square of the largest distance between the votes of neighbouring datasets, in the norm, in whole votes: a distance
    in lattice units is 2^bits times as long. Keys for which nobody votes are in no result.
    """

    tag: ClassVar[str] = "Selection"

    norm: Literal[1, 2]
    groups: int
    bits: int
    people: int
    sensitivity2: Fraction

    def canonical(self) -> Json:
        """What names it in a ledger."""
        moved = canonical.number(self.sensitivity2)
        return canonical.node(
            self.tag, norm=self.norm, groups=self.groups, bits=self.bits, people=self.people, sensitivity2=moved
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Climb:
    """How much of one unit counts is chosen before a question is answered: a rung of a public ladder.

    of: what the rungs are numbers of, from the lowest. choice: counts the units that end at each rung, and beyond the
    last. programs: the question at each rung.
    """

    of: Chosen
    rungs: tuple[int, ...]
    choice: Program
    programs: tuple[Program, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """A question, planned: what the engine computes and what each number means. No private row was read.

    parts: for each of the query's aggregates, which measures it is read from, in the order of its roles. biases:
    sentences, from the plan alone, on what the bounded statistic may lack ("people with more than 20 rows are weighted
    down"). worlds: the column, in every private table, that tells datasets apart that are asked together (neighbour
    replay), each by itself: it is the first key, belongs to the owner of a row in every scan, and takes no part in
    which keys an owner keeps. weights: how much of the spend each measure gets beside the others; none: equal shares.
    climb: how many rows of one unit count is chosen first; all else is then that of the highest rung.
    """

    query: Query
    measures: tuple[Measure, ...]
    parts: tuple[tuple[int, ...], ...]
    selection: Selection | None
    biases: tuple[str, ...]
    worlds: str | None = None
    weights: tuple[Fraction, ...] = ()
    climb: Climb | None = None

    def lattices(self, index: int) -> tuple[Lattice, ...]:
        """Where the values of an aggregate's measures lie."""
        return tuple(self.measures[part].lattice for part in self.parts[index])

    def unrolled(self) -> Program:
        """The same with the sums of all rungs behind each ladder, which then stands for its weights alone."""
        flat = tuple(part for measure in self.measures for part in (measure, *measure.sums))
        return self if flat == self.measures else replace(self, measures=flat)


def columns_read(program: Program) -> frozenset[Slot]:
    """The columns that the program reads; those that say whose a row is are not counted."""
    query = program.query
    parts: list[Expression | None] = [key.expression for key in query.keys]
    parts += [part for relation in query.rows.walk() for part in relation.expressions]
    for measure in program.measures:
        parts += [measure.argument, measure.where, measure.vector.where, *(each.argument for each in measure.factors)]
    return frozenset(column.slot for part in parts if part is not None for column in part.columns())
