"""Threshold selection: which keys may be shown, when one person can be behind several of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache, partial
from math import isqrt
from typing import Any, ClassVar, Final, TypeAlias, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from quincunx.errors import DataError, ParameterError, kind_of
from quincunx.finite import Mechanism as FiniteMechanism
from quincunx.loss import Loss, StatedLaw
from quincunx.mechanisms.additive import lattice_values
from quincunx.mechanisms.calibration import edge, verified
from quincunx.mechanisms.discrete_gaussian import DiscreteGaussian
from quincunx.mechanisms.discrete_laplace import DiscreteLaplace
from quincunx.mechanisms.goal import goal_outside
from quincunx.mechanisms.mechanism import Mechanism, World
from quincunx.mechanisms.parameters import first, risk, stated
from quincunx.mechanisms.trial import Draw, Trial
from quincunx.numbers import Ball, Number, ball, delta_parameter, float_near, positive, positive_integer, precision

_PRECISION: Final = 256
_HINT: Final = "Add up each person's votes, as `votes` gives them."

Noise: TypeAlias = DiscreteLaplace | DiscreteGaussian


@dataclass(frozen=True, slots=True, kw_only=True, init=False)
class ThresholdSelection(Mechanism):
    """A key is kept when its votes plus K are at least τ, K the integer noise of `noise`.

    A person with t ≤ `groups` keys gives each `votes(t)`: ⌊2^bits/t⌋ under Laplace-type noise, ⌊2^bits/√t⌋ under
    Gaussian-type noise, so that their votes have ℓ1 or ℓ2 length at most 2^bits. `noise` has step 1 and the sensitivity
    of the unit of protection in votes: at least 2^bits·people. `people`: how many people may be added or removed at
    once. `threshold` τ is the smallest integer at which keys that only these people hold appear with probability at
    most δ = `delta`, 0 < δ < 1.
    """

    noise: Noise
    groups: int
    people: int
    bits: int
    delta: Fraction
    tag: ClassVar[str] = "threshold-selection"
    room: ClassVar[str] = "unknown keys"
    directions: ClassVar[Mapping[str, int]] = {"delta": +1}
    accuracy: ClassVar[str] = "{count} keys with at least {half} votes each are all kept"

    def __init__(self, *, noise: Noise, groups: Number, delta: Number, people: Number = 1, bits: int = 0) -> None:
        if not isinstance(noise, DiscreteLaplace | DiscreteGaussian) or noise.step != 1:
            got = f"{type(noise).__name__} with another step" if hasattr(noise, "step") else type(noise).__name__
            hint = "Use DiscreteLaplace or DiscreteGaussian with step=1."
            raise ParameterError("expected discrete noise in votes", where="noise", got=got, hint=hint)
        if type(bits) is not int or not 0 <= bits <= 30:
            raise ParameterError("must be a whole number from 0 to 30", where="bits", got=str(bits)[:40])
        object.__setattr__(self, "noise", noise)
        object.__setattr__(self, "groups", positive_integer(groups, "groups"))
        object.__setattr__(self, "people", positive_integer(people, "people"))
        object.__setattr__(self, "bits", bits)
        object.__setattr__(self, "delta", delta_parameter(delta))
        if self.delta == 0:
            hint = "A key that nobody else has would be shown with probability 0 or give its person away."
            raise ParameterError("must be greater than 0", where="delta", got="0", hint=hint)
        least = (self.people << bits) ** 2
        covered = noise.sensitivity**2 if isinstance(noise, DiscreteLaplace) else noise.sensitivity2
        if covered < least:
            hint = f"{self.people} people have up to {self.people << bits} votes."
            raise ParameterError("the noise covers fewer votes than the people have", where="sensitivity", hint=hint)

    @property
    def threshold(self) -> int:
        """τ: the smallest integer at which what only one unit of protection holds appears with probability ≤ δ."""
        return _threshold(self.noise, self.groups, self.people, self.bits, self.delta)

    @classmethod
    def calibrate(
        cls,
        *,
        groups: Number,
        delta: Number,
        epsilon: Number | None = None,
        rho: Number | None = None,
        people: Number = 1,
        bits: int = 0,
    ) -> ThresholdSelection:
        """The least noise that meets (ε, δ), of Laplace type, or ρ outside an event of probability δ, of Gaussian type.

        For adding or removing `people`: their votes, `people`·2^bits, are the sensitivity.
        """
        aim = goal_outside(delta_parameter(delta), epsilon=epsilon, rho=rho)
        top = positive_integer(people, "people") << bits
        noise: Noise
        if rho is None:
            noise = DiscreteLaplace(scale=top / positive(epsilon, "epsilon"), sensitivity=top)
        else:
            noise = DiscreteGaussian(sigma2=Fraction(top**2) / (2 * positive(rho, "rho")), sensitivity2=top**2)
        return verified(cls(noise=noise, groups=groups, people=people, bits=bits, delta=delta), aim)

    @classmethod
    def for_error(
        cls,
        *,
        error: Number,
        beta: Number,
        groups: Number,
        delta: Number,
        size: Number = 1,
        people: Number = 1,
        bits: int = 0,
    ) -> ThresholdSelection:
        """The smallest ε of six digits at which `error(beta, size)` is at most `error` votes, δ being given."""
        limit = positive_integer(error, "error")
        least = positive_integer(people, "people") << bits
        if limit <= least:
            hint = f"One unit of protection has {least} votes, which must stay hidden."
            raise ParameterError("must be more than the votes of one unit", where="error", got=str(limit), hint=hint)

        def make(epsilon: Fraction) -> ThresholdSelection:
            return cls.calibrate(groups=groups, delta=delta, epsilon=epsilon, people=people, bits=bits)

        return edge(make, lambda found: found.error(beta, size) <= limit, 1)

    @property
    def loss(self) -> Loss:
        """The parameters of the noise, ε or ρ, outside an event of probability δ.

        One stated law, not the noise's law beside δ: for groups of people the two grow together.
        """
        if isinstance(self.noise, DiscreteLaplace):
            return stated(self.noise.sensitivity / self.noise.scale, self.delta)
        rho = self.noise.sensitivity2 / (2 * self.noise.sigma2)
        return Loss.of(StatedLaw(epsilon=None, rho=rho, delta=self.delta))

    def votes(self, keys: Number) -> int:
        """What each key gets from a person with so many of them, 1 ≤ `keys` ≤ `groups`."""
        count = positive_integer(keys, "keys")
        if count > self.groups:
            hint = "Keep at most `groups` keys of each person, by a rule that looks at this person alone."
            raise ParameterError(f"must be at most {self.groups}", where="keys", got=str(count), hint=hint)
        return votes(self.noise.norm, count, self.bits)

    @overload
    def sample(self, counts: int) -> bool: ...

    @overload
    def sample(self, counts: ArrayLike) -> NDArray[np.bool_]: ...

    def sample(self, counts: ArrayLike) -> bool | NDArray[np.bool_]:
        """Whether each key is kept: booleans of the shape of `counts`, or a bool for an int. `counts` are votes."""
        exact, scalar = lattice_values(counts, type(self).__name__, hint=_HINT)
        kept = self.noise.sample(exact) >= self.threshold
        return bool(kept) if scalar else kept

    def words(self, unit: Fraction = Fraction(1)) -> str:
        """The threshold, and the noise of the votes."""
        return f"keys of at least {self.threshold} noisy votes; {self.noise.words(unit)}"

    def chance(self, count: Number) -> float:
        """The probability, as the nearest float, that a key with so many votes is kept; too high by at most what the
        tail of the noise is rounded up by."""
        if type(count) is not int:
            raise ParameterError("must be a whole number", where="count", got=kind_of(count))
        with precision(_PRECISION):
            return float_near(at_least(self.noise, self.threshold - count).upper())

    def error(self, beta: Number, size: Number = 1) -> int:
        """The smallest n ≥ `threshold` such that `size` keys with at least n votes each are all kept with probability
        ≥ 1 − beta; one step more at most where the noise's tail is known by a bound alone."""
        allowed, keys = risk(beta), positive_integer(size, "size")

        def enough(beyond: int) -> bool:
            # A key with n votes is lost when K ≤ τ − 1 − n, as likely as K ≥ n + 1 − τ.
            lost = at_least(self.noise, beyond + 1)
            return bool(lost < 1 and (-lost).log1p() * keys >= (-ball(allowed)).log1p())

        with precision(_PRECISION):
            return self.threshold + first(enough)

    def finite(self, inputs: Sequence[int]) -> FiniteMechanism:
        """The exact law of one key for each number of votes in `inputs`: True where it is kept."""
        if not inputs or not all(type(n) is int for n in inputs):
            got = ", ".join(sorted({type(n).__name__ for n in inputs})) or "an empty list"
            raise DataError("needs at least one input, all of them integers", where="finite", got=got)
        with precision(_PRECISION):
            chances = {n: at_least(self.noise, self.threshold - n) for n in inputs}
            return FiniteMechanism({n: {True: chance, False: 1 - chance} for n, chance in chances.items()})

    @classmethod
    def examples(cls) -> Sequence[ThresholdSelection]:
        """Of Laplace type: approximate zCDP, which the other type is, has no group map."""
        return (
            cls.calibrate(groups=3, delta="1e-3", epsilon="1/2", bits=2),
            cls.calibrate(groups=1, delta="1e-6", epsilon=2),
            cls.calibrate(groups=2, delta="1e-3", epsilon=1, people=3, bits=1),
        )

    def world(self, k: int = 1) -> World:
        """Somebody adds all their votes to one key that others hold already."""
        step = k * self.people << self.bits
        return self.finite(list(range(1, 60 + step))), [(n, n + step) for n in range(1, 60)]

    @classmethod
    def trials(cls) -> Iterator[Trial]:
        """Keys that nobody else has, where δ is at work, and keys near the threshold, where the noise is."""
        for name, goal in (("Laplace", {"epsilon": 1}), ("Gaussian", {"rho": "0.5"})):
            make = partial(cls.calibrate, groups=2, delta="0.01", bits=4, **goal)
            made = make()
            near, each = made.threshold - made.votes(2), made.votes(2)
            pairs: list[tuple[str, Any, str]] = [
                (
                    f"{keys} new",
                    ((0,) * keys, (made.votes(keys),) * keys),
                    f"keys that only one person has, {keys} of them, or nobody",
                )
                for keys in (1, 2)
            ]
            old = "two keys near the threshold, with one person more or less"
            pairs.append(("old keys", ((near, near), (near + each, near + each)), old))
            for rest, pair, words in pairs:
                yield Trial(
                    name=f"{name}, {rest}",
                    make=make,
                    pair=pair,
                    words=words,
                    draw=present,
                    why="The threshold is a whole number, so δ is not used up.",
                )


