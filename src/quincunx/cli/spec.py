"""`quincunx spec`: show and compare specifications that are stored as JSON."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from quincunx.cli.output import AsJson, print_json, reports_errors
from quincunx.errors import cause

if TYPE_CHECKING:
    from quincunx.spec import Specification

app = typer.Typer(help="Show and compare specifications.", no_args_is_help=True)


@app.command("show")
@reports_errors
def show(
    file: Annotated[str, typer.Argument(help="A specification as JSON; - reads standard input.")],
    latex: Annotated[bool, typer.Option("--latex", help="Print the formula in LaTeX.")] = False,
    prior: Annotated[
        str | None,
        typer.Option(help="What someone believes before, from 0 to 1, to say what they may after. Default 0.1."),
    ] = None,
    about: Annotated[
        str | None,
        typer.Option(help="What they believe: record, anything about a person, or presence. Default record."),
    ] = None,
    outside: Annotated[
        str | None, typer.Option(help="The probability with which these bounds may fail; needed unless pure.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Say in words what a specification promises, and what it means for one person."""
    from quincunx.meaning import belief, describe

    specification = _read(file)
    asked = {"prior": prior, "about": about, "outside": outside}
    given: dict[str, Any] = {name: value for name, value in asked.items() if value is not None}
    if given:
        # What is asked for by name is refused with its reason where it is not proved, instead of being left out.
        belief.sentence(guarantee=specification, **{"prior": "1/10", **given})
    if as_json:
        words = {"words": describe(specification, **given), "latex": specification.latex()}
        print_json({"specification": json.loads(specification.to_json()), **words})
    else:
        typer.echo(specification.latex() if latex else describe(specification, **given))


@app.command("compare")
@reports_errors
def compare(
    first: Annotated[str, typer.Argument(help="A specification as JSON; - reads standard input.")],
    second: Annotated[str, typer.Argument(help="The specification to compare it with.")],
    as_json: AsJson = False,
) -> None:
    """Say whether the first specification is stronger, weaker or equal, or that no implication is known."""
    comparison = _read(first).compare(_read(second))
    if as_json:
        print_json({"relation": comparison.relation, "reason": comparison.reason})
    else:
        typer.echo(f"{comparison.relation}: {comparison.reason}")


def _read(file: str) -> Specification:
    from quincunx.errors import SpecificationError
    from quincunx.spec import Specification

    try:
        text = sys.stdin.read() if file == "-" else Path(file).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise SpecificationError("the file cannot be read", where=file, got=cause(error)) from None
    return Specification.from_json(text)
