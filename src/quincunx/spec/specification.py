"""A specification: the five building blocks together, as one value that can be printed, stored, compared and checked.

A release T satisfies it when d_Pr(P_x, P_x') ≤ ε_𝒟 · d_𝒳(x, x') for all x, x' in every universe 𝒟 of the scope.
"""

from __future__ import annotations

import warnings
from collections.abc import Hashable
from dataclasses import dataclass

from quincunx.errors import PrivacyError, QuincunxWarning, SpecificationError, kind_of
from quincunx.numbers import Exact, positive_integer
from quincunx.numbers.text import stated
from quincunx.spec import compare, composition, exchange, verdict, words
from quincunx.spec import intensity as intensities
from quincunx.spec.compare import Comparison, Implication
from quincunx.spec.domain import Domain
from quincunx.spec.drawn import Drawn
from quincunx.spec.intensity import Intensity, PerUniverse
from quincunx.spec.order import largest, rounded_up
from quincunx.spec.relation import Unit
from quincunx.spec.scope import EVERYTHING, Everything, OneDataset, Scope
from quincunx.spec.standard import Standard
from quincunx.spec.varying import Varying
from quincunx.spec.verdict import FiniteMechanism, Verdict

_SHOWN = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Specification:
    """The guarantee, in full. None of the five has a default.

    domain: 𝒳, the datasets that could have been. scope: 𝒟, the universes inside which datasets are compared.
    unit: d_𝒳, the change that is protected. standard: d_Pr, how the change of the output's law is measured.
    intensity: ε_𝒟, in the standard's own parameter: a number, a mapping from universe to number, or a value of
    `quincunx.intensity`.
    """

    domain: Domain
    scope: Scope
    unit: Unit
    standard: Standard
    intensity: Intensity

    def __init__(self, *, domain: Domain, scope: Scope, unit: Unit, standard: Standard, intensity: object) -> None:
        blocks = (("domain", domain, Domain), ("scope", scope, Scope), ("unit", unit, Unit))
        for name, block, kind in (*blocks, ("standard", standard, Standard)):
            if not isinstance(block, kind):
                hint = f"Take one from quincunx.spec.{name}."
                raise SpecificationError(f"expected a {name}", where="Specification", got=_kind(block), hint=hint)
            object.__setattr__(self, name, block)
        object.__setattr__(self, "intensity", intensities.read(intensity))
        unit.check(domain)
        scope.check(domain)
        if unit.directed and not standard.one_way:
            hint = "Use a symmetric unit, or δ = 0."
            got = f"{type(standard).__name__} with {type(unit).__name__}"
            raise SpecificationError("this standard has no direction, and the unit has one", got=got, hint=hint)
        if unit.is_metric and not unit.by_pair and not standard.linear_in_distance:
            hint = (
                "Use Pure, NormalisedRenyi (zCDP in proportion to the distance), GaussianDP or TV, or a unit of single "
                "steps with the standard's own group map, or unit.Distance, which bounds each pair by itself."
            )
            got = type(standard).__name__
            raise SpecificationError("this standard does not grow in proportion to a distance", got=got, hint=hint)
        for number in self.numbers:
            standard.check(number)
        self._check_universes()
        self._warn_if_vacuous()

    def _check_universes(self) -> None:
        if isinstance(self.intensity, Varying):
            self.intensity.check(self.unit, self.scope, self.domain)
        if isinstance(self.intensity, Drawn):
            self.intensity.check(self.domain, self.unit)
        if not isinstance(self.intensity, PerUniverse):
            return
        expected: set[str] | None = None
        if isinstance(self.scope, Everything):
            expected = {EVERYTHING}
        elif self.scope.enumerable(self.domain):
            expected = {name for name, _ in self.scope.universes(self.domain)}
        if expected is not None and expected != self.intensity.names:
            missing, unknown = expected - self.intensity.names, self.intensity.names - expected
            got = f"{len(missing)} missing ({_few(missing)}) and {len(unknown)} unknown ({_few(unknown)})"
            hint = "scope.universes(domain) lists the names."
            what = "intensities must name the scope's universes"
            raise SpecificationError(what, where="intensity", got=got, hint=hint)

    def _warn_if_vacuous(self) -> None:
        if not self.scope.enumerable(self.domain) or not self.unit.computed:
            return
        universes = self.scope.universes(self.domain)
        empty = [
            (name, datasets)
            for name, datasets in universes
            if next(self.unit.protected_pairs(datasets, self.domain), None) is None
        ]
        # A universe of one dataset has no pair, whatever the unit; around one dataset most pairs are far apart.
        telling = [name for name, datasets in empty if len(datasets) > 1 and not isinstance(self.scope, OneDataset)]
        if len(empty) == len(universes):
            telling = [name for name, _ in empty]
        if telling:
            what = (
                f"no two datasets are at distance 1 under {type(self.unit).__name__} in {_few(telling)}: "
                "there the specification promises nothing. Choose a unit that joins datasets of this domain and scope, "
                "such as Replace where the number of people is fixed."
            )
            warnings.warn(what, QuincunxWarning, stacklevel=3)

    @property
    def numbers(self) -> tuple[Exact, ...]:
        """The different intensities that occur, in order of universe."""
        return tuple(dict.fromkeys(intensities.entries(self.intensity)))

    @property
    def varies(self) -> bool:
        """Whether the intensity is more than one number for all: by universe, person or record, or for drawn pairs."""
        return isinstance(self.intensity, PerUniverse | Varying | Drawn)

    @property
    def largest(self) -> Exact:
        """The largest intensity that occurs. Refused where a share of the pairs is excused: no number holds for all."""
        if isinstance(self.intensity, Drawn):
            raise self._excused()
        return largest(list(self.numbers))

    @property
    def by_universe(self) -> tuple[tuple[str, Exact], ...]:
        """(universe, person or record, intensity); one entry named "everywhere" where there is one number."""
        value = self.intensity
        if isinstance(value, Drawn):
            raise self._excused()
        if isinstance(value, Varying):
            return value.labelled()
        return value.values if isinstance(value, PerUniverse) else (("everywhere", value),)

    def _excused(self) -> PrivacyError:
        hint = "State one number for every pair: a guarantee for most of them bounds nothing about the rest."
        return PrivacyError("no intensity holds for every pair of datasets", where="intensity", got="Drawn", hint=hint)

    def at(self, x: Hashable, x_prime: Hashable, universe: str) -> Exact:
        """The intensity that is stated for two datasets of a universe."""
        value = self.intensity
        if isinstance(value, Drawn):
            raise self._excused()
        if isinstance(value, Varying):
            return value.at(x, x_prime, self.unit, self.domain)
        return dict(value.values)[universe] if isinstance(value, PerUniverse) else value

    @property
    def stated(self) -> tuple[tuple[str, str], ...]:
        """As `by_universe`, each number printed with its symbol and the standard's parameters: "ε = 1, δ = 1/1000"."""
        symbol, rest = self.standard.symbol, words.parameters(self.standard)
        return tuple((name, stated(symbol, value) + rest) for name, value in self.by_universe)

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


def _few(names: object) -> str:
    some = sorted(names)  # type: ignore[call-overload]
    text = ", ".join(repr(name) for name in some[:_SHOWN])
    return text + (f" and {len(some) - _SHOWN} more" if len(some) > _SHOWN else "") if some else "none"


def _kind(block: object) -> str:
    return block.__name__ if isinstance(block, type) else kind_of(block)
