"""Explanations: what a question would do, its cost and its errors."""

from __future__ import annotations

import json
from fractions import Fraction

import pytest

from quincunx.errors import ParameterError
from quincunx.release.explanation import Cost, OutputError
from quincunx.release.words import root_text
from tests.release.world import session

QUESTION = "SELECT region, COUNT(*) AS n, AVG(age) AS a FROM visits GROUP BY region"


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
