"""Generated questions are accepted, repeatable, and use every operator and every clause that the reader knows."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator

import pytest
from sqlglot import exp, parse_one

from quincunx.audit.tables.questions import CONSTRUCTS, FORMS, Question, accepted, questions
from quincunx.table.expression import Call, Expression
from quincunx.table.operators import OPERATORS
from quincunx.table.plan import Query
from quincunx.table.relations import Filter, Project, Relation
from quincunx.table.sql.functions import ARGUMENTS, PARTS
from tests.audit.tables.scenes import SALES, UNITS, VISITS, scene

SCENE = scene("add-remove person", "rows + groups")
(PEOPLE,) = [form.name for form in FORMS.values() if form.needs == "key"]


def generated(count: int, **options: object) -> list[Question]:
    return list(itertools.islice(questions(SCENE.schema, SCENE.table, "test", **options), count))  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def many() -> list[Question]:
    return generated(500)


def expressions(query: Query) -> Iterator[Expression]:
    relation: Relation = query.rows
    while isinstance(relation, Filter | Project):
        roots = [relation.condition] if isinstance(relation, Filter) else [each for _, each in relation.chosen]
        for root in roots:
            yield from root.walk()
        relation = relation.source
    parts = [part for each in query.aggregates for part in (each.argument, each.where)]
    for root in (*(key.expression for key in query.keys), *(part for part in parts if part is not None)):
        yield from root.walk()


def test_every_operator_and_construct_comes_up(many: list[Question]) -> None:
    used: Counter[str] = Counter()
    constructs: Counter[str] = Counter()
    for question in many:
        query = accepted(question.sql, SCENE.schema)
        assert query is not None, question.sql
        used.update({node.operator for node in expressions(query) if isinstance(node, Call)})
        constructs.update(question.constructs)
    assert used.keys() == OPERATORS.keys()
    assert constructs.keys() == CONSTRUCTS
    assert min(constructs.values()) >= 5


def test_every_function_that_has_a_name_comes_up(many: list[Question]) -> None:
    nodes = {type(node) for question in many for node in parse_one(question.sql, dialect="duckdb").walk()}
    assert set(ARGUMENTS) - nodes == set()
    assert set(PARTS) - nodes == set()
    wanted = {exp.Filter, exp.Having, exp.Order, exp.Limit, exp.Offset, exp.With, exp.Subquery, exp.Distinct, exp.Where}
    assert wanted <= nodes


def test_a_construct_that_is_noted_is_written(many: list[Question]) -> None:
    for question in many:
        for word in ("FILTER", "HAVING", "COALESCE", "ROUND", "WITH", "LIMIT", "DATE_TRUNC", "NULLIF"):
            if word in question.constructs:
                assert word in question.sql, question.sql
        distinct = {form.name for form in FORMS.values() if form.written.startswith("COUNT(DISTINCT")}
        assert bool(distinct & question.constructs) == ("COUNT(DISTINCT" in question.sql)


def test_questions_are_repeatable() -> None:
    assert generated(20) == generated(20)
    other = itertools.islice(questions(SCENE.schema, SCENE.table, "other"), 20)
    assert generated(20) != list(other)


def test_tidy_questions_sort_only_what_is_filtered() -> None:
    found = generated(150, tidy=True, most=8)
    assert any(len(question.aggregates) == 8 for question in found)
    for question in found:
        if question.keys and question.tail:
            assert question.tail.startswith("HAVING COUNT(*) >")
    public = sum(query.known_keys for question in found if (query := accepted(question.sql, SCENE.schema)))
    assert public > 100


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("table", [VISITS, SALES], ids=lambda table: table.name)
def test_every_unit_and_table_has_questions(unit: str, table: object) -> None:
    each = scene(unit, "rows + groups", table)  # type: ignore[arg-type]
    for question in itertools.islice(questions(each.schema, each.table, "units"), 10):
        assert (PEOPLE not in question.constructs) or each.people


def test_what_is_refused_is_no_question() -> None:
    assert accepted("SELECT MODE(age) FROM visits", SCENE.schema) is None
    assert accepted("SELEC", SCENE.schema) is None
