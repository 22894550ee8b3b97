"""Releases: costs before rows, all or nothing, shares that stay the same, files that are whole."""

from __future__ import annotations

import csv
import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import duckdb
import pytest

from quincunx.errors import (
    BudgetError,
    InputError,
    ParameterError,
    PrivacyError,
    QuincunxError,
    RefusalError,
    UnavailableError,
)
from quincunx.release import Release, Session, whole
from quincunx.spec.standard import Approximate
from quincunx.table.sql import derived
from tests.release.world import CANARY, PLAN, WITH_ANALYST, NoEngine, session, write_plan

APPROXIMATE = (
    PLAN.replace('"zcdp", delta = "1e-6"', '"approximate", delta = "1e-6"')
    .replace('{ kind = "add-remove", key = "person_id" }', '{ kind = "add-remove" }')
    .replace("limits = { rows = 10, groups = 3 }\n", "")
)
# Only public keys: δ is stated for the curve.
TWO = APPROXIMATE[: APPROXIMATE.index('[[release]]\nname  = "by_town"')].replace(
    "spend = 2\n", 'spend = 2\ndelta = "1e-7"\n'
)


def spends(session: Session) -> dict[str, Fraction]:
    return {name: each.cost.spend for name, each in session.check().releases if each.cost is not None}


def test_a_check_prices_everything_and_reads_no_row(tmp_path: Path) -> None:
    with Session.open(write_plan(tmp_path)) as opened:
        opened._engine = NoEngine()
        found = opened.check()
        assert [name for name, _ in found.releases] == ["by_region", "total", "by_town"]
        # The share is all that the priced entries leave of the plan's budget.
        assert sum(spends(opened).values()) == found.charged == 50
        assert found.charged_delta == Fraction(1, 10**7)
        assert found.covered
        assert (found.remaining, found.affordable) == (100, 50)
        text = str(found)
        assert "all of it would cost ρ = 50, δ = 1e-7; remaining ρ = 100, δ = 1e-6 for visits-2024" in text
        assert "No private row was read." in text
        assert json.loads(json.dumps(found.to_dict()))["releases"]["total"]["cost"]["covered"] is True
        assert not (tmp_path / "ledger.db").exists()


