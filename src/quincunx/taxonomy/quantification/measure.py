"""Q: how is the loss quantified across outputs? What every choice answers; each is a standard of `spec`, or a front."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import ClassVar, Final

from quincunx.errors import SpecificationError
from quincunx.spec import Standard
from quincunx.taxonomy.answer import Answer
from quincunx.taxonomy.case import Case, worst
from quincunx.taxonomy.choice import Choice
from quincunx.taxonomy.value import Value
from quincunx.taxonomy.world import World

EMPTY: Final = "nothing is compared in this world"


class Quantification(Choice):
    """How far apart two laws are."""

    __slots__ = ()
    letter: ClassVar[str] = "Q"
    symbol: ClassVar[str] = "ε"

    def standard(self, world: World) -> Standard:
        """The standard at the stated settings; refused where the choice is a curve or a condition."""
        del world
        hint = "Choose a quantification with a number: WorstCase, Approximate, Renyi and the like."
        raise SpecificationError(f"{self.name} is no standard", where="quantification", hint=hint)

    def answer(self, cases: Sequence[Case], world: World) -> Answer:
        """The smallest parameters that are enough for every case."""
        return one_number(self.standard(world), cases, world, self.symbol)


def one_number(
    standard: Standard, cases: Sequence[Case], world: World, symbol: str, outputs: Sequence[object] | None = None
) -> Answer:
    """The largest measure over distance, with its witness."""
    if not cases:
        return Answer(shape="number", symbol=symbol, values={symbol: Value.of(Fraction(0))}, note=EMPTY)
    value, place, found = worst(standard, cases)
    labels = tuple(outputs or labels_of(cases[place], world))
    witness = cases[place].witness(found.event, labels) if found.event else None
    return Answer(shape="number", symbol=symbol, values={symbol: value}, witness=witness, compared=len(cases))


def labels_of(case: Case, world: World) -> Sequence[object]:
    """The outputs by name, or by number where the law is of something else."""
    if case.labels is not None:
        return case.labels
    return world.outputs if len(case.p) == len(world.outputs) else range(len(case.p))
