"""Aggregates: COUNT, SUM, AVG and the like, one file each. Everything that must know which there are iterates here."""

from typing import Final

from sqlglot import exp

from quincunx.table.aggregates.aggregate import Aggregate
from quincunx.table.aggregates.call import Call, Form
from quincunx.table.aggregates.cdf import Cdf
from quincunx.table.aggregates.cdf_count import CdfCount
from quincunx.table.aggregates.correlation import Correlation
from quincunx.table.aggregates.count import Count
from quincunx.table.aggregates.covariance import Covariance
from quincunx.table.aggregates.distinct import Distinct
from quincunx.table.aggregates.estimate import Estimate, Expected, Floats, Noise, Numbers, Part
from quincunx.table.aggregates.histogram import Histogram, in_bins
from quincunx.table.aggregates.intercept import Intercept
from quincunx.table.aggregates.mean import Mean
from quincunx.table.aggregates.people import People
from quincunx.table.aggregates.quantile import Quantile
from quincunx.table.aggregates.quotient import Form as LinearForm
from quincunx.table.aggregates.quotient import Quotient, quotient
from quincunx.table.aggregates.slope import Slope
from quincunx.table.aggregates.sum import Sum
from quincunx.table.aggregates.term import MAX_STEPS, ONES, Factor, Lattice, Term, grid_of, lattice_of
from quincunx.table.aggregates.total import decimals, exact_decimal
from quincunx.table.aggregates.variance import Variance

# A call is of the first that reads it.
AGGREGATES: Final[tuple[type[Aggregate], ...]] = (
    Count,
    Sum,
    Mean,
    People,
    Distinct,
    Variance,
    Covariance,
    Correlation,
    Slope,
    Intercept,
    Quantile,
    Histogram,
    Cdf,
    CdfCount,
)
# What the parser makes of their calls.
NODES: Final[tuple[type[exp.Expr], ...]] = tuple({node: None for each in AGGREGATES for node in each.nodes})

__all__ = [
    "AGGREGATES",
    "MAX_STEPS",
    "NODES",
    "ONES",
    "Aggregate",
    "Call",
    "Estimate",
    "Expected",
    "Factor",
    "Floats",
    "Form",
    "Lattice",
    "LinearForm",
    "Noise",
    "Numbers",
    "Part",
    "Quotient",
    "Term",
    "decimals",
    "exact_decimal",
    "grid_of",
    "in_bins",
    "lattice_of",
    "quotient",
]
