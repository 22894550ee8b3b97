"""Facts and rules written as in SQL."""

from __future__ import annotations

from pathlib import Path

import pytest

from quincunx.errors import ParameterError
from quincunx.invariant.topdown import TopDown
from quincunx.invariant.topdown.sentences import fact, rule
from tests.invariant.topdown.plans import PLAN, write_plan

PREFIX = {"column": "GEOID", "prefix": [2, 5, 15], "names": ["state", "county", "block"]}
COLUMNS = {"columns": ["country", "region"]}


@pytest.mark.parametrize(
    ("text", "levels", "expected"),
    [
        ("SELECT SUBSTRING(GEOID, 1, 2) AS state, COUNT(*) AS n FROM persons GROUP BY 1", PREFIX, ("state", "total")),
        ("select substr(GEOID,1,5), race, count(*) from people group by 1, race;", PREFIX, ("county", "race")),
        ("SELECT GEOID, a, b, COUNT(*) FROM persons GROUP BY GEOID, a, b", PREFIX, ("block", "a*b")),
        ("SELECT COUNT(*) AS n FROM persons", PREFIX, ("state", "total")),
        ("SELECT region, COUNT(*) FROM persons GROUP BY region", COLUMNS, ("region", "total")),
        ("SELECT age, COUNT(*) FROM persons GROUP BY age", COLUMNS, ("country", "age")),
    ],
)
def test_facts(text: str, levels: dict[str, object], expected: tuple[str, str]) -> None:
    assert fact(text, levels, "here") == expected


@pytest.mark.parametrize(
    "text",
    [
        "SELECT COUNT(*), COUNT(*) FROM persons",
        "SELECT SUM(n) FROM persons",
        "SELECT region, COUNT(*) FROM persons",
        "SELECT region, COUNT(*) FROM persons GROUP BY region, age",
        "SELECT country, region, COUNT(*) FROM persons GROUP BY 1, 2",
        "SELECT COUNT(*) FROM persons WHERE age = 1",
        "DELETE FROM persons",
        "",
    ],
)
def test_other_facts_are_refused(text: str) -> None:
    with pytest.raises(ParameterError):
        fact(text, COLUMNS, "here")


def test_rules() -> None:
    assert rule("votingage = 0 AND gq = 'nursing'", "here") == {"votingage": ["0"], "gq": ["nursing"]}
    assert rule("gq in ('a', 'b c') and v = 18+", "here") == {"gq": ["a", "b c"], "v": ["18+"]}
    for text in ("votingage > 0", "a = 1 OR b = 2", "a = 1 AND a = 2", "a = (1)", ""):
        with pytest.raises(ParameterError):
            rule(text, "here")


def test_a_plan_in_sentences_is_the_same_plan(tmp_path: Path) -> None:
    written = PLAN.replace(
        '[{{ level = "country", query = "total" }}]', '["SELECT country, COUNT(*) AS n FROM persons GROUP BY country"]'
    ).replace('[[topdown.zeros]]\nage = "young"\nwork = "yes"\n', "").replace(
        "{more}", "zeros = [\"age = 'young' AND work = 'yes'\"]"
    )  # fmt: skip
    one = TopDown.open(write_plan(tmp_path / "one"))
    two = TopDown.open(write_plan(tmp_path / "two", plan=written))
    assert one.public == two.public
    assert one.specification == two.specification
    broken = written.replace("AND work", "OR work")
    with pytest.raises(ParameterError, match=r"plan.toml:\d+.*cannot read this rule"):
        TopDown.open(write_plan(tmp_path / "three", plan=broken))
