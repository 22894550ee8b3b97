"""What a specification says about beliefs and tests. Proofs: belief/posterior.md, testing.md."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from quincunx.errors import PrivacyError
from quincunx.loss import as_ball
from quincunx.meaning.curves import Delta, delta_of
from quincunx.meaning.guarantee import Growth, Unit, undecided
from quincunx.numbers import Ball, Exact, amount, ball
from quincunx.spec import Approximate, Pure, Specification, exponential, of_people, rounded_up, scaled

# How many times smaller than `outside` the δ may be at which the other standards are converted.
_SHARES: Final = (3, 4, 6, 10, 20, 50, 100, 1_000)
_EQUAL_AT_ZERO: Final = ("zcdp", "renyi", "gaussian", "kl", "tv", "tradeoff")


@dataclass(frozen=True, slots=True)
class Promised:
    """A guarantee that a specification states."""

    specification: Specification

    @property
    def unit(self) -> Unit:
        unit = self.specification.unit
        if not of_people(unit):
            hint = "State it for people: unit.Replace() or unit.AddRemove()."
            got = type(unit).__name__
            raise PrivacyError("a belief about one person needs a unit of people", where="unit", got=got, hint=hint)
        return unit

    @property
    def stated(self) -> str:
        spec = self.specification
        pairs = zip(spec.by_universe, spec.stated, strict=True)
        return next(text for (_, value), (_, text) in pairs if value == spec.largest)

    @property
    def counted(self) -> str:
        many = "the largest intensity stated, " if self.specification.varies else ""
        return f"one release at {many}{self.stated}"

    @property
    def public(self) -> bool:
        return self.specification.scope.kind != "everything"

    @property
    def pure(self) -> Exact | Ball | None:
        standard, intensity = self.specification.standard, self.specification.largest
        # At intensity 0 each of these says that the two laws are equal.
        if intensity == 0 and standard.kind in _EQUAL_AT_ZERO and not getattr(standard, "delta", 0):
            return Fraction(0)
        return standard.implied(intensity, Pure())

    def grown(self, steps: int) -> Promised:
        if self.specification.scope.kind not in ("everything", "invariants"):
            hint = "State the guarantee for every dataset: scope.Everything() or scope.Invariants(…)."
            what = "the guarantee must hold between all datasets that someone may hold possible"
            got = type(self.specification.scope).__name__
            raise PrivacyError(what, where="scope", got=got, hint=hint)
        if self.specification.unit.is_metric and steps > 1:
            return Promised(_at_distance(self.specification, self.unit, steps))
        return Promised(self.specification.group(steps))

    def growth(self, risk: Fraction | None) -> Growth:
        pure = self.pure
        if pure is not None:
            return exponential(pure), Fraction(0)
        standard, intensity = self.specification.standard, self.specification.largest
        if risk is None:
            raise undecided(type(standard).__name__, self.specification.stated[0][1])
        deltas = {risk / share for share in _SHARES}
        own = getattr(standard, "delta", Fraction(0))
        if 0 < own < risk / 2:
            deltas.add(own)
        best: Ball | None = None
        for delta in sorted(deltas):
            epsilon = standard.implied(intensity, Approximate(delta))
            if epsilon is None:
                continue
            factor = as_ball(exponential(epsilon)) * ball(risk / (risk - 2 * delta))
            if factor.is_finite() and (best is None or factor.upper() < best.upper()):
                best = factor
        if best is None:
            hint = (
                "Allow more than twice δ outside, or state the guarantee as pure, approximate, zCDP, Rényi or Gaussian."
            )
            what = f"no bound on a belief follows from {type(standard).__name__}"
            raise PrivacyError(what, where="posterior_bounds", got=f"outside = {amount(risk)}", hint=hint)
        return best, risk

    def delta(self) -> Delta:
        return delta_of(self.specification.standard, self.specification.largest)


def _at_distance(specification: Specification, unit: Unit, steps: int) -> Specification:
    # A metric states its guarantee for every distance itself: `steps` times the intensity, on no path of single steps.
    grown = {name: rounded_up(scaled(value, steps)) for name, value in specification.by_universe}
    return Specification(
        domain=specification.domain,
        scope=specification.scope,
        unit=unit.up_to(steps),
        standard=specification.standard,
        intensity=grown if specification.varies else grown["everywhere"],
    )
