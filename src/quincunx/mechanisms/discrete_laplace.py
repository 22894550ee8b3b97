"""The discrete Laplace (geometric) mechanism."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from quincunx import noise
from quincunx.errors import ParameterError
from quincunx.loss import LatticeLaw, Loss
from quincunx.mechanisms.additive import Additive
from quincunx.mechanisms.calibration import calibrated, widest
from quincunx.mechanisms.goal import goal
from quincunx.mechanisms.laplace import Laplace
from quincunx.numbers import Ball, Number, ball, float_near, positive, precision
from quincunx.numbers.text import near


@dataclass(frozen=True, slots=True, kw_only=True, init=False)
class DiscreteLaplace(Additive):
    """x + K·`step`, P(K = k) = (1 − q)/(1 + q)·q^|k| with q = e^{−step/scale}, in every coordinate.

    `scale` and `sensitivity` are in the data's unit; `sensitivity` is the ℓ1 distance that counts as input distance 1,
    a whole number of steps, so that ε = sensitivity/scale. Its δ(ε) is its own: at one step it is randomized response,
    which leaks more than continuous Laplace noise of the same scale.
    """

    scale: Fraction
    sensitivity: Fraction
    step: Fraction
    tag: ClassVar[str] = "discrete-laplace"
    term: ClassVar[str] = (
        "discrete Laplace (geometric) noise, a law of its own; sensitivity in ℓ1, a whole number of steps"
    )
    norm: ClassVar[int] = 1

    def __init__(self, *, scale: Number, sensitivity: Number = 1, step: Number = 1) -> None:
        object.__setattr__(self, "scale", positive(scale, "scale"))
        object.__setattr__(self, "sensitivity", positive(sensitivity, "sensitivity"))
        object.__setattr__(self, "step", positive(step, "step"))
        if (self.sensitivity / self.step).denominator != 1:
            hint = "Values on the lattice differ by whole steps: round the sensitivity down to one."
            got = f"sensitivity {self.sensitivity}, step {self.step}"
            raise ParameterError("must be a whole number of steps", where="sensitivity", got=got, hint=hint)

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
    ) -> DiscreteLaplace:
        """The least noise whose certified loss meets one guarantee: see calibration.md for the five forms."""
        aim = goal(epsilon=epsilon, delta=delta, rho=rho, mu=mu, alpha=alpha)
        return calibrated(
            aim,
            lambda scale: cls(scale=scale, sensitivity=sensitivity, step=step),
            near=lambda scale: Laplace(scale=scale, sensitivity=sensitivity, step=step),
        )

    @classmethod
    def for_error(
        cls, *, error: Number, beta: Number, size: Number = 1, sensitivity: Number = 1, step: Number = 1
    ) -> DiscreteLaplace:
        """The most noise whose `error(beta, size)` is at most `error`; its loss says what that accuracy costs."""

        def make(scale: Fraction) -> DiscreteLaplace:
            return cls(scale=scale, sensitivity=sensitivity, step=step)

        return widest(
            make,
            lambda found: found.error(beta, size),
            error=error,
            step=step,
            near=lambda scale: Laplace(scale=scale, step=step).error(beta, size),
        )

    @property
    def loss(self) -> Loss:
        """That of sensitivity/step steps of the discrete law, in closed form and as an exact sum."""
        return Loss.of(LatticeLaw(unit=self.step / self.scale, steps=int(self.sensitivity / self.step)))

    @property
    def variance(self) -> float:
        """2q/(1 − q)²·step²."""
        with precision(128):
            # 2q/(1−q)² = 1/(2·sinh²(s)) with q = e^{−2s}.
            s = ball(self.step / (2 * self.scale))
            return float_near(ball(self.step**2) / (2 * s.sinh() ** 2))

    def words(self, unit: Fraction = Fraction(1)) -> str:
        """Its law, and its scale in the data's unit."""
        return f"discrete Laplace noise, scale = {near(float(self.scale) * float(unit), 4)}"

    def _draw(self, count: int) -> NDArray[np.int64]:
        return np.asarray(noise.discrete_laplace(self.scale / self.step, count))

    def _tail(self, m: int) -> Ball:
        q = (-ball(self.step / self.scale)).exp()
        return 2 * (-ball((m + 1) * self.step / self.scale)).exp() / (1 + q)
