"""The sparse vector technique: which of many answers are above a threshold, paying only for those that are."""

from __future__ import annotations

import math
import os
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, partial
from typing import Any, ClassVar, Final, NoReturn, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from quincunx.errors import DataError, ParameterError, PrivacyError
from quincunx.finite import Mechanism as FiniteMechanism
from quincunx.finite import guard
from quincunx.loss import Loss
from quincunx.mechanisms.additive import lattice_values
from quincunx.mechanisms.calibration import calibrated, widest
from quincunx.mechanisms.discrete_laplace import DiscreteLaplace
from quincunx.mechanisms.goal import Guarantee, goal
from quincunx.mechanisms.mechanism import Mechanism, World
from quincunx.mechanisms.parameters import first, flag, risk, stated, tuples
from quincunx.mechanisms.trial import BY_ITSELF, SLOW, Trial, one_at_a_time
from quincunx.noise import discrete_laplace_staircase, source
from quincunx.numbers import Ball, Number, ball, float_above, near, positive, positive_integer, precision, rational

_PRECISION: Final = 512
# The finite model leaves out threshold noise of less than this probability, and adds it to every ball.
_CUT_BITS: Final = 220


@dataclass(frozen=True, slots=True, kw_only=True, init=False)
class SparseVector(Mechanism):
    """Answer i is "above" iff value_i + ν_i ≥ threshold + ρ; after c = `aboves` answers "above" it is over.

    ρ is discrete Laplace noise of `threshold_scale`, drawn once; each ν_i of `query_scale`, all independent. Any number
    of answers "below" is free. `threshold` (public), scales and `sensitivity` are in the data's unit; `sensitivity` is
    how far one person can move any one value. `monotone` says that one person moves all values the same way.
    ε = sensitivity/threshold_scale + 2c·sensitivity/query_scale; c in place of 2c where monotone.
    """

    threshold: Fraction
    threshold_scale: Fraction
    query_scale: Fraction
    aboves: int
    sensitivity: Fraction
    monotone: bool
    step: Fraction
    tag: ClassVar[str] = "sparse-vector"
    room: ClassVar[str] = "choices"
    directions: ClassVar[Mapping[str, int]] = {
        "threshold_scale": -1,
        "query_scale": -1,
        "sensitivity": +1,
        "aboves": +1,
    }
    accuracy: ClassVar[str] = (
        "of {count} values each one called above is at least the threshold less {half}, each one called below at most "
        "the threshold plus {half}"
    )

    def __init__(
        self,
        *,
        threshold: Number,
        threshold_scale: Number,
        query_scale: Number,
        aboves: Number = 1,
        sensitivity: Number = 1,
        monotone: bool = False,
        step: Number = 1,
    ) -> None:
        object.__setattr__(self, "threshold", rational(threshold, "threshold"))
        object.__setattr__(self, "threshold_scale", positive(threshold_scale, "threshold_scale"))
        object.__setattr__(self, "query_scale", positive(query_scale, "query_scale"))
        object.__setattr__(self, "aboves", positive_integer(aboves, "aboves"))
        object.__setattr__(self, "sensitivity", positive(sensitivity, "sensitivity"))
        object.__setattr__(self, "monotone", flag(monotone, "monotone"))
        object.__setattr__(self, "step", positive(step, "step"))
        for name in ("threshold", "sensitivity"):
            if (getattr(self, name) / self.step).denominator != 1:
                hint = "Values on the lattice differ by whole steps: round it to one."
                got = f"{name} {getattr(self, name)}, step {self.step}"
                raise ParameterError("must be a whole number of steps", where=name, got=got, hint=hint)

    @classmethod
    def calibrate(
        cls,
        *,
        threshold: Number,
        aboves: Number = 1,
        sensitivity: Number = 1,
        monotone: bool = False,
        step: Number = 1,
        ratio: Number | None = None,
        **guarantee: Unpack[Guarantee],
    ) -> SparseVector:
        """The smallest scales in a fixed `ratio` = query_scale/threshold_scale whose loss meets one guarantee.

        Where no ratio is given it is the cube root of 2c, or of c where monotone, to three decimals: the one at which
        ν − ρ has the least variance. See calibration.md for the five forms of a guarantee.
        """
        make = cls._family(threshold, aboves, sensitivity, monotone, step, ratio)
        return calibrated(goal(**guarantee), make)

    @classmethod
    def for_error(
        cls,
        *,
        error: Number,
        beta: Number,
        queries: Number,
        threshold: Number,
        aboves: Number = 1,
        sensitivity: Number = 1,
        monotone: bool = False,
        step: Number = 1,
        ratio: Number | None = None,
    ) -> SparseVector:
        """The largest scales in that `ratio` whose `error(beta, queries)` is at most `error`."""
        make = cls._family(threshold, aboves, sensitivity, monotone, step, ratio)
        return widest(make, lambda found: found.error(beta, queries), error=error, step=step)

    @classmethod
    def _family(
        cls,
        threshold: Number,
        aboves: Number,
        sensitivity: Number,
        monotone: bool,
        step: Number,
        ratio: Number | None,
    ) -> Callable[[Fraction], SparseVector]:
        """From the threshold's scale to the mechanism."""
        share = _ratio(aboves, flag(monotone, "monotone")) if ratio is None else positive(ratio, "ratio")

        def make(scale: Fraction) -> SparseVector:
            return cls(
                threshold=threshold,
                threshold_scale=scale,
                query_scale=share * scale,
                aboves=aboves,
                sensitivity=sensitivity,
                monotone=monotone,
                step=step,
            )

        return make

    @property
    def loss(self) -> Loss:
        """What all answers of one session leak together: ε and ρ = ε·tanh(ε/2)."""
        paid = self.aboves if self.monotone else 2 * self.aboves
        return stated(self.sensitivity / self.threshold_scale + paid * self.sensitivity / self.query_scale)

    def start(self) -> SparseVectorSession:
        """A session with its own threshold noise: ask it one value after another. Each session costs `loss`."""
        level = int(self.threshold / self.step) + _drawn(self.threshold_scale / self.step)
        return SparseVectorSession(self, level)

    def sample(self, values: ArrayLike) -> NDArray[np.bool_]:
        """The answers of one session to a list of `values`, in order, up to and with the last allowed "above"."""
        exact, _ = lattice_values(values, type(self).__name__)
        if exact.ndim != 1:
            got = f"an array of {exact.ndim} dimensions"
            raise DataError("expected a list of values", where=type(self).__name__, got=got)
        session = self.start()
        return np.fromiter(_until_done(session, exact.tolist()), dtype=bool)

    def words(self, unit: Fraction = Fraction(1)) -> str:
        """How many answers above, and the scales of both noises in the data's unit."""
        level, each = (near(float(scale) * float(unit), 4) for scale in (self.threshold_scale, self.query_scale))
        return f"sparse vector, {self.aboves} above, threshold scale = {level}, query scale = {each}"

    def error(self, beta: Number, queries: Number) -> float:
        """An a such that with probability at least 1 − beta every one of `queries` answers is right up to a.

        Right up to a: "above" only for values ≥ threshold − a, "below" only for values ≤ threshold + a. Half of beta is
        for the threshold's noise, half for the values'; a is the sum of both quantiles, a whole number of steps.
        """
        allowed, count = risk(beta), positive_integer(queries, "queries")
        # Both quantiles in whole steps, so that their sum is rounded once.
        level, each = (
            DiscreteLaplace(scale=scale / self.step).error(allowed / 2, size)
            for scale, size in ((self.threshold_scale, 1), (self.query_scale, count))
        )
        return float_above((Fraction(level) + Fraction(each)) * self.step)

    def finite(self, inputs: Sequence[Sequence[int]]) -> FiniteMechanism:
        """The law of the answers, tuples of bools, for each tuple of values in `inputs`."""
        rows, scale = tuples(inputs), self.threshold_scale / self.step
        guard(2 * _reach(scale) * sum(2 ** len(values) for values in rows), "the sum over the threshold's noise")
        level = int(self.threshold / self.step)
        with precision(_PRECISION):
            # What the sum leaves out is added to each probability as an interval from 0.
            beyond = Ball(0).union(2 * _tail(scale)(_reach(scale) + 1))
            worlds = {values: self._answers(values, level) for values in rows}
            return FiniteMechanism(
                {values: {answers: p + beyond for answers, p in law.items()} for values, law in worlds.items()}
            )

    @classmethod
    def examples(cls) -> Sequence[SparseVector]:
        """One answer above and several, with values that move apart and together."""
        return (
            cls(threshold=0, threshold_scale="1/2", query_scale="1/2"),
            cls(threshold=3, threshold_scale=2, query_scale=5, aboves=2),
            cls(threshold=-1, threshold_scale=2, query_scale=5, aboves=3, monotone=True),
            cls(threshold="0.5", threshold_scale="0.3", query_scale="0.4", sensitivity="0.2", step="0.1"),
        )

    def world(self, k: int = 1) -> World:
        """Three values around the threshold, which all move the same way, and apart where they may."""
        reach, at = k * int(self.sensitivity / self.step), int(self.threshold / self.step)
        values = (at + 1, at, at - 2)
        others = [tuple(value + reach for value in values), (at + 1 - reach, at - reach, at - 2)]
        others += [] if self.monotone else [(at + 1 - reach, at + reach, at - 2 + reach)]
        return self.finite([values, *others]), [(values, other) for other in others]

    @classmethod
    def trials(cls) -> Iterator[Trial]:
        """A list of values, several answers above, and a session that is asked one by one."""
        once = partial(cls, threshold=1, threshold_scale=2, query_scale=4)
        # Monotone: ε = 1/4 + 3·1/4.
        several = partial(cls, threshold=1, threshold_scale=4, query_scale=4, aboves=3, monotone=True)
        apart = ((0,) * 6, (1, 1, 1, 1, 1, -1)), "six values, of which the first five grow and the last falls"
        grown = ((0,) * 6, (1,) * 6), "six values that grow"

        def trial(name: str, make: Callable[[], SparseVector], on: Any, answers: Any, share: Fraction) -> Trial:
            return Trial(
                name=name,
                make=make,
                pair=on[0],
                words=on[1],
                claim="epsilon=1",
                draw=lambda made: one_at_a_time(lambda values: _one_number(answers(made, values))),
                share=share,
                why="Its ε is a limit of ever more values." + ("" if share == 1 else f" {SLOW}"),
                also=("SparseVectorSession",),
            )

        yield trial("a list of values", once, apart, _listed, Fraction(1))
        yield trial("three above", several, grown, _listed, BY_ITSELF)
        yield trial("a session", once, apart, _asked, BY_ITSELF)

    def _answers(self, values: Sequence[int], level: int) -> dict[tuple[bool, ...], Ball]:
        above = _tail(self.query_scale / self.step)
        found: dict[tuple[bool, ...], Ball] = {}
        for z, mass in _masses(self.threshold_scale / self.step):
            # Once the noisy threshold is fixed the answers are independent, up to the last allowed one.
            laws: dict[tuple[bool, ...], Ball] = {(): mass}
            for value in values:
                chance = above(level + z - value)
                ended = {past: p for past, p in laws.items() if sum(past) == self.aboves}
                open_ = {past: p for past, p in laws.items() if past not in ended}
                laws = (
                    ended
                    | {(*past, True): p * chance for past, p in open_.items()}
                    | {(*past, False): p * (1 - chance) for past, p in open_.items()}
                )
            for answers, p in laws.items():
                found[answers] = found.get(answers, Ball(0)) + p
        return found


