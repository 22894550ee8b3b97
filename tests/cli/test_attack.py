"""`quincunx attack`."""

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest
import typer
from click.testing import Result
from typer.testing import CliRunner

import quincunx.attack
from quincunx.attack import Story, names
from quincunx.cli import attack
from tests.attack.telling import told

app = typer.Typer(rich_markup_mode=None, pretty_exceptions_enable=False)
app.add_typer(attack.app, name="attack")


def run(*arguments: str, columns: str = "80") -> Result:
    return CliRunner().invoke(app, ["attack", *arguments], env={"COLUMNS": columns, "NO_COLOR": "1"})


@pytest.fixture(autouse=True)
def each_story_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Stories told before are not told anew; names that are refused are refused as ever."""
    real = quincunx.attack.run

    def remembered(name: str, *, series: object = 0) -> Story:
        known = name in ("picture", "differencing") and series in ("0", 0)
        return told(name) if known else real(name, series=series)

    monkeypatch.setattr(quincunx.attack, "run", remembered)


@pytest.mark.parametrize("columns", ["40", "80", "120"])
def test_the_list_names_every_story(columns: str) -> None:
    result = run("list", columns=columns)
    assert (result.exit_code, result.stderr) == (0, "")
    firsts = [line.split()[0] for line in result.stdout.splitlines() if not line.startswith(" ")]
    assert firsts == [name for name, _ in names()]
    assert max(len(line) for line in result.stdout.splitlines()) <= int(columns)


def test_the_list_as_json() -> None:
    assert json.loads(run("list", "--json").stdout) == [{"name": name, "about": about} for name, about in names()]


@pytest.mark.parametrize("columns", ["30", "40", "60", "80", "120"])
@pytest.mark.parametrize("name", ["picture", "differencing"])
def test_a_story_is_told_in_any_window(name: str, columns: str) -> None:
    result = run("run", name, columns=columns)
    assert result.exit_code == 0, result.output
    shown, story = result.stdout, told(name)
    words = " ".join(shown.split())
    assert words.startswith(story.title)
    for part in (story.published, story.known, story.recovered, story.lesson):
        assert part in words
    for cell in (cell for row in story.rows for cell in row if cell):
        assert all(word in words for word in cell.split())
    assert max(len(line) for line in shown.splitlines()) <= int(columns)
    assert "\x1b" not in shown
    assert "…" not in shown
    assert "hint: --out FOLDER" in result.stderr


def test_the_table_stands_in_columns_where_it_fits() -> None:
    lines = run("run", "differencing").stdout.splitlines()
    (exact,) = (line.split() for line in lines if line.startswith("exact  "))
    assert exact == ["exact", "$0", "off", "$0", "off", "100", "%", "0"]
    narrow = run("run", "differencing", columns="40").stdout
    assert "by subtraction: $0 off" in narrow
    assert "\n  : " not in narrow


def test_empty_cells_are_not_told_row_by_row() -> None:
    last = run("run", "differencing", columns="40").stdout.split("none: the middle is guessed")[1]
    assert "by subtraction" not in last.split("lesson")[0]


def test_json_carries_everything(tmp_path: Path) -> None:
    answer = json.loads(run("run", "differencing", "--json", "--out", str(tmp_path)).stdout)
    story = told("differencing")
    assert answer["figures"]["recovered"] == 630_000
    for part in ("name", "title", "published", "known", "recovered", "lesson"):
        assert answer[part] == getattr(story, part)
    assert answer["columns"] == list(story.columns)
    assert [tuple(row) for row in answer["rows"]] == list(story.rows)
    assert answer["sources"] == list(story.sources)
    assert answer["pictures"] == [str(tmp_path / "differencing.svg")]
    assert answer["series"] == "0"


def test_the_pictures_are_written_and_named(tmp_path: Path) -> None:
    folder = tmp_path / "new" / "pictures"
    result = run("run", "picture", "--out", str(folder))
    assert result.exit_code == 0, result.output
    assert sorted(path.name for path in folder.iterdir()) == ["picture.svg", "picture_rows.svg"]
    for path in folder.iterdir():
        ElementTree.parse(path)
        assert f"wrote {path}" in result.stderr
        assert path.name not in result.stdout
    assert "hint" not in result.stderr


def test_another_series_is_another_story() -> None:
    one, other = (json.loads(run("run", "picture", "--series", s, "--json").stdout) for s in ("0", "5"))
    assert one["figures"] != other["figures"]
    assert (one["series"], other["series"]) == ("0", "5")


def test_all_tells_every_story(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def remembered(name: str, *, series: object = 0) -> Story:
        asked.append((name, series))
        return told("picture")

    monkeypatch.setattr(quincunx.attack, "run", remembered)
    assert len(json.loads(run("run", "all", "--json").stdout)) == len(names())
    shown = run("run", "all", "--series", "3").stdout
    assert " ".join(shown.split()).count(told("picture").title) == len(names())
    assert [name for name, _ in asked] == 2 * [name for name, _ in names()]
    assert [series for _, series in asked] == ["0"] * len(names()) + ["3"] * len(names())


def test_an_unknown_name_is_a_usage_error_with_the_nearest() -> None:
    result = run("run", "diferencing")
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.splitlines() == [
        "error: attack: there is no such story; got 'diferencing'",
        "hint: Did you mean differencing?",
    ]
    as_json = run("run", "diferencing", "--json")
    assert (as_json.exit_code, as_json.stdout) == (2, "")
    assert json.loads(as_json.stderr)["error"] == "ParameterError"


@pytest.mark.parametrize("series", ["-1", "x", "0.5", "1e99"])
def test_a_series_that_is_no_whole_number_is_refused(series: str) -> None:
    result = run("run", "picture", f"--series={series}")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "series" in result.stderr


@pytest.mark.parametrize("arguments", [("run",), ("tell", "picture"), ("run", "picture", "--epsilon", "1")])
def test_usage_errors(arguments: tuple[str, ...]) -> None:
    result = run(*arguments)
    assert (result.exit_code, result.stdout) == (2, "")


def test_a_folder_that_cannot_be_made_is_refused_before_anything_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    result = run("run", "picture", "--out", str(tmp_path / "file" / "below"))
    assert (result.exit_code, result.stdout) == (2, "")
    assert "--out" in result.stderr
