"""Statements are what they were, to the byte; sqlglot's own translation of DuckDB's would not do."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import pytest
import sqlglot
from sqlglot import exp

from quincunx.table.engines.duckdb.dialect import DUCKDB
from quincunx.table.engines.engine import result
from quincunx.table.engines.postgres import PostgresEngine, connection
from quincunx.table.engines.postgres.engine import _columns
from quincunx.table.engines.postgres.origin import Found
from quincunx.table.engines.postgres.source import Postgres
from quincunx.table.engines.statement import statement
from quincunx.table.measure import Program
from tests.postgres import Server
from tests.table.engines.conformance import golden as asked
from tests.table.engines.conformance import worlds as awkward
from tests.table.engines.conformance.engines import InDuckDB, InPostgres
from tests.table.engines.conformance.questions import questions
from tests.table.engines.postgres import golden

GOLDEN = json.loads(asked.PATH.read_text(encoding="utf-8"))


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
def test_a_translation_of_the_other_engines_statement_does_not_do(reading: Server, full: bool) -> None:
    """The control of the suite: DuckDB's statements as sqlglot translates them, asked as the suite asks.

    Lists of keys are given to them as constants, and 128 bits as NUMERIC, of which sqlglot knows nothing.
    """
    there, data = InPostgres(reading), awkward.tables()
    # One table, so that one name is to be replaced.
    chosen = [each for each in questions() if each.count("FROM visits") == 1 and "SELECT" not in each[1:]]
    equal, wrong, raised = 0, [], []
    with there.opened(data), InDuckDB().opened(data) as (duck, declared):
        source = Postgres(reading.address("reader"), table="public.asked_visits")
        with connection.connect(source) as database:
            for text in chosen[:: 1 if full else 6]:
                program = asked.planned(text, declared, 1)
                try:
                    cursor = database.execute(translated(duck, program).encode())
                    found = [each.name for each in cursor.description or ()], cursor.fetchall()
                    same = asked.digest(asked.exact(result(program, _columns(program, *found))))
                    equal += same == GOLDEN[f"1 {text}"]
                    wrong += [text] if same != GOLDEN[f"1 {text}"] else []
                except Exception as error:
                    raised.append(str(error).partition("\n")[0])
    print(f"of {equal + len(wrong) + len(raised)} translated: {equal} equal, {len(wrong)} wrong, {len(raised)} errors")
    assert len(wrong) + len(raised) > equal
    assert len(set(raised)) >= 3


def translated(duck: Any, program: Program) -> str:
    """The statement as sqlglot writes it for PostgreSQL."""
    parameters = statement(program, duck._sources(program), DUCKDB).parameters

    def changed(node: exp.Expression) -> exp.Expression:
        if isinstance(node, exp.Parameter | exp.Placeholder) and node.name in parameters:
            listed = [exp.null() if each is None else exp.Literal.string(str(each)) for each in parameters[node.name]]
            return exp.Array(expressions=listed)
        if isinstance(node, exp.Table) and node.name == "source":
            return exp.alias_(exp.table_("asked_visits", db="public"), "source", table=True)
        if isinstance(node, exp.DataType) and node.this == exp.DataType.Type.INT128:
            return exp.DataType.build("NUMERIC")
        return node

    tree = sqlglot.parse_one(duck.sql(program), dialect="duckdb").transform(changed)
    return str(tree.sql(dialect="postgres", unsupported_level=sqlglot.ErrorLevel.IGNORE))
