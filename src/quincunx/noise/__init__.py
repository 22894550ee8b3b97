"""Exact noise at NumPy's speed: secure bits, a floating-point filter, and an exact fallback."""

from quincunx.noise import testing
from quincunx.noise.bits import PREFIX_BITS, SecureBits, injected, source
from quincunx.noise.chance import bernoulli, bernoulli_exp, choice, choose
from quincunx.noise.gaussian import discrete_gaussian, rounded_gaussian
from quincunx.noise.laplace import discrete_laplace, discrete_laplace_staircase, geometric, rounded_laplace
from quincunx.noise.lazy import certain_floor
from quincunx.noise.order import derangement, permutation, uniform_integers

__all__ = [
    "SecureBits",
    "bernoulli",
    "bernoulli_exp",
    "choice",
    "derangement",
    "discrete_gaussian",
    "discrete_laplace",
    "geometric",
    "injected",
    "permutation",
    "rounded_gaussian",
    "rounded_laplace",
    "testing",
    "uniform_integers",
]
