"""Geometric, discrete Laplace and rounded Laplace noise, exactly distributed, as int64."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from typing import overload

import numpy as np
from numpy.typing import NDArray

from quincunx.noise.bits import source
from quincunx.noise.shape import Shape, Size, shaped
from quincunx.noise.staircase import Staircase, clamped
from quincunx.numbers import Ball, Number, ball, positive


def _magnitude_offset(scale: Fraction) -> Ball:
    # κ = −t·ln((1 + q)/2) = −t·ln(1 − (1 − q)/2); the second form keeps its digits when t is large.
    shortfall = -(-1 / ball(scale)).expm1() / 2
    return -ball(scale) * (-shortfall).log1p()


@lru_cache(maxsize=256)
def geometric_staircase(scale: Fraction) -> Staircase:
    """P(k) = (1 − q)·q^k for k ≥ 0, q = e^{−1/scale}."""
    return Staircase(scale, lambda: Ball(0))


@lru_cache(maxsize=256)
def discrete_laplace_staircase(scale: Fraction) -> Staircase:
    """The magnitude of P(k) = (1 − q)/(1 + q)·q^|k|, q = e^{−1/scale}."""
    return Staircase(scale, lambda: _magnitude_offset(scale))


@lru_cache(maxsize=256)
def rounded_laplace_staircase(scale: Fraction) -> Staircase:
    """The magnitude of a Laplace variable of density e^{−|x|/scale}/(2·scale), rounded to the nearest integer."""
    return Staircase(scale, lambda: Ball(0.5))


@overload
def geometric(scale: Number, size: None = None) -> int: ...


@overload
def geometric(scale: Number, size: Shape) -> NDArray[np.int64]: ...


def geometric(scale: Number, size: Size = None) -> int | NDArray[np.int64]:
    """Draws of P(k) = (1 − q)·q^k for k = 0, 1, 2, …, where q = e^{−1/scale}.

    `scale` > 0, exact as typed. `size` is a length, a shape, or None for one Python int.
    """
    law = geometric_staircase(positive(scale, "scale"))
    drawn: int | NDArray[np.int64] = shaped(
        size,
        lambda count: law.draw(source(), count, signed=False),
        lambda: clamped(law.draw_one(source(), signed=False)),
    )
    return drawn


@overload
def discrete_laplace(scale: Number, size: None = None) -> int: ...


@overload
def discrete_laplace(scale: Number, size: Shape) -> NDArray[np.int64]: ...


def discrete_laplace(scale: Number, size: Size = None) -> int | NDArray[np.int64]:
    """Draws of P(k) = (1 − q)/(1 + q)·q^|k| on the integers, where q = e^{−1/scale}.

    `scale` > 0, exact as typed. `size` is a length, a shape, or None for one Python int. Values beyond int64 are
    clamped to it, never wrapped.
    """
    law = discrete_laplace_staircase(positive(scale, "scale"))
    drawn: int | NDArray[np.int64] = shaped(
        size,
        lambda count: law.draw(source(), count, signed=True),
        lambda: clamped(law.draw_one(source(), signed=True)),
    )
    return drawn


@overload
def rounded_laplace(scale: Number, size: None = None) -> int: ...


@overload
def rounded_laplace(scale: Number, size: Shape) -> NDArray[np.int64]: ...


def rounded_laplace(scale: Number, size: Size = None) -> int | NDArray[np.int64]:
    """Draws of a Laplace variable of density e^{−|x|/scale}/(2·scale), rounded to the nearest integer.

    `scale` > 0 in units of the lattice, exact as typed. `size` is a length, a shape, or None for one Python int.
    Values beyond int64 are clamped to it, never wrapped.
    """
    law = rounded_laplace_staircase(positive(scale, "scale"))
    drawn: int | NDArray[np.int64] = shaped(
        size,
        lambda count: law.draw(source(), count, signed=True),
        lambda: clamped(law.draw_one(source(), signed=True)),
    )
    return drawn
