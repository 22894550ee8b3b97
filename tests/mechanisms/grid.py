"""Mechanisms over edge-loaded parameters: what the conformance tests run over."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable
from fractions import Fraction
from typing import Any

from quincunx.finite import Mechanism
from quincunx.mechanisms import (
    DiscreteGaussian,
    DiscreteLaplace,
    Exponential,
    Gaussian,
    Laplace,
    PartitionSelection,
    PermuteAndFlip,
    RandomizedResponse,
    SparseVector,
    ThresholdSelection,
)
from quincunx.mechanisms.additive import Additive
from quincunx.mechanisms.calibration import DIGITS
from quincunx.mechanisms.selection import Selection

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
OPTIONS = [
    RandomizedResponse(probability=p, options=k)
    for p, k in (("3/4", 3), ("0.05", 3), ("1/5", 5), ("0.3", 12), ("0.999999", 4))
]
SELECTIONS: list[Selection] = [
    kind(**parameters)
    for kind in (Exponential, PermuteAndFlip)
    for parameters in (
        {"scale": "1/10"},
        {"scale": 2},
        {"scale": 2, "monotone": True},
        {"scale": 5, "sensitivity": 3},
        {"scale": "0.5", "sensitivity": "0.2", "step": "0.1"},
        {"scale": 10**6},
    )
]
VECTORS = [
    SparseVector(threshold=0, threshold_scale="1/2", query_scale="1/2"),
    SparseVector(threshold=3, threshold_scale=2, query_scale=5, aboves=2),
    SparseVector(threshold=-1, threshold_scale=2, query_scale=5, aboves=3, monotone=True),
    SparseVector(threshold="0.5", threshold_scale="0.3", query_scale="0.4", sensitivity="0.2", step="0.1"),
]
PARTITIONS = [
    PartitionSelection(epsilon=epsilon, delta=delta)
    for epsilon, delta in (("1", "1e-5"), ("1/10", "1e-3"), ("3", "1e-12"), ("1/100", "0.01"))
]
# Of Laplace type: approximate zCDP, which the other type is, has no group map.
THRESHOLDS = [
    ThresholdSelection.calibrate(groups=3, delta="1e-3", epsilon="1/2", bits=2),
    ThresholdSelection.calibrate(groups=1, delta="1e-6", epsilon=2),
    ThresholdSelection.calibrate(groups=2, delta="1e-3", epsilon=1, people=3, bits=1),
]
ALL: list[Any] = [*ADDITIVE, *RESPONSES, *OPTIONS, *SELECTIONS, *VECTORS, *PARTITIONS, *THRESHOLDS]
# One of each kind whose small world is small enough to be composed with itself.
ONE_EACH: list[Any] = [
    Laplace(scale=2),
    Gaussian(sigma2="1/2"),
    DiscreteLaplace(scale="0.7"),
    DiscreteGaussian(sigma2="1/2"),
    DiscreteGaussian(sigma=3, sensitivity2=2),
    RandomizedResponse(probability="3/4"),
    RandomizedResponse(probability="3/4", options=3),
    Exponential(scale=2),
    PermuteAndFlip(scale=2),
    SparseVector(threshold=0, threshold_scale="1/2", query_scale="1/2"),
    PartitionSelection(epsilon="1/10", delta="1e-3"),
    ThresholdSelection.calibrate(groups=3, delta="1e-3", epsilon="1/2", bits=2),
]

# For each kind, a small world of a mechanism: which inputs it has, and which of them are k steps apart.
Pairs = list[tuple[Hashable, Hashable]]


def _additive(m: Additive, k: int = 1) -> tuple[Mechanism, Pairs]:
    squared = getattr(m, "sensitivity2", None)
    length = m.sensitivity / m.step if squared is None else 1  # type: ignore[attr-defined]
    shift = int(length) if squared is None or squared < 4 * m.step**2 else 2
    return m.finite([0, k * shift], reach=20), [(0, k * shift)]


def _selection(m: Selection, k: int = 1) -> tuple[Mechanism, Pairs]:
    reach = k * int(m.sensitivity / m.step)
    scores = (0, 2, 1)
    others = [(reach, 2 + reach, 1), (0, 2 - reach, 1 - reach)]
    others += [] if m.monotone else [(reach, 2 - reach, 1 + reach), (-reach, 2 + reach, 1)]
    return m.finite([scores, *others]), [(scores, other) for other in others]


def _vector(m: SparseVector, k: int = 1) -> tuple[Mechanism, Pairs]:
    reach, at = k * int(m.sensitivity / m.step), int(m.threshold / m.step)
    values = (at + 1, at, at - 2)
    others = [tuple(value + reach for value in values), (at + 1 - reach, at - reach, at - 2)]
    others += [] if m.monotone else [(at + 1 - reach, at + reach, at - 2 + reach)]
    return m.finite([values, *others]), [(values, other) for other in others]


def _response(m: RandomizedResponse, k: int = 1) -> tuple[Mechanism, Pairs]:
    # k respondents whose answers all move.
    return m.finite().power(k), [(0, 1), (m.options - 1, 0)]


def _partition(m: PartitionSelection, k: int = 1) -> tuple[Mechanism, Pairs]:
    return m.finite(list(range(25))), [(n, n + k) for n in range(25 - k)]


def _threshold(m: ThresholdSelection, k: int = 1) -> tuple[Mechanism, Pairs]:
    # Somebody adds all their votes to one key that others hold already.
    step = k * m.people << m.bits
    return m.finite(list(range(1, 60 + step))), [(n, n + step) for n in range(1, 60)]


WORLDS: dict[type, Callable[..., tuple[Mechanism, Pairs]]] = {
    **dict.fromkeys((Laplace, Gaussian, DiscreteLaplace, DiscreteGaussian), _additive),
    **dict.fromkeys((Exponential, PermuteAndFlip), _selection),
    RandomizedResponse: _response,
    SparseVector: _vector,
    PartitionSelection: _partition,
    ThresholdSelection: _threshold,
}
# Which way each parameter moves the loss: + where more of it leaks more.
DIRECTIONS: dict[type, dict[str, int]] = {
    **{kind: {"scale": -1, "sensitivity": +1} for kind in (Laplace, DiscreteLaplace, Exponential, PermuteAndFlip)},
    **{kind: {"sigma2": -1, "sensitivity2": +1} for kind in (Gaussian, DiscreteGaussian)},
    SparseVector: {"threshold_scale": -1, "query_scale": -1, "sensitivity": +1, "aboves": +1},
    PartitionSelection: {"epsilon": +1, "delta": +1},
    ThresholdSelection: {"delta": +1},
}


def one_digit_less(value: Fraction) -> Fraction:
    """The decimal of six digits before `value`."""
    last = Fraction(10) ** (math.floor(math.log10(value)) - DIGITS + 1)
    return value - last if value / last > 10 ** (DIGITS - 1) else value - last / 10
