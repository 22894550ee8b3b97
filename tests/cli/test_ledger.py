"""`quincunx ledger show`, `verify`, `export`, `add`, `amend`, `reopen`."""

import json
import shutil
import sqlite3
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import quincunx as qx
from quincunx.cli.ledger import app
from quincunx.errors import HaltedError
from quincunx.ledger import Ledger
from tests.ledger.worlds import question, specification, ticking

STORED = Path(__file__).parent.parent / "fixtures" / "ledger_v1.db"
HEAD = "8:c22ab190a6f068dc74c274ce58f05c50"


@pytest.fixture
def path(tmp_path: Path) -> str:
    return str(shutil.copy(STORED, tmp_path / "ledger.db"))


def run(*words: str, columns: int = 80) -> Any:
    return CliRunner(env={"COLUMNS": str(columns)}).invoke(app, list(words))


def test_show_fits_eighty_columns_and_says_who_spent_what(path: str) -> None:
    result = run("show", path)
    assert result.exit_code == 0
    lines = result.stdout.splitlines()
    assert max(map(len, lines)) <= 80
    text = " ".join(result.stdout.split())
    assert "2 datasets, 8 records" in text
    assert f"head {HEAD}" in text
    assert "ρ = 2, δ = 1e-6 in all. Protected: one person, with all their rows, being added" in text
    assert "dataset ρ 17/70 123/70 2" in text
    assert "analyst bob ρ 0.1 0 0.1" in text
    assert "plan monthly ρ 1/7 5/14 0.5" in text
    assert "2 questions, 1 answer, 1 paid for and not yet answered" in text
    assert "écoles: ε = 0.25: a map, with another tool" in text
    assert "visits: ρ = 0.1 for 9008d849, alice" in text


def test_show_takes_as_many_records_as_asked(path: str) -> None:
    assert "amendment" in run("show", path, "--last", "1").stdout
    assert "registration" not in run("show", path, "--last", "1").stdout
    assert "kind" not in run("show", path, "--last", "0").stdout
    assert run("show", path, "--last", "-1").exit_code == 2


def test_show_as_json(path: str) -> None:
    shown = json.loads(run("show", path, "--last", "2", "--json").stdout)
    assert shown["head"] == HEAD
    visits, schools = shown["datasets"]
    assert visits["total"] == {"spent": "17/70", "remaining": "123/70", "budget": "2"}
    assert visits["analysts"]["bob"] == {"spent": "1/10", "remaining": "0", "budget": "1/10"}
    assert (visits["symbol"], schools["symbol"]) == ("ρ", "ε")
    assert qx.Specification.from_json(json.dumps(visits["specification"])) == specification(2)
    assert [record["seq"] for record in shown["records"]] == [7, 8]


def test_an_empty_ledger_says_so(tmp_path: Path) -> None:
    Ledger.open(tmp_path / "ledger.db").close()
    result = run("show", str(tmp_path / "ledger.db"))
    assert result.exit_code == 0
    assert "0 datasets, 0 records" in " ".join(result.stdout.split())
    assert "Nothing is registered yet." in result.stdout
    assert json.loads(run("show", str(tmp_path / "ledger.db"), "--json").stdout)["datasets"] == []


def test_names_are_shown_as_they_are(tmp_path: Path) -> None:
    with Ledger.open(tmp_path / "ledger.db", clock=ticking()) as ledger:
        ledger.register(dataset="[red]visits[/red]", specification=specification())
        ledger.reserve(question("x", dataset="[red]visits[/red]"), analyst="[bold]")
    shown = run("show", str(tmp_path / "ledger.db")).stdout
    assert "[red]visits[/red]" in shown
    assert "analyst [bold]" in shown


def test_verify_says_the_head(path: str) -> None:
    result = run("verify", path)
    assert (result.exit_code, result.stdout) == (0, f"verified: 8 records, head {HEAD}\n")
    assert "--head" in result.stderr
    with_head = run("verify", path, "--head", HEAD)
    assert (with_head.exit_code, with_head.stderr) == (0, "")
    assert json.loads(run("verify", path, "--head", HEAD, "--json").stdout) == {
        "verified": True, "records": 8, "head": HEAD, "against": HEAD,
    }  # fmt: skip


def test_verify_finds_a_tampered_row_and_a_rolled_back_file(path: str) -> None:
    later = run("verify", path, "--head", "9" + HEAD[1:])
    assert (later.exit_code, later.stdout) == (6, "")
    assert "rolled back or cut" in later.stderr
    assert run("verify", path, "--head", "8:" + "0" * 32).exit_code == 6
    assert run("verify", path, "--head", "eight").exit_code == 2
    connection = sqlite3.connect(path)
    connection.execute("UPDATE records SET time = '2020' WHERE seq = 5")
    connection.commit()
    connection.close()
    found = run("verify", path)
    assert found.exit_code == 6
    assert "record 5 was changed" in found.stderr
    error = json.loads(run("verify", path, "--json").stderr)
    assert (error["error"], "record 5" in error["got"]) == ("VerificationError", True)


def test_export_prints_a_line_for_each_record(path: str) -> None:
    lines = run("export", path).stdout.splitlines()
    assert [json.loads(line)["seq"] for line in lines] == list(range(1, 9))
    assert json.loads(run("export", path, "--json").stdout) == [json.loads(line) for line in lines]
    assert "n = 42" not in "".join(lines)


