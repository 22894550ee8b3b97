"""The report as one HTML page: no scripts, nothing fetched, readable in a narrow window, in the dark and on paper."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import Final

from quincunx.audit.self_audit.outcome import GOAL, Outcome, Replayed, SelfReport
from quincunx.chart import Bar, Chart, bars
from quincunx.chart import number_text as number
from quincunx.numbers import above, below, near

_STYLE: Final = """
:root { color-scheme: light dark; --ink: #1a1a1a; --faded: #555; --paper: #fff; --rule: #dcdcdc; --wash: #f4f4f4;
  --good: #2b8a6e; --bad: #b00020; --bar: #12395b; --track: #e6e9ec; --mark: #e0662b; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e8e8e8; --faded: #b3b3b3; --paper: #16181a; --rule: #3c4043; --wash: #232629;
    --good: #5cc4a3; --bad: #ff8a80; --bar: #7fb2dd; --track: #2d3236; --mark: #d2420f; }
}
body { font: 16px/1.5 Helvetica, Arial, "DejaVu Sans", sans-serif; color: var(--ink); background: var(--paper);
  max-width: 60rem; margin: 0 auto; padding: 1rem; overflow-wrap: break-word; }
h1 { font-size: 1.6rem; line-height: 1.25; } h2 { font-size: 1.2rem; margin-top: 2rem; }
p.finding { font-size: 1.1rem; font-weight: bold; border-left: 6px solid var(--good); padding-left: .8rem; }
p.finding.bad { border-color: var(--bad); }
p.facts { color: var(--faded); }
table { border-collapse: collapse; width: 100%; font-size: .9rem; }
th:first-child { width: 32%; } th:nth-child(2) { min-width: 5.5em; }
th, td { text-align: left; vertical-align: top; padding: .35rem .6rem .35rem 0; border-bottom: 1px solid var(--rule); }
td { overflow-wrap: anywhere; }
td.verdict { white-space: nowrap; }
td.number { font-variant-numeric: tabular-nums; white-space: nowrap; }
td small { color: var(--faded); display: block; font-size: .8rem; }
td.verdict.bad { font-weight: bold; color: var(--bad); }
pre { white-space: pre-wrap; overflow-wrap: anywhere; font-size: .85rem; background: var(--wash); padding: .6rem; }
figure { margin: 1rem 0; }
figcaption { font-weight: bold; margin-bottom: .5rem; }
figure p { color: var(--faded); font-size: .9rem; margin: .5rem 0 0; }
.bar { display: grid; grid-template-columns: minmax(0, 19rem) minmax(6rem, 1fr) 4.5rem; gap: 0 .6rem;
  align-items: center; font-size: .9rem; padding: .1rem 0; }
