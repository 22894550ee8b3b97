"""Quotients of sums and counts in answers: one interval for both, at the whole confidence."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import quincunx as qx
from tests.table.aggregates.noises import count_bound

GROUPS = 400
ONE = pd.DataFrame({"w": [i % 5 for i in range(60)], "x": [(i * 7) % 11 for i in range(60)]})
ROWS = pd.concat([ONE.assign(g=g) for g in range(GROUPS)], ignore_index=True).assign(person=range(60 * GROUPS))


def session(standard: Any = None, rows: pd.DataFrame = ROWS, unit: Any = None, **columns: Any) -> qx.Session[Any]:
    declared = {
        "w": {"bounds": (0, 4), "null": False},
        "x": {"bounds": (0, 10), "null": False},
        "g": {"keys": list(range(GROUPS))},
    } | columns
    return qx.Session(
        dataset="d",
        version="1",
        tables={"t": qx.Table(rows, limits={"rows": 1}, columns=declared)},
        unit=unit or qx.unit.AddRemove(key="person"),
        standard=standard or qx.standard.Pure(),
        intensity=100,
        ledger=":memory:",
    )


TRUE = {
    "SUM(w * x) / SUM(w)": (ONE.w * ONE.x).sum() / ONE.w.sum(),
    "SUM(x) / SUM(w)": ONE.x.sum() / ONE.w.sum(),
    "100.0 * COUNT_IF(x > 5) / COUNT(*)": 100 * (ONE.x > 5).mean(),
    "(COUNT(*) - COUNT_IF(x > 5)) / NULLIF(COUNT(*), 0)": (ONE.x <= 5).mean(),
    "SUM(x) / (SUM(w) + 5) - 1": ONE.x.sum() / (ONE.w.sum() + 5) - 1,
}


@pytest.mark.usefixtures("stream")
@pytest.mark.parametrize("standard", [qx.standard.Pure(), qx.standard.ZCDP()], ids=["ε", "ρ"])
@pytest.mark.parametrize("written", TRUE)
def test_a_quotient_is_covered_at_its_confidence(written: str, standard: Any) -> None:
    """400 groups with the same rows, false-alarm rate 1e-9; interval arithmetic would cover nearly all."""
    with session(standard) as opened:
        found = opened.sql(f"SELECT g, {written} AS r FROM t GROUP BY g", spend=4).frame
    true = TRUE[written]
    held = ((found.r_low <= true) & (true <= found.r_high)).mean()
    print(f"{written}: {held:.3f}")
    assert count_bound(0.95, GROUPS) <= held <= 0.99
    error = np.sqrt(((found.r - true) ** 2).mean())
    assert (found.r_high - found.r_low).median() / 2 <= 2.6 * error
    assert found.r_se.median() == pytest.approx(error, rel=0.25)


@pytest.mark.usefixtures("stream")
def test_what_is_proved_of_a_weighted_mean_and_of_a_share() -> None:
    """At a spend of nothing, the proved bounds are all that is known; without a proof, nothing is."""
    with session(w={"bounds": (0, 4)}) as opened:
        asked = "SUM(w * x) / SUM(w) AS m, COUNT_IF(x > 5) / COUNT(*) AS s, SUM(x) / SUM(w) AS r"
        row = dict(opened.sql(f"SELECT {asked} FROM t WHERE g = 0", spend="0.001").rows[0])
    assert (row["m_low"], row["m_high"]) == (0.0, 10.0)
    assert (row["s_low"], row["s_high"]) == (0.0, 1.0)
    assert row["r_low"] is None
    with session(w={"bounds": (-1, 4)}) as opened:
        row = dict(opened.sql("SELECT SUM(w * x) / SUM(w) AS m FROM t WHERE g = 0", spend="0.001").rows[0])
    assert row["m_low"] is None


@pytest.mark.usefixtures("stream")
def test_values_that_are_rounded_are_cut_to_the_bounds_too() -> None:
    """Weights of 0.4 count as 0, and 0.4·10 as 4: what is measured is 40, of values from 0 to 10."""
    rows = pd.DataFrame({"person": range(2200), "w": [0.4] * 2000 + [1.0] * 200, "x": [10] * 2000 + [0] * 200, "g": 0})
    with session(rows=rows, w={"bounds": (0, 4), "step": 1, "null": False}) as opened:
        row = dict(opened.sql("SELECT SUM(w * x) / SUM(w) AS m, SUM(w * x) AS a, SUM(w) AS b FROM t", spend=60).rows[0])
    assert row["a"] > 30 * row["b"]
    assert (row["m_low"], row["m"], row["m_high"]) == (10.0, 10.0, 10.0)


CUT = {
    # Everybody at the upper end, or at the lower one, so that noise would pass it.
    "SUM(w * x) / SUM(w)": ((5, 10), 10),
    "SUM(w * y) / SUM(w)": ((0, 5), 5),
    "SUM(w * z) / SUM(w)": ((2, 9), 2),
    "SUM(x) / COUNT(*)": ((5, 10), 10),
    "SUM(y) / COUNT(y)": ((3, 5), 5),
    "-3 * SUM(z) / COUNT(*)": ((-27, -6), -6),
    "100 * COUNT_IF(x = 10) / NULLIF(COUNT(*), 0)": ((0, 100), 100),
}


@pytest.mark.usefixtures("stream")
@pytest.mark.parametrize("standard", [qx.standard.Pure(), qx.standard.ZCDP()], ids=["ε", "ρ"])
@pytest.mark.parametrize("written", CUT)
def test_number_and_interval_lie_between_proved_bounds(written: str, standard: Any) -> None:
    """A row without y counts as 0 in a weighted mean, and not at all over the rows that have one. Still covered."""
    (low, high), true = CUT[written]
    rows = ROWS.assign(x=10, y=5.0, z=2, w=ROWS.w + 1)
    columns = {
        "w": {"bounds": (1, 5), "null": False},
        "x": {"bounds": (5, 10), "null": False},
        "y": {"bounds": (3, 5), "type": "integer"},
        "z": {"bounds": (2, 9), "null": False},
    }
    with session(standard, rows=rows, **columns) as opened:
        found = opened.sql(f"SELECT g, {written} AS r FROM t GROUP BY g HAVING {written} <= {high}", spend=2).frame
    # HAVING sees the number that is shown.
    assert len(found) == GROUPS
    for column in (found.r, found.r_low, found.r_high):
        assert ((low <= column) & (column <= high)).all()
    # Without the cut half of the numbers would lie beyond.
    assert (found.r == true).mean() > 0.3
    assert ((found.r_low <= true) & (true <= found.r_high)).mean() >= count_bound(0.95, GROUPS)


def test_the_rest_of_an_expression_shares_the_risk() -> None:
    with session() as opened:
        both = "SUM(x) / SUM(w)"
        outputs = f"{both} AS r, {both} + AVG(x) AS s, AVG(x) AS m, ROUND({both}, 1) AS t, {both} + {both} AS d"
        sql = f"SELECT {outputs} FROM t WHERE g < 50"
        row = dict(opened.sql(sql, spend=40).rows[0])
    width = {name: row[f"{name}_high"] - row[f"{name}_low"] for name in "rstdm"}
    assert width["s"] > width["r"]
    # Two statements of which each is at half of the risk, and not one of them at all of it.
    assert width["s"] > 1.1 * (width["r"] + width["m"])
    assert width["t"] == pytest.approx(width["r"] + 0.1)
    assert width["d"] == pytest.approx(2 * width["r"])


@pytest.mark.usefixtures("stream")
def test_more_noises_than_one_law_holds_are_taken_apart() -> None:
    counts = " + ".join(f"COUNT_IF(x = {i})" for i in range(6))
    with session() as opened:
        row = dict(opened.sql(f"SELECT ({counts}) / COUNT(*) AS r FROM t WHERE g < 50", spend=40).rows[0])
    assert row["r_low"] < (ONE.x <= 5).mean() < row["r_high"]
