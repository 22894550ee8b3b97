"""The standard d_Pr: how the change of an output's law is measured.

Each standard is a small frozen value. Its intensity is the customary parameter of the literature (ε, ρ, μ, …), and
`least` gives the smallest intensity at which two laws satisfy it, in both directions.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar, Final, Literal, TypeAlias, TypeGuard

from quincunx.errors import ParameterError, SpecificationError, kind_of
from quincunx.numbers import Ball, Exact, amount, ball, precision, rational
from quincunx.numbers import Number as Typed
from quincunx.spec import tradeoff
from quincunx.spec.concentrated import Concentrated, MeanConcentrated
from quincunx.spec.divergence import (
    INFINITE,
    SHAPES,
    Number,
    Shape,
    as_rational,
    custom_shape,
    f_divergence,
    kl,
    renyi,
    sharpened,
    zcdp,
)
from quincunx.spec.implication import exponential, scaled
from quincunx.spec.measure import EQUAL, Found, Least, epsilon, gaussian, likelier, repeated, total_variation, truncated
from quincunx.spec.normalised import NormalisedRenyi
from quincunx.spec.power import CapacityBounded, PowerDivergence
from quincunx.spec.standard_base import Factor, Standard, WithDelta
from quincunx.spec.tails import Probabilistic, RangeBounded, Relaxed
from quincunx.spec.wording import decimal_above, latex_number, times

__all__ = [
    "KL",
    "TV",
    "ZCDP",
    "Approximate",
    "CapacityBounded",
    "Concentrated",
    "Divergence",
    "GaussianDP",
    "Least",
    "MeanConcentrated",
    "NormalisedRenyi",
    "PowerDivergence",
    "Probabilistic",
    "Pure",
    "RangeBounded",
    "Relaxed",
    "Renyi",
    "Standard",
    "Tradeoff",
    "from_json",
]


@dataclass(frozen=True, slots=True)
class Pure(Factor):
    """ε-differential privacy: ε = sup over events S of |ln P(S)/P'(S)|."""

    kind: ClassVar[str] = "pure"
    additive: ClassVar[str] = "ε"
    norm: ClassVar[Literal[1, 2]] = 1
    linear_in_distance: ClassVar[bool] = True

    def _found(self, p: Sequence[Number], q: Sequence[Number], exact: bool) -> Found:
        return epsilon(p, q, exact, Fraction(0))

    def _group(self, intensity: Exact, k: int) -> tuple[Standard, Exact | Ball]:
        return self, scaled(intensity, k)

    def words(self, intensity: Exact) -> str:
        return (
            f"ε = {amount(intensity)}: no event becomes more than {times(intensity)} times as likely, "
            "or as unlikely, when the data change by one unit."
        )

    def latex(self, intensity: Exact) -> str:
        return rf"P(S) \le e^{{\varepsilon}}\,P'(S), \quad {self._stated(intensity)}"


@dataclass(frozen=True, slots=True)
class Approximate(Factor, WithDelta):
    """(ε, δ)-differential privacy: the smallest ε ≥ 0 with P(S) ≤ e^ε P'(S) + δ for all events S, both ways.

    delta: δ, a rational in [0, 1).
    """

    delta: Fraction

    if TYPE_CHECKING:

        def __init__(self, delta: Typed) -> None: ...

    kind: ClassVar[str] = "approximate"
    additive: ClassVar[str] = "ε"
    norm: ClassVar[Literal[1, 2]] = 1
    shares_delta: ClassVar[bool] = True

    def _found(self, p: Sequence[Number], q: Sequence[Number], exact: bool) -> Found:
        return epsilon(p, q, exact, self.delta)

    def _group(self, intensity: Exact, k: int) -> tuple[Standard, Exact | Ball] | None:
        # δ(1 + e^ε + … + e^{(k−1)ε}) = δ(e^{kε} − 1)/(e^ε − 1)
        e = exponential(intensity)
        if isinstance(e, Fraction) and k * e.numerator.bit_length() <= 4_096:
            delta = self.delta * sum((e**i for i in range(k)), Fraction(0))
        else:
            one = ball(intensity)
            steps = Ball(k) if intensity == Fraction(0) else (one * k).expm1() / one.expm1()
            grown = ball(self.delta) * steps
            if not grown < 1:
                return None
            delta = decimal_above(grown) if self.delta else Fraction(0)
        return (Approximate(delta), scaled(intensity, k)) if delta < 1 else None

    def words(self, intensity: Exact) -> str:
        return (
            f"ε = {amount(intensity)}, δ = {amount(self.delta)}: when the data change by one unit, the probability "
            f"of any event grows to at most {times(intensity)} times what it was, plus {amount(self.delta)}."
        )

    def latex(self, intensity: Exact) -> str:
        return (
            rf"P(S) \le e^{{\varepsilon}}\,P'(S) + \delta, \quad {self._stated(intensity)},\ "
            rf"\delta = {latex_number(self.delta)}"
        )


