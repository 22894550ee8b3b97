"""Two results side by side: the first thing that tells two neighbouring worlds apart by more than is declared."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Final, Literal, TypeAlias

from quincunx.audit.gap import Gap
from quincunx.audit.spaces.literal import literal
from quincunx.audit.statistic.output import Output, Path, distances

Norm: TypeAlias = Literal["l1", "l2", "linf"]
Keys: TypeAlias = Literal["fixed", "ordered", "free"]

NORMS: Final = ("l1", "l2", "linf")
KEYS: Final = ("fixed", "ordered", "free")


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """What was found. part: "" where nothing broke; words: in a few words; gap: the distance, where there is one."""

    part: str
    words: str = ""
    gap: Gap | None = None


def compare(before: Output, after: Output, *, norm: Norm, allowed2: Fraction, keys: Keys) -> Difference:
    """The distance of two results, or what an observer sees without measuring it. See replay.md for the order."""
    for part, words in _visible(before, after, keys):
        return Difference(part=part, words=words)
    if before.raised:
        return Difference(part="")
    gap = Gap(part="distance", distance2=norm2(norm, distances(before, after)), allowed2=allowed2)
    return Difference(part="" if gap.holds else "distance", gap=gap)


def norm2(norm: Norm, moved: list[Fraction]) -> Fraction:
    """The square of the norm, exactly."""
    if norm == "l1":
        return Fraction(sum(moved)) ** 2
    if norm == "l2":
        return Fraction(sum(each * each for each in moved if each))
    return max(moved, default=Fraction(0)) ** 2


def _visible(before: Output, after: Output, keys: Keys) -> Iterator[tuple[str, str]]:
    if before.raised != after.raised:
        yield "exception", f"{before.raised or 'none'} and {after.raised or 'none'}"
    if before.warned != after.warned:
        yield "warning", f"{', '.join(before.warned) or 'none'} and {', '.join(after.warned) or 'none'}"
    if before.raised:
        return
    for path in _both(before.types, after.types):
        if before.types[path] != after.types[path]:
            yield "type", f"{before.types[path]} and {after.types[path]}{_at(path)}"
    for path in _both(before.sizes, after.sizes):
        if before.sizes[path] != after.sizes[path]:
            yield "length", f"{_size(before.sizes[path])} and {_size(after.sizes[path])}{_at(path)}"
    for path in _both(before.keys, after.keys):
        yield from _keys(before.keys[path], after.keys[path], keys, path)
    for output in (before, after):
        for path, shown in output.undefined.items():
            yield "undefined", f"{shown}{_at(path)}"


def _both(first: Mapping[Path, object], second: Mapping[Path, object]) -> list[Path]:
    """The paths of both, in the order of the first, so that equal runs name the same one."""
    return [path for path in first if path in second]


def _keys(first: tuple[object, ...], second: tuple[object, ...], keys: Keys, path: Path) -> Iterator[tuple[str, str]]:
    one, two = set(first), set(second)
    if keys == "fixed" and one != two:
        alone = sorted(map(literal, one ^ two))
        yield "keys", f"{', '.join(alone[:5])} in one world alone{_at(path)}"
    if keys != "free" and [key for key in first if key in two] != [key for key in second if key in one]:
        yield "order", f"the keys of both worlds stand in another order{_at(path)}"


def _size(size: tuple[int, ...]) -> str:
    return str(size[0]) if len(size) == 1 else str(size)


def _at(path: Path) -> str:
    return f" at {literal(path[0] if len(path) == 1 else path)}" if path else ""
