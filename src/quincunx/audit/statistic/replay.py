"""Neighbour replay of anything callable: a statistic before noise against its declared sensitivity. See replay.md."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Final, Generic, TypeVar

from quincunx.audit.spaces.literal import literal
from quincunx.audit.spaces.space import Space, expect
from quincunx.audit.statistic.compare import KEYS, NORMS, Difference, Keys, Norm, compare
from quincunx.audit.statistic.output import Output, call, foreign
from quincunx.audit.statistic.report import Counterexample, Kind, StatisticReplay
from quincunx.errors import ParameterError
from quincunx.numbers import Number, non_negative, positive_integer

W = TypeVar("W")

_CASES: Final = 300
# A neighbour that is the same world is drawn again, so often.
_TRIES: Final = 40
# The first so many worlds are asked twice; so is every world that breaks something.
_TWICE: Final = 5
_SHRINKS: Final = 4_000


def replay_statistic(
    statistic: Callable[[Any], Any],
    *,
    space: Space[W],
    norm: Norm,
    sensitivity: Number | None = None,
    sensitivity2: Number | None = None,
    cases: int | None = None,
    series: Number = 0,
    keys: Keys = "fixed",
    name: str | None = None,
) -> StatisticReplay:
    """Compare a statistic on neighbouring worlds with its declared sensitivity. Reads no data.

    statistic: a function of one world, without noise, whose result is a number, a sequence or a mapping of numbers, or
    a NumPy array. sensitivity: the largest ‖f(x) − f(x')‖ over neighbours, in `norm`: "l1", "l2" or "linf"; or
    sensitivity2, its square, where that is rational and the number itself is not. cases: how many pairs are drawn; left
    out: 300, and all of a space that lists its pairs. series: which pairs; equal series give equal reports. keys: of
    mappings: "fixed", the same in both worlds and in one order; "ordered", a key may be missing, which counts as 0,
    and those of both worlds stand in one order; "free", the order is not looked at. name: for the report.
    """
    expect(statistic, Callable, where="statistic", hint="Give a function of one world.")  # type: ignore[arg-type]
    expect(space, Space, where="space", hint="Take one from quincunx.audit.spaces, or write a class that is a Space.")
    for each, allowed, what in ((norm, NORMS, "norm"), (keys, KEYS, "keys")):
        if each not in allowed:
            hint = f"Choose among {', '.join(allowed)}."
            raise ParameterError(f"unknown {what}", where="replay_statistic", got=repr(each)[:40], hint=hint)
    declared2 = _declared2(sensitivity, sensitivity2)
    named = name or getattr(statistic, "__name__", "statistic").replace("<lambda>", "statistic")
    return _Run(statistic=statistic, space=space, norm=norm, declared2=declared2, keys=keys, name=named).report(
        cases, series
    )


def _declared2(sensitivity: object, sensitivity2: object) -> Fraction:
    if (sensitivity is None) == (sensitivity2 is None):
        got = "neither" if sensitivity is None else "both"
        raise ParameterError("give sensitivity or sensitivity2, its square", where="replay_statistic", got=got)
    if sensitivity is None:
        return non_negative(sensitivity2, "sensitivity2")
    return non_negative(sensitivity, "sensitivity") ** 2


@dataclass(slots=True)
class _Broken(Generic[W]):
    """A pair that broke something, with its distance in the space."""

    before: W
    after: W
    distance: Fraction
    found: Difference


@dataclass(slots=True, kw_only=True)
class _Run(Generic[W]):
    statistic: Callable[[Any], Any]
    space: Space[W]
    norm: Norm
    declared2: Fraction
    keys: Keys
    name: str
    tally: dict[str, tuple[int, float, int]] = field(default_factory=dict)
    raised: int = 0
    # part → the smallest pair so far
    broken: dict[str, _Broken[W]] = field(default_factory=dict)

    def report(self, cases: int | None, series: object) -> StatisticReplay:
        for i, (before, after, distance) in enumerate(self._pairs(cases, series)):
            self._case(before, after, distance, twice=i < _TWICE)
        kinds = [Kind(name=name, cases=n, largest=most, violations=bad) for name, (n, most, bad) in self.tally.items()]
        return StatisticReplay(
            statistic=self.name,
            space=self.space.words(),
            norm=self.norm,
            declared2=self.declared2,
            kinds=tuple(sorted(kinds, key=lambda kind: kind.name)),
            raised=self.raised,
            counterexamples=tuple(self._small(each) for _, each in sorted(self.broken.items())),
        )

    def _pairs(self, cases: int | None, series: object) -> Iterator[tuple[W, W, Fraction]]:
        listed = self.space.listed()
        if listed is not None:
            if cases is not None:
                hint = "Leave cases out: every pair of this space is tried."
                raise ParameterError("the pairs are listed", where="replay_statistic", got=f"cases={cases}", hint=hint)
            yield from listed
            return
        for i in range(positive_integer(_CASES if cases is None else cases, "cases")):
            # A source for each case, so that a case does not depend on how many went before.
            source = random.Random(f"{series} {i}")
            yield self._drawn(source)

    def _drawn(self, source: random.Random) -> tuple[W, W, Fraction]:
        for _ in range(_TRIES):
            before = self.space.draw(source)
            after = self.space.neighbour(before, source)
            if not self.space.same(before, after):
                # Either of them may be the first.
                return (before, after, Fraction(1)) if source.random() < 0.5 else (after, before, Fraction(1))
        what = f"{_TRIES} worlds in a row were their own neighbours"
        raise ParameterError(what, where=self.space.words(), hint="The space must change something.")

    def _case(self, before: W, after: W, distance: Fraction, *, twice: bool) -> None:
        outputs, found = self._compared(before, after, distance)
        for world, output in zip((before, after), outputs, strict=True):
            if output.foreign:
                raise foreign(output, self.space.given(world))
        if (twice or found.part) and not self._stable(before, outputs[0]):
            found = Difference(part="unstable", words=outputs[0].shown)
        if outputs[0].raised and not found.part:
            self.raised += 1
            return
        kind = self.space.kind(before, after)
        cases, largest, violations = self.tally.get(kind, (0, 0.0, 0))
        ratio = 0.0 if found.gap is None else found.gap.ratio
        self.tally[kind] = (cases + 1, max(largest, ratio), violations + bool(found.part))
        if found.part:
            self._keep(_Broken(before, after, distance, found))

    def _keep(self, broken: _Broken[W]) -> None:
        known = self.broken.get(broken.found.part)
        if known is None or self._length(broken) < self._length(known):
            self.broken[broken.found.part] = broken

    def _length(self, broken: _Broken[W]) -> int:
        return sum(len(literal(self.space.given(world))) for world in (broken.before, broken.after))

    def _compared(self, before: W, after: W, distance: Fraction) -> tuple[tuple[Output, Output], Difference]:
        first, second = (call(self.statistic, self.space.given(world)) for world in (before, after))
        allowed2 = self.declared2 * distance**2
        return (first, second), compare(first, second, norm=self.norm, allowed2=allowed2, keys=self.keys)

    def _stable(self, world: W, output: Output) -> bool:
        return call(self.statistic, self.space.given(world)).visible() == output.visible()

    def _small(self, broken: _Broken[W]) -> Counterexample:
        """The pair made small while it breaks the same part."""
        tried, again = 0, broken.found.part != "unstable"
        while again:
            again = False
            for before, after in self.space.smaller(broken.before, broken.after):
                if tried >= _SHRINKS:
                    break
                if self.space.same(before, after):
                    continue
                tried += 1
                _, found = self._compared(before, after, broken.distance)
                if found.part == broken.found.part:
                    broken, again = _Broken(before, after, broken.distance, found), True
                    break
        (first, second), _ = self._compared(broken.before, broken.after, broken.distance)
        return Counterexample(
            statistic=self.name,
            part=broken.found.part,
            words=broken.found.words,
            norm=self.norm,
            gap=broken.found.gap if broken.found.part == "distance" else None,
            before=self.space.given(broken.before),
            after=self.space.given(broken.after),
            results=(first.shown, second.shown),
        )
