"""`quincunx meaning`."""

import json
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from quincunx.cli.meaning import meaning
from quincunx.meaning import explain
from quincunx.mechanisms import Gaussian, Laplace
from quincunx.spec import Specification, standard, unit
from tests.meaning.guarantees import spec

app = typer.Typer(rich_markup_mode=None, pretty_exceptions_enable=False)
app.command("meaning")(meaning)

EXAMPLE = ("--epsilon", "1", "--prior", "0.1", "--unit", "replace")


def run(*arguments: str, **more: Any) -> tuple[int, str, str]:
    result = CliRunner().invoke(app, [*arguments], env={"COLUMNS": "80", "NO_COLOR": "1"}, **more)
    return result.exit_code, result.stdout, result.stderr


def test_the_example_of_the_issue() -> None:
    code, out, err = run(*EXAMPLE)
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert "believed something" in lines[0]
    assert "probability between 3.9 % and 23.2 %, whatever the release says. This is" in lines[2]
    flat = " ".join(out.split())
    assert "belief before 10 % belief after 3.9 % to 23.2 % odds move by at most × 2.72" in flat
    assert "best attack, 5 % false alarms detects at most 13.6 % advantage over guessing at most 46.3 %" in flat
    assert "10 99.96 % × 22,027 99.9957 %" in flat
    assert "From 6 people on, the belief may reach 95 %." in flat
    assert "Conditions - One step of the guarantee is: One person" in flat
    assert max(map(len, lines)) <= 80


@pytest.mark.parametrize(
    ("options", "subject", "asked"),
    [
        (("--epsilon", "1"), spec(), {}),
        (("--epsilon", "1", "--delta", "1e-6"), spec(standard=standard.Approximate("1e-6")), {"outside": "0.01"}),
        (("--rho", "1/8"), spec(standard=standard.ZCDP(), intensity="1/8"), {"outside": "0.01"}),
        (("--mu", "0.5"), spec(standard=standard.GaussianDP(), intensity="1/2"), {"outside": "0.01"}),
    ],
)
@pytest.mark.parametrize(("name", "one"), [("replace", unit.Replace()), ("add-remove", unit.AddRemove())])
def test_every_number_is_the_specification(
    options: tuple[str, ...], subject: Specification, asked: dict[str, str], name: str, one: Any
) -> None:
    more = [part for key, value in asked.items() for part in (f"--{key}", value)]
    code, out, err = run(*options, "--prior", "0.2", "--unit", name, *more, "--json")
    assert (code, err) == (0, "")
    stated = spec(unit=one, standard=subject.standard, intensity=subject.intensity)
    expected = explain("0.2", stated, **asked)  # type: ignore[arg-type]
    assert json.loads(out) == {**expected.to_dict(), "pictures": []}


def test_losses_by_expression() -> None:
    asked = ("--prior", "0.1", "--unit", "add-remove", "--about", "presence", "--group", "2", "--outside", "0.001")
    code, out, _ = run("--loss", "2*laplace(scale=4) + gaussian(sigma=9)", *asked, "--json")
    assert code == 0
    loss = 2 * Laplace(scale=4).loss + Gaussian(sigma=9).loss
    expected = explain("0.1", loss, unit="add-remove", about="presence", people=2, outside="0.001")
    assert json.loads(out) == {**expected.to_dict(), "pictures": []}


def test_sampled_losses_and_their_units() -> None:
    sampled = "10*poisson(gaussian(sigma=4), q=0.01)"
    rest = ("--prior", "0.1", "--about", "presence", "--outside", "0.01")
    code, out, _ = run("--loss", sampled, "--unit", "add-remove", *rest, "--json")
    assert code == 0
    assert json.loads(out)["posterior"]["high"] < 0.12
    code, out, err = run("--loss", sampled, "--unit", "replace", *rest)
    assert (code, out) == (2, "")
    assert err.startswith(
        "error: --unit: does not fit the expression; got replace\nhint: Its sampling is stated for add-"
    )


def test_stored_specifications(tmp_path: Path) -> None:
    file = tmp_path / "spec.json"
    stored = spec(unit=unit.AddRemove(), intensity="1/2")
    file.write_text(stored.to_json(), encoding="utf-8")
    code, out, _ = run("--spec", str(file), "--prior", "0.1", "--json")
    assert code == 0
    assert json.loads(out) == {**explain("0.1", stored).to_dict(), "pictures": []}
    again, same, _ = run("--spec", "-", "--prior", "0.1", "--json", input=stored.to_json())
    assert (again, same) == (0, out)


def test_groups_without_a_bound_say_why() -> None:
    renyi = spec(standard=standard.Renyi(16), intensity="1/2").to_json()
    code, out, _ = run("--spec", "-", "--prior", "0.1", "--outside", "0.01", input=renyi)
    assert code == 0
    assert "For 2 people: Renyi has no group map" in out
    assert "× ∞" in out


