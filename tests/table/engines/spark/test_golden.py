"""Statements are what they were, to the byte; sqlglot's own translation of DuckDB's would not do."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
import sqlglot
from sqlglot import exp

from quincunx.spec.unit import AddRemove
from quincunx.table.engines.spark.session import own, silenced
from tests.table import worlds
from tests.table.engines.spark import golden

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def test_the_statements_of_spark_are_the_golden_ones() -> None:
    assert golden.text() == golden.FILE.read_text(encoding="utf-8")


def test_no_statement_sums_divides_or_casts_as_spark_would() -> None:
    """A sum is of 38 digits or of a few bits, and no name of ours stands without quotes."""
    wide = exp.DataType.build("DECIMAL(38,0)", dialect="spark")
    for title, sql in golden.statements().items():
        for added in sqlglot.parse_one(sql, dialect="spark").find_all(exp.Sum):
            # Sums by parts are put together as wide numbers (whole.total, test_sums_by_parts_are_exact).
            assert any(isinstance(each, exp.Cast) and each.to == wide for each in (added.this, added.parent)), title
        assert "INT128" not in sql, title
        assert "MATERIALIZED" not in sql, title
        assert not re.search(r"(FROM|JOIN) [a-z]", sql), title


@pytest.mark.ci
@pytest.mark.spark
def test_a_translation_of_the_other_engines_statement_does_not_do(cluster: SparkSession) -> None:
    """The control of the suite: what sqlglot makes of DuckDB's statements fails on most of them."""
    session = own(cluster)
    columns = ", ".join(
        f"CAST(NULL AS {kind.replace('VARCHAR', 'STRING')}) AS {n}" for n, kind in golden.FIELDS.items()
    )
    session.sql(f"SELECT {columns}").createOrReplaceTempView("source")
    engine, declared = worlds.world([], AddRemove(key="person"), {"rows": 20, "groups": 3})
    failed = 0
    with engine, silenced():
        for text in worlds.QUESTIONS:
            sql = engine.sql(worlds.planned(text, declared, 1))
            translated = sqlglot.transpile(sql, read="duckdb", write="spark", error_level=None)[0]
            try:
                session.sql(translated)
            except Exception:
                failed += 1
    assert failed >= len(worlds.QUESTIONS) - 2
