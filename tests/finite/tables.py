"""Random finite mechanisms with zeros, certain rows and close rows."""

from __future__ import annotations

import random
from fractions import Fraction

from quincunx.finite import Mechanism


def row(rng: random.Random, outputs: list[str]) -> dict[str, Fraction]:
    style = rng.randrange(4)
    if style == 0:
        return {rng.choice(outputs): Fraction(1)}
    low = 0 if style == 1 else 1
    weights = [rng.randint(low, 9) for _ in outputs]
    weights[rng.randrange(len(outputs))] += 1
    return {o: Fraction(w, sum(weights)) for o, w in zip(outputs, weights, strict=True)}


def dense_row(rng: random.Random, outputs: list[str]) -> dict[str, Fraction]:
    weights = [rng.randint(1, 9) for _ in outputs]
    return {o: Fraction(w, sum(weights)) for o, w in zip(outputs, weights, strict=True)}


def mechanism(rng: random.Random, inputs: tuple[object, ...] = ("x", "y", "z"), most: int = 4) -> Mechanism:
    """Half of the worlds have full support, so that finite intensities are tested as often as infinite ones."""
    outputs = list("abcdef"[: rng.randint(2, most)])
    make = dense_row if rng.random() < 0.6 else row
    return Mechanism({x: make(rng, outputs) for x in inputs})


def response(odds: int | Fraction = 3) -> Mechanism:
    """Randomized response on one bit: the truth with probability odds/(1 + odds)."""
    p = Fraction(odds) / (1 + Fraction(odds))
    return Mechanism({0: {0: p, 1: 1 - p}, 1: {0: 1 - p, 1: p}})