def test_pictures_are_written(tmp_path: Path) -> None:
    folder = tmp_path / "new" / "pictures"
    code, out, err = run(*EXAMPLE, "--out", str(folder), "--json")
    assert (code, err) == (0, "")
    names = [f"{name}.svg" for name in ("belief", "errors", "epsilons", "groups")]
    assert json.loads(out)["pictures"] == [str(folder / name) for name in names]
    assert sorted(path.name for path in folder.iterdir()) == sorted(names)
    code, _, err = run(*EXAMPLE, "--out", str(folder))
    assert code == 0
    assert err.splitlines() == [f"wrote {folder / name}" for name in names]


def test_a_folder_that_is_a_file(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    code, out, err = run(*EXAMPLE, "--out", str(tmp_path / "file"))
    assert (code, out) == (2, "")
    assert "--out: this is no folder to write to" in err


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("--prior", "0.1", "--unit", "replace"), 2, "no guarantee is given"),
        ((*EXAMPLE, "--rho", "1"), 2, "exactly one guarantee can be explained at a time; got --epsilon, --rho"),
        ((*EXAMPLE, "--loss", "laplace(scale=1)"), 2, "exactly one guarantee"),
        ((*EXAMPLE, "--spec", "-"), 2, "exactly one guarantee"),
        (("--rho", "1", "--delta", "0.1", "--prior", "0.1", "--unit", "replace"), 2, "--delta: has no meaning here"),
        (("--delta", "0.1", "--prior", "0.1", "--unit", "replace"), 2, "no guarantee is given"),
        (("--epsilon", "1", "--prior", "0.1"), 2, "--unit: a number says nothing without its unit"),
        (("--loss", "laplace(scale=1)", "--prior", "0.1"), 2, "--unit: a number says nothing without its unit"),
        (("--spec", "-", "--prior", "0.1", "--unit", "replace"), 2, "a specification states its own unit"),
        (("--epsilon", "1", "--unit", "replace", "--prior", "1.5"), 2, "--prior: must be a probability"),
        (("--epsilon", "1", "--unit", "replace", "--prior", "-0.1"), 2, "--prior: must be a probability"),
        (("--epsilon", "1", "--unit", "replace", "--prior", "high"), 2, "--prior: expected a finite number"),
        (("--epsilon", "-1", "--unit", "replace", "--prior", "0.1"), 2, "--epsilon: must be 0 or greater"),
        (("--mu", "inf", "--unit", "replace", "--prior", "0.1"), 2, "--mu: expected a finite number"),
        (("--epsilon", "1", "--delta", "1", "--unit", "replace", "--prior", "0.1"), 2, "--delta: must be at least 0"),
        ((*EXAMPLE, "--group", "0"), 2, "--group: must be a whole number"),
        ((*EXAMPLE, "--outside", "1"), 2, "--outside: must be between 0 and 1"),
        (("--mu", "1", "--unit", "replace", "--prior", "0.1"), 4, "probability they may fail: --outside 0.001"),
        (("--loss", "gaussian(sigma=1)", "--unit", "replace", "--prior", "0.1"), 4, "no bounds hold always"),
        ((*EXAMPLE, "--delta", "0.1", "--outside", "0.1"), 4, "Allow more than twice δ"),
        (("--loss", "2*gausian(sigma=5)", *EXAMPLE[2:]), 2, "    ^^^^^^^\nerror: expression, characters 3 to 9: "),
        (("--loss", "laplace(scale=0)", "--unit", "replace", "--prior", "0.1"), 2, "must be greater than 0"),
        (("--loss", "", "--unit", "replace", "--prior", "0.1"), 2, "ends too early"),
        (("--spec", "nowhere.json", "--prior", "0.1"), 2, "nowhere.json: the file cannot be read"),
        (("--epsilon", "1", "--unit", "household", "--prior", "0.1"), 2, "household"),
        ((*EXAMPLE, "--about", "everything"), 2, "everything"),
        (("--epsilon", "1", "--unit", "replace"), 2, "--prior"),
    ],
)  # fmt: skip
def test_bad_input(arguments: tuple[str, ...], code: int, message: str) -> None:
    found, out, err = run(*arguments)
    assert (found, out) == (code, "")
    assert message in err


def test_errors_in_json() -> None:
    code, out, err = run("--loss", "2*gausian(sigma=5)", "--unit", "replace", "--prior", "0.1", "--json")
    assert (code, out) == (2, "")
    assert json.loads(err)["error"] == "ExpressionError"
    code, _, err = run("--mu", "1", "--unit", "replace", "--prior", "0.1", "--json")
    assert code == 4
    assert json.loads(err)["where"] == "--outside"
    code, _, err = run("--spec", "-", "--prior", "0.1", "--json", input="{}")
    assert code == 2
    assert json.loads(err)["error"] == "SpecificationError"


def test_narrow_terminals() -> None:
    result = CliRunner().invoke(app, [*EXAMPLE], env={"COLUMNS": "40", "NO_COLOR": "1"})
    assert result.exit_code == 0
    assert max(map(len, result.stdout.splitlines())) <= 40
    assert "99.96 %" in result.stdout
