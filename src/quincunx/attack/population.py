"""Blocks of people who do not exist, and tables about them like those that the 2010 census published for every block.

A person is a cell: age group, sex, race, Hispanic origin. A block is how many people each cell holds. A table is a
matrix of zeros and ones with a row for each number that is published: table·block are its numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import product
from typing import Final

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]

# The 23 age groups of the census' table of sex by age, with their share of people in thousandths.
_AGES: Final = (
    ("under 5", 65), ("5 to 9", 66), ("10 to 14", 67), ("15 to 17", 42), ("18 and 19", 29), ("20", 14), ("21", 14),
    ("22 to 24", 42), ("25 to 29", 68), ("30 to 34", 65), ("35 to 39", 65), ("40 to 44", 68), ("45 to 49", 73),
    ("50 to 54", 72), ("55 to 59", 64), ("60 and 61", 23), ("62 to 64", 31), ("65 and 66", 17), ("67 to 69", 23),
    ("70 to 74", 30), ("75 to 79", 24), ("80 to 84", 19), ("85 and over", 19),
)  # fmt: skip
_MINORS: Final = 4
_SEXES: Final = ("male", "female")
# race → share of people in thousandths, share of them who are of Hispanic origin in thousandths
_RACES: Final = (
    ("White", 760, 90), ("Black", 110, 40), ("American Indian", 10, 200), ("Asian", 45, 10),
    ("Pacific Islander", 5, 60), ("another race", 45, 950), ("two or more races", 25, 250),
)  # fmt: skip
_ORIGINS: Final = ("Hispanic", "not Hispanic")
# How alike neighbours are: the smaller, the more a block differs from the state.
_LIKENESS: Final = 1.5

Person = tuple[int, int, int, int]
PEOPLE: Final[tuple[Person, ...]] = tuple(
    product(range(len(_AGES)), range(len(_SEXES)), range(len(_RACES)), range(len(_ORIGINS)))
)


def words(cell: int) -> str:
    """A cell in words."""
    age, sex, race, origin = PEOPLE[cell]
    return f"{_SEXES[sex]}, {_AGES[age][0]}, {_RACES[race][0]}, {_ORIGINS[origin]}"


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedTable:
    """One published table: its name, and a row for each number that says which cells it counts.

    No person is counted twice in one table.
    """

    name: str
    rows: Ints


def state_shares() -> NDArray[np.float64]:
    """The share of each cell among all people of the state, which everyone knows."""
    ages = np.array([share for _, share in _AGES], dtype=float)
    races = np.array([share for _, share, _ in _RACES], dtype=float)
    hispanic = np.array([share for _, _, share in _RACES]) / 1000
    groups = (races / races.sum())[:, None] * np.stack([hispanic, 1 - hispanic], axis=1)
    each = np.multiply.outer(np.multiply.outer(ages / ages.sum(), np.full(2, 0.5)), groups)
    return np.asarray(each.ravel(), dtype=np.float64)


def blocks(count: int, *, series: int, smallest: int = 7, largest: int = 30) -> list[Ints]:
    """So many blocks of 7 to 30 people, whose mix of races and origins is their own."""
    draw = np.random.default_rng((series, 2010))
    ages = np.array([share for _, share in _AGES], dtype=float)
    groups = state_shares().reshape(len(_AGES) * len(_SEXES), -1).sum(axis=0)
    made = []
    for _ in range(count):
        size = int(draw.integers(smallest, largest + 1))
        mix = draw.dirichlet(groups * _LIKENESS * groups.size)
        age = draw.choice(len(_AGES), p=ages / ages.sum(), size=size)
        cell = (age * 2 + draw.integers(0, 2, size)) * groups.size + draw.choice(groups.size, p=mix, size=size)
        made.append(np.bincount(cell, minlength=len(PEOPLE)).astype(np.int64))
    return made


def tables() -> tuple[PublishedTable, ...]:
    """Five tables, in the order in which they are published."""

    def adults(person: Person) -> bool:
        return person[0] >= _MINORS

    return (
        _table("sex by age", lambda person: person[:2]),
        _table("race by origin", lambda person: person[2:]),
        _table("race by origin of adults", lambda person: person[2:] if adults(person) else None),
        _table("sex by age by race", lambda person: person[:3]),
        _table("sex by age of Hispanic people, and of White people who are not", _by_origin),
    )


def _by_origin(person: Person) -> tuple[int, ...] | None:
    age, sex, race, origin = person
    if origin == 0:
        return (0, age, sex)
    return (1, age, sex) if race == 0 else None


def _table(name: str, label: Callable[[Person], tuple[int, ...] | None]) -> PublishedTable:
    """One row for each label, in order; a person without a label is not counted."""
    labels = [label(person) for person in PEOPLE]
    order = {each: place for place, each in enumerate(sorted({each for each in labels if each is not None}))}
    rows = np.zeros((len(order), len(PEOPLE)), dtype=np.int64)
    for cell, each in enumerate(labels):
        if each is not None:
            rows[order[each], cell] = 1
    return PublishedTable(name=name, rows=rows)
