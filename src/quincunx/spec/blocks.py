"""The five building blocks as one value: what is stated, before anything is asked of it."""

from __future__ import annotations

import warnings
from collections.abc import Hashable
from dataclasses import dataclass

from quincunx.errors import PrivacyError, QuincunxWarning, SpecificationError, kind_of
from quincunx.numbers import Exact, stated
from quincunx.spec import intensity as intensities
from quincunx.spec.domain import Domain
from quincunx.spec.drawn import Drawn
from quincunx.spec.intensity import Intensity, PerUniverse
from quincunx.spec.order import largest
from quincunx.spec.scope import EVERYTHING, Everything, OneDataset, Scope
from quincunx.spec.standard_base import Standard
from quincunx.spec.unit_base import Unit
from quincunx.spec.varying import Varying

_SHOWN = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Blocks:
    """Domain, scope, unit, standard and intensity, read and found to fit each other. `Specification` says what for."""

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
        symbol, rest = self.standard.symbol, self.standard.parameter_text
        return tuple((name, stated(symbol, value) + rest) for name, value in self.by_universe)


def _few(names: object) -> str:
    some = sorted(names)  # type: ignore[call-overload]
    text = ", ".join(repr(name) for name in some[:_SHOWN])
    return text + (f" and {len(some) - _SHOWN} more" if len(some) > _SHOWN else "") if some else "none"


def _kind(block: object) -> str:
    return block.__name__ if isinstance(block, type) else kind_of(block)
