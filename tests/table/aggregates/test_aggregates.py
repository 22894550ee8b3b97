"""Every aggregate answers for itself: nobody else asks which it is, and each is listed, documented and measured."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import pytest
from sqlglot import exp

import quincunx
from quincunx.spec.unit import AddRemove
from quincunx.table import aggregates
from quincunx.table.aggregates import AGGREGATES, NODES, Aggregate
from quincunx.table.rules import plan
from quincunx.table.schema import ColumnSchema, Limits, Schema, TableSchema
from quincunx.table.sql import read
from quincunx.table.sql.allow import ALLOWED
from quincunx.table.sql.functions import known

SOURCE = Path(quincunx.__file__).parent
HOME = Path(aggregates.__file__).parent
PAGE = Path(__file__).parents[3] / "docs" / "reference" / "sql.md"
CLASSES = {each.__name__ for each in AGGREGATES}
KINDS = {each.kind for each in AGGREGATES}
# Engines write these nodes, and ask nobody for them.
CALLED = {node.__name__ for node in NODES}
SCHEMA = Schema(
    tables={
        "visits": TableSchema(
            name="visits",
            columns=(
                ColumnSchema(name="person", type="integer"),
                ColumnSchema(name="age", type="integer", bounds=(Fraction(0), Fraction(110))),
            ),
            limits=Limits(rows=5),
        )
    },
    unit=AddRemove(key="person"),
)


def named(source: str, *, engine: bool) -> Iterator[str]:
    """Where code names an aggregate: its class, its node of the parser, or its kind."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("quincunx.table.aggregates"):
            yield from (each.name for each in node.names if each.name in CLASSES)
            yield from (part for part in (node.module or "").split(".")[3:] if part in {*KINDS, "sum", "variance"})
        if isinstance(node, ast.Attribute) and ast.unparse(node.value) == "exp" and node.attr in CALLED and not engine:
            yield f"exp.{node.attr}"
        if isinstance(node, ast.Compare) and ast.unparse(node.left).endswith("kind"):
            compared = [each.value for each in ast.walk(node) if isinstance(each, ast.Constant)]
            # A vector is of people, whatever is asked of it.
            yield from (str(each) for each in compared if each in KINDS - {"people"})


def test_nothing_else_asks_which_aggregate_it_was_given() -> None:
    rooms = ("table", "release", "audit/tables", "audit/self_audit", "cli", "sample", "invariant")
    files = [file for room in rooms for file in (SOURCE / room).rglob("*.py") if HOME not in file.parents]
    assert len(files) > 150
    # Below the noise one person's rows are folded, above it published columns are: the same words of SQL, and none of
    # these aggregates.
    folds = [
        SOURCE / each
        for each in (
            "table/sql/folds.py",
            "table/relations/rollup.py",
            "table/relations/window.py",
            "table/engines/relations/rollup.py",
            "table/relations/fold.py",
            "release/lineage.py",
        )
    ]
    assert not {name for each in folds for name in named(each.read_text("utf-8"), engine=True)} & CLASSES
    for file in (each for each in files if each not in folds):
        found = list(named(file.read_text("utf-8"), engine="engines" in file.parts))
        assert found == [], file


@pytest.mark.parametrize(
    "source",
    [
        "from quincunx.table.aggregates.mean import Mean",
        "from quincunx.table.aggregates import Count",
        "isinstance(node, exp.Avg)",
        'if aggregate.kind == "mean": pass',
        'if each.kind in ("count", "sum"): pass',
    ],
)
def test_such_a_question_is_noticed(source: str) -> None:
    assert list(named(source, engine=False))


def test_every_file_of_an_aggregate_is_on_the_list_and_has_its_note() -> None:
    found: set[str] = set()
    pending: list[type[Aggregate]] = [Aggregate]
    while pending:
        each = pending.pop()
        pending += each.__subclasses__()
        if not getattr(each, "__abstractmethods__", None):
            found.add(each.__name__)
            assert (HOME / f"{each.__module__.rsplit('.', 1)[1]}.md").exists(), each
    assert found == CLASSES


@pytest.mark.parametrize("aggregate", AGGREGATES, ids=lambda each: each.__name__)
def test_each_is_allowed_hinted_documented_and_generated(aggregate: type[Aggregate]) -> None:
    page = PAGE.read_text("utf-8")
    section = page[page.index("## Aggregates") : page.index("## Clauses")]
    for node, parts in aggregate.nodes.items():
        assert ALLOWED[node] == parts
        # WITHIN GROUP stands around a call.
        assert issubclass(node, exp.Func | exp.WithinGroup)
    for name in aggregate.names:
        assert name in known()
        assert re.search(rf"`{name}\(", section), name
    for form in aggregate.forms:
        asked = form.written.format("person" if form.needs == "key" else "age")
        query = read(f"SELECT {asked} AS m FROM visits", SCHEMA)
        (found,) = query.aggregates
        assert type(found) is aggregate
        program = plan(query, SCHEMA, 1)
        (parts_of,) = program.parts
        assert len(parts_of) == len(found.terms()) == len(found.roles) == len(found.labels())
        assert found.linear == (found.roles == ("",))
        assert found.result().nullable is False
        assert found.rewrite(lambda each: each) == found


def test_kinds_and_forms_are_different() -> None:
    assert len(KINDS) == len(AGGREGATES)
    names = [form.name for each in AGGREGATES for form in each.forms]
    assert len(set(names)) == len(names)
