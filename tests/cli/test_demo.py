"""`quincunx demo`."""

import json

import pytest
from typer.testing import CliRunner

from quincunx.cli.app import app
from quincunx.spec import Specification

STANDARDS = ["pure", "approximate", "zero-concentrated", "Gaussian", "total variation", "a family of four"]


@pytest.mark.parametrize("columns", ["60", "100", "160"])
def test_it_shows_promise_answers_and_cost(columns: str) -> None:
    result = CliRunner().invoke(app, ["demo"], env={"COLUMNS": columns, "NO_COLOR": "1"})
    assert result.exit_code == 0, result.output
    assert "One person" in result.stdout
    for label in ("bicycle", "horse", "█", "░", *STANDARDS):
        assert label in result.stdout
    assert "\x1b" not in result.stdout
    assert max(len(line) for line in result.stdout.splitlines()) <= int(columns)


def test_json_carries_the_specification_and_intervals() -> None:
    result = CliRunner().invoke(app, ["demo", "--json", "--epsilon", "2"])
    answer = json.loads(result.stdout)
    assert Specification.from_json(json.dumps(answer["specification"])).intensity == 2
    assert len(answer["answers"]) == 8
    for row in answer["answers"]:
        assert isinstance(row["n"], int)
        assert row["n_low"] < row["n"] < row["n_high"]
    assert {row["standard"] for row in answer["loss"]} >= {"pure", "zero-concentrated"}


def test_every_run_gives_another_answer() -> None:
    runs = {CliRunner().invoke(app, ["demo", "--json"]).stdout for _ in range(3)}
    # Eight draws of scale 5 agree with probability below (1/10)^8 for each pair.
    assert len(runs) > 1


@pytest.mark.parametrize("epsilon", ["0", "-1", "nan", "x"])
def test_a_bad_intensity_is_refused(epsilon: str) -> None:
    result = CliRunner().invoke(app, ["demo", "--epsilon", epsilon])
    assert result.exit_code == 2
    assert result.stdout == ""
    assert "epsilon" in result.stderr
