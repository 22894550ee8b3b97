"""Whole questions: rows, keys, aggregates and what is made of published values."""

from __future__ import annotations

import pytest

from quincunx.errors import QueryError, RefusalError
from quincunx.spec.unit import AddRemove, Replace
from quincunx.table.expression import Column, GroupKey, Measured
from quincunx.table.sql import read
from tests.table.sql.shown import facts, query
from tests.table.sql.visits import SCHEMA, schema

# SQL → its plan, by clause; clauses that are not there are left out.
READ: dict[str, dict[str, object]] = {
    "SELECT COUNT(*) FROM visits": {
        "rows": "visits",
        "aggregates": ["count()"],
        "outputs": ["count_star(): #0"],
    },
    "select count() as N from VISITS where AGE > 3": {
        "rows": "visits | greater(age, 3)",
        "aggregates": ["count()"],
        "outputs": ["N: #0"],
    },
    "FROM visits SELECT COUNT(age), SUM(cost), AVG(score)": {
        "rows": "visits",
        "aggregates": ["count(age)", "sum(cost)", "mean(score)"],
        "outputs": ["count(age): #0", "sum(cost): #1", "avg(score): #2"],
    },
    "SELECT COUNT(1) AS a, COUNT(*) AS b, COUNT(LEAST(age, 1)) AS c FROM visits": {
        "rows": "visits",
        "aggregates": ["count()"],
        "outputs": ["a: #0", "b: #0", "c: #0"],
    },
    "SELECT COUNT(DISTINCT person_id) AS people FROM visits WHERE smoker": {
        "rows": "visits | smoker",
        "aggregates": ["people()"],
        "outputs": ["people: #0"],
    },
    "SELECT COUNT(DISTINCT v.who) AS n FROM (SELECT person_id AS who FROM visits) AS v": {
        "rows": "visits > who=person_id",
        "aggregates": ["people()"],
        "outputs": ["n: #0"],
    },
    "SELECT COUNT(*) FILTER (WHERE age > 3) AS n, SUM(age) FILTER (WHERE smoker) AS s FROM visits": {
        "rows": "visits",
        "aggregates": ["count() where greater(age, 3)", "sum(age) where smoker"],
        "outputs": ["n: #0", "s: #1"],
    },
    "SELECT COUNT(DISTINCT person_id) FILTER (WHERE smoker) AS n FROM visits": {
        "rows": "visits",
        "aggregates": ["people() where smoker"],
        "outputs": ["n: #0"],
    },
    # Keys.
    "SELECT region, COUNT(*) AS n FROM visits GROUP BY region": {
        "rows": "visits",
        "keys": ["region: region"],
        "aggregates": ["count()"],
        "outputs": ["region: @0", "n: #0"],
    },
    "SELECT COUNT(*) AS n FROM visits GROUP BY region": {
        "rows": "visits",
        "keys": ["region: region"],
        "aggregates": ["count()"],
        "outputs": ["n: #0"],
    },
    "SELECT age // 10 AS decade, COUNT(*) AS n FROM visits GROUP BY decade": {
        "rows": "visits",
        "keys": ["decade: whole_divide(age, 10)"],
        "aggregates": ["count()"],
        "outputs": ["decade: @0", "n: #0"],
    },
    "SELECT age // 10, smoker, COUNT(*) AS n FROM visits GROUP BY 1, 2": {
        "rows": "visits",
        "keys": ["age // 10: whole_divide(age, 10)", "smoker: smoker"],
        "aggregates": ["count()"],
        "outputs": ["age // 10: @0", "smoker: @1", "n: #0"],
    },
    "SELECT 10 * (age // 10) AS start, COUNT(*) AS n FROM visits GROUP BY age // 10": {
        "rows": "visits",
        "keys": ["age // 10: whole_divide(age, 10)"],
        "aggregates": ["count()"],
        "outputs": ["start: multiply(10, @0)", "n: #0"],
    },
    # A column hides a name of SELECT in GROUP BY, as in DuckDB; the other way round in ORDER BY.
    "SELECT -age AS age, COUNT(*) AS n FROM visits GROUP BY age ORDER BY age": {
        "rows": "visits",
        "keys": ["age: age"],
        "aggregates": ["count()"],
        "outputs": ["age: negate(@0)", "n: #0"],
        "order": ["negate(@0)"],
    },
    "SELECT COUNT(*) AS n FROM visits GROUP BY region, visits.region, REGION": {
        "rows": "visits",
        "keys": ["region: region"],
        "aggregates": ["count()"],
        "outputs": ["n: #0"],
    },
    # Published values.
    "SELECT SUM(cost) / COUNT(*) AS per_visit, COUNT(*) AS n FROM visits": {
        "rows": "visits",
        "aggregates": ["sum(cost)", "count()"],
        "outputs": ["per_visit: divide(#0, #1)", "n: #1"],
    },
    "SELECT COUNT(*) AS n, n + 1 AS more FROM visits": {
        "rows": "visits",
        "aggregates": ["count()"],
        "outputs": ["n: #0", "more: add(#0, 1)"],
    },
    "SELECT region, COUNT(*) AS n FROM visits GROUP BY region HAVING SUM(age) > 10 AND n > 5": {
        "rows": "visits",
        "keys": ["region: region"],
        "aggregates": ["count()", "sum(age)"],
        "outputs": ["region: @0", "n: #0"],
        "having": "and(greater(#1, 10), greater(#0, 5))",
    },
    "SELECT region AS r FROM visits GROUP BY r HAVING COUNT(*) > 10": {
        "rows": "visits",
        "keys": ["r: region"],
        "aggregates": ["count()"],
        "outputs": ["r: @0"],
        "having": "greater(#0, 10)",
    },
    "SELECT region, COUNT(*) AS n FROM visits GROUP BY 1 "
    "ORDER BY 2 DESC, AVG(cost), region NULLS FIRST LIMIT 5 OFFSET 2": {
        "rows": "visits",
        "keys": ["region: region"],
        "aggregates": ["count()", "mean(cost)"],
        "outputs": ["region: @0", "n: #0"],
        "order": ["#0 desc", "#1", "@0 nulls first"],
        "limit": 5,
        "offset": 2,
    },
    "SELECT CASE WHEN COUNT(*) > 9 THEN 'many' ELSE 'few' END AS size FROM visits": {
        "rows": "visits",
        "aggregates": ["count()"],
        "outputs": ["size: case(greater(#0, 9), 'many', 'few')"],
    },
    # Subqueries and WITH.
    "SELECT AVG(x) AS m FROM (SELECT age + 1 AS x, * FROM visits WHERE smoker) AS s WHERE s.x > 3": {
        "rows": "visits | smoker > x=add(age, 1), person_id=person_id, region=region, age=age, score=score, cost=cost,"
        " weight=weight, rating=rating, visited_at=visited_at, born=born, smoker=smoker, note=note | greater(x, 3)",
        "aggregates": ["mean(x)"],
        "outputs": ["m: #0"],
    },
    "WITH visits AS (SELECT age AS a FROM visits), b AS (SELECT v.* FROM visits AS v) SELECT SUM(a) AS s FROM b": {
        "rows": "visits > a=age > a=a",
        "aggregates": ["sum(a)"],
        "outputs": ["s: #0"],
    },
    "SELECT SUM(y) AS s FROM (SELECT age, cost FROM visits) AS t(y)": {
        "rows": "visits > age=age, cost=cost > y=age, cost=cost",
        "aggregates": ["sum(y)"],
        "outputs": ["s: #0"],
    },
    "WITH a(x) AS (SELECT age FROM visits) SELECT COUNT(x) AS n FROM a": {
        "rows": "visits > age=age > x=age",
        "aggregates": ["count(x)"],
        "outputs": ["n: #0"],
    },
    "SELECT COUNT(*) AS n FROM ((SELECT * FROM visits))": {
        "rows": "visits",
        "aggregates": ["count()"],
        "outputs": ["n: #0"],
    },
    "SELECT COUNT(*) AS n FROM (WITH a AS (SELECT age FROM visits) SELECT * FROM a WHERE age > 1) AS s": {
        "rows": "visits > age=age | greater(age, 1)",
        "aggregates": ["count()"],
        "outputs": ["n: #0"],
    },
    'SELECT COUNT(*) AS "Größe in %" FROM visits AS "V" WHERE "v"."AGE" = 1': {
        "rows": "visits | equal(age, 1)",
        "aggregates": ["count()"],
        "outputs": ["Größe in %: #0"],
    },
}


