"""Q: how is the loss quantified across outputs?"""

from quincunx.taxonomy.quantification.concentration import (
    DoublyTruncated,
    MeanConcentrated,
    ZeroConcentrated,
    symmetric,
)
from quincunx.taxonomy.quantification.curves import Gaussian, Predicate, Region, TradeOff, curve_of
from quincunx.taxonomy.quantification.divergences import (
    Capacity,
    Divergence,
    KullbackLeibler,
    Power,
    Renyi,
    TotalVariation,
)
from quincunx.taxonomy.quantification.losses import Approximate, Probabilistic, RangeBounded, Relaxed, WorstCase
from quincunx.taxonomy.quantification.measure import EMPTY, Quantification, labels_of, one_number

__all__ = [
    "EMPTY",
    "Approximate",
    "Capacity",
    "Divergence",
    "DoublyTruncated",
    "Gaussian",
    "KullbackLeibler",
    "MeanConcentrated",
    "Power",
    "Predicate",
    "Probabilistic",
    "Quantification",
    "RangeBounded",
    "Region",
    "Relaxed",
    "Renyi",
    "TotalVariation",
    "TradeOff",
    "WorstCase",
    "ZeroConcentrated",
    "curve_of",
    "labels_of",
    "one_number",
    "symmetric",
]
