"""The discrete Gaussian mechanism."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import ClassVar, Final

import numpy as np
from numpy.typing import NDArray

from quincunx import noise
from quincunx.errors import ParameterError
from quincunx.loss import DiscreteGaussianLaw, Loss, StatedLaw
from quincunx.loss.discrete_gaussian import gaussian_weights
from quincunx.mechanisms.additive import Additive
from quincunx.mechanisms.calibration import calibrated, widest
from quincunx.mechanisms.gaussian import Gaussian
from quincunx.mechanisms.goal import goal
from quincunx.mechanisms.squares import square_of
from quincunx.numbers import Ball, Number, ball, float_near, normal_tail, positive, precision
from quincunx.numbers.text import near

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
    term: ClassVar[str] = (
        "discrete Gaussian noise, a law of its own; sensitivity in ℓ2; coordinates=1 where one coordinate moves"
    )
    norm: ClassVar[int] = 2

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

    @classmethod
    def calibrate(
        cls,
        *,
        sensitivity: Number | None = None,
        sensitivity2: Number | None = None,
        step: Number = 1,
        coordinates: int | None = None,
        epsilon: Number | None = None,
        delta: Number | None = None,
        rho: Number | None = None,
        mu: Number | None = None,
        alpha: Number | None = None,
    ) -> DiscreteGaussian:
        """Noise whose certified loss meets one guarantee: see calibration.md for the five forms.

        δ(ε) is not monotone in sigma, so the sigma found is verified but need not be the smallest.
        """

        def make(sigma: Fraction) -> DiscreteGaussian:
            return cls(
                sigma=sigma, sensitivity=sensitivity, sensitivity2=sensitivity2, step=step, coordinates=coordinates
            )

        aim = goal(epsilon=epsilon, delta=delta, rho=rho, mu=mu, alpha=alpha)
        fixed = make(Fraction(1))
        return calibrated(
            aim,
            make,
            exact=lambda sigma2: cls(
                sigma2=sigma2, sensitivity2=fixed.sensitivity2, step=step, coordinates=coordinates
            ),
            near=lambda sigma: Gaussian(sigma=sigma, sensitivity2=fixed.sensitivity2, step=step),
        )

    @classmethod
    def for_error(
        cls,
        *,
        error: Number,
        beta: Number,
        size: Number = 1,
        sensitivity: Number | None = None,
        sensitivity2: Number | None = None,
        step: Number = 1,
        coordinates: int | None = None,
    ) -> DiscreteGaussian:
        """The most noise whose `error(beta, size)` is at most `error`; its loss says what that accuracy costs."""

        def make(sigma: Fraction) -> DiscreteGaussian:
            return cls(
                sigma=sigma, sensitivity=sensitivity, sensitivity2=sensitivity2, step=step, coordinates=coordinates
            )

        return widest(
            make,
            lambda found: found.error(beta, size),
            error=error,
            step=step,
            near=lambda sigma: Gaussian(sigma=sigma, step=step).error(beta, size),
        )

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
