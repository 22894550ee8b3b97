"""The least noise that meets a guarantee, and the most noise that meets an accuracy: searched on one side, re-verified.

A search only proposes a parameter. What is returned has been checked once more against its own certified loss (or its
own certified error), and the check raises. Why the search may stop where it stops: calibration.md.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Final, Protocol, TypeVar

from quincunx.errors import ParameterError, PrivacyError, VerificationError
from quincunx.loss import Loss
from quincunx.loss.law import Real, as_ball, total_of
from quincunx.numbers import (
    ball,
    delta_parameter,
    float_above,
    non_negative,
    positive,
    precision,
    rational,
)

_PRECISION: Final = 256
# A searched parameter has this many significant digits.
DIGITS: Final = 6
_FIRST: Final = 10 ** (DIGITS - 1)
_DECADE: Final = 9 * _FIRST
# The index of 1.
_ONE: Final = -(DIGITS - 1) * _DECADE
# The search goes no further than 10^±400 times where it starts.
_FURTHEST: Final = 400 * _DECADE
_FAR: Final = 1 << 16


class Leaky(Protocol):
    """A mechanism, as far as calibration asks."""

    @property
    def loss(self) -> Loss:
        """What one answer leaks."""
        ...

    def error(self, beta: object, size: object = 1) -> float:
        """The half-width of its interval."""
        ...


M = TypeVar("M", bound=Leaky)


class Goal(ABC):
    """A guarantee to meet: the certified upper end of one parameter of a loss, at most `limit`."""

    __slots__ = ()
    # Whether a loss that holds only outside an event of probability δ can meet it.
    allows_delta: ClassVar[bool] = False
    # What to ask for instead where no noise of a family is enough.
    instead: ClassVar[str] = ""

    @property
    @abstractmethod
    def limit(self) -> Fraction:
        """The largest parameter that meets the goal."""

    @abstractmethod
    def parameter(self, loss: Loss) -> Real:
        """The parameter of a loss, exact or a ball whose upper end is certain; infinite where there is none."""

    def met(self, loss: Loss) -> bool:
        """Whether the loss certainly meets the goal."""
        if loss.stated_delta() and not self.allows_delta:
            return False
        with precision(_PRECISION):
            value = self.parameter(loss)
            return value <= self.limit if isinstance(value, Fraction) else bool(value <= ball(self.limit))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Pure(Goal):
    epsilon: Fraction
    instead: ClassVar[str] = "Give delta > 0, or calibrate Laplace or DiscreteLaplace."

    @property
    def limit(self) -> Fraction:
        return self.epsilon

    def parameter(self, loss: Loss) -> Real:
        return loss.total_pure()

    def __str__(self) -> str:
        return f"ε = {self.epsilon} at δ = 0"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Approximate(Goal):
    epsilon: Fraction
    delta: Fraction
    allows_delta: ClassVar[bool] = True

    @property
    def limit(self) -> Fraction:
        return self.delta

    def parameter(self, loss: Loss) -> Real:
        return loss.curve().delta(ball(self.epsilon))[1]

    def __str__(self) -> str:
        return f"ε = {self.epsilon} at δ = {self.delta}"


@dataclass(frozen=True, slots=True, kw_only=True)
class _ZeroConcentrated(Goal):
    rho: Fraction

    @property
    def limit(self) -> Fraction:
        return self.rho

    def parameter(self, loss: Loss) -> Real:
        return loss.total_zcdp()[1]

    def __str__(self) -> str:
        return f"ρ = {self.rho}"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Gaussian(Goal):
    mu: Fraction
    instead: ClassVar[str] = "Give rho, or epsilon with delta; or calibrate Gaussian."

    @property
    def limit(self) -> Fraction:
        return self.mu**2

    def parameter(self, loss: Loss) -> Real:
        return loss.total_gdp()

    def __str__(self) -> str:
        return f"μ = {self.mu}"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Renyi(Goal):
    alpha: Fraction
    epsilon: Fraction

    @property
    def limit(self) -> Fraction:
        return self.epsilon

    def parameter(self, loss: Loss) -> Real:
        return total_of(loss.terms, lambda law: law.renyi(self.alpha))[1]

    def __str__(self) -> str:
        return f"ε = {self.epsilon} at order α = {self.alpha}"


_FORMS: Final = "Give epsilon (and delta), rho, mu, or alpha with epsilon."


def goal(
    *, epsilon: object = None, delta: object = None, rho: object = None, mu: object = None, alpha: object = None
) -> Goal:
    """The guarantee that these parameters state: exactly one of five forms.

    epsilon: D_∞ ≤ ε. epsilon, delta: P(S) ≤ e^ε·P'(S) + δ. rho: D_α ≤ ρ·α for every α > 1. mu: at least as hard to
    tell as N(0, 1) from N(μ, 1). alpha, epsilon: D_α ≤ ε at the one order α.
    """
    values = {"epsilon": epsilon, "delta": delta, "rho": rho, "mu": mu, "alpha": alpha}
    given = {name for name, value in values.items() if value is not None}
    if given == {"rho"}:
        return _ZeroConcentrated(rho=_more_than_nothing(rho, "rho"))
    if given == {"mu"}:
        return _Gaussian(mu=_more_than_nothing(mu, "mu"))
    if given == {"alpha", "epsilon"}:
        order = rational(alpha, "alpha")
        if order <= 1:
            raise ParameterError("must be greater than 1", where="alpha", got=str(order)[:40])
        return _Renyi(alpha=order, epsilon=_more_than_nothing(epsilon, "epsilon"))
    if given not in ({"epsilon"}, {"epsilon", "delta"}):
        got = ", ".join(name for name in values if name in given) or "none"
        raise ParameterError("state one guarantee to meet", where="calibrate", got=got, hint=_FORMS)
    share = delta_parameter(0 if delta is None else delta)
    if share == 0:
        return _Pure(epsilon=_more_than_nothing(epsilon, "epsilon"))
    return _Approximate(epsilon=non_negative(epsilon, "epsilon"), delta=share)


def _more_than_nothing(value: object, name: str) -> Fraction:
    number = non_negative(value, name)
    if number == 0:
        hint = "At 0 the answer may not depend on the data at all: no noise is enough."
        raise ParameterError("must be greater than 0", where=name, got="0", hint=hint)
    return number


def calibrated(
    aim: Goal,
    make: Callable[[Fraction], M],
    *,
    exact: Callable[[Fraction], M] | None = None,
    near: Callable[[Fraction], Leaky] | None = None,
) -> M:
    """The mechanism make(t), t > 0 its noise, with the smallest t of six digits found that meets `aim`.

    `exact` takes a noise parameter to which the aim's own parameter may be inversely proportional: where it is, the
    answer is closed and not rounded. `near` is a mechanism that is cheaper to ask and needs about as much noise.
    """
    one = make(Fraction(1))
    with precision(_PRECISION):
        if not as_ball(aim.parameter(one.loss)).is_finite():
            what = f"no amount of this noise meets {aim}"
            raise PrivacyError(what, where=type(one).__name__, hint=aim.instead)
    closed = _proportional(aim, exact or make)
    if closed is not None:
        return verified(closed, aim)
    start, stride = _ONE, _FAR
    if near is not None:
        cheap = near
        start, stride = _edge(lambda i: aim.met(cheap(_number(i)).loss), start, stride, 1), 1
    return verified(make(_number(_edge(lambda i: aim.met(make(_number(i)).loss), start, stride, 1))), aim)


def _proportional(aim: Goal, exact: Callable[[Fraction], M]) -> M | None:
    with precision(_PRECISION):
        at_one = aim.parameter(exact(Fraction(1)).loss)
        if not isinstance(at_one, Fraction) or at_one == 0:
            return None
        candidate = exact(at_one / aim.limit)
        reached = aim.parameter(candidate.loss)
        return candidate if isinstance(reached, Fraction) and reached == aim.limit else None


def verified(mechanism: M, aim: Goal) -> M:
    """`mechanism`, if its certified loss meets `aim`; raised otherwise."""
    if not aim.met(mechanism.loss):
        raise VerificationError(f"the calibrated mechanism does not meet {aim}", where=type(mechanism).__name__)
    return mechanism


def widest(
    make: Callable[[Fraction], M],
    *,
    error: object,
    beta: object,
    size: object,
    step: object,
    near: Callable[[Fraction], Leaky] | None = None,
) -> M:
    """The mechanism make(t) with the largest t of six digits found whose `error(beta, size)` is at most `error`."""
    lattice = positive(step, "step")
    # Errors are whole numbers of steps; the same rounding to a float on both sides keeps equal ones equal.
    limit = float_above(positive(error, "error") // lattice * lattice)

    def within(mechanism: Leaky) -> bool:
        return mechanism.error(beta, size) <= limit

    start, stride = _ONE, _FAR
    if near is not None:
        cheap = near
        start, stride = _edge(lambda i: within(cheap(_number(i))), start, stride, -1), 1
    return _accurate(make(_number(_edge(lambda i: within(make(_number(i))), start, stride, -1))), within)


def _accurate(mechanism: M, within: Callable[[M], bool]) -> M:
    if not within(mechanism):
        raise VerificationError("its error is above what was asked", where=type(mechanism).__name__)
    return mechanism


def responding(aim: Goal, make: Callable[[Fraction], M], options: int) -> M:
    """Randomized response among `options` k with the largest probability p of the truth, 1/k < p < 1, that meets `aim`.

    p is a decimal with six digits in the smaller of p − 1/k and 1 − p.
    """
    return verified(make(_share(lambda p: aim.met(make(p).loss), 1, options)), aim)


def responding_within(make: Callable[[Fraction], M], options: int, *, error: object, beta: object, size: object) -> M:
    """Randomized response with the smallest p of these decimals, 1/k < p < 1, whose error is at most `error`."""
    limit = positive(error, "error")

    def within(mechanism: Leaky) -> bool:
        return Fraction(mechanism.error(beta, size)) <= limit

    return _accurate(make(_share(lambda p: within(make(p)), -1, options)), within)


def _share(met: Callable[[Fraction], bool], side: int, options: int) -> Fraction:
    # v = 1/(p/r − 1), r the chance of one other option, is large near p = 1/k and small near 1: both keep their digits.
    def chance(v: Fraction) -> Fraction:
        return (v + 1) / (options * v + 1)

    fair = Fraction(1, options)
    rough = chance(_number(_edge(lambda i: met(chance(_number(i))), _ONE, _FAR, side)))
    digit = _last_digit(min(rough - fair, 1 - rough))

    def decided(n: int) -> bool:
        # Guessing meets every guarantee, the truth meets every accuracy; neither is a mechanism.
        p = n * digit
        return met(p) if fair < p < 1 else (p < 1) == (side > 0)

    return _edge(decided, int(rough / digit), 1, -side) * digit


def _number(index: int) -> Fraction:
    """The positive decimals of six significant digits, in order."""
    decade, offset = divmod(index, _DECADE)
    return (_FIRST + offset) * Fraction(10) ** decade


def _last_digit(value: Fraction) -> Fraction:
    """One unit of the last of six significant digits of `value` > 0."""
    digit = Fraction(10) ** (len(str(value.numerator)) - len(str(value.denominator)) - DIGITS)
    return digit if value < digit * 10**DIGITS else 10 * digit


def _edge(met: Callable[[int], bool], start: int, stride: int, side: int) -> int:
    """An index that is met while the one before it, seen from `side`, is not.

    More is met towards `side`; where that is not quite so, what is returned is met all the same. The search goes
    outwards from `start` in doubling strides, then halves.
    """
    met_at, unmet_at = (start, None) if met(start) else (None, start)
    while met_at is None or unmet_at is None:
        # Away from what is known: down to something unmet, or up to something met.
        probe = met_at - side * stride if met_at is not None else unmet_at + side * stride  # type: ignore[operator]
        if abs(probe - start) > _FURTHEST:
            what = "every noise meets what is asked" if met_at is not None else "no noise meets what is asked"
            raise ParameterError(what, where="calibration", hint="Parameters from 10^-400 to 10^400 were tried.")
        if met(probe):
            met_at = probe
        else:
            unmet_at = probe
        stride *= 2
    while abs(met_at - unmet_at) > 1:
        middle = (met_at + unmet_at) // 2
        if met(middle):
            met_at = middle
        else:
            unmet_at = middle
    return met_at
