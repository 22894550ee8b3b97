"""Pairs of worlds of records made smaller: fewer people, fewer changes, fewer rows, simpler values, one order.

Records are numbered, so that the two worlds can be laid side by side: a number in both worlds is one place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final, Protocol, TypeAlias

from quincunx.audit.shrink.parts import without_parts
from quincunx.audit.spaces.literal import literal
from quincunx.audit.spaces.values import Values
from quincunx.spec import AddRemove, Replace

Tagged: TypeAlias = tuple[int, Any]
World: TypeAlias = tuple[Tagged, ...]
Pair: TypeAlias = tuple[World, World]


class Records(Protocol):
    """What is asked of a space of records."""

    @property
    def values(self) -> Values:
        """What one record may be."""
        ...

    @property
    def unit(self) -> AddRemove | Replace:
        """Whom the records belong to, and how neighbours differ."""
        ...

    @property
    def least(self) -> int:
        """The smallest number of people."""
        ...

    @property
    def ordered(self) -> bool:
        """Whether the place of a record has a meaning."""
        ...

    def people(self, world: World) -> int:
        """How many units of protection there are."""
        ...


# Above so many records only whole heaps of equal ones are made simpler.
_SINGLE: Final = 40


def fewer(before: World, after: World, *, space: Records) -> Iterator[Pair]:
    """Smaller and simpler neighbours, the largest steps first. Callers skip pairs whose worlds have become one."""
    allowed = _allowed(space)
    for pair in _candidates(before, after, space):
        if allowed(pair):
            yield pair


def _allowed(space: Records) -> Callable[[Pair], bool]:
    def allowed(pair: Pair) -> bool:
        people = [space.people(world) for world in pair]
        kept = not space.unit.keeps_number or people[0] == people[1]
        return min(people) >= space.least and kept

    return allowed


def _candidates(before: World, after: World, space: Records) -> Iterator[Pair]:
    common = _common(before, after)
    if not space.ordered:
        straight = _straight(before, after, common)
        if straight != (before, after):
            yield straight
    yield from _kept(before, after, common, common)
    changed = tuple(number for number in _numbers(before, after) if number not in common)
    if space.unit.key is None:
        # A change less, where there are several.
        yield from _kept(before, after, changed, changed)
    else:
        yield from _owned(before, after, space)
        for world_changed in (_only(before, changed), _only(after, changed)):
            yield from _kept(before, after, world_changed, world_changed)
    yield from _simpler(before, after, space)


def _numbers(*worlds: World) -> list[int]:
    return list(dict.fromkeys(number for world in worlds for number, _ in world))


def _only(world: World, numbers: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(number for number, _ in world if number in numbers)


def _common(before: World, after: World) -> tuple[int, ...]:
    """The places that hold the same record in both worlds."""
    there = {number: literal(record) for number, record in after}
    return tuple(number for number, record in before if there.get(number) == literal(record))


def _straight(before: World, after: World, common: tuple[int, ...]) -> Pair:
    """The common records first and in one order, then what differs."""
    held, place = set(common), {number: i for i, number in enumerate(common)}

    def straight(world: World) -> World:
        same = sorted((each for each in world if each[0] in held), key=lambda each: place[each[0]])
        return (*same, *sorted((each for each in world if each[0] not in held), key=lambda each: each[0]))

    return straight(before), straight(after)


def _kept(before: World, after: World, numbers: tuple[int, ...], droppable: tuple[int, ...]) -> Iterator[Pair]:
    """Both worlds with some of the droppable records left out."""
    every = set(droppable)
    for rest in without_parts(numbers):
        gone = every - set(rest)
        yield _without(before, gone), _without(after, gone)


def _without(world: World, gone: set[int]) -> World:
    return tuple(each for each in world if each[0] not in gone)


def _owned(before: World, after: World, space: Records) -> Iterator[Pair]:
    """Whole people left out: one who is in both worlds, one of either, or one of each where people are replaced."""
    key = space.unit.key or ""
    owners = [list(dict.fromkeys(literal(record[key]) for _, record in world)) for world in (before, after)]
    alone = [[owner for owner in mine if owner not in theirs] for mine, theirs in (owners, owners[::-1])]
    gone = [{owner} for owner in dict.fromkeys((*owners[0], *owners[1]))]
    gone += [{first, second} for first in alone[0] for second in alone[1]]
    for names in gone:
        first, second = (
            tuple(each for each in world if literal(each[1][key]) not in names) for world in (before, after)
        )
        yield first, second


def _simpler(before: World, after: World, space: Records) -> Iterator[Pair]:
    """All equal records made simpler at once, then single ones."""
    written = {literal(record): record for _, record in (*before, *after)}
    for text, record in written.items():
        for other in _values(record, space):
            yield _changed(before, text, other), _changed(after, text, other)
    numbers = _numbers(before, after)
    if len(numbers) > _SINGLE:
        return
    for number in numbers:
        for text in dict.fromkeys(literal(record) for place, record in (*before, *after) if place == number):
            for other in _values(written[text], space):
                yield _changed(before, text, other, number), _changed(after, text, other, number)


def _values(record: Any, space: Records) -> Iterator[Any]:
    """Simpler records of the same person."""
    key = space.unit.key
    for other in space.values.simpler(record):
        if key is None or literal(other[key]) == literal(record[key]):
            yield other


def _changed(world: World, text: str, other: Any, number: int | None = None) -> World:
    return tuple(
        (place, other if literal(record) == text and number in (None, place) else record) for place, record in world
    )