@dataclass(frozen=True, slots=True)
class ZCDP(WithDelta):
    """Zero-concentrated differential privacy: ρ = sup over α > 1 of D_α(P‖P')/α, both ways. With a shift ξ, or with
    orders up to ω, it is Concentrated.

    delta: δ, a rational in [0, 1). With δ > 0 it is approximate zCDP: P = (1−δ)A + δB and P' = (1−δ)A' + δB' with A and
    A' ρ-zCDP. Its smallest ρ is enclosed, not solved: see `least` in standard.md.
    """

    delta: Fraction = Fraction(0)

    if TYPE_CHECKING:

        def __init__(self, delta: Typed = 0) -> None: ...

    kind: ClassVar[str] = "zcdp"
    symbol: ClassVar[str] = "ρ"
    additive: ClassVar[str] = "ρ"
    norm: ClassVar[Literal[1, 2]] = 2

    def least(self, p: Sequence[Number], q: Sequence[Number]) -> Least:
        """The smallest ρ; for δ > 0 an enclosure between total variation and an explicit truncation."""
        if self.delta == 0:
            return Standard.least(self, p, q)
        cut, apart = Approximate(self.delta).least(p, q), TV().least(p, q)
        if not cut.lower.is_finite():
            return cut
        if cut.upper == 0:
            return EQUAL
        with precision(256):
            # TV ≤ δ + (1−δ)·TV(A, A'), KL(A‖A') ≤ ρ, Pinsker and Bretagnolle–Huber, solved for ρ.
            share = ((apart.lower - ball(self.delta)) / ball(1 - self.delta)).nonnegative_part()
            square = (share * share).lower()
            lower = max(2 * square, -(-square).log1p()).lower().nonnegative_part().lower()
            # The undivided pair is one decomposition, the truncation another: the better of the two bounds.
            whole = ZCDP().least(p, q).upper
            upper = whole
            if cut.upper.is_finite():
                ratio: Number = exponential(cut.exact) if cut.exact is not None else cut.upper.exp().upper()
                kept = ZCDP().least(truncated(p, q, ratio), truncated(q, p, ratio)).upper
                upper = kept if kept < whole else whole
        return Least(lower=lower, upper=upper, exact=None, event=cut.event, swapped=cut.swapped)

    def least_of_event(self, p: Fraction, q: Fraction) -> Ball:
        found = Standard.least_of_event(self, p, q)
        if not self.delta:
            return found
        # P ≤ (1−δ)A + δ and P' ≥ (1−δ)A' on S, so A and A' are at least this far apart: sharper than total variation.
        a, b = (p - self.delta) / (1 - self.delta), q / (1 - self.delta)
        return found.max(ZCDP().least_of_event(a, b)) if b < a else found

    @property
    def one_way(self) -> bool:
        """False with δ > 0, which splits both laws at once."""
        return self.delta == 0

    def _found(self, p: Sequence[Number], q: Sequence[Number], exact: bool) -> Found:
        return Found.of(sharpened(lambda: zcdp(p, q), exact, 0.1), likelier(p, q))

    def _group(self, intensity: Exact, k: int) -> tuple[Standard, Exact | Ball] | None:
        return (self, scaled(intensity, k * k)) if self.delta == 0 else None

    def words(self, intensity: Exact) -> str:
        outside = f", except in a part of probability δ = {amount(self.delta)}" if self.delta else ""
        return (
            f"ρ = {amount(intensity)}: when the data change by one unit, the output gives away no more, in Rényi "
            "divergence of every order, than one draw of a bell curve whose centre moves by √(2ρ) standard "
            f"deviations{outside}."
        )

    def latex(self, intensity: Exact) -> str:
        inside = rf"D_\alpha(P\,\|\,P') \le \rho\,\alpha \ \ \forall \alpha > 1, \quad {self._stated(intensity)}"
        return inside + (rf",\ \delta = {latex_number(self.delta)}" if self.delta else "")


