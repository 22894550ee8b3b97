"""Statements are what they were, to the byte."""

from __future__ import annotations

import duckdb

from quincunx.table.engines import evaluate
from quincunx.table.engines.emission import EMISSIONS
from quincunx.table.expression import Call
from quincunx.table.plan import Filter
from quincunx.table.source import Table, schema
from quincunx.table.sql import read
from quincunx.spec.unit import AddRemove
from tests.table.engines import golden


def test_the_statements_of_duckdb_are_the_golden_ones() -> None:
    assert golden.text() == (golden.HOME / "duckdb.sql").read_text(encoding="utf-8")
