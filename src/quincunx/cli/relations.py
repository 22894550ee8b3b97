"""`quincunx taxonomy convert`, `path`, `compare`, `graph`, `choose` and `pages`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from quincunx.cli.output import AsJson, made, print_json, reports_errors

if TYPE_CHECKING:
    from quincunx.taxonomy import Comparison, Conversion, Edge

Source = Annotated[str, typer.Argument(help="The definition that holds: pure, zCDP, ADP, …")]
Target = Annotated[str, typer.Argument(help="The definition that is asked for.")]


def add(app: typer.Typer) -> None:
    """Put the commands under `quincunx taxonomy`."""
    for command in (convert, path, compare, graph, choose, pages):
        app.command(command.__name__)(command)


def _pairs(given: list[str] | None, where: str) -> dict[str, object]:
    """name=value → a mapping."""
    from quincunx.errors import ParameterError

    found: dict[str, object] = {}
    for each in given or []:
        name, equals, value = each.partition("=")
        if not equals or not name or not value:
            hint = f"Write {where} epsilon=1."
            raise ParameterError("expected name=value", where=where, got=repr(each)[:40], hint=hint)
        found[name.strip()] = _number(value.strip())
    return found


def _number(text: str) -> object:
    """ln(3) as the exact logarithm; everything else as it was typed."""
    from quincunx.numbers import Log, rational

    if text.startswith("ln(") and text.endswith(")"):
        return Log(rational(text[3:-1], "ln"))
    return text


def _told(edge: Edge) -> str:
    origin = {
        "definition": "by definition",
        "proof": f"proof: relations.md, {edge.origin}",
        "paper": f"[{edge.origin}]",
    }
    return f"  {edge.source} → {edge.target}: {edge.words} ({origin[edge.basis]})"


@reports_errors
def convert(
    source: Source,
    target: Target,
    given: Annotated[
        list[str] | None, typer.Option("--set", help="A parameter: epsilon=1, delta=1e-6, epsilon=ln(3); repeat.")
    ] = None,
    to: Annotated[
        list[str] | None, typer.Option(help="A setting of the target where the source has one of that name; repeat.")
    ] = None,
    assume: Annotated[
        list[str] | None, typer.Option(help="A condition that holds, such as independent; repeat.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """What a guarantee says in another language: the best way that is known, its parameters, conditions and sources."""
    from quincunx.taxonomy import convert as converted

    found = converted(
        source,
        target,
        to=_pairs(to, "--to"),
        assume=assume or (),
        **_pairs(given, "--set"),  # type: ignore[arg-type]
    )
    if as_json:
        print_json(found.to_json())
        return
    _show(found)


def _show(found: Conversion) -> None:
    from quincunx.taxonomy import CONDITIONS, papers

    typer.echo(str(found))
    for condition in found.conditions:
        typer.echo(f"if {CONDITIONS[condition]}")
    if found.path:
        typer.echo("\nThe way")
    for edge in found.path:
        typer.echo(_told(edge))
    cited = [key for key in found.sources if key in papers()]
    if cited:
        typer.echo("\nSources")
    for key in cited:
        typer.echo(f"  [{key}] {papers()[key]}")


@reports_errors
def path(source: Source, target: Target, as_json: AsJson = False) -> None:
    """Whether one definition implies another at some parameters: the shortest way, or what refutes it."""
    from quincunx.taxonomy import implies

    found = implies(source, target)
    if as_json:
        print_json(found.to_json())
        return
    typer.echo(f"{found.source} ⇒ {found.target}: {found}")
    for edge in found.path:
        typer.echo(_told(edge))


@reports_errors
def compare(
    one: Annotated[str, typer.Argument(help="A definition.")],
    other: Annotated[str, typer.Argument(help="Another.")],
    as_json: AsJson = False,
) -> None:
    """Two definitions side by side, what follows from what, and a world that one accepts and the other refuses."""
    from quincunx.taxonomy import compare as compared

    found = compared(one, other)
    if as_json:
        print_json(found.to_json())
        return
    for line in _side_by_side(found):
        typer.echo(line)


def _side_by_side(found: Comparison) -> list[str]:
    lines = []
    for name, (left, right) in found.dimensions.items():
        if left == right:
            lines.append(f"{name}: both {left}")
        else:
            lines += [f"{name}:", f"  {found.one}: {left}", f"  {found.other}: {right}"]
    lines += ["", f"{found.one} ⇒ {found.other}: {found.forward}", f"{found.other} ⇒ {found.one}: {found.backward}", ""]
    for each in found.separations:
        lines.append(f"{each.accepts} accepts and {each.refuses} refuses: {each}")
        laws = list(each.world.laws.items())
        for name, law in laws[:6]:
            chances = ", ".join(f"{o} {p}" for o, p in zip(each.world.outputs, law, strict=True))
            lines.append(f"  {name}: {chances}")
        lines += [f"  … and {len(laws) - 6} more (--json)"] if len(laws) > 6 else []
    return lines if found.separations else [*lines, "No world was found that one accepts and the other refuses."]


@reports_errors
def graph(
    out: Annotated[Path, typer.Argument(help="The picture to write, ending in .svg.")],
    around: Annotated[str | None, typer.Option(help="Only what surrounds this definition.")] = None,
    dimension: Annotated[str | None, typer.Option(help="Only definitions that change this: one of QNVBFRC.")] = None,
    as_json: AsJson = False,
) -> None:
    """Draw the order of the definitions: all 89, those of a dimension, or around one."""
    from quincunx.taxonomy import graph as drawn

    picture = drawn(around, dimension)
    written = picture.write(out)
    if as_json:
        print_json({"title": picture.title, "file": str(written), "width": picture.width, "height": picture.height})
        return
    typer.echo(f"{picture.title}: {written}")


@reports_errors
def choose(
    sensitive: Annotated[str | None, typer.Option(help="What is sensitive.")] = None,
    attacker: Annotated[str | None, typer.Option(help="Who attacks, and what they know.")] = None,
    exact: Annotated[str | None, typer.Option(help="What must be published exactly.")] = None,
    often: Annotated[str | None, typer.Option(help="How often something is published.")] = None,
    as_json: AsJson = False,
) -> None:
    """From a use case to definitions: four questions, answered by options or, on a terminal, one by one."""
    from quincunx.taxonomy import choose as chosen

    answers = {"sensitive": sensitive, "attacker": attacker, "exact": exact, "often": often}
    if not any(answers.values()) and sys.stdin.isatty() and not as_json:
        answers = _asked()
    found = chosen(**{name: answer for name, answer in answers.items() if answer})
    if as_json:
        print_json(found.to_json())
        return
    from quincunx.taxonomy import get

    typer.echo("Read first: " + ", ".join(f"{short} ({get(short).name})" for short in found.shorts))
    for name, option in found.chosen.items():
        what = option.definition or "ε-DP has it"
        typer.echo(f"\n{name}: {option.answer}, {option.says}\n  {what}\n  here: {option.costs}")
    typer.echo(f"\n{found.composed.sentence() if found.composed else found.misfit}")
    left = [name for name, answer in answers.items() if not answer]
    if left:
        typer.echo(f"not said, so the first answer was taken: {', '.join(left)}", err=True)


def _asked() -> dict[str, str | None]:
    from quincunx.taxonomy import questions

    answers: dict[str, str | None] = {}
    for question in questions():
        typer.echo(f"\n{question.asks}", err=True)
        for i, option in enumerate(question.options, 1):
            typer.echo(f"  {i}. {option.answer}: {option.says}", err=True)
        answers[question.name] = question.options[_picked(len(question.options)) - 1].answer
    return answers


def _picked(most: int) -> int:
    while True:
        given = typer.prompt("Number", default="1", err=True)
        if given.isdigit() and 1 <= int(given) <= most:
            return int(given)
        typer.echo(f"a number from 1 to {most}", err=True)


@reports_errors
def pages(
    out: Annotated[Path, typer.Option(help="The folder to write to; made if it is missing.")],
    as_json: AsJson = False,
) -> None:
    """Write a page and a picture for each definition, and a map of the dimensions, as the documentation has them."""
    from quincunx.taxonomy import written_pages as written

    folder = made(out)
    texts = written()
    for name, text in texts.items():
        place = folder / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8")
    if as_json:
        print_json({"folder": str(folder), "files": list(texts)})
        return
    typer.echo(f"{len(texts)} files in {folder}")
