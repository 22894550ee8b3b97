"""Releases that publish some facts exactly: privacy among the datasets that agree on them."""

from quincunx.invariant.swapping.dependence import Dependence
from quincunx.invariant.swapping.epsilon import Kind, SwapEpsilon, swap_epsilon
from quincunx.invariant.swapping.rate import SwapRates, swap_rate
from quincunx.invariant.swapping.report import Report, TableError
from quincunx.invariant.swapping.swap import Swapped, swap
from quincunx.invariant.topdown import TopDown

__all__ = [
    "Dependence",
    "Kind",
    "Report",
    "SwapEpsilon",
    "SwapRates",
    "Swapped",
    "TableError",
    "TopDown",
    "swap",
    "swap_epsilon",
    "swap_rate",
]
