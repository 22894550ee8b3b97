"""Mechanisms, one file each with its proof note: how it samples, what it leaks, how wrong it is."""

from quincunx.mechanisms import sensitivity
from quincunx.mechanisms.additive import LIMIT, Additive, added, noise_of
from quincunx.mechanisms.count_tree import CountTree, levels_of
from quincunx.mechanisms.discrete_gaussian import DiscreteGaussian
from quincunx.mechanisms.discrete_laplace import DiscreteLaplace
from quincunx.mechanisms.exchange import from_json, kinds
from quincunx.mechanisms.exponential import Exponential
from quincunx.mechanisms.gaussian import Gaussian
from quincunx.mechanisms.goal import goal as goal_of
from quincunx.mechanisms.goal import goal_outside
from quincunx.mechanisms.histogram import Histogram, gathered
from quincunx.mechanisms.ladder_choice import LadderChoice
from quincunx.mechanisms.ladder_sum import LadderSum
from quincunx.mechanisms.laplace import Laplace
from quincunx.mechanisms.mechanism import Mechanism, Parameter
from quincunx.mechanisms.parameters import stated
from quincunx.mechanisms.partition_selection import PartitionSelection
from quincunx.mechanisms.permute_and_flip import PermuteAndFlip
from quincunx.mechanisms.quantile_choice import QuantileChoice
from quincunx.mechanisms.quantile_cuts import QuantileCuts
from quincunx.mechanisms.quantile_flip import QuantileFlip
from quincunx.mechanisms.randomized_response import Estimate, RandomizedResponse
from quincunx.mechanisms.ranks import Counted, Ranks
from quincunx.mechanisms.sparse_vector import SparseVector, SparseVectorSession
from quincunx.mechanisms.threshold_selection import ThresholdSelection
from quincunx.mechanisms.trial import Draw, Trial, in_bulk

__all__ = [
    "CountTree",
    "DiscreteGaussian",
    "DiscreteLaplace",
    "Estimate",
    "Exponential",
    "Gaussian",
    "LadderChoice",
    "LadderSum",
    "Laplace",
    "Mechanism",
    "PartitionSelection",
    "PermuteAndFlip",
    "QuantileChoice",
    "QuantileCuts",
    "QuantileFlip",
    "RandomizedResponse",
    "SparseVector",
    "SparseVectorSession",
    "ThresholdSelection",
    "from_json",
    "kinds",
    "sensitivity",
]
