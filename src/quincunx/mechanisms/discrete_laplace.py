"""The discrete Laplace (geometric) mechanism."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from quincunx import noise
from quincunx.errors import ParameterError
from quincunx.loss import LatticeLaw, Loss
from quincunx.mechanisms.additive import Additive
from quincunx.mechanisms.laplace import Laplace
from quincunx.mechanisms.scaled import Scaled
from quincunx.mechanisms.trial import STRENGTHS, TOGETHER, Trial
from quincunx.numbers import Ball, Number, ball, float_near, near, positive, precision


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
    rough: ClassVar[type[Scaled]] = Laplace
    term: ClassVar[str] = (
        "discrete Laplace (geometric) noise, a law of its own; sensitivity in ℓ1, a whole number of steps"
    )
    norm: ClassVar[int] = 1
    directions: ClassVar[Mapping[str, int]] = {"scale": -1, "sensitivity": +1}

    def __init__(self, *, scale: Number, sensitivity: Number = 1, step: Number = 1) -> None:
        object.__setattr__(self, "scale", positive(scale, "scale"))
        object.__setattr__(self, "sensitivity", positive(sensitivity, "sensitivity"))
        object.__setattr__(self, "step", positive(step, "step"))
        if (self.sensitivity / self.step).denominator != 1:
            hint = "Values on the lattice differ by whole steps: round the sensitivity down to one."
            got = f"sensitivity {self.sensitivity}, step {self.step}"
            raise ParameterError("must be a whole number of steps", where="sensitivity", got=got, hint=hint)

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

    @classmethod
    def examples(cls) -> Sequence[DiscreteLaplace]:
        """From far below one step to a few."""
        return (
            cls(scale="0.7"),
            cls(scale="1/100"),
            cls(scale=2),
            cls(scale=5, sensitivity=3),
            cls(scale="0.5", sensitivity="0.2", step="0.1"),
        )

    @classmethod
    def trials(cls) -> Iterator[Trial]:
        """At every strength, at longer distances, on a finer lattice, in two coordinates, and its own δ(ε)."""
        for epsilon in STRENGTHS:
            make = partial(cls, scale=1 / Fraction(epsilon))
            yield Trial(name=f"ε = {epsilon}", make=make, pair=(0, 1), claim=f"epsilon={epsilon}", tight=True)
        three, steps = partial(cls, scale=3, sensitivity=3), partial(cls, scale=1, sensitivity="0.5", step="0.125")
        yield Trial(name="ε = 1, Δ = 3", make=three, pair=(5, 2), claim="epsilon=1", tight=True)
        yield Trial(name="ε = 0.5, fine", make=steps, pair=(0, 4), claim="epsilon=0.5", tight=True)
        two, both = partial(cls, scale=2, sensitivity=2), ((0, 0), (1, 1))
        yield Trial(name="ε = 1, two coordinates", make=two, pair=both, words=TOGETHER, claim="epsilon=1", tight=True)
        yield Trial(name="δ(ε)", make=partial(cls, scale=1), pair=(0, 1), tight=True)

    @property
    def _distance(self) -> Fraction:
        return self.sensitivity

    def _draw(self, count: int) -> NDArray[np.int64]:
        return np.asarray(noise.discrete_laplace(self.scale / self.step, count))

    def _tail(self, m: int) -> Ball:
        q = (-ball(self.step / self.scale)).exp()
        return 2 * (-ball((m + 1) * self.step / self.scale)).exp() / (1 + q)
