"""The Laplace mechanism, rounded to a lattice."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from quincunx import noise
from quincunx.loss import LaplaceLaw, Loss
from quincunx.mechanisms.additive import Additive
from quincunx.mechanisms.trial import STRENGTHS, Trial
from quincunx.numbers import Ball, Number, ball, float_near, near, positive, precision


@dataclass(frozen=True, slots=True, kw_only=True, init=False)
class Laplace(Additive):
    """round(x + Z) to the lattice `step`·ℤ, Z of density e^{−|z|/scale}/(2·scale) in every coordinate.

    `scale` and `sensitivity` are in the data's unit; `sensitivity` is the ℓ1 distance that counts as input distance 1,
    so that ε = sensitivity/scale. Rounding is post-processing: `.loss` is the continuous law's.
    """

    scale: Fraction
    sensitivity: Fraction
    step: Fraction
    tag: ClassVar[str] = "laplace"
    term: ClassVar[str] = "continuous Laplace noise, also rounded to a lattice (rounding only loses); sensitivity in ℓ1"
    norm: ClassVar[int] = 1
    directions: ClassVar[Mapping[str, int]] = {"scale": -1, "sensitivity": +1}

    def __init__(self, *, scale: Number, sensitivity: Number = 1, step: Number = 1) -> None:
        object.__setattr__(self, "scale", positive(scale, "scale"))
        object.__setattr__(self, "sensitivity", positive(sensitivity, "sensitivity"))
        object.__setattr__(self, "step", positive(step, "step"))

    @property
    def loss(self) -> Loss:
        """That of continuous Laplace noise at ε = sensitivity/scale, which dominates the rounded output."""
        return Loss.of(LaplaceLaw(epsilon=self.sensitivity / self.scale))

    @property
    def variance(self) -> float:
        """h²·cosh s/(2·sinh² s) with s = h/(2·scale), h = step."""
        with precision(128):
            s = ball(self.step / (2 * self.scale))
            return float_near(ball(self.step**2) * s.cosh() / (2 * s.sinh() ** 2))

    def words(self, unit: Fraction = Fraction(1)) -> str:
        """Its law, and its scale in the data's unit."""
        return f"rounded Laplace noise, scale = {near(float(self.scale) * float(unit), 4)}"

    @classmethod
    def examples(cls) -> Sequence[Laplace]:
        """From far below one step to far above."""
        return (
            cls(scale=2),
            cls(scale="1/100"),
            cls(scale="0.7"),
            cls(scale=3, sensitivity=2),
            cls(scale="0.3", sensitivity="0.1", step="0.1"),
            cls(scale=10**6, step=1000),
        )

    @classmethod
    def trials(cls) -> Iterator[Trial]:
        """At every strength, on a lattice so fine that the law is nearly continuous, and at a longer distance."""
        for epsilon in STRENGTHS:
            make = partial(cls, scale=1 / Fraction(epsilon))
            yield Trial(name=f"ε = {epsilon}", make=make, pair=(0, 1), claim=f"epsilon={epsilon}", tight=True)
        fine, far = partial(cls, scale=1, step="0.01"), partial(cls, scale=6, sensitivity=3, step="0.5")
        yield Trial(name="ε = 1, fine", make=fine, pair=(0, 100), claim="epsilon=1", tight=True)
        yield Trial(name="ε = 0.5, Δ = 3", make=far, pair=(-2, 4), claim="epsilon=0.5", tight=True)

    @property
    def _distance(self) -> Fraction:
        return self.sensitivity

    def _draw(self, count: int) -> NDArray[np.int64]:
        return np.asarray(noise.rounded_laplace(self.scale / self.step, count))

    def _tail(self, m: int) -> Ball:
        # |K| > m iff |Z| ≥ (m + 1/2)·step.
        return (-ball((m + Fraction(1, 2)) * self.step / self.scale)).exp()