@dataclass(frozen=True, slots=True)
class Renyi(Standard):
    """Rényi differential privacy of one order: ε = max of D_α(P‖P') and D_α(P'‖P).

    alpha: the order α, a rational > 1.
    """

    alpha: Fraction

    if TYPE_CHECKING:

        def __init__(self, alpha: Typed) -> None: ...

    kind: ClassVar[str] = "renyi"
    symbol: ClassVar[str] = "ε"
    additive: ClassVar[str] = "ε"
    norm: ClassVar[Literal[1, 2]] = 2
    parameters: ClassVar[tuple[str, ...]] = ("alpha",)

    def of_noise(self, spend: Fraction) -> Fraction:
        # Gaussian noise has D_α = α·ρ.
        return spend / self.alpha

    def __post_init__(self) -> None:
        alpha = rational(self.alpha, "alpha")
        if alpha <= 1:
            hint = "At α = 1 it is the Kullback–Leibler divergence: use KL()."
            raise ParameterError("the order must be greater than 1", where="alpha", got=amount(alpha), hint=hint)
        object.__setattr__(self, "alpha", alpha)

    def _found(self, p: Sequence[Number], q: Sequence[Number], exact: bool) -> Found:
        return Found.of(sharpened(lambda: renyi(p, q, self.alpha), exact), likelier(p, q))

    def words(self, intensity: Exact) -> str:
        return (
            f"ε = {amount(intensity)} at order α = {amount(self.alpha)}: when the data change by one unit, the Rényi "
            "divergence of that order between the outputs' laws is at most ε."
        )

    def latex(self, intensity: Exact) -> str:
        return (
            rf"D_{{\alpha}}(P\,\|\,P') \le \varepsilon, \quad {self._stated(intensity)},\ "
            rf"\alpha = {latex_number(self.alpha)}"
        )


@dataclass(frozen=True, slots=True)
class GaussianDP(Standard):
    """Gaussian differential privacy: the smallest μ such that telling P from P' is at least as hard as telling
    N(0, 1) from N(μ, 1), at every level of error, both ways."""

    kind: ClassVar[str] = "gaussian"
    symbol: ClassVar[str] = "μ"
    additive: ClassVar[str] = "μ²"
    power: ClassVar[int] = 2
    norm: ClassVar[Literal[1, 2]] = 2
    rounded: ClassVar[bool] = True
    linear_in_distance: ClassVar[bool] = True

    def of_noise(self, spend: Fraction) -> Fraction:
        # A bell curve whose centre moves by μ deviations has ρ = μ²/2.
        return spend / 2

    def of_choice(self, spend: Fraction) -> Fraction:
        # Choices of range η have μ² ≤ π·η²/8 (loss/bounded_range.md), and 355/113 is above π.
        return spend * Fraction(113, 355)

    def _found(self, p: Sequence[Number], q: Sequence[Number], exact: bool) -> Found:
        return gaussian(p, q, exact)

    def _group(self, intensity: Exact, k: int) -> tuple[Standard, Exact | Ball]:
        return self, scaled(intensity, k)

    def words(self, intensity: Exact) -> str:
        return (
            f"μ = {amount(intensity)}: telling from the output whether the data changed by one unit is at least as "
            "hard as telling, from one draw, whether a bell curve's centre moved by μ standard deviations."
        )

    def latex(self, intensity: Exact) -> str:
        return rf"T(P, P')(\alpha) \ge \Phi(\Phi^{{-1}}(1-\alpha) - \mu), \quad {self._stated(intensity)}"


