"""The privacy systems of the United States' censuses, each in the five blocks, and what swapping would have cost.

Sources. Systems, blocks and budgets of TopDown: Bailie, Gong and Meng, "Can swapping be differentially private?",
Georgetown 2024, and https://arxiv.org/abs/2501.08449; TopDown and its invariants: Abowd et al. 2022,
https://doi.org/10.1162/99608f92.529e3cb9; SafeTab-P: https://arxiv.org/abs/2505.01472, its budgets from the
configuration of the production run that the Census Bureau published with the code. TopDown is stated as the slides do,
with d_Ham and D_nor; they write D_nor ≤ ρ where √ρ is meant, and 15.29 for the Demographic and Housing Characteristics
alone where it is cumulative.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import Final

from quincunx.errors import ParameterError
from quincunx.invariant.swapping.epsilon import Kind, SwapEpsilon, swap_epsilon
from quincunx.numbers import Number, amount
from quincunx.spec import Specification, domain, scope, standard, unit

BLOCKS: Final = ("domain", "scope", "unit", "standard", "intensity")

REDISTRICTING: Final = Fraction("2.63")
CHARACTERISTICS: Final = Fraction("12.66")
CUMULATIVE: Final = REDISTRICTING + CHARACTERISTICS
# Level 1 at nation, state, county, tract and place; level 2 at nation and state, then county, tract, place and
# tribal areas.
SAFETAB: Final = 5 * Fraction("0.008") + 2 * Fraction("2.134") + 4 * Fraction("0.159")

# The largest strata that the slides list for swapping the 2020 Census, and what is known of them.
STRATA_2020: Final = (
    (13_475_623, "all households of California"),
    (3_420_628, "finer strata"),
    (6_204, "the finest strata listed"),
)
RATES_2020: Final = (Fraction("0.05"), Fraction("0.5"))
# All two-person households of Massachusetts in the 1940 Census, the slides' demonstration.
STRATUM_1940: Final = 264_331
RATES_1940: Final = (Fraction("0.01"), Fraction("0.05"), Fraction("0.1"), Fraction("0.5"))
CURVE_STRATA: Final = (10, 1_000, STRATUM_1940, STRATA_2020[0][0])

_FILES: Final = domain.Tables(columns={"geography": "text", "person": "text"})
_TOPDOWN_INVARIANTS: Final = {
    "state populations": "number of people in each state",
    "housing units": "number of housing units in each block",
    "group quarters": "number of occupied group quarters of each type in each block",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class System:
    """One system in the five blocks, each in a few words. `specification` is its guarantee as a value, or None where
    the intensity is not published: then there is a form of guarantee, and no guarantee."""

    name: str
    domain: str
    scope: str
    unit: str
    standard: str
    intensity: str
    source: str
    specification: Specification | None

    @property
    def blocks(self) -> tuple[str, ...]:
        """The five blocks in words, in the order of `BLOCKS`."""
        return (self.domain, self.scope, self.unit, self.standard, self.intensity)


@dataclass(frozen=True, slots=True, kw_only=True)
class Counterfactual:
    """What swapping the 2020 Census would have cost, for strata of at most `largest_stratum` households.

    This ε would cover all products made from the swapped file, among datasets that agree on swapping's invariants.
    """

    largest_stratum: int
    words: str
    epsilons: tuple[SwapEpsilon, ...]


def systems() -> tuple[System, ...]:
    """The systems that the slides compare."""
    possible = "all possible Census Edited Files"
    topdown = "files that agree on the people of each state, and on the housing units and group quarters of each block"
    person = "each person replaced, as recorded after imputation: d_Ham, in proportion to their number"
    zcdp = "zero-concentrated: Rényi divergence at most ρ·α at every order α"
    normalised = "zero-concentrated, D_nor: √ρ for each person of difference"
    return (
        System(
            name="1990–2010 swapping",
            domain=possible,
            scope="files that agree on two tables: key by geography, and key by all that is not swapped",
            unit="one household replaced, as recorded after imputation",
            standard="pure: no event e^ε times likelier",
            intensity="ε not published, because rate and key are secret; permutation swapping, which resembles it, has "
            "a curve",
            source="Bailie, Gong and Meng 2024",
            specification=None,
        ),
        System(
            name="2020 TopDown, redistricting",
            domain=possible,
            scope=topdown,
            unit=person,
            standard=normalised,
            intensity=f"√ρ = {_root(REDISTRICTING)}, where ρ = {amount(REDISTRICTING)}",
            source="Abowd et al. 2022",
            specification=_topdown(REDISTRICTING),
        ),
        System(
            name="2020 TopDown, cumulative",
            domain=possible,
            scope=topdown,
            unit=person,
            standard=normalised,
            intensity=f"√ρ = {_root(CUMULATIVE)}, where ρ = {amount(CUMULATIVE)} = {amount(REDISTRICTING)} + "
            f"{amount(CHARACTERISTICS)} for demographic and housing characteristics",
            source="Bailie, Gong and Meng 2024",
            specification=_topdown(CUMULATIVE),
        ),
        System(
            name="2020 SafeTab-P, detailed race",
            domain=possible,
            scope="everything: no invariants of its own",
            unit="one person added or removed",
            standard=zcdp,
            intensity=f"ρ = {amount(SAFETAB)}; a person replaced: 4ρ = {amount(4 * SAFETAB)}",
            source="Haney et al. 2025, published configuration",
            specification=_guarantee(scope.Everything(), unit.AddRemove(), SAFETAB),
        ),
    )


def comparisons() -> tuple[tuple[str, str, str], ...]:
    """(one, other, relation) for every pair of systems with a stated guarantee, by the rules of `Specification`."""
    stated = [(system.name, system.specification) for system in systems() if system.specification is not None]
    return tuple(
        (one, other, first.compare(second).relation) for (one, first), (other, second) in combinations(stated, 2)
    )


def what_if(rates: Sequence[Number] = RATES_2020, *, kind: object = Kind.DERANGEMENT) -> tuple[Counterfactual, ...]:
    """What if 2020 had used swapping: ε for each listed stratum at each rate p, 0 < p < 1."""
    return tuple(
        Counterfactual(
            largest_stratum=b,
            words=words,
            epsilons=tuple(swap_epsilon(rate=rate, largest_stratum=b, kind=kind) for rate in rates),
        )
        for b, words in STRATA_2020
    )


def swapped(largest_stratum: Number, rates: Sequence[Number] = RATES_1940) -> tuple[SwapEpsilon, ...]:
    """ε at each rate for strata of at most that size; for `STRATUM_1940`, the slides' conversion of rates to ε."""
    return tuple(swap_epsilon(rate=rate, largest_stratum=largest_stratum) for rate in rates)


