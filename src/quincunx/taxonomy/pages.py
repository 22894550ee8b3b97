"""A page for each definition, and a map of the dimensions: what docs/definitions holds, made from the catalogue."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Final

from quincunx.taxonomy import catalogue
from quincunx.taxonomy.catalogue.row import Row
from quincunx.taxonomy.check import QUESTIONS
from quincunx.taxonomy.picture import graph
from quincunx.taxonomy.relations.edge import CONDITIONS, Edge
from quincunx.taxonomy.relations.graph import edges
from quincunx.taxonomy.relations.language import EXTRA
from quincunx.taxonomy.world import World

_AXIOMS: Final = {"post_processing": "post-processing", "convexity": "convexity", "composition": "composition"}
_MADE: Final = "<!-- Made by `quincunx taxonomy pages --out docs/definitions`; do not edit. -->"
_SIGNS: Final = {"yes": "✓", "no": "✗", "unknown": "?"}


@cache
def example() -> World:
    """Ada answers a question truly with probability 3/4, or is not there; with every part that a definition needs."""
    text = (Path(__file__).parent / "catalogue" / "example.json").read_text(encoding="utf-8")
    return World.from_json(text)


def pages() -> dict[str, str]:
    """File → text: a page and a picture for each definition, and index.md with the map."""
    texts = {"index.md": _map(), "all.svg": graph().svg}
    for row in catalogue.definitions():
        texts[f"{stem(row.short)}.md"] = page(row)
        texts[f"{stem(row.short)}.svg"] = graph(around=row.short).svg
    return texts


def stem(short: str) -> str:
    """The name of a definition's files: on some machines INDP and InDP would be one."""
    alike = [row.short for row in catalogue.definitions() if row.short.lower() == short.lower()]
    return short if short == alike[0] else f"{short}-{catalogue.get(short).references[0]}"


def page(row: Row) -> str:
    """One definition: sentence, statement, figure, parameters, axioms, conversions, example."""
    number = f", Definition {row.number}" if row.number else ""
    changed = ", ".join(QUESTIONS[letter].partition(", ")[0] for letter in row.letters) or "none: it is the original"
    lines = [
        f"# `{row.short}`", _MADE, "", f"**{row.name}.** {row.intuition}", "", row.use, "",
        f"> {row.definition.sentence()}", "", f"$${row.definition.latex()}$$", "",
        f"Dimensions: {changed}. Survey, section {row.section}{number}."
        + (f" Our statement follows {_cited(row.follows)}." if row.follows else "")
        + (f" {row.entry.note}" if row.entry.note else ""),
        "", f"![what it follows from, and what follows from it]({stem(row.short)}.svg)", "", "## Parameters", "",
        "| symbol | typed | meaning | range |", "|---|---|---|---|",
    ]  # fmt: skip
    lines += [f"| {p.symbol} | {p.typed} | {p.meaning} | {p.range} |" for p in row.parameters]
    lines += ["", "## Axioms", "", "| axiom | printed | settled | because |", "|---|---|---|---|"]
    for key, axiom in row.axioms.items():
        lines.append(f"| {_AXIOMS[key]} | {_printed(axiom.printed)} | {_SIGNS[axiom.settled]} | {_because(row, key)} |")
    lines += ["", "## Conversions", ""]
    lines += _conversions("It implies", [e for e in edges() if e.source == row.short], out=True)
    lines += _conversions("It follows from", [e for e in edges() if e.target == row.short], out=False)
    lines += ["## Here", "", f"{row.gives}. Checkable: {row.checkable}{f' ({row.why})' if row.why else ''}.", ""]
    lines += _example(row)
    lines += ["## Names and sources", ""]
    lines += [f"{text}  " for text in _names(row)]
    lines += [f"[{key}] {catalogue.papers()[key]}  " for key in dict.fromkeys((*row.references, row.follows)) if key]
    return "\n".join(lines).rstrip() + "\n"


def _printed(mark: str) -> str:
    return {"yes": "✓", "no": "✗"}.get(mark, mark)


def _because(row: Row, key: str) -> str:
    axiom = row.axioms[key]
    if axiom.basis == "counterexample":
        from quincunx.taxonomy.axioms import counterexamples

        return counterexamples()[axiom.source].words
    if axiom.basis == "proof":
        return f"[proof](../../src/quincunx/taxonomy/axioms.md), {axiom.source.replace('-', ' ')}"
    return {"paper": f"[{axiom.source}]", "survey": f"survey: {axiom.source}", "open": _open(row, key)}[axiom.basis]


