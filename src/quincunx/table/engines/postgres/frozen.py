"""Public tables in a statement: the rows that were read when the dataset was opened, as its parameters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from sqlglot import exp

from quincunx.table.content import Content
from quincunx.table.engines.postgres.casting import unnested
from quincunx.table.engines.typed_sql import cast, column


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Frozen:
    """The rows of a public table, which nothing changes any more: a constant of every statement."""

    engine: ClassVar[str] = "postgres"

    content: Content
    alias: str = "source"
    kind: str = "public"
    once: bool = False

    @property
    def fields(self) -> tuple[tuple[str, str], ...]:
        """Its columns, with the types in which statements hold them."""
        return self.content.types

    def named(self, name: str) -> Frozen:
        """The same rows under another name."""
        return replace(self, alias=name)

    def needed(self, names: Sequence[str]) -> list[str]:
        """The fields of these names, compared without case; where there are none, the first."""
        wanted = {name.lower() for name in names}
        return [name for name, _ in self.fields if name.lower() in wanted] or [self.fields[0][0]]

    def relation(self, names: Sequence[str]) -> exp.Expression:
        """The columns as lists of texts side by side, each in its type."""
        wanted = self._wanted(names)
        lists = [cast(exp.Placeholder(this=self._parameter(place)), "VARCHAR[]") for place, _ in wanted]
        given = unnested(lists, [f"c{place}" for place, _ in wanted], "given")
        typed = [exp.alias_(cast(column(f"c{place}"), kind), name, quoted=True) for place, (name, kind) in wanted]
        return exp.select(*typed).from_(given).subquery(self.alias)

    def parameters(self, names: Sequence[str]) -> dict[str, Any]:
        """What stands in the statement for these columns."""
        columns = self.content.columns or ()
        return {self._parameter(place): list(columns[place]) for place, _ in self._wanted(names)}

    def _wanted(self, names: Sequence[str]) -> list[tuple[int, tuple[str, str]]]:
        wanted = {name.lower() for name in names}
        return [(place, each) for place, each in enumerate(self.fields) if each[0].lower() in wanted]

    def _parameter(self, place: int) -> str:
        return f"public_{self.alias}_{place}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """A public table as the engine holds it."""

    origin: Frozen
    public: bool = True


def kept(content: Content) -> Kept:
    """A public table of these rows."""
    return Kept(origin=Frozen(content=content))