def curve(*, largest_stratum: Number, points: int = 61) -> tuple[SwapEpsilon, ...]:
    """ε along the rates p = o/(1 + o) whose odds o = 10^x run evenly in x from −5/2 to 5."""
    if points < 2:
        raise ParameterError("a curve needs two points or more", where="points", got=str(points))
    exponents = [-2.5 + 7.5 * i / (points - 1) for i in range(points)]
    odds = [Fraction(10.0**exponent).limit_denominator(10**9) for exponent in exponents]
    return tuple(swap_epsilon(rate=o / (1 + o), largest_stratum=largest_stratum) for o in odds)


def _guarantee(where: scope.Scope, what: unit.AddRemove | unit.Replace, rho: Fraction) -> Specification:
    return Specification(domain=_FILES, scope=where, unit=what, standard=standard.ZCDP(), intensity=rho)


def _topdown(rho: Fraction) -> Specification:
    """(𝒳_CEF, 𝒟_c, d_Ham, D_nor) with the budget √ρ."""
    return Specification(
        domain=_FILES,
        scope=scope.Invariants(_TOPDOWN_INVARIANTS),
        unit=unit.Hamming(),
        standard=standard.NormalisedRenyi(),
        intensity=standard.NormalisedRenyi.root(rho),
    )


def _root(rho: Fraction) -> str:
    """√ρ to four decimals, rounded to the nearest."""
    return f"{float(standard.NormalisedRenyi.root(rho)):.4f}"
