"""What a mechanism leaks: one algebra of losses."""

from quincunx.loss.discrete_gaussian import DiscreteGaussianLaw
from quincunx.loss.gaussian import GaussianLaw
from quincunx.loss.laplace import LaplaceLaw
from quincunx.loss.lattice import LatticeLaw
from quincunx.loss.law import Law
from quincunx.loss.loss import Loss
from quincunx.loss.stated import Largest, StatedLaw

__all__ = [
    "DiscreteGaussianLaw",
    "GaussianLaw",
    "LaplaceLaw",
    "Largest",
    "LatticeLaw",
    "Law",
    "Loss",
    "StatedLaw",
]
