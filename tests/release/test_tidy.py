"""Tidying is done where it is true of the statistic, and what it does to an interval keeps its coverage."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest

from quincunx.errors import ParameterError
from quincunx.release.publish import publish
from quincunx.release.tidy import check_tidy, lower_bound, read_tidy
from quincunx.table.engines import evaluate
from quincunx.table.table import Table
from tests.release.test_publish import shown, stored
from tests.release.world import gaussian, session

BOTH = ("non-negative", "integer")


def accounts() -> dict[str, Table]:
    """People with a balance on either side of 0, debts that are never positive and ages."""
    people = range(40)
    frame = pd.DataFrame(
        {"person_id": people, "balance": [-5] * 40, "debt": [-1] * 40, "age": [30 + p % 9 for p in people]}
    )
    columns = {"balance": {"bounds": (-10, 10)}, "debt": {"bounds": (-9, 0)}, "age": {"bounds": (18, 110)}}
    return {"visits": Table(frame, limits={"rows": 1}, columns=columns)}


def test_a_sum_that_can_be_negative_is_not_made_the_point_zero() -> None:
    """The finding: a sum of −200 was published as 0 with the interval [0, 0]."""
    with session(tables=accounts()) as asked, pytest.raises(ParameterError, match="at least 0") as refused:
        asked.sql("SELECT SUM(balance) AS b FROM visits", spend=1, tidy=["non-negative"])
    assert refused.value.where == "tidy"
    assert "CLAMP" in refused.value.hint
    with session(tables=accounts()) as asked:
        assert asked.spent == 0


@pytest.mark.usefixtures("stream")
def test_beside_a_count_a_sum_that_can_be_negative_is_left_alone_and_it_is_said() -> None:
    text = "SELECT SUM(balance) AS b, COUNT(*) AS n FROM visits"
    with session(tables=accounts()) as asked:
        program = asked._dataset.program(text)
        answer = asked.sql(text, spend=20, tidy=["non-negative"])
    found = {column.name: column for column in answer.columns}
    assert found["b"].values[0] < -100
    assert found["b_low"].values[0] <= -200 <= found["b_high"].values[0]
    assert "can be below 0" in found["b"].note
    low = {c.name: c for c in publish(program, stored(program, [-200.0], [-3.0], keys=[()]), confidence=Fraction(9, 10),
                                      tidy=("non-negative",), evaluate=evaluate)}  # fmt: skip
    assert low["n"].values == (0,)
    assert low["b"].values == (-200,)


PROVED = [
    ("COUNT(*)", 0),
    ("COUNT(DISTINCT person_id)", 0),
    ("SUM(age)", 0),
    ("AVG(age)", 18),
    ("SUM(balance)", None),
    ("AVG(balance)", -10),
    ("SUM(debt)", None),
    ("AVG(debt)", -9),
    ("-SUM(debt)", 0),
    ("SUM(age) + 5", 5),
    ("SUM(age) - SUM(debt)", 0),
    ("SUM(age) - COUNT(*)", None),
    ("2 * COUNT(*)", 0),
    ("COUNT(*) * SUM(balance)", None),
    ("AVG(age) * AVG(balance)", -1100),
    ("COUNT(*) / SUM(age)", 0),
    ("COUNT(*) / SUM(balance)", None),
    ("SUM(debt) * AVG(balance)", None),
    ("ROUND(AVG(age), 0)", 18),
    ("ROUND(COUNT(*) / 3, 2)", 0),
    ("NULLIF(COUNT(*), 5)", 0),
    ("CLAMP(SUM(balance), 1, 9)", 1),
    ("CLAMP(SUM(age), -5, 9)", 0),
    ("SUM(CLAMP(balance, 0, 10))", 0),
    ("GREATEST(SUM(balance), 0)", None),
]


@pytest.mark.parametrize(("output", "low"), PROVED)
def test_lower_bounds_are_those_that_are_proved(output: str, low: int | None) -> None:
    with session(tables=accounts()) as asked:
        program = asked._dataset.program(f"SELECT {output} AS x FROM visits")
    assert lower_bound(program.query.outputs[0].expression, program) == low


def test_numeric_keys_have_the_bounds_of_their_list() -> None:
    tables = accounts()
    columns = {"age": {"keys": [30, 31, -2], "bounds": (-5, 110)}}
    frame = pd.DataFrame({"person_id": range(3), "age": [30, 31, 31]})
    tables = {"visits": Table(frame, limits={"rows": 1}, columns=columns)}
    with session(tables=tables) as asked:
        program = asked._dataset.program(
            "SELECT age, COUNT(*) * age AS x, COUNT(*) + age AS y FROM visits GROUP BY age"
        )
    assert [lower_bound(each.expression, program) for each in program.query.outputs] == [-2, None, -2]


def test_a_release_that_cannot_be_tidied_is_refused_before_it_is_asked() -> None:
    with session(tables=accounts()) as asked:
        program = asked._dataset.program("SELECT SUM(debt) AS d, AVG(balance) AS b FROM visits")
    with pytest.raises(ParameterError, match="at least 0"):
        check_tidy(program, read_tidy("non-negative"))
    check_tidy(program, read_tidy("integer"))
    check_tidy(program, ())


def test_whole_numbers_have_whole_intervals_rounded_outwards() -> None:
    found = shown("SELECT region, SUM(cost) AS c FROM visits GROUP BY region", [3.3, 2.5, 2.49, 0.2], tidy=BOTH)
    plain = shown("SELECT region, SUM(cost) AS c FROM visits GROUP BY region", [3.3, 2.5, 2.49, 0.2])
    for end in ("c_low", "c_high"):
        assert found[end].type == "integer"
        assert all(isinstance(value, int) for value in found[end].values)
    for low, wide_low in zip(plain["c_low"].values, found["c_low"].values, strict=True):
        assert wide_low <= max(low, 0)
    for high, wide_high in zip(plain["c_high"].values, found["c_high"].values, strict=True):
        assert wide_high >= high
    assert found["c_se"].type == "float"


@pytest.mark.usefixtures("stream")
def test_tidied_intervals_cover() -> None:
    """2,000 draws of a small count, clamped and rounded: at least 95 %, false-alarm rate 1e-9."""
    text, draws = "SELECT COUNT(*) AS n FROM visits", 2_000
    with session() as asked:
        program = asked._dataset.program(text)
    kept = stored(program, [2.0] * draws, keys=[()] * draws)
    noise = gaussian(round(Fraction(3) / program.measures[0].unit))
    noisy = noise.sample(kept.noisy.measures[0])
    drawn = replace(kept, mechanisms=(noise,), noisy=replace(kept.noisy, measures=(noisy,)))
    columns = {c.name: c for c in publish(program, drawn, confidence=Fraction(19, 20), tidy=BOTH, evaluate=evaluate)}
    ends = zip(columns["n_low"].values, columns["n_high"].values, strict=True)
    covered = sum(low <= 2 <= high for low, high in ends) / draws
    assert covered >= 0.95 - (np.log(1e9) / (2 * draws)) ** 0.5


def test_counts_print_without_decimals() -> None:
    with session() as asked:
        answer = asked.sql("SELECT region, COUNT(*) AS n FROM visits GROUP BY region", spend=50)
    lines = str(answer).splitlines()[1:5]
    assert len(lines) == 4
    # A standard error below 10 used to bring decimals to the interval of a whole number.
    assert all("." not in line for line in lines)


def test_a_release_in_a_plan_is_refused_with_its_line(tmp_path: Any) -> None:
    from quincunx.release import Session
    from tests.release.world import PLAN, write_plan

    text = PLAN.replace("bounds = [0, 110]", "bounds = [-5, 110]").replace(
        "COUNT(*) AS n, AVG(age) AS mean_age", "AVG(age) AS mean_age"
    )
    with (
        Session.open(write_plan(tmp_path, text)) as asked,
        pytest.raises(ParameterError, match="at least 0") as refused,
    ):
        asked.check()
    assert "plan.toml:" in refused.value.where
