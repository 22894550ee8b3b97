"""A rung of a public ladder by the exponential mechanism: the lowest above which few lie. See ladder_choice.md."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import ClassVar, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from quincunx import noise as exact_noise
from quincunx.errors import DataError
from quincunx.finite import Mechanism as FiniteMechanism
from quincunx.loss import BoundedRangeLaw, Loss
from quincunx.mechanisms.additive import lattice_values
from quincunx.mechanisms.histogram import Histograms
from quincunx.mechanisms.mechanism import Mechanism, World
from quincunx.mechanisms.parameters import tuples
from quincunx.mechanisms.trial import BY_ITSELF, SLOW, Trial
from quincunx.numbers import Ball, Number, ball, near, positive, positive_integer, precision

_PRECISION: Final = 256


@dataclass(frozen=True, slots=True, kw_only=True, init=False)
class LadderChoice(Mechanism):
    """One of `rungs` rungs with probability proportional to e^{−η·G/weight − steep·rung}.

    An input is the weight that ends at each rung, then the weight beyond the last; G is the weight above a rung. `eta`
    is the range of the choice where those who may change weigh at most `weight` on either side.
    """

    eta: Fraction
    weight: int
    rungs: int
    steep: Fraction
    tag: ClassVar[str] = "ladder-choice"
    room: ClassVar[str] = "choices"
    directions: ClassVar[dict[str, int]] = {"eta": +1}

    def __init__(self, *, eta: Number, rungs: Number, weight: Number = 1, steep: Number = 3) -> None:
        object.__setattr__(self, "eta", positive(eta, "eta"))
        object.__setattr__(self, "weight", positive_integer(weight, "weight"))
        object.__setattr__(self, "rungs", positive_integer(rungs, "rungs"))
        object.__setattr__(self, "steep", positive(steep, "steep"))

    @property
    def loss(self) -> Loss:
        """That of bounded range η."""
        return Loss.of(BoundedRangeLaw(eta=self.eta))

    def words(self, unit: Fraction = Fraction(1)) -> str:
        """Its law, and how many people one unit of score is."""
        scale = near(float(unit) * self.weight / float(self.eta), 4)
        return f"one of {self.rungs} rungs by the exponential mechanism, scale = {scale}"

    def sample(self, values: ArrayLike) -> NDArray[np.int64]:
        """The rung for one row of weights; of a table of rows a rung for each, by itself."""
        exact, _ = lattice_values(values, type(self).__name__)
        if exact.ndim not in (1, 2) or exact.shape[-1] != self.rungs + 1:
            got = f"an array of shape {exact.shape}"
            what = f"expected weights of {self.rungs} rungs, and beyond them"
            raise DataError(what, where=type(self).__name__, got=got)
        if exact.ndim == 1:
            return np.array(self._draw(exact.tolist()), dtype=np.int64)
        return np.array([self._draw(row) for row in exact.tolist()], dtype=np.int64)

    def each(self, exact: Histograms) -> NDArray[np.int64]:
        """A rung for each histogram of the rungs that rows end at."""
        rows = [given.dense() for given in exact]
        found = [self._draw([row.get(place, 0) for place in range(self.rungs + 1)]) for row in rows]
        return np.array(found, dtype=np.int64)

    def _draw(self, weights: Sequence[int]) -> int:
        return int(exact_noise.choice(self.heights(weights), size=1)[0])

    def heights(self, weights: Sequence[int]) -> list[Fraction]:
        """The logarithm of each rung's chance, but for a constant; the last weight lies above every rung."""
        found = heights(weights[:-1], self.eta, self.weight, self.steep)
        # What lies beyond the ladder lies above all rungs alike.
        return [each - self.eta * Fraction(weights[-1], self.weight) for each in found]

    def finite(self, inputs: Sequence[Sequence[int]]) -> FiniteMechanism:
        """The exact law of the rung for each tuple of weights in `inputs`."""
        with precision(_PRECISION):
            return FiniteMechanism({row: self._law(row) for row in tuples(inputs)})

    def _law(self, row: tuple[int, ...]) -> dict[Hashable, object]:
        sizes = [ball(each).exp() for each in self.heights(row)]
        total = sum(sizes, Ball(0))
        return {rung: size / total for rung, size in enumerate(sizes)}

    @classmethod
    def examples(cls) -> Sequence[LadderChoice]:
        """One rung and several, people who weigh one unit or several."""
        return (
            cls(eta="1/2", rungs=2),
            cls(eta=1, rungs=3, weight=3),
            cls(eta="1/4", rungs=4, weight=2, steep="1/2"),
            cls(eta=2, rungs=1),
        )

    def world(self, k: int = 1) -> World:
        """A few at the lowest rung and beyond the ladder, and k changes that end anywhere, or elsewhere before."""
        stays = (2, *(0 for _ in range(self.rungs - 1)), 1)
        ends = [
            tuple(each + k * self.weight * (place == end) for place, each in enumerate(stays))
            for end in range(self.rungs + 1)
        ]
        pairs: list[tuple[Hashable, Hashable]] = [(stays, other) for other in ends]
        # Somebody who is replaced: no more than somebody who comes.
        pairs += [(one, other) for place, one in enumerate(ends) for other in ends[place + 1 :]]
        return self.finite([stays, *ends]), pairs

    @classmethod
    def trials(cls) -> Iterator[Trial]:
        """Somebody who lies beyond the lowest of two rungs."""
        for epsilon in ("1", "2"):
            yield Trial(
                name=f"ε = {epsilon}",
                make=partial(cls, eta=Fraction(epsilon), rungs=2, steep="1/2"),
                pair=((3, 0, 0), (3, 1, 0)),
                words="one more, beyond the lowest rung",
                claim=f"epsilon={epsilon}",
                share=BY_ITSELF,
                why=f"Its ε is a limit of ever less likely rungs. {SLOW}",
            )


def heights(weights: Sequence[int], eta: Fraction, weight: int, steep: Fraction) -> list[Fraction]:
    """−η·G/weight − steep·rung for each rung: weight that ends there does not lie above it."""
    above, found = sum(weights), []
    for rung, here in enumerate(weights):
        above -= here
        found.append(-eta * Fraction(above, weight) - steep * rung)
    return found
