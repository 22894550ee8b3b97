"""The Gaussian mechanism, rounded to a lattice."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from math import sqrt
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from quincunx import noise
from quincunx.loss import GaussianLaw, Loss
from quincunx.mechanisms.additive import Additive
from quincunx.mechanisms.parameters import square_of
from quincunx.mechanisms.trial import ORDERS, TOGETHER, Trial
from quincunx.numbers import Ball, Number, ball, float_near, near, normal_tail, positive, precision


@dataclass(frozen=True, slots=True, kw_only=True, init=False)
class Gaussian(Additive):
    """round(x + Z) to the lattice `step`·ℤ, Z normal of mean 0 and variance `sigma2` in every coordinate.

    Give `sigma` or `sigma2` = sigma², in the data's unit; `sensitivity` (or its square `sensitivity2`) is the ℓ2
    distance that counts as input distance 1, so that μ = sensitivity/sigma. Rounding is post-processing: `.loss` is
    the continuous law's, in any direction and dimension.
    """

    sigma2: Fraction
    sensitivity2: Fraction
    step: Fraction
    tag: ClassVar[str] = "gaussian"
    dial: ClassVar[str] = "sigma"
    squared: ClassVar[str] = "sigma2"
    term: ClassVar[str] = (
        "continuous Gaussian noise, also rounded to a lattice (rounding only loses); sensitivity in ℓ2"
    )
    norm: ClassVar[int] = 2
    directions: ClassVar[Mapping[str, int]] = {"sigma2": -1, "sensitivity2": +1}

    def __init__(
        self,
        *,
        sigma: Number | None = None,
        sigma2: Number | None = None,
        sensitivity: Number | None = None,
        sensitivity2: Number | None = None,
        step: Number = 1,
    ) -> None:
        object.__setattr__(self, "sigma2", square_of("sigma", sigma, sigma2))
        object.__setattr__(self, "sensitivity2", square_of("sensitivity", sensitivity, sensitivity2, default=1))
        object.__setattr__(self, "step", positive(step, "step"))

    @property
    def loss(self) -> Loss:
        """That of continuous Gaussian noise at μ² = sensitivity²/sigma², which dominates the rounded output."""
        return Loss.of(GaussianLaw(mu2=self.sensitivity2 / self.sigma2))

    @property
    def variance(self) -> float:
        """The variance of the rounded output: Σ (2m + 1)·P(|K| > m)·step²."""
        lattice2 = self.sigma2 / self.step**2
        # Poisson summation: from σ = 8 steps on, Sheppard's σ² + 1/12 errs by less than e^{−1200}.
        if lattice2 >= 64:
            return float_near(self.sigma2 + self.step**2 / 12)
        with precision(128):
            total = sum(((2 * m + 1) * self._tail(m) for m in range(120)), Ball(0))
            return float_near(ball(self.step**2) * total)

    def words(self, unit: Fraction = Fraction(1)) -> str:
        """Its law, and its σ in the data's unit."""
        return f"rounded Gaussian noise, σ = {near(sqrt(self.sigma2) * float(unit), 4)}"

    @classmethod
    def examples(cls) -> Sequence[Gaussian]:
        """From far below one step to far above, also where several coordinates move."""
        return (
            cls(sigma2="1/2"),
            cls(sigma="1/20"),
            cls(sigma=3, sensitivity2=2),
            cls(sigma=20, sensitivity=4, step=2),
            cls(sigma=1000),
        )

    @classmethod
    def trials(cls) -> Iterator[Trial]:
        """On a lattice so fine that the law is nearly continuous, by ρ, and rounded to whole numbers."""
        fine = partial(cls, sigma=1, step="0.01")
        yield Trial(name="μ = 1, fine", make=fine, pair=(0, 100), claim="mu=1", tight=True)
        yield Trial(name="ρ = 1/2", make=partial(cls, sigma=1), pair=(0, 1), claim="rho=0.5", why=ORDERS)
        yield Trial(name="δ(ε), fine", make=fine, pair=(0, 100), tight=True)
        rounded = "Rounding to whole numbers is post-processing, which hides a part of the continuous law's loss."
        yield Trial(name="δ(ε), σ = 2", make=partial(cls, sigma=2), pair=(0, 1), why=rounded)
        two, both = partial(cls, sigma2=2, sensitivity2=2), ((0, 0), (1, 1))
        yield Trial(name="μ = 1, two coordinates", make=two, pair=both, words=TOGETHER, claim="mu=1", why=rounded)

    @property
    def _distance(self) -> Fraction:
        return (1 if self.sensitivity2 < 4 * self.step**2 else 2) * self.step

    def _draw(self, count: int) -> NDArray[np.int64]:
        return np.asarray(noise.rounded_gaussian(sigma2=self.sigma2 / self.step**2, size=count))

    def _tail(self, m: int) -> Ball:
        # |K| > m iff |Z| ≥ (m + 1/2)·step.
        return 2 * normal_tail(ball((m + Fraction(1, 2)) * self.step) / ball(self.sigma2).sqrt())
