"""`quincunx spec`: show and compare specifications that are stored as JSON."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from quincunx.cli.output import AsJson, print_json, reports_errors

if TYPE_CHECKING:
    from quincunx.spec import Specification

app = typer.Typer(help="Show and compare specifications.", no_args_is_help=True)


@app.command("show")
@reports_errors
def show(
    file: Annotated[str, typer.Argument(help="A specification as JSON; - reads standard input.")],
    latex: Annotated[bool, typer.Option("--latex", help="Print the formula in LaTeX.")] = False,
    as_json: AsJson = False,
) -> None:
    """Say in words what a specification promises."""
    specification = _read(file)
    if as_json:
        words = {"words": specification.describe(), "latex": specification.latex()}
        print_json({"specification": json.loads(specification.to_json()), **words})
    else:
        typer.echo(specification.latex() if latex else specification.describe())


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
        raise SpecificationError("the file cannot be read", where=file, got=type(error).__name__) from None
    return Specification.from_json(text)
