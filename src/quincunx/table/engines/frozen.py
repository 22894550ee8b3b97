"""Public tables as engines hold them: the rows that were read when the dataset was opened, and no later ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Generic, Self, TypeVar

from quincunx.table.content import Content

Origin = TypeVar("Origin", covariant=True)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Frozen:
    """The rows of a public table, which nothing changes any more: a constant of every statement."""

    content: Content
    alias: str = "source"
    kind: str = "public"
    once: bool = False

    @property
    def fields(self) -> tuple[tuple[str, str], ...]:
        """Its columns, with the types in which statements hold them."""
        return self.content.types

    def named(self, name: str) -> Self:
        """The same rows under another name."""
        return replace(self, alias=name)

    def needed(self, names: Sequence[str]) -> list[str]:
        """The fields of these names, compared without case; where there are none, the first."""
        return [name for _, (name, _) in self.wanted(names)] or [self.fields[0][0]]

    def wanted(self, names: Sequence[str]) -> list[tuple[int, tuple[str, str]]]:
        """The fields of these names with their places, compared without case."""
        chosen = {name.lower() for name in names}
        return [(place, each) for place, each in enumerate(self.fields) if each[0].lower() in chosen]


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept(Generic[Origin]):
    """A public table as an engine holds it."""

    origin: Origin
    public: bool = True
