"""The five building blocks of a guarantee, and the specification that joins them."""

from quincunx.spec import domain, intensity, scope, standard, unit
from quincunx.spec.compare import Comparison, Implication
from quincunx.spec.conversion import convert
from quincunx.spec.curve import curve_of, whole
from quincunx.spec.domain import Tables
from quincunx.spec.implication import (
    approximate_to_tv,
    exponential,
    gaussian_delta,
    kl_to_tv,
    renyi_to_approximate,
    scaled,
)
from quincunx.spec.intensity import Drawn, PerPerson, PerRecord
from quincunx.spec.measure import Found
from quincunx.spec.order import at_most, multiple, rounded_up
from quincunx.spec.scope import Counts, Everything, Invariants, Scope
from quincunx.spec.specification import Specification
from quincunx.spec.standard import KINDS as STANDARDS
from quincunx.spec.standard import (
    KL,
    TV,
    ZCDP,
    Additive,
    Approximate,
    Budgeted,
    CapacityBounded,
    Concentrated,
    GaussianDP,
    MeanConcentrated,
    NormalisedRenyi,
    PowerDivergence,
    Probabilistic,
    Pure,
    RangeBounded,
    Relaxed,
    Renyi,
    Standard,
    adds_up,
    is_budgeted,
)
from quincunx.spec.tails import by_ratio, factor_outside
from quincunx.spec.unit import AddRemove, Hamming, Replace, Unit, of_people
from quincunx.spec.verdict import Verdict, Witness
from quincunx.spec.wording import decimal_above, listed

__all__ = [
    "Comparison",
    "Implication",
    "Specification",
    "Verdict",
    "Witness",
    "domain",
    "intensity",
    "scope",
    "standard",
    "unit",
]
