"""Public tables in a statement: the rows that were read when the dataset was opened, as its parameters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from sqlglot import exp

from quincunx.table.content import Content
from quincunx.table.engines.frozen import Frozen, Kept
from quincunx.table.engines.postgres.casting import unnested
from quincunx.table.engines.typed_sql import cast, column


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FrozenLists(Frozen):
    """The rows of a public table as lists of texts, side by side."""

    engine: ClassVar[str] = "postgres"

    def relation(self, names: Sequence[str]) -> exp.Expression:
        """The columns as lists of texts side by side, each in its type."""
        wanted = self.wanted(names)
        lists = [cast(exp.Placeholder(this=self._parameter(place)), "VARCHAR[]") for place, _ in wanted]
        given = unnested(lists, [f"c{place}" for place, _ in wanted], "given")
        typed = [exp.alias_(cast(column(f"c{place}"), kind), name, quoted=True) for place, (name, kind) in wanted]
        return exp.select(*typed).from_(given).subquery(self.alias)

    def parameters(self, names: Sequence[str]) -> dict[str, Any]:
        """What stands in the statement for these columns."""
        columns = self.content.columns or ()
        return {self._parameter(place): list(columns[place]) for place, _ in self.wanted(names)}

    def _parameter(self, place: int) -> str:
        return f"public_{self.alias}_{place}"


def kept(content: Content) -> Kept[FrozenLists]:
    """A public table of these rows."""
    return Kept(origin=FrozenLists(content=content))