class SparseVectorSession:
    """One run of a `SparseVector`: a hidden noisy threshold, and how many answers "above" are left.

    `SparseVector.start` makes it; the `level` is the noisy threshold in steps, and secret.
    It belongs to one process and cannot be copied or stored: a copy would answer with the same hidden noise. Threads
    may share it.
    """

    __slots__ = ("_above", "_asked", "_level", "_lock", "_mechanism", "_process")

    def __init__(self, mechanism: SparseVector, level: int) -> None:
        self._mechanism, self._level = mechanism, level
        self._above = self._asked = 0
        self._lock = threading.Lock()
        self._process = os.getpid()

    @property
    def mechanism(self) -> SparseVector:
        """The mechanism that started the session; its `loss` is what the whole session costs."""
        return self._mechanism

    @property
    def asked(self) -> int:
        """How many values were answered."""
        return self._asked

    @property
    def remaining(self) -> int:
        """How many more answers "above" the session gives; at 0 it answers nothing."""
        return self._mechanism.aboves - self._above

    def ask(self, value: int | np.integer[Any]) -> bool:
        """Whether value + ν ≥ threshold + ρ, with fresh noise ν. `value` is an integer that counts lattice steps."""
        exact, scalar = lattice_values(value, "SparseVectorSession")
        if not scalar:
            raise DataError("expected one value", where="SparseVectorSession", got=f"an array of shape {exact.shape}")
        if os.getpid() != self._process:
            hint = "Let one process own it and ask that process."
            raise PrivacyError("belongs to the process that started it", where="SparseVectorSession", hint=hint)
        with self._lock:
            if self.remaining == 0:
                hint = "Start another session; it costs the mechanism's loss again."
                got = f"{self._above} answers above"
                raise PrivacyError(
                    "is over: all answers above are given", where="SparseVectorSession", got=got, hint=hint
                )
            above = int(exact) + _drawn(self._mechanism.query_scale / self._mechanism.step) >= self._level
            self._asked += 1
            self._above += above
            return above

    def __repr__(self) -> str:
        return f"<SparseVectorSession: {self.asked} asked, {self.remaining} above left>"

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        what = "cannot be copied or stored: a copy would answer with the same hidden noise"
        raise PrivacyError(what, where="SparseVectorSession", hint="Share the object itself.")