@pytest.mark.parametrize("sql", READ)
def test_the_question_is_read(sql: str) -> None:
    assert query(read(sql, SCHEMA)) == READ[sql]


def test_equal_aggregates_are_measured_once() -> None:
    found = read("SELECT COUNT(*) AS a, SUM(AGE) AS b, COUNT(*) + SUM(visits.age) AS c FROM visits", SCHEMA)
    assert len(found.aggregates) == 2


def test_published_values_have_types_and_no_bounds() -> None:
    found = read("SELECT COUNT(*), SUM(age), SUM(cost), AVG(age), region FROM visits GROUP BY region", SCHEMA)
    assert [facts(output.expression) for output in found.outputs] == [
        "integer /1",
        "integer /1",
        "decimal /1/100",
        "decimal",
        "text?",
    ]
    assert [type(output.expression) for output in found.outputs] == [Measured] * 4 + [GroupKey]


def test_a_column_is_clipped_to_the_whole_numbers_between_its_bounds() -> None:
    from fractions import Fraction

    from quincunx.table.schema import ColumnSchema, Schema, TableSchema

    bounds = (Fraction(1, 2), Fraction(19, 2))
    column = ColumnSchema(name="x", type="integer", bounds=bounds)
    table = TableSchema(name="t", columns=(column, ColumnSchema(name="y", type="decimal", bounds=bounds)))
    small = Schema(tables={"t": table}, unit=AddRemove())
    found = read("SELECT SUM(x), SUM(y) FROM t", small)
    assert [facts(each.argument) for each in found.aggregates if each.argument] == [
        "integer? [1, 9] /1",
        "decimal? [1/2, 19/2]",
    ]