def test_a_release_writes_whole_files(tmp_path: Path) -> None:
    out = tmp_path / "deep" / "out"
    with Session.open(write_plan(tmp_path)) as opened:
        done = opened.release(out)
        assert isinstance(done, Release)
        assert opened.spent == 50
    names = {"by_region", "total", "by_town"}
    files = {f"{name}.{end}" for name in names for end in ("csv", "parquet")} | {"summary.json", "summary.md"}
    assert {path.name for path in out.iterdir()} == files
    answer = done.answers["by_region"]
    with (out / "by_region.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["region"] for row in rows] == list(answer["region"])
    assert [int(row["n"]) for row in rows] == list(answer["n"])
    assert all(int(row["n"]) >= 0 for row in rows)
    stored = duckdb.connect().execute("SELECT * FROM read_parquet(?)", [str(out / "by_region.parquet")])
    assert stored.fetchall() == [tuple(row.values()) for row in answer.rows]
    summary = json.loads((out / "summary.json").read_text(encoding="utf-8"))
    assert summary["head"] == done.head
    assert summary["releases"]["by_region"]["spent"] == "2"
    assert summary["releases"]["by_region"]["rows"] == 4
    words = (out / "summary.md").read_text(encoding="utf-8")
    assert "What change is hidden (unit)." in words
    assert f"Ledger head: {done.head}" in words
    assert not any(CANARY in path.read_text(encoding="utf-8", errors="replace") for path in out.iterdir())


def test_running_it_again_is_free_and_gives_the_same_tables(tmp_path: Path) -> None:
    plan = write_plan(tmp_path)
    with Session.open(plan) as opened:
        first = opened.release(tmp_path / "one")
    with Session.open(plan) as opened:
        check = opened.check()
        assert (check.charged, check.charged_delta) == (0, 0)
        again = opened.release(tmp_path / "two")
        assert opened.spent == 50
    for name, answer in first.answers.items():
        assert again.answers[name].rows == answer.rows
        assert again.answers[name].spent == 0
        for end in ("csv", "parquet"):
            assert (tmp_path / "one" / f"{name}.{end}").read_bytes() == (
                tmp_path / "two" / f"{name}.{end}"
            ).read_bytes()


@pytest.mark.parametrize("text", [PLAN, TWO], ids=["one by one", "as one"])
def test_what_is_published_says_what_the_release_cost_whichever_run_writes_it(tmp_path: Path, text: str) -> None:
    """The second run rewrote the published summary to "spent ρ = 0"."""
    plan, out = write_plan(tmp_path, text), tmp_path / "out"
    with Session.open(plan) as opened:
        done = opened.release(out)
        total = opened.spent
    first = {name: (out / name).read_text(encoding="utf-8") for name in ("summary.md", "summary.json")}
    releases = json.loads(first["summary.json"])["releases"]
    assert (
        sum(Fraction(each["spent"]) for each in releases.values())
        == total
        == sum(answer.spent for answer in done.answers.values())
    )
    assert sum(Fraction(each["delta"]) for each in releases.values()) == Fraction(1, 10**7)
    assert {Fraction(each["remaining"]) for each in releases.values()} == {100 - total}
    assert not any("first question" in words or "Cost 0" in words for words in first.values())
    assert [note[:18] for note in done.notes] == ["The first question"]
    assert sum("first question" in note for answer in done.answers.values() for note in answer.notes) == 1
    with Session.open(plan) as opened:
        again = opened.release(out)
        assert [answer.spent for answer in again.answers.values()] == [0] * len(releases)
        assert again.notes == ()
        assert all(any(note.startswith("Cost 0") for note in answer.notes) for answer in again.answers.values())
        assert {name: (out / name).read_text(encoding="utf-8") for name in first} == first
        if text == TWO:
            opened.sql("SELECT COUNT(age) AS n FROM visits", spend="1/1000")
        opened.release(out)
    later = json.loads((out / "summary.json").read_text(encoding="utf-8"))["releases"]
    assert [each["spent"] for each in later.values()] == [each["spent"] for each in releases.values()]


def test_a_question_that_was_paid_for_before_the_release_is_published_with_its_price(tmp_path: Path) -> None:
    with Session.open(write_plan(tmp_path)) as opened:
        entry = opened._releases[0]
        opened.sql(entry.sql, spend=entry.spend)
        done = opened.release(tmp_path / "out")
    assert done.answers["by_region"].spent == 0
    summary = json.loads((tmp_path / "out" / "summary.json").read_text(encoding="utf-8"))
    assert summary["releases"]["by_region"]["spent"] == "2"
    assert "spent ρ = 0;" not in (tmp_path / "out" / "summary.md").read_text(encoding="utf-8")


def test_facts_alone_are_published_without_the_note_of_the_first_question(tmp_path: Path) -> None:
    text = PLAN[: PLAN.index("[[release]]")].replace(
        "invariants = []", 'invariants = ["SELECT SUM(age) AS s FROM visits"]'
    )
    with Session.open(write_plan(tmp_path, text)) as opened:
        assert len(opened.release(tmp_path / "out").notes) == 1
    before = (tmp_path / "out" / "summary.md").read_text(encoding="utf-8")
    assert "first question" not in before
    with Session.open(tmp_path / "plan.toml") as opened:
        assert opened.release(tmp_path / "out").notes == ()
    assert (tmp_path / "out" / "summary.md").read_text(encoding="utf-8") == before


def test_shares_are_of_the_registered_budget_not_of_what_is_left(tmp_path: Path) -> None:
    text = PLAN.replace("share = 1", "share = 3") + (
        '\n[[release]]\nname = "more"\nsql = "SELECT COUNT(age) AS n FROM visits"\nshare = 1\n'
    )
    with Session.open(write_plan(tmp_path, text)) as opened:
        before = spends(opened)
        assert before["by_town"] == 3 * before["more"]
        opened.sql("SELECT COUNT(*) AS n FROM visits", spend=1)
        assert spends(opened) == before
        with pytest.raises(BudgetError):
            opened.release(tmp_path / "out")


def test_a_release_is_refused_as_a_whole(tmp_path: Path) -> None:
    text = PLAN.replace("spend = 2", "spend = 51").replace("share = 1", "spend = 1")
    with Session.open(write_plan(tmp_path, text)) as opened:
        opened._engine = NoEngine()
        assert not opened.check().covered
        assert "not covered: at most ρ = 50 can be spent" in str(opened.check())
        with pytest.raises(BudgetError) as caught:
            opened.release(tmp_path / "out")
        assert caught.value.requested is not None
        assert caught.value.requested > 52
        assert (caught.value.spent, caught.value.affordable) == (0, 50)
        assert opened.spent == 0
    assert not (tmp_path / "out").exists()


def test_a_release_beyond_delta_is_refused(tmp_path: Path) -> None:
    text = PLAN.replace('delta = "1e-7"', 'delta = "1e-5"')
    with Session.open(write_plan(tmp_path, text)) as opened:
        assert not opened.check().covered
        with pytest.raises(BudgetError) as caught:
            opened.release(tmp_path / "out")
        assert (caught.value.symbol, caught.value.affordable) == ("δ", Fraction(1, 10**6))


def test_nothing_left_to_share(tmp_path: Path) -> None:
    with Session.open(write_plan(tmp_path, PLAN.replace("spend = 2", "spend = 50"))) as opened:
        with pytest.raises(ParameterError, match="left to share") as caught:
            opened.check()
        line = PLAN[: PLAN.index("share = 1")].count("\n") + 1
        assert f"plan.toml:{line}: release[2].share" in caught.value.where


@pytest.mark.parametrize(
    ("before", "after", "kind"),
    [
        ("AVG(age)", "MAX(age)", RefusalError),
        ("AVG(age)", "AVG(agee)", InputError),
        ("spend = 2", 'spend = 2\ndelta = "1e-8"', ParameterError),
    ],
)
def test_mistakes_in_a_release_have_its_line(
    tmp_path: Path, before: str, after: str, kind: type[QuincunxError]
) -> None:
    text = PLAN.replace(before, after, 1)
    with Session.open(write_plan(tmp_path, text)) as opened:
        with pytest.raises(kind) as caught:
            opened.check()
        line = text[: text.index("[[release]]")].count("\n") + 1
        assert f"plan.toml:{line}: release[0]" in caught.value.where


def test_within_names_an_output(tmp_path: Path) -> None:
    text = PLAN.replace("within = { n = 25 }", "within = { m = 25 }")
    with (
        Session.open(write_plan(tmp_path, text)) as opened,
        pytest.raises(ParameterError, match="no such measured output"),
    ):
        opened.check()


def test_a_batch_under_approximate_privacy_is_charged_as_one(tmp_path: Path) -> None:
    with Session.open(write_plan(tmp_path, TWO)) as opened:
        check = opened.check()
        total = sum(spends(opened).values())
        assert (check.charged, check.charged_delta) == (total, Fraction(1, 10**7))
        done = opened.release(tmp_path / "out")
        assert opened.spent == total
        answers = done.answers.values()
        assert sum(answer.spent for answer in answers) == total
        assert sum(answer.delta for answer in answers) == Fraction(1, 10**7)
        assert all(any("charged as one" in note for note in answer.notes) for answer in answers)
        # All of it together is what was entered.
        whole = sum((answer.loss for answer in answers), start=done.answers["total"].loss * 0)
        assert Fraction(whole.delta(total)) <= Fraction(1, 10**7)
        records = [each.kind for each in opened._account.register().records()]
        assert records == ["registration", "reservation", "answer"]
        again = opened.release(tmp_path / "two")
        assert [answer.spent for answer in again.answers.values()] == [0, 0]
        assert [answer.rows for answer in again.answers.values()] == [answer.rows for answer in answers]
        assert isinstance(opened._dataset.standard, Approximate)


def test_a_folder_that_cannot_be_written_is_refused_before_anything_is_spent(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    with Session.open(write_plan(tmp_path)) as opened:
        with pytest.raises(UnavailableError, match="nothing was spent"):
            opened.release(tmp_path / "file")
        assert opened.spent == 0


def test_a_disk_that_fails_leaves_the_answers_in_the_ledger(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: Any) -> None:
        raise OSError("no space")

    with Session.open(write_plan(tmp_path)) as opened:
        monkeypatch.setattr(whole.os, "replace", full)
        with pytest.raises(UnavailableError, match="in the ledger"):
            opened.release(tmp_path / "out")
        assert list((tmp_path / "out").iterdir()) == []
        monkeypatch.undo()
        assert opened.spent == 50
        opened.release(tmp_path / "out")
        assert opened.spent == 50


def test_a_session_without_releases_has_nothing_to_release(tmp_path: Path) -> None:
    with session() as asked:
        assert asked.check().releases == ()
        with pytest.raises(ParameterError, match="no release"):
            asked.release(tmp_path)


# Opening.


@pytest.mark.parametrize(
    ("before", "after", "line", "kind"),
    [
        ("bounds = [0, 110]", "bounds = [110, 0]", "age ", InputError),
        ("bounds = [0, 110]", 'bounds = ["a", "b"]', "age ", InputError),
        ('step = "0.01"', "step = 0", "cost ", InputError),
        ("age    = {", "agee = {", "agee", InputError),
        ('"regions.region"', '"regions.town"', "region = ", InputError),
        ('"regions.region"', '"visits.town"', "region = ", InputError),
        ("rows = 10", "rows = 0", "limits", InputError),
        ('source = "visits.parquet"', 'source = "nowhere.parquet"', "nowhere", QuincunxError),
        ('key = "person_id"', 'key = "nobody"', 'key = "nobody"', InputError),
        ("invariants = []", 'invariants = ["total"]', "invariants", PrivacyError),
        ('dataset    = "visits-2024"', 'dataset = " x"', "dataset", InputError),
        ('intensity  = "100"', 'intensity = "-1"', "intensity", InputError),
    ],
)
def test_declarations_that_do_not_fit_have_a_line(
    tmp_path: Path, before: str, after: str, line: str, kind: type[QuincunxError]
) -> None:
    text = PLAN.replace(before, after, 1)
    assert text != PLAN
    plan = write_plan(tmp_path, text)
    with pytest.raises(kind) as caught:
        Session.open(plan)
    expected = text[: text.index(line)].count("\n") + 1
    assert caught.value.where.startswith(f"{plan}:{expected}"), str(caught.value)
    assert CANARY not in str(caught.value)


def test_a_plan_opens_from_anywhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_plan(tmp_path, WITH_ANALYST)
    monkeypatch.chdir(tmp_path.parent)
    with Session.open(f"{tmp_path.name}/plan.toml", analyst="alice") as opened:
        assert opened.remaining == 10
        opened.sql("SELECT COUNT(*) AS n FROM visits", spend=1)
    assert (tmp_path / "ledger.db").exists()


@pytest.mark.parametrize("text", [PLAN, APPROXIMATE], ids=["one by one", "as one"])
def test_a_release_paid_for_when_its_keys_were_selected_is_replayed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    """GROUP BY age was unknown, and is public where age has bounds: the same plan finds what it paid for."""
    plan = write_plan(tmp_path, text.replace("SELECT town,", "SELECT age,").replace("GROUP BY town", "GROUP BY age"))
    with monkeypatch.context() as before, Session.open(plan) as opened:
        before.setattr(derived, "completed", lambda keys, *_: keys)
        paid = opened.release(tmp_path / "before").answers
        assert any("town" in name for name in paid)
    with Session.open(plan) as opened:
        opened._engine = NoEngine()
        found = opened.release(tmp_path / "after").answers
        assert {name: each.spent for name, each in found.items()} == dict.fromkeys(paid, 0)
        assert {name: each.rows for name, each in found.items()} == {name: each.rows for name, each in paid.items()}
