"""Public tables in a statement: the rows that were read when the dataset was opened, as a view of constants."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from sqlglot import exp

from quincunx.table.content import Content
from quincunx.table.engines.typed_sql import cast, column


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Frozen:
    """The rows of a public table, which nothing changes any more."""

    engine: ClassVar[str] = "spark"

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
        """The columns as texts of a view, each in its type."""
        chosen = [
            exp.alias_(cast(column(f"c{place}"), kind), name, quoted=True)
            for place, (name, kind) in self._wanted(names)
        ]
        return exp.select(*chosen).from_(f"public_{self.alias}").subquery(self.alias)

    def texts(self, names: Sequence[str]) -> Mapping[str, Sequence[str | None]]:
        """The columns of the view."""
        columns = self.content.columns or ()
        return {f"c{place}": columns[place] for place, _ in self._wanted(names)}

    def _wanted(self, names: Sequence[str]) -> list[tuple[int, tuple[str, str]]]:
        wanted = {name.lower() for name in names}
        return [(place, each) for place, each in enumerate(self.fields) if each[0].lower() in wanted]


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """A public table as the engine holds it."""

    origin: Frozen
    public: bool = True


def kept(content: Content) -> Kept:
    """A public table of these rows."""
    return Kept(origin=Frozen(content=content))


def listed(columns: Mapping[str, tuple[str, Sequence[Any]]]) -> tuple[str, str]:
    """A SELECT of constants, name → (type, values), and its one parameter: JSON, in which nothing has to be escaped."""
    kinds = ", ".join(f"{name}: {kind}" for name, (kind, _) in columns.items())
    rows = zip(*(values for _, values in columns.values()), strict=True)
    text = json.dumps([dict(zip(columns, row, strict=True)) for row in rows], ensure_ascii=False)
    return f"SELECT inline(from_json(:rows, 'ARRAY<STRUCT<{kinds}>>'))", text
