"""Worlds of records: people of one record each, or of all rows that share a key, added, removed or replaced."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import count, islice
from typing import Any, Final

from quincunx.audit.shrink.records import Tagged, World, fewer
from quincunx.audit.spaces.literal import literal
from quincunx.audit.spaces.space import Space, expect
from quincunx.audit.spaces.values import STYLES, Row, Values
from quincunx.errors import ParameterError
from quincunx.numbers import Number, positive_integer
from quincunx.spec import AddRemove, Replace

# How often a world is enormous, and how often the records of a neighbour stand in another order.
_GIANTS: Final = 0.05
_SHUFFLED: Final = 0.5
_ROWS: Final = (1, 1, 2, 3, 7, 30)
_TRIES: Final = 50


@dataclass(frozen=True, slots=True, kw_only=True, init=False, eq=False)
class Records(Space[World]):
    """Datasets of records. A world, as the statistic sees it, is `form` of a list of them.

    values: what one record may be. unit: AddRemove or Replace of the specification; with a key, `values` is a `Row` and
    a person is all rows with one value of that field. least, size: the number of people, from least to size. giant: the
    number of records in one world of twenty; with a key, the number of rows of one person of twenty. ordered: whether
    the place of a record has a meaning; where not, a neighbour's records may stand in any order, and a statistic must
    not depend on it by more than its sensitivity.
    """

    values: Values
    unit: AddRemove | Replace
    size: int
    least: int
    giant: int
    ordered: bool
    form: Callable[[list[Any]], Any]

    def __init__(
        self,
        values: Values,
        *,
        unit: AddRemove | Replace,
        size: Number = 8,
        least: int = 0,
        giant: int = 1_000,
        ordered: bool = False,
        form: Callable[[list[Any]], Any] = list,
    ) -> None:
        expect(values, Values, where="Records", hint="Give Real, Whole, OneOf or Row.")
        expect(unit, AddRemove | Replace, where="Records", hint="Give AddRemove or Replace; or write a Space.")
        _check_key(values, unit, ordered)
        most = positive_integer(size, "Records(size)")
        fewest = max(least, 1) if unit.keeps_number else least
        if not 0 <= least <= most:
            raise ParameterError("least must be from 0 to size", where="Records", got=f"{least} and {most}")
        fields = {"values": values, "unit": unit, "size": most, "least": fewest, "ordered": ordered, "form": form}
        # A public number of people leaves no room for a giant.
        fields["giant"] = 0 if least == most else giant
        for name, value in fields.items():
            object.__setattr__(self, name, value)

    def draw(self, source: random.Random) -> World:
        giant = self.unit.key is None and self.giant > self.size and source.random() < _GIANTS
        # Few empty worlds: they are all alike.
        few = self.least if source.random() < 0.1 else min(self.least + 1, self.size)
        size = self.giant if giant else source.choice((few, self.size, source.randint(few, self.size)))
        style = source.choice((*STYLES, "split"))
        # Heaps of equal records: always in a giant, often elsewhere.
        heap = giant or source.random() < 0.25
        templates = [self._record(source, style) for _ in range(source.choice((1, 2, 3)))] if heap else []
        world: list[Tagged] = []
        taken: set[str] = set()
        for _ in range(size):
            made = list(enumerate(self._piece(taken, source, style, templates), start=len(world)))
            world += made
            taken.update(map(self._owner, made[:1]))
        return tuple(world)

    def neighbour(self, world: World, source: random.Random) -> World:
        changes = self.unit.group if source.random() < 0.7 else source.randint(1, self.unit.group)
        after = list(world)
        # A group of people that changes in one way moves a statistic most.
        style = source.choice(STYLES) if source.random() < 0.6 else ""
        # A number is never used again: it would join a record that left with one that came.
        numbers = count(max((number for number, _ in world), default=-1) + 1)
        if self.unit.keeps_number:
            owners = list(dict.fromkeys(self._owner(each) for each in world))
            for owner in source.sample(owners, min(changes, len(owners))):
                self._replace(after, owner, style or source.choice(STYLES), numbers, source)
        else:
            adding = source.random() < 0.5
            for _ in range(changes):
                adding = adding if source.random() < 0.8 else not adding
                self._add_or_remove(after, adding, style or source.choice(STYLES), numbers, source)
        if not self.ordered and source.random() < _SHUFFLED:
            source.shuffle(after)
        return tuple(after)

    def smaller(self, before: World, after: World) -> Iterable[tuple[World, World]]:
        return fewer(before, after, space=self)

    def given(self, world: World) -> Any:
        return self.form([self.values.fresh(record) for _, record in world])

    def same(self, before: World, after: World) -> bool:
        if len(before) != len(after):
            return False
        first, second = ([literal(record) for _, record in world] for world in (before, after))
        return first == second if self.ordered else Counter(first) == Counter(second)

    def kind(self, before: World, after: World) -> str:
        small, large = sorted((len(before), len(after)))
        if self.giant and large >= self.giant:
            return "giant"
        if not small:
            return "empty"
        written = {literal(record) for _, record in (*before, *after)}
        odd = any(word in text for text in written for word in ("nan", "inf", "None"))
        return "missing or undefined" if odd else "equal records" if len(written) <= 2 < large else "ordinary"

    def words(self) -> str:
        people = "one record" if self.unit.key is None else f"all rows of one {self.unit.key}"
        group = f" x {self.unit.group}" if self.unit.group > 1 else ""
        return f"{self.unit.kind} {people}{group}" + (", ordered" if self.ordered else "")

    def people(self, world: World) -> int:
        """How many units of protection there are."""
        return len({self._owner(each) for each in world})

    def _owner(self, tagged: Tagged) -> str:
        return str(tagged[0]) if self.unit.key is None else literal(tagged[1][self.unit.key])

    def _record(self, source: random.Random, style: str) -> Any:
        return self.values.draw(source, source.choice(("high", "low")) if style == "split" else style)

    def _piece(self, taken: set[str], source: random.Random, style: str, templates: list[Any]) -> list[Any]:
        """The rows of a person; none where no value of the key is found that is not taken."""
        if self.unit.key is None:
            return [source.choice(templates) if templates else self._record(source, style)]
        names = dict(self.values.fields)[self.unit.key]  # type: ignore[attr-defined]
        tried = (names.draw(source, "any") for _ in range(_TRIES))
        found = list(islice((each for each in tried if literal(each) not in taken), 1))
        return [row for name in found for row in self._owned(name, source, style, templates)]

    def _owned(self, name: Any, source: random.Random, style: str, templates: list[Any]) -> list[Any]:
        """The rows of one person under a name."""
        size = self._rows(source)
        # Enormous people have few kinds of rows, which are drawn once.
        kinds = templates or [self._record(source, style) for _ in range(min(size, max(_ROWS)))]
        chosen = kinds if len(kinds) == size else [source.choice(kinds) for _ in range(size)]
        return [{**row, self.unit.key: name} for row in chosen]

    def _rows(self, source: random.Random) -> int:
        """How many rows a person has."""
        return self.giant if self.giant and source.random() < _GIANTS else source.choice(_ROWS)

    def _replace(
        self, world: list[Tagged], owner: str, style: str, numbers: Iterator[int], source: random.Random
    ) -> None:
        if self.unit.key is None:
            place = next(i for i, each in enumerate(world) if self._owner(each) == owner)
            world[place] = (world[place][0], self._record(source, style))
            return
        made = self._piece(set(map(self._owner, world)), source, style, [])
        if not made or source.random() < 0.4:
            # The same person with other rows.
            name = next(record[self.unit.key] for number, record in world if self._owner((number, record)) == owner)
            made = self._owned(name, source, style, [])
        world[:] = [each for each in world if self._owner(each) != owner]
        self._insert(world, made, numbers, source)

    def _add_or_remove(
        self, world: list[Tagged], adding: bool, style: str, numbers: Iterator[int], source: random.Random
    ) -> None:
        owners = list(dict.fromkeys(self._owner(each) for each in world))
        if not adding and len(owners) > self.least:
            gone = source.choice(owners)
            world[:] = [each for each in world if self._owner(each) != gone]
            return
        made = self._piece(set(map(self._owner, world)), source, style, [])
        self._insert(world, made, numbers, source)

    def _insert(self, world: list[Tagged], made: list[Any], numbers: Iterator[int], source: random.Random) -> None:
        for each in made:
            world.insert(source.randint(0, len(world)), (next(numbers), each))


def _check_key(values: Values, unit: AddRemove | Replace, ordered: bool) -> None:
    if unit.per is not None:
        hint = "Replay the table with audit.replay, or draw worlds from spaces.Tables."
        raise ParameterError("records have no person-periods", where="Records", got="a unit with per", hint=hint)
    if unit.key is None:
        return
    if ordered:
        raise ParameterError("a key has no meaning where records have places", where="Records", got="ordered=True")
    if not isinstance(values, Row) or unit.key not in dict(values.fields):
        hint = "Give Row({…}) with a field of that name."
        raise ParameterError("the key is no field of the records", where="Records", got=repr(unit.key), hint=hint)
