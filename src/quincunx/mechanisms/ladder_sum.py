"""A sum whose bound is chosen first: a rung of a public ladder by the exponential mechanism, then noise for it."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import ClassVar, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from quincunx import noise as exact_noise
from quincunx.errors import DataError, ParameterError
from quincunx.finite import Mechanism as FiniteMechanism
from quincunx.loss import BoundedRangeLaw, Loss, StatedLaw
from quincunx.mechanisms.additive import Additive, lattice_values
from quincunx.mechanisms.discrete_gaussian import DiscreteGaussian
from quincunx.mechanisms.discrete_laplace import DiscreteLaplace
from quincunx.mechanisms.ladder_choice import heights
from quincunx.mechanisms.mechanism import Mechanism, World
from quincunx.mechanisms.parameters import stated, tuples
from quincunx.mechanisms.trial import BY_ITSELF, SLOW, Trial
from quincunx.numbers import Ball, Number, ball, near, positive, positive_integer, precision

_PRECISION: Final = 256
# In small worlds answers are clamped so far beyond the sums.
_REACH: Final = 6


@dataclass(frozen=True, slots=True, kw_only=True, init=False)
class LadderSum(Mechanism):
    """One of several rungs with probability proportional to e^{−η·G/weight − steep·rung}, then the noisy sum at it.

    An input is a row for each group: the weight that ends at each rung, then the sum at each rung, all in lattice
    units. G is the weight above a rung, over all groups: one rung is drawn for all of them. `eta` is the range of that
    choice where the rows of those who may change weigh at most `weight`. `noise` is for a distance of 1; `squares` are
    the squares of the distances by which the sums at each rung may move, in its norm. An answer is the rung and the
    noisy sum.
    """

    eta: Fraction
    weight: int
    squares: tuple[Fraction, ...]
    noise: Additive
    steep: Fraction
    tag: ClassVar[str] = "ladder-sum"
    room: ClassVar[str] = "choices"
    directions: ClassVar[dict[str, int]] = {"eta": +1}

    def __init__(
        self, *, eta: Number, weight: Number, squares: Sequence[Number], noise: Additive, steep: Number = 3
    ) -> None:
        if isinstance(squares, str) or not isinstance(squares, Sequence) or not squares:
            raise ParameterError("expected a square for each rung", where="squares", got=type(squares).__name__)
        if not isinstance(noise, Additive):
            raise ParameterError("expected noise that is added to numbers", where="noise", got=type(noise).__name__)
        distance = [noise.parameters().get(name, Fraction(1)) for name in ("sensitivity", "sensitivity2", "step")]
        if distance != [1, 1, 1]:
            raise ParameterError("expected noise for a distance of 1, in steps of 1", where="noise", got=noise.words())
        object.__setattr__(self, "eta", positive(eta, "eta"))
        object.__setattr__(self, "weight", positive_integer(weight, "weight"))
        object.__setattr__(self, "squares", tuple(positive(each, "squares") for each in squares))
        object.__setattr__(self, "noise", noise)
        object.__setattr__(self, "steep", positive(steep, "steep"))

    @property
    def loss(self) -> Loss:
        """That of bounded range η, and of the noise: by its parameters alone where laws differ from rung to rung."""
        losses, spread = [self.at(rung).loss for rung in range(len(self.squares))], self.noise.spread
        if all(each == losses[0] for each in losses):
            of_noise = losses[0]
        else:
            rho = StatedLaw(epsilon=None, rho=1 / (2 * spread))
            of_noise = stated(1 / spread) if self.noise.norm == 1 else Loss.of(rho)
        return Loss.of(BoundedRangeLaw(eta=self.eta)) + of_noise

    @property
    def norm(self) -> int:
        """In which norm the sums of all groups may move: 1 or 2."""
        return self.noise.norm

    @property
    def variance(self) -> float:
        """That of the noise at the highest rung."""
        return self.at(len(self.squares) - 1).variance

    def at(self, rung: int) -> Additive:
        """The noise of the sum at a rung."""
        return self.noise.stretched(self.squares[rung])

    def words(self, unit: Fraction = Fraction(1)) -> str:
        """Its law; the noise is that at the highest rung."""
        highest = self.at(len(self.squares) - 1).words(unit)
        return f"a rung by the exponential mechanism, η = {near(float(self.eta), 4)}; at the highest {highest}"

    def beyond(self, limit: int, risk: Fraction) -> float | None:
        """Of the noise at any rung: a refusal after the choice would tell of it."""
        found = [self.at(rung).beyond(limit, risk) for rung in range(len(self.squares))]
        return max((each for each in found if each is not None), default=None)

    def sample(self, values: ArrayLike) -> NDArray[np.int64]:
        """The rung and the noisy sum for one row; of a table of rows an answer for each, by itself."""
        exact, _ = lattice_values(values, type(self).__name__)
        if exact.ndim not in (1, 2) or exact.shape[-1] != 2 * len(self.squares):
            got = f"an array of shape {exact.shape}"
            what = f"expected weights and sums of {len(self.squares)} rungs"
            raise DataError(what, where=type(self).__name__, got=got)
        if exact.ndim == 1:
            return np.asarray(self.each(exact[np.newaxis])[0])
        return np.concatenate([self.each(row[np.newaxis]) for row in exact])

    def each(self, exact: NDArray[np.int64]) -> NDArray[np.int64]:
        """One rung for all rows together, which are the groups of one question, and the noisy sum of each at it."""
        rungs = len(self.squares)
        if not len(exact):
            return np.zeros((0, 2), dtype=np.int64)
        rung = int(exact_noise.choice(self.heights(exact[:, :rungs].astype(object).sum(axis=0).tolist()), size=1)[0])
        noisy = self.at(rung).each(exact[:, rungs + rung])
        return np.column_stack((np.full(len(exact), rung, dtype=np.int64), noisy))

    def heights(self, weights: Sequence[int]) -> list[Fraction]:
        """The logarithm of each rung's chance, but for a constant: weight that ends there does not lie above it."""
        return heights(weights, self.eta, self.weight, self.steep)

    def finite(self, inputs: Sequence[Sequence[int]]) -> FiniteMechanism:
        """The exact law of the rung and the noisy sum for each tuple of weights and sums, sums clamped far off."""
        rows, rungs = tuples(inputs), len(self.squares)
        with precision(_PRECISION):
            noisy = [self.at(i).finite(sorted({row[rungs + i] for row in rows}), reach=_REACH) for i in range(rungs)]
            return FiniteMechanism({row: self._law(row, noisy) for row in rows})

    def _law(self, row: tuple[int, ...], noisy: Sequence[FiniteMechanism]) -> dict[Hashable, object]:
        sizes = [ball(each).exp() for each in self.heights(row[: len(noisy)])]
        total = sum(sizes, Ball(0))
        found: dict[Hashable, object] = {}
        for rung, (size, sums) in enumerate(zip(sizes, noisy, strict=True)):
            law = zip(sums.outputs, sums.law(row[len(noisy) + rung]), strict=True)
            found |= {(rung, answer): size / total * ball(chance) for answer, chance in law}
        return found

    @classmethod
    def examples(cls) -> Sequence[LadderSum]:
        """Two and three rungs, of both kinds of noise, people who weigh one unit or several."""
        return (
            cls(eta="1/2", weight=1, squares=[1, 4], noise=DiscreteLaplace(scale=1)),
            cls(eta=1, weight=3, squares=[1, 4, 25], noise=DiscreteLaplace(scale="1/2")),
            cls(eta="1/4", weight=2, squares=[1, 9], noise=DiscreteGaussian(sigma=1), steep="1/2"),
            cls(eta=2, weight=1, squares=[4], noise=DiscreteLaplace(scale=2)),
        )

    def world(self, k: int = 1) -> World:
        """A few rows at the lowest and the highest rung, and k changes that end at any rung."""
        rungs = len(self.squares)
        stays = (2, *(0 for _ in range(rungs - 2)), *((1,) if rungs > 1 else ()), *(0 for _ in range(rungs)))
        others = []
        for end in range(rungs):
            weights = [k * self.weight if rung == end else 0 for rung in range(rungs)]
            # A value that ends at a rung moves the sums at lower ones as far as they can be moved.
            sums = [k * math.isqrt(math.floor(self.squares[min(rung, end)])) for rung in range(rungs)]
            others.append(tuple(a + b for a, b in zip(stays, [*weights, *sums], strict=True)))
        return self.finite([stays, *others]), [(stays, other) for other in others]

    @classmethod
    def trials(cls) -> Iterator[Trial]:
        """Somebody who ends at the highest rung, and moves all sums."""
        for epsilon in ("1", "2"):
            quarter = Fraction(epsilon) / 4
            noise = DiscreteLaplace(scale=1 / (3 * quarter))
            yield Trial(
                name=f"ε = {epsilon}",
                make=partial(cls, eta=quarter, weight=1, squares=[1, 4], noise=noise),
                pair=((3, 0, 0, 0), (3, 1, 1, 2)),
                words="one row more, beyond the lowest rung",
                claim=f"epsilon={epsilon}",
                share=BY_ITSELF,
                why=f"The part of the choice is a limit of ever less likely rungs. {SLOW}",
            )
