"""`quincunx init`: what it writes, what it says, and that it never overwrites."""

import json
from pathlib import Path

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
    assert len(files) == 5
    assert all(Path(file).is_file() for file in files)


def test_a_plan_for_a_file(tmp_path: Path) -> None:
    (tmp_path / "my.csv").write_text("who,age\ncanary,3\n")
    result = run.invoke(app, ["init", str(tmp_path / "mine"), "--from", str(tmp_path / "my.csv")])
    assert result.exit_code == 0, result.output
    assert "Fill in the blanks" in result.stdout
    assert "canary" not in (tmp_path / "mine" / "plan.toml").read_text()


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
