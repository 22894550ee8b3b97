"""Mechanisms over edge-loaded parameters: what the conformance tests run over."""

from __future__ import annotations

from quincunx.mechanisms import DiscreteGaussian, DiscreteLaplace, Gaussian, Laplace, RandomizedResponse

ADDITIVE = [
    Laplace(scale="1/100"),
    Laplace(scale="0.7"),
    Laplace(scale=2),
    Laplace(scale=3, sensitivity=2),
    Laplace(scale="0.3", sensitivity="0.1", step="0.1"),
    Laplace(scale=10**6, step=1000),
    Gaussian(sigma="1/20"),
    Gaussian(sigma2="1/2"),
    Gaussian(sigma=3, sensitivity2=2),
    Gaussian(sigma=20, sensitivity=4, step=2),
    Gaussian(sigma=1000),
    DiscreteLaplace(scale="1/100"),
    DiscreteLaplace(scale="0.7"),
    DiscreteLaplace(scale=2),
    DiscreteLaplace(scale=5, sensitivity=3),
    DiscreteLaplace(scale="0.5", sensitivity="0.2", step="0.1"),
    DiscreteGaussian(sigma="1/20"),
    DiscreteGaussian(sigma2="1/2"),
    DiscreteGaussian(sigma=3, sensitivity2=2),
    DiscreteGaussian(sigma=3, sensitivity=2, coordinates=1),
    DiscreteGaussian(sigma=10, sensitivity=5, step=5),
]
RESPONSES = [RandomizedResponse(probability=p) for p in ("3/4", "0.6", "1/2", "0.1", "0.999999")]
ALL = ADDITIVE + RESPONSES
