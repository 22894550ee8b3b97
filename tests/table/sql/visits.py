"""The schema that the tests of this room ask about."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from quincunx.spec.unit import AddRemove, Replace
from quincunx.table.content import Content
from quincunx.table.schema import ColumnSchema, Limits, Schema, TableSchema


def column(name: str, kind: str, bounds: tuple[int, int] | None = None, **rest: Any) -> ColumnSchema:
    ends = None if bounds is None else (Fraction(bounds[0]), Fraction(bounds[1]))
    return ColumnSchema(name=name, type=kind, bounds=ends, **rest)


VISITS = TableSchema(
    name="visits",
    columns=(
        column("person_id", "integer"),
        column("region", "text", keys=("north", "south")),
        column("age", "integer", (0, 110)),
        column("score", "integer", (-20, 30)),
        column("cost", "decimal", (0, 5000), step=Fraction(1, 100)),
        column("weight", "decimal"),
        column("rating", "integer", (1, 5), keys=(1, 2, 3, 4, 5)),
        column("visited_at", "timestamp"),
        column("born", "date"),
        column("smoker", "boolean"),
        column("note", "text"),
    ),
    limits=Limits(rows=20),
)
CONTENT = Content(digest="0" * 64, types=(("region", "VARCHAR"),), rows=2, columns=(("north", "south"),))
REGIONS = TableSchema(name="regions", columns=(column("region", "text"),), public=True, content=CONTENT)


def schema(unit: AddRemove | Replace | None = None) -> Schema:
    unit = AddRemove(key="person_id") if unit is None else unit
    return Schema(tables={"visits": VISITS, "regions": REGIONS}, unit=unit)


SCHEMA = schema()
