"""Mechanisms with one dial: the more of it, the more noise. Calibration turns the dial, and nothing else."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any, ClassVar, Self, TypedDict, Unpack, cast

from quincunx.mechanisms.calibration import calibrated
from quincunx.mechanisms.goal import goal
from quincunx.mechanisms.mechanism import Mechanism
from quincunx.numbers import Number


class Shape(TypedDict, total=False):
    """What constructors take besides the dial, each those that its mechanism has."""

    sensitivity: Number
    sensitivity2: Number | None
    step: Number
    coordinates: int | None
    monotone: bool


class Scaled(Mechanism):
    """A mechanism whose noise is one parameter.

    dial: its name. squared: the name of its square, where that is what is stored and may be exact. rough: a mechanism
    with the same dial that is cheaper to ask and needs about as much noise.
    """

    __slots__ = ()
    dial: ClassVar[str] = "scale"
    squared: ClassVar[str | None] = None
    rough: ClassVar[type[Scaled] | None] = None

    @classmethod
    def calibrate(
        cls,
        *,
        epsilon: Number | None = None,
        delta: Number | None = None,
        rho: Number | None = None,
        mu: Number | None = None,
        alpha: Number | None = None,
        **shape: Unpack[Shape],
    ) -> Self:
        """The least noise whose certified loss meets one guarantee: see calibration.md for the five forms.

        `shape`: the other parameters of the constructor. Where δ(ε) is not monotone in the dial, as the discrete
        Gaussian's is not, the noise found is verified but need not be the least.
        """
        aim = goal(epsilon=epsilon, delta=delta, rho=rho, mu=mu, alpha=alpha)
        exact = None if cls.squared is None else cls._turned(shape, cls.squared)
        return calibrated(aim, cls._turned(shape), exact=exact, near=cls._roughly(shape))

    @classmethod
    def _turned(cls, shape: Shape, dial: str | None = None) -> Callable[[Fraction], Self]:
        """From the dial to the mechanism of this shape."""
        return lambda noise: cast(Any, cls)(**{dial or cls.dial: noise}, **shape)

    @classmethod
    def _roughly(cls, shape: Shape) -> Callable[[Fraction], Any] | None:
        if cls.rough is None:
            return None
        known = cast(Shape, {name: value for name, value in shape.items() if name != "coordinates"})
        return cls.rough._turned(known)
