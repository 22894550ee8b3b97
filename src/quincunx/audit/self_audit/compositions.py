"""The algebra of loss in the catalogue: several answers, parts of a partition, groups of people, random samples."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import partial
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from quincunx import noise
from quincunx.audit.self_audit.entry import Entry
from quincunx.loss import Loss
from quincunx.mechanisms import DiscreteGaussian, DiscreteLaplace, Draw, Gaussian, RandomizedResponse, in_bulk
from quincunx.spec import AddRemove, Replace

ROOM: Final = "composition and sampling"


def entries() -> Iterator[Entry]:
    """What `+`, `*`, `parallel`, `group` and `subsample` say, against joint draws."""
    half, coin = DiscreteLaplace(scale=2), RandomizedResponse(probability="0.75")
    gaussian = DiscreteGaussian(sigma=2)
    yield _entry("two answers", ((0, 0), (1, 1)), "two answers about one person", lambda: 2 * half.loss, in_bulk(half))
    yield _entry("two answers, pure", ((0, 0), (1, 1)), "two answers about one person", "epsilon=1", in_bulk(half))
    # One point of the curve: the whole of it is slow to compute where laws of two families meet.
    yield _entry(
        "two laws",
        (0, 1),
        "a discrete Laplace and a discrete Gaussian answer",
        lambda: f"epsilon=0.5, delta={(half.loss + gaussian.loss).delta('0.5')!r}",
        both(half, gaussian),
    )
    four, coins = ((0,) * 4, (1,) * 4), "four randomized responses of one person"
    yield _entry("four coins", four, coins, lambda: 4 * coin.loss, in_bulk(coin))
    moved, added = (partial(Loss.parallel, [half.loss, half.loss], unit=unit) for unit in (Replace(), AddRemove()))
    yield _entry("parallel, replace", ((1, 0), (0, 1)), "a person who moves between two parts", moved, in_bulk(half))
    yield _entry("parallel, add or remove", ((0, 0), (1, 0)), "a person in one of two parts", added, in_bulk(half))
    yield _entry("a group of 2", (0, 2), "two people at once", partial(half.loss.group, 2), in_bulk(half))
    three = "three people at once"
    yield _entry("a group of 3, Gaussian", (0, 3), three, partial(gaussian.loss.group, 3), in_bulk(gaussian))
    yield from _sampled()


def _sampled() -> Iterator[Entry]:
    one, rate = Gaussian(sigma=1, step="0.01"), Fraction(1, 4)
    drawn = partial(one.loss.subsample, rate, scheme="poisson", unit=AddRemove())
    words = "a person who is there or not, and in the sample with probability 1/4"
    yield _entry("Poisson, Gaussian", (0, 100), words, drawn, sampled(one, rate), kind="sampling")
    yield _entry("Poisson, Gaussian, back", (100, 0), words, drawn, sampled(one, rate), kind="sampling")
    # Two of four people are drawn: each is among them with probability 1/2. The others have 0; the sum moves by 2.
    two, share = Gaussian(sigma=2, sensitivity=2, step="0.01"), Fraction(1, 2)
    replaced = partial(two.loss.subsample, share, scheme="without-replacement", unit=Replace())
    words = "one of four people with another value, two of whom are drawn"
    why = "The dominating pair of the theorem need not be attained by sums."
    yield _entry(
        "2 of 4, Gaussian", (-100, 100), words, replaced, sampled(two, share), kind="sampling", tight=False, why=why
    )
    pure = DiscreteLaplace(scale=1)
    claim = partial(pure.loss.subsample, rate, scheme="poisson", unit=AddRemove())
    words = "a person who is there or not, and in the sample with probability 1/4"
    yield _entry("Poisson, discrete Laplace", (0, 1), words, claim, sampled(pure, rate), kind="sampling")


def both(first: DiscreteLaplace, second: DiscreteGaussian) -> Draw:
    """Two mechanisms on the same value."""

    def draw(value: Any, size: int) -> NDArray[Any]:
        return np.stack([in_bulk(first)(value, size), in_bulk(second)(value, size)], axis=1)

    return draw


def sampled(mechanism: Gaussian | DiscreteLaplace, rate: Fraction) -> Draw:
    """Draws where one person's value counts if they are in the sample, with probability `rate`, and else 0 does."""

    def draw(value: Any, size: int) -> NDArray[Any]:
        chosen = np.asarray(noise.bernoulli(rate, size))
        return np.asarray(mechanism.sample(np.where(chosen, np.int64(value), np.int64(0))))

    return draw


def _entry(
    rest: str,
    pair: tuple[Any, Any],
    words: str,
    claim: str | Callable[[], str | Loss],
    draw: Draw,
    *,
    kind: str = "composition",
    tight: bool = True,
    why: str = "",
) -> Entry:
    return Entry(
        name=f"{kind}, {rest}",
        room=ROOM,
        pair=pair,
        words=words,
        stated=claim,
        tight=tight,
        draw=draw,
        why=why,
    )
