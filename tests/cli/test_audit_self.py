"""`quincunx audit self`: what it prints, what it writes, and its exit codes."""

from __future__ import annotations

import json
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest
import typer
from click.testing import Result
from typer.testing import CliRunner

from quincunx.audit import self_audit
from quincunx.cli import audit_self as command
from quincunx.cli.audit_self import audit_self
from tests.audit.self_audit.test_page import BROKEN, WRONG, outcome, replayed, report

app = typer.Typer(rich_markup_mode=None, pretty_exceptions_enable=False)
app.command("self")(audit_self)


def run(*arguments: str, columns: str = "80") -> Result:
    return CliRunner().invoke(app, list(arguments), env={"COLUMNS": columns, "NO_COLOR": "1"})


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """What the command asks of the audit, which answers at once with a report made by hand."""
    found: list[dict[str, Any]] = []

    def answer(**given: Any) -> self_audit.SelfReport:
        found.append(given)
        return report()

    monkeypatch.setattr(self_audit, "run", answer)
    return found


def answering(monkeypatch: pytest.MonkeyPatch, **changes: Any) -> None:
    monkeypatch.setattr(self_audit, "run", lambda **_: report(**changes))


@pytest.mark.parametrize("columns", ["60", "80", "120"])
def test_it_prints_a_table_that_fits(asked: list[dict[str, Any]], columns: str) -> None:
    result = run(columns=columns)
    assert result.exit_code == 0, result.output
    shown = result.stdout
    assert max(len(line) for line in shown.splitlines()) <= int(columns)
    assert "\x1b" not in shown
    words = " ".join(shown.split())
    for said in (
        "Additive noise",
        "0.95 95.0 % 1k not refuted",
        "Neighbour replay",
        "What this audit catches",
        "1.2 120.0 % 1k refuted",
        "1,200",
        "None of 2 claims and 1 replay was refuted, all of 2 broken controls refuted.",
        "Not refuted is not proved.",
    ):
        assert said in words, said
    assert len(asked) == 1


@pytest.mark.parametrize(("option", "samples"), [((), 10**6), (("--quick",), 10**5), (("--full",), 10**7)])
def test_sizes(asked: list[dict[str, Any]], option: tuple[str, ...], samples: int) -> None:
    assert run(*option, "--only", "Laplace").exit_code == 0
    assert (asked[0]["samples"], asked[0]["only"]) == (samples, "Laplace")
    assert 1 <= asked[0]["processes"] <= 2
    # Users draw fresh noise.
    assert "series" not in asked[0]


def test_json_is_one_value(asked: list[dict[str, Any]]) -> None:
    result = run("--json")
    assert json.loads(result.stdout) == report().to_dict()
    assert result.stderr == ""
    assert len(asked) == 1


def test_it_writes_a_page_and_json(asked: list[dict[str, Any]], tmp_path: Path) -> None:
    folder = tmp_path / "new" / "audit"
    result = run("--out", str(folder))
    assert result.exit_code == 0, result.output
    assert sorted(path.name for path in folder.iterdir()) == ["audit.html", "audit.json"]
    assert json.loads((folder / "audit.json").read_text(encoding="utf-8")) == report().to_dict()
    assert (folder / "audit.html").read_text(encoding="utf-8") == self_audit.page(report())
    assert f"wrote {folder / 'audit.html'}" in result.stderr
    assert "wrote" not in result.stdout
    assert len(asked) == 1


def test_a_refuted_claim_ends_with_six_and_is_still_written(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    answering(monkeypatch, claims=(outcome(verdict="refuted", tightness=1.3),))
    result = run("--out", str(tmp_path))
    assert result.exit_code == 6
    assert "Refuted: Laplace, ε = 1." in result.stdout
    assert (tmp_path / "audit.html").exists()
    answering(monkeypatch, replays=(replayed(violations=1), WRONG))
    assert run("--json").exit_code == 6


def test_a_control_that_is_missed_ends_with_one(monkeypatch: pytest.MonkeyPatch) -> None:
    answering(monkeypatch, controls=(outcome(name="blind spot", room="controls"),))
    result = run()
    assert result.exit_code == 1
    assert "error: The audit failed: it did not refute blind spot" in " ".join(result.stderr.split())
    # It comes before everything else: with such an auditor a refutation is no news either.
    refuted = outcome(verdict="refuted")
    answering(monkeypatch, controls=(outcome(name="blind spot", room="controls"),), claims=(refuted,))
    assert run("--json").exit_code == 1


def test_endless_bounds_and_missing_parts_are_printed(monkeypatch: pytest.MonkeyPatch) -> None:
    endless = outcome(room="controls", bound=float("inf"), tightness=float("inf"), verdict="refuted")
    answering(monkeypatch, claims=(), controls=(endless,), replays=())
    shown = run().stdout
    assert "∞" in shown
    assert "Neighbour replay" not in shown
    answering(monkeypatch, claims=(), controls=(), replays=(WRONG,))
    assert "wrong bound" in run().stdout
    answering(monkeypatch, controls=(), replays=())
    assert "What this audit catches" not in run().stdout


def test_quick_and_full_exclude_each_other(asked: list[dict[str, Any]]) -> None:
    result = run("--quick", "--full")
    assert result.exit_code == 2
    assert "these two exclude each other" in result.stderr
    assert asked == []


def test_a_folder_that_cannot_be_made_is_refused_before_anything_is_drawn(
    asked: list[dict[str, Any]], tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("")
    result = run("--out", str(tmp_path / "file"))
    assert result.exit_code == 2
    assert "this is no folder to write to" in result.stderr
    assert asked == []


def test_a_folder_that_cannot_be_written_to_is_an_error(asked: list[dict[str, Any]], tmp_path: Path) -> None:
    (tmp_path / "audit.json").mkdir()
    result = run("--out", str(tmp_path))
    assert result.exit_code == 2
    assert "cannot write the report" in result.stderr
    assert len(asked) == 1


def test_an_unknown_name_is_refused() -> None:
    result = run("--only", "no such thing", "--json")
    assert result.exit_code == 2
    assert json.loads(result.stderr)["got"] == "'no such thing'"


def test_the_real_audit_of_two_claims() -> None:
    result = run("--quick", "--only", "a group of", "--json")
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    assert [each["verdict"] for each in found["claims"]] == ["not refuted"] * 2
    assert all(each["samples"] == 100_000 and each["tightness"] > 0.8 for each in found["claims"])
    assert found["keyed"] is False


def test_progress_names_what_was_tried_last(monkeypatch: pytest.MonkeyPatch, asked: list[dict[str, Any]]) -> None:
    stages: list[str] = []
    monkeypatch.setattr(command, "working", lambda *_, **__: nullcontext(stages.append))
    run("--only", "Laplace")
    asked[0]["progress"](1, 2, "a mechanism")
    assert stages == ["1 of 2 done, last a mechanism"]


@pytest.mark.parametrize(("count", "shown"), [(100, "100"), (16_666, "16.67k"), (10**5, "100k"), (10**7, "10M")])
def test_counts_are_short(count: int, shown: str) -> None:
    assert command._short(count) == shown


def test_the_report_made_by_hand_has_both_kinds_of_controls() -> None:
    assert (BROKEN.refuted, WRONG.refuted) == (True, True)
