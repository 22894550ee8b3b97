"""Several tables for replay: people with visits, encounters, bills by link, the posts of a bill by a link of a link."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

from quincunx.audit import Replay, replay
from quincunx.table.schema import ColumnSchema, Content, Limits, Link, Schema, TableSchema
from tests.audit.tables.scenes import UNITS, column

PERSON, DAY = column("person", "integer"), column("day", "date")
LIMITS = Limits(rows=6, groups=3, per_group=3)
ENCOUNTERS = TableSchema(
    name="encounters",
    columns=(PERSON, DAY, column("encounter", "integer"), column("ward", "text", keys=("a", "b", None))),
    limits=LIMITS,
)
VISITS = TableSchema(
    name="visits",
    columns=(
        PERSON,
        DAY,
        column("region", "text", keys=("a", "süd", None)),
        column("age", "integer", 0, 110),
        column("cost", "decimal", "-57.77", "50.05", step="0.1"),
        column("note", "text"),
    ),
    limits=LIMITS,
)
BILLS = TableSchema(
    name="bills",
    columns=(column("encounter", "integer"), column("bill", "text"), column("amount", "integer", -5, 90)),
    limits=LIMITS,
    link=Link(via="encounters", on="encounter"),
)
POSTS = TableSchema(
    name="posts",
    columns=(column("bill", "text"), column("price", "decimal", 0, 9, step=Fraction(1, 4)), column("note", "text")),
    limits=LIMITS,
    link=Link(via="bills", on="bill"),
)
# Of a region many rows, one or none; NULL meets nothing.
REGIONS = TableSchema(
    name="regions",
    columns=(ColumnSchema(name="region", type="text"), ColumnSchema(name="beds", type="integer")),
    public=True,
    content=Content(
        digest="",
        types=(("region", "VARCHAR"), ("beds", "BIGINT")),
        rows=4,
        columns=(("a", "a", "süd", None), ("1", "2", "3", "4")),
    ),
)
TABLES = {each.name: each for each in (ENCOUNTERS, VISITS, BILLS, POSTS, REGIONS)}
# Those in which people have a key: rows that are people have no joins.
KEYED = tuple(name for name, unit in UNITS.items() if unit.key is not None)


def schema(unit: str, limits: Limits = LIMITS) -> Schema:
    tables = {name: each if each.public else replace(each, limits=limits) for name, each in TABLES.items()}
    return Schema(tables=tables, unit=UNITS[unit])


def replayed(unit: str, sql: Any, *, limits: Limits = LIMITS, **options: Any) -> Replay:
    return replay(schema(unit, limits), sql, **options)
