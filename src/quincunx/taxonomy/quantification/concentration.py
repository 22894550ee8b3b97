"""Q by how the loss is concentrated: around its mean, around zero, in all orders or some."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import ClassVar

import numpy as np

from quincunx.errors import SpecificationError
from quincunx.numbers import delta_parameter, non_negative
from quincunx.spec import Concentrated, Standard, sieve
from quincunx.spec import MeanConcentrated as Mean
from quincunx.spec import standard as standards
from quincunx.taxonomy.answer import Answer
from quincunx.taxonomy.case import Case, floats
from quincunx.taxonomy.choice import tex
from quincunx.taxonomy.quantification.measure import EMPTY, Quantification, labels_of, one_number
from quincunx.taxonomy.value import ZERO, Value, above, joined
from quincunx.taxonomy.world import World


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
