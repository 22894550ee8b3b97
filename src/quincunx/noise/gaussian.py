"""Discrete Gaussian and rounded Gaussian noise, exactly distributed, as int64."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from typing import Final, overload

import numpy as np
from numpy.typing import NDArray

from quincunx.errors import ParameterError
from quincunx.noise.bits import SecureBits, source
from quincunx.noise.laplace import discrete_laplace_staircase
from quincunx.noise.lazy import LazyUniform, certain_floor, decide
from quincunx.noise.shape import Shape, Size, shaped
from quincunx.noise.staircase import CHUNK, Staircase, clamped
from quincunx.numbers import Ball, Number, ball, float_near, positive, precision

# Errors of the two filters (gaussian.md): of e^{−γ}; of the radius and angle of Box–Muller, relative and absolute.
_ACCEPT_ERROR: Final = 2.0**-46
_RELATIVE: Final = 2.0**-46
_ABSOLUTE: Final = 2.0**-50
# Integers up to here are exact in float64, with room for a subtraction.
_EXACT_FLOAT: Final = 2.0**52
# Within these bounds of σ² no square and no slope of the acceptance filter leaves the normal floats.
_SAFE: Final = Fraction(2) ** 900


def variance_parameter(sigma: Number | None, sigma2: Number | None) -> Fraction:
    """σ² from exactly one of σ and σ², exact as typed."""
    if (sigma is None) == (sigma2 is None):
        hint = "sigma is the standard deviation, sigma2 its square."
        got = "neither" if sigma is None else "both"
        raise ParameterError("give exactly one of sigma and sigma2", where="Gaussian noise", got=got, hint=hint)
    return positive(sigma2, "sigma2") if sigma is None else positive(sigma, "sigma") ** 2


@dataclass(frozen=True, slots=True)
class DiscreteGaussianLaw:
    """P(k) ∝ e^{−k²/2σ²} on the integers, by rejection from the discrete Laplace law.

    Canonne, Kamath and Steinke (2020, Algorithm 3): with t = ⌊σ⌋ + 1 and Y discrete Laplace of scale t, accept Y with
    probability e^{−γ}, γ = (|Y| − σ²/t)²/(2σ²).
    """

    sigma2: Fraction
    _proposal: Staircase = field(init=False, repr=False, compare=False)
    _centre: Fraction = field(init=False, repr=False, compare=False)
    _centre_float: float = field(init=False, repr=False, compare=False)
    _slope: float = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        scale = Fraction(math.isqrt(self.sigma2.numerator // self.sigma2.denominator) + 1)
        centre = self.sigma2 / scale
        object.__setattr__(self, "_proposal", discrete_laplace_staircase(scale))
        object.__setattr__(self, "_centre", centre)
        object.__setattr__(self, "_centre_float", float_near(centre))
        slope = float_near(1 / (2 * self.sigma2)) if 1 / _SAFE < self.sigma2 < _SAFE else math.nan
        object.__setattr__(self, "_slope", slope)

    def draw(self, bits: SecureBits, count: int) -> NDArray[np.int64]:
        """`count` draws, in the order in which they were accepted."""
        out = np.empty(count, dtype=np.int64)
        done = 0
        while done < count:
            # Between 0.4 and 0.8 of the proposals are accepted: a few passes at most.
            batch, beyond = min(CHUNK, 16 + (count - done) * 3 // 2), dict[int, int]()
            proposals = self._proposal.draw(bits, batch, signed=True, beyond=beyond)
            accepted = proposals[self._accept(proposals, beyond, bits)][: count - done]
            out[done : done + len(accepted)] = accepted
            done += len(accepted)
        return out

    def draw_one(self, bits: SecureBits) -> int:
        """One draw of the same law, by the same filter in Python's floats; not clamped."""
        doubt = _ACCEPT_ERROR + 2.0 ** -(bits.prefix_bits + 1)
        while True:
            proposal = self._proposal.draw_one(bits, signed=True)
            prefix = bits.integer(64) >> (64 - bits.prefix_bits)
            margin = 0.0
            if abs(proposal) < _EXACT_FLOAT and self._slope < math.inf:
                distance = abs(proposal) - self._centre_float
                margin = math.exp(-distance * distance * self._slope) - (prefix + 0.5) * 2.0**-bits.prefix_bits
            if margin > 0 if abs(margin) >= doubt else self._exact(bits, proposal, prefix):
                return proposal

    def _accept(self, proposals: NDArray[np.int64], beyond: dict[int, int], bits: SecureBits) -> NDArray[np.bool_]:
        drop = np.uint64(64 - bits.prefix_bits)
        words = bits.words(len(proposals))
        uniform = (words >> drop).astype(np.float64)
        uniform += 0.5
        uniform *= 2.0**-bits.prefix_bits
        with np.errstate(all="ignore"):
            size = np.abs(proposals.astype(np.float64))
            exponent = size - self._centre_float
            exponent *= exponent
            exponent *= -self._slope
            np.exp(exponent, out=exponent)
            exponent -= uniform
            accept = exponent > 0
            certain = np.abs(exponent) >= _ACCEPT_ERROR + 2.0 ** -(bits.prefix_bits + 1)
            certain &= size < _EXACT_FLOAT
        for index in np.flatnonzero(~certain):
            proposal = beyond.get(int(index), int(proposals[index]))
            accept[index] = self._exact(bits, proposal, int(words[index] >> drop))
        return accept

    def _exact(self, bits: SecureBits, proposal: int, prefix: int) -> bool:
        bits.fallbacks += 1
        gamma = (abs(proposal) - self._centre) ** 2 / (2 * self.sigma2)
        uniform = LazyUniform(bits, prefix, bits.prefix_bits)
        return not decide(lambda: uniform.at_least((-ball(gamma)).exp()), uniform)


