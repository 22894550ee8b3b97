"""Q by what tests can do: curves of errors, regions of probabilities, any condition on two laws."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise
from typing import ClassVar

from quincunx.errors import SpecificationError
from quincunx.numbers import delta_parameter, rational
from quincunx.spec import Standard
from quincunx.spec import standard as standards
from quincunx.taxonomy import fronts
from quincunx.taxonomy.answer import Answer
from quincunx.taxonomy.case import Case
from quincunx.taxonomy.quantification.measure import EMPTY, Quantification, labels_of
from quincunx.taxonomy.value import Value
from quincunx.taxonomy.world import World


@dataclass(frozen=True, slots=True)
class TradeOff(Quantification):
    """The curve of errors of the best test: the smallest f."""

    symbol: ClassVar[str] = "f"

    def answer(self, cases: Sequence[Case], world: World) -> Answer:
        if not cases:
            return Answer(shape="polygon", symbol="f", names=("false alarm", "miss"), note=EMPTY)
        corners = fronts.hull(cases)
        # A test of false-alarm rate Q(S) misses with 1 − P(S): the lower envelope is the hull upside down.
        rows = tuple((Value.of(level), Value.of(1 - power)) for level, power, _ in corners)
        place = max(corners, key=lambda row: row[1] - row[0])
        case = cases[place[2]]
        event = [i for i, (a, b) in enumerate(zip(case.p, case.q, strict=True)) if a > b]
        witness = case.witness(event, tuple(labels_of(case, world))) if event else None
        return Answer(
            shape="polygon", symbol="f", names=("false alarm", "miss"), rows=rows, witness=witness, compared=len(cases)
        )

    def phrase(self) -> str:
        return "at every level of false alarms"

    def formula(self) -> str:
        return r"T(Q, P)(x) \ge f(x)\ \ \forall x"


@dataclass(frozen=True, slots=True)
class Gaussian(Quantification):
    """The smallest μ such that telling P from Q is as hard as telling N(0, 1) from N(μ, 1)."""

    symbol: ClassVar[str] = "μ"

    def standard(self, world: World) -> Standard:  # noqa: ARG002
        return standards.GaussianDP()

    def phrase(self) -> str:
        return "no better than two bell curves allow"

    def formula(self) -> str:
        return r"T(Q, P)(x) \ge \Phi(\Phi^{-1}(1 - x) - \mu)\ \ \forall x"


@dataclass(frozen=True, slots=True)
class Region(Quantification):
    """Generic: Q(S) ≤ M(P(S)) and 1 − Q(S) ≤ M(1 − P(S)) for a concave polygon M. vertices: (x, M(x)) with x rising
    from 0 to 1 and M(1) = 1."""

    vertices: tuple[tuple[Fraction, Fraction], ...]
    symbol: ClassVar[str] = "M"

    def __post_init__(self) -> None:
        points = tuple((rational(x, "vertices"), rational(y, "vertices")) for x, y in self.vertices)
        rising = all(a[0] < b[0] for a, b in pairwise(points))
        if len(points) < 2 or points[0][0] != 0 or points[-1] != (Fraction(1), Fraction(1)) or not rising:
            hint = "Write ((0, M(0)), …, (1, 1)) with rising x."
            raise SpecificationError("a region is a polygon from 0 to 1 that ends in 1", where="Region", hint=hint)
        slopes = [(d - b) / (c - a) for (a, b), (c, d) in pairwise(points)]
        if any(s < t for s, t in pairwise(slopes)) or any(not 0 <= y <= 1 for _, y in points):
            raise SpecificationError("a region is concave, with values from 0 to 1", where="Region")
        object.__setattr__(self, "vertices", points)

    @classmethod
    def approximate(cls, factor: object, delta: object) -> Region:
        """M(x) = min(1, x·e^ε + δ, 1 − (1 − x − δ)e^{−ε}), which is (ε, δ); factor: e^ε."""
        t, d = rational(factor, "factor"), delta_parameter(delta)
        lines: list[Callable[[Fraction], Fraction]] = [
            lambda x: x * t + d,
            lambda x: 1 - (1 - x - d) / t,
            lambda _x: Fraction(1),
        ]
        corners = {
            Fraction(0),
            Fraction(1),
            1 - d,
            *([(1 - d) / (t + 1)] if t > 0 else []),
            *([(1 - d) / t] if t else []),
        }
        xs = sorted(x for x in corners if 0 <= x <= 1)
        return cls(tuple((x, min(line(x) for line in lines)) for x in xs))

    def at(self, x: Fraction) -> Fraction:
        """M(x)."""
        for (a, b), (c, d) in zip(self.vertices, self.vertices[1:], strict=False):
            if x <= c:
                return b + (d - b) * (x - a) / (c - a)
        return Fraction(1)

    def answer(self, cases: Sequence[Case], world: World) -> Answer:
        worst_gap, place = Fraction(0), None
        event: tuple[int, ...] = ()
        for i, case in enumerate(cases):
            # The largest Q(S) for each P(S) is the power curve of Q against P; M is concave, so its vertices decide.
            for level, power, outputs in curve_of(replace(case, p=case.q, q=case.p)):
                if power - self.at(level) > worst_gap:
                    worst_gap, place, event = power - self.at(level), i, outputs
        witness = cases[place].witness(event, tuple(labels_of(cases[place], world))) if place is not None else None
        return Answer(
            shape="verdict", symbol="M", holds=place is None, witness=witness, compared=len(cases),
            note="" if place is None else f"M is exceeded by {worst_gap}",
        )  # fmt: skip

    def phrase(self) -> str:
        return "beyond a stated region of probabilities"

    def formula(self) -> str:
        return r"Q(S) \le M(P(S)),\ Q(\bar S) \le M(P(\bar S))\ \ \forall S"


def curve_of(case: Case) -> list[tuple[Fraction, Fraction, tuple[int, ...]]]:
    """(Q(S), P(S), S) along the power curve, its ends included."""
    from quincunx.spec import curve_of

    shape = curve_of(case.p, case.q, True)
    inner = [(Fraction(p.level), Fraction(p.power), shape.event(p)) for p in shape.attained]  # type: ignore[arg-type]
    everything = tuple(range(len(case.p)))
    return [(Fraction(0), Fraction(0), ()), *inner, (Fraction(1), Fraction(1), everything)]


@dataclass(frozen=True, slots=True)
class Predicate(Quantification):
    """Abstract: any condition on two laws. holds: a function of two tuples of rationals."""

    holds: Callable[[tuple[Fraction, ...], tuple[Fraction, ...]], bool]
    symbol: ClassVar[str] = "q"

    def answer(self, cases: Sequence[Case], world: World) -> Answer:
        for case in cases:
            if not self.holds(case.p, case.q):
                event = tuple(i for i, (a, b) in enumerate(zip(case.p, case.q, strict=True)) if a > b)
                witness = case.witness(event, tuple(labels_of(case, world)))
                return Answer(shape="verdict", symbol="q", holds=False, witness=witness, compared=len(cases))
        return Answer(shape="verdict", symbol="q", holds=True, compared=len(cases))

    def phrase(self) -> str:
        return "beyond a stated condition"

    def formula(self) -> str:
        return r"q(P, Q)"
