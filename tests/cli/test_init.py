"""`quincunx init`: what it writes, what it says, and that it never overwrites."""

import json
import tomllib
from pathlib import Path

import pytest
from typer.testing import CliRunner

from quincunx.cli.app import app

run = CliRunner()


def test_a_sample(tmp_path: Path) -> None:
    result = run.invoke(app, ["init", str(tmp_path / "sample"), "--people", "200"])
    assert result.exit_code == 0, result.output
    assert (tmp_path / "sample" / "plan.toml").is_file()
    assert "quincunx check" in result.stdout
    assert "README.md" in result.stdout


def test_json_names_the_files(tmp_path: Path) -> None:
    result = run.invoke(app, ["init", str(tmp_path / "sample"), "--people", "200", "--json"])
    files = json.loads(result.stdout)["files"]
    assert len(files) == 8
    assert all(Path(file).is_file() for file in files)


def test_a_plan_for_a_file(tmp_path: Path) -> None:
    (tmp_path / "my.csv").write_text("who,age\ncanary,3\n")
    result = run.invoke(app, ["init", str(tmp_path / "mine"), "--from", str(tmp_path / "my.csv")])
    assert result.exit_code == 0, result.output
    assert "Fill in the blanks" in result.stdout
    assert "canary" not in (tmp_path / "mine" / "plan.toml").read_text()


def test_on_a_terminal_it_asks_for_what_only_the_curator_knows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("quincunx.cli.init.on_terminal", lambda: True)
    (tmp_path / "my.csv").write_text("patient_id,age\ncanary,3\n")
    # The guess is taken by Enter; what cannot be is asked again.
    typed = "\n0\nlots\n1/4\n1.5\n20\n"
    result = run.invoke(app, ["init", str(tmp_path / "mine"), "--from", str(tmp_path / "my.csv")], input=typed)
    assert result.exit_code == 0, result.output
    assert result.stderr.count("How much may ever be told") == 3
    assert result.stderr.count("How many rows") == 2
    plan = tomllib.loads((tmp_path / "mine" / "plan.toml").read_text(encoding="utf-8"))
    assert plan["spec"]["unit"]["key"] == "patient_id"
    assert plan["spec"]["intensity"] == "0.25"
    assert plan["tables"]["my"]["limits"] == {"rows": 20}
    assert "unit:" not in result.stdout
    assert "bounds:" in result.stdout
    checked = run.invoke(app, ["check", str(tmp_path / "mine" / "plan.toml")])
    assert checked.exit_code == 0, checked.output


def test_what_is_not_said_stays_blank(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "my.csv").write_text("who,age\ncanary,3\n")
    arguments = ["--from", str(tmp_path / "my.csv")]
    silent = run.invoke(app, ["init", str(tmp_path / "a"), *arguments])
    monkeypatch.setattr("quincunx.cli.init.on_terminal", lambda: True)
    asked = run.invoke(app, ["init", str(tmp_path / "b"), *arguments], input="nobody\n\n\n\n")
    assert "no such column; there are who, age" in asked.stderr
    assert (tmp_path / "a" / "plan.toml").read_text() == (tmp_path / "b" / "plan.toml").read_text()
    assert silent.stdout.partition("Only you")[2] != ""
    # With --json nobody is asked, and a folder that cannot be used is said before anything is.
    assert "asked" in json.loads(run.invoke(app, ["init", str(tmp_path / "c"), *arguments, "--json"]).stdout)
    again = run.invoke(app, ["init", str(tmp_path / "b"), *arguments], input="who\n1\n1\n")
    assert again.exit_code == 2
    assert "How" not in again.stderr


def test_a_folder_with_something_in_it_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "precious").write_text("x")
    result = run.invoke(app, ["init", str(tmp_path)])
    assert result.exit_code == 2
    assert "not empty" in result.stderr
    assert [file.name for file in tmp_path.iterdir()] == ["precious"]


def test_bad_input(tmp_path: Path) -> None:
    assert run.invoke(app, ["init", str(tmp_path / "a"), "--people", "3"]).exit_code == 2
    assert run.invoke(app, ["init", str(tmp_path / "b"), "--from", str(tmp_path / "none.parquet")]).exit_code == 2
    assert not (tmp_path / "a").exists() or not any((tmp_path / "a").iterdir())
