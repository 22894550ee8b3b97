"""A specification: the five building blocks together, as one value that can be printed, stored, compared and checked.

A release T satisfies it when d_Pr(P_x, P_x') ≤ ε_𝒟 · d_𝒳(x, x') for all x, x' in every universe 𝒟 of the scope.
"""

from __future__ import annotations

from dataclasses import dataclass

from quincunx.errors import PrivacyError, kind_of
from quincunx.numbers import Exact, positive_integer
from quincunx.spec import compare, composition, exchange, verdict, words
from quincunx.spec.blocks import Blocks
from quincunx.spec.compare import Comparison, Implication
from quincunx.spec.drawn import Drawn
from quincunx.spec.order import rounded_up
from quincunx.spec.scope import Everything, Scope
from quincunx.spec.standard import Standard
from quincunx.spec.unit_base import Unit
from quincunx.spec.varying import Varying
from quincunx.spec.verdict import FiniteMechanism, Verdict


@dataclass(frozen=True, slots=True, kw_only=True, init=False)
class Specification(Blocks):
    """The guarantee, in full. None of the five has a default.

    domain: 𝒳, the datasets that could have been. scope: 𝒟, the universes inside which datasets are compared.
    unit: d_𝒳, the change that is protected. standard: d_Pr, how the change of the output's law is measured.
    intensity: ε_𝒟, in the standard's own parameter: a number, a mapping from universe to number, or a value of
    `quincunx.intensity`.
    """

    def holds(self, m: FiniteMechanism) -> Verdict:
        """Does the finite mechanism `m` satisfy this specification? Checked on every protected pair."""
        return verdict.judge(self, m)

    def tightest(self, m: FiniteMechanism) -> Verdict:
        """The smallest intensity at which `m` satisfies the other four blocks."""
        return verdict.tightest(self, m)

    def implies(self, other: Specification) -> Implication:
        """Does every mechanism that satisfies this specification satisfy `other`, by a known rule?"""
        return compare.implication(self, other)

    def compare(self, other: Specification) -> Comparison:
        """ "stronger", "weaker", "equal" or "unknown", with the rule."""
        return compare.comparison(self, other)

    def group(self, k: int) -> Specification:
        """What this specification says about k steps at once: a larger unit, by the standard's group map.

        Refused where the standard has no group map, and where the datasets between two that are k steps apart may lie
        outside their universe, since then the steps are not protected one by one.
        """
        count = positive_integer(k, "k")
        if count == 1:
            return self
        unit = self.unit.times(count)
        self._check_joined(unit, count)
        # Steps of different people have different numbers; the largest holds for all of them.
        one = isinstance(self.intensity, Varying | Drawn)
        stated = (("everywhere", self.largest),) if one else self.by_universe
        grown = [(name, self.standard.group(value, count)) for name, value in stated]
        standards = [result[0] for _, result in grown if result is not None]
        for standard in standards:
            # Universes may end in different standards (δ grows with ε): take one that all the others imply.
            values = [(name, _within(result, standard)) for name, result in grown]
            known = {name: value for name, value in values if value is not None}
            if len(known) == len(grown):
                intensity: object = known.get("everywhere", known)
                return Specification(
                    domain=self.domain, scope=self.scope, unit=unit, standard=standard, intensity=intensity
                )
        hint = "Calibrate a release for the larger unit instead."
        what = f"{type(self.standard).__name__} has no group map that gives a guarantee for {count} steps"
        raise PrivacyError(what, where="group", got=self.stated[0][1], hint=hint)

    def _check_joined(self, unit: Unit, k: int) -> None:
        if self.scope.enumerable(self.domain):
            length = compare.longest_path(self, unit)
            if length is not None and length <= k:
                return
        elif compare.joined(self.domain, isinstance(self.scope, Everything)):
            return
        hint = "State a specification with the larger unit and calibrate for it."
        what = f"datasets between two that are {k} steps apart may lie outside their universe"
        raise PrivacyError(what, where="group", got=kind_of(self.scope), hint=hint)

    def within(self, scope: Scope) -> Specification:
        """The same guarantee, stated in a scope that compares no more. Finer invariants make a weaker guarantee.

        Any other scope is refused with a PrivacyError that says what it compares: a release that publishes facts
        exactly has no finite intensity where datasets that disagree on them are compared.
        """
        return composition.within(self, scope)

    def compose(self, *others: Specification) -> Specification:
        """What holds when all the releases are published, each perhaps chosen after the ones before.

        The scope is the joined scope, in which datasets agree on the invariants of all. Domains and units must be the
        same; standards must be ones that compose.
        """
        total = self
        for other in others:
            total = composition.composed(total, other)
        return total

    def describe(self) -> str:
        """The guarantee in plain words: a paragraph per block, and what is not promised."""
        return words.describe(self)

    def latex(self) -> str:
        """The guarantee as a LaTeX formula."""
        return words.latex(self)

    def to_json(self) -> str:
        """The specification as JSON text, valid under `schema()`. Functions of invariants are not stored."""
        return exchange.to_json(self)

    def to_dict(self) -> dict[str, object]:
        """The content of `to_json` as a dict, to be put into larger JSON."""
        return exchange.to_dict(self)

    @staticmethod
    def from_json(text: str) -> Specification:
        """The specification that `to_json` wrote. Whatever the schema does not know is refused."""
        return exchange.from_json(text, Specification)

    @staticmethod
    def schema() -> dict[str, object]:
        """The JSON Schema (draft 2020-12) of a stored specification."""
        return exchange.schema()


def _within(result: tuple[Standard, object] | None, standard: Standard) -> Exact | None:
    implied = None if result is None else result[0].implied(result[1], standard)  # type: ignore[arg-type]
    return None if implied is None else rounded_up(implied)
