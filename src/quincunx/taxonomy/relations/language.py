"""How a definition states its guarantee in a conversion: what is stated (settings), what is then bounded (measures).

(ε, δ)-DP is ε at a stated δ, Rényi DP is ε at a stated order, concentrated DP is ρ at a stated ξ. Definitions that have
one number for each person are stated by the largest.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Final, TypeAlias

from quincunx.errors import SpecificationError
from quincunx.numbers import Ball, Exact, Log, delta_parameter, non_negative, rational
from quincunx.taxonomy import catalogue
from quincunx.taxonomy.definition import DIMENSIONS, Definition
from quincunx.taxonomy.quantification import TotalVariation

# A measure is a number; a setting is a rational, or the name of a divergence.
Number: TypeAlias = Exact | Ball
Setting: TypeAlias = Fraction | str
Given: TypeAlias = Mapping[str, "Number | str"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Language:
    """measures, settings: typed names. symbols: typed name → symbol. Without measures the parameter is no number."""

    short: str
    measures: tuple[str, ...] = ("epsilon",)
    settings: tuple[str, ...] = ()

    @property
    def definition(self) -> Definition:
        """The definition that is stated."""
        return EXTRA[self.short][1] if self.short in EXTRA else catalogue.get(self.short).definition

    def posed(self, settings: Mapping[str, Setting]) -> Definition:
        """The definition at these settings, to be checked on a world."""
        changed: dict[str, dict[str, Setting | int]] = {}
        for name, value in settings.items():
            field = {"gamma": "share"}.get(name, name)
            owner = next(d for d in DIMENSIONS if field in getattr(self.definition, d).settings)
            changed.setdefault(owner, {})[field] = int(value) if name in WHOLE else value
        choices = {o: dataclasses.replace(getattr(self.definition, o), **some) for o, some in changed.items()}
        return self.definition.with_(**choices)

    def read(self, parameters: Mapping[str, object], where: str) -> dict[str, Number | str]:
        """Measures and settings from what a person typed; measures must all be there, settings have defaults."""
        found: dict[str, Number | str] = {}
        for name in (*self.measures, *self.settings):
            if name in parameters:
                found[name] = read(name, parameters[name])
            elif name in DEFAULTS and name in self.settings:
                found[name] = DEFAULTS[name]
            else:
                wanted = ", ".join((*self.measures, *self.settings))
                hint = f"{self.short} is stated by {wanted}."
                raise SpecificationError(f"{name} is missing", where=where, got="nothing", hint=hint)
        return found


WHOLE: Final = ("size", "known", "k")
SYMBOLS: Final = {
    "epsilon": "ε",
    "delta": "δ",
    "outside": "δ_p",
    "alpha": "α",
    "rho": "ρ",
    "xi": "ξ",
    "omega": "ω",
    "mu": "μ",
    "tau": "τ",
    "eta": "η",
    "gamma": "γ",
    "rate": "β",
    "size": "c",
    "radius": "Δ",
    "known": "k",
    "k": "k",
    "f": "f",
}
DEFAULTS: Final[Mapping[str, Setting]] = {"xi": Fraction(0), "f": "chi-squared", "k": Fraction(2)}
_SETTINGS: Final = {
    "delta": "ADP ProDP WBDP BayDP-TF20 PsDP APKDP PPKDP DnPr PBDP PDnPr AdvPr SubDP BLDP AzCoDP",
    "alpha": "RenyiDP",
    "xi": "zCoDP bCoDP",
    "omega": "bCoDP tCoDP-BDRS18",
    "f": "DivDP CBDP EDivDP DDnPr EDDnPr",
    "k": "kDivDP",
    "size": "GrDP DepDP",
    "gamma": "RanDP DlPr-Rot10",
    "rate": "SamDP",
    "radius": "ConsDP DlPr-ZLW09",
    "known": "BayDP-LL12",
}
_MEASURES: Final[Mapping[str, tuple[str, ...]]] = {
    "zCoDP": ("rho",),
    "AzCoDP": ("rho",),
    "bCoDP": ("rho",),
    "tCoDP-BDRS18": ("rho",),
    "mCoDP": ("mu", "tau"),
    "tCoDP-Col16": ("eta", "tau"),
    "GaussDP": ("mu",),
    **dict.fromkeys(("f-DP", "wFDP", "sFDP", "GcDP-KL10", "AbsDP", "OCDP"), ()),
}
# Names of the survey's text that have no row, and through which conversions go.
EXTRA: Final = {"TVPr": ("ε-total variation privacy", Definition(quantification=TotalVariation()))}
_EXTRA_NAMES: Final = {"tvpr": "TVPr", "tv": "TVPr", "total variation privacy": "TVPr"}


@cache
def _languages() -> Mapping[str, Language]:
    found = {}
    for short in [*(row.short for row in catalogue.definitions()), *EXTRA]:
        settings = [name for name, shorts in _SETTINGS.items() if short in shorts.split()]
        extra = {"RelDP": ("delta", "outside"), "TypSt": ("gamma", "delta")}.get(short, tuple(settings))
        found[short] = Language(short=short, measures=_MEASURES.get(short, ("epsilon",)), settings=extra)
    return found


def language(name: str) -> Language:
    """The language of a definition, by any of its names."""
    short = _EXTRA_NAMES.get(str(name).lower()) or catalogue.named(name)
    return _languages()[short]


def read(name: str, value: object) -> Number | str:
    """One parameter as a person types it."""
    if name == "f":
        return str(value)
    if isinstance(value, Log):
        return value
    if name in ("delta", "outside", "gamma"):
        return delta_parameter(value, name)
    found = non_negative(value, name) if name not in ("alpha", "omega") else rational(value, name)
    if name in ("alpha", "omega") and found <= 1:
        raise SpecificationError("an order is greater than 1", where=name, got=str(found), hint="KLPr is order 1.")
    if name in ("rate",) and found > 1:
        raise SpecificationError("a rate is at most 1", where=name, got=str(found))
    if name in WHOLE and (found.denominator != 1 or found < (name != "known")):
        raise SpecificationError("expected a whole number", where=name, got=str(found))
    return found
