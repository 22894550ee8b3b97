"""Small worlds and random mechanisms that several test files share."""

from __future__ import annotations

import random
from collections.abc import Callable, Hashable, Iterable
from fractions import Fraction
from typing import Any

from quincunx.finite import Mechanism
from quincunx.spec import Specification, domain

VISITS = ("person", "day")
ROWS = (("ann", "2024-01-01"), ("ann", "2024-01-02"), ("bob", "2024-01-01"))


def visits(sizes: Iterable[int] = range(3)) -> domain.Finite:
    """All tables with at most two of three possible visits of two people."""
    return domain.Finite.multisets(ROWS, sizes, columns=VISITS)


def deterministic(inputs: Iterable[Hashable], statistic: Callable[[Hashable], Hashable]) -> Mechanism:
    """The release of a statistic without noise."""
    return Mechanism({x: {statistic(x): 1} for x in inputs})


def random_mechanism(
    source: random.Random,
    inputs: Iterable[Hashable],
    outputs: int,
    statistic: Callable[[Any], Hashable] | None = None,
) -> Mechanism:
    """Rational laws with zeros, deterministic rows and rows equal to the one before.

    With a statistic, the law depends on the dataset through it alone.
    """
    if statistic is not None:
        listed = list(inputs)
        by_value = random_mechanism(source, dict.fromkeys(statistic(x) for x in listed), outputs)
        return by_value.on(statistic, listed)
    table: dict[Hashable, dict[Hashable, Fraction]] = {}
    row: dict[Hashable, Fraction] = {}
    for x in inputs:
        style = source.choice(("plain", "plain", "zeros", "certain", "same"))
        if style != "same" or not row:
            weights = [source.randint(1, 12) for _ in range(outputs)]
            if style == "zeros":
                weights[source.randrange(outputs)] = 0
            if style == "certain":
                weights = [0] * outputs
            if not any(weights):
                weights[source.randrange(outputs)] = 1
            row = {i: Fraction(weight, sum(weights)) for i, weight in enumerate(weights)}
        table[x] = row
    return Mechanism(table)


def blended(mechanism: Mechanism, share: Fraction) -> Mechanism:
    """With probability `share` an output drawn uniformly, otherwise the mechanism's own."""
    outputs = mechanism.outputs
    return Mechanism(
        {
            x: {
                output: (1 - share) * probability + share / len(outputs)
                for output, probability in zip(outputs, mechanism.law(x), strict=True)
            }
            for x in mechanism.inputs
        }
    )


def just_within(spec: Specification, mechanism: Mechanism) -> Mechanism:
    """The mechanism blended with uniform noise until it satisfies `spec`, and hardly more."""
    if spec.holds(mechanism):
        return mechanism
    low, high = Fraction(0), Fraction(1)
    for _ in range(5):
        middle = (low + high) / 2
        low, high = (low, middle) if spec.holds(blended(mechanism, middle)) else (middle, high)
    return blended(mechanism, high)