@dataclass(frozen=True, slots=True)
class Tradeoff(Standard):
    """f-differential privacy for a convex polygon f, repeated k times: T(P, P') ≥ 1 − (1 − f)^{∘k}, both ways.

    points: the vertices (α, f(α)), rationals, from α = 0 to (1, 0), convex, f(α) ≤ 1 − α.
    The intensity is k, a whole number: 1 is f itself, 0 is perfect secrecy.
    """

    points: tradeoff.Vertices

    kind: ClassVar[str] = "tradeoff"
    symbol: ClassVar[str] = "k"
    unadded: ClassVar[str] = "a trade-off curve has no number that adds up, and stopping on a composed curve breaks it"
    parameters: ClassVar[tuple[str, ...]] = ("points",)

    def __post_init__(self) -> None:
        object.__setattr__(self, "points", tradeoff.vertices(self.points))

    def _found(self, p: Sequence[Number], q: Sequence[Number], exact: bool) -> Found:
        return repeated(p, q, exact, self.points)

    def _group(self, intensity: Exact, k: int) -> tuple[Standard, Exact | Ball]:
        return self, scaled(intensity, k)

    def check(self, intensity: Exact) -> None:
        """Raise ParameterError unless `intensity` is a whole number of at least 0."""
        Standard.check(self, intensity)
        if not isinstance(intensity, Fraction) or intensity.denominator != 1:
            raise ParameterError("must be a whole number", where=self.symbol, got=amount(intensity))

    def words(self, intensity: Exact) -> str:
        return (
            f"k = {amount(intensity)}: telling from the output whether the data changed by one unit is at least as "
            f"hard as the stated curve of errors with {len(self.points)} vertices allows, applied {amount(intensity)} "
            "times over."
        )

    def latex(self, intensity: Exact) -> str:
        return rf"T(P, P') \ge 1 - (1 - f)^{{\circ k}}, \quad {self._stated(intensity)}"

    def to_json(self) -> dict[str, object]:
        """`kind` and the vertices as pairs of strings."""
        return {"kind": self.kind, "points": [[str(a), str(b)] for a, b in self.points]}


@dataclass(frozen=True, slots=True)
class KL(Standard):
    """The Kullback–Leibler divergence Σ P ln(P/P'), the larger of both directions, in nats."""

    kind: ClassVar[str] = "kl"
    symbol: ClassVar[str] = "KL"
    unadded: ClassVar[str] = "a budget in KL is an average over outputs and bounds no single event"

    def _found(self, p: Sequence[Number], q: Sequence[Number], exact: bool) -> Found:
        return Found.of(sharpened(lambda: kl(p, q), exact), likelier(p, q))

    def words(self, intensity: Exact) -> str:
        return (
            f"KL = {amount(intensity)}: when the data change by one unit, the evidence an output gives for the change "
            "is at most KL nats on average."
        )

    def latex(self, intensity: Exact) -> str:
        return rf"D_{{\mathrm{{KL}}}}(P\,\|\,P') \le {latex_number(intensity)}"


@dataclass(frozen=True, slots=True)
class TV(Standard):
    """Total variation: the largest |P(S) − P'(S)| over events S, between 0 and 1."""

    kind: ClassVar[str] = "tv"
    symbol: ClassVar[str] = "TV"
    unadded: ClassVar[str] = "a budget in TV allows one person's data to be published with that probability"
    linear_in_distance: ClassVar[bool] = True

    def _found(self, p: Sequence[Number], q: Sequence[Number], exact: bool) -> Found:
        return total_variation(p, q, exact)

    def _group(self, intensity: Exact, k: int) -> tuple[Standard, Exact | Ball]:
        total = scaled(intensity, k)
        return self, Fraction(1) if ball(total) >= 1 else total

    def check(self, intensity: Exact) -> None:
        """Raise ParameterError unless `intensity` is from 0 to 1."""
        Standard.check(self, intensity)
        if ball(intensity) > 1:
            raise ParameterError("must be at most 1", where=self.symbol, got=amount(intensity))

    def words(self, intensity: Exact) -> str:
        return (
            f"TV = {amount(intensity)}: the probability of any event moves by at most {amount(intensity)} when the "
            "data change by one unit."
        )

    def latex(self, intensity: Exact) -> str:
        return rf"|P(S) - P'(S)| \le {latex_number(intensity)}"


