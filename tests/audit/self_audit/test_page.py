"""The report of the self-audit: what it says, as a value, as JSON and as one page that needs nothing else."""

from __future__ import annotations

import json
import math
import re
from fractions import Fraction
from html.parser import HTMLParser
from typing import Any
from xml.etree import ElementTree

import pytest

from quincunx.audit import self_audit
from quincunx.audit.self_audit.page import _short, chart, facts, headline, pure, summary
from tests.chart.reading import check_readable, texts

VOID = {"meta", "rect", "line", "circle", "path", "polygon"}


def outcome(**changes: Any) -> self_audit.Outcome:
    given: dict[str, Any] = {
        "name": "Laplace, ε = 1",
        "room": "additive noise",
        "words": "values one apart",
        "claim": "ε = 1",
        "parameter": "ε",
        "bound": 0.95,
        "tightness": 0.95,
        "tight": True,
        "event": "output ≤ 0",
        "p_low": 0.7,
        "q_high": 0.3,
        "samples": 1_000,
        "seconds": 0.123456,
        "verdict": "not refuted",
    }
    return self_audit.Outcome(**(given | changes))


def replayed(**changes: Any) -> self_audit.Replayed:
    given: dict[str, Any] = {
        "name": "replay of tables",
        "words": "questions",
        "cases": 1_200,
        "largest": 1.0,
        "violations": 0,
        "seconds": 1.0,
    }
    return self_audit.Replayed(**(given | changes))


BROKEN = outcome(
    name="too little noise", room="controls", bound=1.2, tightness=1.2, tight=False, verdict="refuted", why=""
)
WRONG = replayed(name="wrong bound", violations=3, largest=1.9, shown="before = [1]\nafter = []", control=True)


def report(**changes: Any) -> self_audit.SelfReport:
    given: dict[str, Any] = {
        "claims": (outcome(), outcome(name="swapping, uniform", room="swapping", tightness=0.8, why="not attained")),
        "controls": (BROKEN,),
        "replays": (replayed(), WRONG),
        "samples": 1_000,
        "risk": Fraction(1, 10**6),
        "tried": 84,
        "seconds": 12.34,
        "keyed": False,
        "made": "2024-01-02T03:04:05+00:00",
        "version": "0.1.0",
    }
    return self_audit.SelfReport(**(given | changes))


def test_a_good_report_says_so_and_claims_no_proof() -> None:
    found = report()
    assert found.finding == "None of 2 claims and 1 replay was refuted, all of 2 broken controls refuted."
    assert (found.refuted, found.missed, found.short) == ((), (), ("swapping, uniform",))
    assert "proved" not in json.dumps(found.to_dict())


def test_a_refuted_claim_is_named() -> None:
    bad = outcome(name="Gaussian", verdict="refuted", tightness=1.1)
    found = report(claims=(outcome(), bad))
    assert found.refuted == ("Gaussian",)
    assert found.finding == "Refuted: Gaussian."
    broken = report(replays=(replayed(violations=2), WRONG))
    assert broken.refuted == ("replay of tables",)
    assert broken.replays[0].verdict == "refuted"


def test_a_control_that_is_missed_is_the_first_thing_said() -> None:
    blind = outcome(name="too little noise", room="controls")
    bad = outcome(name="Gaussian", verdict="refuted")
    found = report(controls=(blind,), claims=(bad,))
    assert found.missed == ("too little noise",)
    assert found.finding.startswith("The audit failed: it did not refute too little noise")
    assert report(replays=(replayed(control=True),)).missed == ("replay of tables",)


def test_a_part_of_the_catalogue_is_said_to_be_one() -> None:
    assert report(controls=(), replays=()).finding == "None of 2 claims was refuted."
    assert report(claims=(), controls=(), replays=(replayed(),)).finding == "None of 1 replay was refuted."
    assert report(claims=(), replays=()).finding == "All of 1 broken control refuted."
    assert "nothing here shows that it can fail" in self_audit.page(report(controls=(), replays=()))


def test_the_json_has_every_number_and_no_infinity() -> None:
    endless = outcome(tightness=math.inf, bound=math.inf)
    found = json.loads(json.dumps(report(claims=(endless,)).to_dict(), allow_nan=False))
    assert found["format"] == "quincunx/audit-self/1"
    assert found["claims"][0]["bound"] == "inf"
    assert found["claims"][0]["seconds"] == 0.12
    assert found["confidence"] == "1 - 1e-06"
    assert [each["verdict"] for each in found["replays"]] == ["not refuted", "refuted"]
    assert found["controls"][0]["verdict"] == "refuted"
    assert (found["claims in the family"], found["samples"], found["refuted"]) == (84, 1_000, [])