def test_add_charges_the_dataset(path: str) -> None:
    words = ["add", path, "visits", "--cost", "1/7", "--delta", "1e-7", "--note", "a map", "--when", "2024-05-01"]
    result = run(*words)
    assert result.exit_code == 0
    assert result.stdout.startswith("added: ρ = 27/70 spent, 113/70 remaining; head 9:")
    assert json.loads(run(*words, "--json").stdout)["delta"]["spent"] == "3/10000000"
    refused = run("add", path, "visits", "--cost", "5", "--note", "too much")
    assert (refused.exit_code, refused.stdout) == (3, "")
    assert "The largest affordable spend is ρ" in refused.stderr
    assert run("add", path, "nobody", "--cost", "1", "--note", "a map").exit_code == 4
    assert run("add", path, "visits", "--cost", "lots", "--note", "a map").exit_code == 2
    assert run("add", path, "visits", "--cost", "1").exit_code == 2


def test_amend_changes_what_is_named_and_keeps_the_rest(path: str) -> None:
    words = ("--reason", "more", "--intensity", "3", "--delta", "1e-5", "--plan", "none", "--analyst", "carol=1/20")
    result = run("amend", path, "visits", *words, "--analyst", "bob=none")
    assert result.exit_code == 0, result.stderr
    assert result.stdout.startswith("amended: ρ = 17/70 spent, 193/70 remaining; head 9:")
    with Ledger.open(path) as ledger:
        registration = ledger.account("visits").registration
        assert (registration.total, registration.delta) == (3, qx.numbers.rational("1e-5", "delta"))
        assert registration.plan is None
        assert dict(registration.analysts).keys() == {"alice", "carol"}
        assert ledger.records()[-1].body["reason"] == "more"
    shown = json.loads(run("amend", path, "visits", "--reason", "a cap", "--plan", "1/3", "--json").stdout)
    assert shown["plans"]["default"]["budget"] == "1/3"
    assert shown["total"]["budget"] == "3"


def test_amend_takes_a_whole_specification(path: str, tmp_path: Path) -> None:
    file = tmp_path / "spec.json"
    file.write_text(specification(4).to_json(), encoding="utf-8")
    assert run("amend", path, "visits", "--reason", "more", "--specification", str(file)).exit_code == 0
    with Ledger.open(path) as ledger:
        assert ledger.account("visits").total.budget == 4


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("visits", "--reason", "nothing"), 2),
        (("visits", "--intensity", "3"), 2),
        (("visits", "--reason", "", "--intensity", "3"), 2),
        (("visits", "--reason", "less", "--intensity", "1/10"), 3),
        (("visits", "--reason", "why", "--analyst", "carol"), 2),
        (("visits", "--reason", "why", "--specification", "nowhere.json"), 2),
        (("écoles", "--reason", "why", "--delta", "1e-6"), 2),
        (("nobody", "--reason", "why", "--intensity", "3"), 4),
    ],
)
def test_amendments_that_cannot_be_are_refused(path: str, words: tuple[str, ...], code: int) -> None:
    result = run("amend", path, *words)
    assert (result.exit_code, result.stdout) == (code, "")
    assert run("verify", path).stdout.startswith("verified: 8 records")


@pytest.mark.parametrize("command", ["show", "verify", "export"])
def test_no_command_makes_a_ledger(tmp_path: Path, command: str) -> None:
    missing = run(command, str(tmp_path / "nowhere.db"))
    assert (missing.exit_code, missing.stdout) == (5, "")
    assert "there is no ledger here" in missing.stderr
    assert list(tmp_path.iterdir()) == []
    assert run(command, ":memory:").exit_code == 2
    (tmp_path / "data.csv").write_text("a,b\n")
    assert run(command, str(tmp_path / "data.csv")).exit_code == 5


def test_reopening_a_halted_dataset(tmp_path: Path) -> None:
    path = str(tmp_path / "halted.db")
    with Ledger.open(path, clock=ticking()) as ledger:
        ledger.register(dataset="visits", specification=specification())
        with pytest.raises(HaltedError):
            ledger.store(ledger.reserve(question("x")), None)
    result = run("show", path)
    assert result.exit_code == 0
    out = result.stdout
    assert "1 question, 0 answers, 1 withheld" in out
    words = " ".join(out.split())
    assert (
        "This dataset was halted once, when an engine failed on its rows, and not reopened; it is halted now." in words
    )
    assert "halted visits: an engine failed on the rows of version 1" in words
    assert max(len(line) for line in out.splitlines()) <= 80
    result = run("reopen", path, "visits", "--reason", "the row was mended")
    assert result.exit_code == 0
    assert result.stdout.startswith("reopened: ρ = 0.1 spent, 0.9 remaining; head 4:")
    (account,) = json.loads(run("show", path, "--json").stdout)["datasets"]
    assert account["halted"] is False
    assert account["halts"] == [
        {"seq": 3, "version": "1", "questions": 1, "withheld": 1, "reopened": 4, "allowed": 4},
    ]
    assert "reopened visits: the row was mended" in " ".join(run("show", path).stdout.split())
    again = run("reopen", path, "visits", "--reason", "again")
    assert (again.exit_code, "nothing is halted" in again.stderr) == (2, True)


def test_the_smallest_spend_is_amended_and_kept(path: str) -> None:
    for words in (["--smallest-spend", "1/100"], ["--analyst", "alice=1/4"], ["--intensity", "3"]):
        assert run("amend", path, "visits", *words, "--reason", "because").exit_code == 0
    with Ledger.open(path) as ledger:
        assert str(ledger.account("visits").registration.smallest) == "1/100"
    assert run("amend", path, "visits", "--smallest-spend", "none", "--reason", "because").exit_code == 0
    with Ledger.open(path) as ledger:
        assert ledger.account("visits").registration.smallest_spend is None
        assert ledger.verify() == ledger.head
