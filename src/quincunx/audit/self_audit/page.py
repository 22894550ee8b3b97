"""The report as one HTML page: no scripts, nothing fetched, readable in a narrow window and on paper."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import Final

from quincunx.audit.self_audit.outcome import GOAL, Outcome, Replayed, SelfReport
from quincunx.chart import Bar, Chart, bars

_STYLE: Final = """
:root { color-scheme: light; }
body { font: 16px/1.5 Helvetica, Arial, "DejaVu Sans", sans-serif; color: #1a1a1a; background: #fff;
  max-width: 60rem; margin: 0 auto; padding: 1rem; }
h1 { font-size: 1.5rem; line-height: 1.25; } h2 { font-size: 1.2rem; margin-top: 2rem; }
p.finding { font-size: 1.1rem; font-weight: bold; border-left: 6px solid #2b8a6e; padding-left: .8rem; }
p.finding.bad { border-color: #b00020; }
p.facts { color: #555; }
table { border-collapse: collapse; width: 100%; font-size: .9rem; }
th:first-child { width: 32%; } th:nth-child(2) { min-width: 5.5em; }
th, td { text-align: left; vertical-align: top; padding: .35rem .6rem .35rem 0; border-bottom: 1px solid #dcdcdc; }
td.verdict { white-space: nowrap; }
td.number { font-variant-numeric: tabular-nums; white-space: nowrap; }
td small { color: #555; display: block; }
td.verdict.bad { font-weight: bold; color: #b00020; }
pre { white-space: pre-wrap; overflow-wrap: anywhere; font-size: .85rem; background: #f4f4f4; padding: .6rem; }
figure { margin: 1rem 0; overflow-x: auto; }
figure svg { max-width: 100%; height: auto; min-width: 34rem; }
@media (max-width: 40rem) {
  thead { display: none; }
  tr { display: block; border-bottom: 2px solid #999; padding: .4rem 0; }
  td { display: block; border: 0; padding: .1rem 0; }
  td[data-label]::before { content: attr(data-label) ": "; color: #555; }
}
@media print {
  body { max-width: none; font-size: 10pt; padding: 0; }
  tr, figure { break-inside: avoid; } h2 { break-after: avoid; }
  figure svg { min-width: 0; }
}
"""
_WORDS: Final = """
<p>Each claim was tried on two neighbouring datasets on which the mechanism is at its worst. The first part of the draws
chose the event that tells the two datasets apart best; the rest bounded its probability on both sides (Clopper and
Pearson). The <em>bound</em> is how much of the claim's parameter is certainly reached; a bound beyond the claim refutes
it. A claim that is not refuted is not proved: the proofs are in the notes beside the code, and this page shows that
the code that runs does not contradict them.</p>
<p>A bound close to the claim shows that the audit could hardly have missed a violation on this pair. Where it stays far
below, the entry says why, or there were too few draws.</p>
"""


def page(report: SelfReport) -> str:
    """The whole page."""
    rooms = dict.fromkeys(outcome.room for outcome in report.claims)
    claims = [_room(room, [each for each in report.claims if each.room == room]) for room in rooms]
    own = [each for each in report.replays if not each.control]
    parts = [
        f"<h1>Self-audit of Quincunx {escape(report.version)}</h1>",
        f'<p class="finding{" bad" if report.missed or report.refuted else ""}">{escape(report.finding)}</p>',
        f'<p class="facts">{escape(facts(report))}</p>',
        _WORDS if claims else "",
        f"<figure>{summary(report).svg}</figure>" if pure(report) else "",
        *claims,
        _replays("Neighbour replay", own, _REPLAY) if own else "",
        _controls(report),
    ]
    body = "\n".join(part for part in parts if part)
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>Self-audit of Quincunx {escape(report.version)}</title>\n<style>{_STYLE}</style>\n</head>\n"
        f"<body>\n{body}\n</body>\n</html>\n"
    )


def facts(report: SelfReport) -> str:
    """Samples, confidence and time in one line."""
    key = " The draws came from an injected key: this run can be repeated." if report.keyed else ""
    return (
        f"{report.samples:,} draws on each side were asked for. Confidence 1 − {float(report.risk):g} for all "
        f"{report.tried} claims of the catalogue together. {report.seconds:,.0f} seconds, {report.made}.{key}"
    )


# A bar does not grow beyond this many claims; its number is printed beside it.
_FARTHEST: Final = 2.0
_CUT: Final = "Bars end at twice the claim; the numbers beside them go on."
_LONGEST: Final = 160
_SHORT: Final = {
    **dict.fromkeys(("composition, ", "sampling, ", "swapping, ", "table, ", "Session.sql, "), ""),
    "RandomizedResponse": "Response",
    "PartitionSelection": "Partition",
    "ThresholdSelection": "Threshold",
    "two coordinates": "2D",
    "three randomized": "3",
}
_REPLAY: Final = (
    "Generated neighbours go through the engine and through every statistic with a declared sensitivity; the exact "
    "distance of the results is compared with what was declared. 1 is as far as allowed."
)


def pure(report: SelfReport) -> list[Outcome]:
    """The claims of a pure ε that their pair attains."""
    return [each for each in report.claims if each.tight and each.parameter == "ε" and "δ" not in each.claim]


def summary(report: SelfReport) -> Chart:
    """How much of each attained ε the bound reaches, whatever the room."""
    found = pure(report)
    beyond, near = sum(each.refuted for each in found), sum(each.tightness >= GOAL for each in found)
    many = f"All {near}" if near == len(found) else f"{near} of {len(found)}"
    title = f"{many} bounds reach nine tenths of an ε that is attained, and none exceeds it"
    return _bars(found, f"{beyond} of {len(found)} claims of a pure ε are refuted" if beyond else title)


def chart(room: str, outcomes: Sequence[Outcome]) -> Chart:
    """How much of each claim the bound reaches."""
    refuted = sum(outcome.refuted for outcome in outcomes)
    lowest = min(outcome.tightness for outcome in outcomes)
    what, count = room[:1].upper() + room[1:], len(outcomes)
    if room == "controls":
        title = f"{refuted} of {count} broken mechanisms are driven beyond their claim"
    elif refuted:
        title = f"{what}: {refuted} of {count} claims refuted"
    else:
        title = f"{what}: no bound exceeds its claim; the lowest reaches {int(100 * max(0.0, lowest))} % of it"
    return _bars(outcomes, title)


def _bars(outcomes: Sequence[Outcome], title: str) -> Chart:
    return bars(
        [
            Bar(label=_short(outcome.name), value=min(outcome.tightness, _FARTHEST), text=_share(outcome.tightness))
            for outcome in outcomes
        ],
        title=title,
        x="bound as a part of the claim (1 = the claim)",
        note=_CUT if any(outcome.tightness > _FARTHEST for outcome in outcomes) else "",
    )


def _short(name: str) -> str:
    """The name as it fits beside a bar."""
    for long, short in _SHORT.items():
        name = name.replace(long, short)
    return name


def _room(room: str, outcomes: Sequence[Outcome]) -> str:
    return f"<h2>{escape(room[:1].upper() + room[1:])}</h2>\n<figure>{chart(room, outcomes).svg}</figure>\n" + _table(
        outcomes, right="not refuted"
    )


def _table(outcomes: Iterable[Outcome], *, right: str) -> str:
    lines = []
    for each in outcomes:
        why = f"<small>{escape(each.why)}</small>" if each.why else ""
        event = f"<small>{escape(_cut(each.event))}: ≥ {each.p_low:.6g} against ≤ {each.q_high:.6g}</small>"
        cells = [
            _cell("", f"<b>{escape(each.name)}</b><small>{escape(each.words)}</small>{why}"),
            _cell("claim", escape(each.claim)),
            _cell("bound", f"{escape(each.parameter)} ≥ {each.bound:.6g}{event}"),
            _cell("bound / claim", _share(each.tightness), "number"),
            _cell("draws", f"{each.samples:,}", "number"),
            _cell("verdict", each.verdict, "verdict" if each.verdict == right else "verdict bad"),
        ]
        lines.append(f"<tr>{''.join(cells)}</tr>")
    return _framed(("mechanism and datasets", "claim", "bound", "bound / claim", "draws", "verdict"), lines)


def _replays(title: str, replays: Sequence[Replayed], words: str) -> str:
    lines = []
    for each in replays:
        shown = f"<pre>{escape(each.shown)}</pre>" if each.shown else ""
        bad = each.refuted != each.control
        cells = [
            _cell("", f"<b>{escape(each.name)}</b><small>{escape(each.words)}</small>{shown}"),
            _cell("cases", f"{each.cases:,}", "number"),
            _cell("largest distance / declared", f"{each.largest:.6g}", "number"),
            _cell("verdict", each.verdict, "verdict bad" if bad else "verdict"),
        ]
        lines.append(f"<tr>{''.join(cells)}</tr>")
    table = _framed(("what is replayed", "cases", "largest distance / declared", "verdict"), lines)
    return f"<h2>{title}</h2>\n<p>{escape(words)}</p>\n{table}"


def _controls(report: SelfReport) -> str:
    replays = [each for each in report.replays if each.control]
    if not report.controls and not replays:
        return "<h2>What this audit catches</h2>\n<p>No control was run, so nothing here shows that it can fail.</p>"
    words = (
        "<p>The same auditor on mechanisms that are broken on purpose, each next to the claim of what it was meant to "
        "be. All of them must be refuted: a check that cannot fail shows nothing.</p>"
    )
    drawn = ""
    if report.controls:
        figure = f"<figure>{chart('controls', report.controls).svg}</figure>\n"
        drawn = figure + _table(report.controls, right="refuted")
    seeded = (
        _replays("Broken statistics", replays, "Each declares less than one person can move it.") if replays else ""
    )
    return f"<h2>What this audit catches</h2>\n{words}\n{drawn}\n{seeded}"


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


def _framed(headings: Iterable[str], lines: Iterable[str]) -> str:
    head = "".join(f"<th>{escape(heading)}</th>" for heading in headings)
    return "<table>\n<thead><tr>" + head + "</tr></thead>\n<tbody>\n" + "\n".join(lines) + "\n</tbody>\n</table>"


def _cell(label: str, content: str, kind: str = "") -> str:
    named = f' data-label="{escape(label)}"' if label else ""
    styled = f' class="{kind}"' if kind else ""
    return f"<td{named}{styled}>{content}</td>"


def _share(tightness: float) -> str:
    # Rounded down: a bound is a bound.
    return "∞" if tightness == float("inf") else f"{int(max(0.0, tightness) * 1000) / 10:.1f} %"
