"""Mechanisms, one file each with its proof note: how it samples, what it leaks, how wrong it is."""

from quincunx.mechanisms.discrete_gaussian import DiscreteGaussian
from quincunx.mechanisms.discrete_laplace import DiscreteLaplace
from quincunx.mechanisms.gaussian import Gaussian
from quincunx.mechanisms.laplace import Laplace
from quincunx.mechanisms.randomized_response import Estimate, RandomizedResponse

__all__ = ["DiscreteGaussian", "DiscreteLaplace", "Estimate", "Gaussian", "Laplace", "RandomizedResponse"]
