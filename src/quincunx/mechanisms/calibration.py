"""The least noise that meets a guarantee, and the most noise that meets an accuracy: searched on one side, re-verified.

A search only proposes a parameter. What is returned has been checked once more against its own certified loss (or its
own certified error), and the check raises. Why the search may stop where it stops: calibration.md.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Final, Protocol, TypeVar

from quincunx.errors import ParameterError, PrivacyError, VerificationError
from quincunx.loss import Loss, as_ball
from quincunx.mechanisms.goal import PRECISION, Goal
from quincunx.numbers import Number, float_above, positive, precision

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


M = TypeVar("M", bound=Leaky)


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
    with precision(PRECISION):
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
    with precision(PRECISION):
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
    measured: Callable[[M], float],
    *,
    error: Number,
    step: Number,
    near: Callable[[Fraction], float] | None = None,
) -> M:
    """The mechanism make(t) with the largest t of six digits found whose error, as `measured`, is at most `error`.

    `near` is the error at t of a mechanism that is cheaper to ask and errs about as much.
    """
    lattice = positive(step, "step")
    # Errors are whole numbers of steps; the same rounding to a float on both sides keeps equal ones equal.
    limit = float_above(positive(error, "error") // lattice * lattice)
    start, stride = _ONE, _FAR
    if near is not None:
        cheap = near
        start, stride = _edge(lambda i: cheap(_number(i)) <= limit, start, stride, -1), 1
    return edge(make, lambda mechanism: measured(mechanism) <= limit, -1, start, stride)


def edge(
    make: Callable[[Fraction], M], within: Callable[[M], bool], side: int, start: int = _ONE, stride: int = _FAR
) -> M:
    """The mechanism make(t), t the last decimal of six digits found that is `within`: the smallest t where more of it
    is within (`side` 1), the largest where less is (`side` −1)."""
    return _accurate(make(_number(_edge(lambda i: within(make(_number(i))), start, stride, side))), within)


def _accurate(mechanism: M, within: Callable[[M], bool]) -> M:
    if not within(mechanism):
        raise VerificationError("what was found does not do what was asked", where=type(mechanism).__name__)
    return mechanism


def responding(aim: Goal, make: Callable[[Fraction], M], options: int) -> M:
    """Randomized response among `options` k with the largest probability p of the truth, 1/k < p < 1, that meets `aim`.

    p is a decimal with six digits in the smaller of p − 1/k and 1 − p.
    """
    return verified(make(_share(lambda p: aim.met(make(p).loss), 1, options)), aim)


def responding_within(
    make: Callable[[Fraction], M], measured: Callable[[M], float], options: int, *, error: Number
) -> M:
    """Randomized response with the smallest p of these decimals, 1/k < p < 1, whose error is at most `error`."""
    limit = positive(error, "error")

    def within(mechanism: M) -> bool:
        return Fraction(measured(mechanism)) <= limit

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
