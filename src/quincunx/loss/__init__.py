"""What a mechanism leaks: one algebra of losses."""

from quincunx.loss.bounded_range import BoundedRangeLaw
from quincunx.loss.convert import delta_from_pure, delta_from_zcdp
from quincunx.loss.curve import Curve
from quincunx.loss.discrete_gaussian import DiscreteGaussianLaw, gaussian_weights
from quincunx.loss.filter import Admission, Batch, Filter, Odometer
from quincunx.loss.gaussian import GaussianLaw
from quincunx.loss.laplace import LaplaceLaw
from quincunx.loss.lattice import LatticeLaw
from quincunx.loss.law import Law, Real, as_ball, total_of
from quincunx.loss.loss import Loss
from quincunx.loss.ranges import RangesLaw
from quincunx.loss.response import ResponseLaw
from quincunx.loss.stated import Largest, StatedLaw
from quincunx.loss.subsampled import SubsampledLaw

__all__ = [
    "Admission",
    "Batch",
    "BoundedRangeLaw",
    "DiscreteGaussianLaw",
    "Filter",
    "GaussianLaw",
    "LaplaceLaw",
    "Largest",
    "LatticeLaw",
    "Law",
    "Loss",
    "Odometer",
    "RangesLaw",
    "ResponseLaw",
    "StatedLaw",
    "SubsampledLaw",
]
