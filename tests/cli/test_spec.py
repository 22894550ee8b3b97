"""`quincunx spec show` and `quincunx spec compare`."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

import quincunx as qx
from quincunx.cli.app import app


def specification(intensity: object, unit: object = None, standard: object = None) -> qx.Specification:
    return qx.Specification(
        domain=qx.domain.Tables(columns={"person_id": "text", "age": "integer"}),
        scope=qx.scope.Everything(),
        unit=unit or qx.unit.AddRemove(key="person_id"),
        standard=standard or qx.standard.Pure(),
        intensity=intensity,
    )


def written(folder: Path, name: str, value: qx.Specification) -> str:
    path = folder / name
    path.write_text(value.to_json(), encoding="utf-8")
    return str(path)


def test_show_says_it_in_words(tmp_path: Path) -> None:
    result = CliRunner().invoke(app, ["spec", "show", written(tmp_path, "a.json", specification("1/2"))])
    assert result.exit_code == 0
    assert "ε = 1/2" in result.stdout
    assert "person" in result.stdout


def test_show_reads_standard_input() -> None:
    result = CliRunner().invoke(app, ["spec", "show", "-"], input=specification(1).to_json())
    assert result.exit_code == 0
    assert result.stdout.strip() == specification(1).describe().strip()


def test_show_latex_and_json(tmp_path: Path) -> None:
    file = written(tmp_path, "a.json", specification(1))
    latex = CliRunner().invoke(app, ["spec", "show", file, "--latex"])
    assert latex.stdout.strip() == specification(1).latex().strip()
    answer = json.loads(CliRunner().invoke(app, ["spec", "show", file, "--json"]).stdout)
    assert qx.Specification.from_json(json.dumps(answer["specification"])) == specification(1)
    assert answer["words"] == specification(1).describe()


@pytest.mark.parametrize(
    ("first", "second", "relation"),
    [
        (specification(1), specification(2), "stronger"),
        (specification(2), specification(1), "weaker"),
        (specification(1), specification("1.0"), "equal"),
        (specification(1), specification(2, qx.unit.Replace(key="person_id")), "stronger"),
        (specification(1, qx.unit.Replace(key="person_id")), specification(1), "unknown"),
    ],
)
def test_compare(tmp_path: Path, first: qx.Specification, second: qx.Specification, relation: str) -> None:
    files = [written(tmp_path, "a.json", first), written(tmp_path, "b.json", second)]
    text = CliRunner().invoke(app, ["spec", "compare", *files])
    assert text.exit_code == 0
    assert text.stdout.startswith(f"{relation}: ")
    answer = json.loads(CliRunner().invoke(app, ["spec", "compare", *files, "--json"]).stdout)
    assert answer["relation"] == relation
    assert answer["reason"]


@pytest.mark.parametrize("content", ["", "{", "[]", '{"version": "quincunx/specification/9"}', "null"])
def test_what_cannot_be_read_is_refused(tmp_path: Path, content: str) -> None:
    path = tmp_path / "bad.json"
    path.write_text(content, encoding="utf-8")
    result = CliRunner().invoke(app, ["spec", "show", str(path)])
    assert result.exit_code == 2
    assert result.stdout == ""
    assert result.stderr.startswith("error: ")


def test_a_missing_file_is_named() -> None:
    result = CliRunner().invoke(app, ["spec", "show", "nowhere.json"])
    assert result.exit_code == 2
    assert "nowhere.json" in result.stderr