@dataclass(frozen=True, slots=True)
class Divergence(Standard):
    """Any f-divergence Σ P'·f(P/P') of a convex f with f(1) = 0, the larger of both directions.

    f: a name ("kl", "reverse-kl", "total-variation": ½Σ|P−P'|, "chi-squared": Σ(P−P')²/P', "squared-hellinger":
    ½Σ(√P−√P')², "jensen-shannon": in nats), or a convex function from balls to balls on (0, ∞).
    at_zero: f(0), for a function only. slope: lim f(t)/t as t → ∞, for a function only. Both may be math.inf.
    """

    f: str | Callable[[Ball], Ball]
    at_zero: Fraction | float | None = None
    slope: Fraction | float | None = None

    kind: ClassVar[str] = "divergence"
    symbol: ClassVar[str] = "D"
    unadded: ClassVar[str] = "f-divergences in general have no number that adds up under adaptive choice"
    parameters: ClassVar[tuple[str, ...]] = ("f",)

    def __post_init__(self) -> None:
        if isinstance(self.f, str):
            if self.f not in SHAPES:
                hint = f"Known: {', '.join(SHAPES)}; or pass a convex function."
                raise ParameterError("unknown f-divergence", where="f", got=repr(self.f), hint=hint)
            if self.at_zero is not None or self.slope is not None:
                raise ParameterError("a named f-divergence has its own at_zero and slope", where="f", got=repr(self.f))
            return
        if not callable(self.f):
            raise ParameterError("expected a name or a function of balls", where="f", got=kind_of(self.f))
        for name in ("at_zero", "slope"):
            value = getattr(self, name)
            object.__setattr__(self, name, math.inf if value == math.inf else rational(value, name))
        self._shape()

    def _shape(self) -> Shape:
        if isinstance(self.f, str):
            return SHAPES[self.f]
        at_zero, slope = (ball(x) if isinstance(x, Fraction) else INFINITE for x in (self.at_zero, self.slope))
        return custom_shape(self.f, at_zero, slope)

    def _found(self, p: Sequence[Number], q: Sequence[Number], exact: bool) -> Found:
        shape = self._shape()
        bounds = sharpened(lambda: f_divergence(p, q, shape), exact)
        key = None
        if exact and shape.exact is not None and bounds[1].is_finite():
            key = sum((shape.exact(as_rational(a), as_rational(b)) for a, b in zip(p, q, strict=True)), Fraction(0))
        return Found.of(bounds, likelier(p, q), key)

    def words(self, intensity: Exact) -> str:
        name = self.f if isinstance(self.f, str) else "stated f"
        return f"D = {amount(intensity)}: when the data change by one unit, the {name}-divergence is at most D."

    def latex(self, intensity: Exact) -> str:
        name = self.f if isinstance(self.f, str) else "f"
        return rf"D_{{\text{{{name}}}}}(P\,\|\,P') \le {latex_number(intensity)}"

    def to_json(self) -> dict[str, object]:
        """`kind` and the name of f. A function cannot be stored."""
        if not isinstance(self.f, str):
            hint = f"Use one of: {', '.join(SHAPES)}."
            raise SpecificationError("an f-divergence given as a function has no JSON form", where="f", hint=hint)
        return {"kind": self.kind, "f": self.f}


_FURTHER: Final = (
    Probabilistic,
    Relaxed,
    RangeBounded,
    Concentrated,
    MeanConcentrated,
    PowerDivergence,
    CapacityBounded,
)
# The standards with a parameter that adds up when each mechanism is chosen from the answers before it.
Additive: TypeAlias = Pure | Approximate | ZCDP | GaussianDP | Renyi
# Those among them in which the questions of a dataset are priced.
Budgeted: TypeAlias = Pure | Approximate | ZCDP | GaussianDP | Renyi


def adds_up(standard: object) -> TypeGuard[Additive]:
    """Whether a budget can be kept in the standard: it has a number that adds up."""
    return isinstance(standard, Standard) and standard.additive != ""


def is_budgeted(standard: object) -> TypeGuard[Budgeted]:
    """Whether questions are priced in the standard: noise is known for a spend."""
    return isinstance(standard, Standard) and standard.norm is not None


KINDS: Final[dict[str, type[Standard]]] = {
    each.kind: each
    for each in (Pure, Approximate, ZCDP, NormalisedRenyi, Renyi, GaussianDP, Tradeoff, KL, TV, Divergence, *_FURTHER)
}


def from_json(data: Mapping[str, object]) -> Standard:
    """The standard that `to_json` wrote. Unknown kinds and keys are refused: a later meaning is never guessed."""
    if not isinstance(data, Mapping):
        raise SpecificationError("a standard is stored as an object", where="standard", got=kind_of(data))
    kind = data.get("kind")
    if not isinstance(kind, str) or kind not in KINDS:
        hint = f"Known kinds: {', '.join(KINDS)}."
        raise SpecificationError("unknown kind of standard", where="standard", got=repr(kind), hint=hint)
    made = KINDS[kind]
    rest = {key: value for key, value in data.items() if key != "kind"}
    allowed = {*made.parameters}
    unknown, missing = sorted(map(str, rest.keys() - allowed)), sorted(allowed - rest.keys())
    if unknown or missing:
        what = "unknown keys" if unknown else "missing keys"
        raise SpecificationError(what, where=f"standard {kind!r}", got=", ".join(unknown or missing))
    return made(**rest)
