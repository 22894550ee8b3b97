"""The guarantee that a dataset of tables registers."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from quincunx.errors import SpecificationError
from quincunx.release.guarantee import domain, specification
from quincunx.spec.domain import Tables
from quincunx.spec.scope import Everything
from quincunx.spec.standard import ZCDP
from quincunx.spec.unit import AddRemove
from quincunx.table.schema import ColumnSchema, Schema, TableSchema


def table(name: str, *columns: tuple[str, str], public: bool = False) -> TableSchema:
    return TableSchema(name=name, columns=tuple(ColumnSchema(name=n, type=t) for n, t in columns), public=public)


def schema(*tables: TableSchema, **unit: Any) -> Schema:
    return Schema(tables={each.name: each for each in tables}, unit=AddRemove(**({"key": "id"} | unit)))


VISITS = table("visits", ("id", "integer"), ("age", "integer"), ("day", "date"))


def test_one_private_table_is_its_columns() -> None:
    regions = table("regions", ("region", "text"), public=True)
    assert domain(schema(VISITS, regions)) == Tables(columns={"id": "integer", "age": "integer", "day": "date"})
    found = specification(schema(VISITS, regions), ZCDP(), "1/2")
    assert (found.scope, found.intensity) == (Everything(), Fraction(1, 2))


def test_the_units_spelling_of_its_columns_stands() -> None:
    found = specification(schema(VISITS, key="ID", per={"column": "DAY", "period": "day"}), ZCDP(), 1)
    assert dict(found.domain.columns) == {"ID": "integer", "age": "integer", "DAY": "date"}  # type: ignore[attr-defined]


def test_several_private_tables_share_what_identifies() -> None:
    people = table("people", ("ID", "integer"), ("born", "integer"))
    assert dict(domain(schema(VISITS, people)).columns) == {
        "id": "integer",
        "visits.age": "integer",
        "visits.day": "date",
        "people.born": "integer",
    }
    with pytest.raises(SpecificationError, match="has no column"):
        domain(schema(VISITS, table("people", ("born", "integer"))))
    with pytest.raises(SpecificationError, match="different types"):
        domain(schema(VISITS, table("people", ("id", "text"))))
    rows = schema(VISITS, people, key=None)
    assert "people.ID" in dict(domain(rows).columns)


def test_nothing_private_is_nothing_to_protect() -> None:
    with pytest.raises(SpecificationError, match="nothing to protect"):
        domain(schema(table("regions", ("region", "text"), public=True)))