@pytest.mark.parametrize(
    "unit", [AddRemove(key="PERSON_ID"), Replace(key="person_id"), AddRemove(key="person_id", group=3)]
)
def test_people_are_counted_under_every_unit_with_a_key(unit: AddRemove | Replace) -> None:
    assert read("SELECT COUNT(DISTINCT person_id) FROM visits", schema(unit)).aggregates[0].kind == "people"


@pytest.mark.parametrize("written", ["person_id + 0", "age", "NULLIF(person_id, 1)", "region", "-person_id"])
def test_only_the_key_itself_counts_people(written: str) -> None:
    """Whatever else is counted once is a value, of which one person may have many, whatever it is called."""
    for sql in (
        f"SELECT COUNT(DISTINCT {written}) FROM visits",
        f"SELECT COUNT(DISTINCT person_id) FROM (SELECT {written} AS person_id FROM visits) AS s",
    ):
        (found,) = read(sql, SCHEMA).aggregates
        assert (found.kind, found.terms()[0].vector) == ("distinct", "values")


def test_expressions_refer_to_the_relation_below() -> None:
    found = read("SELECT SUM(b) FROM (SELECT a + 1 AS b FROM (SELECT age AS a FROM visits) AS t) AS s", SCHEMA)
    argument = found.aggregates[0].argument
    assert isinstance(argument, Column)
    assert (argument.name, facts(argument)) == ("b", "integer? [1, 111] /1")


class TestSize:
    """No chain of subqueries doubles an expression or a text again and again."""

    @staticmethod
    def doubled(expression: str, times: int) -> str:
        steps = ["a0 AS (SELECT age, note FROM visits)"]
        for i in range(times):
            steps.append(f"a{i + 1} AS (SELECT {expression} FROM a{i})")
        return f"WITH {', '.join(steps)} SELECT COUNT(*) FROM a{times} WHERE age = 1 OR note = 'x'"

    @pytest.mark.parametrize(
        "expression",
        [
            "age + age AS age, note",
            "age, note || note AS note",
            "age, REPLACE(note, 'a', 'aaaaaaaaaaaaaaaaaaaaaaaaaaaa') AS note",
            "age, CONCAT(note, note) AS note",
        ],
    )
    def test_growth_is_refused(self, expression: str) -> None:
        read(self.doubled(expression, 2), SCHEMA)
        with pytest.raises(RefusalError, match="the question is too large"):
            read(self.doubled(expression, 25), SCHEMA)

    def test_long_chains_of_subqueries_are_refused(self) -> None:
        read(self.doubled("age, note", 30), SCHEMA)
        with pytest.raises(RefusalError, match="subqueries may follow"):
            read(self.doubled("age, note", 60), SCHEMA)

    def test_long_texts_weigh_more(self) -> None:
        written = ", ".join([f"'{'x' * 5_000}' AS t{i}" for i in range(3)])
        joined = " || ".join(["t0", "t1", "t2"] * 30)
        with pytest.raises(RefusalError, match="too large"):
            read(f"SELECT COUNT(*) FROM (SELECT {written} FROM visits) AS s WHERE {joined} = 'x'", SCHEMA)


def test_the_rows_of_a_subquery_without_a_name_need_none() -> None:
    read("SELECT COUNT(age) FROM (SELECT age FROM visits)", SCHEMA)


def test_malformed_questions_are_sentences() -> None:
    for sql in (
        "SELECT COUNT(*) FROM visits WHERE age >",
        "SELECT , FROM visits",
        "SELECT COUNT(*) FROM visits GROUP BY",
    ):
        with pytest.raises((QueryError, RefusalError)) as caught:
            read(sql, SCHEMA)
        assert "\x1b" not in str(caught.value)
        assert "Expect" not in str(caught.value)


def test_a_parser_that_trips_is_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    import sqlglot

    def trips(*_args: object, **_rest: object) -> None:
        raise IndexError("list index out of range")

    monkeypatch.setattr(sqlglot, "parse", trips)
    with pytest.raises(QueryError, match="grammar of SQL"):
        read("SELECT COUNT(*) FROM visits", SCHEMA)
