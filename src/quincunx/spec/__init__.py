"""The five building blocks of a guarantee, and the specification that joins them."""

from quincunx.spec import domain, intensity, scope, standard, unit
from quincunx.spec.compare import Comparison, Implication
from quincunx.spec.specification import Specification
from quincunx.spec.verdict import Verdict, Witness

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
