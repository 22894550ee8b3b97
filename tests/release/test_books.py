"""The ledger as a session sees it, the guarantee it registers, and explanations."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from quincunx.errors import ParameterError, SpecificationError
from quincunx.release.books import Books, Left
from quincunx.release.explanation import Cost, OutputError
from quincunx.release.guarantee import domain, specification
from quincunx.release.words import root_text
from quincunx.spec.domain import Tables
from quincunx.spec.scope import Everything
from quincunx.spec.standard import ZCDP
from quincunx.spec.unit import AddRemove
from quincunx.table.schema import ColumnSchema, Schema, TableSchema
from tests.release.world import session

QUESTION = "SELECT region, COUNT(*) AS n, AVG(age) AS a FROM visits GROUP BY region"


def table(name: str, *columns: tuple[str, str], public: bool = False) -> TableSchema:
    return TableSchema(name=name, columns=tuple(ColumnSchema(name=n, type=t) for n, t in columns), public=public)


def schema(*tables: TableSchema, **unit: Any) -> Schema:
    return Schema(tables={each.name: each for each in tables}, unit=AddRemove(**({"key": "id"} | unit)))


VISITS = table("visits", ("id", "integer"), ("age", "integer"), ("day", "date"))


def test_one_private_table_is_its_columns() -> None:
    regions = table("regions", ("region", "text"), public=True)
    assert domain(schema(VISITS, regions)) == Tables(columns={"id": "integer", "age": "integer", "day": "date"})
    found = specification(schema(VISITS, regions), ZCDP(), "1/2")
    assert (found.scope, found.intensity) == (Everything(), Fraction(1, 2))


def test_the_units_spelling_of_its_columns_stands() -> None:
    found = specification(schema(VISITS, key="ID", per={"column": "DAY", "period": "day"}), ZCDP(), 1)
    assert dict(found.domain.columns) == {"ID": "integer", "age": "integer", "DAY": "date"}  # type: ignore[attr-defined]


def test_several_private_tables_share_what_identifies() -> None:
    people = table("people", ("ID", "integer"), ("born", "integer"))
    assert dict(domain(schema(VISITS, people)).columns) == {
        "id": "integer",
        "visits.age": "integer",
        "visits.day": "date",
        "people.born": "integer",
    }
    with pytest.raises(SpecificationError, match="has no column"):
        domain(schema(VISITS, table("people", ("born", "integer"))))
    with pytest.raises(SpecificationError, match="different types"):
        domain(schema(VISITS, table("people", ("id", "text"))))
    rows = schema(VISITS, people, key=None)
    assert "people.ID" in dict(domain(rows).columns)


def test_nothing_private_is_nothing_to_protect() -> None:
    with pytest.raises(SpecificationError, match="nothing to protect"):
        domain(schema(table("regions", ("region", "text"), public=True)))


def books(path: object, **budgets: Any) -> Books:
    given = specification(schema(VISITS), ZCDP(Fraction(1, 10**6)), 3)
    return Books(path=path, dataset="visits", specification=given, budgets=budgets or None)


def test_before_the_first_question_all_is_left(tmp_path: Path) -> None:
    found = books(tmp_path / "ledger.db", plan=2, analysts={"alice": 1})
    everything = Left(
        spent=Fraction(0),
        spent_delta=Fraction(0),
        remaining=Fraction(3),
        remaining_delta=Fraction(1, 10**6),
        affordable=Fraction(2),
    )
    assert found.left(None) == everything
    assert found.left("alice").affordable == 1
    assert found.left("bob").affordable == 0
    assert found.look() is None
    assert not (tmp_path / "ledger.db").exists()
    assert found.head() == "0:"
    # Opening registers; the same is then read from the ledger.
    found.open()
    assert found.left(None) == everything
    assert found.left("bob").affordable == 0
    assert found.head().startswith("1:")
    found.close()


def test_a_ledger_of_another_dataset_does_not_know_this_one(tmp_path: Path) -> None:
    with session(ledger=tmp_path / "l.db", dataset="others") as asked:
        asked.sql(QUESTION, spend=1)
    found = books(tmp_path / "l.db")
    assert found.look() is None
    assert found.left(None).remaining == 3
    found.close()


def test_a_ledger_is_a_path() -> None:
    for wrong in (None, 3, b"x"[0]):
        with pytest.raises(ParameterError, match="a ledger is needed"):
            books(wrong)
    assert books(":memory:").memory


# Explanations.


def test_an_explanation_is_one_json_behind_all() -> None:
    with session() as asked:
        found = asked.explain(QUESTION, spend="0.3")
        data = json.loads(found.to_json())
        assert data["cost"]["spend"] == "0.3"
        assert [error["name"] for error in data["errors"]] == ["n", "a"]
        assert data["engine_sql"] == found.engine_sql
        assert found.errors == asked.error(QUESTION, spend="0.3")
        assert found.cost == asked.cost(QUESTION, spend="0.3")
        html = found._repr_html_()
        assert "<details><summary>the engine's SQL</summary><pre" in html
        assert repr(found) == str(found)
        assert str(found).startswith("protects: One person")
        assert "SELECT" not in str(found)


def test_the_error_before_asking_is_that_of_the_answer() -> None:
    with session() as asked:
        count = asked.error(QUESTION, spend=1)[0]
        answer = asked.sql(QUESTION, spend=1)
        width = answer["n_high"][0] - answer["n_low"][0]
        assert count.half_width == pytest.approx(width / 2, rel=0.05)
        assert count.se == pytest.approx(answer["n_se"][0])


def test_a_group_that_is_too_small_has_no_standard_error() -> None:
    with session() as asked:
        small = asked.error(QUESTION, spend="0.001", group_size=1)[1]
        assert small.se is None
        assert small.half_width == pytest.approx(55)
        assert small.to_dict()["assumed"].startswith("assumed: a group of 1 rows")
        for wrong in (0, "x", 1.5):
            with pytest.raises(ParameterError):
                asked.explain(QUESTION, spend=1, group_size=wrong)


def test_costs_say_whether_they_are_covered() -> None:
    cost = Cost(
        symbol="ρ",
        spend=Fraction(2),
        delta=Fraction(0),
        charged=Fraction(2),
        charged_delta=Fraction(0),
        remaining=Fraction(3),
        affordable=Fraction(1),
    )
    assert not cost.covered
    assert cost.to_dict()["covered"] is False
    assert OutputError(name="n", half_width=None, se=None, assumed="").to_dict()["half_width"] is None


@pytest.mark.parametrize(("square", "text"), [("400", "20"), ("9/4", "1.5"), ("2", "√2"), ("1/3", "√(1/3)")])
def test_bounds_are_shown_exactly(square: str, text: str) -> None:
    assert root_text(Fraction(square)) == text
