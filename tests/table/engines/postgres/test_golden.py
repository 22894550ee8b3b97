"""Statements are what they were, to the byte; sqlglot's own translation of DuckDB's would not do."""

from __future__ import annotations

import pytest
import sqlglot

from quincunx.spec.unit import AddRemove
from quincunx.table.engines.postgres import connection
from tests.postgres import Server
from tests.table import worlds
from tests.table.engines.postgres import golden
from tests.table.engines.postgres.places import framed, read


def test_the_statements_of_postgres_are_the_golden_ones() -> None:
    assert golden.text() == golden.FILE.read_text(encoding="utf-8")


def test_every_statement_reads_one_table_by_its_full_name_once() -> None:
    for title, sql in golden.statements().items():
        reads = sql.count('"clinic"."t"')
        assert reads >= 1, title
        if title.endswith("read once"):
            assert reads == 1
            assert '"kept" AS MATERIALIZED' in sql


@pytest.mark.ci
def test_a_translation_of_the_other_engines_statement_does_not_do(reading: Server) -> None:
    """The control of the suite: what sqlglot makes of DuckDB's statements fails on most of them."""
    source = framed(reading, worlds.frame([]))
    engine, declared = worlds.world([], AddRemove(key="person"), {"rows": 20, "groups": 3})
    failed = 0
    with engine, connection.connect(read(reading, source.table)) as database:
        for text in worlds.QUESTIONS:
            sql = engine.sql(worlds.planned(text, declared, 1))
            translated = sqlglot.transpile(sql, read="duckdb", write="postgres", error_level=None)[0]
            try:
                name = f'"{source.name[0]}"."{source.name[1]}"'
                database.execute(f"EXPLAIN {translated}".replace("FROM source", f"FROM {name}").encode())
            except Exception:
                failed += 1
    assert failed >= len(worlds.QUESTIONS) - 2
