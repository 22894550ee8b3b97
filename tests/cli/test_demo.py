"""`quincunx demo`: the sample from end to end, in a window of any width, and for programs."""

import json
from fractions import Fraction
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from quincunx.cli import demo
from quincunx.cli.app import app
from quincunx.errors import VerificationError
from quincunx.ledger import Ledger
from quincunx.spec import Specification

HEADINGS = ["People by county and sex", "Cost by department", "Visits by region", "again", "too much", "The ledger"]


def run(*arguments: str, **environment: str) -> Result:
    return CliRunner().invoke(app, ["demo", *arguments], env={"NO_COLOR": "1", **environment})


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, object]]:
    folder = tmp_path_factory.mktemp("demo") / "kept"
    result = run("--keep", str(folder), "--json")
    assert result.exit_code == 0, result.output
    return folder, json.loads(result.stdout)


@pytest.mark.parametrize("columns", ["50", "60", "80", "160"])
def test_it_shows_the_whole_way_in_any_window(columns: str) -> None:
    result = run(COLUMNS=columns)
    assert result.exit_code == 0, result.output
    for label in (*HEADINGS, "█", "░", "Aldermoor, female", "surgery", "north", "±", "Cost 0", "affordable"):
        assert label in result.stdout
    assert "\x1b" not in result.stdout
    # Commands are left to the terminal to wrap, so that they can be copied.
    lines = [line for line in result.stdout.splitlines() if not line.startswith("quincunx ")]
    assert max(map(len, lines)) <= int(columns)


def test_every_release_is_in_the_json(kept: tuple[Path, dict[str, object]]) -> None:
    _, found = kept
    assert set(found) == {"check", "releases", "again", "refused", "intervals_that_hold", "head"}
    releases = found["releases"]
    assert isinstance(releases, dict)
    assert {name: len(each["rows"]) for name, each in releases.items()} == {
        "visits_by_region": 4,
        "cost_by_department": 7,
        "people_by_county": 16,
    }
    for row in releases["people_by_county"]["rows"]:
        assert row["people_low"] <= row["people"] <= row["people_high"]
    specification = releases["people_by_county"]["specification"]
    assert Specification.from_json(json.dumps(specification)).intensity == Fraction(1, 2)


def test_the_second_answer_is_the_first_and_costs_nothing(kept: tuple[Path, dict[str, object]]) -> None:
    _, found = kept
    first, again = found["releases"]["visits_by_region"], found["again"]  # type: ignore[index]
    assert again["spent"] == "0"  # type: ignore[index]
    # The release rounds means to whole numbers; counts are the same.
    for name in ("region", "visits", "people"):
        assert [row[name] for row in first["rows"]] == [row[name] for row in again["rows"]]  # type: ignore[index]


def test_the_refusal_has_its_numbers_and_costs_nothing(kept: tuple[Path, dict[str, object]]) -> None:
    folder, found = kept
    refused = found["refused"]
    assert isinstance(refused, dict)
    amounts = {name: Fraction(refused[name]) for name in ("requested", "spent", "remaining", "affordable")}
    assert amounts["affordable"] < amounts["requested"] == Fraction(1, 4)
    with Ledger.open(folder / "ledger.db") as ledger:
        total = ledger.account("hospital-visits-2024").total
        assert total.spent == Fraction(found["check"]["charged"])  # type: ignore[index]
        assert ledger.verify(str(found["head"])) == found["head"]


def test_what_is_kept_can_be_gone_on_with(kept: tuple[Path, dict[str, object]]) -> None:
    folder, _ = kept
    assert (folder / "published" / "summary.md").is_file()
    asked = ["sql", str(folder / "plan.toml"), demo._NEXT, "--spend", "0.02", "--json"]
    result = CliRunner().invoke(app, asked)
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["spent"] == "0.02"


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    (tmp_path / "precious").write_text("x")
    result = run("--keep", str(tmp_path))
    assert result.exit_code == 2
    assert result.stdout == ""
    assert "not empty" in result.stderr
    assert [file.name for file in tmp_path.iterdir()] == ["precious"]


def test_every_run_gives_other_answers(kept: tuple[Path, dict[str, object]]) -> None:
    other = json.loads(run("--json").stdout)["releases"]["people_by_county"]["rows"]
    # Sixteen counts with σ above 12 agree with probability below (1/30)^16.
    assert other != kept[1]["releases"]["people_by_county"]["rows"]  # type: ignore[index]


def test_half_widths_are_rounded_so_that_they_still_cover() -> None:
    row = {"n": 100, "n_low": 76.4, "n_high": 123.5, "m": 46.214, "m_low": 45.664, "m_high": 46.75}
    assert demo._plus_minus(row, "n") == "100 ± 24"
    assert demo._plus_minus(row, "m") == "46.21 ± 0.55"


def test_an_overspend_would_be_noticed() -> None:
    class Generous:
        def sql(self, text: str, *, spend: object) -> None: ...

    with pytest.raises(VerificationError, match="more than the budget"):
        demo._refused(Generous())  # type: ignore[arg-type]
