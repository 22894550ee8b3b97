"""Top k: neighbours whose intervals overlap are named, whatever a question is ordered by and wherever it is cut."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest

import quincunx as qx

# Far apart, and two nearly alike.
SIZES = {"a": 900, "b": 600, "c": 599, "d": 300, "e": 30}
ROWS = pd.DataFrame({"g": [g for g, n in SIZES.items() for _ in range(n)]}).assign(x=1)
ROWS["person"] = range(len(ROWS))
PAIR = "overlap in rows 2 and 3: order not certain."
LEFT = "The first row that is left out overlaps with the last that is shown, by "
pytestmark = pytest.mark.usefixtures("stream")


def session() -> qx.Session[Any]:
    columns = {"g": {"keys": list(SIZES)}, "x": {"bounds": (0, 2)}}
    return qx.Session(
        dataset="d",
        version="1",
        tables={"t": qx.Table(ROWS, limits={"rows": 1}, columns=columns)},
        unit=qx.unit.AddRemove(key="person"),
        standard=qx.standard.Pure(),
        intensity=1000,
        ledger=":memory:",
    )


@pytest.mark.parametrize(
    ("rest", "said"),
    [
        ("ORDER BY n DESC LIMIT 4", f"Intervals of n {PAIR}"),
        ("ORDER BY COUNT(*) DESC LIMIT 4", f"Intervals of n {PAIR}"),
        ("ORDER BY n DESC LIMIT 2", f"{LEFT}n."),
        ("ORDER BY n DESC LIMIT 1", None),
        ("ORDER BY n DESC LIMIT 1 OFFSET 1", f"{LEFT}n."),
        ("ORDER BY 2 * COUNT(*) + 1 DESC LIMIT 4", f"Intervals of what it is ordered by {PAIR}"),
        ("ORDER BY SUM(x) DESC LIMIT 2", f"{LEFT}what it is ordered by."),
        ("ORDER BY g LIMIT 2", None),
        ("ORDER BY n DESC", None),
    ],
)
def test_neighbours_that_may_change_places_are_named(rest: str, said: str | None) -> None:
    with session() as opened:
        answer = opened.sql(f"SELECT g, COUNT(*) AS n FROM t GROUP BY g {rest}", spend=1)
    found = [note for note in answer.notes if "overlap" in note]
    assert found == ([] if said is None else [said])
    assert all("ordered" not in column.name for column in answer.columns)


@pytest.mark.parametrize(
    ("sql", "said"),
    [
        ("SELECT g, n FROM answer ORDER BY n DESC LIMIT 4", f"Intervals of n {PAIR}"),
        ("SELECT g, n FROM answer ORDER BY 2 DESC LIMIT 2", f"{LEFT}n."),
        ("SELECT g, n / 2 AS half FROM answer ORDER BY n / 2 DESC LIMIT 4", f"Intervals of half {PAIR}"),
        ("SELECT g, n FROM answer ORDER BY g LIMIT 2", None),
        ("SELECT g, n FROM answer ORDER BY n DESC", None),
        ("SELECT g, n FROM answer ORDER BY n DESC LIMIT 1", None),
    ],
)
def test_free_statements_say_it_too(sql: str, said: str | None) -> None:
    with session() as opened:
        found = opened.sql("SELECT g, COUNT(*) AS n FROM t GROUP BY g", spend=1).then(sql)
    assert [line for line in found.told() if "overlap" in line] == ([] if said is None else [said])
    assert found.to_dict()["notes"] == found.told()


def test_windows_in_the_question_say_it_too() -> None:
    with session() as opened:
        sql = "SELECT g, COUNT(*) AS n, RANK() OVER (ORDER BY COUNT(*) DESC) AS place FROM t GROUP BY g"
        answer = opened.sql(f"{sql} ORDER BY n DESC LIMIT 2", spend=1)
    assert f"{LEFT}n." in answer.notes
    assert answer.rows[0]["g"] == "a"
