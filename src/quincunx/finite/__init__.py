"""Small worlds: mechanisms that list every probability, so that every claim about them can be enumerated."""

from quincunx.finite.compose import adaptive, mixture, parallel, sequential
from quincunx.finite.exchange import read_csv
from quincunx.finite.mechanism import Mechanism, guard

__all__ = ["Mechanism", "adaptive", "mixture", "parallel", "sequential"]