def _drawn(scale: Fraction) -> int:
    # Not clamped: a clamped threshold would break the shift that the proof makes.
    return discrete_laplace_staircase(scale).draw_one(source(), signed=True)


def _until_done(session: SparseVectorSession, values: Sequence[int]) -> Iterator[bool]:
    for value in values:
        yield session.ask(value)
        if session.remaining == 0:
            return


def _listed(mechanism: SparseVector, values: Sequence[int]) -> list[bool]:
    answers: list[bool] = mechanism.sample(list(values)).tolist()
    return answers


def _asked(mechanism: SparseVector, values: Sequence[int]) -> list[bool]:
    return list(_until_done(mechanism.start(), values))


def _one_number(answers: Sequence[bool]) -> int:
    """The answers as one number: a leading 1, then a binary digit for each."""
    return int("1" + "".join("1" if above else "0" for above in answers), 2)


def _ratio(aboves: object, monotone: bool) -> Fraction:
    # 2b₁² + 2b₂² at a fixed Δ/b₁ + mΔ/b₂ is least where b₂/b₁ = ∛m; rounded down to thousandths.
    paid = positive_integer(aboves, "aboves") * (1 if monotone else 2)
    return Fraction(first(lambda n: (n + 1) ** 3 > paid * 10**9), 1000)


def _reach(scale: Fraction) -> int:
    # q^reach < 2^-CUT_BITS, q = e^{−1/scale}; ln 2 < 0.7.
    return math.ceil(scale * _CUT_BITS * Fraction(7, 10)) + 1


def _masses(scale: Fraction) -> Iterator[tuple[int, Ball]]:
    """P(ρ = z) for |z| ≤ reach."""
    q = (-1 / ball(scale)).exp()
    centre, reach = (1 - q) / (1 + q), _reach(scale)
    return ((z, centre * q ** abs(z)) for z in range(-reach, reach + 1))


def _tail(scale: Fraction) -> Callable[[int], Ball]:
    """m ↦ P(ν ≥ m)."""
    q = (-1 / ball(scale)).exp()

    @cache
    def at_least(m: int) -> Ball:
        return q**m / (1 + q) if m > 0 else 1 - q ** (1 - m) / (1 + q)

    return at_least
