"""`quincunx census`."""

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest
from click.testing import Result
from typer.testing import CliRunner

from quincunx.cli.app import app
from quincunx.cli.census import pictures
from quincunx.spec import Specification
from tests.chart.reading import check_readable, elements, texts


def run(*arguments: str, columns: str = "80") -> Result:
    return CliRunner().invoke(app, ["census", *arguments], env={"COLUMNS": columns, "NO_COLOR": "1"})


IMAGES = Path(__file__).parents[2] / "docs" / "images"
FIGURES = ["19.3609", "16.4164", "17.9898", "15.0454", "11.6776", "8.7332"]


@pytest.mark.parametrize("columns", ["80", "120"])
def test_it_shows_systems_rates_and_what_if(columns: str) -> None:
    result = run(columns=columns)
    assert result.exit_code == 0, result.output
    shown = result.stdout
    for block in ("domain", "scope", "unit", "standard", "intensity"):
        assert shown.count(f"\n{block} ") == 4
    for figure in ("ρ = 2.63", "ρ = 15.29 = 2.63 + 12.66", "ρ = 4.944", "19.776", "264,331", "6.2425", *FIGURES):
        assert figure in shown
    assert "not on one scale" in " ".join(shown.split())
    assert "No known rule ranks" in shown
    assert "e^(2ε)" in shown
    assert max(len(line) for line in shown.splitlines()) <= int(columns)
    assert "\x1b" not in shown


def test_it_writes_the_pictures(tmp_path: Path) -> None:
    folder = tmp_path / "new" / "pictures"
    result = run("--out", str(folder))
    assert result.exit_code == 0, result.output
    names = ["swap_rates.svg", "systems.svg", "what_if.svg"]
    assert sorted(path.name for path in folder.iterdir()) == names
    for name in names:
        ElementTree.parse(folder / name)
        assert f"wrote {folder / name}" in result.stderr
        assert name not in result.stdout


@pytest.mark.parametrize("name", ["systems.svg", "swap_rates.svg", "what_if.svg"])
def test_the_pictures_can_be_read(name: str) -> None:
    picture = pictures()[name]
    check_readable(picture)
    assert not any("…" in text for text in texts(picture))
    assert len(picture.svg) < 40_000


def test_the_bars_carry_the_figures() -> None:
    assert texts(pictures()["what_if.svg"], "value") == FIGURES


@pytest.mark.parametrize("name", ["systems.svg", "swap_rates.svg", "what_if.svg"])
def test_the_guide_shows_the_pictures_as_they_are_drawn_now(name: str) -> None:
    # To renew: quincunx census --out FOLDER, look at them, and copy each to docs/images with "census_" before its name.
    assert (IMAGES / f"census_{name}").read_text(encoding="utf-8") == pictures()[name].svg


def test_json_carries_everything() -> None:
    answer = json.loads(run("--json").stdout)
    assert answer["pictures"] == []
    assert len(answer["systems"]) == 4
    stated = [system["specification"] for system in answer["systems"]]
    assert stated[0] is None
    assert [str(Specification.from_json(json.dumps(each)).intensity) for each in stated[1:]] == [
        "1621727474023/1000000000000", "977560739801/250000000000", "618/125",
    ]  # fmt: skip
    assert [round(each["theorem"], 2) for each in answer["what_if"]] == [19.36, 16.42, 17.99, 15.05, 11.68, 8.73]
    assert all(each["exact"] <= each["theorem"] for each in [*answer["what_if"], *answer["conversion"]])
    assert {each["relation"] for each in answer["comparisons"]} == {"stronger", "unknown"}
    assert len(answer["cautions"]) == 2


def test_the_curves_have_a_line_for_each_stratum() -> None:
    picture = pictures()["swap_rates.svg"]
    assert texts(picture, "legend") == ["10 records", "1,000 records", "264,331 records", "13,475,623 records"]
    assert texts(picture, "x-tick") == ["1 %", "10 %", "50 %", "90 %", "99 %", "99.9 %", "99.99 %", "99.999 %"]
    drawn = elements(picture, "polyline", "line")
    assert len(drawn) == 4
    for line in drawn:
        heights = [float(pair.split(",")[1]) for pair in line.get("points", "").split()]
        lowest = heights.index(max(heights))
        # Pixels grow downwards: each curve falls to its lowest point and rises from there.
        assert 0 < lowest < len(heights) - 1
        assert heights[: lowest + 1] == sorted(heights[: lowest + 1])
        assert heights[lowest:] == sorted(heights[lowest:], reverse=True)


def test_the_table_of_systems_says_what_the_command_says() -> None:
    words = set(" ".join(texts(pictures()["systems.svg"])).split())
    for system in json.loads(run("--json").stdout)["systems"]:
        for block in ("domain", "scope", "unit", "standard", "intensity"):
            assert block in words
            assert set(system[block].split()) <= words


def test_figures_are_rounded_up() -> None:
    cases = json.loads(run("--json").stdout)["what_if"]
    for figure, case in zip(FIGURES, cases, strict=True):
        assert 0 <= float(figure) - case["theorem"] < 1e-4


def test_an_unknown_option_is_a_usage_error() -> None:
    result = run("--year", "2030")
    assert result.exit_code == 2
    assert result.stdout == ""


def test_errors_are_json_when_asked(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    result = run("--json", "--out", str(tmp_path / "file"))
    assert result.exit_code == 2
    assert json.loads(result.stderr)["error"] == "ParameterError"


def test_json_names_the_pictures(tmp_path: Path) -> None:
    answer = json.loads(run("--json", "--out", str(tmp_path)).stdout)
    assert sorted(answer["pictures"]) == sorted(str(path) for path in tmp_path.iterdir())


def test_a_folder_that_cannot_be_made_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for folder in (tmp_path / "file", tmp_path / "file" / "below"):
        result = run("--out", str(folder))
        assert result.exit_code == 2
        assert "--out" in result.stderr
        assert result.stdout == ""
