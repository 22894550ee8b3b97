"""Limits of one question: they choose C, are part of what names it, and are said."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from typer.testing import CliRunner

from quincunx.cli.app import app
from quincunx.errors import QuincunxError
from quincunx.release import Session
from quincunx.spec import ZCDP, AddRemove
from quincunx.table import Table

# Person i has i rows.
ROWS = [i for i in range(1, 11) for _ in range(i)]
SQL = "SELECT COUNT(*) AS n FROM visits"


def session(snapshot: bool | None = None) -> Session[Any]:
    frame = pa.table({"person": ROWS, "region": ["a" if i % 2 else "b" for i in range(len(ROWS))]})
    table = Table(frame, limits={"rows": 5}, columns={"region": {"keys": ["a", "b"]}})
    return Session(
        dataset="d", version="1", ledger=":memory:", tables={"visits": table}, unit=AddRemove(key="person"),
        standard=ZCDP(), intensity=10**15, snapshot=snapshot,
    )  # fmt: skip


@pytest.mark.parametrize("snapshot", [None, True])
def test_limits_choose_what_counts(snapshot: bool | None) -> None:
    with session(snapshot) as asked:
        for most in (None, 2, 5, 7, 30, 1):
            limits = None if most is None else {"rows": most}
            answer = asked.sql(SQL, spend=10**12, limits=limits)
            bound = most or 5
            # The rows of those over the limit are weighted down to it.
            assert answer.frame.to_pylist()[0]["n"] == sum(min(i, bound) for i in range(1, 11))


def test_limits_are_part_of_the_question() -> None:
    with session() as asked:
        first = asked.sql(SQL, spend=10**12, limits={"rows": 7})
        spent = asked.spent
        assert asked.sql(SQL, spend=10**12, limits={"rows": 7}).frame.equals(first.frame)
        assert asked.spent == spent
        asked.sql(SQL, spend=10**12)
        assert asked.spent == spent + 10**12
        # As declared is the same question as declared.
        asked.sql(SQL, spend=10**12, limits={"rows": 5})
        assert asked.spent == spent + 10**12
        assert asked.cost(SQL, spend=10**12, limits={"rows": 8}).charged == 10**12
        assert asked.cost(SQL, spend=10**12, limits={"rows": 7}).charged == 0


def test_limits_are_said_and_move_the_error() -> None:
    with session() as asked:
        told = asked.explain(SQL, spend=10**12, limits={"rows": 30})
        assert "Limits of this question alone: 30 rows." in told.biases
        assert "People with more than 30 rows may be weighted down." in told.biases
        assert not any("alone" in each for each in asked.explain(SQL, spend=10**12).biases)
        assert "C = 30" in asked.explain(SQL, limits={"rows": 30}).measures[0]
        few, many = (asked.error(SQL, spend=10**12, limits={"rows": most})[0] for most in (2, 20))
        assert few.half_width is not None
        assert many.half_width is not None
        assert many.half_width > 5 * few.half_width


def test_a_report_covers_no_question_with_other_limits() -> None:
    sql = "SELECT region, COUNT(*) AS n FROM visits GROUP BY region"
    with session() as asked:
        asked.limits("visits", spend=10**12)
        assert "n_bias" in asked.sql(sql, spend=10**12).frame.column_names
        assert "n_bias" not in asked.sql(sql, spend=10**12, limits={"rows": 7}).frame.column_names


def test_named_limits_replace_and_others_stay() -> None:
    sql = "SELECT region, COUNT(*) AS n FROM visits GROUP BY region"
    with session() as asked:
        assert "C = √8 rows" in asked.explain(sql, limits={"per_group": 2}).measures[0]


@pytest.mark.parametrize("given", [{"rows": 0}, {"rows": "x"}, {"row": 3}, {"joined": 3}, {}, 5])
def test_what_is_no_limit_changes_nothing(given: Any) -> None:
    with session() as asked:
        for ask in (asked.sql, asked.cost, asked.error, asked.explain):
            with pytest.raises(QuincunxError):
                ask(SQL, spend=10**12, limits=given)
        assert asked.spent == 0


PLAN = """
dataset = "d"
version = "1"
ledger = ":memory:"

[spec]
unit = {{ kind = "add-remove", key = "person" }}
standard = {{ kind = "zcdp" }}
intensity = "1000000000000000"

[tables.visits]
source = "visits.csv"
limits = {{ rows = 5 }}

[[release]]
name = "all"
sql = "SELECT COUNT(*) AS n FROM visits"
spend = "1000000000000"
limits = {limits}
"""


def plan(folder: Path, limits: str) -> Path:
    (folder / "visits.csv").write_text("person\n" + "\n".join(map(str, ROWS)) + "\n", "utf-8")
    file = folder / "plan.toml"
    file.write_text(PLAN.format(limits=limits), "utf-8")
    return file


def test_a_plan_states_them_too(tmp_path: Path) -> None:
    with Session.open(plan(tmp_path, "{ rows = 7 }")) as asked:
        answers = asked.release(tmp_path / "out").answers
        assert answers["all"].frame.fetchall()[0][0] == sum(min(i, 7) for i in range(1, 11))


@pytest.mark.parametrize("limits", ["{ row = 7 }", "{ rows = 0 }", "7"])
def test_a_plan_says_where_they_are_wrong(tmp_path: Path, limits: str) -> None:
    with pytest.raises(QuincunxError, match=r"plan\.toml:\d+"):
        Session.open(plan(tmp_path, limits))


def test_the_command_takes_them(tmp_path: Path) -> None:
    file = str(plan(tmp_path, "{ rows = 7 }"))
    told = CliRunner().invoke(app, ["explain", file, SQL, "--limits", "rows=30"])
    assert "Limits of this question alone: 30 rows." in told.output
    wrong = CliRunner().invoke(app, ["explain", file, SQL, "--limits", "30"])
    assert wrong.exit_code != 0
