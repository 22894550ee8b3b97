"""Statements are what they were, to the byte; sqlglot's own translation of DuckDB's would not do."""

from __future__ import annotations

from collections import Counter

import pytest
import sqlglot
from sqlglot import exp

from quincunx.spec.unit import AddRemove
from quincunx.table.engines.postgres import PostgresEngine, connection
from quincunx.table.engines.postgres.origin import Found
from quincunx.table.engines.postgres.source import Postgres
from tests.postgres import Server
from tests.table import worlds
from tests.table.engines.conformance import golden as asked
from tests.table.engines.conformance import worlds as awkward
from tests.table.engines.conformance.engines import InDuckDB
from tests.table.engines.conformance.questions import questions
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


def readings(sql: str) -> Counter[str]:
    """How often a statement may work each table of `clinic` out, as PostgreSQL 12 and later inline relations of WITH.

    MATERIALIZED is once; NOT MATERIALIZED wherever it is named; what is not marked is inlined where it is named once.
    """
    tree = sqlglot.parse_one(sql, dialect="postgres")
    parts = {part.alias: part for part in tree.args["with_"].expressions}
    named = Counter(each.name for each in tree.find_all(exp.Table) if not each.db)

    def kept(name: str) -> bool:
        marked = parts[name].args.get("materialized")
        return marked is True or (marked is None and named[name] > 1)

    def counted(select: exp.Expression) -> Counter[str]:
        found: Counter[str] = Counter()
        for each in select.find_all(exp.Table):
            if each.db:
                found[each.name] += 1
            elif each.name in parts and not kept(each.name):
                found += counted(parts[each.name].this)
        return found

    main = tree.copy()
    main.set("with_", None)
    return sum((counted(part.this) for name, part in parts.items() if kept(name)), counted(main))


def test_readings_are_counted() -> None:
    """The control of what follows."""
    source = "SELECT * FROM clinic.t"
    for marked, names, wanted in (
        ("", "a", 1), ("", "a, a AS b", 1), ("MATERIALIZED", "a, a AS b", 1), ("NOT MATERIALIZED", "a, a AS b", 2)
    ):  # fmt: skip
        assert readings(f"WITH a AS {marked} ({source}) SELECT * FROM {names}") == {"t": wanted}


@pytest.mark.ci
def test_what_may_change_while_it_is_read_is_worked_out_once_in_every_question(full: bool) -> None:
    """A view or a foreign table, whatever is asked: joined, rolled up, counted and voted about are the same rows."""
    with InDuckDB().opened(awkward.empty()) as (_, declared):
        pass
    seen = 0
    for once in (True, False):
        private = {}
        for name, data in awkward.empty().items():
            fields = tuple((each, "VARCHAR" if kind == "CHAR(6)" else kind) for each, kind in data.types.items())
            source = Postgres("service=clinic", table=f"clinic.{name}")
            if not data.public:
                private[name] = golden.Held(origin=Found(source=source, fields=fields, catalogue=fields, once=once))
        with PostgresEngine(private, declared) as engine:
            for text in questions()[:: 1 if full else 5 if once else 25]:
                found = readings(engine.sql(asked.planned(text, declared, 2)))
                if once:
                    assert set(found.values()) == {1}, text
                seen += max(found.values()) > 1
    # The control: rows that a statement sees one state of are read again for their weights.
    assert seen >= (100 if full else 4)


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
