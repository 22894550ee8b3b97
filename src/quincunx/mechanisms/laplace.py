"""The Laplace mechanism, rounded to a lattice."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from quincunx import noise
from quincunx.loss import LaplaceLaw, Loss
from quincunx.mechanisms.additive import Additive
from quincunx.mechanisms.calibration import calibrated, widest
from quincunx.mechanisms.goal import goal
from quincunx.numbers import Ball, Number, ball, float_near, positive, precision
from quincunx.numbers.text import near


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

    def __init__(self, *, scale: Number, sensitivity: Number = 1, step: Number = 1) -> None:
        object.__setattr__(self, "scale", positive(scale, "scale"))
        object.__setattr__(self, "sensitivity", positive(sensitivity, "sensitivity"))
        object.__setattr__(self, "step", positive(step, "step"))

    @classmethod
    def calibrate(
        cls,
        *,
        sensitivity: Number = 1,
        step: Number = 1,
        epsilon: Number | None = None,
        delta: Number | None = None,
        rho: Number | None = None,
        mu: Number | None = None,
        alpha: Number | None = None,
    ) -> Laplace:
        """The least noise whose certified loss meets one guarantee: see calibration.md for the five forms."""
        aim = goal(epsilon=epsilon, delta=delta, rho=rho, mu=mu, alpha=alpha)
        return calibrated(aim, lambda scale: cls(scale=scale, sensitivity=sensitivity, step=step))

    @classmethod
    def for_error(
        cls, *, error: Number, beta: Number, size: Number = 1, sensitivity: Number = 1, step: Number = 1
    ) -> Laplace:
        """The most noise whose `error(beta, size)` is at most `error`; its loss says what that accuracy costs."""

        def make(scale: Fraction) -> Laplace:
            return cls(scale=scale, sensitivity=sensitivity, step=step)

        return widest(make, lambda found: found.error(beta, size), error=error, step=step)

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

    def _draw(self, count: int) -> NDArray[np.int64]:
        return np.asarray(noise.rounded_laplace(self.scale / self.step, count))

    def _tail(self, m: int) -> Ball:
        # |K| > m iff |Z| ≥ (m + 1/2)·step.
        return (-ball((m + Fraction(1, 2)) * self.step / self.scale)).exp()
