"""Q: how is the loss quantified across outputs? Each choice is a standard of `spec`, or a whole front of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise
from typing import ClassVar, Final

import numpy as np

from quincunx.errors import SpecificationError
from quincunx.numbers import delta_parameter, non_negative, positive_integer, rational
from quincunx.spec import sieve
from quincunx.spec import standard as standards
from quincunx.spec.base import Standard
from quincunx.spec.concentrated import Concentrated
from quincunx.spec.concentrated import MeanConcentrated as Mean
from quincunx.spec.power import CapacityBounded, PowerDivergence
from quincunx.spec.tails import Probabilistic as Tail
from quincunx.spec.tails import RangeBounded as Range
from quincunx.spec.tails import Relaxed as Both
from quincunx.taxonomy import fronts
from quincunx.taxonomy.answer import Answer
from quincunx.taxonomy.case import Case, floats, worst
from quincunx.taxonomy.choice import Choice, tex
from quincunx.taxonomy.value import ZERO, Value, above, joined
from quincunx.taxonomy.world import World

EMPTY: Final = "nothing is compared in this world"


class Quantification(Choice):
    """How far apart two laws are."""

    __slots__ = ()
    letter: ClassVar[str] = "Q"
    symbol: ClassVar[str] = "ε"

    def standard(self, world: World) -> Standard:
        """The standard at the stated settings."""
        raise NotImplementedError

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

    def front(self, cases: Sequence[Case]) -> list[tuple[Fraction, Fraction, int]]:
        """(e^ε, δ, case) at every corner."""
        raise NotImplementedError

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
class KullbackLeibler(Quantification):
    """The mean of the loss."""

    def standard(self, world: World) -> Standard:  # noqa: ARG002
        return standards.KL()

    def phrase(self) -> str:
        return "on average over outputs"

    def formula(self) -> str:
        return r"D_{\mathrm{KL}}(P\,\|\,Q) \le \varepsilon"


@dataclass(frozen=True, slots=True)
class TotalVariation(Quantification):
    """The largest difference of probabilities."""

    def standard(self, world: World) -> Standard:  # noqa: ARG002
        return standards.TV()

    def phrase(self) -> str:
        return "up to a difference of probabilities"

    def formula(self) -> str:
        return r"|P(S) - Q(S)| \le \varepsilon\ \ \forall S"


@dataclass(frozen=True, slots=True)
class Renyi(Quantification):
    """The Rényi divergence of one order α > 1."""

    alpha: Fraction = Fraction(2)

    def __post_init__(self) -> None:
        object.__setattr__(self, "alpha", standards.Renyi(self.alpha).alpha)

    def standard(self, world: World) -> Standard:  # noqa: ARG002
        return standards.Renyi(self.alpha)

    def phrase(self) -> str:
        return f"in the moment of order {self.alpha} of the loss"

    def formula(self) -> str:
        return rf"D_{{{tex(self.alpha)}}}(P\,\|\,Q) \le \varepsilon"


@dataclass(frozen=True, slots=True)
class MeanConcentrated(Quantification):
    """The mean μ of the loss, and the scale τ of a bell curve that dominates it around the mean."""

    symbol: ClassVar[str] = "τ"

    def standard(self, world: World) -> Standard:  # noqa: ARG002
        return Mean()

    def answer(self, cases: Sequence[Case], world: World) -> Answer:
        around, mean = (one_number(s, cases, world, n) for s, n in ((Mean(), "τ"), (standards.KL(), "μ")))
        return Answer(
            shape="several",
            symbol="τ",
            values={**mean.values, **around.values},
            witness=around.witness or mean.witness,
            compared=len(cases),
        )

    def phrase(self) -> str:
        return "with a loss concentrated around its mean"

    def formula(self) -> str:
        return (
            r"\mathbb{E} L \le \mu,\ \mathbb{E}\,e^{\lambda(L - \mathbb{E} L)} \le e^{\lambda^2\tau^2/2}"
            r"\ \ \forall\lambda,\ L = \ln\tfrac{P}{Q}"
        )


@dataclass(frozen=True, slots=True)
class ZeroConcentrated(Quantification):
    """Every Rényi divergence D_α is at most ξ + ρα. xi: ξ. omega: the largest order; None: all. delta: what may be left
    out (approximate; with ξ = 0 and all orders only)."""

    xi: Fraction = Fraction(0)
    omega: Fraction | None = None
    delta: Fraction = Fraction(0)
    symbol: ClassVar[str] = "ρ"

    def __post_init__(self) -> None:
        object.__setattr__(self, "xi", non_negative(self.xi, "xi"))
        object.__setattr__(self, "delta", delta_parameter(self.delta))
        object.__setattr__(self, "omega", Concentrated(self.xi, self.omega).omega)
        if self.delta and (self.xi or self.omega is not None):
            hint = "With ρ = 0 and ξ > 0 it is (ξ, δ): use Approximate."
            raise SpecificationError("approximate concentration is enclosed for ξ = 0 and all orders", hint=hint)

    def standard(self, world: World) -> Standard:  # noqa: ARG002
        plain = not self.xi and self.omega is None
        return standards.ZCDP(self.delta) if plain else Concentrated(self.xi, self.omega)

    def answer(self, cases: Sequence[Case], world: World) -> Answer:
        if not self.delta:
            return Quantification.answer(self, cases, world)
        # Approximate concentration splits both laws at once: it has no single direction.
        return symmetric(self.standard(world), cases, world, self.symbol)

    def phrase(self) -> str:
        orders = "" if self.omega is None else f" in orders up to {self.omega}"
        rest = f", except with probability {self.delta}" if self.delta else ""
        return f"with a loss concentrated around zero{orders}{rest}"

    def formula(self) -> str:
        top = "" if self.omega is None else rf" \le {tex(self.omega)}"
        inside = rf"D_\alpha(P\,\|\,Q) \le {tex(self.xi)} + \rho\alpha\ \ \forall\,1 < \alpha{top}"
        return inside if not self.delta else rf"P = (1-\delta)A + \delta B,\ Q = (1-\delta)A' + \delta B':\ {inside}"


def symmetric(standard: Standard, cases: Sequence[Case], world: World, symbol: str) -> Answer:
    """The largest `least` of approximate concentration over unordered cases, which is at most that of ZCDP."""
    firsts: dict[frozenset[int], Case] = {}
    for case in cases:
        firsts.setdefault(frozenset((id(case.p), id(case.q))), case)
    kept = list(firsts.values())
    known: dict[int, tuple[Value, tuple[int, ...]]] = {}

    def certain(i: int) -> float:
        least = standard.least(kept[i].p, kept[i].q)
        value = Value.of(least.exact) if least.exact is not None else Value.between(least.lower, least.upper)
        known[i] = value, () if least.swapped else least.event
        return value.bounds[0]

    both = [*kept, *(replace(case, p=case.q, q=case.p) for case in kept)]
    table = floats(both) if len(kept) > 1 else None
    bounds = None if table is None else sieve.bounds(standards.ZCDP(), *table)
    if bounds is None:
        asked = list(range(len(kept)))
        for i in asked:
            certain(i)
    else:
        high = np.maximum(bounds[1][: len(kept)], bounds[1][len(kept) :])
        asked = sieve.contenders(np.zeros(len(kept)), high, certain)
    if not asked:
        return Answer(shape="number", symbol=symbol, values={symbol: ZERO}, note=EMPTY)
    best = asked[0]
    for i in asked[1:]:
        best = i if above(known[i][0], known[best][0]) else best
    value = joined([known[i][0] for i in asked], asked.index(best))
    event, labels = known[best][1], tuple(labels_of(kept[best], world))
    witness = kept[best].witness(event, labels) if event else None
    return Answer(shape="number", symbol=symbol, values={symbol: value}, witness=witness, compared=len(cases))


@dataclass(frozen=True, slots=True)
class DoublyTruncated(Quantification):
    """Every Rényi divergence D_α, α ≥ 1, is at most η and at most τα (truncated concentrated, first form)."""

    symbol: ClassVar[str] = "τ"

    def standard(self, world: World) -> Standard:  # noqa: ARG002
        return standards.ZCDP()

    def answer(self, cases: Sequence[Case], world: World) -> Answer:
        # D_α rises to D_∞, so η is pure; sup D_α/α over α ≥ 1 is the same as over α > 1 by continuity.
        eta, tau = (one_number(s, cases, world, n) for s, n in ((standards.Pure(), "η"), (standards.ZCDP(), "τ")))
        values = {**eta.values, **tau.values}
        return Answer(shape="several", symbol="τ", values=values, witness=eta.witness, compared=len(cases))

    def phrase(self) -> str:
        return "with a loss that is both bounded and concentrated"

    def formula(self) -> str:
        return r"D_\alpha(P\,\|\,Q) \le \min(\eta, \alpha\tau)\ \ \forall\,\alpha \ge 1"


@dataclass(frozen=True, slots=True)
class Divergence(Quantification):
    """An f-divergence Σ Q·f(P/Q) by name. f: as in `standard.Divergence`."""

    f: str = "chi-squared"

    def __post_init__(self) -> None:
        standards.Divergence(self.f)

    def standard(self, world: World) -> Standard:  # noqa: ARG002
        return standards.Divergence(self.f)

    def phrase(self) -> str:
        return f"in the {self.f} divergence"

    def formula(self) -> str:
        return rf"\sum Q\,f(\tfrac{{P}}{{Q}}) \le \varepsilon,\ f = \text{{{self.f}}}"


@dataclass(frozen=True, slots=True)
class Power(Quantification):
    """(Σ Q·|P/Q − 1|^k)^{1/k}."""

    k: int = 2

    def __post_init__(self) -> None:
        object.__setattr__(self, "k", positive_integer(self.k, "k"))

    def standard(self, world: World) -> Standard:  # noqa: ARG002
        return PowerDivergence(self.k)

    def phrase(self) -> str:
        return f"in the {self.k}-th mean of the relative change"

    def formula(self) -> str:
        return rf"\sum Q\,|\tfrac{{P}}{{Q}} - 1|^{{{self.k}}} \le \varepsilon^{{{self.k}}}"


@dataclass(frozen=True, slots=True)
class Capacity(Quantification):
    """An f-divergence seen through the world's functions."""

    f: str = "chi-squared"
    needs: ClassVar[tuple[str, ...]] = ("functions",)

    def standard(self, world: World) -> Standard:
        found = world.needed("functions", "a capacity-bounded adversary")
        table: Sequence[dict[str, Fraction]] = found  # type: ignore[assignment]
        return CapacityBounded(self.f, tuple(tuple(h[o] for o in world.outputs) for h in table))

    def phrase(self) -> str:
        return f"in the {self.f} divergence, seen through few functions"

    def formula(self) -> str:
        return r"\sup_{h \in H} \mathbb{E}_P h - \mathbb{E}_Q f^*(h) \le \varepsilon"


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
    from quincunx.spec.curve import curve

    shape = curve(case.p, case.q, True)
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
