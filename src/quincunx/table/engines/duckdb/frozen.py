"""Public tables as a question sees them: the rows that were read when the dataset was opened, and no later ones."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import duckdb
from sqlglot import exp

from quincunx.data import Origin, quoted
from quincunx.table.content import Content
from quincunx.table.engines.frozen import Kept


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FrozenTable(Origin):
    """The rows of a public table, which nothing changes any more: a constant of every statement."""

    content: Content

    def relation(self, names: Sequence[str]) -> exp.Expression:  # noqa: ARG002
        return exp.to_table(self.name)

    @contextmanager
    def reading(self, cursor: duckdb.DuckDBPyConnection, names: Sequence[str]) -> Iterator[exp.Expression]:
        select, parameters = listed(self.content, names)
        cursor.execute(f"CREATE TEMP TABLE {self.name} AS {select}", parameters)
        try:
            yield self.relation(names)
        finally:
            cursor.execute(f"DROP TABLE {self.name}")


def kept(content: Content) -> Kept[FrozenTable]:
    """A public table of these rows."""
    return Kept(origin=FrozenTable(kind="public", fields=content.types, content=content))


def listed(content: Content, names: Sequence[str]) -> tuple[str, dict[str, Any]]:
    """A SELECT of these columns of the rows, and its parameters."""
    wanted = {name.lower() for name in names}
    chosen: list[str] = []
    parameters: dict[str, Any] = {}
    for place, ((name, kind), values) in enumerate(zip(content.types, content.columns or (), strict=True)):
        if name.lower() in wanted:
            parameters[f"c{place}"] = list(values)
            chosen.append(f"CAST(UNNEST(CAST($c{place} AS VARCHAR[])) AS {kind}) AS {quoted(name)}")
    return f"SELECT {', '.join(chosen)}", parameters
