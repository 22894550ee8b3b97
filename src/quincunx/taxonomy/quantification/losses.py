"""Q by the loss of single outputs: the worst, all but a few, a range."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import ClassVar

from quincunx.errors import SpecificationError
from quincunx.numbers import delta_parameter
from quincunx.spec import Probabilistic as Tail
from quincunx.spec import RangeBounded as Range
from quincunx.spec import Relaxed as Both
from quincunx.spec import Standard
from quincunx.spec import standard as standards
from quincunx.taxonomy import fronts
from quincunx.taxonomy.answer import Answer
from quincunx.taxonomy.case import Case, worst
from quincunx.taxonomy.quantification.measure import EMPTY, Quantification, labels_of
from quincunx.taxonomy.value import Value
from quincunx.taxonomy.world import World


@dataclass(frozen=True, slots=True)
class WorstCase(Quantification):
    """The largest loss of any output: pure."""

    default: ClassVar[bool] = True

    def standard(self, world: World) -> Standard:  # noqa: ARG002
        return standards.Pure()

    def phrase(self) -> str:
        return "even in the worst-case scenario"

    def formula(self) -> str:
        return r"P(S) \le e^{\varepsilon} Q(S)\ \ \forall S"


class _WithDelta(Quantification):
    __slots__ = ()
    delta: Fraction | None

    def __post_init__(self) -> None:
        if self.delta is not None:
            object.__setattr__(self, "delta", delta_parameter(self.delta))

    @abstractmethod
    def front(self, cases: Sequence[Case]) -> list[tuple[Fraction, Fraction, int]]:
        """(e^ε, δ, case) at every corner."""

    def stated(self) -> Fraction:
        """The one δ, or an error that asks for it."""
        if self.delta is None:
            hint = f'State it: {type(self).__name__}(delta="1/1000").'
            raise SpecificationError("one δ is needed here, not the whole front", where=type(self).__name__, hint=hint)
        return self.delta

    def answer(self, cases: Sequence[Case], world: World) -> Answer:
        if self.delta is not None:
            return Quantification.answer(self, cases, world)
        names = ("ε", "δ")
        if not cases:
            return Answer(shape="front", symbol="ε", names=names, note=EMPTY)
        if any(case.distance != 1 for case in cases):
            self.stated()
        found = self.front(cases)
        rows = tuple((Value.log(t), Value.of(delta)) for t, delta, _ in found)
        case = cases[found[0][2]]
        event = [i for i, (a, b) in enumerate(zip(case.p, case.q, strict=True)) if a > b]
        witness = case.witness(event, tuple(labels_of(case, world))) if event else None
        return Answer(shape="front", symbol="ε", names=names, rows=rows, witness=witness, compared=len(cases))


@dataclass(frozen=True, slots=True)
class Approximate(_WithDelta):
    """(ε, δ): P(S) ≤ e^ε·Q(S) + δ. delta: one δ, or None for the whole front."""

    delta: Fraction | None = None

    def front(self, cases: Sequence[Case]) -> list[tuple[Fraction, Fraction, int]]:
        return fronts.sticks(cases)

    def standard(self, world: World) -> Standard:  # noqa: ARG002
        return standards.Approximate(self.stated())

    def phrase(self) -> str:
        return "up to a small additive probability of error"

    def formula(self) -> str:
        return r"P(S) \le e^{\varepsilon} Q(S) + \delta\ \ \forall S"


@dataclass(frozen=True, slots=True)
class Probabilistic(_WithDelta):
    """The loss exceeds ε with probability at most δ. delta: one δ, or None for the whole front."""

    delta: Fraction | None = None

    def front(self, cases: Sequence[Case]) -> list[tuple[Fraction, Fraction, int]]:
        return fronts.tails(cases)

    def standard(self, world: World) -> Standard:  # noqa: ARG002
        return Tail(self.stated())

    def phrase(self) -> str:
        return "except on outputs of small probability"

    def formula(self) -> str:
        return r"P(\ln\tfrac{P}{Q} > \varepsilon) \le \delta"


@dataclass(frozen=True, slots=True)
class Relaxed(Quantification):
    """(ε, δ_a) outside outputs of probability δ_p. delta: δ_a. outside: δ_p."""

    delta: Fraction = Fraction(1, 100)
    outside: Fraction = Fraction(1, 100)

    def __post_init__(self) -> None:
        object.__setattr__(self, "delta", delta_parameter(self.delta))
        object.__setattr__(self, "outside", delta_parameter(self.outside, "outside"))

    def standard(self, world: World) -> Standard:  # noqa: ARG002
        return Both(self.delta, self.outside)

    def phrase(self) -> str:
        return "up to a small additive error, except on outputs of small probability"

    def formula(self) -> str:
        return (
            r"\exists B: P(B) \le \delta_p,\ "
            r"P(S \setminus B) \le e^{\varepsilon} Q(S \setminus B) + \delta_a\ \ \forall S"
        )


@dataclass(frozen=True, slots=True)
class RangeBounded(Quantification):
    """The largest minus the smallest loss."""

    def standard(self, world: World) -> Standard:  # noqa: ARG002
        return Range()

    def answer(self, cases: Sequence[Case], world: World) -> Answer:
        found = Quantification.answer(self, cases, world)
        if found.witness is None:
            return found
        # The event of a range is its two extreme outputs, each with its own pair of probabilities.
        _, place, reached = worst(Range(), cases)
        case, names = cases[place], tuple(labels_of(cases[place], world))
        each = [
            f"{names[i]} has probability {case.p[i]} given {case.first} and {case.q[i]} given {case.second}"
            for i in reached.event
        ]
        return replace(found, witness=replace(found.witness, words="; ".join(each)))

    def phrase(self) -> str:
        return "in the range of the loss"

    def formula(self) -> str:
        return r"\max \ln\tfrac{P}{Q} - \min \ln\tfrac{P}{Q} \le \varepsilon"
