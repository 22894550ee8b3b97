"""`quincunx taxonomy check`: what it prints, and what it refuses."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from quincunx.cli.app import app
from quincunx.taxonomy import generate

RUN = CliRunner()


@pytest.fixture
def world(tmp_path: Path) -> Path:
    path = tmp_path / "world.json"
    path.write_text(generate.randomized_response("3/4", 2, absent=True).to_json(), encoding="utf-8")
    return path


def test_it_says_in_words_what_a_world_satisfies(world: Path) -> None:
    done = RUN.invoke(
        app, ["taxonomy", "check", str(world), "--only", "DP", "--only", "ADP", "--only", "NPr", "--only", "SimCDP"]
    )
    assert done.exit_code == 0
    assert "2 of 4 definitions answered" in done.stdout
    assert "DP, ε-differential privacy: ε = ln(3) (about 1.09861)" in done.stdout
    assert "because {00, 01} has probability 0.75 given dataset 0,0 and 0.25 given dataset 1,0" in done.stdout
    assert "NPr: priors" in done.stdout
    assert "No finite world decides" in done.stdout


def test_json_holds_everything(world: Path) -> None:
    done = RUN.invoke(app, ["taxonomy", "check", str(world), "--json"])
    data = json.loads(done.stdout)
    assert len(data["findings"]) == 89
    first = data["findings"][0]
    assert first["answer"]["values"]["ε"]["exact"] == "ln(3)"
    assert first["answer"]["witness"]["probability"] == ["3/4", "1/4"]


def test_a_dimension_is_a_letter(world: Path) -> None:
    done = RUN.invoke(app, ["taxonomy", "check", str(world), "--only", "F", "--json"])
    assert {"IndPr", "f-DP", "InfPr"} <= {finding["definition"] for finding in json.loads(done.stdout)["findings"]}


def test_bad_files_and_names_end_with_the_place_and_code_2(world: Path, tmp_path: Path) -> None:
    broken = tmp_path / "broken.json"
    broken.write_text(world.read_text(encoding="utf-8").replace('"9/16"', '"1/16"', 1), encoding="utf-8")
    done = RUN.invoke(app, ["taxonomy", "check", str(broken)])
    assert done.exit_code == 2
    assert "do not sum to 1" in done.stderr
    assert "line" in done.stderr
    done = RUN.invoke(app, ["taxonomy", "check", str(world), "--only", "ADPP"])
    assert done.exit_code == 2
    assert "Did you mean 'ADP'" in done.stderr
    done = RUN.invoke(app, ["taxonomy", "check", str(tmp_path / "none.json"), "--json"])
    assert done.exit_code == 2
    assert json.loads(done.stderr)["error"] == "WorldError"
