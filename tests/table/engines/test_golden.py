"""Statements are what they were, to the byte, and the golden file leaves no operator out."""

from __future__ import annotations

from quincunx.spec.unit import AddRemove
from quincunx.table.engines import evaluate
from quincunx.table.engines.emission import EMISSIONS
from quincunx.table.expression import Call
from quincunx.table.relations import Filter
from quincunx.table.schema import ColumnSchema, Limits, Schema, TableSchema
from quincunx.table.sql import read
from tests.table.engines import golden

KINDS = {
    "p": "integer",
    "i": "integer",
    "j": "integer",
    "w": "integer",
    "d": "decimal",
    "e": "decimal",
    "s": "text",
    "b": "boolean",
    "t": "timestamp",
}


def test_the_statements_of_duckdb_are_the_golden_ones() -> None:
    assert golden.text() == (golden.HOME / "duckdb.sql").read_text(encoding="utf-8")


def test_every_operator_stands_in_the_golden_file() -> None:
    columns = tuple(ColumnSchema(name=name, type=kind) for name, kind in KINDS.items())
    table = TableSchema(name="t", columns=columns, limits=Limits(rows=1), public=False)
    declared = Schema(tables={"t": table}, unit=AddRemove(key="p"))
    found = set()
    for condition in golden.OPERATORS:
        rows = read(f"SELECT COUNT(*) AS n FROM t WHERE {condition}", declared, evaluate).rows
        assert isinstance(rows, Filter)
        found |= {node.operator for node in rows.condition.walk() if isinstance(node, Call)}
    assert found == set(EMISSIONS)
