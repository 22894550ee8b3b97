"""The discrete Gaussian mechanism."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache, partial
from typing import ClassVar, Final

import numpy as np
from numpy.typing import NDArray

from quincunx import noise
from quincunx.errors import ParameterError
from quincunx.loss import DiscreteGaussianLaw, Loss, StatedLaw, gaussian_weights
from quincunx.mechanisms.additive import Additive
from quincunx.mechanisms.gaussian import Gaussian
from quincunx.mechanisms.parameters import square_of
from quincunx.mechanisms.scaled import Scaled
from quincunx.mechanisms.trial import ORDERS, TOGETHER, Trial
from quincunx.numbers import Ball, Number, ball, float_near, near, normal_tail, positive, precision

# Up to this σ² (in steps²) tails are exact sums; beyond, an upper bound within one step of them.
_SUMMED: Final = 10**6


@dataclass(frozen=True, slots=True, kw_only=True, init=False)
class DiscreteGaussian(Additive):
    """x + K·`step`, P(K = k) ∝ e^{−(k·step)²/2·sigma2} in every coordinate.

    Give `sigma` or `sigma2` = sigma², in the data's unit; sigma is the law's parameter, not its standard deviation.
    `sensitivity` (or `sensitivity2`) is the ℓ2 distance that counts as input distance 1, at least one step.
    `coordinates` is how many coordinates that distance can touch, None for any number: ρ = sensitivity²/(2·sigma²)
    always; δ(ε) has its own sum where one coordinate moves, and goes through ρ otherwise.
    """

    sigma2: Fraction
    sensitivity2: Fraction
    step: Fraction
    coordinates: int | None
    tag: ClassVar[str] = "discrete-gaussian"
    dial: ClassVar[str] = "sigma"
    squared: ClassVar[str] = "sigma2"
    rough: ClassVar[type[Scaled]] = Gaussian
    term: ClassVar[str] = (
        "discrete Gaussian noise, a law of its own; sensitivity in ℓ2; coordinates=1 where one coordinate moves"
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
        coordinates: int | None = None,
    ) -> None:
        object.__setattr__(self, "sigma2", square_of("sigma", sigma, sigma2))
        object.__setattr__(self, "sensitivity2", square_of("sensitivity", sensitivity, sensitivity2, default=1))
        object.__setattr__(self, "step", positive(step, "step"))
        object.__setattr__(self, "coordinates", coordinates)
        if self.sensitivity2 < self.step**2:
            got = f"sensitivity² {self.sensitivity2}, step {self.step}"
            raise ParameterError("must be at least one step", where="sensitivity", got=got, hint="Lower the step.")
        if coordinates is not None and (type(coordinates) is not int or coordinates != 1):
            hint = "Leave it out where more than one coordinate can move."
            raise ParameterError("must be 1 or None", where="coordinates", got=repr(coordinates), hint=hint)

    @property
    def loss(self) -> Loss:
        """The discrete law's own loss where one coordinate moves; ρ-zCDP alone otherwise."""
        squared = self.sensitivity2 / self.step**2
        # An integer vector shorter than √2 moves one coordinate, by one step.
        if self.coordinates == 1 or squared < 2:
            shift = math.isqrt(squared.numerator // squared.denominator)
            return Loss.of(DiscreteGaussianLaw(sigma2=self.sigma2 / self.step**2, shift=shift))
        return Loss.of(StatedLaw(epsilon=None, rho=self.sensitivity2 / (2 * self.sigma2)))

    @property
    def variance(self) -> float:
        """Σ k²·e^{−k²/2σ²}/Σ e^{−k²/2σ²}·step², a little below sigma2."""
        lattice2 = self.sigma2 / self.step**2
        # Poisson summation: from σ = 8 steps on it is σ² but for less than e^{−1200}.
        if lattice2 >= 64:
            return float_near(self.sigma2)
        with precision(128):
            weights, _ = gaussian_weights(lattice2, 160)
            second = sum((k * k * weight for k, weight in enumerate(weights)), Ball(0))
            return float_near(ball(self.step**2) * 2 * second / (2 * sum(weights, Ball(0)) - 1))

    def words(self, unit: Fraction = Fraction(1)) -> str:
        """Its law, and its σ in the data's unit."""
        return f"discrete Gaussian noise, σ = {near(math.sqrt(self.sigma2) * float(unit), 4)}"

    @classmethod
    def examples(cls) -> Sequence[DiscreteGaussian]:
        """From far below one step to a few, where one coordinate moves and where several do."""
        return (
            cls(sigma2="1/2"),
            cls(sigma="1/20"),
            cls(sigma=3, sensitivity2=2),
            cls(sigma=3, sensitivity=2, coordinates=1),
            cls(sigma=10, sensitivity=5, step=5),
        )

    @classmethod
    def trials(cls) -> Iterator[Trial]:
        """By ρ, by its own δ(ε) at one step and at seven, and in two coordinates."""
        one, wide = partial(cls, sigma=1), partial(cls, sigma=10, sensitivity=7, coordinates=1)
        yield Trial(name="ρ = 1/2", make=one, pair=(0, 1), claim="rho=0.5", why=ORDERS)
        yield Trial(name="δ(ε), σ = 1", make=one, pair=(0, 1), tight=True)
        yield Trial(name="δ(ε), Δ = 7", make=wide, pair=(0, 7), tight=True)
        two, both = partial(cls, sigma2=4, sensitivity2=2), ((0, 0), (1, 1))
        known = "In several coordinates it is known by ρ alone."
        yield Trial(name="ρ = 1/4, two coordinates", make=two, pair=both, words=TOGETHER, why=known)

    @property
    def _distance(self) -> Fraction:
        return (1 if self.sensitivity2 < 4 * self.step**2 else 2) * self.step

    def _draw(self, count: int) -> NDArray[np.int64]:
        return np.asarray(noise.discrete_gaussian(sigma2=self.sigma2 / self.step**2, size=count))

    def _tail(self, m: int) -> Ball:
        lattice2 = self.sigma2 / self.step**2
        if lattice2 > _SUMMED:
            # P(K ≥ m + 1) ≤ P(N > m) for N normal of variance σ² (Canonne, Kamath and Steinke 2020, Proposition 25).
            return Ball(0).union((2 * normal_tail(m / ball(lattice2).sqrt())).min(Ball(1)))
        # From the far end inwards: sums that start 25σ beyond m keep the digits of the tail at m.
        margin = math.isqrt(math.ceil(lattice2 * 640)) + 2
        return _tails(lattice2, margin * (m // margin + 2))[m]


@lru_cache(maxsize=16)
def _tails(sigma2: Fraction, reach: int) -> list[Ball]:
    # P(|K| > m) for m = 0 … reach.
    with precision(512):
        weights, beyond = gaussian_weights(sigma2, reach)
        sums = [beyond]
        for weight in reversed(weights[1:]):
            sums.append(sums[-1] + weight)
        total = weights[0] + 2 * sums[-1]
        return [2 * part / total for part in reversed(sums)]
