"""Quantiles by cuts: the exponential mechanism in halves of halves, and noisy counts between the cuts."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache, partial
from typing import ClassVar, Final

import numpy as np
from numpy.typing import NDArray

from quincunx.errors import ParameterError
from quincunx.finite import Mechanism as FiniteMechanism
from quincunx.loss import BoundedRangeLaw, Loss, RangesLaw
from quincunx.mechanisms.additive import Additive
from quincunx.mechanisms.depth import Depths
from quincunx.mechanisms.discrete_laplace import DiscreteLaplace
from quincunx.mechanisms.histogram import Histogram, Ladder, differences
from quincunx.mechanisms.mechanism import World
from quincunx.mechanisms.parameters import flag, stated, tuples
from quincunx.mechanisms.permute_and_flip import law_of
from quincunx.mechanisms.raised import raised
from quincunx.mechanisms.ranks import Counted, Ranks, rate_of, read_levels, read_split
from quincunx.mechanisms.trial import BY_ITSELF, SLOW, Trial
from quincunx.noise import uniform_integers
from quincunx.noise.runs import Runs, passing, weights
from quincunx.noise.runs import near as drawn_near
from quincunx.numbers import Ball, Number, ball, near, positive, positive_integer, precision

_PRECISION: Final = 256
# The cuts beside a level are at most this part of the way to the next level, in parts of 2^−20 of it.
_WIDEST: Final = 0.45
_FINE: Final = 2**20
# How many errors of the count, and how many units of score, the cuts beside a level stand off.
_ERRORS: Final = 4.0
_SCORES: Final = 3.0


@dataclass(frozen=True, slots=True, kw_only=True, init=False)
class QuantileCuts(Ranks):
    """Positions that have about the share `level` of the weight below them, for each of `levels`, from one charge.

    A position is drawn with probability proportional to e^{−c·|F(p) − rank|}, first for the middle level, then for
    those on either side among what lies there; `eta` is the range of one such depth, and c follows from it (ranks.md).
    rise: by how many units of score a bucket that holds the rank may stand out beyond that; a level beside which
    nothing is cut again is then a bucket, by permute-and-flip (norm 1) or the exponential mechanism, if nothing is
    counted. None: by the distance alone.
    With `count` and `bins`, which are noise in units of weight and of weight/split, the total is told first, each level
    gets a cut on either side, and the weights between all cuts are told: an answer is then the total, the cuts and the
    counts between them. norm: 1 or 2, in which weights are bounded over groups.
    """

    levels: tuple[Fraction, ...]
    buckets: int
    split: int
    eta: Fraction
    weight: int
    norm: int
    moves: bool
    apart: bool
    count: Additive | None
    bins: Additive | None
    rise: int | None
    tag: ClassVar[str] = "quantile-cuts"
    directions: ClassVar[dict[str, int]] = {"eta": +1}

    def __init__(
        self,
        *,
        levels: Sequence[Number],
        buckets: Number,
        eta: Number,
        weight: Number = 1,
        split: Number = 1,
        norm: Number = 1,
        moves: bool = False,
        apart: bool = True,
        count: Additive | None = None,
        bins: Additive | None = None,
        rise: Number | None = None,
    ) -> None:
        if norm not in (1, 2):
            raise ParameterError("must be 1 or 2", where="norm", got=str(norm)[:40])
        if (count is None) != (bins is None) or not all(isinstance(e, Additive | None) for e in (count, bins)):
            hint = "The count places the cuts, and the bins test them."
            raise ParameterError("give both noises, or neither", where="count, bins", got="one of them", hint=hint)
        given: dict[str, object] = {
            "levels": read_levels(levels),
            "buckets": positive_integer(buckets, "buckets"),
            "split": read_split(split),
            "eta": positive(eta, "eta"),
            "weight": positive_integer(weight, "weight"),
            "norm": int(norm),
            "moves": flag(moves, "moves"),
            "apart": flag(apart, "apart"),
            "count": count,
            "bins": bins,
            "rise": None if rise is None else positive_integer(rise, "rise"),
        }
        for name, value in given.items():
            object.__setattr__(self, name, value)

    @property
    def cuts(self) -> int:
        """How many cuts there are."""
        return len(self.levels) * (1 if self.bins is None else 3)

    @property
    def width(self) -> int:
        """The cuts; with counts also the total, and one count more than there are cuts."""
        return self.cuts if self.bins is None else 2 * self.cuts + 2

    @property
    def depth(self) -> int:
        """How often what lies between cuts is cut again."""
        return self.cuts.bit_length()

    @property
    def loss(self) -> Loss:
        """That of every depth, of the count and of the bins. In norm 2 the squares of a depth's ranges add up to η²;
        a depth with buckets by permute-and-flip is known by ε = η."""
        noises = [each.loss for each in (self.count, self.bins) if each is not None]
        if self.norm == 2:
            return Loss.compose([Loss.of(RangesLaw(square=self.eta**2)) * self.depth, *noises])
        flipped = len({part.depth for part in _parts(self.cuts) if self._whole(part)})
        one = Loss.of(BoundedRangeLaw(eta=self.eta))
        return Loss.compose([one * (self.depth - flipped), *([stated(self.eta) * flipped] if flipped else ()), *noises])

    @property
    def variance(self) -> float:
        return float(self.rate(Fraction(1, 2), several=True)) ** -2

    def words(self, unit: Fraction = Fraction(1)) -> str:
        """Its law, and how many rows one unit of score is."""
        rows = near(float(unit) / float(self.rate(Fraction(1, 2), several=self.depth > 1)), 4)
        counts = "" if self.bins is None else f"; between them {self.bins.words(unit / self.split)}"
        return f"{self.cuts} cuts by the exponential mechanism, scale = {rows} rows{counts}"

    def beyond(self, limit: int, risk: Fraction) -> float | None:
        """Of the counts between cuts."""
        return None if self.bins is None else self.bins.beyond(limit, risk)

    def at(self, answers: NDArray[np.int64], level: Fraction) -> NDArray[np.int64]:
        """The bucket of the cut at a level."""
        place = self.levels.index(level)
        column = place if self.bins is None else 3 * place + 2
        return np.minimum(answers[:, column] // self.split, self.buckets - 1)

    def counted(self, answers: NDArray[np.int64]) -> Counted | None:
        """What follows the total in each answer."""
        if self.bins is None:
            return None
        cuts, between = answers[:, 1 : self.cuts + 1], answers[:, self.cuts + 1 :]
        return Counted(cuts=cuts, between=between, split=self.split, noise=self.bins)

    def draw(self, given: Histogram) -> list[int]:
        ladder = Ladder(given, self.buckets, self.split)
        if self.count is None or self.bins is None:
            return self._cut(ladder, self.levels)
        total = self.count.sample(ladder.total // self.split)
        places = self._cut(ladder, self.around(total))
        between = differences([0, *(ladder.at(place) for place in places), ladder.total])
        return [total, *places, *self.bins.sample(between).tolist()]

    def around(self, total: int) -> tuple[Fraction, ...]:
        """Each level with one beside it on either side, as far off as counts will tell them apart."""
        found: list[Fraction] = []
        ends, reaches = (Fraction(0), *self.levels, Fraction(1)), _reaches(self)
        for index, (before, level, after) in enumerate(zip(ends, ends[1:], ends[2:], strict=False)):
            spacing = min(level - before, after - level)
            share = min(reaches[index] / total / float(spacing), _WIDEST) if total > 0 else _WIDEST
            off = spacing * Fraction(max(math.floor(share * _FINE), 1), _FINE)
            found += [level - off, level, level + off]
        return tuple(found)

    def rate(self, level: Fraction, *, several: bool) -> Fraction:
        """c for a share of a part's weight; several: whether there are other parts at its depth."""
        apart = self.apart or several
        return rate_of(self.eta, self.weight, level, norm=self.norm, moves=self.moves, several=apart)

    def _cut(self, ladder: Ladder, levels: Sequence[Fraction]) -> list[int]:
        found: dict[int, int] = {}
        for part in _parts(len(levels)):
            given = self._part(ladder, levels, part, found)
            if not self._whole(part):
                found[part.middle] = given.first + drawn_near(given.runs, given.target, given.rate)
                continue
            depths, rate = self._depths(given, ladder)
            if self.norm == 1:
                passed = np.flatnonzero(passing(depths.each(), rate))
                bucket = int(passed[uniform_integers(len(passed))])
            else:
                bucket = drawn_near(depths.runs(), Fraction(0), rate)
            found[part.middle] = self._start(given, bucket)
        return [found[index] for index in range(len(levels))]

    def _whole(self, part: _Part) -> bool:
        """Whether a bucket is enough, because nothing is cut beside it and nothing counted."""
        alone = part.middle - part.before == part.after - part.middle == 1
        return self.rise is not None and self.bins is None and alone

    def _depths(self, given: _Given, ladder: Ladder) -> tuple[Depths, Fraction]:
        """How deep the rank lies in each bucket of a part, and c for it."""
        buckets = max(-(-given.last // self.split) - given.first // self.split, 1)
        depths = Depths.of(ladder.between(given.first, given.last), given.level, buckets)
        return depths, given.rate / given.level.denominator

    def _start(self, given: _Given, bucket: int) -> int:
        """The first position of a bucket of a part."""
        return max((given.first // self.split + bucket) * self.split, given.first)

    def _part(self, ladder: Ladder, levels: Sequence[Fraction], part: _Part, found: dict[int, int]) -> _Given:
        first, last = found.get(part.before, 0), found.get(part.after, ladder.end)
        low = levels[part.before] if part.before >= 0 else Fraction(0)
        high = levels[part.after] if part.after < len(levels) else Fraction(1)
        level = (levels[part.middle] - low) / (high - low)
        start, end = ladder.at(first), ladder.at(last)
        rate = self.rate(level, several=part.depth > 0) / self.split
        target, runs = start + level * (end - start), ladder.runs(first, last)
        if self.rise is not None and not self._whole(part):
            # In whole units of F: less is as good a score.
            runs = raised(runs, end, target, math.floor(self.rise / rate))
        return _Given(first=first, last=last, level=level, target=target, runs=runs, rate=rate)

    def finite(self, inputs: Sequence[Sequence[int]]) -> FiniteMechanism:
        """The exact law of the cuts for each tuple of weights in `inputs`; where there are counts, at a total of 0."""
        levels = self.levels if self.bins is None else self.around(0)
        with precision(_PRECISION):
            return FiniteMechanism({row: self._law(row, levels) for row in tuples(inputs)})

    def _law(self, row: tuple[int, ...], levels: Sequence[Fraction]) -> dict[Hashable, object]:
        ladder = Ladder(Histogram.of(np.array(row, dtype=np.int64)), self.buckets, self.split)
        laws: list[tuple[dict[int, int], Ball]] = [({}, Ball(1))]
        for part in _parts(len(levels)):
            wider: list[tuple[dict[int, int], Ball]] = []
            for found, chance in laws:
                law = self._part_law(ladder, part, self._part(ladder, levels, part, found))
                wider += [({**found, part.middle: place}, chance * size) for place, size in law]
            laws = wider
        return {tuple(found[index] for index in range(len(levels))): chance for found, chance in laws}

    def _part_law(self, ladder: Ladder, part: _Part, given: _Given) -> list[tuple[int, Ball]]:
        """The chance of every position of a part, or of the first ones of its buckets."""
        if not self._whole(part):
            sizes = weights(given.runs, given.target, given.rate)
            total = sum(sizes, Ball(0))
            return [(given.first + i, size / total) for i, size in enumerate(sizes)]
        depths, rate = self._depths(given, ladder)
        sizes = [(-ball(gap * rate)).exp() for gap in depths.each().tolist()]
        total = sum(sizes, Ball(0))
        law = law_of(sizes) if self.norm == 1 else [size / total for size in sizes]
        return [(self._start(given, bucket), chance) for bucket, chance in enumerate(law)]

    @classmethod
    def examples(cls) -> Sequence[QuantileCuts]:
        """One level and several, people who come and go or change places, and counts between the cuts."""
        noise = DiscreteLaplace(scale=4)
        return (
            cls(levels=["1/2"], buckets=2, eta="1/2"),
            cls(levels=["1/4", "1/2", "9/10"], buckets=2, split=2, eta=1, weight=2),
            cls(levels=["1/10", "3/4"], buckets=3, eta=2, moves=True),
            cls(levels=["9/10"], buckets=3, split=2, eta=1, weight=3, moves=True, apart=False),
            cls(levels=["1/4", "1/2"], buckets=3, eta="1/2", norm=2, moves=True),
            cls(levels=["1/4", "1/2", "9/10"], buckets=2, split=2, eta=1, weight=2, rise=1),
            cls(levels=["1/10", "3/4"], buckets=3, split=2, eta=1, norm=2, moves=True, rise=3),
            cls(
                levels=["1/3"], buckets=2, split=2, eta="1/5", count=noise, bins=DiscreteLaplace(scale=8, sensitivity=2)
            ),
        )

    def world(self, k: int = 1) -> World:
        """A few weights at the ends, and those of k changes wherever they may lie."""
        inputs, pairs = self.finite_inputs(k)
        return self.finite(inputs), list(pairs)

    @classmethod
    def trials(cls) -> Iterator[Trial]:
        """Three levels, with and without somebody at the end: no worse than claimed."""
        for epsilon in ("1", "2"):
            yield Trial(
                name=f"ε = {epsilon}",
                make=partial(cls, levels=["1/4", "1/2", "3/4"], buckets=3, split=2, eta=Fraction(epsilon) / 2),
                pair=((1, 0, 1), (1, 0, 2)),
                words="one row more in the last bucket",
                claim=f"epsilon={epsilon}",
                share=BY_ITSELF,
                why=f"Its ε is a limit of ever less likely cuts. {SLOW}",
            )


@lru_cache(maxsize=64)
def _reaches(cuts: QuantileCuts) -> list[float]:
    """How much weight off each level the cuts beside it stand."""
    spread = 0.0 if cuts.bins is None else math.sqrt(cuts.bins.variance) / cuts.split
    score = _SCORES / float(cuts.rate(Fraction(3, 4), several=True))
    return [
        _ERRORS * spread * math.sqrt((1 - a) ** 2 * (3 * i + 2) + a**2 * (cuts.cuts - 3 * i - 1)) + score
        for i, a in enumerate(map(float, cuts.levels))
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Given:
    """What a cut is drawn from: the positions of a part, the share and the rank wanted of it, and c for a position."""

    first: int
    last: int
    level: Fraction
    target: Fraction
    runs: Runs
    rate: Fraction


@dataclass(frozen=True, slots=True, kw_only=True)
class _Part:
    """Which cut is drawn between which; −1 and the number of cuts stand for the ends."""

    before: int
    middle: int
    after: int
    depth: int


def _parts(count: int) -> list[_Part]:
    """All cuts, those that lie between others after them: each half's middle, at a depth of bit_length(count)."""
    found, pending = [], [(-1, count, 0)]
    while pending:
        before, after, depth = pending.pop(0)
        if after - before > 1:
            middle = before + 1 + (after - before - 1) // 2
            found.append(_Part(before=before, middle=middle, after=after, depth=depth))
            pending += [(before, middle, depth + 1), (middle, after, depth + 1)]
    return found