.track { display: block; width: 100%; height: .9rem; background: var(--track); overflow: visible; }
.fill { fill: var(--bar); } .mark { stroke: var(--mark); stroke-width: 3px; }
.share { text-align: right; font-variant-numeric: tabular-nums; }
@media (max-width: 40rem) {
  thead { display: none; }
  tr { display: block; border-bottom: 2px solid var(--rule); padding: .4rem 0; }
  td { display: block; border: 0; padding: .1rem 0; }
  td[data-label]::before { content: attr(data-label) ": "; color: var(--faded); }
  .bar { grid-template-columns: minmax(0, 1fr) 4.5rem; }
  .bar .name { grid-column: 1 / -1; }
}
@media print {
  body { max-width: none; font-size: 10pt; padding: 0; }
  tr, figure, .bar { break-inside: avoid; } h2 { break-after: avoid; }
  .track { print-color-adjust: exact; }
}
"""
_WORDS: Final = """
<p>Results about people are published with noise, so that nobody can tell from a result whether one person was in the
data. How much may be told is a promise with a number (ε, ρ, μ or a curve of them; a smaller one protects more). This
page tries to break the promises of the software that makes the noise: by drawing many results for two datasets that
differ as little as the promise allows, and by looking for a difference that the promise forbids.</p>
<p>Each claim was tried on two such datasets on which the mechanism is at its worst. The first part of the draws chose
the event that tells the two datasets apart best; the rest bounded its probability on both sides (Clopper and Pearson).
The <em>bound</em> is how much of the claim's parameter is certainly reached; a bound beyond the claim refutes it. A
claim that is not refuted is not proved: the proofs are in the notes beside the code, and this page shows that the code
that runs does not contradict them.</p>
<p>A bound close to the claim shows that the audit could hardly have missed a violation on this pair. Where it stays far
below, the entry says why, or there were too few draws.</p>
"""


def page(report: SelfReport) -> str:
    """The whole page."""
    rooms = dict.fromkeys(outcome.room for outcome in report.claims)
    claims = [_room(room, [each for each in report.claims if each.room == room]) for room in rooms]
    own = [each for each in report.replays if not each.control]
    parts = [
        f"<h1>{escape(headline(report))}</h1>",
        f'<p class="finding{" bad" if report.missed or report.refuted else ""}">{escape(report.finding)}</p>',
        f'<p class="facts">{escape(facts(report))}</p>',
        _WORDS if claims else "",
        _figure(_summary_title(report), pure(report)) if pure(report) else "",
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


def headline(report: SelfReport) -> str:
    """What was found, for someone who has never heard of any of it."""
    tried = len(report.claims) + sum(not each.control for each in report.replays)
    if report.missed:
        return "This audit proves nothing: it did not notice something that is broken on purpose"
    if report.refuted:
        return f"Quincunx breaks {len(report.refuted)} of {tried} promises of privacy that were attacked here"
    if not tried:
        return "What is broken on purpose was noticed; no promise of Quincunx was attacked"
    many = "One promise of privacy was" if tried == 1 else f"{tried} promises of privacy were"
    return f"{many} attacked, and none was found broken"


def facts(report: SelfReport) -> str:
    """Samples, confidence and time in one line."""
    key = " The draws came from an injected key: this run can be repeated." if report.keyed else ""
    return (
        f"Self-audit of Quincunx {report.version}. {report.samples:,} draws on each side were asked for. Confidence "
        f"1 − {near(report.risk)} for all {report.tried} claims of the catalogue together. {report.seconds:,.0f} "
        f"seconds, {report.made.replace('T', ' ').replace('+00:00', ' UTC')}.{key}"
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
    return _bars(pure(report), _summary_title(report))


def _summary_title(report: SelfReport) -> str:
    found = pure(report)
    beyond, near = sum(each.refuted for each in found), sum(each.tightness >= GOAL for each in found)
    many = f"All {near}" if near == len(found) else f"{near} of {len(found)}"
    title = f"{many} bounds reach nine tenths of an ε that is attained, and none exceeds it"
    return f"{beyond} of {len(found)} claims of a pure ε are refuted" if beyond else title


def chart(room: str, outcomes: Sequence[Outcome]) -> Chart:
    """How much of each claim the bound reaches."""
    return _bars(outcomes, _title(room, outcomes))


def _title(room: str, outcomes: Sequence[Outcome]) -> str:
    refuted = sum(outcome.refuted for outcome in outcomes)
    lowest = min(outcome.tightness for outcome in outcomes)
    what, count = room[:1].upper() + room[1:], len(outcomes)
    if room == "controls":
        return f"{refuted} of {count} broken mechanisms are driven beyond their claim"
    if refuted:
        return f"{what}: {refuted} of {count} claims refuted"
    return f"{what}: no bound exceeds its claim; the lowest reaches {int(100 * max(0.0, lowest))} % of it"


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


def _figure(title: str, outcomes: Sequence[Outcome]) -> str:
    """The same bars as text and boxes, which a window of any width and colour can hold."""
    end = _FARTHEST if any(outcome.tightness > 1 for outcome in outcomes) else 1.0
    lines = [
        f'<div class="bar"><span class="name">{escape(each.name)}</span>'
        f'<svg class="track" viewBox="0 0 {number(end * 100)} 10" preserveAspectRatio="none" aria-hidden="true">'
        f'<rect class="fill" width="{number(100 * min(max(each.tightness, 0.0), end))}" height="10"/>'
        '<line class="mark" x1="100" x2="100" y1="0" y2="10" vector-effect="non-scaling-stroke"/></svg>'
        f'<span class="share">{_share(each.tightness)}</span></div>'
        for each in outcomes
    ]
    note = "The bound as a part of the claim; the mark is the claim itself."
    note += f" {_CUT}" if any(outcome.tightness > _FARTHEST for outcome in outcomes) else ""
    return f"<figure>\n<figcaption>{escape(title)}</figcaption>\n" + "\n".join(lines) + f"\n<p>{note}</p>\n</figure>"


def _short(name: str) -> str:
    """The name as it fits beside a bar."""
    for long, short in _SHORT.items():
        name = name.replace(long, short)
    return name


def _room(room: str, outcomes: Sequence[Outcome]) -> str:
    heading = f"<h2>{escape(room[:1].upper() + room[1:])}</h2>\n"
    return heading + _figure(_title(room, outcomes), outcomes) + _table(outcomes, right="not refuted")


def _table(outcomes: Iterable[Outcome], *, right: str) -> str:
    lines = []
    for each in outcomes:
        why = f"<small>{escape(each.why)}</small>" if each.why else ""
        event = f"<small>{escape(_cut(each.event))}: ≥ {below(each.p_low)} against ≤ {above(each.q_high)}</small>"
        cells = [
            _cell("", f"<b>{escape(each.name)}</b><small>{escape(each.words)}</small>{why}"),
            _cell("claim", escape(each.claim)),
            _cell("bound", f"{escape(each.parameter)} ≥ {below(each.bound)}{event}"),
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
        drawn = _figure(_title("controls", report.controls), report.controls) + _table(report.controls, right="refuted")
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
