"""The intensity ε_𝒟: how much? A number in the standard's customary parameter, or one per universe.

A number is a typed decimal or fraction (`0.1` is 1/10), or `numbers.Log(3)` for ln 3. In JSON it is a text: "1/10",
"ln(3)".
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from quincunx.errors import SpecificationError, kind_of
from quincunx.numbers import Exact, Log, rational

_LOG: Final = re.compile(r"ln\(([^()]*)\)")


@dataclass(frozen=True, slots=True)
class PerUniverse:
    """One intensity for each universe.

    `values`: universe name → number. On domains that cannot be listed, a universe without an entry has no guarantee.
    """

    values: tuple[tuple[str, Exact], ...]

    def __init__(self, values: Mapping[Any, object] | tuple[tuple[Any, object], ...]) -> None:
        items = tuple(values.items() if isinstance(values, Mapping) else values)
        if not items or len({name for name, _ in items}) < len(items):
            hint = "Name every universe once."
            got = f"{len(items)} entries"
            raise SpecificationError("cannot read the intensities", where="intensity", got=got, hint=hint)
        for name, _ in items:
            if not isinstance(name, str):
                hint = "Universes are named by texts, as scope.universes(domain) lists them."
                raise SpecificationError("expected a universe", where="intensity", got=kind_of(name), hint=hint)
        numbers = sorted((name, number(value, f"intensity[{name!r}]")) for name, value in items)
        object.__setattr__(self, "values", tuple(numbers))

    def __iter__(self) -> Iterator[Exact]:
        return (value for _, value in self.values)

    @property
    def names(self) -> frozenset[str]:
        """The universes that have an entry."""
        return frozenset(name for name, _ in self.values)

    def map(self, function: Callable[[Exact], Exact]) -> PerUniverse:
        """The same universes with each number replaced by `function(number)`."""
        return PerUniverse(tuple((name, function(value)) for name, value in self.values))


Intensity: TypeAlias = Exact | PerUniverse


def number(value: object, where: str = "intensity") -> Exact:
    """An exact number from what a person types: a decimal, a fraction, a Log, or the text of one."""
    if isinstance(value, Log):
        return value
    if isinstance(value, str) and (match := _LOG.fullmatch(value.strip())):
        return Log(match[1])
    return rational(value, where)


def read(value: object) -> Intensity:
    """A number, or a mapping from universe to number."""
    if isinstance(value, PerUniverse):
        return value
    return PerUniverse(value) if isinstance(value, Mapping) else number(value)


def entries(intensity: Intensity) -> tuple[Exact, ...]:
    """Every number that occurs."""
    return tuple(intensity) if isinstance(intensity, PerUniverse) else (intensity,)


def at(intensity: Intensity, universe: str) -> Exact:
    """The intensity in one universe."""
    return dict(intensity.values)[universe] if isinstance(intensity, PerUniverse) else intensity


def to_json(intensity: Intensity) -> object:
    """A text, or an object from universe to text."""
    if isinstance(intensity, PerUniverse):
        return {name: str(value) for name, value in intensity.values}
    return str(intensity)
