"""The intensity ε_𝒟: how much? A number in the standard's customary parameter, or one per universe, person or record.

A number is a typed decimal or fraction (`0.1` is 1/10), or `numbers.Log(3)` for ln 3. In JSON it is a text: "1/10",
"ln(3)".
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from quincunx.errors import SpecificationError, kind_of
from quincunx.numbers import Exact, Log, number
from quincunx.numbers import Number as Typed
from quincunx.spec import label
from quincunx.spec.drawn import Drawn
from quincunx.spec.varying import PerPerson, PerRecord, Varying

__all__ = ["Drawn", "PerPerson", "PerRecord", "PerUniverse", "number"]


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


Intensity: TypeAlias = Exact | PerUniverse | Varying | Drawn
# What a person states: a number, one for each universe, or one of the values of this module.
StatedIntensity: TypeAlias = Typed | Log | Mapping[Any, Typed | Log] | PerUniverse | Varying | Drawn


def read(value: object) -> Intensity:
    """A number, a mapping from universe to number, or one of the values of this module."""
    if isinstance(value, PerUniverse | Varying | Drawn):
        return value
    return PerUniverse(value) if isinstance(value, Mapping) else number(value)


def entries(intensity: Intensity) -> tuple[Exact, ...]:
    """Every number that occurs."""
    if isinstance(intensity, Drawn):
        return (intensity.value,)
    return tuple(intensity) if isinstance(intensity, PerUniverse | Varying) else (intensity,)


def to_json(intensity: Intensity) -> object:
    """A text, an object from universe to text, or an object that says what the numbers are for."""
    if isinstance(intensity, Varying | Drawn):
        return intensity.to_json()
    if isinstance(intensity, PerUniverse):
        return {name: str(value) for name, value in intensity.values}
    return str(intensity)


def from_json(data: Any) -> Intensity:
    """The intensity that `to_json` wrote. The schema has been checked by the caller."""
    if isinstance(data, dict) and isinstance(data.get("values"), list):
        made = PerPerson if data["per"] == PerPerson.kind else PerRecord
        return made([(label.from_json(name, "values"), value) for name, value in data["values"]])
    if isinstance(data, dict) and isinstance(data.get("prior"), list):
        weights = [(label.from_json(x, "prior"), w) for x, w in data["prior"]]
        if len({x for x, _ in weights}) < len(weights):
            raise SpecificationError("a dataset is listed twice", where="prior", got=f"{len(weights)} datasets")
        return Drawn(value=data["value"], prior=dict(weights), share=data["share"])
    return read(data)
