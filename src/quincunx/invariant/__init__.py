"""Releases that publish some facts exactly: privacy among the datasets that agree on them."""

from quincunx.invariant.comparison import Comparison, Method, write_dwellings
from quincunx.invariant.comparison import compare as compare_methods
from quincunx.invariant.swapping.columns import EVERY
from quincunx.invariant.swapping.dependence import Dependence
from quincunx.invariant.swapping.epsilon import Kind, SwapEpsilon, read_rate, swap_epsilon
from quincunx.invariant.swapping.file import FileTable, check_target
from quincunx.invariant.swapping.rate import SwapRates, swap_rate
from quincunx.invariant.swapping.report import Report, TableError
from quincunx.invariant.swapping.swap import Drawn, Swapped, draw, swap
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