@dataclass(frozen=True, slots=True)
class RoundedGaussianLaw:
    """⌊σ·R·cos(2πV) + 1/2⌋ with R = √(−2 ln U): Box and Muller's normal variable, rounded to the nearest integer."""

    sigma2: Fraction
    _sigma: float = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        with precision(128):
            object.__setattr__(self, "_sigma", float_near(ball(self.sigma2).sqrt()))

    def draw(self, bits: SecureBits, count: int) -> NDArray[np.int64]:
        """`count` independent draws; each owns its U and its V."""
        out = np.empty(count, dtype=np.int64)
        for start in range(0, count, CHUNK):
            part = out[start : start + CHUNK]
            self._fill(part, bits.words(2 * len(part)), bits)
        return out

    def draw_one(self, bits: SecureBits) -> int:
        """One draw of the same law from two words, by the same filter in Python's floats."""
        drop, ulp = 64 - bits.prefix_bits, 2.0**-bits.prefix_bits
        radial, angular = bits.integer(64) >> drop, bits.integer(64) >> drop
        if radial and self._sigma < math.inf:
            radius = math.sqrt(-2.0 * math.log((radial + 0.5) * ulp))
            error = (
                1.0001 * self._sigma / (radial * radius) + radius * (self._sigma * (_RELATIVE + 4.0 * ulp)) + _ABSOLUTE
            )
            value = math.cos((angular + 0.5) * (2.0 * math.pi * ulp)) * radius * self._sigma + 0.5
            if abs(value) < math.inf:
                floor = math.floor(value)
                if error <= value - floor and value - floor + error <= 1.0:
                    return floor
        return self._exact(bits, radial, angular)

    def _fill(self, out: NDArray[np.int64], words: NDArray[np.uint64], bits: SecureBits) -> None:
        drop = np.uint64(64 - bits.prefix_bits)
        sigma, ulp = self._sigma, 2.0**-bits.prefix_bits
        prefixes = (words >> drop).astype(np.float64)
        radial, angular = prefixes[: len(out)], prefixes[len(out) :]
        with np.errstate(all="ignore"):
            radius = radial + 0.5
            radius *= ulp
            np.log(radius, out=radius)
            radius *= -2.0
            np.sqrt(radius, out=radius)
            # dR ≤ (1/a)/R from the width of U, and relative errors of R and of the cosine.
            error = (1.0001 * sigma) / (radial * radius)
            error += radius * (sigma * (_RELATIVE + 4.0 * ulp))
            error += _ABSOLUTE
            angular += 0.5
            angular *= 2.0 * math.pi * ulp
            value = np.cos(angular)
            value *= radius
            value *= sigma
            value += 0.5
            whole = np.floor(value)
            value -= whole
            certain = value >= error
            value += error
            certain &= value <= 1.0
            np.copyto(out, whole, casting="unsafe")
        for index in np.flatnonzero(~certain):
            out[index] = self._exact(bits, int(words[index] >> drop), int(words[index + len(out)] >> drop))

    def _exact(self, bits: SecureBits, radial: int, angular: int) -> int:
        bits.fallbacks += 1
        u = LazyUniform(bits, radial, bits.prefix_bits)
        v = LazyUniform(bits, angular, bits.prefix_bits)
        magnitude = max(0, self.sigma2.numerator.bit_length() - self.sigma2.denominator.bit_length())

        def floor() -> int | None:
            # The true −2 ln U is positive; a ball of U that touches 1 must not end in √(negative) = NaN.
            radius = (-2 * u.ball().log()).nonnegative_part().sqrt()
            return certain_floor(ball(self.sigma2).sqrt() * radius * (2 * v.ball()).cos_pi() + Ball(0.5))

        return clamped(decide(floor, u, v, extra_bits=magnitude))


