"""What selecting mechanisms share: candidates in a fixed order, integer scores, the place of one of them as the answer.

Scores are integers that count lattice steps: the value s stands for s·step in the scores' own unit, in which `scale`,
`sensitivity` and `error` are stated. The order of the candidates is the caller's and must not depend on the data.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import ClassVar, Final, Self, Unpack, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from quincunx.errors import DataError, ParameterError
from quincunx.finite import Mechanism as FiniteMechanism
from quincunx.mechanisms.additive import lattice_values
from quincunx.mechanisms.calibration import widest
from quincunx.mechanisms.mechanism import World
from quincunx.mechanisms.parameters import first, flag, risk, tuples
from quincunx.mechanisms.scaled import Scaled, Shape
from quincunx.mechanisms.trial import BY_ITSELF, SLOW, STRENGTHS, Trial, one_at_a_time
from quincunx.numbers import Ball, Number, ball, float_above, positive, positive_integer, precision

_PRECISION: Final = 512
_HINT: Final = "Scores count lattice steps: divide by the step and take the floor before the mechanism."


@dataclass(frozen=True, slots=True, kw_only=True, init=False)
class Selection(Scaled):
    """A choice among candidates by score. Subclasses say how they choose, with what probabilities and at what loss."""

    scale: Fraction
    sensitivity: Fraction
    monotone: bool
    step: Fraction
    room: ClassVar[str] = "choices"
    directions: ClassVar[Mapping[str, int]] = {"scale": -1, "sensitivity": +1}
    accuracy: ClassVar[str] = "the chosen one of {count} candidates scores within {half} of the best"

    def __init__(self, *, scale: Number, sensitivity: Number = 1, monotone: bool = False, step: Number = 1) -> None:
        object.__setattr__(self, "scale", positive(scale, "scale"))
        object.__setattr__(self, "sensitivity", positive(sensitivity, "sensitivity"))
        object.__setattr__(self, "monotone", flag(monotone, "monotone"))
        object.__setattr__(self, "step", positive(step, "step"))

    @classmethod
    def for_error(cls, *, error: Number, beta: Number, candidates: Number, **shape: Unpack[Shape]) -> Self:
        """The largest scale whose `error(beta, candidates)` is at most `error`; its loss says what that costs."""
        if positive_integer(candidates, "candidates") == 1:
            hint = "One candidate is always chosen: no choice is private or wrong."
            raise ParameterError("must be at least 2", where="candidates", got="1", hint=hint)
        step = shape.get("step", 1)
        return widest(cls._turned(shape), lambda found: found.error(beta, candidates), error=error, step=step)

    @classmethod
    def examples(cls) -> Sequence[Self]:
        """From a choice that is nearly certain to one that is nearly a guess."""
        return (
            cls(scale=2),
            cls(scale="1/10"),
            cls(scale=2, monotone=True),
            cls(scale=5, sensitivity=3),
            cls(scale="0.5", sensitivity="0.2", step="0.1"),
            cls(scale=10**6),
        )

    def world(self, k: int = 1) -> World:
        """Three candidates, whose scores move all up or all down, and apart where they may."""
        reach = k * int(self.sensitivity / self.step)
        scores = (0, 2, 1)
        others = [(reach, 2 + reach, 1), (0, 2 - reach, 1 - reach)]
        others += [] if self.monotone else [(reach, 2 - reach, 1 + reach), (-reach, 2 + reach, 1)]
        return self.finite([scores, *others]), [(scores, other) for other in others]

    @classmethod
    def trials(cls) -> Iterator[Trial]:
        """At every strength in bulk, and once by itself, which is drawn by other code than a table of choices."""
        for epsilon in STRENGTHS:
            yield cls._trial(epsilon, partial(cls, scale=2 / Fraction(epsilon)))
        tried = cls._trial("1", partial(cls, scale=2))
        # Few draws do not come close.
        yield replace(
            tried,
            name=f"{tried.name}, single",
            tight=False,
            draw=lambda choice: one_at_a_time(lambda scores: choice.sample(list(scores))),
            share=BY_ITSELF,
            why=f"{tried.why} {SLOW}".lstrip(),
        )

    @classmethod
    @abstractmethod
    def _trial(cls, epsilon: str, make: Callable[[], Self]) -> Trial:
        """The pair of scores on which it comes closest to this ε."""

    @abstractmethod
    def _pick(self, scores: Sequence[int]) -> int:
        """The place of one candidate, drawn."""

    @abstractmethod
    def _picks(self, scores: Sequence[int], count: int) -> NDArray[np.int64]:
        """`count` independent draws of `_pick`, in bulk: the same law."""

    @abstractmethod
    def _missed(self, others: int, weight: Ball) -> Ball:
        """P(the best is not chosen) against `others` candidates, each e^{−gap/scale} = `weight`."""

    @abstractmethod
    def _law(self, gaps: Sequence[Fraction]) -> list[Ball]:
        """The probability of each place, given how far each score is below the best."""

    @property
    def _epsilon(self) -> Fraction:
        # Scores that move apart move by twice the sensitivity relative to each other.
        return (1 if self.monotone else 2) * self.sensitivity / self.scale

    @overload
    def sample(self, scores: Sequence[int]) -> int: ...

    @overload
    def sample(self, scores: ArrayLike) -> int | NDArray[np.int64]: ...

    def sample(self, scores: ArrayLike) -> int | NDArray[np.int64]:
        """The place, from 0, of the chosen candidate. `scores` holds one integer for each, clamped to ±(2^62 − 1).

        A table of scores is one choice for each row, each with noise of its own, and gives an int64 array.
        """
        exact, _ = lattice_values(scores, type(self).__name__, hint=_HINT)
        if exact.ndim == 1:
            return self._pick(exact.tolist())
        if exact.ndim != 2:
            got = f"an array of {exact.ndim} dimensions"
            raise DataError("expected one score for each candidate", where=type(self).__name__, got=got)
        if (exact == exact[0]).all():
            return self._picks(exact[0].tolist(), len(exact))
        chosen = np.empty(len(exact), dtype=np.int64)
        rows, which = np.unique(exact, axis=0, return_inverse=True)
        for i, row in enumerate(rows):
            here = np.flatnonzero(which.ravel() == i)
            chosen[here] = self._picks(row.tolist(), here.size)
        return chosen

    def each(self, exact: NDArray[np.int64]) -> NDArray[np.int64]:
        """One choice for each row of scores: the place of its candidate."""
        if exact.ndim != 2:
            got = f"an array of {exact.ndim} dimensions"
            raise DataError("expected a row of scores for each group", where=type(self).__name__, got=got)
        return np.asarray(self.sample(exact)) if len(exact) else np.zeros(0, dtype=np.int64)

    def error(self, beta: Number, candidates: Number) -> float:
        """The smallest a, a whole number of steps, such that for all scores of so many `candidates` the chosen one is
        within a of the best with probability at least 1 − beta.

        It is attained by the worst scores: one best, all others a step beyond a. For given scores the error may be much
        smaller, but that depends on the data: a published error must not. At most scale·ln(candidates/beta).
        """
        allowed, count = risk(beta), positive_integer(candidates, "candidates")

        def enough(steps: int) -> bool:
            weight = (-ball((steps + 1) * self.step / self.scale)).exp()
            return count == 1 or bool(self._missed(count - 1, weight) <= ball(allowed))

        with precision(_PRECISION):
            return float_above(first(enough) * self.step)

    def finite(self, inputs: Sequence[Sequence[int]]) -> FiniteMechanism:
        """The exact law of the chosen place, for each tuple of scores in `inputs`."""
        with precision(_PRECISION):
            laws = {row: self._law([(max(row) - score) * self.step for score in row]) for row in tuples(inputs)}
            return FiniteMechanism({scores: dict(enumerate(law)) for scores, law in laws.items()})
