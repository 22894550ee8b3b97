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
    """A sum is of 38 digits, of a few bits or of doubles up to 2^53, and no name of ours stands without quotes."""
    wide, double = (exp.DataType.build(kind, dialect="spark") for kind in ("DECIMAL(38,0)", "DOUBLE"))
    most = "CAST('9007199254740992.0' AS DOUBLE)"
    for title, sql in golden.statements().items():
        for added in sqlglot.parse_one(sql, dialect="spark").find_all(exp.Sum):
            # Sums by parts are put together as wide numbers (whole.total, test_sums_by_parts_are_exact).
            exact = any(isinstance(each, exp.Cast) and each.to == wide for each in (added.this, added.parent))
            # How a person's rows lie in groups: doubles cannot overflow, and from 2^53 on they say nothing else.
            capped = isinstance(added.this, exp.Cast) and added.this.to == double and added.parent is not None
            assert exact or (capped and most in added.parent.sql(dialect="spark")), title
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
