"""`quincunx taxonomy`: a world against the definitions of the survey."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from quincunx.cli import catalogue, relations
from quincunx.cli.output import AsJson, print_json, reports_errors
from quincunx.cli.progress import working

if TYPE_CHECKING:
    from quincunx.taxonomy import Finding

app = typer.Typer(
    no_args_is_help=True, rich_markup_mode=None, help="The taxonomy of differential privacies, executable."
)


@app.callback()
def taxonomy() -> None:
    """The taxonomy of differential privacies, executable."""


@app.command("check")
@reports_errors
def check(
    world: Annotated[Path, typer.Argument(help="A world file: JSON, or CSV with input, output, probability.")],
    only: Annotated[
        list[str] | None,
        typer.Option(
            help="An abbreviation (ADP, NPr, …) or a dimension's letter (Q, N, V, B, F, R, C); may be repeated."
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Which definitions does a small world satisfy, with which smallest parameters, shown by which witness?

    Everything is enumerated, in exact rationals or certified intervals. Definitions that need what the file does not
    say are listed at the end, and so are those that no finite world decides.
    """
    from quincunx.taxonomy import World
    from quincunx.taxonomy import check as checking

    read = World.read(world)
    with working("reading the world", quiet=as_json) as stage:
        found = checking.check(
            read, only or (), lambda done, total, name: stage(f"{name}, {done + 1} of {total} definitions")
        )
    if as_json:
        print_json(
            {"datasets": len(read.datasets), "outputs": len(read.outputs), "findings": [f.to_json() for f in found]}
        )
        return
    answered = [finding for finding in found if finding.status == "answered"]
    typer.echo(
        f"{len(read.datasets)} datasets, {len(read.outputs)} outputs. "
        f"{len(answered)} of {len(found)} definitions answered; the smallest parameters are:"
    )
    _show(found)


def _show(found: list[Finding]) -> None:
    from quincunx.taxonomy import QUESTIONS

    for letter, question in QUESTIONS.items():
        some = [f for f in found if f.entry.letters[:1] == letter and f.status == "answered"]
        if some:
            typer.echo(f"\n{question}")
        for finding in some:
            typer.echo(f"  {finding.entry.short}, {finding.entry.name}: {finding.answer}")
            if finding.answer is not None and finding.answer.witness is not None:
                typer.echo(f"    because {finding.answer.witness}")
            elif finding.answer is not None and finding.answer.note:
                typer.echo(f"    ({finding.answer.note})")
    for status, title in (
        ("unsaid", "Not asked, because the world does not say what they need"),
        ("refused", "Not answered on this world"),
        ("undecided", "No finite world decides"),
    ):
        some = [f for f in found if f.status == status]
        if some:
            typer.echo(f"\n{title}")
        reasons = dict.fromkeys(f.reason for f in some)
        for reason in reasons:
            who = ", ".join(f.entry.short for f in some if f.reason == reason)
            typer.echo(f"  {who}: {reason.removeprefix('the world does not say: ')}")


catalogue.add(app)
relations.add(app)
