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
    assert "ε = 0.5" in result.stdout
    assert "person" in result.stdout


def test_show_reads_standard_input() -> None:
    result = CliRunner().invoke(app, ["spec", "show", "-"], input=specification(1).to_json())
    assert result.exit_code == 0
    assert result.stdout.strip() == qx.meaning.describe(specification(1)).strip()
    assert result.stdout.startswith(specification(1).describe())


def test_show_latex_and_json(tmp_path: Path) -> None:
    file = written(tmp_path, "a.json", specification(1))
    latex = CliRunner().invoke(app, ["spec", "show", file, "--latex"])
    assert latex.stdout.strip() == specification(1).latex().strip()
    answer = json.loads(CliRunner().invoke(app, ["spec", "show", file, "--json"]).stdout)
    assert qx.Specification.from_json(json.dumps(answer["specification"])) == specification(1)
    assert answer["words"] == qx.meaning.describe(specification(1))


def test_show_says_what_it_means_for_one_person(tmp_path: Path) -> None:
    replaced = specification(1, qx.unit.Replace(key="person_id"))
    file = written(tmp_path, "a.json", replaced)
    shown = CliRunner().invoke(app, ["spec", "show", file])
    assert "probability 10 %" in shown.stdout
    assert "between 3.9 % and 23.2 %" in shown.stdout
    half = CliRunner().invoke(app, ["spec", "show", file, "--prior", "1/2"])
    assert half.stdout.strip() == qx.meaning.describe(replaced, prior="1/2")
    present = CliRunner().invoke(app, ["spec", "show", "-", "--about", "presence"], input=specification(1).to_json())
    assert "that this person is in the data" in present.stdout
    answer = json.loads(CliRunner().invoke(app, ["spec", "show", file, "--prior", "0.3", "--json"]).stdout)
    assert answer["words"] == qx.meaning.describe(replaced, prior="0.3")


def test_what_is_not_proved_is_said_and_refused_where_it_is_asked_for() -> None:
    text = specification(1, qx.unit.Replace(key="person_id"), qx.standard.Approximate("1e-6")).to_json()
    shown = CliRunner().invoke(app, ["spec", "show", "-"], input=text)
    assert shown.exit_code == 0
    assert (
        "No bound on a belief about one person is stated here: no bounds hold always under Approximate." in shown.stdout
    )
    asked = CliRunner().invoke(app, ["spec", "show", "-", "--prior", "0.1"], input=text)
    assert (asked.exit_code, asked.stdout) == (4, "")
    assert "no bounds hold always" in asked.stderr
    stated = CliRunner().invoke(app, ["spec", "show", "-", "--outside", "0.001"], input=text)
    assert "except with probability at most" in stated.stdout


@pytest.mark.parametrize(
    "options",
    [
        ("--prior", "2"),
        ("--prior", "-0.1"),
        ("--prior", "x"),
        ("--about", "age"),
        ("--outside", "0"),
        ("--outside", "1"),
        ("--outside", "nan"),
    ],
)
def test_bad_beliefs_are_refused(options: tuple[str, ...]) -> None:
    result = CliRunner().invoke(app, ["spec", "show", "-", *options], input=specification(1).to_json())
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith("error: ")


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
