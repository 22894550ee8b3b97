"""`quincunx taxonomy list`, `show` and `search`: the catalogue of definitions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from quincunx.cli.output import AsJson, print_json, reports_errors

if TYPE_CHECKING:
    from quincunx.taxonomy import Name, Row

WORDS = {"post_processing": "post-processing", "convexity": "convexity", "composition": "composition"}
Which = Annotated[str, typer.Argument(help="A definition: ADP, zCDP, pure, … Any name that `list` or `search` shows.")]


def add(app: typer.Typer) -> None:
    """Put the commands under `quincunx taxonomy`."""
    for name, command in (("list", list_), ("show", show), ("search", search)):
        app.command(name)(command)


@reports_errors
def list_(
    dimension: Annotated[str | None, typer.Option(help="Only definitions that change this: one of QNVBFRC.")] = None,
    as_json: AsJson = False,
) -> None:
    """The 89 definitions, by the dimension that each changes first."""
    from quincunx.errors import SpecificationError
    from quincunx.taxonomy import QUESTIONS, definitions

    letter = (dimension or "").upper()
    if dimension is not None and (len(letter) != 1 or letter not in QUESTIONS):
        hint = "Give one of the letters Q, N, V, B, F, R, C."
        raise SpecificationError("unknown dimension", where="--dimension", got=repr(dimension)[:40], hint=hint)
    rows = [row for row in definitions() if letter in row.letters]
    if as_json:
        print_json([row.to_json() for row in rows])
        return
    width = max(len(row.short) for row in rows)
    for first, question in QUESTIONS.items():
        some = [row for row in rows if row.letters[:1] == first]
        if some:
            typer.echo(f"\n{question} ({len(some)})")
        for row in some:
            typer.echo(f"  {row.short:<{width}}  {row.letters:<5}  {row.name}")


@reports_errors
def show(name: Which, as_json: AsJson = False) -> None:
    """All that is known of one definition: sentence, statement, parameters, axioms, relations, sources."""
    from quincunx.taxonomy import get

    row = get(name)
    if as_json:
        from quincunx.taxonomy import edges

        known = [edge.to_json() for edge in edges() if row.short in (edge.source, edge.target)]
        print_json({**row.to_json(), "papers": _papers(row), "called_alike": _alike(row), "implications": known})
        return
    for line in shown(row):
        typer.echo(line)


@reports_errors
def search(
    words: Annotated[str, typer.Argument(help="Words that must all occur: in names, sentences, references.")],
    as_json: AsJson = False,
) -> None:
    """Definitions and further names of the survey in which some words occur."""
    from quincunx.taxonomy import Row
    from quincunx.taxonomy import search as found

    results = found(words)
    if as_json:
        print_json([each.to_json() for each in results])
        return
    if not results:
        typer.echo(f"Nothing is called or described so: {words}", err=True)
    for each in results:
        if isinstance(each, Row):
            typer.echo(f"{each.short}, {each.name}: {each.intuition}")
        else:
            typer.echo(f"{each.name} (section {each.section}): {each.what}{_leads(each)}")


def _leads(name: Name) -> str:
    if name.same:
        return f"; another name of {name.same}"
    return (f"; near {name.near}" if name.near else "") + (f"; {name.kind}" if name.kind else "")


def _papers(row: Row) -> dict[str, str]:
    from quincunx.taxonomy import papers

    return {key: papers()[key] for key in dict.fromkeys((*row.references, row.follows)) if key}


def _alike(row: Row) -> list[str]:
    from quincunx.taxonomy import homonyms, names

    found = [
        f"{each.name}: {', '.join(each.members)} ({each.what})" for each in homonyms() if row.short in each.members
    ]
    found += [f"{each.name}: another name of it" for each in names() if each.same == row.short]
    return found + [f"{each.name}: {each.what}" for each in names() if each.near == row.short]


def _conversions(row: Row) -> list[str]:
    from quincunx.taxonomy import edges

    lines = []
    for title, out in (("Implies", True), ("Follows from", False)):
        told = []
        for edge in edges():
            here, other = (edge.source, edge.target) if out else (edge.target, edge.source)
            if here == row.short != other:
                under = f" (if {', '.join(edge.conditions)})" if edge.conditions else ""
                told.append(f"  {other}: {edge.words}{under}")
        lines += [f"\n{title}", *told] if told else []
    return lines


def shown(row: Row) -> list[str]:
    """A definition in lines for people."""
    number = f", Definition {row.number}" if row.number else ""
    lines = [f"{row.short}, {row.name} (survey, section {row.section}{number})", "", row.intuition, row.use]
    lines += ["", f"  {row.definition.sentence()}", f"  {row.definition.latex()}"]
    if row.entry.note:
        lines.append(f"  {row.entry.note}")
    lines.append("\nParameters")
    lines += [f"  {p.symbol} ({p.typed}): {p.meaning}, {p.range}" for p in row.parameters]
    lines.append("\nAxioms")
    for key, axiom in row.axioms.items():
        printed = f"; the survey prints {axiom.printed}" if axiom.differs else ""
        because = f" ({axiom.basis}: {axiom.source})" if axiom.source else ""
        lines.append(f"  {WORDS[key]}: {axiom.settled}{because}{printed}")
    if row.relations:
        lines += ["\nRelations as printed", *(f"  {each}" for each in row.relations)]
    lines += _conversions(row)
    lines += ["\nHere", f"  {row.gives}", f"  checkable: {row.checkable}{f' ({row.why})' if row.why else ''}"]
    if row.follows:
        lines.append(f"  our statement follows {row.follows}")
    alike = _alike(row)
    if alike:
        lines += ["\nNames", *(f"  {each}" for each in alike)]
    return [*lines, "\nSources", *(f"  [{key}] {text}" for key, text in _papers(row).items())]