def present(selection: ThresholdSelection) -> Draw:
    """Draws of a selection in which a key without votes does not exist, and so is never shown."""

    def draw(given: Any, size: int) -> NDArray[Any]:
        counts = np.broadcast_to(np.asarray(given, dtype=np.int64), (size, len(given)))
        return np.asarray(selection.sample(counts)) & (counts > 0)

    return draw


def votes(norm: int, keys: int, bits: int) -> int:
    """⌊2^bits/keys⌋ for norm 1, ⌊2^bits/√keys⌋ for norm 2: the largest equal votes of length at most 2^bits."""
    return (1 << bits) // keys if norm == 1 else isqrt((1 << 2 * bits) // keys)


def at_least(noise: Noise, k: int) -> Ball:
    """P(K ≥ k), at the working precision."""
    return noise._tail(k - 1) / 2 if k >= 1 else 1 - noise._tail(-k) / 2


@lru_cache(maxsize=256)
def _threshold(noise: Noise, groups: int, people: int, bits: int, delta: Fraction) -> int:
    """The smallest τ ≥ 1 with `_risks` all certainly at most δ."""
    with precision(_PRECISION):
        allowed = ball(delta)
        tau = 1
        # Each risk falls in τ, so what a later one asks for never breaks an earlier one.
        for risk in _risks(noise, groups, people, bits):
            if not bool(risk(tau) <= allowed):
                tau += first(lambda more, risk=risk, base=tau: bool(risk(base + more) <= allowed))  # type: ignore[misc]
        return tau


def _risks(noise: Noise, groups: int, people: int, bits: int) -> Iterator[Any]:
    """Functions of τ: bounds on the probability that a key held by nobody else is kept, one for each way to vote."""
    if people == 1:
        # Largest votes first: the few keys of one person usually decide.
        for keys in range(1, groups + 1):
            each = votes(noise.norm, keys, bits)
            # 1 − (1 − p)^t = −expm1(t·log1p(−p)), which keeps the digits of a small p.
            yield lambda tau, each=each, keys=keys: _one_of(at_least(noise, tau - each), keys)
        return
    top = people << bits
    # Two keys cannot both have more than top/2 (ℓ1) or top/√2 (ℓ2).
    second = top // 2 if noise.norm == 1 else isqrt(top * top // 2)
    others = people * groups - 1
    yield lambda tau: at_least(noise, tau - top) + others * at_least(noise, tau - second)


def _one_of(chance: Ball, keys: int) -> Ball:
    return -(keys * (-chance).log1p()).expm1() if bool(chance < 1) else Ball(1)
