"""Partition selection: which keys may be shown, given how many people are behind each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache, partial
from typing import ClassVar, Final, overload

import numpy as np
from flint import ctx
from numpy.typing import ArrayLike, NDArray

from quincunx.errors import DataError, ParameterError
from quincunx.finite import Mechanism as FiniteMechanism
from quincunx.loss import Loss
from quincunx.mechanisms.additive import lattice_values
from quincunx.mechanisms.calibration import edge, verified
from quincunx.mechanisms.goal import goal_outside
from quincunx.mechanisms.mechanism import Mechanism, World
from quincunx.mechanisms.parameters import first, risk, stated
from quincunx.mechanisms.trial import Trial
from quincunx.noise import certain_floor, choose, source
from quincunx.numbers import (
    Ball,
    Number,
    ball,
    delta_parameter,
    float_near,
    positive,
    positive_integer,
    precision,
    rational,
)
from quincunx.numbers import stated as stated_text

_PRECISION: Final = 512
_HINT: Final = "Count the people behind each key; a person counts once."


@dataclass(frozen=True, slots=True, kw_only=True, init=False)
class PartitionSelection(Mechanism):
    """A key with n people behind it is kept with probability π(n), the largest that (ε, δ) allows for every n at once.

    π(0) = 0, π(n) = min(e^ε·π(n−1) + δ, 1 − e^{−ε}(1 − π(n−1) − δ), 1), ε = `epsilon` > 0, 0 < δ = `delta` < 1. Input
    distance 1 adds or removes one person behind one key. Where a person can move from one key to another (replace), two
    keys change: charge 2·loss.
    """

    epsilon: Fraction
    delta: Fraction
    tag: ClassVar[str] = "partition-selection"
    room: ClassVar[str] = "unknown keys"
    directions: ClassVar[Mapping[str, int]] = {"epsilon": +1, "delta": +1}
    accuracy: ClassVar[str] = "{count} keys with at least {half} people each are all kept"

    def __init__(self, *, epsilon: Number, delta: Number) -> None:
        object.__setattr__(self, "epsilon", positive(epsilon, "epsilon"))
        object.__setattr__(self, "delta", _share(delta))

    @classmethod
    def calibrate(
        cls, *, delta: Number, epsilon: Number | None = None, rho: Number | None = None
    ) -> PartitionSelection:
        """The rule that keeps most and meets (ε, δ), or ρ outside an event of probability δ: calibration.md.

        With epsilon it is the rule of these parameters. With rho it is the largest ε of six digits with
        ε·tanh(ε/2) ≤ ρ. Other standards cannot be met: without δ no key could be shown.
        """
        share = _share(delta)
        aim = goal_outside(share, epsilon=epsilon, rho=rho)
        if epsilon is not None:
            return verified(cls(epsilon=epsilon, delta=share), aim)
        return verified(edge(lambda e: cls(epsilon=e, delta=share), lambda found: aim.met(found.loss), -1), aim)

    @classmethod
    def for_error(cls, *, error: Number, beta: Number, delta: Number, size: Number = 1) -> PartitionSelection:
        """The smallest ε of six digits at which `error(beta, size)` is at most `error` people, δ being given."""
        share, limit = _share(delta), positive_integer(error, "error")
        if limit == 1:
            hint = "π(1) = δ whatever ε is: a key of one person is never kept for sure."
            raise ParameterError("must be at least 2", where="error", got="1", hint=hint)
        return edge(lambda e: cls(epsilon=e, delta=share), lambda found: found.error(beta, size) <= limit, 1)

    @property
    def loss(self) -> Loss:
        """(ε, δ), and δ-approximately ρ-zCDP with ρ = ε·tanh(ε/2), rounded up."""
        return stated(self.epsilon, self.delta)

    @overload
    def sample(self, counts: int) -> bool: ...

    @overload
    def sample(self, counts: ArrayLike) -> NDArray[np.bool_]: ...

    def sample(self, counts: ArrayLike) -> bool | NDArray[np.bool_]:
        """Whether each key is kept: booleans of the shape of `counts`, or a bool for an int.

        `counts` are the numbers of people behind the keys; what is below 0 counts as 0.
        """
        exact, scalar = lattice_values(counts, type(self).__name__, hint=_HINT)
        kept = np.zeros(exact.shape, dtype=bool)
        bits = source()
        for count in np.unique(exact).tolist():
            here = exact == count
            # The choice is 0, and the key is kept, where U < π(n).
            kept[here] = choose(bits, partial(self._cumulative, count), int(here.sum())) == 0
        return bool(kept[()]) if scalar else kept

    def words(self, unit: Fraction = Fraction(1)) -> str:  # noqa: ARG002 - people have no unit
        """The rule, and its ε and δ."""
        return f"keys selected by the optimal rule, {stated_text('ε', self.epsilon, self.delta)}"

    def chance(self, count: Number) -> float:
        """π(count), the nearest float: the probability that a key with so many people behind it is kept."""
        with precision(_PRECISION):
            return float_near(self._chance(_whole(count)))

    def error(self, beta: Number, size: Number = 1) -> int:
        """The smallest n such that `size` keys with at least n people each are all kept with probability ≥ 1 − beta."""
        allowed, keys = risk(beta), positive_integer(size, "size")

        def enough(n: int) -> bool:
            lost = 1 - self._chance(n)
            return bool(lost < 1 and (-lost).log1p() * keys >= (-ball(allowed)).log1p())

        with precision(_PRECISION):
            return first(enough)

    def finite(self, inputs: Sequence[int]) -> FiniteMechanism:
        """The exact law of one key for each number of people in `inputs`: True where it is kept."""
        if not inputs or not all(type(n) is int for n in inputs):
            got = ", ".join(sorted({type(n).__name__ for n in inputs})) or "an empty list"
            raise DataError("needs at least one input, all of them integers", where="finite", got=got)
        with precision(_PRECISION):
            chances = {n: self._chance(n) for n in inputs}
            return FiniteMechanism({n: {True: chance, False: 1 - chance} for n, chance in chances.items()})

    @classmethod
    def examples(cls) -> Sequence[PartitionSelection]:
        """Strict and lenient rules."""
        given = (("1/10", "1e-3"), ("1", "1e-5"), ("3", "1e-12"), ("1/100", "0.01"))
        return [cls(epsilon=epsilon, delta=delta) for epsilon, delta in given]

    def world(self, k: int = 1) -> World:
        """Up to 24 people behind a key, and k more."""
        return self.finite(list(range(25))), [(n, n + k) for n in range(25 - k)]

    @classmethod
    def trials(cls) -> Iterator[Trial]:
        """A key that nobody else has, where δ is at work, and keys of a few people, where ε is."""
        # (ε, δ) as a whole curve, so that the bound is of δ where δ is at work.
        make = partial(cls, epsilon=1, delta="0.01")
        for name, pair, words in (
            ("a new key", (0, 1), "nobody behind a key, or one person"),
            ("2 people and 3", (2, 3), "two people behind a key, or three"),
            ("5 people and 6", (5, 6), "five people behind a key, or six"),
        ):
            yield Trial(name=name, make=make, pair=pair, words=words, tight=True)

    def _cumulative(self, count: int) -> list[Ball]:
        return [self._chance(count)]

    def _chance(self, count: int) -> Ball:
        """π(count) at the working precision."""
        if count <= 0:
            return Ball(0)
        rising = _rising(self.epsilon, self.delta)
        # Far from 0 the exponential needs its whole part besides the working precision.
        with precision(ctx.prec + count.bit_length() + 64):
            delta, shrunk = ball(self.delta), -(-ball(self.epsilon)).expm1()
            # δ(e^{nε} − 1)/(e^ε − 1), written with e^{−ε} so that a large ε does not overflow.
            n = min(count, rising)
            risen = delta * ball((n - 1) * self.epsilon).exp() * -(-ball(n * self.epsilon)).expm1() / shrunk
            if count <= rising:
                return risen
            # 1 − π falls by e^{−ε}(· − δ): a geometric sequence around −δ/(e^ε − 1), until it reaches 0.
            floor = delta * (1 - shrunk) / shrunk
            left = (1 - risen + floor) * (-ball((count - rising) * self.epsilon)).exp() - floor
            return 1 - left.max(Ball(0))


@lru_cache(maxsize=256)
def _rising(epsilon: Fraction, delta: Fraction) -> int:
    """The last n at which π(n) = e^ε·π(n−1) + δ: the rule while π(n−1) ≤ (1 − δ)/(1 + e^ε)."""
    bits = 128
    while True:
        with precision(bits):
            # ln((e^ε − 1 + 2δ)/((e^ε + 1)δ))/ε, divided by e^ε above and below.
            shrunk = (-ball(epsilon)).exp()
            ratio = (1 - shrunk + 2 * ball(delta) * shrunk) / ((1 + shrunk) * ball(delta))
            whole = certain_floor(ratio.log() / ball(epsilon))
        if whole is not None:
            return 1 + whole
        # At an integer both rules agree; for a rational ε it is never exactly one, so more bits decide.
        bits *= 2


def _share(delta: object) -> Fraction:
    share = delta_parameter(delta)
    if share == 0:
        hint = "A key that nobody else has would be shown with probability 0 or give its person away."
        raise ParameterError("must be greater than 0", where="delta", got="0", hint=hint)
    return share


def _whole(count: object) -> int:
    number = rational(count, "count")
    if number.denominator != 1 or number < 0:
        raise ParameterError("must be a whole number, 0 or greater", where="count", got=str(number)[:40])
    return int(number)
