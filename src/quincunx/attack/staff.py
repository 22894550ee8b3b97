"""The firm of the chapter: 25 people with an average salary of 500,000 dollars, and Rick, who comes later."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import Any, Final

RICK: Final = 25
AVERAGE, RICKS_SALARY = 500_000, 630_000
LOWEST, HIGHEST = 0, 1_000_000
# attribute → its values; everybody knows these about everybody
_KNOWN: Final = {
    "department": ("search", "maps", "sales"),
    "sex": ("F", "M"),
    "floor": (1, 2, 3),
    "hired": (2021, 2022, 2023),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Staff:
    """The 26 people, the last of whom is Rick. salaries: dollars, secret. known: attribute → its value for each."""

    salaries: tuple[int, ...]
    known: dict[str, tuple[Any, ...]]

    def total(self, people: int) -> int:
        """The salaries of the first so many people, added up."""
        return sum(self.salaries[:people])


def staff(series: int) -> Staff:
    """A firm: salaries in thousands between 250,000 and 900,000, of which the first 25 average 500,000 exactly."""
    draw = random.Random(f"staff {series}")
    salaries = [1_000 * draw.randint(350, 650) for _ in range(RICK)]
    missing = (AVERAGE * RICK - sum(salaries)) // 1_000
    # What is missing for the average is spread evenly; the first few take one thousand more.
    each, rest = divmod(missing, RICK)
    salaries = [salary + 1_000 * (each + (i < rest)) for i, salary in enumerate(salaries)]
    known = {name: _dealt(draw, values) for name, values in _KNOWN.items()}
    rick = {"department": "sales", "sex": "M", "floor": 2, "hired": 2024}
    return Staff(
        salaries=(*salaries, RICKS_SALARY), known={name: (*column, rick[name]) for name, column in known.items()}
    )


def _dealt(draw: random.Random, values: tuple[Any, ...]) -> list[Any]:
    """Every value as often as any other, in random order."""
    column = [values[i % len(values)] for i in range(RICK)]
    draw.shuffle(column)
    return column


def exposed(firm: Staff, least: int) -> dict[int, tuple[str, str]]:
    """Whom an exact interface gives away that refuses groups of fewer than `least` people, or all but so few.

    person → two groups that may both be asked for and that differ in this person alone: the tracker of Denning,
    Denning and Schwartz. A group is any combination of conditions "attribute is value" and "attribute is not value".
    """
    count = len(firm.salaries)
    groups: dict[int, str] = {}
    for members, words in _groups(firm):
        if least <= members.bit_count() <= count - least:
            # The shortest description of a group is kept.
            groups[members] = min(words, groups.get(members, words), key=lambda text: (len(text), text))
    found: dict[int, tuple[str, str]] = {}
    for members, words in sorted(groups.items(), key=lambda entry: (len(entry[1]), entry[1])):
        for person in range(count):
            other = members & ~(1 << person)
            if other != members and other in groups and person not in found:
                found[person] = (words, groups[other])
    return found


def _groups(firm: Staff) -> Iterator[tuple[int, str]]:
    """Every combination of conditions: who fulfils it, as bits, and its words."""
    everyone = (1 << len(firm.salaries)) - 1
    choices = []
    for name, column in firm.known.items():
        options = [(everyone, "")]
        for value in sorted(set(column), key=str):
            bits = sum(1 << i for i, each in enumerate(column) if each == value)
            options += [(bits, f"{name} = {value}"), (everyone & ~bits, f"{name} ≠ {value}")]
        choices.append(options)
    for chosen in product(*choices):
        members = everyone
        for bits, _ in chosen:
            members &= bits
        yield members, " and ".join(words for _, words in chosen if words) or "everyone"
