"""Names are compared without case, as SQL compares them; declarations are values."""

from __future__ import annotations

import dataclasses
from fractions import Fraction

import pytest

from quincunx.spec.unit import AddRemove
from quincunx.table.schema import ColumnSchema, Limits, Schema, TableSchema

AGE = ColumnSchema(name="Age", type="integer", bounds=(Fraction(0), Fraction(110)))
VISITS = TableSchema(name="Visits", columns=(AGE,), limits=Limits(rows=3))


def test_names_have_no_case() -> None:
    declared = Schema(tables={"Visits": VISITS}, unit=AddRemove(key="p"))
    assert declared.table("vISITS") is VISITS
    assert declared.table("visit") is None
    assert VISITS.column("AGE") is AGE
    assert VISITS.column("ag") is None


def test_what_is_not_declared_is_unknown() -> None:
    assert (Limits().rows, Limits().groups, Limits().per_group) == (None, None, None)
    assert ColumnSchema(name="x", type="text").keys is None
    assert not VISITS.public


def test_declarations_cannot_change() -> None:
    for value in (AGE, VISITS):
        with pytest.raises(dataclasses.FrozenInstanceError):
            value.name = "other"  # type: ignore[misc]