def _open(row: Row, key: str) -> str:
    """What is known of an axiom that nobody has settled, and why a search does not say more."""
    if row.checkable == "no":
        return "open; no finite world decides it"
    if key == "composition":
        return "open: no rule is known by which the parameters of two would combine, so there is nothing to search"
    return "open; no world of the search breaks it"


def _conversions(title: str, some: list[Edge], *, out: bool) -> list[str]:
    if not some:
        return [f"{title} nothing that is known.", ""]
    lines = [f"{title}", "", "| definition | parameters | if | source |", "|---|---|---|---|"]
    for edge in some:
        other = edge.target if out else edge.source
        link = other if other in EXTRA else f"[{other}]({stem(other)}.md)"
        under = "; ".join(CONDITIONS[each] for each in edge.conditions)
        origin = {"definition": "by definition", "paper": f"[{edge.origin}]"}.get(edge.basis, f"proof: {edge.origin}")
        lines.append(f"| {link} | {edge.words} | {under} | {origin} |")
    return [*lines, ""]


def _example(row: Row) -> list[str]:
    if row.checkable == "no":
        return []
    answer = row.definition.tightest(example())
    return [
        "Ada answers a question truly with probability 3/4, or is not there:", "", "```pycon",
        ">>> from quincunx import taxonomy",
        f'>>> print(taxonomy.get("{row.short}").definition.tightest(taxonomy.example()))', str(answer), "", "```", "",
    ]  # fmt: skip


def _names(row: Row) -> list[str]:
    also = [f"Printed also as {', '.join(row.printed_as)}."] if row.printed_as else []
    for each in catalogue.homonyms():
        if row.short in each.members:
            also.append(f"{each.name} is also a name of {', '.join(m for m in each.members if m != row.short)}.")
    same = [each.name for each in catalogue.names() if each.same == row.short]
    near = [each.name for each in catalogue.names() if each.near == row.short]
    also += [f"Other names: {', '.join(same)}."] if same else []
    return also + ([f"Near it: {', '.join(near)}."] if near else [])


def _cited(key: str) -> str:
    return f"{catalogue.papers()[key].partition(', ')[0]} [{key}]"


def _map() -> str:
    rows = catalogue.definitions()
    lines = [
        "# The 89 definitions", _MADE, "",
        "Every row of the survey's table and ε-DP, by the section that introduces it; "
        "[the seven dimensions](../concepts/taxonomy.md) say how they are made.", "",
        "| dimension | changes it | changes it alone | the axioms hold | composes |", "|---|---|---|---|---|",
    ]  # fmt: skip
    for letter, question in QUESTIONS.items():
        some = [row for row in rows if (letter in row.letters if letter else not row.letters)]
        alone = [row for row in some if row.letters == letter]
        keep = [r for r in some if all(r.axioms[a].settled == "yes" for a in ("post_processing", "convexity"))]
        compose = [r for r in some if r.axioms["composition"].settled == "yes"]
        lines.append(f"| {question} | {len(some)} | {len(alone)} | {len(keep)} | {len(compose)} |")
    lines += ["", "![what follows from what](all.svg)", ""]
    for section, letter in (
        ("2", ""),
        ("3", "Q"),
        ("4", "N"),
        ("5", "V"),
        ("6", "B"),
        ("7", "F"),
        ("8", "R"),
        ("9", "C"),
    ):
        lines += [f"## {QUESTIONS[letter]}", ""]
        lines += [
            f"- [{row.short}]({stem(row.short)}.md), {row.name}: {row.intuition}"
            for row in rows
            if row.section[0] == section
        ]
        lines.append("")
    lines += ["## Names without a row", ""]
    for each in catalogue.names():
        lead = each.same or each.near
        where = f"; {'another name of' if each.same else 'near'} [{lead}]({stem(lead)}.md)" if lead else ""
        lines.append(
            f"- {each.name} (section {each.section}): {each.what}{where}{f'; {each.kind}' if each.kind else ''}"
        )
    return "\n".join(lines).rstrip() + "\n"