class Reader(HTMLParser):
    """Every tag is closed where it should be; nothing is fetched and nothing runs."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: set[str] = set()
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.add(tag)
        assert not {name for name, _ in attrs} & {"src", "href", "onclick", "onload", "style"}
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID:
            assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def read(html: str) -> Reader:
    reader = Reader()
    reader.feed(html)
    assert reader.open == []
    return reader


def test_the_page_is_one_document_without_scripts_or_links() -> None:
    html = self_audit.page(report())
    reader = read(html)
    assert html.startswith("<!DOCTYPE html>")
    assert not reader.seen & {"script", "link", "img", "iframe", "a"}
    assert "url(" not in html
    assert not re.findall(r"https?://", html)
    for svg in re.findall(r"<svg.*?</svg>", html, re.DOTALL):
        ElementTree.fromstring(svg)
    # The summary, two rooms and the controls; a bar for each of their entries.
    assert html.count("<figure>") == 4
    assert html.count("<svg") == html.count('class="bar"') == 5
    assert '<meta name="viewport"' in html
    for rule in ("@media print", "max-width: 40rem", "prefers-color-scheme: dark"):
        assert rule in html


def test_the_page_says_everything() -> None:
    text = " ".join(read(self_audit.page(report())).text.split())
    for said in (
        "Self-audit of Quincunx 0.1.0",
        "3 promises of privacy were attacked, and none was found broken",
        "2024-01-02 03:04:05 UTC",
        "None of 2 claims and 1 replay was refuted",
        "Laplace, ε = 1",
        "ε ≥ 0.95",
        "output ≤ 0: ≥ 0.7 against ≤ 0.3",
        "95.0 %",
        "1,000",
        "not attained",
        "What this audit catches",
        "too little noise",
        "before = [1] after = []",
        "A claim that is not refuted is not proved",
        "Confidence 1 − 1e-6 for all 84 claims",
    ):
        assert said in text, said


def test_the_headline_is_for_strangers_and_claims_no_more_than_was_found() -> None:
    assert headline(report(claims=(outcome(),), replays=())) == (
        "One promise of privacy was attacked, and none was found broken"
    )
    assert headline(report(claims=(outcome(verdict="refuted"), outcome(name="b")), replays=())) == (
        "Quincunx breaks 1 of 2 promises of privacy that were attacked here"
    )
    assert headline(report(controls=(outcome(room="controls"),))).startswith("This audit proves nothing")
    assert headline(report(claims=(), replays=())).endswith("no promise of Quincunx was attacked")


def test_bars_end_at_twice_the_claim_and_the_mark_is_the_claim() -> None:
    html = self_audit.page(report(claims=(outcome(), outcome(name="far", tightness=math.inf, verdict="refuted"))))
    assert 'viewBox="0 0 200 10"' in html
    assert '<rect class="fill" width="200" height="10"/>' in html
    assert "Bars end at twice the claim" in html
    assert 'viewBox="0 0 100 10"' in self_audit.page(report(controls=(), replays=()))


def test_what_should_not_be_is_marked() -> None:
    assert 'class="verdict bad"' not in self_audit.page(report())
    refuted = self_audit.page(report(claims=(outcome(verdict="refuted", tightness=1.5),)))
    assert refuted.count('class="verdict bad"') == 1
    assert 'class="finding bad"' in refuted
    missed = self_audit.page(report(controls=(outcome(room="controls"),), replays=(replayed(control=True),)))
    assert missed.count('class="verdict bad"') == 2


def test_nothing_on_the_page_is_taken_for_html() -> None:
    odd = '<script>alert("x")</script>'
    html = self_audit.page(report(claims=(outcome(name=odd, words=odd, event=odd, why=odd, claim=odd),)))
    assert "script" not in read(html).seen
    assert html.count("&lt;script&gt;") >= 5


def test_long_events_are_cut() -> None:
    html = self_audit.page(report(claims=(outcome(event="x" * 400),)))
    assert "x" * 159 + "…" in html
    assert "x" * 160 not in html


def test_a_run_that_can_be_repeated_says_so() -> None:
    assert "injected key" in facts(report(keyed=True))
    assert "injected key" not in facts(report())


def test_the_charts_can_be_read() -> None:
    good = chart("additive noise", [outcome(name=f"Laplace, ε = {i}", tightness=0.5 + i / 40) for i in range(1, 20)])
    assert good.title == "Additive noise: no bound exceeds its claim; the lowest reaches 52 % of it"
    endless = [BROKEN, outcome(name="endless", room="controls", tightness=math.inf, verdict="refuted")]
    bad = chart("controls", endless)
    assert bad.title == "2 of 2 broken mechanisms are driven beyond their claim"
    assert "∞" in texts(bad)
    refuted = chart("swapping", [outcome(verdict="refuted", tightness=1.5)])
    assert refuted.title == "Swapping: 1 of 1 claims refuted"
    for each in (good, bad, refuted):
        check_readable(each)


def test_the_summary_is_of_attained_pure_claims() -> None:
    others = (
        outcome(name="a", tight=False),
        outcome(name="b", claim="ε = 1, δ = 0.01"),
        outcome(name="c", parameter="ρ", claim="ρ = 1"),
        outcome(name="d", parameter="power", claim="all of δ(ε)"),
    )
    found = report(claims=(outcome(), *others))
    assert [each.name for each in pure(found)] == ["Laplace, ε = 1"]
    assert summary(found).title == "All 1 bounds reach nine tenths of an ε that is attained, and none exceeds it"
    some = report(claims=(outcome(), outcome(name="e", tightness=0.89)))
    assert summary(some).title == "1 of 2 bounds reach nine tenths of an ε that is attained, and none exceeds it"
    bad = report(claims=(outcome(), outcome(name="e", verdict="refuted", tightness=1.1)))
    assert summary(bad).title == "1 of 2 claims of a pure ε are refuted"
    check_readable(summary(bad))
    assert self_audit.page(report(claims=others)).count("<figure>") == 2


@pytest.mark.parametrize("entries", [self_audit.claims(), self_audit.controls()])
def test_every_name_of_the_catalogue_fits_beside_its_bar(entries: Any) -> None:
    for room in {entry.room for entry in entries.values()}:
        names = [name for name, entry in entries.items() if entry.room == room]
        drawn = chart(room, [outcome(name=name, room=room) for name in names])
        assert not [text for text in texts(drawn) if "…" in text]
    # Those of the summary are different without their rooms too.
    tight = [name for name, entry in entries.items() if entry.tight]
    assert len({_short(name) for name in tight}) == len(tight)