@lru_cache(maxsize=256)
def discrete_gaussian_law(sigma2: Fraction) -> DiscreteGaussianLaw:
    """The law P(k) ∝ e^{−k²/2σ²}, prepared once."""
    return DiscreteGaussianLaw(sigma2)


@lru_cache(maxsize=256)
def rounded_gaussian_law(sigma2: Fraction) -> RoundedGaussianLaw:
    """The rounded normal law of variance σ², prepared once."""
    return RoundedGaussianLaw(sigma2)


@overload
def discrete_gaussian(sigma: Number | None = None, size: None = None, *, sigma2: Number | None = None) -> int: ...


@overload
def discrete_gaussian(sigma: Number | None, size: Shape, *, sigma2: Number | None = None) -> NDArray[np.int64]: ...


@overload
def discrete_gaussian(
    sigma: Number | None = None, *, size: Shape, sigma2: Number | None = None
) -> NDArray[np.int64]: ...


def discrete_gaussian(
    sigma: Number | None = None, size: Size = None, *, sigma2: Number | None = None
) -> int | NDArray[np.int64]:
    """Draws of P(k) ∝ e^{−k²/(2·sigma²)} on the integers.

    Give `sigma` or `sigma2` = sigma², > 0, exact as typed; sigma is not the standard deviation of the draws, which is a
    little smaller. `size` is a length, a shape, or None for one Python int. Values beyond int64 are clamped to it.
    """
    law = discrete_gaussian_law(variance_parameter(sigma, sigma2))
    drawn: int | NDArray[np.int64] = shaped(
        size, lambda count: law.draw(source(), count), lambda: clamped(law.draw_one(source()))
    )
    return drawn


@overload
def rounded_gaussian(sigma: Number | None = None, size: None = None, *, sigma2: Number | None = None) -> int: ...


@overload
def rounded_gaussian(sigma: Number | None, size: Shape, *, sigma2: Number | None = None) -> NDArray[np.int64]: ...


@overload
def rounded_gaussian(
    sigma: Number | None = None, *, size: Shape, sigma2: Number | None = None
) -> NDArray[np.int64]: ...


def rounded_gaussian(
    sigma: Number | None = None, size: Size = None, *, sigma2: Number | None = None
) -> int | NDArray[np.int64]:
    """Draws of a normal variable of mean 0 and standard deviation `sigma`, rounded to the nearest integer.

    Give `sigma` in units of the lattice or `sigma2` = sigma², > 0, exact as typed. `size` is a length, a shape, or None
    for one Python int. Values beyond int64 are clamped to it, never wrapped.
    """
    law = rounded_gaussian_law(variance_parameter(sigma, sigma2))
    drawn: int | NDArray[np.int64] = shaped(
        size, lambda count: law.draw(source(), count), lambda: law.draw_one(source())
    )
    return drawn
