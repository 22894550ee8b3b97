"""What an aggregate is measured by: terms, each a sum of whole numbers on a lattice, or a count."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from math import floor
from typing import ClassVar, Final, Literal

from quincunx.errors import QueryError, RefusalError
from quincunx.table import canonical
from quincunx.table.canonical import Json
from quincunx.table.expression import NUMBERS, Expression

# Without a declared step, the range of a decimal is divided into at least this many steps.
RESOLUTION: Final = 10**6
# Without a declared step, quantiles of a decimal are looked for among at least this many values.
BUCKETS: Final = 10**4
# Steps from zero to a bound; with it every value fits a BIGINT.
MAX_STEPS: Final = 2**62


@dataclass(frozen=True, slots=True, kw_only=True)
class Lattice:
    """Where the values of an argument lie: whole multiples of `step`, from `low` to `high` steps, minus `centre`."""

    step: Fraction
    low: int
    high: int
    centre: int

    @property
    def size(self) -> int:
        """The largest distance of a value from the centre, in steps; NULL counts as 0."""
        return max(abs(self.low - self.centre), abs(self.high - self.centre))

    @property
    def signed(self) -> bool:
        """Whether values on both sides of the centre can occur."""
        return self.low < self.centre < self.high


# A count counts ones.
ONES: Final = Lattice(step=Fraction(1), low=1, high=1, centre=0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Factor:
    """An argument on its lattice, as a factor: clip(⌊argument/step + 1/2⌋, low, high) − centre."""

    tag: ClassVar[str] = "Factor"

    argument: Expression
    step: Fraction
    low: int
    high: int
    centre: int

    @classmethod
    def of(cls, argument: Expression, lattice: Lattice) -> Factor:
        """The argument on this lattice."""
        return cls(argument=argument, step=lattice.step, low=lattice.low, high=lattice.high, centre=lattice.centre)

    @property
    def lattice(self) -> Lattice:
        """Where its values lie."""
        return Lattice(step=self.step, low=self.low, high=self.high, centre=self.centre)

    def canonical(self) -> Json:
        """What names it in a ledger."""
        step, argument = canonical.number(self.step), self.argument.canonical()
        return canonical.node(self.tag, argument=argument, step=step, low=self.low, high=self.high, centre=self.centre)


@dataclass(frozen=True, slots=True, kw_only=True)
class Term:
    """One measure before its scale is fixed.

    vector: what of a person is bounded: their rows, whether they are there at all, or their different values of the
    argument. counts: whether rows (those in which the argument, if there is one, is not NULL), people or different
    values are counted; otherwise the argument is added up, or the
    product of the factors, where there are some and no argument. centred: the argument's middle is subtracted before.
    lattice: of what is added up; of an argument it need not be given. levels: quantiles of the argument, from the
    weights at each of its values; interval: whether they get intervals. rungs: among which the bound of the argument
    is chosen, in steps, the highest last; lattice is then that of the highest. bins: rows are counted at each value of
    the argument, "each" by itself, or in a "tree" from which counts up to any value are read. of: what is added up,
    and called: by which function, in words that are no part of what is measured.
    """

    vector: Literal["rows", "people", "values"] = "rows"
    counts: bool
    argument: Expression | None = None
    factors: tuple[Factor, ...] = ()
    where: Expression | None = None
    centred: bool = False
    lattice: Lattice = ONES
    levels: tuple[Fraction, ...] = ()
    interval: bool = True
    rungs: tuple[int, ...] = ()
    bins: Literal["", "each", "tree"] = ""
    of: str = field(default="values", compare=False)
    called: str = field(default="", compare=False)


def counted(argument: Expression | None, where: Expression | None) -> Term:
    """The rows in which the argument is not NULL."""
    # COUNT(x) of something that cannot be NULL is COUNT(*), and can be shared with it.
    return Term(counts=True, argument=argument if argument is not None and argument.nullable else None, where=where)


def lattice_of(argument: Expression, centred: bool, called: str) -> Lattice:
    """The lattice on which an argument is added up; refused where it has no proved bounds."""
    low, high, step = _bounds(argument, called)
    # Bounds *after* the map x ↦ ⌊x/step + 1/2⌋: a bound off the lattice may move outward by half a step.
    lowest, highest = onto(low, step), onto(high, step)
    if max(abs(lowest), abs(highest)) >= MAX_STEPS:
        hint = f"Declare a coarser step, or bounds closer to 0; the step is {step}."
        raise QueryError(f"the argument of {called} has too many lattice steps to be summed exactly", hint=hint)
    placed = Lattice(step=step, low=lowest, high=highest, centre=(lowest + highest) // 2 if centred else 0)
    if placed.size == 0:
        hint = f"Declare a finer step; the step is {step} and the bounds are {low} and {high}."
        raise QueryError(f"every value of the argument of {called} is the same on its lattice", hint=hint)
    return placed


def grid_of(argument: Expression, most: int, called: str) -> Lattice:
    """The lattice on which quantiles of an argument are looked for: at most so many values, else a coarser step."""
    if argument.low is None or argument.high is None:
        hint = f"Write {called}(CLAMP(x, low, high)), or declare bounds for the columns that it is made of."
        raise RefusalError(f"{called} needs a bounded argument: it is looked for on a public grid", hint=hint)
    low, high, step = _bounds(argument, called)
    if argument.step is None and argument.type != "integer":
        step = power_of_ten_below(((high - low) or abs(high) or Fraction(1)) / BUCKETS)
    while onto(high, step) - onto(low, step) >= most:
        step *= 10
    return Lattice(step=step, low=onto(low, step), high=onto(high, step), centre=onto(low, step))


def onto(value: Fraction, step: Fraction) -> int:
    """⌊value/step + 1/2⌋."""
    return floor(value / step + Fraction(1, 2))


def _bounds(argument: Expression, called: str) -> tuple[Fraction, Fraction, Fraction]:
    if argument.type not in NUMBERS:
        hint = "Write CASE or CAST to make a number of it."
        raise QueryError(f"{called} needs a number", got=argument.type, hint=hint)
    if argument.low is None or argument.high is None:
        hint = f"Write {called}(CLAMP(x, low, high)), or declare bounds for the columns that it is made of."
        raise RefusalError(f"{called} needs a bounded argument: one person could move it by any amount", hint=hint)
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
