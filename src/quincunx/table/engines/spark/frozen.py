"""Public tables in a statement: the rows that were read when the dataset was opened, as a view of constants."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from sqlglot import exp

from quincunx.table.content import Content
from quincunx.table.engines.frozen import Frozen, Kept
from quincunx.table.engines.typed_sql import cast, column


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FrozenView(Frozen):
    """The rows of a public table as a view of texts."""

    engine: ClassVar[str] = "spark"

    def relation(self, names: Sequence[str]) -> exp.Expression:
        """The columns as texts of a view, each in its type."""
        chosen = [
            exp.alias_(cast(column(f"c{place}"), kind), name, quoted=True) for place, (name, kind) in self.wanted(names)
        ]
        return exp.select(*chosen).from_(f"public_{self.alias}").subquery(self.alias)

    def texts(self, names: Sequence[str]) -> Mapping[str, Sequence[str | None]]:
        """The columns of the view."""
        columns = self.content.columns or ()
        return {f"c{place}": columns[place] for place, _ in self.wanted(names)}


def kept(content: Content) -> Kept[FrozenView]:
    """A public table of these rows."""
    return Kept(origin=FrozenView(content=content))


def listed(columns: Mapping[str, tuple[str, Sequence[Any]]]) -> tuple[str, str]:
    """A SELECT of constants, name → (type, values), and its one parameter: JSON, in which nothing has to be escaped."""
    kinds = ", ".join(f"{name}: {kind}" for name, (kind, _) in columns.items())
    rows = zip(*(values for _, values in columns.values()), strict=True)
    text = json.dumps([dict(zip(columns, row, strict=True)) for row in rows], ensure_ascii=False)
    return f"SELECT inline(from_json(:rows, 'ARRAY<STRUCT<{kinds}>>'))", text
